"""Routes: feature sets, how each is configured, what waits in it, and what was refused."""

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import outbox
from memories.api import feature_shapes
from memories.api.feature_shapes import (
    ChangeSerializer,
    EmbeddingSerializer,
    RefusalSerializer,
    SetSerializer,
)
from memories.api.features import cited_by, with_citations
from memories.features import queue, sets
from memories.features.consolidate import consolidate
from memories.features.set_embedding import state_of
from memories.features.sets import Backlog, NewSet, backlog, effective_of, find
from memories.features.update import asks_model, update_now, update_soon
from memories.models import Feature, FeatureChange, FeatureRefusal, FeatureSet
from workspaces.api.fields import Camel, ExternalId, Free, Text, read, read_query
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.scope import Scope

ADMINISTERED = NEEDS | {
    "POST": Capability.ADMIN,
    "PATCH": Capability.ADMIN,
    "DELETE": Capability.ADMIN,
}
CURATED = NEEDS | {"POST": Capability.CURATE}


class SetQuery(PageQuery):
    user_id = serializers.CharField(required=False, trim_whitespace=False)
    thread_id = serializers.CharField(required=False, trim_whitespace=False)
    key = serializers.CharField(required=False, trim_whitespace=False)


class NewSetBody(Camel):
    """The set takes in the episodes that fit all that is named."""

    key = Text(max_length=sets.LONGEST_KEY)
    user_id = ExternalId()
    thread_id = ExternalId()
    role = Text(required=False, max_length=20)
    metadata = Free(required=False)
    config = Free(required=False)


class BacklogSerializer(Camel):
    sets = serializers.IntegerField()
    episodes = serializers.IntegerField()
    oldest_seconds = serializers.FloatField(help_text="How long the oldest has waited.")
    failing = serializers.IntegerField()


class SetPageSerializer(Camel):
    results = SetSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    backlog = BacklogSerializer(allow_null=True, help_text="For those who see the whole workspace.")


class SettingSerializer(Camel):
    value = serializers.JSONField()
    source = serializers.ChoiceField(("set", "workspace", "product"))  # type: ignore[assignment]


class ConfigSerializer(Camel):
    """Each setting as it counts, and who said so."""

    key = serializers.CharField()
    settings = serializers.DictField(child=SettingSerializer())
    embedding = EmbeddingSerializer()


class FoldedSerializer(Camel):
    status = serializers.ChoiceField(("done", "received", "busy"))
    episodes = serializers.IntegerField(required=False)
    added = serializers.IntegerField(required=False)
    updated = serializers.IntegerField(required=False)
    deleted = serializers.IntegerField(required=False)
    refused = serializers.IntegerField(required=False)
    merged = serializers.IntegerField(required=False)


def sees_all(scope: Scope) -> bool:
    return not scope.is_bound and scope.subject_ids is None


def answered(scope: Scope, found: FeatureSet, status: int = 200) -> Response:
    return Response(feature_shapes.feature_set(found, whole=sees_all(scope)), status=status)


class SetsView(WorkspaceView):
    needs = ADMINISTERED

    @extend_schema(operation_id="listSets", parameters=[SetQuery], responses=SetPageSerializer)
    def get(self, request: Request, workspace: str) -> Response:
        """Feature sets, the newest first, and what waits in all of them."""
        wish = read_query(SetQuery, request)
        whole = sees_all(self.scope)
        counted = queue.count_now(self.scope.workspace_id) if whole else {}
        names = {"user_id": "subject__external_id", "thread_id": "conversation__external_id"}
        narrowing = {names.get(name, name): wish[name] for name in (*names, "key") if name in wish}
        rows = FeatureSet.objects.visible_to(self.scope).with_names().filter(**narrowing)
        answer = paged(request, rows, lambda row: told_set(row, counted.get(row.pk), whole=whole))
        answer.data["backlog"] = told_backlog(backlog(self.scope, counted)) if whole else None
        return answer

    @extend_schema(operation_id="createSet", request=NewSetBody, responses={201: SetSerializer})
    def post(self, request: Request, workspace: str) -> Response:
        """A set of your own, beside the one that every subject has."""
        body = read(NewSetBody, request.data)
        given = {name: value for name, value in body.items() if value is not None}
        return answered(self.scope, sets.create(self.scope, NewSet(**given)), 201)


