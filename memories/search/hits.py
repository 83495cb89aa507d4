"""From scored candidates to hits: their rows, their citations, their chains, and the lines of
summaries."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memories.index import prepared_sql
from memories.language.english import lexical
from memories.models import (
    DOUBTS,
    MOST_SAID,
    NAME_COLUMNS,
    NOW,
    STANDING_SQL,
    UNCERTAIN_SQL,
    UNEXPIRED_SQL,
    AsOf,
    Feature,
    Link,
    chain,
    name_joins,
)
from memories.models.document import DOCUMENT_SEEN_SQL, seen_values
from memories.search.message_excerpt import passage_of
from memories.search.rank import SPARE
from memories.search.request import Hit, Scored, SearchRequest, SourceMessage, SourcePassage
from workspaces.scope import Scope

# Summaries as hits: their lines as they may be told now, and the messages that each stands on.

# What a line stands on: spans of episodes, or whole episodes where a model tells of a talk.
CITES = """coalesce(l.line -> 'cites',
    (select jsonb_agg(jsonb_build_object('episode', w.id))
     from jsonb_array_elements_text(l.line -> 'episodes') w (id)),
    jsonb_build_array(l.line))"""
# A summary's lines with what they stand on, without what stands on words of a forgotten memory.
SUMMARY_ROWS = f"""
select t.*, {NAME_COLUMNS}, told.lines as told
from memories_talksummary t
{name_joins("t")}
cross join lateral (
  select coalesce(json_agg(json_build_object(
           'place', l.place, 'text', l.line ->> 'text', 'episode_id', e.id,
           'external_id', e.external_id, 'occurred_at', e.occurred_at,
           'start', p.start, 'end', p.upto,
           'quote', substr(e.content, p.start + 1, p.upto - p.start)) order by l.place, o.place),
         '[]') as lines
  from jsonb_array_elements(t.lines) with ordinality l (line, place)
  cross join lateral jsonb_array_elements({CITES}) with ordinality o (cite, place)
  join memories_episode e on e.id = (o.cite ->> 'episode')::uuid
  cross join lateral (select coalesce((o.cite ->> 'start')::int, 0) as start,
                             coalesce((o.cite ->> 'end')::int, 0) as upto) p
  where not exists (
    select 1 from jsonb_array_elements({CITES}) beside (cite)
    join memories_citation c on c.episode_id = (beside.cite ->> 'episode')::uuid
    join memories_fact f on f.id = c.fact_id
    join memories_memory m on m.id = f.memory_id
    where m.forgotten_at is not null
      and (beside.cite -> 'end' is null
           or (c.start < (beside.cite ->> 'end')::int
               and c."end" > (beside.cite ->> 'start')::int)))) told
where t.id = any(%(ids)s::uuid[]) and t.workspace_id = %(workspace)s
  and (%(history)s or json_array_length(told.lines) > 0)
"""


@dataclass(frozen=True, slots=True)
class SummaryCitation:
    """The words that a line of a summary stands on; a model's line of a talk quotes nothing."""

    row_id: uuid.UUID
    episode_id: uuid.UUID
    external_id: str | None
    occurred_at: datetime
    start: int
    end: int
    quote: str
    utc_offset: int = 0
    fact_id: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class FoundSummary:
    """A summary as it may be told: its lines, each under the other, and what they stand on."""

    id: uuid.UUID
    kind: str
    name: str
    content: str
    first_at: datetime
    last_at: datetime
    user_external: str | None
    agent_external: str | None
    thread_external: str | None
    created_at: datetime
    updated_at: datetime
    cited: tuple[SummaryCitation, ...]

    @classmethod
    def of(cls, row: Any) -> "FoundSummary":
        lines: dict[int, str] = {}
        for line in row.told:
            lines.setdefault(line["place"], line["text"] or line["quote"])
        cited = tuple(
            SummaryCitation(
                row.id,
                uuid.UUID(line["episode_id"]),
                line["external_id"],
                datetime.fromisoformat(line["occurred_at"]),
                line["start"],
                line["end"],
                line["quote"],
            )
            for line in row.told
        )
        return cls(
            row.id,
            row.kind,
            row.name,
            "\n".join(lines.values()),
            row.first_at,
            row.last_at,
            row.user_external,
            row.agent_external,
            row.thread_external,
            row.created_at,
            row.updated_at,
            cited,
        )


