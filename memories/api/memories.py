"""Routes: memories, written and corrected by hand."""

import re
import uuid
from functools import partial
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import curation
from memories.api.facts import cited
from memories.api.shapes import FactJson, LinkJson, MemoryJson
from memories.bounds import WHOLE
from memories.curation import NewMemory
from memories.errors import Invalid, NotFound
from memories.forgetting import forget
from memories.models import (
    AsOf,
    Category,
    Fact,
    FactType,
    Memory,
    MemoryScope,
    Visibility,
    chain,
)
from memories.models.memory import MemoryQuerySet
from workspaces.api.fields import (
    Camel,
    Choice,
    ExternalId,
    Flag,
    Free,
    Moment,
    Number,
    Text,
    read,
    read_query,
)
from workspaces.api.json_answers import Json
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.scope import Scope

VERSION = re.compile(r'(?:W/)?"?([0-9]{1,9})"?\Z')
NARROWING = {
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


class MemoryQuery(PageQuery):
    user_id = serializers.CharField(required=False, trim_whitespace=False)
    agent_id = serializers.CharField(required=False, trim_whitespace=False)
    thread_id = serializers.CharField(required=False, trim_whitespace=False)
    workflow_id = serializers.CharField(required=False, trim_whitespace=False)
    scope = serializers.ChoiceField(MemoryScope.choices, required=False)
    fact_type = serializers.ChoiceField(FactType.choices, required=False)
    category = serializers.ChoiceField(Category.choices, required=False)
    visibility = serializers.ChoiceField(Visibility.choices, required=False)
    live = serializers.ChoiceField(
        ("true", "false", "any"),
        default="true",
        help_text="false: those superseded, forgotten, expired or held for review.",
    )
    valid_at = serializers.DateTimeField(required=False)
    known_at = serializers.DateTimeField(required=False)
    q = serializers.CharField(required=False, trim_whitespace=False, max_length=1000)


class ChainQuery(Camel):
    known_at = serializers.DateTimeField(required=False, help_text="The chain as it was then.")


class ForgetQuery(Camel):
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1000,
        help_text="wrong (it is not learned again), outdated, private, or any text.",
    )


class EntitiesField(serializers.ListField):
    child = Text(max_length=255)


class MemoryChanges(Camel):
    content = Text(required=False, max_length=WHOLE, help_text="Makes a new version.")
    metadata = Free(required=False)
    pinned = Flag(required=False)
    visibility = Choice(choices=Visibility.choices, required=False)
    category = Choice(choices=Category.choices, required=False)
    fact_type = Choice(choices=FactType.choices, required=False)
    confidence = Number(min_value=0, max_value=1, required=False)
    entities = EntitiesField(required=False, max_length=100)
    event_date = Moment(required=False, allow_null=True)
    valid_from = Moment(required=False, allow_null=True)
    valid_until = Moment(required=False, allow_null=True)
    forget_after = Moment(required=False, allow_null=True)


class NewMemoryBody(Camel):
    content = Text(max_length=WHOLE)
    user_id = ExternalId()
    agent_id = ExternalId()
    thread_id = ExternalId()
    workflow_id = ExternalId()
    scope = Choice(choices=MemoryScope.choices, default=MemoryScope.USER)
    category = Choice(choices=Category.choices, default=Category.OTHER)
    fact_type = Choice(choices=FactType.choices, required=False, allow_null=True)
    visibility = Choice(choices=Visibility.choices, required=False, allow_null=True)
    confidence = Number(min_value=0, max_value=1, default=1.0)
    entities = EntitiesField(required=False, max_length=100)
    event_date = Moment(required=False, allow_null=True)
    metadata = Free(required=False)


def listed(scope: Scope, wish: dict[str, Any]) -> QuerySet[Memory]:
    """The memories that a list's parameters leave."""
    at = AsOf(wish.get("valid_at"), wish.get("known_at"))
    rows: MemoryQuerySet = Memory.objects.visible_to(scope)
    if wish["live"] == "true" or not at.is_now:
        rows = rows.believed(scope.workspace_id, at)
    elif wish["live"] == "false":
        rows = rows.ended()
    narrowing = {path: wish[name] for name, path in NARROWING.items() if name in wish}
    return rows.filter(**narrowing).with_names().as_known(at.known_at)


