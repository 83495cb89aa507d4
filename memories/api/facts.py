"""Routes: facts, with the words they stand on."""

import uuid

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import curation
from memories.api.shapes import FactJson, MemoryJson
from memories.models import Category, Fact, Memory
from workspaces.api.fields import Camel, Text, read, read_query
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.scope import Scope

DECIDES = NEEDS | {"POST": Capability.CURATE}
NARROWING = {
    "category": "category",
    "method": "method",
    "rule": "rule",
    "user_id": "subject__external_id",
    "agent_id": "agent__external_id",
    "memory_id": "memory_id",
    "session_id": "session_id",
    "min_confidence": "confidence__gte",
}


class FactQuery(PageQuery):
    category = serializers.ChoiceField(Category.choices, required=False)
    method = serializers.ChoiceField(Fact.Method.choices, required=False)
    rule = serializers.CharField(required=False)
    user_id = serializers.CharField(required=False, trim_whitespace=False)
    agent_id = serializers.CharField(required=False, trim_whitespace=False)
    entity = serializers.CharField(required=False)
    memory_id = serializers.UUIDField(required=False)
    session_id = serializers.UUIDField(required=False)
    min_confidence = serializers.FloatField(required=False, min_value=0, max_value=1)
    quarantined = serializers.BooleanField(
        default=False, help_text="Those that wait for a person, instead of all others."
    )


class AcceptBody(Camel):
    quote = Text(help_text="Words of a message of its ingest that say so.", max_length=10_000)


def cited(rows: QuerySet[Fact]) -> QuerySet[Fact]:
    return rows.with_names().prefetch_related("citations__episode")  # type: ignore[attr-defined]


class FactsView(WorkspaceView):
    @extend_schema(
        operation_id="listFacts",
        parameters=[FactQuery],
        responses=page_of(FactJson, "FactPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        """Claims as they were extracted; each citation's quote is its episode's own words."""
        wish = read_query(FactQuery, request)
        narrowing = {path: wish[name] for name, path in NARROWING.items() if name in wish}
        waits = {"quarantined_at__isnull": not wish["quarantined"]}
        rows = Fact.objects.visible_to(self.scope).filter(**narrowing, **waits)
        if "entity" in wish:
            rows = rows.filter(entities__contains=[wish["entity"]])
        return paged(request, cited(rows), FactJson.of)


def seen(scope: Scope, row: uuid.UUID) -> Fact:
    return get_object_or_404(cited(Fact.objects.visible_to(scope)), pk=row)


class FactView(WorkspaceView):
    @extend_schema(operation_id="readFact", responses=FactJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return Response(FactJson.of(seen(self.scope, row)))


class AcceptView(WorkspaceView):
    needs = DECIDES

    @extend_schema(operation_id="acceptFact", request=AcceptBody, responses=MemoryJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Believe a fact that waits in quarantine, for words of its messages; its memory."""
        fact = seen(self.scope, row)
        memory = curation.accept(self.scope, fact.pk, read(AcceptBody, request.data)["quote"])
        return Response(MemoryJson.of(Memory.objects.with_names().get(pk=memory.pk)))


class DismissView(WorkspaceView):
    needs = DECIDES

    @extend_schema(operation_id="dismissFact", request=None, responses=FactJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Leave a fact that waits in quarantine unbelieved for good."""
        curation.dismiss(self.scope, row)
        return Response(FactJson.of(seen(self.scope, row)))
