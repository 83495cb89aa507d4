"""Cases: statements that wait for a person, gathered by subject and attribute.

All within the caller's transaction. Two callers who open a case about the same at once get one row.
"""

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from memories.belief.resolve.decide import KnownMemory
from memories.index import prepared_sql, row_marks
from memories.language.english import statements as english
from memories.language.english.statements import NO_WORDS, OwnWords
from memories.models import (
    SAMPLED,
    Case,
    CaseItem,
    Fact,
    Ground,
    Intent,
    Memory,
    Supersession,
    Touch,
    WorkspaceIndex,
    held_memories,
    rank_of,
    topic_of,
)
from memories.models.case import AGEING, SERVED_HALF, SERVED_MOST
from workspaces.models import Workspace
from workspaces.models.workspace import uuid7

Kind = Case.Kind
# Of several reasons to ask, a case is listed under the last of these.
KINDS = [Kind.UNCERTAIN, Kind.QUARANTINE, Kind.CONTRADICTION, Kind.HELD, Kind.INTENT]
# Why a fact, what rests on another, what ended under it, or what nothing carries any more, is in a
# case.
QUARANTINED, GROUND, ENDED, UNSAID = "quarantine", "ground", "ended", "unsaid"
QUESTIONED = "questioned"  # something that was said later speaks against it
DRAWN = "drawn"  # drawn at random out of what the judge does not ask about
ASKED = "asked"  # or because a person asks
# How contradictory: of a rule, without the reason of a policy and what follows the colon.
SHARPNESS = {
    "slot": 0.9,
    "denied": 0.9,
    "replaced": 0.8,
    "ended": 0.8,
    "instead": 0.8,
    "number": 0.7,
    "over": 0.8,
    "implied": 0.6,
    "earlier": 0.6,
    "overlap": 0.6,
    "now": 0.6,
    "values": 0.7,
    "opposite": 0.8,
    "turned": 0.6,
    "nearest": 0.5,
    "ground": 0.5,
    "questioned": 0.6,
    "drawn": 0.1,
    "quarantine": 0.4,
    "intent": 0.8,
    "near": 0.3,
    "numbered": 0.3,
    "contained": 0.2,
}
WAITING = 100  # of each kind, which are filed at once
# A person is asked about what was said later where it is likely that it says so, and not too often.
LIKELY, OF_MESSAGES = 0.7, 0.03
DRAWN_OF_MESSAGES = 0.01

OPEN = f"""
insert into memories_case (
  id, created_at, updated_at, workspace_id, subject_id, attribute, topic, kind, state, risk, rank,
  served, version, decided_by, note, steps)
values (
  %(id)s::uuid, %(now)s::timestamptz, %(now)s, %(workspace)s::uuid, %(subject)s::uuid,
  %(attribute)s::text, %(topic)s::uuid, %(kind)s::text, 'open', %(risk)s::float8, %(rank)s::float8,
  0, 1, '', '', '[]')
on conflict (workspace_id, subject_id, attribute, topic) where state in ('open', 'snoozed')
do update set
  version = memories_case.version + 1, updated_at = excluded.updated_at,
  kind = case when array_position(%(kinds)s::text[], excluded.kind::text)
                 > array_position(%(kinds)s::text[], memories_case.kind::text)
              then excluded.kind else memories_case.kind end,
  risk = greatest(memories_case.risk, excluded.risk),
  rank = greatest(memories_case.rank,
    excluded.risk - extract(epoch from memories_case.created_at)::float8 / {AGEING}
      + {SERVED_MOST} * memories_case.served / (memories_case.served + {SERVED_HALF}.0))
returning id
"""


@dataclass(frozen=True, slots=True)
class CaseAbout:
    """The matter of a case. `attribute` is a slot's name or a category; `topic` tells two cases of
    one attribute apart, as `topic_of` makes it, or is the id of a row."""

    workspace_id: uuid.UUID
    subject_id: uuid.UUID | None
    attribute: str
    topic: uuid.UUID


@dataclass(frozen=True, slots=True)
class NewItem:
    """Exactly one of the three ids; `at` is when it was said, `why` the rule that brings it in."""

    at: datetime
    why: str = ""
    memory_id: uuid.UUID | None = None
    fact_id: uuid.UUID | None = None
    intent_id: uuid.UUID | None = None