def seen(scope: Scope, row: uuid.UUID) -> Memory:
    found = Memory.objects.visible_to(scope).with_names().filter(pk=row).first()
    if found is None:
        raise NotFound("Memory")
    return found


def answered(memory: Memory, status: int = 200) -> Response:
    headers = {"ETag": f'"{memory.version}"'}
    return Response(MemoryJson.of(memory), status=status, headers=headers)


class MemoriesView(WorkspaceView):
    @extend_schema(
        operation_id="listMemories",
        parameters=[MemoryQuery],
        responses=page_of(MemoryJson, "MemoryPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        """Memories, the newest first; parameters narrow."""
        wish = read_query(MemoryQuery, request)
        shape = partial(MemoryJson.of, known_at=wish.get("known_at"))
        return paged(request, listed(self.scope, wish), shape)

    @extend_schema(operation_id="createMemory", request=NewMemoryBody, responses={201: MemoryJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Write a memory by hand; one that is believed with the same text is answered again."""
        body = read(NewMemoryBody, request.data)
        given = {name: value for name, value in body.items() if value is not None}
        entities = tuple(given.pop("entities", ()))
        return answered(curation.create(self.scope, NewMemory(**given, entities=entities)), 201)


class MemoryView(WorkspaceView):
    @extend_schema(operation_id="readMemory", responses=MemoryJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return answered(seen(self.scope, row))

    @extend_schema(
        operation_id="editMemory",
        parameters=[IF_MATCH],
        request=MemoryChanges,
        responses=MemoryJson,
    )
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change a memory; new content makes a new version, and answers the new head."""
        changes = read(MemoryChanges, request.data)
        check_order(changes)
        version = expected_version(request)
        return answered(curation.edit(self.scope, row, changes, expected_version=version))

    @extend_schema(operation_id="forgetMemory", parameters=[ForgetQuery], responses={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Forget a memory; it can be restored."""
        forget(self.scope, row, read_query(ForgetQuery, request).get("reason", ""))
        return Response(status=204)


def check_order(changes: dict[str, Any]) -> None:
    begin, end = changes.get("valid_from"), changes.get("valid_until")
    if begin is not None and end is not None and end < begin:
        raise Invalid("validUntil", "Must not be before validFrom.")


def expected_version(request: Request) -> int | None:
    """The version in If-Match; None where it is not given, or is `*`."""
    given = request.META.get("HTTP_IF_MATCH", "*").strip()
    if given == "*":
        return None
    found = VERSION.match(given)
    if found is None:
        raise Invalid("If-Match", "Must be a version, as in the ETag.")
    return int(found[1])


class RestoreView(WorkspaceView):
    needs = NEEDS | {"POST": Capability.CURATE}

    @extend_schema(operation_id="restoreMemory", request=None, responses=MemoryJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Believe a forgotten memory again."""
        return answered(curation.restore(self.scope, row))


class ChainJson(Json):
    results: list[LinkJson]


class ChainView(WorkspaceView):
    @extend_schema(operation_id="readChain", parameters=[ChainQuery], responses=ChainJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """All versions and the decisions between them, oldest first."""
        known_at = read_query(ChainQuery, request).get("known_at")
        links = chain(self.scope, seen(self.scope, row).pk, known_at)
        return Response(ChainJson([LinkJson.of_link(link, known_at) for link in links]))


class MemoryFactsView(WorkspaceView):
    @extend_schema(
        operation_id="listFactsOfMemory",
        parameters=[PageQuery],
        responses=page_of(FactJson, "FactPage"),
    )
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """The facts that stand under a memory, with the words they cite."""
        memory = seen(self.scope, row)
        facts = cited(Fact.objects.visible_to(self.scope).filter(memory=memory))
        return paged(request, facts, FactJson.of)
