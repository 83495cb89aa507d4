"""Searching lists by what rows say.

Substring search over 100,000 rows would read them all, so it goes through the index's trigrams
where there are entries, and elsewhere looks at the newest rows only.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from memories.english import lexical
from memories.index import statements
from memories.models import WorkspaceIndex
from workspaces.adminbase.access import Access, access_of
from workspaces.auth import as_uuid

MOST_FOUND = 2_000
MOST_SCANNED = 20_000
MOST_WORKSPACES = 50

# Materialized, or the planner may walk the primary key instead of the trigrams.
CONTAINING = """
with found as materialized (
  select e.id, e.item from memories_entry e
  cross join unnest(%(starts)s::int4[], %(ends)s::int4[]) k(s, t)
  where e.live and e.layer = %(layer)s
    and e.trigrams @> (%(keys)s::int8[])[k.s:k.t])
select item from found order by id desc limit %(most)s
"""


def in_index(access: Access, layer: int, words: Sequence[str]) -> list[uuid.UUID] | None:
    """Live items that may contain all words, the newest 2,000; None where the index cannot tell.

    It cannot for words under three characters, nor across very many workspaces.
    """
    spaces = access.limit(WorkspaceIndex.objects.all(), "workspace")
    numbers = list(
        spaces.order_by("number").values_list("number", flat=True)[: MOST_WORKSPACES + 1]
    )
    per_space = [
        sorted({key for word in words for key in lexical.ilike_keys(number, layer, word)})
        for number in numbers
    ]
    if len(numbers) > MOST_WORKSPACES or not all(per_space):
        return None
    starts, ends, keys = _packed(per_space)
    values = {
        "starts": starts, "ends": ends, "keys": keys, "layer": int(layer), "most": MOST_FOUND,
    }  # fmt: skip
    return [row.item for row in statements.rows(CONTAINING, values)]


def _packed(lists: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[int]]:
    """Lists of several lengths as one, with where each begins and ends, counted from 1."""
    starts: list[int] = []
    ends: list[int] = []
    flat: list[int] = []
    for each in lists:
        starts.append(len(flat) + 1)
        flat += each
        ends.append(len(flat))
    return starts, ends, flat


class SearchedAdmin:
    """Searches the text field `says`; with `layer` set through the index, where that knows.

    An id finds its row at once.
    """

    says = "content"
    layer: int | None = None

    def is_indexed(self, request: HttpRequest) -> bool:
        """Whether the rows of this list are those that the index holds."""
        return self.layer is not None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if (row_id := as_uuid(search_term.strip())) is not None:
            return queryset.filter(pk=row_id), False
        words = search_term.split()[:10]
        if not words:
            return queryset, False
        found = None
        if self.layer is not None and self.is_indexed(request):
            found = in_index(access_of(request), self.layer, words)
        if found is None:
            newest = queryset.order_by("-pk").values("pk")[:MOST_SCANNED]
            queryset = queryset.filter(pk__in=newest)
        else:
            queryset = queryset.filter(pk__in=found)
        return queryset.filter(*[Q(**{f"{self.says}__icontains": word}) for word in words]), False
