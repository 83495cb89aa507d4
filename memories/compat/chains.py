"""Chains as another server's client has them: any id of a chain leads to what is believed of it."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memories.errors import NotFound
from memories.models import Citation, Episode, Link, Memory, chain
from workspaces.scope import Scope

OLDER = """
with recursive older (head, id) as (
  select id, id from unnest(%(ids)s::uuid[]) as given (id) union
  select o.head, m.id from memories_memory m join older o on m.superseded_by_id = o.id
  where m.workspace_id = %(workspace)s)
select head, id from older
"""


@dataclass(frozen=True, slots=True)
class ChainRoot:
    """The first version of a chain."""

    id: uuid.UUID
    created_at: datetime


def roots_of(scope: Scope, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, ChainRoot]:
    """By a version's id, the first one of its chain that the asker sees; itself at the least."""
    heads: dict[uuid.UUID, list[uuid.UUID]] = {}
    with connection.cursor() as cursor:
        cursor.execute(OLDER, {"ids": list(ids), "workspace": scope.workspace_id})
        for head, version in cursor.fetchall():
            heads.setdefault(version, []).append(head)
    seen = Memory.objects.visible_to(scope).filter(pk__in=heads)
    rows = seen | Memory.objects.filter(workspace_id=scope.workspace_id, pk__in=ids)
    roots = {}
    for row in rows.order_by("-version", "-created_at", "-pk").only("created_at"):
        for head in heads[row.pk]:
            roots[head] = ChainRoot(row.pk, row.created_at)
    return roots


def chain_of(scope: Scope, text: str) -> list[Link]:
    """All versions that the asker sees, by the id of any. NotFound where there are none."""
    try:
        links = chain(scope, uuid.UUID(text))
    except ValueError:
        links = []
    if not links:
        raise NotFound("Memory")
    return links


def head_of(scope: Scope, text: str) -> Memory:
    """What is believed now of the chain. NotFound where nothing is."""
    live = [link.memory for link in chain_of(scope, text) if link.memory.is_live]
    if not live:
        raise NotFound("Memory")
    return live[-1]


def metadata_of(scope: Scope, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, dict[str, Any]]:
    """What callers said with the messages that memories stand on, the newest last."""
    seen = Episode.objects.visible_to(scope)
    cited = Citation.objects.filter(fact__memory__in=list(ids), episode__in=seen).order_by("pk")
    said: dict[uuid.UUID, dict[str, Any]] = {}
    for memory_id, metadata in cited.values_list("fact__memory_id", "episode__metadata"):
        said.setdefault(memory_id, {}).update(metadata)
    return said
