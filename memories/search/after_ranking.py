"""The steps after a ranking: they bring the layers into one order; show a memory and the episode
that it stands on as one hit, because they say the same, and nothing is lost; put what was replaced
after what replaced it; and, where a reranker is configured and asked for, apply its order."""

import logging
import math
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from django.conf import settings

from memories import breakers, metrics
from memories.errors import ProviderError, Unasked
from memories.index import prepared_sql
from memories.models import LIVE_SQL
from memories.providers.http_reranker import HttpReranker, RerankerConfig
from memories.search.request import Placed, Scored


def by_place(found: Sequence[Scored], enough: float | None = None) -> list[Scored]:
    """Order by taking the best of each layer, then the second of each, and so on; equal places by
    their scores.

    Scores of short statements and long messages do not compare, so a score is raised to the best
    of those that come after it: it falls along the list. Scores below `enough` come last.
    """
    if len({one.layer for one in found}) < 2:
        return list(found)
    places: Counter[str] = Counter()
    placed = []
    for one in sorted(found, key=lambda one: one.order):
        places[one.layer] += 1
        placed.append((enough is not None and one.score < enough, places[one.layer], one))
    placed.sort(key=lambda each: (*each[:2], each[2].order))
    best = -inf
    raised = []
    for behind, (_, _, one) in reversed(list(enumerate(placed))):
        best = max(best, one.score)
        raised.append(one._replace(score=best, behind=behind))
    return raised[::-1]


def by_turns(rankings: Sequence[Sequence[Scored]]) -> list[Scored]:
    """Order by taking the best of each ranking, then the second of each, and so on, each thing
    once, in the form that the last ranking gives it: what leads there, with what shares its place.
    Scores fall along the list, as in `by_place`."""
    shown: dict[uuid.UUID, Scored] = {}
    for ranking in rankings:
        for one in ranking:
            shown |= dict.fromkeys([echo.item for echo in one.echoes], one) | {one.item: one}
    seen: set[uuid.UUID] = set()
    ordered = []
    for place in range(max(map(len, rankings))):
        for ranking in rankings:
            if place >= len(ranking) or ranking[place].item in seen:
                continue
            one = shown[ranking[place].item]
            one = ranking[place] if one.item in seen else one
            echoes = tuple(echo for echo in one.echoes if echo.item not in seen)
            seen |= {one.item, *(echo.item for echo in echoes)}
            ordered.append(one._replace(score=ranking[place].score, echoes=echoes))
    best = -inf
    raised = []
    for behind, one in reversed(list(enumerate(ordered))):
        best = max(best, one.score)
        raised.append(one._replace(score=best, behind=behind))
    return raised[::-1]


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


CITED = """
select distinct f.memory_id, ci.episode_id
from memories_fact f join memories_citation ci on ci.fact_id = f.id
where f.memory_id = any(%(ids)s::uuid[]) and ci.episode_id is not null
"""
# The memories that stand on these episodes, and the chains from there to live memories: each
# version once, however many of a chain stand on one episode.
REPLACED = f"""
with recursive stands (episode_id, memory_id) as (
  select distinct ci.episode_id, f.memory_id
  from memories_citation ci join memories_fact f on f.id = ci.fact_id
  where ci.episode_id = any(%(ids)s::uuid[]) and f.memory_id is not null),
line (id, next_id, is_live, forgotten_at, forget_reason) as (
  select m.id, m.superseded_by_id, {LIVE_SQL}, m.forgotten_at, m.forget_reason
  from memories_memory m
  where m.id = any(array(select memory_id from stands))  -- read once, whatever the planner guesses
  union
  select m.id, m.superseded_by_id, {LIVE_SQL}, m.forgotten_at, m.forget_reason
  from line join memories_memory m on m.id = line.next_id)
select episode_id, memory_id, null::uuid as next_id, null::boolean as is_live,
       null::timestamptz as forgotten_at, null::text as forget_reason from stands
union all select null, id, next_id, is_live, forgotten_at, forget_reason from line
"""


Head = tuple[uuid.UUID, uuid.UUID, Any]  # an episode, what stands on it, its last version's row


