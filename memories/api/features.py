"""Routes: features, written and corrected by hand, with the history of each value."""

import uuid
from typing import Any

from django.db.models import F, Prefetch, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api import feature_shapes
from memories.api.feature_shapes import ChangeSerializer, FeatureSerializer
from memories.features import manual, undo
from memories.features.commands import LONGEST_NAME, LONGEST_VALUE
from memories.features.manual import NewFeature
from memories.features.sets import find, find_feature
from memories.models import Episode, Feature, FeatureChange, FeatureCitation, Visibility
from workspaces.api.fields import Camel, Choice, Free, Text, read, read_query
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.scope import Scope


class FeatureQuery(PageQuery):
    category = serializers.CharField(required=False)
    tag = serializers.CharField(required=False)
    feature = serializers.CharField(required=False)
    about = serializers.CharField(required=False)
    q = serializers.CharField(required=False, trim_whitespace=False, max_length=1000)
    live = serializers.ChoiceField(("true", "false", "any"), default="true")


class EpisodeIds(serializers.ListField):
    child = serializers.UUIDField()


class NewFeatureBody(Camel):
    category = Text(max_length=LONGEST_NAME)
    tag = Text(max_length=LONGEST_NAME)
    feature = Text(max_length=LONGEST_NAME)
    value = Text(max_length=LONGEST_VALUE)
    about = Text(required=False, max_length=255, allow_blank=True)
    visibility = Choice(choices=Visibility.choices, default=Visibility.PRIVATE)
    metadata = Free(required=False)
    episode_ids = EpisodeIds(required=False, max_length=100, help_text="Cited whole.")


class FeatureChanges(Camel):
    category = Text(required=False, max_length=LONGEST_NAME)
    tag = Text(required=False, max_length=LONGEST_NAME)
    feature = Text(required=False, max_length=LONGEST_NAME)
    value = Text(required=False, max_length=LONGEST_VALUE)
    about = Text(required=False, max_length=255, allow_blank=True)
    visibility = Choice(choices=Visibility.choices, required=False)
    metadata = Free(required=False)


class EndQuery(Camel):
    reason = serializers.CharField(required=False, allow_blank=True, max_length=1000)


def listed(scope: Scope, rows: QuerySet[Feature]) -> QuerySet[Feature]:
    """With the callers' own ids, and the citations that the asker may see, in two queries."""
    heard = Episode.objects.visible_to(scope)
    cited = FeatureCitation.objects.filter(change__is_current=True, episode__in=heard)
    return rows.annotate(
        set_key=F("set__key"),
        user_external=F("subject__external_id"),
        agent_external=F("agent__external_id"),
        thread_external=F("conversation__external_id"),
    ).prefetch_related(Prefetch("citations", cited.select_related("episode"), to_attr="cited"))


def shape(row: Any) -> dict[str, Any]:
    return feature_shapes.feature(row) | {
        "citations": [feature_shapes.citation(one) for one in row.cited]
    }


def answered(scope: Scope, feature_id: uuid.UUID, status: int = 200) -> Response:
    row = listed(scope, Feature.objects.visible_to(scope)).get(pk=feature_id)
    return Response(shape(row), status=status)


def with_citations(scope: Scope, rows: QuerySet[FeatureChange]) -> QuerySet[FeatureChange]:
    heard = Episode.objects.visible_to(scope)
    cited = FeatureCitation.objects.filter(episode__in=heard).select_related("episode")
    return rows.prefetch_related(Prefetch("citations", cited, to_attr="cited"))


def cited_by(row: Any) -> dict[str, Any]:
    return feature_shapes.change(row, row.cited)


class FeaturesOfSetView(WorkspaceView):
    @extend_schema(
        operation_id="listFeatures",
        parameters=[FeatureQuery],
        responses=page_of(FeatureSerializer, "FeaturePage"),
    )
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """The features of a set with the words they stand on, the newest first."""
        wish = read_query(FeatureQuery, request)
        rows = Feature.objects.visible_to(self.scope).filter(set=find(self.scope, key))
        if wish["live"] != "any":
            rows = rows.filter(ended_at__isnull=wish["live"] == "true")
        names = ("category", "tag", "feature", "about")
        rows = rows.filter(**{name: wish[name] for name in names if name in wish})
        if "q" in wish:
            rows = rows.filter(content__icontains=wish["q"])
        return paged(request, listed(self.scope, rows), shape)

    @extend_schema(
        operation_id="createFeature", request=NewFeatureBody, responses={201: FeatureSerializer}
    )
    def post(self, request: Request, workspace: str, key: str) -> Response:
        """Write a feature by hand; no machine changes it then."""
        body = read(NewFeatureBody, request.data)
        ids = tuple(body.pop("episode_ids", ()))
        made = manual.create(self.scope, key, NewFeature(**body, episode_ids=ids))
        return answered(self.scope, made.pk, 201)


class FeatureView(WorkspaceView):
    @extend_schema(operation_id="readFeature", responses=FeatureSerializer)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return answered(self.scope, find_feature(self.scope, row).pk)

    @extend_schema(operation_id="editFeature", request=FeatureChanges, responses=FeatureSerializer)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Correct a feature; what it said before stays in its undo."""
        changes = read(FeatureChanges, request.data)
        return answered(self.scope, manual.edit(self.scope, row, changes).pk)

    @extend_schema(operation_id="endFeature", parameters=[EndQuery], responses={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """End a feature; `undo` brings it back."""
        manual.delete(self.scope, row, read_query(EndQuery, request).get("reason", ""))
        return Response(status=204)


class FeatureHistoryView(WorkspaceView):
    @extend_schema(
        operation_id="readFeatureHistory",
        parameters=[PageQuery],
        responses=page_of(ChangeSerializer, "ChangePage"),
    )
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Every value a feature had: who or what changed it, from which words. Newest first."""
        rows = FeatureChange.objects.filter(feature=find_feature(self.scope, row))
        return paged(request, with_citations(self.scope, rows), cited_by)


class UndoFeatureView(WorkspaceView):
    needs = NEEDS | {"POST": Capability.CURATE}

    @extend_schema(operation_id="undoFeature", request=None, responses=FeatureSerializer)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Take the last change of a feature back; of a merge, all of it."""
        return answered(self.scope, undo.undo(self.scope, row).pk)
