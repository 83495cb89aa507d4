"""Routes: features, written and corrected by hand, with the history of each value; feature sets;
and profiles."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import msgspec
from django.db.models import F, Prefetch, QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from msgspec import UNSET, Meta, UnsetType
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories import outbox
from memories.api.shapes import CitationJson, MemoryJson
from memories.features import features_by_hand, sets
from memories.features.config import SOURCES, TYPE
from memories.features.features_by_hand import Name, NewFeature, Value
from memories.features.profile import (
    Profile,
    ProfileOptions,
    cached,
    dynamic_lines,
    markdown,
    profile,
    static_lines,
)
from memories.features.set_embedding import state_of
from memories.features.sets import NewSet, backlog, effective_of, find, find_feature
from memories.features.update import asks_model, consolidate, update_now, update_soon
from memories.models import (
    AsOf,
    Episode,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureRefusal,
    FeatureSet,
    Visibility,
)
from workspaces.api.json_answers import AgentId, JsonAnswer, ThreadId, UserId, one_of
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, page_of, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, NEEDS, WorkspaceView
from workspaces.models import Capability, Subject
from workspaces.request_fields import (
    AnyText,
    Free,
    Maybe,
    Metadata,
    Moment,
    OneOf,
    OwnId,
    Text,
    Trimmed,
    declared,
)
from workspaces.scope import Scope, subject_to_read

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
    embedding: Annotated[
        EmbeddingJson | UnsetType, Meta(description="Of a set that is read alone.")
    ] = UNSET

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
    reason: Annotated[
        str, StringConstraints(strict=True, strip_whitespace=True, max_length=1000)
    ] = ""


def listed(scope: Scope, rows: QuerySet[Feature]) -> QuerySet[Feature]:
    """Add the callers' own ids, and the citations that the asker may see, in two queries."""
    heard = Episode.objects.visible_to(scope)
    cited = FeatureCitation.objects.filter(change__is_current=True, episode__in=heard)
    named = rows.with_names().annotate(set_key=F("set__key"))  # type: ignore[attr-defined]
    return named.prefetch_related(
        Prefetch("citations", cited.select_related("episode"), to_attr="cited")
    )


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
        made = features_by_hand.create(self.scope, key, read(NewFeature, request.data))
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
        return feature_response(self.scope, features_by_hand.edit(self.scope, row, changes).pk)

    @operation("endFeature", query=EndQuery, answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """End a feature; `undo` brings it back."""
        features_by_hand.delete(self.scope, row, read_query(EndQuery, request).reason)
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
        return feature_response(self.scope, features_by_hand.undo(self.scope, row).pk)


# Routes: feature sets, how each is configured, what waits in it, and what was refused.

ADMINISTERED = NEEDS | {
    "POST": Capability.ADMIN,
    "PATCH": Capability.ADMIN,
    "DELETE": Capability.ADMIN,
}
SETS_BY = {
    "user_id": "subject__external_id",
    "thread_id": "conversation__external_id",
    "key": "key",
}


@declared
@dataclass(frozen=True, slots=True)
class SetQuery(PageQuery):
    user_id: Maybe[Text] = None
    thread_id: Maybe[Text] = None
    key: Maybe[Text] = None


class BacklogJson(JsonAnswer):
    sets: int
    episodes: int
    oldest_seconds: Annotated[float, Meta(description="How long the oldest has waited.")]
    failing: int


class SetPageJson(page_of(SetJson)):  # type: ignore[misc]  # made when it runs
    backlog: Annotated[
        BacklogJson | None, Meta(description="For those who see the whole workspace.")
    ]


class SettingJson(JsonAnswer):
    value: Any
    source: Annotated[str, one_of(SOURCES)]


class ConfigJson(JsonAnswer):
    """Each setting in force, and its source."""

    key: str
    type: Annotated[str | None, Meta(description="The type whose settings it shares.")]
    settings: dict[str, SettingJson]
    embedding: EmbeddingJson


class FoldedJson(JsonAnswer):
    status: Literal["done", "received", "busy"]
    episodes: int | UnsetType = UNSET
    added: int | UnsetType = UNSET
    updated: int | UnsetType = UNSET
    deleted: int | UnsetType = UNSET
    refused: int | UnsetType = UNSET
    merged: int | UnsetType = UNSET


def sees_all(scope: Scope) -> bool:
    return not scope.is_narrow


def set_response(scope: Scope, found: FeatureSet, status: int = 200) -> Response:
    return Response(SetJson.of_set(found, whole=sees_all(scope)), status=status)


class SetsView(WorkspaceView):
    needs = ADMINISTERED

    @operation("listSets", query=SetQuery, answer=SetPageJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List feature sets, the newest first, and count what waits in all of them."""
        wanted = narrowing(read_query(SetQuery, request), SETS_BY)
        whole = sees_all(self.scope)
        counted = sets.count_now(self.scope.workspace_id) if whole else {}
        rows = FeatureSet.objects.visible_to(self.scope).with_names().filter(**wanted)
        answer = paged(request, rows, lambda row: counted_set(row, counted.get(row.pk), whole))
        waits = BacklogJson.of(backlog(self.scope, counted)) if whole else None
        answer.data["backlog"] = waits
        return answer

    @operation("createSet", request=NewSet, answer={201: SetJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Create a set of your own, beside the one that every subject has."""
        return set_response(self.scope, sets.create(self.scope, read(NewSet, request.data)), 201)


def counted_set(row: FeatureSet, counted: FeatureSet | None, whole: bool) -> SetJson:
    """`counted` is the same set with what waits in it now, where that was counted."""
    for name in sets.COUNTED if counted else ():
        setattr(row, name, getattr(counted, name))
    return SetJson.of_set(row, whole=whole)


class SetView(WorkspaceView):
    needs = ADMINISTERED

    @operation("readSet", answer=SetJson)
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """Return a set by its key or id."""
        found = find(self.scope, key)
        if sees_all(self.scope):
            sets.count(found)
        answer = SetJson.of_set(found, whole=sees_all(self.scope))
        answer.embedding = EmbeddingJson.of(state_of(found))
        return Response(answer)

    @operation("deleteSet", answer={204: None})
    def delete(self, request: Request, workspace: str, key: str) -> Response:
        """Delete a set with its features and their history, for good."""
        sets.delete(self.scope, key)
        return Response(status=204)


class ConfigView(WorkspaceView):
    needs = ADMINISTERED

    @operation("readSetConfig", answer=ConfigJson)
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """Return the settings in force for a set (categories, prompts, models, thresholds), each with its source."""  # noqa: E501 -- one line in the schema
        return Response(config_of(find(self.scope, key)))

    @operation("editSetConfig", request=OpenApiTypes.OBJECT, answer=ConfigJson)
    def patch(self, request: Request, workspace: str, key: str) -> Response:
        """Change the settings of this set; null removes the set's value."""
        changes = read(Free, request.data)
        return Response(config_of(sets.configure(self.scope, key, changes)))


def config_of(row: FeatureSet) -> ConfigJson:
    settings = {name: SettingJson(one.value, one.source) for name, one in effective_of(row).items()}
    # Of one set: it is counted anew.
    return ConfigJson(row.key, row.config.get(TYPE), settings, EmbeddingJson.of(state_of(row)))


class UpdateSetView(WorkspaceView):
    needs = CURATES

    @operation("foldSet", answer={200: FoldedJson, 202: FoldedJson})
    def post(self, request: Request, workspace: str, key: str) -> Response:
        """Process what waits now; where a model is needed, the worker does it (202)."""
        if asks_model(self.scope, key):
            update_soon(self.scope, key)
            return Response(FoldedJson("received"), status=202)
        done = update_now(self.scope, key)
        if done is None:
            return Response(FoldedJson("busy"))
        return Response(FoldedJson("done", **asdict(done)))


class ConsolidateView(WorkspaceView):
    needs = CURATES

    @operation("consolidateSet", answer={200: FoldedJson, 202: FoldedJson})
    def post(self, request: Request, workspace: str, key: str) -> Response:
        """Merge features that say the same; where a model is asked, the worker does it (202)."""
        if asks_model(self.scope, key):
            outbox.post("consolidate_set", find(self.scope, key).pk)
            return Response(FoldedJson("received"), status=202)
        return Response(FoldedJson("done", merged=consolidate(self.scope, key)))


class ChangesView(WorkspaceView):
    @operation("listChangesOfSet", page=ChangeJson)
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """List the changes of a set's features, the newest first; merges share their batch."""
        found = find(self.scope, key)
        seen = Feature.objects.visible_to(self.scope).filter(set=found)
        rows = FeatureChange.objects.filter(feature__in=seen)
        return paged(request, with_citations(self.scope, rows), ChangeJson.of)


class RefusalsView(WorkspaceView):
    @operation("listRefusalsOfSet", page=RefusalJson)
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """List the commands that were refused, with the reasons, the newest first."""
        rows = refusals(self.scope, find(self.scope, key))
        return paged(request, rows, RefusalJson.of)


def refusals(scope: Scope, found: FeatureSet) -> QuerySet[FeatureRefusal]:
    rows = FeatureRefusal.objects.filter(set=found)
    return rows.filter(agent_id=scope.agent_id) if scope.agent_id else rows


# Route: the profile of a subject, as JSON or as Markdown for a prompt.

MARKDOWN = "text/markdown"


@declared
@dataclass(frozen=True, slots=True)
class ProfileQuery:
    user_id: OwnId
    limit: Annotated[
        int, Field(ge=1, le=100, description="Per group, and per category of features.")
    ] = 100
    valid_at: Maybe[Moment] = None
    known_at: Maybe[Moment] = None
    format: Maybe[
        Annotated[
            str,
            OneOf(("json", "markdown")),
            Field(description="markdown: a text for a prompt; also by Accept: text/markdown."),
        ]
    ] = None


class ProfileFeatureJson(JsonAnswer):
    id: UUID
    feature: str
    value: str
    about: str | None
    is_over: bool
    citations: list[CitationJson]


class ProfileJson(JsonAnswer):
    """Live memories of scope user by fact type, and features by category and tag."""

    user_id: str
    facts: list[MemoryJson]
    preferences: list[MemoryJson]
    events: list[MemoryJson]
    profile: list[MemoryJson]
    system: list[MemoryJson]
    uncategorized: list[MemoryJson]
    features: Annotated[
        dict[str, dict[str, list[ProfileFeatureJson]]],
        Meta(description="{category: {tag: [{id, feature, value, about, isOver, citations}]}}"),
    ]
    static: Annotated[list[str], Meta(description="What lasts.")]
    dynamic: Annotated[list[str], Meta(description="Plans ahead and the newest events.")]


class ProfileView(WorkspaceView):
    @operation(
        "readProfile",
        query=ProfileQuery,
        answer={
            (200, "application/json"): ProfileJson,
            (200, MARKDOWN): OpenApiResponse(str, "The same as text."),
        },
    )
    def get(self, request: Request, workspace: str) -> HttpResponse:
        """Return the profile of a subject: its memories, and its features by category and tag."""
        asked = read_query(ProfileQuery, request)
        at = AsOf(asked.valid_at, asked.known_at)
        options = ProfileOptions(subject_to_read(self.scope, asked.user_id), at, asked.limit)
        answer = cached(
            self.scope, options, lambda: profile_answer(self.scope, options, asked.user_id)
        )
        if wants_markdown(request, asked):
            return HttpResponse(answer["text"], content_type=f"{MARKDOWN}; charset=utf-8")
        return Response({name: value for name, value in answer.items() if name != "text"})


def wants_markdown(request: Request, asked: ProfileQuery) -> bool:
    if asked.format:
        return asked.format == "markdown"
    return bool(request.META.get("HTTP_ACCEPT", "").startswith(MARKDOWN))


def profile_answer(scope: Scope, options: ProfileOptions, user_id: str) -> dict[str, Any]:
    """Return the answer as plain values, which a cache can keep, and the same as text."""
    found = profile(scope, options)
    name = Subject.objects.filter(pk=options.subject_id).values_list("name", flat=True).first()
    groups = {
        group: [MemoryJson.of(row, options.at.known_at) for row in rows]
        for group, rows in found.groups.items()
    }
    answer = ProfileJson(
        user_id=user_id,
        features=features(found),
        static=static_lines(found),
        dynamic=dynamic_lines(found),
        **groups,
    )
    return {**msgspec.to_builtins(answer), "text": markdown(name or user_id, found)}


def features(found: Profile) -> dict[str, dict[str, list[ProfileFeatureJson]]]:
    shown: dict[str, dict[str, list[ProfileFeatureJson]]] = {}
    for known in found.features:
        tags = shown.setdefault(known.feature.category, {})
        feature = ProfileFeatureJson.of(
            known.feature,
            is_over=known.is_over,
            citations=[CitationJson.of_model(each) for each in known.cited],
        )
        tags.setdefault(known.feature.tag, []).append(feature)
    return shown
