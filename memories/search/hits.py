"""From scored candidates to hits: their rows, their citations and their chains."""

import uuid
from collections.abc import Sequence
from typing import Any

from memories.english import lexical
from memories.index import statements
from memories.models import (
    AS_KNOWN,
    NAME_COLUMNS,
    NOW,
    SAID,
    UNCERTAIN_SQL,
    UNEXPIRED_SQL,
    AsOf,
    Feature,
    chain,
    name_joins,
)
from memories.search.passage import passage_of
from memories.search.rank import SPARE
from memories.search.request import Hit, Scored, SearchRequest, SourceMessage
from workspaces.scope import Scope

MEMORY_ROWS = f"""
select m.*, {UNCERTAIN_SQL} as is_uncertain, {NAME_COLUMNS}
from memories_memory m
{name_joins("m")}
where m.id = any(%(ids)s::uuid[]) and m.workspace_id = %(workspace)s
  and (%(history)s or {UNEXPIRED_SQL})
"""
KNOWN = ", ".join(f"{sql.replace('row.', 'm.')} as known_{name}" for name, sql in AS_KNOWN.items())
KNOWN_MEMORY_ROWS = MEMORY_ROWS.replace(UNCERTAIN_SQL, "false").replace(
    "select m.*,", f"select m.*, {KNOWN},"
)
EPISODE_ROWS = f"""
select e.*, {NAME_COLUMNS}
from memories_episode e
{name_joins("e")}
where e.id = any(%(ids)s::uuid[]) and e.workspace_id = %(workspace)s
"""
# What was said right before and right after, as far as the asker may see it: two at most.
NEIGHBOURS = f"""
select hit.id as row_id, e.*, {NAME_COLUMNS}
from memories_episode hit
cross join lateral (
  (select n.* from memories_episode n where n.conversation_id = hit.conversation_id
     and (n.occurred_at, n.position) < (hit.occurred_at, hit.position) {{seen}}
   order by n.occurred_at desc, n.position desc limit 1)
  union all
  (select n.* from memories_episode n where n.conversation_id = hit.conversation_id
     and (n.occurred_at, n.position) > (hit.occurred_at, hit.position) {{seen}}
   order by n.occurred_at, n.position limit 1)) e
{name_joins("e")}
where hit.id = any(%(ids)s::uuid[])
order by e.occurred_at, e.position
"""
SEEN = """and (%(bound)s::uuid is null or n.agent_id = %(bound)s::uuid)
     and (%(subjects)s::uuid[] is null or n.subject_id = any(%(subjects)s::uuid[]))"""
NEIGHBOUR_ROWS = NEIGHBOURS.replace("{seen}", SEEN)
# Of the past only what had been said by then, as episodes themselves are hits.
PAST_NEIGHBOUR_ROWS = NEIGHBOURS.replace("{seen}", f"{SEEN} and {SAID.replace('row.', 'n.')}")
# A quote is seen by whom its episode is seen: the agent that recorded it, unbound keys, members.
CITED = """ci.fact_id, ci.episode_id, ci.start, ci."end", ci.quote,
       e.external_id as external_id, e.occurred_at"""
CITATION_SEEN = """
  and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
  and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))"""
CITATION_ROWS = f"""
select f.memory_id as row_id, {CITED}
from memories_fact f join memories_citation ci on ci.fact_id = f.id
join memories_episode e on e.id = ci.episode_id
where f.memory_id = any(%(ids)s::uuid[])
  and (%(known_at)s::timestamptz is null or f.created_at <= %(known_at)s) {CITATION_SEEN}
order by ci.id
"""
NEWEST_CITED = f"""
select distinct on (f.memory_id) f.memory_id as row_id, ci.episode_id, ci.start, ci."end"
from memories_fact f join memories_citation ci on ci.fact_id = f.id
join memories_episode e on e.id = ci.episode_id
where f.memory_id = any(%(ids)s::uuid[])
  and (%(known_at)s::timestamptz is null or f.created_at <= %(known_at)s) {CITATION_SEEN}
order by f.memory_id, e.occurred_at desc, ci.id desc
"""
FEATURE_ROWS = f"""
select f.*, st.key as set_key, {NAME_COLUMNS}
from memories_feature f join memories_featureset st on st.id = f.set_id
{name_joins("f")}
where f.id = any(%(ids)s::uuid[]) and f.workspace_id = %(workspace)s
  and (%(history)s or f.ended_at is null)
"""
FEATURE_CITATION_ROWS = f"""
select ci.feature_id as row_id, {CITED}
from memories_featurecitation ci
join memories_episode e on e.id = ci.episode_id
where ci.feature_id = any(%(ids)s::uuid[]) and ci.change_id = any(%(changes)s::uuid[])
  and (%(known_at)s::timestamptz is null or ci.created_at <= %(known_at)s) {CITATION_SEEN}
order by ci.id
"""
ROWS = {"memories": MEMORY_ROWS, "episodes": EPISODE_ROWS, "features": FEATURE_ROWS}
CITATIONS = {"memories": CITATION_ROWS, "features": FEATURE_CITATION_ROWS}


