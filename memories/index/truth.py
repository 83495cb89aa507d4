"""Items of the index as the truth has them: what an entry should say, whatever it says now."""

import uuid
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.db.models import Func, IntegerField, QuerySet

from memories.bounds import BESIDE, LARGE, runs
from memories.english import lexical
from memories.index import due, entries, statements
from memories.index.entries import Item
from memories.models import Episode, Feature, Layer, Memory, WorkspaceIndex

BATCH = 100  # rows; writers of the workspace wait as long as one takes
TABLE = {
    Layer.MEMORIES: "memories_memory",
    Layer.EPISODES: "memories_episode",
    Layer.FEATURES: "memories_feature",
}
# The neighbours of an episode: in its conversation by time; outside of one, within its request.
AROUND = """
select e.id, left(earlier.content, %(most)s) as previous,
       left(later.content, %(most)s) as following
from memories_episode e
left join lateral (
  (select p.content from memories_episode p
   where p.conversation_id = e.conversation_id
     and (p.occurred_at, p.position) < (e.occurred_at, e.position)
   order by p.occurred_at desc, p.position desc limit 1)
  union all
  (select p.content from memories_episode p
   where e.conversation_id is null and p.conversation_id is null
     and p.session_id = e.session_id and p.position = e.position - 1 limit 1)
) earlier on true
left join lateral (
  (select n.content from memories_episode n
   where n.conversation_id = e.conversation_id
     and (n.occurred_at, n.position) > (e.occurred_at, e.position)
   order by n.occurred_at, n.position limit 1)
  union all
  (select n.content from memories_episode n
   where e.conversation_id is null and n.conversation_id is null
     and n.session_id = e.session_id and n.position = e.position + 1 limit 1)
) later on true
where e.id = any(%(ids)s::uuid[])
"""

# Beside an episode stand those whose index entries borrowed words from it.
BESIDE_EPISODES = """
select distinct n.id from memories_episode e
cross join lateral (
  (select p.id from memories_episode p where p.conversation_id = e.conversation_id
     and (p.occurred_at, p.position) < (e.occurred_at, e.position)
     and p.id <> all(%(ids)s::uuid[]) order by p.occurred_at desc, p.position desc limit 1)
  union all
  (select p.id from memories_episode p where p.conversation_id = e.conversation_id
     and (p.occurred_at, p.position) > (e.occurred_at, e.position)
     and p.id <> all(%(ids)s::uuid[]) order by p.occurred_at, p.position limit 1)
  union all
  (select p.id from memories_episode p where e.conversation_id is null
     and p.conversation_id is null and p.session_id = e.session_id
     and p.position between e.position - 1 and e.position + 1 and p.id <> all(%(ids)s::uuid[]))
) n where e.id = any(%(ids)s::uuid[])
"""


class OctetLength(Func):
    """The bytes of a text, which Postgres knows without reading it."""

    function, output_field = "octet_length", IntegerField()


def size(index: WorkspaceIndex) -> int:
    """How many searchable things the workspace has."""
    return sum(_rows(index, layer).count() for layer in TABLE)


def batches(index: WorkspaceIndex, layer: Layer) -> Iterator[list[uuid.UUID]]:
    """The ids of a layer's things in the order they came, also of those that come meanwhile."""
    size = OctetLength("content")
    rows = _rows(index, layer).order_by("pk").annotate(size=size).values_list("pk", "size")
    found = list(rows[:BATCH])
    while found:
        yield from runs(found, LARGE)
        found = list(rows.filter(pk__gt=found[-1][0])[:BATCH])


def items(layer: Layer, ids: Sequence[uuid.UUID]) -> list[Item]:
    """The items of these ids that are there."""
    if layer == Layer.MEMORIES:
        memories = Memory.objects.filter(pk__in=ids).order_by("pk")
        return [entries.memory_item(memory) for memory in memories]
    if layer == Layer.FEATURES:
        features = Feature.objects.live().filter(pk__in=ids).order_by("pk")
        return [entries.feature_item(feature) for feature in features]
    values = {"ids": list(ids), "most": BESIDE + 1}
    around = {row.id: row for row in statements.rows(AROUND, values)}
    episodes = Episode.objects.filter(pk__in=around).order_by("pk")
    return [_episode_item(episode, around[episode.pk]) for episode in episodes]


def beside(ids: Collection[uuid.UUID]) -> list[uuid.UUID]:
    """Other episodes, whose entries borrowed words of these."""
    return [row.id for row in statements.rows(BESIDE_EPISODES, {"ids": list(ids)})]


def _rows(index: WorkspaceIndex, layer: Layer) -> QuerySet[Any]:
    # A feature that ended has no entry: it comes back with a new one.
    rows = Feature.objects.live() if layer == Layer.FEATURES else due.TEXTS[layer]._default_manager
    return rows.filter(workspace_id=index.workspace_id)


def _episode_item(episode: Episode, around: Any) -> Item:
    if len(episode.content) > BESIDE:
        return entries.episode_item(episode, lexical.document(episode.content))
    previous, own, following = (
        lexical.lent(text or "") for text in (around.previous, episode.content, around.following)
    )
    return entries.episode_item(episode, lexical.index_stems(own, previous, following))
