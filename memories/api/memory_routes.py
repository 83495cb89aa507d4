"""Routes: memories, written and corrected by hand; facts, with the words they stand on; and
people's instructions to the memory, which can be undone."""

import re
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Self
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from msgspec import Meta
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories import intents, review
from memories.api.shapes import FactJson, IntentJson, LinkJson, MemoryJson
from memories.bounds import WHOLE
from memories.errors import Invalid, needed
from memories.models import (
    AsOf,
    Category,
    Fact,
    FactType,
    Intent,
    Memory,
    MemoryScope,
    Visibility,
    chain,
)
from memories.models.memory import MemoryQuerySet
from memories.repeated_statements import RepeatQuery, repeats
from memories.review import NewMemory, forget
from memories.review.create_and_edit import Entities, Share
from memories.review.forget import MESSAGES
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import (
    AnyText,
    Flag,
    Maybe,
    Metadata,
    Moment,
    NullIs,
    OneOf,
    Text,
    Trimmed,
    declared,
)
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
    quarantined: Annotated[
        bool, Field(description="Those that wait for a person, instead of all others.")
    ] = False


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
        """Statements that agents keep making, in several sessions; those of the most agents come first."""  # noqa: E501 -- one line in the schema
        found = repeats(self.scope, read_query(RepeatQuery, request))
        return Response(RepeatsJson([RepeatJson.of(repeat) for repeat in found]))


VERSION = re.compile(r'(?:W/)?"?([0-9]{1,9})"?\Z')
MEMORIES_BY = {
    "user_id": "subject__external_id",
    "agent_id": "agent__external_id",
    "thread_id": "conversation__external_id",
    "workflow_id": "workflow",
    "scope": "scope",
    "fact_type": "fact_type",
    "category": "category",
    "visibility": "visibility",
    "q": "content__icontains",
}
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The version that is meant to be changed: 412 where another one is the head.",
)


@declared
@dataclass(frozen=True, slots=True)
class MemoryQuery(PageQuery):
    user_id: Maybe[Text] = None
    agent_id: Maybe[Text] = None
    thread_id: Maybe[Text] = None
    workflow_id: Maybe[Text] = None
    scope: Maybe[Annotated[str, OneOf(MemoryScope)]] = None
    fact_type: Maybe[Annotated[str, OneOf(FactType)]] = None
    category: Maybe[Annotated[str, OneOf(Category)]] = None
    visibility: Maybe[Annotated[str, OneOf(Visibility)]] = None
    live: Annotated[
        str,
        OneOf(("true", "false", "any")),
        Field(description="false: those superseded, forgotten, expired or held for review."),
    ] = "true"
    valid_at: Maybe[Moment] = None
    known_at: Maybe[Moment] = None
    q: Maybe[Annotated[Text, Field(max_length=1000)]] = None


@declared
@dataclass(frozen=True, slots=True)
class ChainQuery:
    known_at: Maybe[Annotated[Moment, Field(description="The chain as it was then.")]] = None


@declared
@dataclass(frozen=True, slots=True)
class ForgetQuery:
    reason: Annotated[
        str,
        StringConstraints(strict=True, strip_whitespace=True, max_length=1000),
        Field(
            description="wrong (it is not learned again), private (said again, it waits for a"
            " person), outdated, or any text. What is wrong or private is told by nothing any more."
        ),
    ] = ""
    messages: Maybe[
        Annotated[
            str,
            OneOf(MESSAGES),
            Field(
                description="mask: its words are taken out of the messages and documents that it"
                " stands on, and of whatever else tells the same of the same user; keep: they"
                " stay. By default mask where the reason is wrong or private, else keep."
            ),
        ]
    ] = None


@declared
class MemoryChanges(TypedDict, total=False):
    content: Annotated[Text, Field(max_length=WHOLE, description="Makes a new version.")]
    metadata: Metadata
    pinned: Flag
    visibility: Annotated[str, OneOf(Visibility)]
    category: Annotated[str, OneOf(Category)]
    fact_type: Annotated[str, OneOf(FactType), NullIs("")]
    confidence: Share
    entities: Entities
    event_date: Moment | None
    valid_from: Moment | None
    valid_until: Moment | None
    forget_after: Moment | None


def listed(scope: Scope, query: MemoryQuery) -> QuerySet[Memory]:
    """Return the memories that match a list's parameters."""
    at = AsOf(query.valid_at, query.known_at)
    rows: MemoryQuerySet = Memory.objects.visible_to(scope)
    if query.live == "true" or not at.is_now:
        rows = rows.believed(scope.workspace_id, at)
    elif query.live == "false":
        rows = rows.ended()
    return rows.filter(**narrowing(query, MEMORIES_BY)).with_names().as_known(at.known_at)