def hits_of(scope: Scope, request: SearchRequest, ranked: Sequence[Scored]) -> list[Hit]:
    best = _best_with_rows(scope, ranked, request)
    echoes = {
        row.id: row
        for _, row in with_rows(scope, [e for one, _ in best for e in one.echoes], request.at)
    }
    hits = []
    for one, row in best:
        hit = _hit(one, row)
        hit.echoes = [_hit(echo, echoes[echo.item]) for echo in one.echoes if echo.item in echoes]
        hits.append(hit)
    if "source" in request.include:
        _add_sources(scope, request, [one for hit in hits for one in (hit, *hit.echoes)])
    if "citations" in request.include:
        _cite(scope, [one for hit in hits for one in (hit, *hit.echoes)], request.at)
    if "neighbours" in request.include:
        around: dict[uuid.UUID, list[Any]] = {hit.row.id: [] for hit in hits if hit.episode}
        statement = NEIGHBOUR_ROWS if request.at.is_now else PAST_NEIGHBOUR_ROWS
        values = _who_sees(scope) | request.at.values | {"ids": list(around)}
        for row in statements.rows(statement, values) if around else ():
            around[row.row_id].append(row)
        for hit in hits:
            hit.neighbours = around.get(hit.row.id)
    if "chain" in request.include:
        for hit in hits:
            hit.chain = chain(scope, hit.memory.id, request.at.known_at) if hit.memory else []
    return hits


def _hit(ranked: Scored, row: Any) -> Hit:
    return Hit(ranked.layer, ranked.score, dict(ranked.scores), row, ranked.cosine)


def _best_with_rows(
    scope: Scope, ranked: Sequence[Scored], request: SearchRequest
) -> list[tuple[Scored, Any]]:
    """The best with their rows; equal scores by the time they were made, newest first."""
    chosen = sorted(ranked, key=lambda one: one.order)[: request.limit + SPARE]
    # So many as are asked for, and those that are as good as the last of them.
    enough = request.limit
    while 0 < enough < len(chosen) and chosen[enough].score == chosen[enough - 1].score:
        enough += 1
    best = with_rows(scope, chosen[:enough], request.at)
    if len(best) < request.limit and chosen[enough:]:
        best += with_rows(scope, chosen[enough:], request.at)
    best.sort(key=lambda p: (*p[0].order[:2], -p[1].created_at.timestamp(), p[1].id))
    return best[: request.limit]


def with_rows(scope: Scope, chosen: Sequence[Scored], at: AsOf) -> list[tuple[Scored, Any]]:
    """Each with its row, without those that have none any more."""
    rows: dict[tuple[str, uuid.UUID], Any] = {}
    for layer in dict.fromkeys(one.layer for one in chosen):
        ids = [one.item for one in chosen if one.layer == layer]
        rows |= {(layer, row.id): row for row in rows_of(scope, layer, ids, at)}
    return [(one, rows[one.layer, one.item]) for one in chosen if (one.layer, one.item) in rows]


def rows_of(scope: Scope, layer: str, ids: Sequence[uuid.UUID], at: AsOf = NOW) -> list[Any]:
    """Rows of the workspace by id, with the callers' own ids, in any order; the caller has seen
    to it that the asker may see them. Of the past also what has expired or ended."""
    values = {"ids": list(ids), "workspace": scope.workspace_id, "history": not at.is_now}
    if layer == "memories" and at.known_at is not None:
        return statements.rows(KNOWN_MEMORY_ROWS, values | {"known_at": at.known_at})
    rows = statements.rows(ROWS[layer], values)
    if at.is_now or layer != "features":
        return rows
    features = Feature.objects.filter(pk__in=[row.id for row in rows]).as_of(at)
    then = {feature.pk: feature for feature, _ in features}
    names = (*Feature.SNAPSHOT, "content")
    return [
        row._replace(ended_at=None, **{name: getattr(then[row.id], name) for name in names})
        for row in rows
    ]


def _who_sees(scope: Scope) -> dict[str, Any]:
    subjects = None if scope.subject_ids is None else list(scope.subject_ids)
    return {"bound": scope.agent_id, "subjects": subjects}


def _add_sources(scope: Scope, request: SearchRequest, hits: Sequence[Hit]) -> None:
    """The newest message that each memory stands on, as far as the asker may see it."""
    memories = [hit for hit in hits if hit.memory]
    values = _who_sees(scope) | {"ids": [hit.row.id for hit in memories]}
    values["known_at"] = request.at.known_at
    quotes = {row.row_id: row for row in statements.rows(NEWEST_CITED, values)} if memories else {}
    ids = list({row.episode_id for row in quotes.values()})
    episodes = {row.id: row for row in rows_of(scope, "episodes", ids, request.at)} if ids else {}
    stems = set(lexical.stems(request.query))
    for hit in memories:
        quote = quotes.get(hit.row.id)
        if quote and (episode := episodes.get(quote.episode_id)):
            place = passage_of(episode.content, [(quote.start, quote.end)], stems)
            hit.source = SourceMessage(episode, *place)


def _cite(scope: Scope, hits: Sequence[Hit], at: AsOf) -> None:
    values = _who_sees(scope) | {"changes": [], "known_at": at.known_at}
    if features := [hit.row.id for hit in hits if hit.feature]:
        # The changes by which these features say what they say.
        changes = Feature.objects.filter(pk__in=features).as_of(at)
        values["changes"] = [change.pk for _, change in changes]
    cited: dict[uuid.UUID, list[Any]] = {}
    for layer, statement in CITATIONS.items():
        if ids := [hit.row.id for hit in hits if hit.layer == layer]:
            for row in statements.rows(statement, values | {"ids": ids}):
                cited.setdefault(row.row_id, []).append(row)
    for hit in hits:
        hit.citations = cited.get(hit.row.id, [])
