"""The search statements: candidates of one layer by vector and by word, in one round trip."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from memories.index import common_terms, entries, prepared_sql
from memories.language.english import lexical
from memories.models import Layer
from memories.ranking import Columns
from memories.search.conditions import (
    COUNTED,
    TABLES,
    LayerQuery,
    StatementShape,
    parameters,
    shape_of,
)

Statement: TypeAlias = tuple[str, dict[str, Any]]
Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]
T = TypeVar("T")
EPOCH = 946_684_800_000_000  # microseconds from 1970 to 2000

# ---- the seed's merge -----------------------------------------------------------------------

NO_ENTRIES = "select null::int8 as id where false"
TOP = 20


# Of a long query the rarest words say what it is about; the others cost much and add nothing.
RAREST = 16
# Words are looked up from the rarest on until they have so many entries. An entry without any of
# these is found by meaning or hardly relevant; of a found entry, every word counts.
ENOUGH, MOST = 500, 5000
# `weights` holds the 16,000 heaviest words of a text: another one that is found there by its key
# counts as one that stands in it once (lexical.bm25_weights).
OF_ALL = """array_agg(id) as id, array_agg(cosine) as cosine, array_agg(bm25) as bm25,
       array_agg(talk) as conversation, array_agg(occurred_at) as at,
       array_agg(length) as length, array_agg(marks) as marks, array_agg(item) as item"""
LEAST = "2.2 / (1 + 1.2 * (0.25 + 0.75 * e.length / {}))"
OF_MESSAGES = """, array_agg(position) as position, array_agg(author) as author,
       array_agg(role = 'assistant') as assistant"""
TALK = "coalesce(uuid_hash_extended(e.conversation, 0), -e.id)"
# A passage's text is to it what a conversation is to a message.
OF_PASSAGES = ", array_agg(position) as position"
OF_REVISION = """coalesce((select uuid_hash_extended(t.revision_id, 0)
    from memories_passage t where t.id = e.item), -e.id)"""
OF_EVENTS = ", array_agg(coalesce(date_part('epoch', event_at), 'nan')) as event"
# Of a message: something was learned from it. The limit lets each be looked up, however many there
# are: `exists` might be made of a table of all.
TAUGHT = "(select 1 from memories_citation ci where ci.episode_id = {} limit 1) is not null"
# Of an entry that was found by its words alone.
OWN_COSINE = """(select -min(x.embedding <#> %(vector)s::halfvec) from memories_vector x
    where x.entry_id = pool.id and x.embedding_model_id = %(model)s)"""
# Of an entry of the days that are asked for.
FAR = """(select min(x.embedding <#> %(vector)s::halfvec) from memories_vector x
      where x.entry_id = dated.id and x.embedding_model_id = %(model)s)"""
# Of each word the weight that the number of its entries gives it.
IDF = """idf as materialized (
  select ('{' || string_agg(number || ':' || ln(1 + (greatest((select n from stats), df)
            - df + 0.5) / (df + 0.5))::float4, ',' order by number)
          || '}/1000000000')::sparsevec as q from df)"""
# The entries of each word that is looked up (pairs), and how many these are (df).
ALL_WORDS = """pairs as materialized (
  select c.number, y.id, y.weights
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) c(key, number)
  cross join lateral (
    select x.id, x.weights {of_word}) y),
df as (select number, count(*) as df from pairs group by number)"""
# The same, where some words are in many entries, or many words are asked for.
CHOSEN_WORDS = f"""asked as materialized (
  select t.key, t.number, c.share, row_number() over rarest as place,
         sum(coalesce(c.share, 0)) over rarest * (select n from stats) as postings
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) t(key, number)
  left join memories_commonterm c on c.key = t.key
  window rarest as (order by coalesce(c.share, 0), t.number)),
pairs as materialized (
  select c.number, y.id, y.weights from asked c
  cross join lateral (
    select x.id, x.weights {{of_word}}) y
  where c.place = 1 or c.postings <= {ENOUGH}),