def open_case(about: CaseAbout, kind: str, items: Sequence[NewItem], *, risk: float = 0.5) -> uuid.UUID:
    """Make or extend the undecided case about this with these items, and return its id.

    `risk`: 0 to 1. The rows that items name may be written later in the same transaction.
    """
    now = timezone.now()
    values = {
        "id": uuid7(),
        "now": now,
        "workspace": about.workspace_id,
        "subject": about.subject_id,
        "attribute": about.attribute[: Case._meta.get_field("attribute").max_length],
        "topic": about.topic,
        "kind": str(kind),
        "risk": risk,
        "rank": rank_of(risk, now),
        "kinds": [str(each) for each in KINDS],
    }
    case_id: uuid.UUID = prepared_sql.rows(OPEN, values)[0].id
    longest = CaseItem._meta.get_field("why").max_length
    CaseItem.objects.bulk_create(
        (
            CaseItem(
                workspace_id=about.workspace_id,
                case_id=case_id,
                memory_id=each.memory_id,
                fact_id=each.fact_id,
                intent=each.intent_id,
                at=each.at,
                why=each.why[:longest],
            )
            for each in items
        ),
        ignore_conflicts=True,
    )
    return case_id


@dataclass(frozen=True, slots=True)
class WaitingPair:
    """A supersession that a person has to decide, with both of its memories."""

    decision: Supersession
    old: KnownMemory
    new: KnownMemory
    is_held: bool


def file_pairs(subject_id: uuid.UUID | None, pairs: Iterable[WaitingPair], words: OwnWords = NO_WORDS) -> None:
    """Put pairs that wait into cases, and name these in the decisions, which are not saved.
    Memories that rest on one of a pair are decided with it."""
    pairs = list(pairs)
    olds = [pair.old.id for pair in pairs]
    rows = Ground.objects.filter(on__in=olds, kept_at=None, memory__is_head=True)
    by_old: dict[uuid.UUID, list[NewItem]] = {}
    for row in rows.select_related("memory").order_by("pk") if olds else ():
        at = row.memory.valid_from or row.memory.created_at
        by_old.setdefault(row.on_id, []).append(NewItem(at, GROUND, memory_id=row.memory_id))
    for pair in pairs:
        decision, now = pair.decision, timezone.now()
        about = _about(decision.workspace_id, subject_id, pair.old, pair.new, words)
        items = [
            NewItem(each.since or now, decision.rule, memory_id=each.id) for each in (pair.old, pair.new)
        ] + by_old.get(pair.old.id, [])
        kind = Kind.HELD if pair.is_held else Kind.CONTRADICTION
        decision.case_id = open_case(about, kind, items, risk=risk_of(pair))


def risk_of(pair: WaitingPair) -> float:
    """Return the risk from 0 to 1 by which cases are ordered. It is how contradictory the rule says
    that the two are, times 0.5 to 1 for the support of what is served: their sources, and a pin as
    three; less where the new one is held back. Waiting adds to it: 30 days weigh as much as the
    highest risk; and so does each answer that serves one of its memories while it waits
    (`models.case.add_served`). An order that waits is 0.8, a fact in quarantine 0.2.
    """
    supported = pair.old.support + pair.new.support + 3 * pair.old.pinned
    # Both are served while they wait, unless the new one is held back.
    served = (1 - 1 / (1 + supported)) * (0.8 if pair.is_held else 1.0)
    rule = pair.decision.rule.rpartition(": ")[2].partition(":")[0]
    return round(SHARPNESS.get(rule, 0.5) * (0.5 + 0.5 * served), 3)


def _about(
    workspace_id: uuid.UUID,
    subject_id: uuid.UUID | None,
    old: KnownMemory,
    new: KnownMemory,
    words: OwnWords,
) -> CaseAbout:
    """Return the attribute that both tell; else the case that one of them is in; else a case of the
    old memory alone."""
    ours, theirs = (set(english.slot_keys(english.read(m.content, words))) for m in (old, new))
    if shared := sorted(ours & theirs):
        return CaseAbout(workspace_id, subject_id, shared[0].split("|")[1], topic_of(shared[0]))
    about = Q(subject_id=subject_id) if subject_id else Q(subject=None)
    beside = Case.objects.undecided().filter(about, workspace_id=workspace_id, items__memory__in=[old.id, new.id])
    if case := beside.order_by("pk").first():
        return CaseAbout(workspace_id, subject_id, case.attribute, case.topic)
    return CaseAbout(workspace_id, subject_id, old.category or "other", old.id)


