"""Routes: golden questions and their runs."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self

from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.errors import refuse_narrow
from memories.models import GoldenQuestion, GoldenRun, change_of
from memories.quality import golden_questions, golden_runs
from memories.quality.golden_questions import MOST, NewQuestion
from memories.settings.workspace_settings import try_settings
from workspaces.api.json_answers import AgentId, JsonAnswer, UserId, one_of
from workspaces.api.json_requests import read
from workspaces.api.paging import PageQuery, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, WorkspaceView
from workspaces.request_fields import Free, declared
from workspaces.scope import Scope


class GoldenQuestionJson(JsonAnswer):
    id: uuid.UUID
    query: str
    user_id: UserId
    agent_id: AgentId
    thread_id: str | None
    layers: list[str]
    memory_ids: list[uuid.UUID]
    episode_ids: list[uuid.UUID]
    answer: Annotated[str | None, Meta(description="Words that one hit's text has to hold.")]
    rank: Annotated[
        int | None,
        Meta(description="The answer's place when it was asked last; null: not in the first ten."),
    ]
    in_context: Annotated[
        bool | None,
        Meta(description="Whether a context of the usual length held the answer; null: not asked."),
    ]
    checked_at: datetime | None
    created_by: str
    created_at: datetime

    @classmethod
    def of_row(cls, row: GoldenQuestion) -> Self:
        return cls.of(
            row,
            user_id=row.subject and row.subject.external_id,
            agent_id=row.agent and row.agent.external_id,
            thread_id=row.conversation and row.conversation.external_id,
        )


class AddedQuestionsJson(JsonAnswer):
    added: int


class RunLineJson(JsonAnswer):
    question_id: uuid.UUID
    before: int | None
    after: int | None
    change: Annotated[
        str,
        one_of(("better", "same", "worse")),
        Meta(description="worse, too, where a context held the answer and holds it no more."),
    ]
    in_context_before: bool | None
    in_context_after: bool | None


class GoldenRunJson(JsonAnswer):
    id: uuid.UUID
    cause: Annotated[str, one_of(GoldenRun.Cause)]
    outcome: Annotated[
        str,
        one_of(GoldenRun.Outcome),
        Meta(description="refused: what was proposed was not done; anyway: it was, though worse."),
    ]
    changed: Annotated[list[str], Meta(description="What would be different; without values.")]
    better: int
    worse: int
    found_before: Annotated[float, Meta(description="The share answered in the first ten hits.")]
    found_after: float
    mean_before: Annotated[float, Meta(description="The mean of 1 / rank.")]
    mean_after: float
    results: Annotated[list[RunLineJson], Meta(description="What became worse comes first.")]
    requested_by: str
    created_at: datetime

    @classmethod
    def of_row(cls, row: GoldenRun) -> Self:
        lines = [
            RunLineJson(
                uuid.UUID(each["question"]),
                each["before"],
                each["after"],
                change_of(each),
                each.get("kept_before"),
                each.get("kept_after"),
            )
            for each in row.results
        ]
        return cls.of(row, results=lines)


@declared
@dataclass(frozen=True, slots=True)
class ImportedQuestion(NewQuestion):
    """One question of an import."""


@declared
@dataclass(frozen=True, slots=True)
class QuestionList:
    questions: Annotated[tuple[ImportedQuestion, ...], Field(min_length=1, max_length=MOST)]


@declared
@dataclass(frozen=True, slots=True)
class RunBody:
    settings: Annotated[
        Free | None,
        Field(
            description="Settings to be tried, as PATCH of the workspace takes them: nothing is"
            " changed. Without them the questions are asked as things are."
        ),
    ] = None


def _unbound(scope: Scope) -> Scope:
    refuse_narrow(scope.is_narrow)
    return scope


class GoldenQuestionsView(WorkspaceView):
    needs = CURATES

    @operation("listGoldenQuestions", query=PageQuery, page=GoldenQuestionJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the searches whose answers are known. They may be about anybody, so this is not for
        keys of an agent, or keys limited to subjects or spaces."""
        rows = GoldenQuestion.objects.visible_to(_unbound(self.scope)).with_names()
        return paged(request, rows, GoldenQuestionJson.of_row)

    @operation("addGoldenQuestion", request=NewQuestion, answer={201: GoldenQuestionJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Add a question with what has to be found: memories, episodes, or a text with all words
        of `answer`."""
        made = golden_questions.add(_unbound(self.scope), read(NewQuestion, request.data))
        return Response(GoldenQuestionJson.of_row(made), status=201)


class ImportGoldenQuestionsView(WorkspaceView):
    needs = CURATES

    @operation("importGoldenQuestions", request=QuestionList, answer={201: AddedQuestionsJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Add many questions at once, all of them or none."""
        body = read(QuestionList, request.data)
        made = golden_questions.import_questions(_unbound(self.scope), body.questions)
        return Response(AddedQuestionsJson(len(made)), status=201)


class GoldenQuestionView(WorkspaceView):
    @operation("readGoldenQuestion", answer=GoldenQuestionJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a question whose answer is known, with its last result."""
        rows = GoldenQuestion.objects.visible_to(self.scope).with_names()
        return Response(GoldenQuestionJson.of_row(get_object_or_404(rows, pk=row)))

    @operation("removeGoldenQuestion", answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Remove the question."""
        golden_questions.remove(self.scope, row)
        return Response(status=204)


class GoldenRunsView(WorkspaceView):
    needs = CURATES

    @operation("listGoldenRuns", query=PageQuery, page=GoldenRunJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the runs of the golden questions, the newest first. They run each day, before each
        change of settings that searches go by, and on request."""
        rows = GoldenRun.objects.visible_to(_unbound(self.scope))
        return paged(request, rows, GoldenRunJson.of_row)

    @operation("runGoldenQuestions", request=RunBody, answer={201: GoldenRunJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Run the questions now, or try what changed settings would do to their results."""
        scope = _unbound(self.scope)
        tried: Mapping[str, Any] | None = read(RunBody, request.data).settings
        made = golden_runs.run(scope) if tried is None else try_settings(scope, tried)
        return Response(GoldenRunJson.of_row(made), status=201)


class GoldenRunView(WorkspaceView):
    @operation("readGoldenRun", answer=GoldenRunJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a run with the result of each question."""
        rows = GoldenRun.objects.visible_to(self.scope)
        return Response(GoldenRunJson.of_row(get_object_or_404(rows, pk=row)))