df as materialized (
  select a.number, greatest(p.df, a.share * (select n from stats)) as df
  from asked a left join (select number, count(*) as df from pairs group by number) p
    on p.number = a.number
  where p.df > 0 or a.share > 0 order by 2, 1 limit {RAREST})"""
BESIDE = 2  # messages before and after
# The offsets leave no way but to look each row up: the planner takes workspaces for equally large.
AROUND = f"""
select m.item, avg(-(v.embedding <#> %(vector)s::halfvec))::float8 as cosine
from unnest(%(items)s::uuid[]) m (item)
cross join lateral (select * from memories_episode t where t.id = m.item offset 0) e
cross join lateral (
  select n.id from memories_episode n
  where n.conversation_id = e.conversation_id
    and n.position between e.position - {BESIDE} and e.position + {BESIDE}
    and (%(bound)s::uuid is null or n.agent_id = %(bound)s::uuid)
    and (%(subjects)s::uuid[] is null or n.subject_id = any(%(subjects)s::uuid[])) offset 0) n
cross join lateral (
  select t.id from memories_entry t where t.layer = {int(Layer.EPISODES)} and t.item = n.id
  offset 0) x
cross join lateral (
  select t.embedding from memories_vector t
  where t.entry_id = x.id and t.embedding_model_id = %(model)s and t.part = 0 offset 0) v
group by m.item
"""


class Depth(NamedTuple):
    """The depth of a search: `top` is how many candidates each side brings up.

    `newest`: the newest entries are looked at, too. `dated`: the dates of events count, so that the
    days asked for bring up their entries. `in_texts`: passages know which of them are neighbours.
    `wishes`: standing wishes of the person are looked at, whatever their words. `taught`: messages
    from which something was learned come first.
    """

    top: int
    newest: bool = True
    dated: bool = False
    in_texts: bool = False
    wishes: bool = False
    taught: bool = False


# Where only words and meaning decide, half as many find the same. The next turn of a conversation
# is about what was said last, whatever its words are; a question is not.
DEEP, DATED = Depth(120), Depth(120, dated=True)
OF_TURN, OF_QUESTION = Depth(60), Depth(60, newest=False)
# Passages, of which a document has many
OF_DOCUMENTS = Depth(120, newest=False, in_texts=True)


FEW = 5_000  # rows that are looked up one by one


@dataclass(frozen=True, slots=True)
class EntryMatch:
    """A candidate: its entry, the row it stands for, its cosine, and whether words matched."""

    entry: int
    item: uuid.UUID
    cosine: float | None
    matched: bool


@lru_cache(maxsize=256)
def linea_text(shape: StatementShape, has_keywords: bool, has_trigrams: bool, top: int = TOP) -> str:
    keywords = NO_ENTRIES
    if has_keywords:  # the newest whose text holds the whole query
        trigrams = "and x.trigrams @> %(trigrams)s::int8[]" if has_trigrams else ""
        keywords = f"""
  select y.id from (select x.id, x.item {shape.entries(by_key=has_trigrams)} {trigrams}) y
  join {TABLES[shape.layer]} t on t.id = y.item
  where t.content ilike %(pattern)s order by t.created_at desc, t.id desc limit {TOP}"""
    seen = ", (select count(*) from nearest) as seen" if shape.segment else ""
    return f"""
with {shape.prelude}
nearest as materialized ({shape.nearest(top, "and x.part = 0")}),
v as (select entry_id, -d as cosine from nearest order by d, entry_id limit {top}),
k as materialized ({keywords}),
f as (select coalesce(v.entry_id, k.id) as id, v.cosine, k.id is not null as matched
      from v full join k on k.id = v.entry_id)
select f.id, f.cosine, f.matched, e.item{seen} from f join memories_entry e on e.id = f.id
"""


def linea(asked: LayerQuery, *, by_vector: bool = True, by_words: bool = True, most: int = TOP) -> list[EntryMatch]:
    """Return the nearest by cosine, 20 or `most`, and the newest 20 whose text holds the whole
    query, in one round trip."""
    asked = few_or_many(asked)
    shape = shape_of(asked, by_vector=by_vector)
    top = TOP if most <= TOP else DEEP.top  # two texts, not one for each number

    def ask(shape: StatementShape) -> list[Any]:
        return prepared_sql.rows(*linea_statement(asked, shape, by_words=by_words, top=top))

    rows = _seen_enough(asked, shape, ask, lambda found: found[0].seen if found else 0)
    return [EntryMatch(row.id, row.item, row.cosine, row.matched) for row in rows]


def linea_statement(
    asked: LayerQuery,
    shape: StatementShape | None = None,
    *,
    by_words: bool = True,
    top: int = TOP,
) -> Statement:
    """Return the text of the prepared statement, and its values."""
    values = parameters(asked)
    trigrams = lexical.ilike_keys(asked.index.number, asked.layer, asked.query)
    values |= {"trigrams": trigrams, "pattern": lexical.ilike_pattern(asked.query)}
    return linea_text(shape or shape_of(asked), by_words, bool(trigrams), top), values


def _seen_enough(
    asked: LayerQuery,
    shape: StatementShape,
    ask: Callable[[StatementShape], T],
    seen: Callable[[T], int],
) -> T:
    """Return what is found; compare one by one where the HNSW has not `seen` enough that fits."""
    found = ask(shape)
    enough = not shape.segment or shape.is_all or seen(found) >= shape.depth
    if asked.trace and shape.has_vector:
        path = "exact" if not shape.segment else "hnsw" if enough else "hnsw_then_exact"
        asked.trace.compared(asked.layer, path)
    return found if enough else ask(replace(shape, segment=None))


def few_or_many(asked: LayerQuery) -> LayerQuery:
    """Drop the way to a few rows from the query where these are many, or the layer is small: then
    it is faster to look through the whole layer."""
    wanted = asked.wanted
    if not wanted.few:
        return asked
    if asked.index.live(asked.layer) > COUNTED:
        text = f"select count(*) as number from ({wanted.few} limit {FEW + 1}) few"
        if prepared_sql.rows(text, parameters(asked))[0].number <= FEW:
            return asked
    return replace(asked, wanted=replace(wanted, few=""))


def is_reached(asked: LayerQuery, item: uuid.UUID) -> bool:
    """Tell whether the question reaches the item at all, however far down it would stand."""
    shape = shape_of(asked, by_vector=False)
    own = f"select x.id {shape.entries()} and x.item = %(item)s"
    text = f"with {shape.prelude} own as ({own}) select id from own"
    return bool(prepared_sql.rows(text, parameters(asked) | {"item": item}))


# ---- the pool that the hybrid ranking chooses from ------------------------------------------


@lru_cache(maxsize=256)
def pool_text(shape: StatementShape, depth: Depth = DEEP, *, has_common: bool = True, is_long: bool = True) -> str:
    """Return the text of the pool statement. `has_common`: some words may be in many entries.
    `is_long`: there are so many words that only the rarest are looked up."""
    words = CHOSEN_WORDS if has_common or is_long else ALL_WORDS
    of_word = f"{shape.entries(by_key=True)} and x.terms @> array[c.key] limit {MOST}"
    rarest = "where number in (select number from df)" if is_long else ""
    # Without vectors nothing is found but by its words.
    newest = shape.newest if shape.has_vector and depth.newest else NO_ENTRIES
    wishes = ""
    if depth.wishes and shape.layer == Layer.EPISODES:
        wishes = f"\n    union all select id, null, false from ({shape.wishes}) wishes"
    dated = ""
    if depth.dated and shape.layer in (Layer.MEMORIES, Layer.EPISODES):
        far = FAR if shape.has_vector else "null::float8"
        first = ""
        if depth.taught and shape.layer == Layer.EPISODES:
            own = "(select t.item from memories_entry t where t.id = dated.id)"
            first = f"({TAUGHT.format(own)}) desc, "
        dated = f"""
    union all (select id, {far} as d, false from ({shape.dated}) dated
     order by {first}2, 1 desc limit {depth.top})"""
    cosine = OWN_COSINE if shape.has_vector else "null::float8"
    least = LEAST.format(entries.ORDINARY.get(shape.layer, lexical.ORDINARY_LENGTH))
    more = OF_MESSAGES if shape.layer == Layer.EPISODES else ""
    more += OF_EVENTS if depth.dated and shape.layer == Layer.MEMORIES else ""
    if depth.taught and shape.layer == Layer.EPISODES:
        more += f", array_agg({TAUGHT.format('item')}) as taught"
    talk = TALK
    if depth.in_texts and shape.layer == Layer.CHUNKS:
        more, talk = more + OF_PASSAGES, OF_REVISION
    more += ", array[(select count(*) from nearest)] as seen" if shape.segment else ""
    nearest = shape.nearest(2 * depth.top)
    if shape.is_compared_once:
        nearest = f"select * from compared order by d, entry_id limit {2 * depth.top}"
    # More vectors than entries, because an entry may have its passages among them.
    return f"""
with {shape.prelude}{shape.compared}
stats as materialized (select {shape.count} as n),
nearest as materialized ({nearest}),
{words.replace("{of_word}", of_word)},
{IDF},
said as (
  select id from pairs {rarest}
  group by id order by max(-(weights <#> (select q from idf))) desc, id limit {depth.top}),
pool as (
  select id, min(d) as d, bool_or(worded) as worded from (
    (select entry_id as id, min(d) as d, false as worded
     from nearest group by entry_id order by 2, 1 limit {depth.top})
    union all select id, null, true from said
    union all select id, null, false from ({newest}) newest{wishes}{dated}) sides
  group by id)
select {OF_ALL}
       {more}
from (
  select e.*, coalesce(-pool.d, {cosine}, 'nan') as cosine,
         coalesce(nullif(-(e.weights <#> (select q from idf)), 0),
                  case when pool.worded then {least} else 0 end) as bm25,
         {talk} as talk
  from pool join memories_entry e on e.id = pool.id) found
"""


PoolQuery = tuple[LayerQuery, list[str]]  # and the stems that are looked up


def pool(asked: LayerQuery, stems: list[str], depth: Depth = DEEP) -> Columns:
    """Return the nearest, the best by BM25 and the newest, by entry."""
    return pools([(asked, stems)], depth)[0]


def pools(queries: Sequence[PoolQuery], depth: Depth) -> list[Columns]:
    """Run `pool` for several layers in one round trip."""
    queries = [(few_or_many(asked), stems) for asked, stems in queries]
    shapes = [shape_of(asked, exact=depth.top > DEEP.top) for asked, _ in queries]
    statements = [pool_statement(*query, shape, depth) for query, shape in zip(queries, shapes, strict=True)]
    found = prepared_sql.arrays_of_each(statements)
    return [
        _columns(_enough(query, shape, depth, first), query[0].layer)
        for query, shape, first in zip(queries, shapes, found, strict=True)
    ]


def _enough(query: PoolQuery, shape: StatementShape, depth: Depth, first: Arrays) -> Arrays:
    """Return what was found at first, or, where that is too little, what is found without the
    HNSW."""

    def ask(wanted: StatementShape) -> Arrays:
        if wanted is shape:
            return first
        return prepared_sql.arrays(*pool_statement(*query, wanted, depth))

    return _seen_enough(query[0], shape, ask, lambda found: int(found["seen"][0]))


def _columns(found: Arrays, layer: Layer) -> Columns:
    if "id" not in found:
        return Columns.of(())
    size = found["id"].size
    columns = Columns(
        ids=found["id"],
        layers=np.full(size, int(layer)),
        cosine=found["cosine"],
        bm25=found["bm25"],
        conversations=found["conversation"],
        positions=found.get("position", np.full(size, -2)),
        at=(found["at"] + EPOCH) / 1e6,
        event=found.get("event", np.full(size, np.nan)),
        assistant=found.get("assistant", np.full(size, np.nan)).astype(float),
        length=found["length"].astype(float),
        marks=found["marks"],
        authors=found.get("author", np.full(size, "", object)),
        items=found["item"],
        around=np.full(size, np.nan),
        taught=found.get("taught", np.full(size, layer == Layer.MEMORIES)).astype(float),
    )
    return columns.taken(np.argsort(columns.ids))


def pool_statement(
    asked: LayerQuery,
    stems: list[str],
    shape: StatementShape | None = None,
    depth: Depth = DEEP,
) -> Statement:
    """Return the text of the prepared statement, and its values."""
    keys = lexical.term_keys(asked.index.number, asked.layer, stems)
    live = asked.index.live(asked.layer)
    values = parameters(asked) | {
        "keys": keys,
        "numbers": lexical.numbers_of(keys),
        "n": live,
    }
    has_common, is_long = live >= common_terms.FROM, len(keys) > RAREST
    shape = shape or shape_of(asked)
    return pool_text(shape, depth, has_common=has_common, is_long=is_long), values


# ---- what is told around a message -----------------------------------------------------------


def cosines_around(asked: LayerQuery, pool: Columns) -> Columns:
    """Add to the candidates the mean cosine of the messages around each: two before, itself and two
    after, as far as the asker may see them."""
    values = parameters(asked)
    values["items"] = [uuid.UUID(bytes=item.tobytes()) for item in pool.items[pool.is_message]]
    mean = {row.item.bytes: row.cosine for row in prepared_sql.rows(AROUND, values)}
    around = [mean.get(item.tobytes(), np.nan) for item in pool.items]
    return replace(pool, around=np.array(around, float))