def _of_memory(memory: Memory, words: OwnWords) -> CaseAbout:
    """Return the attribute that a memory tells; else a case of it alone."""
    attribute, topic = memory.category or "other", memory.pk
    if keys := english.slot_keys(english.read(memory.content, words)):
        attribute, topic = keys[0].split("|")[1], topic_of(keys[0])
    return CaseAbout(memory.workspace_id, memory.subject_id, attribute, topic)


def file_facts(facts: Iterable[Fact], words: OwnWords = NO_WORDS) -> None:
    """Put facts in quarantine into cases of the attribute that they tell, else one for each."""
    for fact in facts:
        keys = english.slot_keys(english.read(fact.statement, words))
        attribute, topic = fact.category, fact.pk
        if keys:
            attribute, topic = keys[0].split("|")[1], topic_of(keys[0])
        about = CaseAbout(fact.workspace_id, fact.subject_id, attribute, topic)
        at = fact.quarantined_at or timezone.now()
        items = [NewItem(at, QUARANTINED, fact_id=fact.pk)]
        if fact.memory_id is not None:  # written by hand, and held
            items.append(NewItem(at, QUARANTINED, memory_id=fact.memory_id))
        open_case(about, Kind.QUARANTINE, items, risk=SHARPNESS[QUARANTINED] / 2)


def file_uncertain(rows: Iterable[Ground], words: OwnWords = NO_WORDS) -> None:
    """Put memories that rest on ended ones into cases about these; `rows` with both memories."""
    by_ground: dict[uuid.UUID, list[Ground]] = {}
    for row in rows:
        by_ground.setdefault(row.on_id, []).append(row)
    now = timezone.now()
    for resting in by_ground.values():
        on = resting[0].on
        items = [NewItem(row.memory.valid_from or now, GROUND, memory_id=row.memory_id) for row in resting]
        # What a person asked to forget is shown to nobody again.
        if on.forgotten_at is None:
            items.append(NewItem(on.valid_from or on.created_at, ENDED, memory_id=on.pk))
            if on.superseded_by_id:
                at = on.valid_until or on.superseded_at or now
                items.append(NewItem(at, ENDED, memory_id=on.superseded_by_id))
        supported = sum(row.memory.source_count for row in resting)
        risk = round(SHARPNESS[GROUND] * (1 - 0.5 / (1 + supported)), 3)
        open_case(_of_memory(on, words), Kind.UNCERTAIN, items, risk=risk)


def file_unsupported(memories: Iterable[Memory], words: OwnWords = NO_WORDS) -> None:
    """Put memories that no document says any more into cases, to ask whether they still hold."""
    for memory in memories:
        at = memory.valid_from or memory.created_at
        open_case(_of_memory(memory, words), Kind.UNCERTAIN, [NewItem(at, UNSAID, memory_id=memory.pk)])


def file_questioned(memories: Iterable[Memory], words: OwnWords = NO_WORDS, why: str = QUESTIONED) -> None:
    """Put memories that later words speak against into cases, to ask whether they still hold."""
    for memory in memories:
        at = memory.valid_from or memory.created_at
        risk = round(SHARPNESS[why] * (1 - 0.5 / (1 + memory.source_count)), 3)
        open_case(_of_memory(memory, words), Kind.UNCERTAIN, [NewItem(at, why, memory_id=memory.pk)], risk=risk)


def settle(case_ids: Collection[uuid.UUID], actor: str) -> int:
    """Close the undecided ones of these cases in which nothing waits any more; return how many."""
    waiting = CaseItem.objects.filter(case=OuterRef("pk")).filter(
        held_memories("memory__")
        | Q(fact__quarantined_at__isnull=False)
        | Exists(Intent.objects.filter(pk=OuterRef("intent"), state=Intent.State.CASE))
        | Q(Exists(Ground.objects.ended().filter(memory=OuterRef("memory"))), memory__is_head=True)
        | Q(Exists(Memory.objects.unsupported().filter(pk=OuterRef("memory"))))
        | Q(Exists(_likely_doubts().filter(memory=OuterRef("memory"))), memory__is_head=True)
        | Q(Exists(_drawn_touches().filter(memory=OuterRef("memory"))), memory__is_head=True, why=DRAWN)
    )
    pairs = Supersession.objects.filter(case=OuterRef("pk"), state=Supersession.State.PENDING)
    rows = Case.objects.undecided().filter(~Exists(waiting), ~Exists(pairs), pk__in=case_ids)
    now = timezone.now()
    return rows.update(
        state=Case.State.DECIDED,
        decided_by=actor,
        decided_at=now,
        snoozed_until=None,
        version=F("version") + 1,
        updated_at=now,
    )