MEMORY_ROWS = f"""
select m.*, {UNCERTAIN_SQL} as is_uncertain, {STANDING_SQL} as standing, {NAME_COLUMNS}
from memories_memory m
{name_joins("m")}
where m.id = any(%(ids)s::uuid[]) and m.workspace_id = %(workspace)s
  and (%(history)s or {UNEXPIRED_SQL})
"""
EPISODE_ROWS = f"""
select e.*, {NAME_COLUMNS}
from memories_episode e
{name_joins("e")}
where e.id = any(%(ids)s::uuid[]) and e.workspace_id = %(workspace)s
"""
# The condition that the message `e` is about another person than the one asked for: what it says
# beside the words that a memory cites is about that other person alone.
IS_OTHERS = """(%(user)s <> '' and (select s.external_id from workspaces_subject s
   where s.id = {row}.subject_id) <> %(user)s) is true"""
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
SEEN = f"""and (%(bound)s::uuid is null or n.agent_id = %(bound)s::uuid)
     and (%(subjects)s::uuid[] is null or n.subject_id = any(%(subjects)s::uuid[]))
     and not {IS_OTHERS.format(row="n")}"""
NEIGHBOUR_ROWS = NEIGHBOURS.replace("{seen}", SEEN)
# A quote is seen by whom its episode is seen: the agent that recorded it, unbound keys, members; or
# its document.
CITED = """ci.fact_id, ci.episode_id, ci.start, ci."end", ci.quote,
       e.external_id as external_id, e.occurred_at, e.utc_offset"""
BEFORE = "%(said_before)s::timestamptz"  # what was said later is not told
CITATION_SEEN = f"""
  and ({BEFORE} is null or e.occurred_at <= {BEFORE})
  and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
  and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))"""
# What was said later of each memory, as `touch.with_later_said` adds it.
LATER_ROWS = f"""
select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,
       substr(e.content, t.start + 1, t."end" - t.start) as quote
from unnest(%(ids)s::uuid[]) m (id)
cross join lateral (
  select t.* from memories_touch t join memories_episode e on e.id = t.episode_id {CITATION_SEEN}
  where t.memory_id = m.id and t.workspace_id = %(workspace)s
    and (%(known_at)s::timestamptz is null or t.made_at <= %(known_at)s)
  order by t.relation in {(*DOUBTS, "exception")} desc, t.said_at desc limit {MOST_SAID}) t
join memories_episode e on e.id = t.episode_id
order by t.said_at desc, t.id desc
"""
# Of a fact: that it was known, and that its document said it then.
STOOD = """(%(known_at)s::timestamptz is null and f.withdrawn_at is null
   or f.created_at <= %(known_at)s and coalesce(f.withdrawn_at > %(known_at)s, true))"""
# The page or the like in which the citation `ci` begins, and a chunk that covers it.
PART = """(select json_build_object('kind', p.kind, 'ordinal', p.ordinal, 'label', p.label,
          'start', p.start, 'end', p."end") from memories_documentpart p
   where p.revision_id = ci.revision_id and p.start <= ci.start and p."end" > ci.start
   order by p.kind = 'heading', p.start desc limit 1)"""
CHUNK = """(select k.id from memories_chunk k
   where k.revision_id = ci.revision_id and k.start <= ci.start and k."end" >= ci."end"
   order by k.ordinal limit 1)"""
