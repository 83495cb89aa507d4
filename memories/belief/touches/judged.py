"""Verdicts of the small judge on what later messages change, off the path of any request: gather, ask, apply.

A message is compared with what is believed of its subject; a touch that a rule left open waits for an answer. The
judge never ends a belief: what it holds for replaced or ended is questioned, with its probability.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from memories.belief.touches.touch_rows import NewTouch
from memories.index import prepared_sql
from memories.judge.judge import MANY, Effect, JudgedPair, Thresholds, TrainedJudge
from memories.language.english.touch_rules import TouchPair, names_others, places_of
from memories.models import LIVE_SQL, Episode, Layer, Touch, WorkspaceIndex
from memories.models.conversation import BELIEVED_AT, JUDGE_ATTEMPTS, WITHOUT_JUDGE

TOUCHES = 64  # that are asked about at once
SHORT = 240  # characters that the judge reads at once: of a longer message its sentences, in pieces
PIECES = 4  # of a message, at most
GAP = 3  # characters between two sentences that are read together
LONGEST = 4_000  # characters of a message that are looked at
REACH = 500  # newest memories of a subject among which the nearest are looked for
NEWEST = 8  # of them, with which a message is compared
NEAREST = MANY - NEWEST  # and those that mean most nearly the same
HEARD = 0.5  # share of the threshold that is enough where a rule has heard a change
SLIGHT = 0.4  # below that probability a touch is kept only if the judge finds that it says something

Relation = Touch.Relation
# Over `m` and `e`: the words the belief was last said in, and the message before. What the judge kept says no
# more than they do.
BELIEF = "case when said.method = 'judge' then '' else m.content end"
AROUND = f"""
left join lateral (
  select c.quote, f.method, {BELIEVED_AT.replace("e.", "s.")} as at, c.episode_id
  from memories_fact f join memories_citation c on c.fact_id = f.id join memories_episode s on s.id = c.episode_id
  where f.memory_id = m.id order by at desc, c.episode_id desc limit 1) said on true
left join lateral (
  select right(b.content, {SHORT}) as content from memories_episode b
  where b.conversation_id = e.conversation_id and b.position < e.position
  order by b.position desc limit 1) before on true
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
# What is believed of a message's subject where it was said, and that no rule has found it to touch.
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
met as (select episode, item from ranked where place <= {NEWEST} or nearness <= {NEAREST})
select e.id as episode, left(e.content, {LONGEST}) as content, {BELIEVED_AT} as said_at,
       coalesce(nullif(e.author, ''), p.name, '') as speaker, coalesce(before.content, '') as before,
       m.id as memory, {BELIEF} as belief, coalesce(said.quote, '') as said
from met join memories_episode e on e.id = met.episode join memories_memory m on m.id = met.item
left join workspaces_subject p on p.id = e.subject_id
{AROUND}
where e.id = any(%(ids)s::uuid[]) and m.workspace_id = e.workspace_id and {LIVE_SQL} and m.scope = e.scope
  and (m.scope <> 'thread' or m.conversation_id = e.conversation_id)
  and (m.scope <> 'workflow' or m.workflow = e.workflow)
  and (m.visibility = 'global' or m.agent_id is not distinct from e.agent_id
       or (m.visibility = 'team' and coalesce((select a.team from workspaces_agent a where a.id = m.agent_id), '')
           = coalesce((select a.team from workspaces_agent a where a.id = e.agent_id), '')))
  and ({BELIEVED_AT}, e.id) > (coalesce(said.at, m.created_at), coalesce(said.episode_id, e.id))
  and not exists (select 1 from memories_touch t where t.memory_id = m.id and t.episode_id = e.id)
