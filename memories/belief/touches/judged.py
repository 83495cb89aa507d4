"""Verdicts of the small judge on what later messages change, off the path of any request: gather, ask, apply.

A message is compared with what is believed of its subject, and with earlier sentences in which nothing was read; a
touch that a rule left open waits for an answer. Later words never end a belief here: what the judge holds for replaced
or ended is questioned, with its probability.
"""

import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from memories.belief.touches.touch_rows import NewTouch
from memories.index import prepared_sql
from memories.judge.judge import MANY, Effect, JudgedPair, Thresholds, TrainedJudge
from memories.judge.pieces import SHORT, pieces_of
from memories.language.english.touch_rules import TouchPair, of_whom_it_is, places_of, verdict_of
from memories.models import LIVE_SQL, SAMPLED, Episode, Layer, MemorySession, Touch, WorkspaceIndex
from memories.models.conversation import BELIEVED_AT, JUDGE_ATTEMPTS, WITHOUT_JUDGE
from memories.reading.guard.masked_text import is_masked

TOUCHES = 64  # that are asked about at once
SHORTEST = 12  # characters of a sentence that is kept as it was said; SHORT at most
LONGEST = 4_000  # characters of a message that are looked at
REACH = 500  # newest memories of a subject among which the nearest are looked for
NEWEST = 8  # of them, with which a message is compared
NEAREST = MANY - NEWEST  # and those that mean most nearly the same
EARLIER = 6  # earlier messages, those that mean most nearly the same, of which sentences are compared
SENTENCES = 12  # of them, of which nothing was read
SAME_TALK = timedelta(hours=1)  # the message before is read with one that comes so soon after it
HEARD = 0.5  # share of the threshold that is enough where a rule has heard a change
SLIGHT = 0.4  # below that probability a touch is kept only if the judge finds that it says something

Relation = Touch.Relation
OPEN = [str(state) for state in (MemorySession.State.RECEIVED, MemorySession.State.EXTRACTING)]
Sentence = tuple[uuid.UUID, tuple[int, int]]  # of a message, from where to where
# Over `m` and `e`: the words the belief was last said in, and the message before. What the judge kept says no
# more than they do.
BELIEF = "case when said.method = 'judge' then '' else m.content end"
BEFORE = f"""left join lateral (
  select right(b.content, {SHORT}) as content from memories_episode b
  where b.conversation_id = e.conversation_id and b.position < e.position
    and b.occurred_at > e.occurred_at - interval '{SAME_TALK.seconds} seconds'
  order by b.position desc limit 1) before on true"""
