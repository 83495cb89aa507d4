"""From scored candidates to hits: their rows, their citations and their chains."""

import uuid
from collections.abc import Sequence
from typing import Any

from memories.index import statements
from memories.models import AS_KNOWN, NOW, SAID, UNEXPIRED_SQL, AsOf, Feature, chain
from memories.search.rankings import SPARE
from memories.search.request import Hit, SearchRequest
from memories.search.scored import Scored
from workspaces.scope import Scope

MEMORY_ROWS = f"""
select m.*, s.external_id as user_external, a.external_id as agent_external,
       c.external_id as thread_external
from memories_memory m
left join workspaces_subject s on s.id = m.subject_id
left join workspaces_agent a on a.id = m.agent_id
left join memories_conversation c on c.id = m.conversation_id
where m.id = any(%(ids)s::uuid[]) and m.workspace_id = %(workspace)s
  and (%(history)s or {UNEXPIRED_SQL})
"""
KNOWN = ", ".join(f"{sql.replace('row.', 'm.')} as known_{name}" for name, sql in AS_KNOWN.items())
KNOWN_MEMORY_ROWS = MEMORY_ROWS.replace("select m.*,", f"select m.*, {KNOWN},")
EPISODE_ROWS = """
select e.*, s.external_id as user_external, a.external_id as agent_external,
       c.external_id as thread_external
from memories_episode e
left join workspaces_subject s on s.id = e.subject_id
left join workspaces_agent a on a.id = e.agent_id
left join memories_conversation c on c.id = e.conversation_id
where e.id = any(%(ids)s::uuid[]) and e.workspace_id = %(workspace)s
"""
# What was said right before and right after, as far as the asker may see it: two at most.
NEIGHBOURS = """
select hit.id as row_id, e.*, s.external_id as user_external, a.external_id as agent_external,
       c.external_id as thread_external
from memories_episode hit
cross join lateral (
  (select n.* from memories_episode n where n.conversation_id = hit.conversation_id
     and (n.occurred_at, n.position) < (hit.occurred_at, hit.position) {seen}
   order by n.occurred_at desc, n.position desc limit 1)
  union all
  (select n.* from memories_episode n where n.conversation_id = hit.conversation_id
     and (n.occurred_at, n.position) > (hit.occurred_at, hit.position) {seen}
   order by n.occurred_at, n.position limit 1)) e
left join workspaces_subject s on s.id = e.subject_id
left join workspaces_agent a on a.id = e.agent_id
left join memories_conversation c on c.id = e.conversation_id
where hit.id = any(%(ids)s::uuid[])
order by e.occurred_at, e.position
"""
SEEN = """and (%(bound)s::uuid is null or n.agent_id = %(bound)s::uuid)
     and (%(subjects)s::uuid[] is null or n.subject_id = any(%(subjects)s::uuid[]))"""
NEIGHBOUR_ROWS = NEIGHBOURS.replace("{seen}", SEEN)
# Of the past only what had been said by then, as episodes themselves are hits.
PAST_NEIGHBOUR_ROWS = NEIGHBOURS.replace("{seen}", f"{SEEN} and {SAID.replace('row.', 'n.')}")
# A quote is seen by whom its episode is seen: the agent that recorded it, unbound keys, members.
CITATION_ROWS = """
select f.memory_id as row_id, ci.fact_id, ci.episode_id, ci.start, ci."end", ci.quote,
       e.external_id as external_id, e.occurred_at
from memories_fact f join memories_citation ci on ci.fact_id = f.id
join memories_episode e on e.id = ci.episode_id
where f.memory_id = any(%(ids)s::uuid[])
  and (%(known_at)s::timestamptz is null or f.created_at <= %(known_at)s)
  and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
  and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
order by ci.id
"""
FEATURE_ROWS = """
select f.*, st.key as set_key, s.external_id as user_external, a.external_id as agent_external,
       c.external_id as thread_external
from memories_feature f join memories_featureset st on st.id = f.set_id
left join workspaces_subject s on s.id = f.subject_id
left join workspaces_agent a on a.id = f.agent_id
left join memories_conversation c on c.id = f.conversation_id
where f.id = any(%(ids)s::uuid[]) and f.workspace_id = %(workspace)s
  and (%(history)s or f.ended_at is null)
"""
FEATURE_CITATION_ROWS = """
select ci.feature_id as row_id, ci.fact_id, ci.episode_id, ci.start, ci."end", ci.quote,
       e.external_id as external_id, e.occurred_at
from memories_featurecitation ci
join memories_episode e on e.id = ci.episode_id
where ci.feature_id = any(%(ids)s::uuid[]) and ci.change_id = any(%(changes)s::uuid[])
  and (%(known_at)s::timestamptz is null or ci.created_at <= %(known_at)s)
  and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
  and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
order by ci.id
"""
ROWS = {"memories": MEMORY_ROWS, "episodes": EPISODE_ROWS, "features": FEATURE_ROWS}
SINGULAR = {"memories": "memory", "episodes": "episode", "features": "feature"}
CITATIONS = {"memories": CITATION_ROWS, "features": FEATURE_CITATION_ROWS}


