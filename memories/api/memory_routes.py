"""Routes: memories, written and corrected by hand."""

import re
import uuid
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories.api.fact_routes import cited
from memories.api.shapes import FactJson, LinkJson, MemoryJson
from memories.belief import review
from memories.belief.review import NewMemory, forget
from memories.belief.review.create import Entities, Share
from memories.belief.review.forget import MESSAGES
from memories.errors import Invalid, needed
from memories.language.bounds import WHOLE
from memories.models import (
    AsOf,
    Category,
    Fact,
    FactType,
    Memory,
    MemoryScope,
    Standing,
    Visibility,
    chain,
    with_later_said,
)
from memories.models.memory import MemoryQuerySet
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Flag, Maybe, Metadata, Moment, NullIs, OneOf, PastMoment, Text, declared
from workspaces.scope import Scope

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
    standing: Maybe[
        Annotated[
            str,
            OneOf(Standing),
            Field(description="past goes for live=false. By default what is believed: current and questioned."),
        ]
    ] = None
    valid_at: Maybe[Moment] = None
    known_at: Maybe[Moment] = None
    said_before: Maybe[
        Annotated[PastMoment, Field(description="Only what had been said by then counts, whenever it came in.")]
    ] = None
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
    at = AsOf(query.valid_at, query.known_at, query.said_before)
    rows: MemoryQuerySet = Memory.objects.visible_to(scope)
    if not at.is_now:
        rows = rows.believed(scope.workspace_id, at)
    elif query.standing is not None:
        rows = rows.in_standing(Standing(query.standing))
    elif query.live == "true":
        rows = rows.live()
    elif query.live == "false":
        rows = rows.ended()
    rows = rows.filter(**narrowing(query, MEMORIES_BY)).with_names().as_known(at)
    if query.standing is not None and not at.is_now:
        rows = rows.filter(**{"known_standing" if at.columns else "standing": query.standing})
    return with_later_said(rows, scope, at)


def seen_memory(scope: Scope, row: uuid.UUID) -> Memory:
    rows = with_later_said(Memory.objects.visible_to(scope).with_names(), scope)
    return needed(rows.filter(pk=row).first(), "Memory")


def memory_response(memory: Memory, status: int = 200) -> Response:
    headers = {"ETag": f'"{memory.version}"'}
    return Response(MemoryJson.of(memory), status=status, headers=headers)


class MemoriesView(WorkspaceView):
    @operation("listMemories", query=MemoryQuery, page=MemoryJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List memories, the newest first; parameters narrow the list."""
        query = read_query(MemoryQuery, request)
        shape = partial(MemoryJson.of, at=AsOf(query.valid_at, query.known_at, query.said_before))
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
