"""The search statements: scope and visibility stand here once, for every layer.

Texts are put together from fixed pieces only, so each is prepared once and planned once; what
the caller said is a parameter. The exact texts compare an untyped column without a cast, which
leaves the planner no index but the covering one.
"""

import uuid
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from pgvector import HalfVector

from memories import lexical
from memories.indexing import statements
from memories.models import SCOPE_CODE, WIDEST_COVERED, Layer, WorkspaceIndex, workflow_place
from memories.ranking import Candidate
from workspaces.scope import Scope

# x is an entry or a vector: both carry the scope columns. Of these a text has what its asker needs,
# because every condition is evaluated for every row of a scan.
AS_AGENT = """
  and (x.visibility = 2
       or (x.visibility = 1 and (x.agent = any(%(team)s::uuid[])
                                 or (x.agent is null and %(default_team)s)))
       or (x.visibility = 0 and x.agent = %(bound)s::uuid))"""
OF_SUBJECTS = """
  and x.subject = any(%(subjects)s::uuid[])"""
OPEN_SCOPE = """
  and x.scope = %(open_scope)s::int2"""
SCOPE_OR_PLACE = """
  and (x.scope = any(%(open_scopes)s::int2[]) or x.place = any(%(places)s::uuid[]))"""
SUBJECT_BRANCHES = {
    False: ("",),
    True: ("and x.subject = %(subject)s::uuid", "and x.subject is null"),
}
# The exact scan: index-only, a range of the covering index for each branch.
LIVE_VECTORS = """
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from memories_vector x
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and {wide}x.wide {branch} {part} {visible} {inside}"""
# What a filter wants is found once (w). Old versions are in no index for search, only in w.
WANTED = """
w as materialized (
  select x.id from memories_entry x join {table} row on row.id = x.item
  left join workspaces_subject s on s.id = row.subject_id
  left join workspaces_agent a on a.id = row.agent_id
  left join memories_conversation c on c.id = row.conversation_id
  where x.workspace = %(workspace)s and x.layer = %(layer)s {live} {subject} and {condition}),"""
OLD_VECTORS = """
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from w join memories_vector x on x.entry_id = w.id
  where x.embedding_model_id = %(model)s {part} {visible}"""