def told_set(row: FeatureSet, counted: FeatureSet | None, *, whole: bool) -> dict[str, Any]:
    """`counted` is the same set with what waits in it now, where that was counted."""
    for name in queue.COUNTED if counted else ():
        setattr(row, name, getattr(counted, name))
    return feature_shapes.feature_set(row, whole=whole)


def told_backlog(told: Backlog) -> dict[str, Any]:
    return {
        "sets": told.sets,
        "episodes": told.episodes,
        "oldestSeconds": told.oldest_seconds,
        "failing": told.failing,
    }


class SetView(WorkspaceView):
    needs = ADMINISTERED

    @extend_schema(operation_id="readSet", responses=SetSerializer)
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """A set, by its key or id."""
        found = find(self.scope, key)
        if sees_all(self.scope):
            queue.count(found)
        answer = answered(self.scope, found)
        answer.data["embedding"] = told_embedding(found)
        return answer

    @extend_schema(operation_id="deleteSet", responses={204: None})
    def delete(self, request: Request, workspace: str, key: str) -> Response:
        """Delete a set with its features and their history, for good."""
        sets.delete(self.scope, key)
        return Response(status=204)


class ConfigView(WorkspaceView):
    needs = ADMINISTERED

    @extend_schema(operation_id="readSetConfig", responses=ConfigSerializer)
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """What counts for a set: categories, prompts, models, thresholds, and where each is from."""
        return Response(told_config(find(self.scope, key)))

    @extend_schema(
        operation_id="editSetConfig", request=OpenApiTypes.OBJECT, responses=ConfigSerializer
    )
    def patch(self, request: Request, workspace: str, key: str) -> Response:
        """Say what counts for this set; null takes it back."""
        changes = Free().run_validation(request.data)
        return Response(told_config(sets.configure(self.scope, key, changes)))


def told_config(found: FeatureSet) -> dict[str, Any]:
    effective = effective_of(found)
    settings = {n: {"value": e.value, "source": e.source} for n, e in effective.items()}
    return {"key": found.key, "settings": settings, "embedding": told_embedding(found)}


def told_embedding(found: FeatureSet) -> dict[str, Any]:
    """Of one set: it is counted anew."""
    told = asdict(state_of(found))
    return told | {"error": told["error"] or None}


class FoldView(WorkspaceView):
    needs = CURATED

    @extend_schema(
        operation_id="foldSet",
        request=None,
        responses={200: FoldedSerializer, 202: FoldedSerializer},
    )
    def post(self, request: Request, workspace: str, key: str) -> Response:
        """Take in now what waits; where a model is asked, the worker does it (202)."""
        if asks_model(self.scope, key):
            update_soon(self.scope, key)
            return Response({"status": "received"}, status=202)
        done = update_now(self.scope, key)
        if done is None:
            return Response({"status": "busy"})
        return Response({"status": "done", **asdict(done)})


class ConsolidateView(WorkspaceView):
    needs = CURATED

    @extend_schema(
        operation_id="consolidateSet",
        request=None,
        responses={200: FoldedSerializer, 202: FoldedSerializer},
    )
    def post(self, request: Request, workspace: str, key: str) -> Response:
        """Merge features that say the same; where a model is asked, the worker does it (202)."""
        if asks_model(self.scope, key):
            outbox.post("consolidate_set", find(self.scope, key).pk)
            return Response({"status": "received"}, status=202)
        return Response({"status": "done", "merged": consolidate(self.scope, key)})


class ChangesView(WorkspaceView):
    @extend_schema(
        operation_id="listChangesOfSet",
        parameters=[PageQuery],
        responses=page_of(ChangeSerializer, "ChangePage"),
    )
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """What became of the features of a set, the newest first; merges share their batch."""
        found = find(self.scope, key)
        seen = Feature.objects.visible_to(self.scope).filter(set=found)
        rows = FeatureChange.objects.filter(feature__in=seen)
        return paged(request, with_citations(self.scope, rows), cited_by)


class RefusalsView(WorkspaceView):
    @extend_schema(
        operation_id="listRefusalsOfSet",
        parameters=[PageQuery],
        responses=page_of(RefusalSerializer, "RefusalPage"),
    )
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """Commands that were not done, and why, the newest first."""
        rows = refusals(self.scope, find(self.scope, key))
        return paged(request, rows, feature_shapes.refusal)


def refusals(scope: Scope, found: FeatureSet) -> QuerySet[FeatureRefusal]:
    rows = FeatureRefusal.objects.filter(set=found)
    return rows.filter(agent_id=scope.agent_id) if scope.agent_id else rows
