"""MemMachine's projects, messages and features as our workspaces, episodes and features."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from memories.compat.memmachine_bodies import MemMachineMessage, ProjectNames
from memories.errors import Forbidden, Invalid, needed
from memories.ingest import NewMessage
from memories.language.bounds import LONGEST_ID
from memories.models import Conversation, Episode, Feature, FeatureCitation
from workspaces.request_fields import MEMMACHINE, Free
from workspaces.scope import Scope

# Where MemMachine's projects stand in a workspace, and how messages and features look to its
# client, which refuses what it does not know.
#
# A project is a conversation of its own name; below it stands one for each user and session. What
# is said of messages beside MemMachine's own fields is kept in their metadata, under names of ours.

PROJECT, PRODUCED_FOR = OWN = MEMMACHINE  # which no caller may send
ROLES = ("user", "assistant", "system")
DEFAULTS: dict[str, Any] = {
    "backend": None,
    "reranker": "",
    "embedder": "",
    "vector_graph_store": "",
    "vector_store": "",
    "segment_store": "",
    "properties_schema": {},
}


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
    rows = Conversation.objects.filter(workspace_id=scope.workspace_id, metadata__has_key=PROJECT, **named)
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
    if len(thread) > LONGEST_ID:
        raise Invalid("metadata", "The names of user and session are too long.")
    return thread


def message_of(project: str, given: MemMachineMessage) -> NewMessage:
    role = given.role if given.role in ROLES else "user"
    name = "" if given.producer in ("", *ROLES) else given.producer
    own = {PROJECT: project} | ({PRODUCED_FOR: given.produced_for} if given.produced_for else {})
    return NewMessage(
        given.content,
        role=role,
        name=name,
        created_at=given.timestamp,
        metadata=given.metadata | own,
    )


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
    cited = FeatureCitation.objects.filter(feature=OuterRef("pk"), change__is_current=True, episode__in=heard)
    own = Q(**{f"metadata__{PROJECT}": project})
    return Feature.objects.visible_to(scope).live().filter(own | Exists(cited))


def shown_features(scope: Scope, rows: Iterable[Feature], *, citations: bool = True) -> list[dict[str, Any]]:
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
    rows = FeatureCitation.objects.filter(feature__in=ids, change__is_current=True, episode__in=heard)
    cited: dict[uuid.UUID, list[uuid.UUID]] = {}
    for feature_id, episode_id in rows.order_by("pk").values_list("feature_id", "episode_id"):
        listed = cited.setdefault(feature_id, [])
        if episode_id not in listed:
            listed.append(episode_id)
    return cited