def hits_of(scope: Scope, request: SearchRequest, ranked: Sequence[Scored]) -> list[Hit]:
    best = _ordered(scope, ranked, request)
    hits = [_hit(found, row) for found, row in best]
    _add_echoes(scope, hits, [found for found, _ in best], request.at)
    if "citations" in request.include:
        _cite(scope, [one for hit in hits for one in (hit, *hit.echoes)], request.at)
    if "neighbours" in request.include:
        _add_neighbours(scope, hits, request.at)
    if "chain" in request.include:
        for hit in hits:
            hit.chain = chain(scope, hit.memory.id, request.at.known_at) if hit.memory else []
    return hits


def _add_echoes(scope: Scope, hits: Sequence[Hit], ranked: Sequence[Scored], at: AsOf) -> None:
    there = _there(scope, [echo for found in ranked for echo in found.echoes], at)
    rows = {found.item: row for found, row in there}
    for hit, found in zip(hits, ranked, strict=True):
        hit.echoes = [_hit(echo, rows[echo.item]) for echo in found.echoes if echo.item in rows]


def _ordered(
    scope: Scope, ranked: Sequence[Scored], request: SearchRequest
) -> list[tuple[Scored, Any]]:
    """The best with their rows; equal scores by the time they were made, newest first."""
    chosen = sorted(ranked, key=lambda found: found.order)[: request.limit + SPARE]
    enough = _with_ties(chosen, request.limit)
    found = _there(scope, chosen[:enough], request.at)
    if len(found) < request.limit and chosen[enough:]:
        found += _there(scope, chosen[enough:], request.at)
    found.sort(key=lambda p: (*p[0].order[:2], -p[1].created_at.timestamp(), p[1].id))
    return found[: request.limit]


def _with_ties(chosen: Sequence[Scored], number: int) -> int:
    """So many as are asked for, and those that are as good as the last of them."""
    while 0 < number < len(chosen) and chosen[number].score == chosen[number - 1].score:
        number += 1
    return number


def _there(scope: Scope, chosen: Sequence[Scored], at: AsOf) -> list[tuple[Scored, Any]]:
    return [(one, row) for one, row in with_rows(scope, chosen, at) if row is not None]


def rows_of(scope: Scope, layer: str, ids: Sequence[uuid.UUID], at: AsOf = NOW) -> list[Any]:
    """Rows of the workspace by id, with the callers' own ids, in any order; the caller has seen
    to it that the asker may see them. Of the past also what has expired or ended."""
    values = {"ids": list(ids), "workspace": scope.workspace_id, "history": not at.is_now}
    if layer == "memories" and at.known_at is not None:
        return statements.rows(KNOWN_MEMORY_ROWS, values | {"known_at": at.known_at})
    rows = statements.rows(ROWS[layer], values)
    return rows if at.is_now or layer != "features" else _as_they_were(rows, at)


def _as_they_were(rows: Sequence[Any], at: AsOf) -> list[Any]:
    found = Feature.objects.filter(pk__in=[row.id for row in rows]).as_of(at)
    said = {feature.pk: feature for feature, _ in found}
    names = (*Feature.SNAPSHOT, "content")
    return [
        row._replace(ended_at=None, **{name: getattr(said[row.id], name) for name in names})
        for row in rows
    ]


def with_rows(scope: Scope, chosen: Sequence[Scored], at: AsOf) -> list[tuple[Scored, Any]]:
    rows: dict[tuple[str, uuid.UUID], Any] = {}
    for layer in dict.fromkeys(one.layer for one in chosen):
        ids = [one.item for one in chosen if one.layer == layer]
        rows |= {(layer, row.id): row for row in rows_of(scope, layer, ids, at)}
    return [(one, rows.get((one.layer, one.item))) for one in chosen]


def _who_sees(scope: Scope) -> dict[str, Any]:
    subjects = None if scope.subject_ids is None else list(scope.subject_ids)
    return {"bound": scope.agent_id, "subjects": subjects}


def _add_neighbours(scope: Scope, hits: Sequence[Hit], at: AsOf) -> None:
    episodes = {hit.episode.id: hit for hit in hits if hit.episode}
    for hit in episodes.values():
        hit.neighbours = []
    if episodes:
        statement = NEIGHBOUR_ROWS if at.is_now else PAST_NEIGHBOUR_ROWS
        values = _who_sees(scope) | at.values | {"ids": list(episodes)}
        for row in statements.rows(statement, values):
            neighbours = episodes[row.row_id].neighbours
            assert neighbours is not None
            neighbours.append(row)


def _changes(ids: Sequence[uuid.UUID], at: AsOf) -> list[uuid.UUID]:
    """The changes by which these features say what they say."""
    if not ids:
        return []
    return [change.pk for _, change in Feature.objects.filter(pk__in=ids).as_of(at)]


def _hit(found: Scored, row: Any) -> Hit:
    hit = Hit(found.layer, found.score, dict(found.scores))
    setattr(hit, SINGULAR[found.layer], row)
    return hit


def _cite(scope: Scope, hits: Sequence[Hit], at: AsOf) -> None:
    values = _who_sees(scope) | {
        "changes": _changes([hit.row.id for hit in hits if hit.layer == "features"], at),
        "known_at": at.known_at,
    }
    cited: dict[uuid.UUID, list[Any]] = {}
    for layer, statement in CITATIONS.items():
        if ids := [hit.row.id for hit in hits if hit.layer == layer]:
            for row in statements.rows(statement, values | {"ids": ids}):
                cited.setdefault(row.row_id, []).append(row)
    for hit in hits:
        hit.citations = cited.get(hit.row.id, [])
