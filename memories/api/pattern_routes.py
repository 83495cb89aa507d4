"""Routes: a workspace's own patterns, messages that no pattern covered, and statements that must
not be learned again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from memories.errors import refuse_narrow
from memories.meters.skip_counts import count_unread
from memories.models import (
    Category,
    MemorySession,
    Miss,
    Rejection,
    Visibility,
    WorkspacePattern,
)
from memories.reading.extraction.fallback_chain import chain_of
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import Maybe, OneOf, Text, declared


class PatternJson(JsonAnswer):
    id: UUID
    name: str
    category: Category
    regex: str
    template: Annotated[str | None, Meta(description="The statement; null: the sentence in the third person.")]
    confidence: float
    visibility: Visibility | None
    enabled: bool
    examples: list[str]
    counter_examples: list[str]
    created_at: datetime
    updated_at: datetime


class MissJson(JsonAnswer):
    """A message in which no pattern fired, and the statements that stand in it all the same."""

    id: UUID
    episode_id: UUID
    session_id: UUID | None
    text: str
    statements: list[str]
    category: Category
    shape: str | None
    found_by: Annotated[str, Meta(description="llm, or person.")]
    status: Annotated[str, column("state"), Meta(description="open, or done.")]
    note: str | None
    created_at: datetime


class UnreadJson(JsonAnswer):
    """Counts over the messages of the newest 5,000 sessions that are not of documents."""

    has_model: Annotated[bool, Meta(description="Whether a model reads what patterns leave.")]
    messages: int
    memories: Annotated[int, Meta(description="New ones that they gave.")]
    unread: Annotated[
        int,
        Meta(
            description="Kept and found by search, but nothing was learned of them; without"
            " greetings, questions and the like."
        ),
    ]
    waiting: Annotated[int, Meta(description="Still to be read.")]
    failed: Annotated[int, Meta(description="Could not be read.")]


class MissPage(JsonAnswer):
    results: list[MissJson]
    next: str | None
    previous: str | None
    unread: UnreadJson


class RejectionJson(JsonAnswer):
    id: UUID
    user_id: Annotated[str | None, column("user_external")]
    agent_id: Annotated[
        str | None,
        column("agent_external"),
        Meta(description="The only one that it binds; null: it binds all."),
    ]
    memory_id: UUID | None
    content: str
    reason: str | None
    rejected_by: str
    created_at: datetime


@declared
@dataclass(frozen=True, slots=True)
class PatternQuery(PageQuery):
    category: Maybe[Annotated[str, OneOf(Category)]] = None
    enabled: Maybe[bool] = None


@declared
@dataclass(frozen=True, slots=True)
class MissQuery(PageQuery):
    status: Maybe[Annotated[str, OneOf(Miss.State)]] = None
    category: Maybe[Annotated[str, OneOf(Category)]] = None
    found_by: Maybe[Annotated[str, OneOf(Miss.FoundBy)]] = None
    user_id: Maybe[Text] = None


@declared
@dataclass(frozen=True, slots=True)
class RejectionQuery(PageQuery):
    user_id: Maybe[Text] = None


class PatternsView(WorkspaceView):
    @operation("listPatterns", query=PatternQuery, page=PatternJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the workspace's own patterns. Their examples may be anybody's words, so this is not
        for keys of an agent, or keys limited to subjects or spaces."""
        refuse_narrow(self.scope.is_narrow)
        columns = {"category": "category", "enabled": "enabled"}
        wanted = narrowing(read_query(PatternQuery, request), columns)
        rows = WorkspacePattern.objects.filter(workspace_id=self.scope.workspace_id, **wanted)
        return paged(request, rows, PatternJson.of)


class MissesView(WorkspaceView):
    @operation("listMisses", query=MissQuery, answer=MissPage)
    def get(self, request: Request, workspace: str) -> Response:
        """List messages that patterns passed over although they tell something, the newest first:
        another pattern would help there. Only a model or a person finds these: `unread` counts the
        messages that were kept with nothing learned, and tells whether there is a model."""
        columns = {
            "status": "state",
            "category": "category",
            "found_by": "found_by",
            "user_id": "episode__subject__external_id",
        }
        wanted = narrowing(read_query(MissQuery, request), columns)
        answer = paged(request, Miss.objects.visible_to(self.scope).filter(**wanted), MissJson.of)
        answer.data["unread"] = self.unread(wanted.get("episode__subject__external_id"))
        return answer

    def unread(self, user_id: str | None) -> UnreadJson:
        sessions = MemorySession.objects.visible_to(self.scope)
        if user_id is not None:
            sessions = sessions.filter(subject__external_id=user_id)
        has_model = chain_of(self.scope.workspace_id) is not None
        found = count_unread(sessions, has_server_model=has_model)
        return UnreadJson(
            has_model=has_model,
            messages=found.messages,
            memories=found.memories,
            unread=found.unread,
            waiting=found.waiting,
            failed=found.failed,
        )


class RejectionsView(WorkspaceView):
    @operation("listRejections", query=RejectionQuery, page=RejectionJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the statements that must not be learned again, where you see the former memory."""
        columns = {"user_id": "subject__external_id"}
        wanted = narrowing(read_query(RejectionQuery, request), columns)
        rows = Rejection.objects.visible_to(self.scope).filter(**wanted).with_names()
        return paged(request, rows, RejectionJson.of)