CITATION_ROWS = f"""
select f.memory_id as row_id, ci.fact_id, ci.episode_id, ci.start, ci."end", ci.quote,
       e.external_id as external_id, {IS_OTHERS.format(row="e")} as is_others,
       coalesce(e.occurred_at, r.published_at, d.created_at) as occurred_at,
       coalesce(e.utc_offset, 0) as utc_offset, d.id as document_id, d.title,
       case when d.id is not null then {CHUNK} end as chunk_id,
       case when d.id is not null then {PART} end as part
from memories_fact f join memories_citation ci on ci.fact_id = f.id
left join memories_episode e on e.id = ci.episode_id {CITATION_SEEN}
left join memories_revision r on r.id = ci.revision_id
left join memories_document d on d.id = r.document_id and {DOCUMENT_SEEN_SQL}
  and ({BEFORE} is null or coalesce(r.published_at, d.created_at) <= {BEFORE})
where f.memory_id = any(%(ids)s::uuid[]) and {STOOD} and (e.id is not null or d.id is not null)
order by ci.id
"""
# The newest message of each memory; of one that stands on no message, the newest passage of a
# document: then `start` and `end` are the quote's, in the document's text, and `content` begins at
# `begun` of it. The offsets leave no way but to look each row up: before a new workspace's tables
# are analyzed, they would be taken for so small that all of them is read.
SOURCE_ROWS = f"""
select m.id as row_id, said.id, said.external_id, said.role, said.author, said.is_others,
       told.document_id, told.title, told.chunk_id, told.part, told.begun,
       coalesce(said.occurred_at, told.occurred_at) as occurred_at, coalesce(said.utc_offset, 0) as utc_offset,
       coalesce(said.content, told.content) as content,
       coalesce(said.start, told.start) as start, coalesce(said."end", told."end") as "end"
from unnest(%(ids)s::uuid[]) m (id)
left join lateral (
  select e.id, e.external_id, e.role, e.author, e.occurred_at, e.utc_offset, e.content, ci.start, ci."end",
         {IS_OTHERS.format(row="e")} as is_others
  from (select * from memories_fact t where t.memory_id = m.id offset 0) f
  cross join lateral (select * from memories_citation t where t.fact_id = f.id offset 0) ci
  cross join lateral (select * from memories_episode t where t.id = ci.episode_id offset 0) e
  where e.workspace_id = %(workspace)s and {STOOD} {CITATION_SEEN}
  order by e.occurred_at desc, ci.id desc limit 1) said on true
left join lateral (
  select d.id as document_id, d.title, {CHUNK} as chunk_id, {PART} as part, ci.start, ci."end",
         coalesce(p.start, ci.start) as begun,
         substr(r.text, coalesce(p.start, ci.start) + 1,
                coalesce(p."end" - p.start, ci."end" - ci.start)) as content,
         coalesce(r.published_at, d.created_at) as occurred_at
  from (select * from memories_fact t where t.memory_id = m.id and said.id is null offset 0) f
  cross join lateral (select * from memories_citation t
                      where t.fact_id = f.id and t.revision_id is not null offset 0) ci
  cross join lateral (select * from memories_revision t where t.id = ci.revision_id offset 0) r
  cross join lateral (select * from memories_document t where t.id = r.document_id offset 0) d
  left join lateral (select * from memories_passage t where t.revision_id = r.id
                       and t.start <= ci.start and t."end" >= ci."end" limit 1) p on true
  where d.workspace_id = %(workspace)s and {STOOD} and {DOCUMENT_SEEN_SQL}
    and ({BEFORE} is null or coalesce(r.published_at, d.created_at) <= {BEFORE})
  order by r.number desc, ci.id desc limit 1) told on true
where said.id is not null or told.document_id is not null
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
# A passage with the places in the file that it meets, in their order.
CHUNK_ROWS = f"""
select t.*, {NAME_COLUMNS}, k.start as chunk_start, k."end" as chunk_end, k.heading,
       (select coalesce(json_agg(json_build_object('kind', p.kind, 'ordinal', p.ordinal,
                 'label', p.label, 'start', p.start, 'end', p."end") order by p.start, p.id), '[]')
        from memories_documentpart p where p.revision_id = t.revision_id
          and p.start < t."end" and p."end" > t.start) as parts
from memories_passagetext t join memories_chunk k on k.id = t.chunk_id
{name_joins("t")}
where t.id = any(%(ids)s::uuid[]) and t.tenant_id = %(workspace)s
  and (%(history)s or t.superseded_at is null)
