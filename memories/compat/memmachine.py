"""Routes of MemMachine's server, version 2, as its client 0.4 asks them: all by POST, with the
project in the body.

Messages are our episodes, semantic memories the features of those whom the messages' metadata names
as `user_id`. A project keeps its messages apart from those of other projects.
"""

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.dateparse import parse_datetime
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    with_config,
)
from pydantic_core import PydanticCustomError
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories import ingest, outbox, search
from memories.compat.client_view import ClientView, erase_and_wait, refuse_erasing
from memories.compat.memmachine_filter import AskedFilter, Tree, read_filter
from memories.errors import Conflict, Forbidden, Invalid, NotFound, needed
from memories.features import features_by_hand, sets
from memories.ingest import IngestRequest, NewMessage
from memories.models import Conversation, Episode, Feature, FeatureCitation, FeatureSet, name_joins
from memories.models.conversation_and_summaries import check_thread
from memories.models.memory import NamedSQL
from memories.search import SearchRequest, filters
from memories.search.filters import sql_of
from workspaces.api.json_requests import read
from workspaces.models import Capability, Subject
from workspaces.request_fields import (
    MEMMACHINE,
    AnyText,
    Flag,
    Free,
    Metadata,
    NullIs,
    Number,
    OwnId,
    Text,
    not_too_large,
    without_reserved,
)
from workspaces.scope import Scope, subject_to_write

# What MemMachine's client sends. It leaves out what has a default, and sends more than is used
# here.

sent = with_config(ConfigDict(extra="ignore"))

UNIVERSAL = "universal"  # organisation and project where none is named
MILLISECONDS_FROM = 1e12  # a number so large is no count of seconds
NAME = re.compile(r"[\w:-]{1,100}\Z")

EPISODIC, SEMANTIC = "episodic", "semantic"
MemoryType = Literal["episodic", "semantic"]


def _name(given: Any) -> str:
    if not isinstance(given, str) or not NAME.match(given):
        raise PydanticCustomError(
            "invalid", "1 to 100 letters, digits, underscores, hyphens and colons."
        )
    return given


def _moment(given: Any) -> datetime:
    """Read ISO 8601, or seconds or milliseconds since 1970; without a zone it is UTC."""
    moment = None
    try:
        if isinstance(given, str):
            moment = parse_datetime(given)
        elif isinstance(given, int | float) and not isinstance(given, bool):
            seconds = given / 1000 if given > MILLISECONDS_FROM else given
            moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        moment = None
    if moment is None:
        raise PydanticCustomError("invalid", "Must be a time as ISO 8601, or a number of seconds.")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Name = Annotated[str, BeforeValidator(_name)]
Texts = Annotated[
    dict[str, AnyText], AfterValidator(not_too_large), AfterValidator(without_reserved)
]
Spoken = Annotated[AnyText, Field(max_length=255), NullIs("")]


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectNames:
    org_id: Name = UNIVERSAL
    project_id: Name = UNIVERSAL

    @property
    def project(self) -> str:
        """Organisation and project as one name; neither has a slash."""
        return f"{self.org_id}/{self.project_id}"


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class NewProject(ProjectNames):
    description: Annotated[AnyText, Field(max_length=500)] = ""
    config: Annotated[Free, NullIs({})] = field(default_factory=dict)


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class MemMachineMessage:
    """A message; its metadata names its user (`user_id`) and its session."""

    content: Text
    producer: Spoken = "user"
    produced_for: Spoken = ""
    timestamp: Annotated[datetime, BeforeValidator(_moment)] | None = None
    role: Spoken = ""
    metadata: Annotated[Texts, NullIs({})] = field(default_factory=dict)


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class MemMachineAdd(ProjectNames):
    messages: Annotated[tuple[MemMachineMessage, ...], Field(min_length=1, max_length=1000)]
    types: Annotated[tuple[MemoryType, ...], NullIs(())] = ()


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class MemMachineSearch(ProjectNames):
    query: Annotated[Text, Field(max_length=10_000)]
    top_k: Annotated[int, Field(ge=1), NullIs(10)] = 10
    filter: Annotated[AnyText, NullIs("")] = ""
    set_metadata: Annotated[Free, NullIs({})] = field(default_factory=dict)
    expand_context: Annotated[int, Field(ge=0, le=100), NullIs(0)] = 0
    score_threshold: Annotated[Number, Field(ge=0, le=1)] | None = None
    types: Annotated[tuple[MemoryType, ...], NullIs(())] = ()
    agent_mode: Annotated[Flag, NullIs(False)] = False


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class MemMachineList(ProjectNames):
    page_size: Annotated[int, Field(ge=1, le=1000), NullIs(100)] = 100
    page_num: Annotated[int, Field(ge=0, le=1_000_000), NullIs(0)] = 0
    filter: Annotated[AnyText, NullIs("")] = ""
    set_metadata: Annotated[Free, NullIs({})] = field(default_factory=dict)
    type: MemoryType | None = None


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicIds(ProjectNames):
    episodic_id: uuid.UUID | None = None
    episodic_ids: Annotated[tuple[uuid.UUID, ...], Field(max_length=100), NullIs(())] = ()

    @property
    def ids(self) -> list[uuid.UUID]:
        return [*([self.episodic_id] if self.episodic_id else []), *self.episodic_ids]


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticIds(ProjectNames):
    semantic_id: Annotated[AnyText, NullIs("")] = ""
    semantic_ids: Annotated[tuple[Text, ...], Field(max_length=100), NullIs(())] = ()

    @property
    def ids(self) -> list[str]:
        return [each for each in (self.semantic_id, *self.semantic_ids) if each]


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class NewSemanticFeature(ProjectNames):
    set_id: OwnId
    category_name: Text
    tag: Text
    feature: Text
    value: Text
    feature_metadata: Annotated[Metadata, NullIs({})] = field(default_factory=dict)
    citations: Annotated[tuple[uuid.UUID, ...], NullIs(())] = ()


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFeature(ProjectNames):
    feature_id: uuid.UUID
    load_citations: Annotated[Flag, NullIs(False)] = False


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureUpdate(ProjectNames):
    feature_id: uuid.UUID
    category_name: Text | None = None
    tag: Text | None = None
    feature: Text | None = None
    value: Text | None = None
    metadata: Metadata | None = None


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSet(ProjectNames):
    """The set of a user's features: {"metadata_tags": ["user_id"], "set_metadata":
    {"user_id": "ada"}}."""

    is_org_level: Annotated[Flag, NullIs(False)] = False
    metadata_tags: Annotated[tuple[Text, ...], NullIs(())] = ()
    set_metadata: Annotated[Free, NullIs({})] = field(default_factory=dict)