AROUND = f"""
left join lateral (
  select c.quote, f.method, {BELIEVED_AT.replace("e.", "s.")} as at, c.episode_id
  from memories_fact f join memories_citation c on c.fact_id = f.id join memories_episode s on s.id = c.episode_id
  where f.memory_id = m.id order by at desc, c.episode_id desc limit 1) said on true
{BEFORE}
"""
OPEN_TOUCHES = f"""
select t.id, t.relation, t.probability, {BELIEF} as belief, coalesce(said.quote, '') as said,
       coalesce(before.content, '') as before,
       case when length(e.content) <= {SHORT} then e.content
            else substr(e.content, t.start + 1, t."end" - t.start) end as message
from memories_touch t join memories_memory m on m.id = t.memory_id join memories_episode e on e.id = t.episode_id
{AROUND}
where t.id = any(%(ids)s::int8[])
"""
# What is believed of a message's subject where it was said: ONCE, what no rule has found it to touch; or AGAIN,
# whatever was decided of it since, unless a person did.
MET = f"""
with own as (
  select e.id as episode, o.*
  from memories_episode e cross join lateral (
    select n.id as entry, n.item, row_number() over (order by coalesce(n.event_at, n.occurred_at) desc) as place
    from memories_entry n
    where n.workspace = %(number)s and n.layer = {int(Layer.MEMORIES)} and n.live and {{subject}}
    order by coalesce(n.event_at, n.occurred_at) desc limit {REACH}) o
  where e.id = any(%(ids)s::uuid[])),
ranked as (
  select own.episode, own.item, own.place,
         row_number() over (partition by own.episode order by v.embedding <=> q.embedding) as nearness
  from own
  left join memories_entry w on w.layer = {int(Layer.EPISODES)} and w.item = own.episode
  left join memories_vector q on q.entry_id = w.id and q.part = 0 and q.embedding_model_id = %(model)s
  left join memories_vector v on v.entry_id = own.entry and v.part = 0 and v.embedding_model_id = %(model)s),
met as (select episode, item from ranked where place <= {NEWEST} or nearness <= {NEAREST}{{touched}})
select e.id as episode, left(e.content, {LONGEST}) as content, {BELIEVED_AT} as said_at,
       coalesce(nullif(e.author, ''), p.name, '') as speaker, coalesce(before.content, '') as before,
       m.id as memory, {BELIEF} as belief, coalesce(said.quote, '') as said
from met join memories_episode e on e.id = met.episode join memories_memory m on m.id = met.item
left join workspaces_subject p on p.id = e.subject_id
{AROUND}
where e.id = any(%(ids)s::uuid[]) and m.workspace_id = e.workspace_id and {{live}} and m.scope = e.scope
  and (m.scope <> 'thread' or m.conversation_id = e.conversation_id)
  and (m.scope <> 'workflow' or m.workflow = e.workflow)
  and (m.visibility = 'global' or m.agent_id is not distinct from e.agent_id
       or (m.visibility = 'team' and coalesce((select a.team from workspaces_agent a where a.id = m.agent_id), '')
           = coalesce((select a.team from workspaces_agent a where a.id = e.agent_id), '')))
  and ({BELIEVED_AT}, e.id) > (coalesce(said.at, m.created_at), coalesce(said.episode_id, e.id))
  and not exists (select 1 from memories_touch t where t.memory_id = m.id and t.episode_id = e.id{{decided}})
order by e.id, m.id
"""
ONCE = {"touched": "", "live": LIVE_SQL, "decided": ""}
AGAIN = {
    "touched": """
  union select t.episode_id, t.memory_id from memories_touch t where t.episode_id = any(%(ids)s::uuid[])""",
    "live": f"""({LIVE_SQL} or exists (
    select 1 from memories_supersession r
    where r.old_id = m.id and r.method = 'judge' and r.created_at > e.created_at))""",
    "decided": " and t.by = 'person'",
}
# What the same person said before, near in meaning, to the same agent in the same place, and was learned from; with
# what was read of it.
SAID_BEFORE = f"""
with own as (
  select e.id as episode, {BELIEVED_AT} as said_at, e.author, e.agent_id, e.scope, e.conversation_id, e.workflow, o.*
  from memories_episode e cross join lateral (
    select n.id as entry, n.item
    from memories_entry n
    where n.workspace = %(number)s and n.layer = {int(Layer.EPISODES)} and n.live and {{subject}}
      and coalesce(n.event_at, n.occurred_at) <= e.occurred_at
    order by coalesce(n.event_at, n.occurred_at) desc limit {REACH}) o
  where e.id = any(%(ids)s::uuid[])),
ranked as (
  select own.episode, own.said_at, e.id as earlier,
         row_number() over (partition by own.episode order by v.embedding <=> q.embedding) as nearness
  from own join memories_episode e on e.id = own.item join memories_memorysession s on s.id = e.session_id
  join memories_entry w on w.layer = {int(Layer.EPISODES)} and w.item = own.episode
  join memories_vector q on q.entry_id = w.id and q.part = 0 and q.embedding_model_id = %(model)s
  join memories_vector v on v.entry_id = own.entry and v.part = 0 and v.embedding_model_id = %(model)s
  where e.kind = '{Episode.Kind.USER}' and (own.said_at, own.episode) > ({BELIEVED_AT}, e.id)
    and s.state <> all(%(open)s::text[]) and s.extract = any(%(read)s::text[])
    and s.pathway <> '{MemorySession.Pathway.DOCUMENT}'
    and e.author = own.author and e.agent_id is not distinct from own.agent_id and e.scope = own.scope
    and (e.scope <> 'thread' or e.conversation_id = own.conversation_id)
    and (e.scope <> 'workflow' or e.workflow = own.workflow))
select e.id as episode, left(e.content, {LONGEST}) as content, r.said_at,
       coalesce(nullif(e.author, ''), p.name, '') as speaker, coalesce(before.content, '') as before,
       r.earlier, left(earlier.content, {LONGEST}) as earlier_content,
       array(select c.start from memories_citation c where c.episode_id = r.earlier order by c.id) as read_from,
       array(select c."end" from memories_citation c where c.episode_id = r.earlier order by c.id) as read_to
from ranked r join memories_episode e on e.id = r.episode join memories_episode earlier on earlier.id = r.earlier
left join workspaces_subject p on p.id = e.subject_id
{BEFORE}
where r.nearness <= {EARLIER}
order by e.id, r.nearness
"""
OWN, NOBODYS = "n.subject = e.subject_id", "n.subject is null"


def open_touches() -> QuerySet[Touch]:
    """Return the touches that wait for the judge."""
    return Touch.objects.filter(decided_at=None, attempts__lt=JUDGE_ATTEMPTS).exclude(WITHOUT_JUDGE)


