"""Routes of MemMachine's server, version 2, as its client 0.4 asks them: all by POST, with the
project in the body. Messages are our episodes, semantic memories the features of those whom the
messages' metadata names as `user_id`. A project keeps its messages apart from those of other
projects."""

import uuid
from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest, search
from memories.compat.client_view import ClientView, refuse_erasing, wait_for_erasure
from memories.compat.memmachine_bodies import (
    EpisodicIds,
    FeatureUpdate,
    MemMachineAdd,
    MemMachineList,
    MemMachineMessage,
    MemMachineSearch,
    NamedFeature,
    NamedSet,
    NewProject,
    NewSemanticFeature,
    ProjectNames,
    SemanticIds,
)
from memories.compat.memmachine_filter import AskedFilter, Tree, read_filter
from memories.compat.memmachine_projects import (
    PROJECT,
    features_of,
    listed_episode,
    make_project,
    message_of,
    project_of,
    projects,
    shown_episode,
    shown_features,
    shown_project,
    thread_of,
    within,
)
from memories.errors import Conflict, Invalid, NotFound, needed
from memories.ingest import IngestRequest
from memories.language.bounds import MOST_HITS
from memories.models import Conversation, Episode, Feature, FeatureSet, name_joins
from memories.models.conversation import check_thread
from memories.models.memory import NamedSQL
from memories.profiles.features import edit_features, sets
from memories.queue import outbox
from memories.search import SearchRequest, filters
from memories.search.filters import sql_of
from workspaces.api.json_requests import read
from workspaces.models import Capability, Subject
from workspaces.scope import subject_to_write

EPISODIC, SEMANTIC = "episodic", "semantic"

TABLES = {"episodes": "memories_episode", "features": "memories_feature"}


class MemMachineView(ClientView):
    def error_body(self, detail: str, code: str) -> dict[str, Any]:
        return {"detail": detail, "code": code}


class HealthView(MemMachineView):
    def get(self, request: Request) -> Response:
        about = {"service": "memoryproject", "version": settings.SPECTACULAR_SETTINGS["VERSION"]}
        return Response({"status": "healthy", **about})