def follow_subjects(workspace_id: uuid.UUID, subject_ids: Collection[uuid.UUID], actor: str) -> None:
    """Move cases after their memories, which went to another of these subjects or came from none:
    each joins the case that waits there about the same. The workspace's lock is held."""
    about = Q(subject__in=subject_ids) | Q(items__memory__subject__in=subject_ids)
    rows = Case.objects.filter(about, workspace_id=workspace_id).distinct().order_by("pk")
    for case in rows.prefetch_related("items__memory", "items__fact"):
        items = list(case.items.all())
        asked = Intent.objects.in_bulk([item.intent for item in items if item.intent])
        by_subject: dict[uuid.UUID | None, list[CaseItem]] = {}
        for item in items:
            row = item.memory or item.fact or (asked.get(item.intent) if item.intent else None)
            by_subject.setdefault(row.subject_id if row else case.subject_id, []).append(item)
        staying = by_subject.pop(case.subject_id, [])
        if not staying and len(by_subject) == 1 and not _beside(case, next(iter(by_subject))):
            Case.objects.filter(pk=case.pk).update(subject=next(iter(by_subject)))
        elif not case.is_decided:
            for subject_id, own in by_subject.items():
                _join(case, subject_id, own)
            if not staying:
                case.delete()
    settle(rows.values_list("pk", flat=True), actor)


def _beside(case: Case, subject_id: uuid.UUID | None) -> bool:
    """Tell whether the case is undecided and another one about the same waits there already."""
    about = Q(subject_id=subject_id) if subject_id else Q(subject=None)
    same = {"attribute": case.attribute, "topic": case.topic, "workspace_id": case.workspace_id}
    return not case.is_decided and Case.objects.undecided().filter(about, **same).exists()


def _join(case: Case, subject_id: uuid.UUID | None, items: Sequence[CaseItem]) -> None:
    """Move items of a case to the one about another subject, with the pairs that wait."""
    about = CaseAbout(case.workspace_id, subject_id, case.attribute, case.topic)
    moved = [NewItem(each.at, each.why, each.memory_id, each.fact_id, each.intent) for each in items]
    target = open_case(about, case.kind, moved, risk=case.risk)
    CaseItem.objects.filter(pk__in=[each.pk for each in items]).delete()
    memories = [each.memory_id for each in items if each.memory_id]
    pairs = Supersession.objects.filter(case=case, new__in=memories)
    pairs.filter(state=Supersession.State.PENDING).update(case=target)
    Intent.objects.filter(pk__in=[each.intent for each in items]).update(case_id=target)


def unfiled() -> set[uuid.UUID]:
    """Return the workspaces in which something waits that is in no undecided case."""
    rows = (_pairs(), _facts(), _held(), _uncertain(), _unsupported(), _questioned(), _drawn())
    return {workspace for each in rows for workspace in each.values_list("workspace_id", flat=True)}