# Where MemMachine's projects stand in a workspace, and how messages and features look to its
# client, which refuses what it does not know.
#
# A project is a conversation of its own name; below it stands one for each user and session. What
# is said of messages beside MemMachine's own fields is kept in their metadata, under names of ours.

PROJECT, PRODUCED_FOR = OWN = MEMMACHINE  # which no caller may send
ROLES = ("user", "assistant", "system")
LONGEST_THREAD = 255
DEFAULTS: dict[str, Any] = {
    "backend": None, "reranker": "", "embedder": "", "vector_graph_store": "", "vector_store": "",
    "segment_store": "", "properties_schema": {},
}  # fmt: skip


@with_config(ConfigDict(extra="forbid", strict=True))
class KeptProject(TypedDict):
    """The value under PROJECT in the metadata of a project's conversation."""

    org_id: str
    project_id: str
    config: Free


KEPT_PROJECT = TypeAdapter(KeptProject)


def kept_in(row: Conversation) -> KeptProject | None:
    """Return the project that a conversation is; None where it is none, whatever is there."""
    try:
        kept = KEPT_PROJECT.validate_python(row.metadata.get(PROJECT))
    except ValidationError:
        return None
    is_own = f"{kept['org_id']}/{kept['project_id']}" == row.external_id
    return kept if is_own else None


def projects(scope: Scope, **named: str) -> list[Conversation]:
    """Return the workspace's projects: name and description are for all of its keys."""
    rows = Conversation.objects.filter(
        workspace_id=scope.workspace_id, metadata__has_key=PROJECT, **named
    )
    return [row for row in rows.order_by("pk") if kept_in(row)]


def project_of(scope: Scope, asked: ProjectNames) -> Conversation:
    """Raises NotFound."""
    return needed(next(iter(projects(scope, external_id=asked.project)), None), "Project")


def make_project(scope: Scope, asked: ProjectNames, description: str, config: Any) -> bool:
    """Make a project for all keys of the workspace, and tell whether it is new. A conversation that
    has the name already becomes the project. Raises Forbidden for limited keys."""
    if projects(scope, external_id=asked.project):
        return False
    if scope.is_narrow:
        raise Forbidden("A key of the whole workspace makes projects.", "project_id")
    kept = KeptProject(org_id=asked.org_id, project_id=asked.project_id, config=config)
    named = {"workspace_id": scope.workspace_id, "external_id": asked.project}
    row = Conversation(**named, title=description, metadata={PROJECT: kept})
    Conversation.objects.bulk_create([row], ignore_conflicts=True)
    with transaction.atomic():
        found = Conversation.objects.select_for_update().get(**named)
        if found.pk != row.pk and kept_in(found):
            return False  # another one was quicker
        found.title, found.metadata = description, found.metadata | {PROJECT: kept}
        found.save(update_fields=["title", "metadata", "updated_at"])
    scope.audit("create_conversation", found)
    return True


def shown_project(row: Conversation) -> dict[str, Any]:
    kept = kept_in(row)
    assert kept is not None  # by `projects`
    config = {name: kept["config"].get(name, usual) for name, usual in DEFAULTS.items()}
    names = {"org_id": kept["org_id"], "project_id": kept["project_id"]}
    return {**names, "description": row.title, "config": config}


def within(project: str) -> Q:
    """Return the condition for rows with a conversation of a project."""
    return Q(conversation__external_id__startswith=f"{project}/")


