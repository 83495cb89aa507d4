"""Routes: features, written and corrected by hand, with the history of each value."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from django.db.models import F, Prefetch, QuerySet
from msgspec import UNSET, Meta, UnsetType
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories.api.shapes import CitationJson
from memories.models import Episode, Feature, FeatureChange, FeatureCitation, Visibility
from memories.profiles.features import edit_features, undo_features
from memories.profiles.features.edit_features import Name, NewFeature, Value
from memories.profiles.features.sets import find, find_feature
from workspaces.api.json_answers import AgentId, JsonAnswer, ThreadId, UserId
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import AnyText, Free, Maybe, Metadata, OneOf, Text, Trimmed, declared
from workspaces.scope import Scope

FEATURES_BY = {
    "category": "category",
    "tag": "tag",
    "feature": "feature",
    "about": "about",
    "q": "content__icontains",
}


class FeatureJson(JsonAnswer):
    id: UUID
    set_key: str
    category: str
    tag: str
    feature: str
    value: str
    about: Annotated[str | None, Meta(description="Whose it is, where several speak.")]
    visibility: Visibility
    method: Feature.Method
    user_id: UserId
    agent_id: AgentId
    thread_id: ThreadId
    metadata: Free
    ended_at: datetime | None
    created_at: datetime
    updated_at: datetime
    citations: list[CitationJson] | UnsetType = UNSET


class ChangeJson(JsonAnswer):
    """A step in a feature's history; `after` null: it ended. Joint changes share `batch`."""

    id: UUID
    feature_id: UUID
    batch: UUID
    action: FeatureChange.Action
    before: Free | None
    after: Free | None
    by: str
    rule: str | None
    reason: str | None
    occurred_at: Annotated[datetime, Meta(description="When it was said.")]
    created_at: datetime
    is_current: bool
    undone_at: datetime | None
    citations: list[CitationJson]

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        """`row.cited` are its citations that the asker may see."""
        return super().of(
            row,
            before=_without_slot(row.before),
            after=_without_slot(row.after),
            citations=[CitationJson.of_model(one) for one in row.cited],
        )


