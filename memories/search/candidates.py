"""The search statements: candidates of one layer by vector and by word, in one round trip."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from memories.english import lexical
from memories.index import common_terms, statements
from memories.models import Layer, WorkspaceIndex
from memories.ranking import Columns
from memories.search.conditions import TABLES, Asked, Shape, parameters, shape_of

Statement: TypeAlias = tuple[str, dict[str, Any]]
Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]
T = TypeVar("T")
EPOCH = 946_684_800_000_000  # microseconds from 1970 to 2000

# ---- the seed's merge -----------------------------------------------------------------------

LINEA = """
with {prelude}
nearest as materialized ({nearest}),
v as (select entry_id, -d as cosine from nearest order by d, entry_id limit {top}),
k as materialized ({keywords}),
f as (select coalesce(v.entry_id, k.id) as id, v.cosine, k.id is not null as matched
      from v full join k on k.id = v.entry_id)
select f.id, f.cosine, f.matched, e.item{seen} from f join memories_entry e on e.id = f.id
"""
NOTHING = "select null::int8 as id where false"
KEYWORDS = """
  select y.id from (select x.id, x.item {entries} {trigrams}) y join {table} t on t.id = y.item
  where t.content ilike %(pattern)s order by t.created_at desc, t.id desc limit {top}"""
TOP = 20
SEEN = ", (select count(*) from {}) as seen"


class Depth(NamedTuple):
    """How many each side brings up, whether the newest are looked at, too, and whether it counts
    when what a memory tells happens."""

    top: int
    newest: bool = True
    dated: bool = False


# Where only words and meaning decide, half as many find the same. The next turn of a conversation
# is about what was said last, whatever its words are; a question is not.
DEEP, DATED = Depth(120), Depth(120, dated=True)
OF_TURN, OF_QUESTION = Depth(60), Depth(60, newest=False)


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate: its entry, the row it stands for, its cosine, and whether words matched."""

    entry: int
    item: uuid.UUID
    cosine: float | None
    matched: bool


@lru_cache(maxsize=256)
def linea_text(shape: Shape, has_keywords: bool, has_trigrams: bool, top: int = TOP) -> str:
    keywords = KEYWORDS.format(
        table=TABLES[shape.layer],
        entries=shape.entries(by_key=has_trigrams),
        trigrams="and x.trigrams @> %(trigrams)s::int8[]" if has_trigrams else "",
        top=TOP,
    )
    return LINEA.format(
        prelude=shape.prelude,
        nearest=shape.nearest(top, "and x.part = 0"),
        keywords=keywords if has_keywords else NOTHING,
        seen=SEEN.format("nearest") if shape.seal else "",
        top=top,
    )


def linea(
    space: WorkspaceIndex,
    asked: Asked,
    *,
    by_vector: bool = True,
    by_words: bool = True,
    most: int = TOP,
) -> list[Found]:
    """The nearest by cosine, 20 or `most`, and the newest 20 whose text holds the whole query, in
    one round trip."""
    shape = shape_of(space, asked, by_vector=by_vector)
    top = TOP if most <= TOP else DEEP.top  # two texts, not one for each number

    def ask(shape: Shape) -> list[Any]:
        return statements.rows(*linea_statement(space, asked, shape, by_words=by_words, top=top))

    rows = _seen_enough(asked, shape, ask, lambda found: found[0].seen if found else 0)
    return [Found(row.id, row.item, row.cosine, row.matched) for row in rows]


def linea_statement(
    space: WorkspaceIndex,
    asked: Asked,
    shape: Shape | None = None,
    *,
    by_words: bool = True,
    top: int = TOP,
) -> Statement:
    """The text that is prepared, and its values."""
    values = parameters(space, asked)
    trigrams = lexical.ilike_keys(space.number, asked.layer, asked.query)
    values |= {"trigrams": trigrams, "pattern": lexical.ilike_pattern(asked.query)}
    return linea_text(shape or shape_of(space, asked), by_words, bool(trigrams), top), values