TABLES = {
    Layer.MEMORIES: "memories_memory",
    Layer.EPISODES: "memories_episode",
    Layer.FEATURES: "memories_feature",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search is narrowed to: an SQL condition over `row`, s, a, c, and its values.

    `history`: also what is no longer live; the condition says what was believed.
    """

    condition: str = ""
    history: bool = False


EVERYTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for and who asks, as the statements take it.

    `subject` None: about anybody.
    """

    scope: Scope
    layer: Layer
    query: str
    vector: np.ndarray | None = None
    subject: uuid.UUID | None = None
    memory_scope: str = ""
    place_of_thread: uuid.UUID | None = None
    workflow: str = ""
    wanted: Wanted = EVERYTHING
    wanted_values: dict[str, Any] = field(default_factory=dict)

    @property
    def places(self) -> list[uuid.UUID]:
        asked = self.memory_scope
        thread = [self.place_of_thread] if self.place_of_thread and asked != "workflow" else []
        workflow = [workflow_place(self.workflow)] if self.workflow and asked != "thread" else []
        return [] if asked == "user" else [*thread, *workflow]

    @property
    def open_scopes(self) -> list[int]:
        """Scopes of which all is looked at; a thread's or workflow's own needs its name."""
        asked = self.memory_scope or "user"
        return [] if asked != "user" and self.places else [SCOPE_CODE[asked]]


def parameters(space: WorkspaceIndex, asked: Asked) -> dict[str, Any]:
    scope = asked.scope
    return {
        "workspace": space.number,
        "model": space.embedding_model_id,
        "layer": int(asked.layer),
        "vector": None if asked.vector is None else HalfVector(asked.vector),
        "bound": scope.agent_id,
        "team": list(scope.team_agent_ids),
        "default_team": scope.in_default_team,
        "subjects": None if scope.subject_ids is None else list(scope.subject_ids),
        "subject": asked.subject,
        "open_scope": next(iter(asked.open_scopes), None),
        "open_scopes": asked.open_scopes,
        "places": asked.places,
        **asked.wanted_values,
    }


def is_wide(space: WorkspaceIndex) -> bool:
    model = space.embedding_model
    return model is not None and model.dimensions > WIDEST_COVERED


@dataclass(frozen=True, slots=True)
class Shape:
    """All that a statement's text depends on."""

    layer: Layer
    wanted: Wanted
    has_subject: bool
    has_vector: bool
    is_wide: bool
    is_bound: bool = False
    is_limited: bool = False
    has_places: bool = False

    @property
    def visible(self) -> str:
        """What of the layer the asker may find, and has asked for."""
        who = AS_AGENT if self.is_bound else ""
        about = OF_SUBJECTS if self.is_limited else ""
        return who + about + (SCOPE_OR_PLACE if self.has_places else OPEN_SCOPE)

    @property
    def is_all(self) -> bool:
        """Nothing narrows the layer but the scope of its memories."""
        narrowed = self.has_subject or self.is_bound or self.is_limited
        return not (narrowed or self.wanted.condition or self.wanted.history)

    @property
    def prelude(self) -> str:
        """The set that a filter wants, as the first part of the statement."""
        if not self.wanted.condition:
            return ""
        return WANTED.format(
            table=TABLES[self.layer],
            live="" if self.wanted.history else "and x.live",
            subject=self._subject,
            condition=self.wanted.condition,
        )

    def vectors(self, part: str = "") -> str:
        """All rows of the asked set with their distance d (the negative cosine), by vector."""
        if not self.has_vector:
            return NO_VECTORS
        if self.wanted.history:
            return OLD_VECTORS.format(part=part, visible=self.visible)
        inside = "and x.entry_id in (select id from w)" if self.wanted.condition else ""
        return "\n  union all".join(
            LIVE_VECTORS.format(
                wide="" if self.is_wide else "not ",
                branch=branch,
                part=part,
                visible=self.visible,
                inside=inside,
            )
            for branch in SUBJECT_BRANCHES[self.has_subject]
        )

    def entries(self, *, by_key: bool = False) -> str:
        """`from ... where ...`: the entries x of the layer that the asker may find.

        `by_key`: a key follows, which names workspace and layer already. Hidden from the planner,
        they do not make it read the whole workspace beside each key's rows.
        """
        if self.wanted.history:
            return f"from w join memories_entry x on x.id = w.id where true {self.visible}"
        inside = "and x.id in (select id from w)" if self.wanted.condition else ""
        hidden = " + 0" if by_key else ""
        return f"""from memories_entry x
  where x.workspace{hidden} = %(workspace)s and x.layer{hidden} = %(layer)s and x.live
    {self._subject} {self.visible} {inside}"""

    @property
    def _subject(self) -> str:
        if not self.has_subject:
            return ""
        return "and (x.subject = %(subject)s::uuid or x.subject is null)"


def shape_of(space: WorkspaceIndex, asked: Asked, *, by_vector: bool = True) -> Shape:
    model = space.embedding_model
    return Shape(
        asked.layer,
        asked.wanted,
        has_subject=asked.subject is not None,
        has_vector=by_vector and asked.vector is not None and model is not None,
        is_wide=is_wide(space),
        is_bound=asked.scope.is_bound,
        is_limited=asked.scope.subject_ids is not None,
        has_places=bool(asked.places),
    )


# ---- the seed's merge -----------------------------------------------------------------------

LINEA = """
with {prelude}
v as materialized (
  select entry_id, -d as cosine from ({vectors}) x order by d, entry_id limit {top}),
k as materialized ({keywords}),
f as (select coalesce(v.entry_id, k.id) as id, v.cosine, k.id is not null as matched
      from v full join k on k.id = v.entry_id)
select f.id, f.cosine, f.matched, e.item from f join memories_entry e on e.id = f.id
"""
NO_VECTORS = "select null::int8 as entry_id, null::int2 as part, null::float8 as d where false"
NO_KEYWORDS = "select null::int8 as id where false"
KEYWORDS = """
  select y.id from (select x.id, x.item {entries} {trigrams}) y join {table} t on t.id = y.item
  where t.content ilike %(pattern)s order by t.created_at desc, t.id desc limit {top}"""
TOP = 20


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate: its entry, the row it stands for, its cosine, and whether words matched."""

    entry: int
    item: uuid.UUID
    cosine: float | None
    matched: bool


@lru_cache(maxsize=256)
def linea_text(shape: Shape, has_keywords: bool, has_trigrams: bool) -> str:
    keywords = KEYWORDS.format(
        table=TABLES[shape.layer],
        entries=shape.entries(by_key=has_trigrams),
        trigrams="and x.trigrams @> %(trigrams)s::int8[]" if has_trigrams else "",
        top=TOP,
    )
    return LINEA.format(
        prelude=shape.prelude,
        vectors=shape.vectors("and x.part = 0"),
        keywords=keywords if has_keywords else NO_KEYWORDS,
        top=TOP,
    )


def linea(
    space: WorkspaceIndex, asked: Asked, *, by_vector: bool = True, by_words: bool = True
) -> list[Found]:
    """20 nearest by cosine and the newest 20 whose text holds the whole query, in one round trip."""
    statement = linea_statement(space, asked, by_vector=by_vector, by_words=by_words)
    rows = statements.rows(*statement)
    return [Found(row.id, row.item, row.cosine, row.matched) for row in rows]


def linea_statement(
    space: WorkspaceIndex, asked: Asked, *, by_vector: bool = True, by_words: bool = True
) -> tuple[str, dict[str, Any]]:
    """The text that is prepared, and its values."""
    values = parameters(space, asked)
    trigrams = lexical.ilike_keys(space.number, asked.layer, asked.query)
    values |= {"trigrams": trigrams, "pattern": lexical.ilike_pattern(asked.query)}
    shape = shape_of(space, asked, by_vector=by_vector)
    return linea_text(shape, by_words, bool(trigrams)), values


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
v as materialized ({nearest}),
near as (
  select entry_id, min(d) as d from v group by entry_id order by 2, 1 limit {top}),
asked as materialized (
  select t.key, t.number, c.share
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) t(key, number)
  left join memories_commonterm c on c.key = t.key),
chosen as (
  select key, number from (
    select key, number, row_number() over rarest as place,
           sum(coalesce(share, 0)) over rarest * (select n from stats) as postings
    from asked window rarest as (order by coalesce(share, 0), number)) r
  where place = 1 or postings <= {enough}),
pairs as materialized (
  select c.number, y.id, y.weights from chosen c
  cross join lateral (
    select x.id, x.weights {keyed} and x.terms @> array[c.key] limit {most}) y),
df as materialized (
  select a.number, greatest(p.df, a.share * (select n from stats)) as df
  from asked a left join (select number, count(*) as df from pairs group by number) p
    on p.number = a.number
  where p.df > 0 or a.share > 0 order by 2, 1 limit {terms}),
idf as materialized (
  select ('{{' || string_agg(number || ':' || ln(1 + (greatest((select n from stats), df)
            - df + 0.5) / (df + 0.5))::float4, ',' order by number)
          || '}}/1000000000')::sparsevec as q from df),
said as (
  select id from pairs where number in (select number from df)
  group by id order by max(-(weights <#> (select q from idf))) desc, id limit {top}),
newest as ({newest}),
pool as (select entry_id as id from near union select id from said union select id from newest)
select e.id, e.layer, coalesce(-near.d, other.best) as cosine,
       coalesce(-(e.weights <#> (select q from idf)), 0) as bm25,
       uuid_hash_extended(e.conversation, 0) as conversation, e.position,
       extract(epoch from e.occurred_at)::float8 as at,
       case when e.layer = {episodes} then e.role = 'assistant' end as assistant,
       e.author, e.length, e.marks, uuid_send(e.item) as item
from pool join memories_entry e on e.id = pool.id
left join near on near.entry_id = pool.id
left join lateral ({cosine}) other on true
order by e.id
"""
COUNTED = "(select count(*) {entries})"
# More vectors than entries, because an entry may have its passages among them.
NEAREST = "select entry_id, d from ({vectors}) x order by d limit 2 * {top}"
COSINE = """
  select -min(x.embedding <#> %(vector)s::halfvec) as best from memories_vector x
  where near.entry_id is null and x.entry_id = pool.id
    and x.embedding_model_id = %(model)s"""
NO_COSINE = "select null::float8 as best"
# The next turn of a conversation is about what was said last, whatever its words are.
NEWEST = "select x.id {entries} order by x.id desc limit 40"
POOL_TOP = 120
# Of a long query the rarest words say what it is about; the others cost much and add nothing.
RAREST = 16
# Words are looked up from the rarest on until their entries come to so many. What has none of
# these is found by meaning or hardly speaks of it; of what is found, every word counts.
ENOUGH, MOST = 1000, 5000


@lru_cache(maxsize=256)
def pool_text(shape: Shape, top: int = POOL_TOP) -> str:
    return POOL.format(
        prelude=shape.prelude,
        count="%(n)s::int8" if shape.is_all else COUNTED.format(entries=shape.entries()),
        nearest=NEAREST.format(vectors=shape.vectors(), top=top),
        keyed=shape.entries(by_key=True),
        newest=NEWEST.format(entries=shape.entries()),
        cosine=COSINE if shape.has_vector else NO_COSINE,
        episodes=int(Layer.EPISODES),
        top=top,
        terms=RAREST,
        enough=ENOUGH,
        most=MOST,
    )


def pool(
    space: WorkspaceIndex, asked: Asked, stems: list[str], *, top: int = POOL_TOP
) -> list[Candidate]:
    """The nearest, the best by BM25 and the newest, in one round trip, by entry."""
    return statements.rows_as(Candidate._make, *pool_statement(space, asked, stems, top=top))


def pool_statement(
    space: WorkspaceIndex, asked: Asked, stems: list[str], *, top: int = POOL_TOP
) -> tuple[str, dict[str, Any]]:
    """The text that is prepared, and its values."""
    keys = lexical.term_keys(space.number, asked.layer, stems)
    values = parameters(space, asked) | {
        "keys": keys,
        "numbers": lexical.numbers_of(keys),
        "n": space.live(asked.layer),
    }
    return pool_text(shape_of(space, asked), top), values
