"""Hits that say the same as another, shown with it."""

import uuid
from collections.abc import Sequence

from memories.index import prepared_sql
from memories.search.request import Scored

REPEATED = """
select array_agg(id) as ids from memories_episode
where id = any(%(ids)s::uuid[]) group by content having count(*) > 1
"""


def with_repeats(found: Sequence[Scored]) -> list[Scored]:
    """Return messages of one text as one hit, at the place of the best of them.

    In one ranking equal texts stand side by side, so whoever reads the rows sees them. Where
    rankings take turns, the repeats of a message stand behind what the other ranking brings up,
    beyond the point where reading stops.
    """
    episodes = [one.item for one in found if one.layer == "episodes"]
    same: dict[uuid.UUID, int] = {}
    for text, row in enumerate(prepared_sql.rows(REPEATED, {"ids": prepared_sql.Uuids(episodes)})):
        same |= dict.fromkeys(row.ids, text)
    place: dict[int, int] = {}
    ordered: list[Scored] = []
    for one in found:
        own = same.get(one.item)
        at = len(ordered) if own is None else place.setdefault(own, len(ordered))
        if at == len(ordered):
            ordered.append(one)
        else:
            first = ordered[at]
            ordered[at] = first._replace(echoes=(*first.echoes, one, *one.echoes))
    return ordered