def _seen_enough(
    asked: Asked, shape: Shape, ask: Callable[[Shape], T], seen: Callable[[T], int]
) -> T:
    """What is found, compared one by one where the HNSW has not `seen` enough that fits."""
    found = ask(shape)
    enough = not shape.seal or shape.is_all or seen(found) >= shape.depth
    if asked.trace and shape.has_vector:
        path = "exact" if not shape.seal else "hnsw" if enough else "hnsw_then_exact"
        asked.trace.compared(asked.layer, path)
    return found if enough else ask(replace(shape, seal=None))


def is_among(space: WorkspaceIndex, asked: Asked, item: uuid.UUID) -> bool:
    """Whether the question reaches the item at all, however far down it would stand."""
    shape = shape_of(space, asked, by_vector=False)
    own = f"select x.id {shape.entries()} and x.item = %(item)s"
    text = f"with {shape.prelude} own as ({own}) select id from own"
    return bool(statements.rows(text, parameters(space, asked) | {"item": item}))


# ---- the pool that the hybrid ranking chooses from ------------------------------------------

POOL = """
with {prelude}
stats as materialized (select {count} as n),
nearest as materialized ({nearest}),
{words}
said as (
  select id from pairs {rarest}
  group by id order by max(-(weights <#> (select q from idf))) desc, id limit {top}),
pool as (
  select id, min(d) as d, bool_or(worded) as worded from (
    (select entry_id as id, min(d) as d, false as worded
     from nearest group by entry_id order by 2, 1 limit {top})
    union all select id, null, true from said
    union all select id, null, false from ({newest}) newest) sides
  group by id)
select array_agg(id) as id, array_agg(cosine) as cosine, array_agg(bm25) as bm25,
       array_agg(talk) as conversation, array_agg(occurred_at) as at,
       array_agg(length) as length, array_agg(marks) as marks, array_agg(item) as item
       {of_messages}{of_events}{seen}
from (
  select e.*, coalesce(-pool.d, {cosine}, 'nan') as cosine,
         coalesce(nullif(-(e.weights <#> (select q from idf)), 0),
                  case when pool.worded then {least} else 0 end) as bm25,
         coalesce(uuid_hash_extended(e.conversation, 0), -e.id) as talk
  from pool join memories_entry e on e.id = pool.id) found
"""
# `weights` holds the 16,000 heaviest words of a text: another one that is found there by its key counts
# as one that stands in it once (lexical.bm25_weights).
LEAST = "2.2 / (1 + 1.2 * (0.25 + 0.75 * e.length / 16.0))"
# The looked up words' entries, and of each word the weight that the number of these gives it.
WORDS = """
pairs as materialized (
  select c.number, y.id, y.weights
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) c(key, number)
  cross join lateral (
    select x.id, x.weights {keyed} and x.terms @> array[c.key] limit {most}) y),
df as (select number, count(*) as df from pairs group by number),
{idf}"""
# Where some words are in many entries, or many words are asked for.
COMMON_WORDS = """
asked as materialized (
  select t.key, t.number, c.share, row_number() over rarest as place,
         sum(coalesce(c.share, 0)) over rarest * (select n from stats) as postings
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) t(key, number)
  left join memories_commonterm c on c.key = t.key
  window rarest as (order by coalesce(c.share, 0), t.number)),
pairs as materialized (
  select c.number, y.id, y.weights from asked c
  cross join lateral (
    select x.id, x.weights {keyed} and x.terms @> array[c.key] limit {most}) y
  where c.place = 1 or c.postings <= {enough}),
df as materialized (
  select a.number, greatest(p.df, a.share * (select n from stats)) as df
  from asked a left join (select number, count(*) as df from pairs group by number) p
    on p.number = a.number
  where p.df > 0 or a.share > 0 order by 2, 1 limit {terms}),
{idf}"""
IDF = """idf as materialized (
  select ('{' || string_agg(number || ':' || ln(1 + (greatest((select n from stats), df)
            - df + 0.5) / (df + 0.5))::float4, ',' order by number)
          || '}/1000000000')::sparsevec as q from df),"""
OF_RAREST = "where number in (select number from df)"
OF_MESSAGES = """, array_agg(position) as position, array_agg(author) as author,
       array_agg(role = 'assistant') as assistant"""