def pairs_of(ids: Sequence[int]) -> list[tuple[Any, JudgedPair]]:
    """Return touches with what the judge reads of each."""
    rows = prepared_sql.rows(OPEN_TOUCHES, {"ids": list(ids)})
    return [(row, JudgedPair(row.belief, row.said, row.before, row.message)) for row in rows]


def decide_open(space: WorkspaceIndex, judge: TrainedJudge, thresholds: Thresholds, *, is_drawn: bool = False) -> int:
    """Decide some touches that rules left open; return how many, 0 where there are none or the judge fails. With
    `is_drawn`, a person is asked about some of them at random."""
    open_ones = open_touches().filter(workspace_id=space.workspace_id)
    ids = list(open_ones.order_by("pk").values_list("pk", flat=True)[:TOUCHES])
    # Counted first: a pair that kills its worker is given up at last.
    if not Touch.objects.filter(pk__in=ids).update(attempts=F("attempts") + 1):
        return 0
    pairs = pairs_of(ids)
    answers = judge.changes([pair for _, pair in pairs])
    if answers is None:
        return 0
    decided = [
        (row, _relation(row, answer, thresholds.ask), random.random() if is_drawn else None)
        for (row, _), answer in zip(pairs, answers, strict=True)
    ]
    _write(decided, str(judge.name))
    return len(pairs)


def _relation(row: Touch, change: Effect, ask: float) -> tuple[str, float]:
    if change.over >= (ask * HEARD if row.relation == Relation.UNSURE else ask):
        return (change.change if change.over >= 0.5 else Relation.UNSURE), change.over
    if row.relation == Relation.EXCEPTION or change.exception >= 0.5:
        return Relation.EXCEPTION, max(change.exception, row.probability)
    if change.restates >= 0.5:
        return Relation.RESTATES, change.restates
    return Relation.ADDS, change.compatible


@transaction.atomic(durable=True)
def _write(decided: Sequence[tuple[Touch, tuple[str, float], float | None]], model: str) -> None:
    """Write what was decided, unless a person or the resolver was faster; what turned out to say nothing
    goes, unless a person is to be asked about it."""
    open_ones = Touch.objects.filter(decided_at=None)
    now = timezone.now()
    nothing = [
        row.id
        for row, (relation, _), draw in decided
        if relation == Relation.ADDS
        and row.relation == Relation.ADDS
        and row.probability < SLIGHT
        and (draw is None or draw >= SAMPLED)
    ]
    open_ones.filter(pk__in=nothing).delete()
    for row, (relation, probability), draw in decided:
        values = {"relation": relation, "probability": min(probability, 1.0), "by": Touch.By.JUDGE, "model": model}
        open_ones.filter(~Q(by=Touch.By.PERSON), pk=row.id).update(**values, draw=draw, decided_at=now)


class EarlierWords(NamedTuple):
    """A sentence of an earlier message, in which nothing was read."""

    episode: uuid.UUID
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HeardChange:
    """A change that a message tells, from `start` to `end`; `ended` is a memory, or earlier words."""

    ended: uuid.UUID | EarlierWords
    episode: uuid.UUID
    start: int
    end: int
    said_at: datetime
    effect: Effect
    model: str

    def touch(self, memory_id: uuid.UUID) -> NewTouch:
        """Return the touch of the memory, or of the one that was made of earlier words."""
        return NewTouch(
            memory_id,
            self.episode,
            self.start,
            self.end,
            self.said_at,
            self.effect.change,
            min(self.effect.over, 1.0),
            by=Touch.By.JUDGE,
            model=self.model,
            is_sure=True,
        )


@dataclass(frozen=True, slots=True)
class _ComparedPiece:
    """From `start` to `end` of its content a message beside a memory or earlier words."""

    episode: uuid.UUID
    beside: uuid.UUID | EarlierWords
    said_at: datetime
    start: int
    end: int
    pair: JudgedPair
    heard: str = ""  # what a rule has heard in it

    @property
    def kind(self) -> tuple[uuid.UUID, bool]:
        """The message, and whether it stands beside earlier words."""
        return self.episode, isinstance(self.beside, EarlierWords)


