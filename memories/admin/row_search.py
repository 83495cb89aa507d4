"""Which rows of a list may contain some words, as the index's trigrams know."""

import uuid
from collections.abc import Sequence
from itertools import accumulate, chain

from memories.english import lexical
from memories.index import statements
from memories.models import WorkspaceIndex
from workspaces.adminbase.access import Access

MOST_FOUND = 2_000
MOST_WORKSPACES = 50

# Materialized, or the planner may walk the primary key instead of the trigrams.
CONTAINING = """
with containing as materialized (
  select e.id, e.item from memories_entry e
  cross join unnest(%(starts)s::int4[], %(ends)s::int4[]) k(s, t)
  where e.live and e.layer = %(layer)s
    and e.trigrams @> (%(keys)s::int8[])[k.s:k.t])
select item from containing order by id desc limit %(most)s
"""


def in_index(access: Access, layer: int, words: Sequence[str]) -> list[uuid.UUID] | None:
    """Live items that may contain all words, the newest 2,000; None where the index cannot tell.

    It cannot for words under three characters, nor across very many workspaces.
    """
    indexes = access.limit(WorkspaceIndex.objects.all(), "workspace")
    numbers = list(
        indexes.order_by("number").values_list("number", flat=True)[: MOST_WORKSPACES + 1]
    )
    by_index = [
        sorted({key for word in words for key in lexical.ilike_keys(number, layer, word)})
        for number in numbers
    ]
    if len(numbers) > MOST_WORKSPACES or not all(by_index):
        return None
    # Lists of several lengths as one, with where each begins and ends, counted from 1.
    ends = list(accumulate(map(len, by_index)))
    starts = [1, *(end + 1 for end in ends[:-1])]
    keys = list(chain.from_iterable(by_index))
    values = {
        "starts": starts, "ends": ends, "keys": keys, "layer": int(layer), "most": MOST_FOUND,
    }  # fmt: skip
    return [row.item for row in statements.rows(CONTAINING, values)]