order by e.id, m.id
"""
OWN, NOBODYS = "n.subject = e.subject_id", "n.subject is null"


def open_touches() -> QuerySet[Touch]:
    """Return the touches that wait for the judge."""
    return Touch.objects.filter(decided_at=None, attempts__lt=JUDGE_ATTEMPTS).exclude(WITHOUT_JUDGE)


def decide_open(space: WorkspaceIndex, judge: TrainedJudge, thresholds: Thresholds) -> int:
    """Decide some touches that rules left open; return how many, 0 where there are none or the judge fails."""
    open_ones = open_touches().filter(workspace_id=space.workspace_id)
    ids = list(open_ones.order_by("pk").values_list("pk", flat=True)[:TOUCHES])
    # Counted first: a pair that kills its worker is given up at last.
    if not Touch.objects.filter(pk__in=ids).update(attempts=F("attempts") + 1):
        return 0
    rows = prepared_sql.rows(OPEN_TOUCHES, {"ids": ids})
    answers = judge.changes([JudgedPair(row.belief, row.said, row.before, row.message) for row in rows])
    if answers is None:
        return 0
    ask = thresholds.ask
    _write([(row, _relation(row, answer, ask)) for row, answer in zip(rows, answers, strict=True)], str(judge.name))
    return len(rows)


def _relation(row: Touch, change: Effect, ask: float) -> tuple[str, float]:
    if change.over >= (ask * HEARD if row.relation == Relation.UNSURE else ask):
        return (change.change if change.over >= 0.5 else Relation.UNSURE), change.over
    if row.relation == Relation.EXCEPTION or change.exception >= 0.5:
        return Relation.EXCEPTION, max(change.exception, row.probability)
    if change.restates >= 0.5:
        return Relation.RESTATES, change.restates
    return Relation.ADDS, change.compatible


@transaction.atomic(durable=True)
def _write(decided: Sequence[tuple[Touch, tuple[str, float]]], model: str) -> None:
    """Write what was decided, unless a person or the resolver was faster; what turned out to say nothing
    goes."""
    open_ones = Touch.objects.filter(decided_at=None)
    now = timezone.now()
    nothing = [
        row.id
        for row, (relation, _) in decided
        if relation == Relation.ADDS and row.relation == Relation.ADDS and row.probability < SLIGHT
    ]
    open_ones.filter(pk__in=nothing).delete()
    for row, (relation, probability) in decided:
        values = {"relation": relation, "probability": min(probability, 1.0), "by": Touch.By.JUDGE, "model": model}
        open_ones.filter(~Q(by=Touch.By.PERSON), pk=row.id).update(**values, decided_at=now)


@dataclass(frozen=True, slots=True)
class _ComparedPiece:
    """From `start` to `end` of its content a message beside a memory."""

    episode: uuid.UUID
    memory: uuid.UUID
    said_at: datetime
    start: int
    end: int
    pair: JudgedPair


def compare(
    space: WorkspaceIndex, messages: Sequence[Episode], judge: TrainedJudge, thresholds: Thresholds
) -> list[NewTouch] | None:
    """Return what messages most likely end of what is believed of their subjects, one touch each at most: of
    what shares no word with it a message ends one thing. None where the judge fails."""
    pieces: list[_ComparedPiece] = []
    for is_nobodys in (False, True):
        ids = [message.pk for message in messages if (message.subject_id is None) is is_nobodys]
        text = MET.format(subject=NOBODYS if is_nobodys else OWN)
        values = {"ids": ids, "number": space.number, "model": space.embedding_model_id}
        for row in prepared_sql.rows(text, values) if ids else ():
            pieces += _pieces(row)
    answers = judge.changes([piece.pair for piece in pieces])
    if answers is None:
        return None
    beliefs: defaultdict[uuid.UUID, set[uuid.UUID]] = defaultdict(set)
    for piece in pieces:
        beliefs[piece.episode].add(piece.memory)
    found: dict[uuid.UUID, NewTouch] = {}
    for piece, answer in zip(pieces, answers, strict=True):
        known, least = found.get(piece.episode), thresholds.far_among(len(beliefs[piece.episode]))
        if answer.over >= least and (known is None or known.probability < answer.over):
            found[piece.episode] = NewTouch(
                piece.memory,
                piece.episode,
                piece.start,
                piece.end,
                piece.said_at,
                answer.change,
                min(answer.over, 1.0),
                by=Touch.By.JUDGE,
                model=str(judge.name),
                is_sure=True,
            )
    return list(found.values())


def _pieces(row: Any) -> Iterator[_ComparedPiece]:
    """Yield the pieces of a message that may change a belief: what asks nothing, and is of whom it is about."""
    both = TouchPair(row.belief or row.said, row.content, row.said_at, row.speaker)
    places = [place for place in places_of(row.content) if not names_others(both, place)]
    for start, end in _joined(places):
        pair = JudgedPair(row.belief, row.said, row.before, row.content[start:end])
        yield _ComparedPiece(row.episode, row.memory, row.said_at, start, end, pair)


def _joined(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join sentences that follow each other, as many as are read at once."""
    joined: list[tuple[int, int]] = []
    for start, end in places:
        if joined and start - joined[-1][1] <= GAP and end - joined[-1][0] <= SHORT:
            joined[-1] = (joined[-1][0], end)
        elif len(joined) < PIECES:
            joined.append((start, end))
    return joined