def compare(
    space: WorkspaceIndex,
    messages: Sequence[Episode],
    judge: TrainedJudge,
    thresholds: Thresholds,
    not_meant: Collection[Sentence] = (),
) -> list[HeardChange] | None:
    """Return what each message most likely ends, by sentences other than those `not_meant`: of what shares no word
    with it one belief at most, and one earlier sentence. None where the judge fails."""
    pieces = list(_compared(space, messages, not_meant))
    answers = judge.changes([piece.pair for piece in pieces])
    if answers is None:
        return None
    beside: defaultdict[tuple[uuid.UUID, bool], set[uuid.UUID | EarlierWords]] = defaultdict(set)
    for piece in pieces:
        beside[piece.kind].add(piece.beside)
    found: dict[tuple[uuid.UUID, bool], HeardChange] = {}
    for piece, answer in zip(pieces, answers, strict=True):
        known, least = found.get(piece.kind), thresholds.far_among(len(beside[piece.kind]))
        if answer.over >= least and (known is None or known.effect.over < answer.over):
            found[piece.kind] = HeardChange(
                piece.beside, piece.episode, piece.start, piece.end, piece.said_at, answer, str(judge.name)
            )
    return list(found.values())


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """The probability that a message says, from `start` to `end`, that a memory or earlier words hold no longer.

    They were `among` so many of their kind that it was compared with; or a rule has `heard` it to speak of the memory.
    """

    episode: uuid.UUID
    beside: uuid.UUID | EarlierWords
    start: int
    end: int
    over: float
    among: int
    heard: str


def score(space: WorkspaceIndex, messages: Sequence[Episode], judge: TrainedJudge) -> list[ScoredPair] | None:
    """Return how likely messages end what is believed, whatever was decided of it since: for rehearsals. None where the
    judge fails."""
    pieces = list(_compared(space, messages, again=True))
    answers = judge.changes([piece.pair for piece in pieces])
    if answers is None:
        return None
    beside = Counter(kind for kind, _ in {(piece.kind, piece.beside) for piece in pieces if not piece.heard})
    return [
        ScoredPair(piece.episode, piece.beside, piece.start, piece.end, answer.over, beside[piece.kind], piece.heard)
        for piece, answer in zip(pieces, answers, strict=True)
    ]


def _compared(
    space: WorkspaceIndex, messages: Sequence[Episode], not_meant: Collection[Sentence] = (), *, again: bool = False
) -> Iterator[_ComparedPiece]:
    """Yield the pieces of messages, each beside a memory or earlier words."""
    for is_nobodys in (False, True):
        ids = [message.pk for message in messages if (message.subject_id is None) is is_nobodys]
        if not ids:
            continue
        values: dict[str, object] = {"ids": ids, "number": space.number, "model": space.embedding_model_id}
        subject = NOBODYS if is_nobodys else OWN
        for row in prepared_sql.rows(MET.format(subject=subject, **(AGAIN if again else ONCE)), values):
            rule = verdict_of(_pair(row, row.belief, row.said)) if again else None
            if rule is None or rule.is_slight:
                yield from _pieces(row, row.memory, row.belief, row.said, not_meant)
            elif not rule.is_sure:
                said = row.content if len(row.content) <= SHORT else row.content[rule.start : rule.end]
                pair = JudgedPair(row.belief, row.said, row.before, said)
                yield _ComparedPiece(row.episode, row.memory, row.said_at, rule.start, rule.end, pair, rule.relation)
        values |= {"open": OPEN, "read": [str(extract) for extract in MemorySession.BY_RULES]}
        earlier: Counter[uuid.UUID] = Counter()
        for row in prepared_sql.rows(SAID_BEFORE.format(subject=subject), values):
            unread = unread_places(row.earlier_content, [*zip(row.read_from, row.read_to, strict=True)])
            for place in unread[: SENTENCES - earlier[row.episode]]:
                earlier[row.episode] += 1
                words = EarlierWords(row.earlier, *place)
                said = row.earlier_content[words.start : words.end]
                yield from _pieces(row, words, "", said, not_meant)


def _pair(row: Any, belief: str, said: str) -> TouchPair:
    return TouchPair(belief or said, row.content, row.said_at, row.speaker)


def _pieces(
    row: Any, beside: uuid.UUID | EarlierWords, belief: str, said: str, not_meant: Collection[Sentence]
) -> Iterator[_ComparedPiece]:
    """Yield the pieces of a message that may change a belief: what asks nothing, and is of whom it is about."""
    places = [place for place in of_whom_it_is(_pair(row, belief, said)) if (row.episode, place) not in not_meant]
    for start, end in pieces_of(row.content, places):
        pair = JudgedPair(belief, said, row.before, row.content[start:end])
        yield _ComparedPiece(row.episode, beside, row.said_at, start, end, pair)


def unread_places(text: str, read: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places of the sentences that may be kept as they were said: neither too short nor too long, nothing
    in them is masked, and nothing was read in them, be it believed, refused or forgotten since. What is further behind
    than LONGEST is not looked at."""
    return [
        (start, end)
        for start, end in places_of(text)
        if SHORTEST <= end - start <= SHORT
        and end < LONGEST
        and not is_masked(text[start:end])
        and not any(start < one_end and one < end for one, one_end in read)
    ]