def thread_of(project: str, metadata: Mapping[str, str]) -> str:
    """Return the thread of a user and a session. Raises Invalid."""
    names = [quote(metadata.get(name, ""), safe="") for name in ("user_id", "session_id")]
    thread = "/".join([project, *names])
    if len(thread) > LONGEST_THREAD:
        raise Invalid("metadata", "The names of user and session are too long.")
    return thread


def message_of(project: str, given: MemMachineMessage) -> NewMessage:
    role = given.role if given.role in ROLES else "user"
    name = "" if given.producer in ("", *ROLES) else given.producer
    own = {PROJECT: project} | ({PRODUCED_FOR: given.produced_for} if given.produced_for else {})
    return NewMessage(
        given.content, role=role, name=name, created_at=given.timestamp,
        metadata=given.metadata | own,
    )  # fmt: skip


def shown_episode(row: Episode) -> dict[str, Any]:
    metadata = {name: value for name, value in row.metadata.items() if name not in OWN}
    return {
        "uid": row.pk,
        "content": row.content,
        "producer_id": row.author or row.role or "user",
        "producer_role": row.role or "user",
        "produced_for_id": row.metadata.get(PRODUCED_FOR),
        "episode_type": "message",
        "metadata": metadata or None,
        "created_at": row.occurred_at,
    }


def listed_episode(row: Episode, project: str) -> dict[str, Any]:
    return {**shown_episode(row), "session_key": project, "content_type": "string"}


def features_of(scope: Scope, project: str) -> QuerySet[Feature]:
    """Return the features that stand on a message of the project or that its client wrote."""
    heard = Episode.objects.visible_to(scope).filter(within(project))
    cited = FeatureCitation.objects.filter(
        feature=OuterRef("pk"), change__is_current=True, episode__in=heard
    )
    own = Q(**{f"metadata__{PROJECT}": project})
    return Feature.objects.visible_to(scope).live().filter(own | Exists(cited))


def shown_features(
    scope: Scope, rows: Iterable[Feature], *, citations: bool = True
) -> list[dict[str, Any]]:
    listed = list(rows)
    cited = citations_of(scope, [row.pk for row in listed]) if citations else {}
    return [
        {
            "set_id": str(row.set_id),
            "category": row.category,
            "tag": row.tag,
            "feature_name": row.feature,
            "value": row.value,
            "metadata": {
                "id": str(row.pk),
                "citations": cited.get(row.pk, []) if citations else None,
                "other": {k: v for k, v in row.metadata.items() if k not in OWN} or None,
            },
        }
        for row in listed
    ]


def citations_of(scope: Scope, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[uuid.UUID]]:
    """Return the episodes that features stand on, as far as the asker sees them."""
    heard = Episode.objects.visible_to(scope)
    rows = FeatureCitation.objects.filter(
        feature__in=ids, change__is_current=True, episode__in=heard
    )
    cited: dict[uuid.UUID, list[uuid.UUID]] = {}
    for feature_id, episode_id in rows.order_by("pk").values_list("feature_id", "episode_id"):
        listed = cited.setdefault(feature_id, [])
        if episode_id not in listed:
            listed.append(episode_id)
    return cited


MOST_HITS = 100
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
        project = project_of(self.scope, asked)
        for row in features_of(self.scope, asked.project).filter(
            **{f"metadata__{PROJECT}": asked.project}
        ):
            features_by_hand.delete(self.scope, row.pk, "Its project was deleted.")
        threads = Conversation.objects.visible_to(self.scope)
        for row_id in threads.filter(external_id__startswith=f"{asked.project}/").values_list(
            "pk", flat=True
        ):
            erase_and_wait(self.scope, "conversation", row_id)
        erase_and_wait(self.scope, "conversation", project.pk)
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
        answer = search.search(
            self.scope, SearchRequest(**options, filter=filters.parse(tree, ("episodes",)))
        )
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
            rows = Episode.objects.visible_to(self.scope).filter(
                conversation=hit.conversation, position__range=span
            )
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

    def search_options(
        self, asked: MemMachineSearch, wanted: AskedFilter, layer: str, limit: int
    ) -> dict[str, Any]:
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
            erase_and_wait(self.scope, "episode", row_id)
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
            features_by_hand.delete(self.scope, row.pk)
        return Response(status=204)


class AddFeatureView(MemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        asked = read(NewSemanticFeature, request.data)
        project_of(self.scope, asked)
        made = features_by_hand.create(
            self.scope,
            asked.set_id,
            features_by_hand.NewFeature(
                category=asked.category_name, tag=asked.tag, feature=asked.feature,
                value=asked.value, metadata=asked.feature_metadata | {PROJECT: asked.project},
                episode_ids=asked.citations,
            ),
        )  # fmt: skip
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
            "category": asked.category_name, "tag": asked.tag, "feature": asked.feature,
            "value": asked.value,
        }  # fmt: skip
        changes: dict[str, object] = {name: value for name, value in said.items() if value}
        if asked.metadata is not None:
            changes["metadata"] = asked.metadata | {PROJECT: asked.project}
        features_by_hand.edit(self.scope, row.pk, changes)
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