def _without_slot(snapshot: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a snapshot without its internal `slot`."""
    if snapshot is None:
        return None
    return {name: value for name, value in snapshot.items() if name != "slot"}


class EmbeddingJson(JsonAnswer):
    """The embedding model that a set is to use and the one it uses; null: the workspace's."""

    wanted: str | None
    spoken: str | None
    state: Literal["ready", "under way", "failing"]
    made: Annotated[int, Meta(description="Features that have a vector of the wanted model.")]
    total: int
    error: str | None


class SetJson(JsonAnswer):
    """A feature set. How much waits is shown only to those who see the whole workspace."""

    id: UUID
    key: str
    user_id: UserId
    thread_id: ThreadId
    role: str | None
    metadata: Free
    waiting: Annotated[int | None, Meta(description="Episodes to be taken in.")]
    waiting_since: datetime | None
    due_at: datetime | None
    folded_at: datetime | None
    error: str | None
    created_at: datetime
    updated_at: datetime
    embedding: Annotated[EmbeddingJson | UnsetType, Meta(description="Of a set that is read alone.")] = UNSET

    @classmethod
    def of_set(cls, row: Any, *, whole: bool) -> Self:
        """`whole`: the asker sees all of the workspace, and so what waits."""
        if whole:
            return cls.of(row)
        return cls.of(row, waiting=None, waiting_since=None, due_at=None, error=None)


class RefusalJson(JsonAnswer):
    id: UUID
    batch: UUID
    command: Free
    reason: str
    rule: str | None
    created_at: datetime


@declared
@dataclass(frozen=True, slots=True)
class FeatureQuery(PageQuery):
    category: Maybe[Trimmed] = None
    tag: Maybe[Trimmed] = None
    feature: Maybe[Trimmed] = None
    about: Maybe[Trimmed] = None
    q: Maybe[Annotated[Text, Field(max_length=1000)]] = None
    live: Annotated[str, OneOf(("true", "false", "any"))] = "true"


@declared
class FeatureChanges(TypedDict, total=False):
    category: Name
    tag: Name
    feature: Name
    value: Value
    about: Annotated[AnyText, Field(max_length=255)]
    visibility: Annotated[str, OneOf(Visibility)]
    metadata: Metadata


@declared
@dataclass(frozen=True, slots=True)
class EndQuery:
    reason: Annotated[str, StringConstraints(strict=True, strip_whitespace=True, max_length=1000)] = ""


def listed(scope: Scope, rows: QuerySet[Feature]) -> QuerySet[Feature]:
    """Add the callers' own ids, and the citations that the asker may see, in two queries."""
    heard = Episode.objects.visible_to(scope)
    cited = FeatureCitation.objects.filter(change__is_current=True, episode__in=heard)
    named = rows.with_names().annotate(set_key=F("set__key"))  # type: ignore[attr-defined]
    return named.prefetch_related(Prefetch("citations", cited.select_related("episode"), to_attr="cited"))


def shape(row: Any) -> FeatureJson:
    return FeatureJson.of(row, citations=[CitationJson.of_model(one) for one in row.cited])


def feature_response(scope: Scope, feature_id: uuid.UUID, status: int = 200) -> Response:
    row = listed(scope, Feature.objects.visible_to(scope)).get(pk=feature_id)
    return Response(shape(row), status=status)


def with_citations(scope: Scope, rows: QuerySet[FeatureChange]) -> QuerySet[FeatureChange]:
    heard = Episode.objects.visible_to(scope)
    cited = FeatureCitation.objects.filter(episode__in=heard).select_related("episode")
    return rows.prefetch_related(Prefetch("citations", cited, to_attr="cited"))


class FeaturesOfSetView(WorkspaceView):
    @operation("listFeatures", query=FeatureQuery, page=FeatureJson)
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """List the features of a set with the words they stand on, the newest first."""
        query = read_query(FeatureQuery, request)
        rows = Feature.objects.visible_to(self.scope).filter(set=find(self.scope, key))
        if query.live != "any":
            rows = rows.filter(ended_at__isnull=query.live == "true")
        rows = rows.filter(**narrowing(query, FEATURES_BY))
        return paged(request, listed(self.scope, rows), shape)

    @operation("createFeature", request=NewFeature, answer={201: FeatureJson})
    def post(self, request: Request, workspace: str, key: str) -> Response:
        """Write a feature by hand; no machine changes it then."""
        made = edit_features.create(self.scope, key, read(NewFeature, request.data))
        return feature_response(self.scope, made.pk, 201)


class FeatureView(WorkspaceView):
    @operation("readFeature", answer=FeatureJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a feature with the words it stands on."""
        return feature_response(self.scope, find_feature(self.scope, row).pk)

    @operation("editFeature", request=FeatureChanges, answer=FeatureJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Correct a feature; what it said before stays in its history."""
        changes = read(FeatureChanges, request.data)
        return feature_response(self.scope, edit_features.edit(self.scope, row, changes).pk)

    @operation("endFeature", query=EndQuery, answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """End a feature; `undo` brings it back."""
        edit_features.delete(self.scope, row, read_query(EndQuery, request).reason)
        return Response(status=204)


class FeatureHistoryView(WorkspaceView):
    @operation("readFeatureHistory", page=ChangeJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """List every value a feature had, with who or what changed it, and the words it stands on.
        The newest come first."""
        rows = FeatureChange.objects.filter(feature=find_feature(self.scope, row))
        return paged(request, with_citations(self.scope, rows), ChangeJson.of)


class UndoFeatureView(WorkspaceView):
    needs = NEEDS | {"POST": Capability.CURATE}

    @operation("undoFeature", answer=FeatureJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Undo the last change of a feature; a merge is undone as a whole."""
        return feature_response(self.scope, undo_features.undo(self.scope, row).pk)