def collapse(found: Sequence[Scored], *, is_now: bool = False) -> list[Scored]:
    """Return each memory with the episodes it stands on as one hit, at the place of the best of
    them.

    The memory leads if it stands on that episode alone and its own words and meaning answer no
    worse; what it stands on, or what stands on the same words, is among its `echoes`, best first.
    `is_now`: a memory that replaced one of an episode comes before that episode.
    """
    memories = [one.item for one in found if one.layer == "memories"]
    episodes = [one.item for one in found if one.layer == "episodes"] if is_now else []
    asked = [(CITED, {"ids": prepared_sql.Uuids(memories)})]
    if episodes:
        asked.append((REPLACED, {"ids": prepared_sql.Uuids(episodes)}))
    rows, *replaced = prepared_sql.rows_of_each(asked)
    cited: dict[uuid.UUID, set[uuid.UUID]] = {}
    for row in rows:
        cited.setdefault(row.memory_id, set()).add(row.episode_id)
    for heads in replaced:
        found = newest_first(found, replaced_by(_heads(heads)))
    groups: list[list[Scored]] = []
    place: dict[uuid.UUID, int] = {}  # of an episode, the group that tells it
    for one in found:
        says = cited.get(one.item, set()) if one.layer == "memories" else {one.item}
        if says and says <= place.keys():
            groups[min(place[episode] for episode in says)].append(one)
            continue
        for episode in says:
            place.setdefault(episode, len(groups))
        groups.append([one])
    return [_led(group, cited) for group in groups]


def collapsed_into(found: Sequence[Placed]) -> dict[uuid.UUID, Placed]:
    """Map the id of each item that was folded into a hit to that hit."""
    return {echo.item: hit for hit in found for echo in hit.echoes}


def _led(group: Sequence[Scored], cited: Mapping[uuid.UUID, set[uuid.UUID]]) -> Scored:
    first = group[0]
    if len(group) == 1:
        return first
    best = first
    if first.layer != "memories":
        able = [one for one in group if cited.get(one.item, {first.item}) == {first.item}]
        # How well its own words and meaning answer, without who said it and where.
        sides = ("keyword", "vector")
        own = [sum(one.scores.get(side, 0.0) for side in sides) for one in able]
        at = max(range(len(able)), key=lambda n: (own[n], able[n].layer == "memories"))
        best = able[at]
    others = tuple(one for one in group if one is not best)
    return best._replace(score=first.score, echoes=others)


def newest_first(
    found: Sequence[Scored], heads: Mapping[uuid.UUID, Sequence[uuid.UUID]]
) -> list[Scored]:
    """Put each memory that replaced one of an episode right before that episode, if it ranked
    below."""
    below = {one.item: one for one in found if one.layer == "memories"}
    ordered = []
    for one in found:
        if one.layer == "memories":
            if below.pop(one.item, None):
                ordered.append(one)
            continue
        for head in heads.get(one.item, ()):
            newer = below.pop(head, None)
            if newer:
                ordered.append(newer._replace(score=min(1.0, math.nextafter(one.score, 2.0))))
        ordered.append(one)
    return ordered


def replaced_by(heads: Iterable[Head]) -> Mapping[uuid.UUID, Sequence[uuid.UUID]]:
    """Map each episode on which no live memory stands to the live memories that replaced those that
    did."""
    replaced: dict[uuid.UUID, dict[uuid.UUID, None]] = {}
    believed: set[uuid.UUID] = set()
    for episode, memory_id, head in heads:
        if head.is_live and head.memory_id == memory_id:
            believed.add(episode)
        elif head.is_live:
            replaced.setdefault(episode, {})[head.memory_id] = None
    return {episode: list(ids) for episode, ids in replaced.items() if episode not in believed}


# The words of messages that a memory stood on which was forgotten, but for those that something
# believed stands on, too.
FORGOTTEN_PLACES = f"""
select ci.episode_id, ci.start, ci."end"
from memories_citation ci join memories_fact f on f.id = ci.fact_id
where ci.episode_id = any(%(ids)s::uuid[]) and f.memory_id = any(%(forgotten)s::uuid[])
  and not exists (
    select 1 from memories_citation c join memories_fact g on g.id = c.fact_id
    join memories_memory m on m.id = g.memory_id
    where c.episode_id = ci.episode_id and c.start < ci."end" and ci.start < c."end"
      and {LIVE_SQL})
"""