class ProjectsView(MemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        asked = read(NewProject, request.data)
        if not make_project(self.scope, asked, asked.description, asked.config):
            raise Conflict("There is a project of this name.", "exists", "project_id")
        return Response(shown_project(project_of(self.scope, asked)), status=201)


class ProjectView(MemMachineView):
    def post(self, request: Request) -> Response:
        return Response(shown_project(project_of(self.scope, read(ProjectNames, request.data))))


class ListProjectsView(MemMachineView):
    def post(self, request: Request) -> Response:
        shown = [shown_project(row) for row in projects(self.scope)]
        return Response([{k: one[k] for k in ("org_id", "project_id")} for one in shown])


class EpisodeCountView(MemMachineView):
    def post(self, request: Request) -> Response:
        asked = read(ProjectNames, request.data)
        project_of(self.scope, asked)
        rows = Episode.objects.visible_to(self.scope).filter(within(asked.project))
        return Response({"count": rows.count()})


class DeleteProjectView(MemMachineView):
    """Erases everything that was said in a project, with what was learned from that alone."""

    needs = {**MemMachineView.needs, "POST": Capability.ADMIN}

    def post(self, request: Request) -> Response:
        refuse_erasing(self.scope)
        asked = read(ProjectNames, request.data)
        if "project_id" not in request.data:
            raise Invalid("project_id", "Name the project that is to be deleted.")
        project = project_of(self.scope, asked)
        for row in features_of(self.scope, asked.project).filter(**{f"metadata__{PROJECT}": asked.project}):
            edit_features.delete(self.scope, row.pk, "Its project was deleted.")
        threads = Conversation.objects.visible_to(self.scope)
        for row_id in threads.filter(external_id__startswith=f"{asked.project}/").values_list("pk", flat=True):
            wait_for_erasure(self.scope, "conversation", row_id)
        wait_for_erasure(self.scope, "conversation", project.pk)
        return Response(status=204)


class MemoriesMemMachineView(MemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        """Keep messages and learn from them, unless they are to be episodic only."""
        asked = read(MemMachineAdd, request.data)
        make_project(self.scope, asked, "", {})
        threads: dict[str, list[int]] = {}
        for at, message in enumerate(asked.messages):
            threads.setdefault(thread_of(asked.project, message.metadata), []).append(at)
        uids: dict[int, uuid.UUID] = {}
        for thread, places in threads.items():
            said = [asked.messages[at] for at in places]
            keep = self.kept if asked.types == (EPISODIC,) else self.learned
            uids |= zip(places, keep(asked.project, thread, said), strict=True)
        return Response({"results": [{"uid": uids[at]} for at in sorted(uids)]})

    def learned(self, project: str, thread: str, said: list[MemMachineMessage]) -> list[uuid.UUID]:
        """Keep messages and learn from them; where a model is asked, a worker does it. Returns
        their ids."""
        session = ingest.ingest(
            self.scope,
            IngestRequest(
                messages=tuple(message_of(project, one) for one in said),
                user_id=said[0].metadata.get("user_id", ""),
                thread_id=thread,
            ),
            0.0,
        )
        if not session.is_final and not session.claims:
            outbox.post("run_session", session.pk)
        return list(session.episode_ids)

    def kept(self, project: str, thread: str, said: list[MemMachineMessage]) -> list[uuid.UUID]:
        subject = subject_to_write(self.scope, said[0].metadata.get("user_id", ""))
        named = {"workspace_id": self.scope.workspace_id, "external_id": thread}
        made = Conversation(**named, subject=subject, agent_id=self.scope.agent_id)
        Conversation.objects.bulk_create([made], ignore_conflicts=True)
        row = Conversation.objects.select_related("subject").get(**named)
        check_thread(self.scope, row)
        episodes = ingest.append(self.scope, row, [message_of(project, one) for one in said])
        return [episode.pk for episode in episodes]


class NarrowedView(MemMachineView):
    """A route that takes a filter."""

    def asked_filter(self, asked: MemMachineSearch | MemMachineList) -> AskedFilter:
        """The filter with the user whom the set's metadata names."""
        wanted = read_filter(asked.filter)
        named = asked.set_metadata.get("user_id", wanted.user_id)
        if set(asked.set_metadata) - {"user_id"} or not isinstance(named, str):
            raise Invalid("set_metadata", "Known: user_id, a text.")
        if wanted.user_id not in ("", named):
            raise Invalid("set_metadata", "The filter names another user.")
        return AskedFilter(named, wanted.episodes, wanted.features)

    def ids_of(self, layer: str, tree: Tree) -> NamedSQL:
        values: dict[str, Any] = {"workspace": self.scope.workspace_id}
        wanted = sql_of(filters.parse(tree, (layer,)), layer, values)
        return NamedSQL(
            f"select row.id from {TABLES[layer]} row {name_joins('row')}"
            f" where row.workspace_id = %(workspace)s and {wanted}",
            values,
        )


class SearchMemMachineView(NarrowedView):
    def post(self, request: Request) -> Response:
        """Search; all messages are found as long-term memory, for none has to be waited for."""
        asked = read(MemMachineSearch, request.data)
        project_of(self.scope, asked)
        if asked.agent_mode:
            raise Invalid("agent_mode", "This server has no retrieval agent.")
        wanted, types = self.asked_filter(asked), asked.types or (EPISODIC, SEMANTIC)
        content: dict[str, Any] = {"episodic_memory": None, "semantic_memory": None}
        if EPISODIC in types:
            content["episodic_memory"] = {
                "long_term_memory": {"episodes": self.episodes(asked, wanted)},
                "short_term_memory": {"episodes": [], "episode_summary": []},
            }
        if SEMANTIC in types:
            content["semantic_memory"] = self.features(asked, wanted)
        return Response({"status": 0, "content": content})

    def episodes(self, asked: MemMachineSearch, wanted: AskedFilter) -> list[dict[str, Any]]:
        own: Tree = {"field": f"metadata.{PROJECT}", "op": "eq", "value": asked.project}
        tree = {"and": [own, *([wanted.episodes] if wanted.episodes else [])]}
        options = self.search_options(asked, wanted, "episodes", min(asked.top_k, MOST_HITS))
        answer = search.search(self.scope, SearchRequest(**options, filter=filters.parse(tree, ("episodes",))))
        scores = {hit.row.id: round(hit.similarity, 4) for hit in answer.hits}
        rows = Episode.objects.visible_to(self.scope).select_related("conversation").in_bulk(scores)
        shown = [shown_episode(rows[pk]) | {"score": scores[pk]} for pk in scores if pk in rows]
        if not asked.expand_context:
            return shown
        around = self.around([rows[pk] for pk in scores if pk in rows], asked.expand_context)
        return shown + [shown_episode(row) for row in around]

    def around(self, hits: list[Episode], count: int) -> list[Episode]:
        """Return `count` messages beside each hit, half of them before it, but no other hits."""
        before, seen = (count + 1) // 2, {row.pk for row in hits}
        near: list[Episode] = []
        for hit in hits:
            span = (hit.position - before, hit.position + count - before)
            rows = Episode.objects.visible_to(self.scope).filter(conversation=hit.conversation, position__range=span)
            near += [row for row in rows.order_by("position") if row.pk not in seen]
            seen |= {row.pk for row in near}
        return near

    def features(self, asked: MemMachineSearch, wanted: AskedFilter) -> list[dict[str, Any]]:
        options = self.search_options(asked, wanted, "features", MOST_HITS)
        narrowed = wanted.features and filters.parse(wanted.features, ("features",))
        answer = search.search(self.scope, SearchRequest(**options, filter=narrowed or None))
        rows = features_of(self.scope, asked.project)
        if wanted.user_id:
            rows = rows.filter(subject__external_id=wanted.user_id)
        by_id = rows.in_bulk([hit.row.id for hit in answer.hits])
        best = [by_id[hit.row.id] for hit in answer.hits if hit.row.id in by_id]
        return shown_features(self.scope, best[: asked.top_k])

    def search_options(self, asked: MemMachineSearch, wanted: AskedFilter, layer: str, limit: int) -> dict[str, Any]:
        return {
            "query": asked.query,
            "layers": (layer,),
            "limit": limit,
            "user_id": wanted.user_id,
            "min_similarity": asked.score_threshold,
        }


class ListMemMachineView(NarrowedView):
    def post(self, request: Request) -> Response:
        """Return a page of messages in their order, or of features, the newest first."""
        asked = read(MemMachineList, request.data)
        project_of(self.scope, asked)
        wanted, types = self.asked_filter(asked), (asked.type,) if asked.type else ()
        page = slice(asked.page_num * asked.page_size, (asked.page_num + 1) * asked.page_size)
        content: dict[str, Any] = {"episodic_memory": None, "semantic_memory": None}
        if not types or EPISODIC in types:
            episodes = Episode.objects.visible_to(self.scope).filter(within(asked.project))
            if wanted.user_id:
                episodes = episodes.filter(subject__external_id=wanted.user_id)
            if wanted.episodes:
                episodes = episodes.filter(pk__in=self.ids_of("episodes", wanted.episodes))
            rows = episodes.order_by("occurred_at", "pk")[page]
            content["episodic_memory"] = [listed_episode(row, asked.project) for row in rows]
        if not types or SEMANTIC in types:
            features = features_of(self.scope, asked.project)
            if wanted.user_id:
                features = features.filter(subject__external_id=wanted.user_id)
            if wanted.features:
                features = features.filter(pk__in=self.ids_of("features", wanted.features))
            content["semantic_memory"] = shown_features(self.scope, features.order_by("-pk")[page])
        return Response({"status": 0, "content": content})


class DeleteEpisodicView(MemMachineView):
    """Erases messages, with what was learned from them alone."""

    needs = {**MemMachineView.needs, "POST": Capability.ADMIN}

    def post(self, request: Request) -> Response:
        refuse_erasing(self.scope)
        asked = read(EpisodicIds, request.data)
        if not asked.ids:
            raise Invalid("episodic_id", "Name what is to be deleted.")
        rows = Episode.objects.visible_to(self.scope).filter(within(asked.project))
        if rows.filter(pk__in=asked.ids).count() < len(set(asked.ids)):
            raise NotFound("Episode")
        for row_id in dict.fromkeys(asked.ids):
            wait_for_erasure(self.scope, "episode", row_id)
        return Response(status=204)


class FeatureMemMachineView(MemMachineView):
    def feature(self, asked: ProjectNames, feature_id: uuid.UUID | str) -> Feature:
        """Raises NotFound."""
        try:
            row_id = uuid.UUID(str(feature_id))
        except ValueError:
            raise NotFound("Feature") from None
        return needed(features_of(self.scope, asked.project).filter(pk=row_id).first(), "Feature")


class DeleteSemanticView(FeatureMemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.CURATE}

    def post(self, request: Request) -> Response:
        asked = read(SemanticIds, request.data)
        if not asked.ids:
            raise Invalid("semantic_id", "Name what is to be deleted.")
        for row in [self.feature(asked, one) for one in dict.fromkeys(asked.ids)]:
            edit_features.delete(self.scope, row.pk)
        return Response(status=204)


class AddFeatureView(MemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        asked = read(NewSemanticFeature, request.data)
        project_of(self.scope, asked)
        made = edit_features.create(
            self.scope,
            asked.set_id,
            edit_features.NewFeature(
                category=asked.category_name,
                tag=asked.tag,
                feature=asked.feature,
                value=asked.value,
                metadata=asked.feature_metadata | {PROJECT: asked.project},
                episode_ids=asked.citations,
            ),
        )
        return Response({"feature_id": str(made.pk)})


class ReadFeatureView(FeatureMemMachineView):
    def post(self, request: Request) -> Response:
        asked = read(NamedFeature, request.data)
        row = self.feature(asked, asked.feature_id)
        return Response(shown_features(self.scope, [row], citations=asked.load_citations)[0])


class UpdateFeatureView(FeatureMemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.CURATE}

    def post(self, request: Request) -> Response:
        asked = read(FeatureUpdate, request.data)
        row = self.feature(asked, asked.feature_id)
        said = {
            "category": asked.category_name,
            "tag": asked.tag,
            "feature": asked.feature,
            "value": asked.value,
        }
        changes: dict[str, object] = {name: value for name, value in said.items() if value}
        if asked.metadata is not None:
            changes["metadata"] = asked.metadata | {PROJECT: asked.project}
        edit_features.edit(self.scope, row.pk, changes)
        return Response(status=204)


class SetOfUserView(MemMachineView):
    """The set of a user's features; sets of other tags are not built."""

    needs = {**MemMachineView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        asked = read(NamedSet, request.data)
        project_of(self.scope, asked)
        user = asked.set_metadata.get("user_id")
        if asked.is_org_level or asked.metadata_tags != ("user_id",) or not isinstance(user, str):
            raise Invalid("metadata_tags", "This server has the sets of users: user_id alone.")
        row = sets.own_set_to_write(self.scope, FeatureSet.own_key(user))
        return Response({"set_id": str(row.pk)})


class SetsOfUsersView(MemMachineView):
    def post(self, request: Request) -> Response:
        """List the sets of users about whom something was said in the project."""
        asked = read(NamedSet, request.data)
        project_of(self.scope, asked)
        threads = Conversation.objects.visible_to(self.scope)
        of = threads.filter(external_id__startswith=f"{asked.project}/").values("subject")
        rows = FeatureSet.objects.visible_to(self.scope).filter(
            subject__in=Subject.objects.filter(pk__in=of), key__startswith=FeatureSet.OWN
        )
        user = asked.set_metadata.get("user_id")
        rows = rows if user is None else rows.filter(subject__external_id=str(user))
        shown = [
            {"id": str(row.pk), "is_org_level": False, "tags": ["user_id"], "name": row.key}
            for row in rows.order_by("pk")
        ]
        return Response({"sets": shown})