def seen_memory(scope: Scope, row: uuid.UUID) -> Memory:
    return needed(Memory.objects.visible_to(scope).with_names().filter(pk=row).first(), "Memory")


def memory_response(memory: Memory, status: int = 200) -> Response:
    headers = {"ETag": f'"{memory.version}"'}
    return Response(MemoryJson.of(memory), status=status, headers=headers)


class MemoriesView(WorkspaceView):
    @operation("listMemories", query=MemoryQuery, page=MemoryJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List memories, the newest first; parameters narrow the list."""
        query = read_query(MemoryQuery, request)
        shape = partial(MemoryJson.of, known_at=query.known_at)
        return paged(request, listed(self.scope, query), shape)

    @operation("createMemory", request=NewMemory, answer={201: MemoryJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Write a memory by hand; if one with the same text is believed, return that."""
        return memory_response(review.create(self.scope, read(NewMemory, request.data)), 201)


class MemoryView(WorkspaceView):
    @operation("readMemory", answer=MemoryJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a memory, whether it is believed now or was before."""
        return memory_response(seen_memory(self.scope, row))

    @operation("editMemory", headers=[IF_MATCH], request=MemoryChanges, answer=MemoryJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change a memory; new content makes a new version, and the answer is the new head."""
        changes = read(MemoryChanges, request.data)
        begin, end = changes.get("valid_from"), changes.get("valid_until")
        if begin and end and end < begin:
            raise Invalid("validUntil", "Must not be before validFrom.")
        version = expected_version(request)
        return memory_response(review.edit(self.scope, row, changes, expected_version=version))

    @operation("forgetMemory", query=ForgetQuery, answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Forget a memory, with its words in messages where it is wrong or private; all of it can
        be restored."""
        asked = read_query(ForgetQuery, request)
        forget(self.scope, row, asked.reason, asked.messages or "")
        return Response(status=204)


def expected_version(request: Request) -> int | None:
    """Return the version in If-Match; None where it is not given, or is `*`."""
    given = request.META.get("HTTP_IF_MATCH", "*").strip()
    if given == "*":
        return None
    found = VERSION.match(given)
    if found is None:
        raise Invalid("If-Match", "Must be a version, as in the ETag.")
    return int(found[1])


class RestoreView(WorkspaceView):
    needs = NEEDS | {"POST": Capability.CURATE}

    @operation("restoreMemory", answer=MemoryJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Believe a forgotten memory again."""
        return memory_response(review.restore(self.scope, row))


class ChainJson(JsonAnswer):
    results: list[LinkJson]


class ChainView(WorkspaceView):
    @operation("readChain", query=ChainQuery, answer=ChainJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """List all versions and the decisions between them, the oldest first."""
        known_at = read_query(ChainQuery, request).known_at
        links = chain(self.scope, seen_memory(self.scope, row).pk, known_at)
        return Response(ChainJson([LinkJson.of_link(link, known_at) for link in links]))


class MemoryFactsView(WorkspaceView):
    @operation("listFactsOfMemory", page=FactJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """List the facts that a memory stands on, with the words they cite."""
        memory = seen_memory(self.scope, row)
        facts = cited(Fact.objects.visible_to(self.scope).filter(memory=memory))
        return paged(request, facts, FactJson.of)


INTENT_NARROWING = {"state": "state", "user_id": "subject__external_id"}
STATES = [state for state in Intent.State.values if state != Intent.State.HEARD]


@declared
@dataclass(frozen=True, slots=True)
class IntentQuery(PageQuery):
    state: Maybe[Annotated[str, OneOf(STATES)]] = None
    user_id: Maybe[Text] = None


class IntentsView(WorkspaceView):
    @operation("listIntents", query=IntentQuery, page=IntentJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List people's instructions to the memory, and what was done about each."""
        wanted = narrowing(read_query(IntentQuery, request), INTENT_NARROWING)
        rows = Intent.objects.visible_to(self.scope).exclude(state=Intent.State.HEARD)
        rows = rows.filter(**wanted).select_related("episode").with_names()
        return paged(request, rows, IntentJson.of)


class UndoIntentView(WorkspaceView):
    needs = CURATES

    @operation("undoIntent", answer=IntentJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Undo an instruction: memories are believed again, words are shown again; 409 where
        nothing was done, or there is a newer version."""
        intents.undo(self.scope, row)
        rows = Intent.objects.visible_to(self.scope).select_related("episode").with_names()
        return Response(IntentJson.of(rows.get(pk=row)))
