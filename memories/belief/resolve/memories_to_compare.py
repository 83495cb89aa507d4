"""The live memories that new statements may meet: by text, by vector, by slot, by what they end.

Few queries for a whole batch, whatever its size. Only memories of the same subject, scope,
visibility and writer count, and of those from documents only the ones of the writer's spaces.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from django.utils import timezone
from pgvector import HalfVector

from memories.belief.resolve.claims import Claim
from memories.belief.resolve.decide import NEAREST, Decision, Judge, KnownMemory, Resolver
from memories.index import nearest, prepared_sql
from memories.index.nearest import Pair, Placement, Reach
from memories.language.english import lexical
from memories.language.english.referents import UNKNOWN
from memories.language.english.statements import Reading, is_said_by, negates
from memories.models import LIVE_SQL, Episode, Layer, WorkspaceIndex
from memories.models.memory import OF_OTHER_SPACES
from memoryproject.postgres import visible
from memoryproject.postgres.crossings import MEMORIES_OF_SLOTS
from memoryproject.postgres.prepared import Asked

MOST = 12  # nearest memories that a statement is compared with
REACH = 0.35  # below the threshold: so far away two statements may still be one attribute's
MOST_NEGATED = 24

SEEN = """
  and (m.visibility = 'global'
       or (m.visibility = 'team' and (m.agent_id = any(%(team)s::uuid[])
                                      or (m.agent_id is null and %(default_team)s)))
       or (m.visibility = 'private' and m.agent_id is not distinct from %(agent)s::uuid))"""
MINE = f"""
  m.workspace_id = %(workspace)s and m.subject_id is not distinct from %(subject)s::uuid
  and m.scope = %(scope)s
  and (m.scope <> 'thread' or m.conversation_id = %(conversation)s::uuid)
  and (m.scope <> 'workflow' or m.workflow = %(workflow)s)
  and {LIVE_SQL}{SEEN}
"""
# Nothing is believed since later than it came: what was said to be of the future, or came by a
# clock that was wrong, is replaced by what is said now. A plan that has its day stands for nothing
# so far, whenever something else is said.
KNOWN = f"""
with met as (
  select unnest(%(ids)s::uuid[]) as id
  union
  select id from memories_memory
  where workspace_id = %(workspace)s and fingerprint = any(%(fingerprints)s::bytea[]) and is_head
  {{by_slot}})
select m.id, m.content, m.fingerprint, m.visibility as "group", m.pinned, m.version,
       case when m.valid_from is not null
                 and not (m.valid_from > m.created_at and m.valid_from = m.event_date)
            then least(m.valid_from, m.created_at, %(now)s) end as since,
       m.event_date, m.source_count as support, m.slots, m.category,
       m.valid_until as until
from met join memories_memory m on m.id = met.id
where {MINE}{{in_spaces}} order by m.id
"""
IN_SPACES = f" and m.id not in ({OF_OTHER_SPACES})"
SLOTS = [each.name for each in fields(KnownMemory)].index("slots")
BY_SLOT = """union
  select id from memories_memory
  where slots && %(slots)s::int8[] and is_head"""
# Behind the walls, where that text would use no index.
BY_SLOT_ACROSS = f"""union
  select unnest({MEMORIES_OF_SLOTS.name}(%(workspace)s, %(slots)s::int8[]))"""
# Per statement, the newest memories of the subject that hold one of the words it negates.
NEGATED = """
select distinct n.i, e.item
from (select i, array_agg(term) as terms
      from unnest(%(at)s::int4[], %(terms)s::int8[]) asked(i, term) group by i) n
cross join lateral (
  select e.item from memories_entry e
  where e.live and e.terms && n.terms and e.subject is not distinct from %(subject)s::uuid
  order by e.id desc limit %(most)s) e