def file_unfiled(index: WorkspaceIndex) -> int:
    """Put what waits for a person and is in no case into one; return how many.

    This finds what older versions left, and what came back. The workspace's lock is held.
    """
    words, mine = row_marks.words_of(index), {"workspace_id": index.workspace_id}
    pairs = list(_pairs().filter(**mine).select_related("old", "new").order_by("pk")[:WAITING])
    for row in pairs:
        is_held = row.new.held_at is not None
        pair = WaitingPair(row, known_memory(row.old), known_memory(row.new), is_held)
        file_pairs(row.new.subject_id, [pair], words)
    Supersession.objects.bulk_update(pairs, ["case"])
    facts = list(_facts().filter(**mine).order_by("pk")[:WAITING])
    file_facts(facts, words)
    held = list(_held().filter(**mine).order_by("pk")[:WAITING])
    for memory in held:
        about = CaseAbout(index.workspace_id, memory.subject_id, memory.category, memory.pk)
        at = memory.valid_from or memory.created_at
        open_case(about, Kind.HELD, [NewItem(at, memory_id=memory.pk)], risk=0.3)
    resting = list(_uncertain().filter(**mine).select_related("memory", "on")[:WAITING])
    file_uncertain(resting, words)
    bare = list(_unsupported().filter(**mine)[:WAITING])
    file_unsupported(bare, words)
    room = max(1, int(OF_MESSAGES * index.live_episodes)) - _asked(index, QUESTIONED)
    likeliest = _likely_doubts().filter(memory=OuterRef("pk")).order_by("-probability").values("probability")
    doubted = _questioned().filter(**mine).annotate(likely=Subquery(likeliest[:1])).order_by("-likely", "pk")
    questioned = list(doubted[: min(max(room, 0), WAITING)])
    file_questioned(questioned, words)
    room = int(DRAWN_OF_MESSAGES * index.live_episodes) - _asked(index, DRAWN)
    lowest = _drawn_touches().filter(memory=OuterRef("pk")).order_by("draw").values("draw")
    drawn = _drawn().filter(**mine).annotate(lowest=Subquery(lowest[:1])).order_by("lowest")
    sampled = list(drawn[: min(max(room, 0), WAITING)])
    file_questioned(sampled, words, DRAWN)
    return len(pairs) + len(facts) + len(held) + len(resting) + len(bare) + len(questioned) + len(sampled)


def _asked(index: WorkspaceIndex, why: str) -> int:
    """Count how often people were asked for this reason."""
    return CaseItem.objects.filter(workspace_id=index.workspace_id, why=why).count()


def _pairs() -> QuerySet[Supersession]:
    rows = Supersession.objects.filter(state=Supersession.State.PENDING)
    return rows.filter(Q(case=None) | Q(case__state=Case.State.DECIDED))


def _facts() -> QuerySet[Fact]:
    rows = Fact.objects.filter(quarantined_at__isnull=False)
    return rows.exclude(Exists(_undecided().filter(fact=OuterRef("pk"))))


def _held() -> QuerySet[Memory]:
    rows = Memory.objects.filter(held_memories())
    return rows.exclude(Exists(_undecided().filter(memory=OuterRef("pk"))))


def _uncertain() -> QuerySet[Ground]:
    rows = Ground.objects.ended().filter(memory__is_head=True).order_by("pk")
    return rows.exclude(Exists(_undecided().filter(memory=OuterRef("memory_id"))))


def _unsupported() -> QuerySet[Memory]:
    # By way of the few facts that were taken away, never by all heads.
    lost = Fact.objects.filter(withdrawn_at__isnull=False)
    rows = Memory.objects.filter(pk__in=lost.values("memory"), is_head=True, source_count=0)
    return rows.exclude(Exists(_undecided().filter(memory=OuterRef("pk"))))


def _questioned() -> QuerySet[Memory]:
    rows = Memory.objects.live().filter(pk__in=_likely_doubts().values("memory"))
    return rows.exclude(Exists(_undecided().filter(memory=OuterRef("pk"))))


def _likely_doubts() -> QuerySet[Touch]:
    of_models = (Touch.By.JUDGE, Touch.By.MODEL)
    return Touch.objects.filter(
        relation__in=(Touch.Relation.REPLACES, Touch.Relation.ENDS), by__in=of_models, probability__gte=LIKELY
    )


def _drawn() -> QuerySet[Memory]:
    off = Workspace.objects.filter(settings__judge__learn=False)
    rows = Memory.objects.live().filter(pk__in=_drawn_touches().exclude(workspace__in=off).values("memory"))
    return rows.exclude(Exists(_undecided().filter(memory=OuterRef("pk"))))


def _drawn_touches() -> QuerySet[Touch]:
    return Touch.objects.filter(by=Touch.By.JUDGE, draw__lt=SAMPLED)


def _undecided() -> QuerySet[CaseItem]:
    return CaseItem.objects.filter(case__state__in=Case.UNDECIDED)


def known_memory(memory: Memory) -> KnownMemory:
    """Return a row as the resolver sees it."""
    return KnownMemory(
        id=memory.pk,
        content=memory.content,
        fingerprint=bytes(memory.fingerprint),
        group=memory.visibility,
        pinned=memory.pinned,
        version=memory.version,
        since=min(memory.valid_from or memory.created_at, memory.created_at),
        event_date=memory.event_date,
        support=memory.source_count,
        slots=frozenset(memory.slots),
        category=memory.category,
    )
