"""Routes: facts, with the words they stand on, and statements that agents repeat."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.shapes import FactJson, MemoryJson
from memories.belief import review
from memories.models import Category, Fact, Memory
from memories.quality.repeated_statements import RepeatQuery, repeats
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, WorkspaceView
from workspaces.request_fields import AnyText, Flag, Maybe, OneOf, Text, Trimmed, declared
from workspaces.scope import Scope

# Routes: facts, with the words they stand on.

FACTS_BY = {
    "category": "category",
    "method": "method",
    "rule": "rule",
    "user_id": "subject__external_id",
    "agent_id": "agent__external_id",
    "memory_id": "memory_id",
    "session_id": "session_id",
    "min_confidence": "confidence__gte",
}


@declared
@dataclass(frozen=True, slots=True)
class FactQuery(PageQuery):
    category: Maybe[Annotated[str, OneOf(Category)]] = None
    method: Maybe[Annotated[str, OneOf(Fact.Method)]] = None
    rule: Maybe[Trimmed] = None
    user_id: Maybe[Text] = None
    agent_id: Maybe[Text] = None
    entity: Maybe[Trimmed] = None
    memory_id: Maybe[uuid.UUID] = None
    session_id: Maybe[uuid.UUID] = None
    min_confidence: Maybe[Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]] = None
    quarantined: Annotated[bool, Field(description="Those that wait for a person, instead of all others.")] = False


@declared
@dataclass(frozen=True, slots=True)
class AcceptBody:
    quote: Annotated[
        AnyText,
        Field(
            max_length=10_000,
            description="Words of a message of its ingest that say so; empty where it cites some.",
        ),
    ] = ""
    unmask: Annotated[Flag, Field(description="Show what is masked for its sake.")] = False


def cited(rows: QuerySet[Fact]) -> QuerySet[Fact]:
    return rows.with_names().with_citations()  # type: ignore[attr-defined]


class FactsView(WorkspaceView):
    @operation("listFacts", query=FactQuery, page=FactJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List claims as they were extracted; each citation quotes its episode word for word."""
        query = read_query(FactQuery, request)
        wanted = narrowing(query, FACTS_BY)
        waits = {"quarantined_at__isnull": not query.quarantined}
        rows = Fact.objects.visible_to(self.scope).filter(**wanted, **waits)
        if query.entity is not None:
            rows = rows.filter(entities__contains=[query.entity])
        return paged(request, cited(rows), FactJson.of)


def seen_fact(scope: Scope, row: uuid.UUID) -> Fact:
    return get_object_or_404(cited(Fact.objects.visible_to(scope)), pk=row)


class FactView(WorkspaceView):
    @operation("readFact", answer=FactJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a claim with the words it was read from."""
        return Response(FactJson.of(seen_fact(self.scope, row)))


class AcceptView(WorkspaceView):
    needs = CURATES

    @operation("acceptFact", request=AcceptBody, answer=MemoryJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Believe a fact that waits in quarantine, on words of its messages; return its memory."""
        fact = seen_fact(self.scope, row)
        body = read(AcceptBody, request.data)
        memory = review.accept(self.scope, fact.pk, body.quote, unmask=body.unmask)
        return Response(MemoryJson.of(Memory.objects.with_names().get(pk=memory.pk)))


class DismissView(WorkspaceView):
    needs = CURATES

    @operation("dismissFact", answer=FactJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Dismiss a fact that waits in quarantine: it stays unbelieved for good."""
        review.dismiss(self.scope, row)
        return Response(FactJson.of(seen_fact(self.scope, row)))


class AgentShareJson(JsonAnswer):
    agent_id: str
    name: str
    count: int
    sessions: int


class RepeatJson(JsonAnswer):
    """Statements of the same meaning, in the most frequent wording."""

    statement: str
    category: Category
    count: int
    sessions: Annotated[int, Meta(description="In how many sessions it was said.")]
    agents: list[AgentShareJson]
    memory_ids: Annotated[list[UUID], Meta(description="At most 20.")]
    entities: list[str]
    first_at: datetime
    last_at: datetime

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        return super().of(row, agents=[AgentShareJson.of(share) for share in row.agents])


class RepeatsJson(JsonAnswer):
    results: list[RepeatJson]


class RepeatsView(WorkspaceView):
    @operation("listRepeats", query=RepeatQuery, answer=RepeatsJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Statements that agents keep making, in several sessions; those of the most agents come first."""
        found = repeats(self.scope, read_query(RepeatQuery, request))
        return Response(RepeatsJson([RepeatJson.of(repeat) for repeat in found]))