OF_EVENTS = ", array_agg(coalesce(date_part('epoch', event_at), 'nan')) as event"
COUNTED = "(select count(*) {entries})"
# A subject's own stand together in the covering index, among the entries they are scattered; and
# what an agent sees is counted there without reading the entries.
COUNTED_BY_VECTOR = "(select count(*) from ({wholes}) c)"
COSINE = """(select -min(x.embedding <#> %(vector)s::halfvec) from memories_vector x
    where x.entry_id = pool.id and x.embedding_model_id = %(model)s)"""
NO_COSINE = "null::float8"
NEWEST = "select x.id {entries} order by x.id desc limit 40"
NEWEST_BY_VECTOR = "select entry_id as id from ({wholes}) n order by entry_id desc limit 40"
# Of a long query the rarest words say what it is about; the others cost much and add nothing.
RAREST = 16
# Words are looked up from the rarest on until their entries come to so many. What has none of
# these is found by meaning or hardly speaks of it; of what is found, every word counts.
ENOUGH, MOST = 500, 5000


@lru_cache(maxsize=256)
def pool_text(
    shape: Shape, depth: Depth = DEEP, *, has_common: bool = True, is_long: bool = True
) -> str:
    """`has_common`: some words may be in many entries. `is_long`: so many words that the rarest
    are chosen of them."""
    by_vector = shape.has_vector and not shape.seal
    count = COUNTED_BY_VECTOR if by_vector else COUNTED
    of_subject = by_vector and shape.has_subject
    newest = NEWEST_BY_VECTOR if of_subject else NEWEST
    is_known = shape.is_all or shape.seal or (shape.is_large and not of_subject)
    pieces = {"entries": shape.entries(), "wholes": shape.vectors("and x.part = 0")}
    words = COMMON_WORDS if has_common or is_long else WORDS
    return POOL.format(
        prelude=shape.prelude,
        count="%(n)s::int8" if is_known else count.format(**pieces),
        # More vectors than entries, because an entry may have its passages among them.
        nearest=shape.nearest(2 * depth.top),
        words=words.format(
            keyed=shape.entries(by_key=True), idf=IDF, enough=ENOUGH, most=MOST, terms=RAREST
        ),
        rarest=OF_RAREST if is_long else "",
        # Without vectors nothing is found but by its words.
        newest=newest.format(**pieces) if shape.has_vector and depth.newest else NOTHING,
        least=LEAST,
        cosine=COSINE if shape.has_vector else NO_COSINE,
        of_messages=OF_MESSAGES if shape.layer == Layer.EPISODES else "",
        of_events=OF_EVENTS if depth.dated and shape.layer == Layer.MEMORIES else "",
        top=depth.top,
        seen=", array[(select count(*) from nearest)] as seen" if shape.seal else "",
    )


def pool(space: WorkspaceIndex, asked: Asked, stems: list[str], depth: Depth = DEEP) -> Columns:
    """The nearest, the best by BM25 and the newest, in one round trip, by entry."""

    def ask(shape: Shape) -> Arrays:
        return statements.arrays(*pool_statement(space, asked, stems, shape, depth))

    def seen(found: Arrays) -> int:
        return int(found["seen"][0])

    shape = shape_of(space, asked, exact=depth.top > DEEP.top)
    return _columns(asked.layer, _seen_enough(asked, shape, ask, seen))


def _columns(layer: Layer, found: Arrays) -> Columns:
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
    )
    return columns.taken(np.argsort(columns.ids))


def pool_statement(
    space: WorkspaceIndex,
    asked: Asked,
    stems: list[str],
    shape: Shape | None = None,
    depth: Depth = DEEP,
) -> Statement:
    """The text that is prepared, and its values."""
    keys = lexical.term_keys(space.number, asked.layer, stems)
    live = space.live(asked.layer)
    values = parameters(space, asked) | {
        "keys": keys,
        "numbers": lexical.numbers_of(keys),
        "n": live,
    }
    has_common, is_long = live >= common_terms.FROM, len(keys) > RAREST
    shape = shape or shape_of(space, asked)
    return pool_text(shape, depth, has_common=has_common, is_long=is_long), values