# The same of revisions of documents.
FORGOTTEN_WRITTEN = f"""
select ci.revision_id, ci.start, ci."end"
from memories_citation ci join memories_fact f on f.id = ci.fact_id
join memories_memory gone on gone.id = f.memory_id and gone.forgotten_at is not null
where ci.revision_id = any(%(ids)s::uuid[])
  and not exists (
    select 1 from memories_citation c join memories_fact g on g.id = c.fact_id
    join memories_memory m on m.id = g.memory_id
    where c.revision_id = ci.revision_id and c.start < ci."end" and ci.start < c."end"
      and {LIVE_SQL})
"""


def forgotten_written(revisions: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, list[tuple[int, int]]]:
    """Map revisions to the places in them that a forgotten memory cites and no live one does."""
    places: dict[uuid.UUID, list[tuple[int, int]]] = {}
    for row in prepared_sql.rows(FORGOTTEN_WRITTEN, {"ids": prepared_sql.Uuids(list(revisions))}):
        places.setdefault(row.revision_id, []).append((row.start, row.end))
    return places


def forgotten_in(heads: Iterable[Head]) -> Mapping[uuid.UUID, list[tuple[int, int]] | None]:
    """Map each episode that a forgotten memory cites to the forgotten places in it; to None where
    nothing else of the episode is believed, so that all of it is left out."""
    gone: dict[uuid.UUID, set[uuid.UUID]] = {}
    believed: set[uuid.UUID] = set()
    for episode, memory_id, head in heads:
        if head.is_live:
            believed.add(episode)
        elif head.forgotten_at is not None:
            gone.setdefault(episode, set()).add(memory_id)
    places: dict[uuid.UUID, list[tuple[int, int]] | None] = {
        episode: [] if episode in believed else None for episode in gone
    }
    partly = [episode for episode in gone if episode in believed]
    if partly:
        ended = [memory for episode in partly for memory in gone[episode]]
        values = {"ids": prepared_sql.Uuids(partly), "forgotten": prepared_sql.Uuids(ended)}
        for row in prepared_sql.rows(FORGOTTEN_PLACES, values):
            own = places[row.episode_id]
            if own is not None:
                own.append((row.start, row.end))
    return places


def heads_of(episodes: Sequence[uuid.UUID]) -> list[Head]:
    """Return the memories that stand on each episode, each with the row of its last version."""
    return (
        _heads(prepared_sql.rows(REPLACED, {"ids": prepared_sql.Uuids(episodes)}))
        if episodes
        else []
    )


def _heads(rows: Sequence[Any]) -> list[Head]:
    """Build the heads from rows of REPLACED."""
    line = {row.memory_id: row for row in rows if row.episode_id is None}
    heads: dict[uuid.UUID, uuid.UUID] = {}  # the last version, of each that was passed
    found: list[Head] = []
    for row in rows:
        if row.episode_id is None:
            continue
        passed: dict[uuid.UUID, None] = {}
        last = row.memory_id
        # Nothing but the code keeps a chain from being a ring.
        while last not in heads and last not in passed and line[last].next_id is not None:
            passed[last] = None
            last = line[last].next_id
        head = heads.get(last, last)
        heads |= dict.fromkeys([*passed, last], head)
        found.append((row.episode_id, row.memory_id, line[head]))
    return found


RERANKED = 50  # so many of the best are put in order anew

log = logging.getLogger(__name__)


def is_reranker_configured() -> bool:
    return bool(settings.RERANK_BASE_URL)


def reranker_scores(
    workspace_id: uuid.UUID, query: str, texts: Sequence[str]
) -> list[float | None] | None:
    """Return how well each text answers, 0 to 1, with None for texts that the reranker left out;
    None alone where it failed, which is counted."""
    config = RerankerConfig(
        base_url=settings.RERANK_BASE_URL,
        model=settings.RERANK_MODEL,
        api_key=settings.RERANK_API_KEY,
        timeout=settings.RERANK_TIMEOUT,
        wire=settings.RERANK_WIRE,
    )
    url, key, seconds = config.endpoint.base_url, config.api_key, config.timeout
    line = breakers.ProviderLine("rerank", config.model, url, key, seconds, workspace_id)
    if not texts:
        return []
    try:
        found = breakers.call(line, lambda: HttpReranker(config).scores(query, texts))
    except ProviderError as error:
        if not isinstance(error, Unasked):  # one not asked was logged when it failed
            log.warning("Search goes on without its reranker: %s", error)
        metrics.count("reranks", outcome="failed")
        return None
    metrics.count("reranks", outcome="ok")
    return [None if score is None else min(1.0, max(0.0, score)) for score in found]