"""
COSINES = """
select e.item, -(x.embedding <#> %(vector)s::halfvec) as similarity
from memories_entry e join memories_vector x on x.entry_id = e.id
where e.layer = %(layer)s and e.item = any(%(items)s::uuid[])
  and x.embedding_model_id = %(model)s and x.part = 0
"""


BYSTANDER = "bystander"
# A message without an author's name is its subject's, but for the assistant's.
SPEAKERS = """
select distinct f.memory_id as id, coalesce(nullif(e.author, ''),
  case when e.kind = %(assistant)s then 'Assistant'
       else coalesce(nullif(s.name, ''), %(nobody)s) end) as speaker
from memories_fact f
join memories_citation c on c.fact_id = f.id
join memories_episode e on e.id = c.episode_id
left join workspaces_subject s on s.id = e.subject_id
where f.memory_id = any(%(ids)s::uuid[])
"""
DOCUMENT = "document"
# Of these memories those that a person's words carry, or that a person decided for.
OF_PEOPLE = """
select m.id from unnest(%(ids)s::uuid[]) m (id)
where exists (
    select 1 from memories_fact f where f.memory_id = m.id and f.withdrawn_at is null
      and not exists (select 1 from memories_citation c
                      where c.fact_id = f.id and c.revision_id is not null))
  or not exists (select 1 from memories_fact f where f.memory_id = m.id)
  or exists (select 1 from memories_supersession s
             where s.new_id = m.id and s.state = 'applied' and s.decided_by not like 'session:%%')
"""


def known(
    placement: Placement,
    claims: Sequence[Claim],
    keys: Iterable[int],
    pairs: Iterable[Pair],
) -> list[KnownMemory]:
    """Return the live memories of these texts, slot keys and pairs that the claims may meet."""
    wanted = sorted(set(keys))
    values = mine(placement) | {
        "now": timezone.now(),
        "fingerprints": list({lexical.fingerprint(claim.statement) for claim in claims}),
        "ids": list({pair.memory_id for pair in pairs}),
    }
    # Without a key the statement must not ask the index for keys: see `statements`.
    by_slot = ""
    if wanted:
        values["slots"] = wanted
        by_slot = BY_SLOT_ACROSS if visible.setting() else BY_SLOT
    memories = []
    # Its columns are in the order of the fields.
    text = KNOWN.replace(SEEN, "") if placement.meets_all else KNOWN
    in_spaces = ""
    if placement.spaces is not None:
        values |= {"tenant": placement.workspace_id, "spaces": list(placement.spaces)}
        in_spaces = IN_SPACES
    for row in prepared_sql.rows(text.format(by_slot=by_slot, in_spaces=in_spaces), values):
        own = list(row)
        own[SLOTS] = frozenset(row.slots)
        memories.append(KnownMemory(*own))
    return memories


def near(
    space: WorkspaceIndex,
    placement: Placement,
    whole: Sequence[np.ndarray | None],
    claims: Sequence[Claim],
    judge: Judge,
) -> tuple[list[Asked], Callable[[list[Any]], list[Pair]]]:
    """Return the queries to run behind the lock, and a function that reads their answers: pairs of
    a statement and a live memory whose embeddings are near enough to compare."""
    reach = Reach(floor(judge), MOST)
    told = (space, placement, whole, [c.visibility for c in claims], reach)
    if asked := nearest.asked_of_few(*told):
        return asked, nearest.pairs_of
    return [], lambda _: nearest.nearest(*told)


def floor(judge: Judge) -> float:
    """Return the cosine from which on two statements are compared."""
    return judge.threshold if judge.rule == NEAREST else judge.threshold - REACH


def negated(readings: Sequence[Reading], judge: Judge) -> dict[int, Sequence[str]]:
    """Return words of what each statement may deny, end or replace, however far its vector is."""
    words = {i: negates(reading, judge.words) for i, reading in enumerate(readings)}
    return {} if judge.rule == NEAREST else {i: each for i, each in words.items() if each}


def holding(space: WorkspaceIndex, placement: Placement, words: Mapping[int, Sequence[str]]) -> list[Pair]:
    """Return the newest memories that hold one of the words, by the number of the words."""
    at, terms = [], []
    for index, each in words.items():
        for key in lexical.term_keys(space.number, Layer.MEMORIES, lexical.stems(" ".join(each))):
            at.append(index)
            terms.append(key)
    if not at:
        return []
    values = {"at": at, "terms": terms, "subject": placement.subject_id, "most": MOST_NEGATED}
    return [Pair(row.i, row.item, None) for row in prepared_sql.rows(NEGATED, values)]


def mine(placement: Placement) -> dict[str, object]:
    """Return the values of MINE."""
    return {
        "workspace": placement.workspace_id,
        "subject": placement.subject_id,
        "scope": str(placement.scope),
        "conversation": placement.conversation_id,
        "workflow": placement.workflow,
        "team": list(placement.team),
        "default_team": placement.in_default_team,
        "agent": placement.agent_id,
    }


def compared(space: WorkspaceIndex, resolver: Resolver, index: int, decision: Decision) -> Decision:
    """Return the decision with the cosine of each pair of which both vectors are there.

    Deciding did not need it where a slot, a word or a pin led to the memory; the policy and the
    reviewing person do.
    """
    missing = [each.memory.id for each in decision.neighbours if each.similarity is None]
    vector = resolver.vector(index)
    if not missing or vector is None:
        return decision
    cosines = resolver.similarities(index, missing)
    stored = [each for each in missing if each not in cosines]
    if stored and space.embedding_model is not None:
        values = {
            "vector": HalfVector(vector),
            "layer": int(Layer.MEMORIES),
            "items": stored,
            "model": space.embedding_model.pk,
        }
        cosines |= {row.item: row.similarity for row in prepared_sql.rows(COSINES, values)}
    neighbours = tuple(
        replace(each, similarity=cosines.get(each.memory.id)) if each.similarity is None else each
        for each in decision.neighbours
    )
    return replace(decision, neighbours=neighbours)


# Who says it: a person's words about themselves are not replaced by another person's, and no
# person's words by a document.


@dataclass(frozen=True, slots=True)
class Bystanders:
    """Claims of a batch that one person makes about another. `about`: their readings, by claim.
    `speakers`: by memory, the people whose words it was read from."""

    about: dict[int, Reading] = field(default_factory=dict)
    speakers: dict[uuid.UUID, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, claims: Sequence[Claim], readings: Sequence[Reading], known: Iterable[KnownMemory]) -> "Bystanders":
        """Find them with one query, or none where nobody speaks of another known person."""
        about = {
            index: reading
            for index, (claim, reading) in enumerate(zip(claims, readings, strict=True))
            if claim.speaker and reading.person and not is_said_by(reading, claim.speaker)
        }
        persons = {part for reading in about.values() for part in reading.person.split("-")}
        texts = {memory.id: memory.content.lower() for memory in known} if persons else {}
        ids = [each for each, text in texts.items() if any(part in text for part in persons)]
        speakers: dict[uuid.UUID, set[str]] = {}
        if ids:
            values = {"ids": ids, "assistant": str(Episode.Kind.ASSISTANT), "nobody": UNKNOWN}
            for row in prepared_sql.rows(SPEAKERS, values):
                speakers.setdefault(row.id, set()).add(row.speaker)
        return cls(about, speakers)

    def contradicts_own_word(self, index: int, memory_id: uuid.UUID) -> bool:
        """Tell whether claim number `index` is one person's word about another, whose own words the
        memory was read from."""
        reading = self.about.get(index)
        return reading is not None and any(is_said_by(reading, speaker) for speaker in self.speakers.get(memory_id, ()))


def of_people(claims: Sequence[Claim], known: Iterable[KnownMemory]) -> frozenset[uuid.UUID]:
    """Return the known memories that no claim of a document replaces; without a claim of a document
    nothing is looked up."""
    if not any(claim.is_of_document for claim in claims):
        return frozenset()
    values = {"ids": [memory.id for memory in known]}
    return frozenset(row.id for row in prepared_sql.rows(OF_PEOPLE, values))