"""
ROWS = {
    "memories": MEMORY_ROWS,
    "episodes": EPISODE_ROWS,
    "features": FEATURE_ROWS,
    "chunks": CHUNK_ROWS,
    "summaries": SUMMARY_ROWS,
}


EXTRACTED = "extracted"  # the source of a memory that was read out of something


def hits_of(scope: Scope, request: SearchRequest, ranked: Sequence[Scored]) -> list[Hit]:
    found = HitRows(scope, request)
    hits = []
    for one, row in _best_with_rows(ranked, request, found):
        hit = _hit(one, row)
        rows = [(echo, found.rows.get((echo.layer, echo.item))) for echo in one.echoes]
        hit.echoes = [_hit(echo, its_row) for echo, its_row in rows if its_row is not None]
        hits.append(hit)
    everyone = [one for hit in hits for one in (hit, *hit.echoes)]
    for hit in everyone:
        hit.later = found.later.get(hit.row.id, ())
    found.give_sources(everyone)
    if "citations" in request.include:
        _cite(scope, everyone, request, found.cited)
    if "neighbours" in request.include:
        around: dict[uuid.UUID, list[Any]] = {hit.row.id: [] for hit in hits if hit.episode}
        statement = NEIGHBOUR_ROWS
        if not request.at.is_now:  # only what had been said by then, as episodes themselves are hits
            statement = NEIGHBOURS.replace("{seen}", f"{SEEN} and {request.at.was_said.replace('row.', 'n.')}")
        values = seen_values(scope) | request.at.values
        values |= {"ids": list(around), "user": request.user_id}
        for row in prepared_sql.rows(statement, values) if around else ():
            around[row.row_id].append(row)
        for hit in hits:
            hit.neighbours = around.get(hit.row.id)
    if "chain" in request.include:
        for hit in hits:
            hit.chain = _chain(scope, hit.memory.id, request.at) if hit.memory else []
    return hits


def _chain(scope: Scope, memory_id: uuid.UUID, at: AsOf) -> list[Link]:
    """Return the chain as it was known then; of what had been said by then, as far as this
    version."""
    links = chain(scope, memory_id, at.known_at)
    if at.said_before is None:
        return links
    upto = next(place for place, link in enumerate(links, 1) if link.memory.pk == memory_id)
    return links[:upto]


def _hit(ranked: Scored, row: Any) -> Hit:
    return Hit(ranked.layer, ranked.score, dict(ranked.scores), row, ranked.cosine, is_news=ranked.is_news)


def _best_with_rows(ranked: Sequence[Scored], request: SearchRequest, found: "HitRows") -> list[tuple[Scored, Any]]:
    """Return the best with their rows; equal scores by the time they were made, newest first. Where
    layers are mixed, messages of one text are one hit, with the duplicates as its `echoes`."""
    chosen = sorted(ranked, key=lambda one: one.order)
    is_once = request.ranking in ("hybrid", "keyword") and len(request.layers) > 1
    best: list[tuple[Scored, Any]] = []
    place: dict[str, int] = {}
    at = 0
    while at < len(chosen) and len(best) < request.limit:
        # So many as are missing, and those that are as good as the last of them.
        enough = min(len(chosen), at + (max(request.limit, SPARE) if at else request.limit))
        while enough < len(chosen) and chosen[enough].score == chosen[enough - 1].score:
            enough += 1
        for one, row in found.read(chosen[at:enough]):
            first = place.setdefault(row.content, len(best)) if is_once and one.layer == "episodes" else len(best)
            if first == len(best):
                best.append((one, row))
            else:
                leading, leading_row = best[first]
                best[first] = (
                    leading._replace(echoes=(*leading.echoes, one, *one.echoes)),
                    leading_row,
                )
        at = enough
    best.sort(key=lambda p: (*p[0].order[:2], -p[1].created_at.timestamp(), p[1].id))
    return best[: request.limit]


def rows_of(scope: Scope, layer: str, ids: Sequence[uuid.UUID], at: AsOf = NOW) -> list[Any]:
    """Return rows of the workspace by id, with the callers' own ids, in any order; the caller has
    made sure that the asker may see them. For the past also those that have expired or ended."""
    return _as_they_were(layer, prepared_sql.rows(*statement_of_rows(scope, layer, ids, at)), at)


def statement_of_rows(scope: Scope, layer: str, ids: Sequence[uuid.UUID], at: AsOf = NOW) -> tuple[str, dict[str, Any]]:
    ids_sent = prepared_sql.Uuids(ids)
    values = {"ids": ids_sent, "workspace": scope.workspace_id, "history": not at.is_now}
    if layer == "memories" and at.columns:
        standing = at.columns["standing"].replace("row.", "m.")
        known = ", ".join(f"{sql.replace('row.', 'm.')} as known_{name}" for name, sql in at.columns.items())
        text = MEMORY_ROWS.replace(f"{UNCERTAIN_SQL} as", "false as").replace(f"{STANDING_SQL} as", f"{standing} as")
        text = text.replace("select m.*,", f"select m.*, {known},")
        return text, values | at.values
    return ROWS[layer], values


def _as_they_were(layer: str, rows: list[Any], at: AsOf) -> list[Any]:
    if layer == "summaries":
        return [FoundSummary.of(row) for row in rows]
    if at.is_now or layer != "features":
        return rows
    features = Feature.objects.filter(pk__in=[row.id for row in rows]).as_of(at)
    then = {feature.pk: feature for feature, _ in features}
    names = (*Feature.SNAPSHOT, "content", "updated_at")
    return [row._replace(ended_at=None, **{name: getattr(then[row.id], name) for name in names}) for row in rows]


class HitRows:
    """The rows of hits and of their `echoes`, by layer and id. The same round trip reads what else
    was asked for of memories: the newest message that each stands on, or the passage of a document
    (of another person's message what the memory cites); and all that it cites. All as far as the
    asker may see it."""

    def __init__(self, scope: Scope, request: SearchRequest) -> None:
        asked = {
            "workspace": scope.workspace_id,
            "known_at": request.at.known_at,
            "said_before": request.at.said_before,
            "user": request.user_id,
        }
        self.scope, self.request = scope, request
        self.values = seen_values(scope) | asked
        self.rows: dict[tuple[str, uuid.UUID], Any] = {}
        self.sources: dict[uuid.UUID, Any] = {}
        self.cited: dict[uuid.UUID, list[Any]] = {}
        self.later: dict[uuid.UUID, list[Any]] = {}

    def read(self, chosen: Sequence[Scored]) -> list[tuple[Scored, Any]]:
        """Return each with its row, without those that have no row any more."""
        at, include = self.request.at, self.request.include
        ids: dict[str, list[uuid.UUID]] = {}
        for one in (one for leading in chosen for one in (leading, *leading.echoes)):
            ids.setdefault(one.layer, []).append(one.item)
        asked = [statement_of_rows(self.scope, layer, own, at) for layer, own in ids.items()]
        values = self.values | {"ids": prepared_sql.Uuids(ids.get("memories", ()))}
        beside = {"later": LATER_ROWS, "source": SOURCE_ROWS, "citations": CITATION_ROWS}
        wanted = [name for name in beside if name in {*include, "later"} and "memories" in ids]
        found = prepared_sql.rows_of_each([*asked, *((beside[name], values) for name in wanted)])
        for layer, own in zip(ids, found, strict=False):
            self.rows |= {(layer, row.id): row for row in _as_they_were(layer, own, at)}
        for name, own in zip(wanted, found[len(ids) :], strict=True):
            for row in own:
                if name == "source":
                    self.sources[row.row_id] = row
                else:
                    beside_it = self.later if name == "later" else self.cited
                    beside_it.setdefault(row.row_id, []).append(row)
        rows = ((one, self.rows.get((one.layer, one.item))) for one in chosen)
        return [(one, row) for one, row in rows if row is not None]

    def give_sources(self, hits: Sequence[Hit]) -> None:
        stems = lexical.stem_set(self.request.query) if self.sources else frozenset()
        for hit in hits:
            row = self.sources.get(hit.row.id) if hit.memory else None
            if row and row.document_id is None:
                told = (row.start, row.end)
                place = told if row.is_others else passage_of(row.content, [told], stems)
                hit.source = SourceMessage(row, *place)
            elif row and hit.row.source == EXTRACTED:
                quote = (row.start - row.begun, row.end - row.begun)
                hit.source = SourcePassage(row, *passage_of(row.content, [quote], stems))


def _cite(
    scope: Scope,
    hits: Sequence[Hit],
    request: SearchRequest,
    cited: dict[uuid.UUID, list[Any]],
) -> None:
    """Give hits their citations; `cited` has those of memories."""
    if features := [hit.row.id for hit in hits if hit.feature]:
        # The changes by which these features say what they say.
        changes = Feature.objects.filter(pk__in=features).as_of(request.at)
        values = seen_values(scope) | {"ids": features, "known_at": request.at.known_at}
        values["said_before"] = request.at.said_before
        values["changes"] = [change.pk for _, change in changes]
        for row in prepared_sql.rows(FEATURE_CITATION_ROWS, values):
            cited.setdefault(row.row_id, []).append(row)
    for hit in hits:
        hit.citations = list(hit.summary.cited) if hit.summary else cited.get(hit.row.id, [])
