"""Where MemMachine's projects stand in a workspace, and how messages and features look to its
client, which refuses what it does not know.

A project is a conversation of its own name; below it stands one for each user and session. What is
said of messages beside MemMachine's own fields is kept in their metadata, under names of ours.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from django.db.models import Exists, OuterRef, Q, QuerySet

from memories.compat.memmachine_requests import MemMachineMessage, ProjectNames
from memories.errors import Invalid, needed
from memories.ingest import NewMessage
from memories.models import Conversation, Episode, Feature, FeatureCitation
from workspaces.scope import Scope

PROJECT, PRODUCED_FOR = "memmachine_project", "memmachine_produced_for"
OWN = (PROJECT, PRODUCED_FOR)
ROLES = ("user", "assistant", "system")
LONGEST_THREAD = 255
DEFAULTS: dict[str, Any] = {
    "backend": None, "reranker": "", "embedder": "", "vector_graph_store": "", "vector_store": "",
    "segment_store": "", "properties_schema": {},
}  # fmt: skip


def projects(scope: Scope) -> QuerySet[Conversation]:
    """Those of the workspace: name and description are for all of its keys."""
    return Conversation.objects.filter(
        workspace_id=scope.workspace_id, metadata__has_key=PROJECT
    ).order_by("pk")


def project_of(scope: Scope, asked: ProjectNames) -> Conversation:
    """Raises NotFound."""
    return needed(projects(scope).filter(external_id=asked.project).first(), "Project")


def make_project(scope: Scope, asked: ProjectNames, description: str, config: Any) -> bool:
    """Whether it was not there yet."""
    names = {"org_id": asked.org_id, "project_id": asked.project_id}
    row = Conversation(
        workspace_id=scope.workspace_id,
        external_id=asked.project,
        agent_id=scope.agent_id,
        title=description,
        metadata={PROJECT: names | {"config": config}},
    )
    Conversation.objects.bulk_create([row], ignore_conflicts=True)
    if not Conversation.objects.filter(pk=row.pk).exists():
        return False
    scope.audit("create_conversation", row)
    return True


def shown_project(row: Conversation) -> dict[str, Any]:
    kept = row.metadata[PROJECT]
    config = {name: kept["config"].get(name, usual) for name, usual in DEFAULTS.items()}
    names = {name: kept[name] for name in ("org_id", "project_id")}
    return {**names, "description": row.title, "config": config}


def within(project: str) -> Q:
    """Rows with a conversation, of a project."""
    return Q(conversation__external_id__startswith=f"{project}/")


def thread_of(project: str, metadata: Mapping[str, str]) -> str:
    """The conversation of a user and a session. Raises Invalid."""
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
    """What stands on a message of the project, or was written by its client."""
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
    """The episodes that features stand on, of those that the asker sees."""
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
