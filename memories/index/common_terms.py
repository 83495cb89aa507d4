"""Words that many entries of a large layer hold, counted in the background from time to time.

A search looks its rarest words up first and leaves common ones to the score of what it found:
their entries would be most of the layer. Until they are counted, all words are looked up.
"""

from django.db import transaction

from memories.index import prepared_sql
from memories.models import LargeLayer, Layer, WorkspaceIndex

FROM = 2_000  # live entries of a layer
COMMON = 0.002  # the share of a layer's entries from which a word is noted
SAMPLE = 100_000  # entries at most; of a larger layer every second, third and so on
GROWN = 1.25  # counted again at so many times the size
FORGET = "delete from memories_commonterm where workspace_id = %(number)s and layer = %(layer)s"
COUNT = """
with sample as materialized (
  select terms from memories_entry
  where workspace = %(number)s and layer = %(layer)s and live and id %% %(every)s = 0)
insert into memories_commonterm (key, workspace_id, layer, share)
select key, %(number)s, %(layer)s, count(*)::float8 / (select count(*) from sample)
from sample, unnest(terms) key group by key
having count(*) > %(common)s * (select count(*) from sample)
on conflict (key) do update set share = excluded.share
"""
DUE = """
select w.number, n.layer from memories_workspaceindex w
cross join lateral (
  values (1, live_memories), (2, live_episodes), (3, live_features)) n(layer, live)
left join memories_largelayer l on l.workspace_id = w.number and l.layer = n.layer
where n.live >= %(least)s
  and n.live > %(grown)s::float8 * coalesce(l.counted_live, 0)
"""


def count_due() -> int:
    """Count in the layers that have become large, or much larger; the number of layers."""
    found = prepared_sql.rows(DUE, {"least": FROM, "grown": GROWN})
    for row in found:
        count(WorkspaceIndex.objects.get(pk=row.number), row.layer)
    return len(found)


def count_in(index: WorkspaceIndex) -> None:
    """Count anew in the large layers of one workspace, due or not."""
    now = WorkspaceIndex.objects.get(pk=index.pk)
    for layer in (Layer.MEMORIES, Layer.EPISODES, Layer.FEATURES):
        if now.live(layer) >= FROM:
            count(now, layer)


@transaction.atomic
def count(index: WorkspaceIndex, layer: int) -> None:
    """Note which words are common in the layer now."""
    live = index.live(layer)
    values = {"number": index.number, "layer": int(layer)}
    prepared_sql.execute(FORGET, values)
    every = 1 + live // SAMPLE
    prepared_sql.execute(COUNT, values | {"every": every, "common": COMMON})
    LargeLayer.objects.update_or_create(workspace=index, layer=layer, defaults={"counted_live": live})
