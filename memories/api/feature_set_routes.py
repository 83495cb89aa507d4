"""Routes: feature sets."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.feature_routes import ChangeJson, EmbeddingJson, RefusalJson, SetJson, with_citations
from memories.models import Feature, FeatureChange, FeatureRefusal, FeatureSet
from memories.profiles.features import set_queue, sets
from memories.profiles.features.config import SOURCES, TYPE
from memories.profiles.features.consolidate import consolidate
from memories.profiles.features.set_embedding import state_of
from memories.profiles.features.sets import NewSet, backlog, effective_of, find
from memories.profiles.features.update import asks_model, update_now, update_soon
from memories.queue import outbox
from workspaces.api.json_answers import JsonAnswer, one_of
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, page_of, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Free, Maybe, Text, declared
from workspaces.scope import Scope

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
    backlog: Annotated[BacklogJson | None, Meta(description="For those who see the whole workspace.")]


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
        counted = set_queue.count_now(self.scope.workspace_id) if whole else {}
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
    for name in set_queue.COUNTED if counted else ():
        setattr(row, name, getattr(counted, name))
    return SetJson.of_set(row, whole=whole)


class SetView(WorkspaceView):
    needs = ADMINISTERED

    @operation("readSet", answer=SetJson)
    def get(self, request: Request, workspace: str, key: str) -> Response:
        """Return a set by its key or id."""
        found = find(self.scope, key)
        if sees_all(self.scope):
            set_queue.count(found)
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
        """Return the settings in force for a set (categories, prompts, models, thresholds), each with its source."""
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
