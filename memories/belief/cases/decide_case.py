"""A person's decision on a case: all that was said of one attribute, decided together."""

import uuid
from collections import Counter
from collections.abc import Sequence
from functools import partial

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memories.belief import resolve, touches
from memories.belief.cases.case_decision import DO, LEAVE, CaseDecision, Replaced
from memories.belief.cases.outcome import believed, of_steps
from memories.belief.resolve import grounds, take_support_away
from memories.belief.review.approve import decide, let_replace, release
from memories.belief.review.create import checked, unmask_held
from memories.belief.review.edit import new_version
from memories.belief.review.forget import forget_locked, hide_locked, locked, reject_claim
from memories.belief.review.quarantine import Vectors, believe_fact, dismiss_locked, embedded, locked_fact
from memories.belief.review.taken_words import advanced, drop_due, job_of, leave_due, take_words
from memories.errors import Conflict, Invalid, NotFound, needed
from memories.index import due_vectors, entries, workspace_index
from memories.models import (
    Case,
    CaseItem,
    Fact,
    Intent,
    LongJob,
    MaskedSpan,
    Memory,
    MemoryPeriod,
    MemoryState,
    Supersession,
    WorkspaceIndex,
)
from memories.privacy import masks
from memories.reading import intents
from memories.reading.intents import OrderPlan
from workspaces.scope import Scope, worker_scope

IN_A_CASE = "case"  # the rule of a replacement that no machine had proposed
REJECTED, OUTDATED = "rejected", "outdated"
REWORDED = "decided in a case, in other words"
BEGUN = "begun"  # the step of a decision that is not carried out yet, by ids
ORDER = "order"  # the step of an order that was done
UNMASK = "unmask"  # and of words that are shown from then on
# The effect of a step, in words for people.
DONE = {
    "replace": "replaced",
    "edit": "reworded",
    "forget": "forgotten",
    "end": "not true any more",
    "release": "kept",
    "accept": "believed",
    "dismiss": "dismissed",
    "order": "done as asked",
    "leave": "not done as asked",
    UNMASK: "shown again",
}
State = Supersession.State


def locked_case(scope: Scope, case_id: uuid.UUID) -> Case:
    """The case, locked until the transaction ends; NotFound where `scope` does not see it."""
    rows = Case.objects.visible_to(scope).select_for_update(of=("self",))
    return needed(rows.filter(pk=case_id).first(), "Case")


def decide_case(scope: Scope, case_id: uuid.UUID, decision: CaseDecision) -> Case:
    """Carry out a person's decision on everything in the case, all of it or nothing.

    Conflict, with what happened meanwhile, where the case or one of its memories has changed;
    Invalid where the decision names what is not in the case, or leaves out what waits.
    """
    content = checked(decision.edit.content) if decision.edit else ""
    space = workspace_index.index_of(scope.workspace_id)
    vectors = due_vectors.embed_or_leave(space, [entries.texts_of(content)]) if content else None
    vectors_of = embedded(scope, space, decision.accept, unmask=decision.unmask)
    plans = _plans(scope, case_id, decision)
    begun = _begun(scope, space, case_id, decision, plans)
    try:
        left = [_masked_ahead(plan, begun) for plan in plans]
        with transaction.atomic(durable=True):
            workspace_index.lock(space)
            case = locked_case(scope, case_id)
            _refuse_taken_over(begun)
            refuse_changed(case, decision.version)
            _check_names(case, decision)
            act = _CaseAct(scope.as_part_of(case), space, case)
            act.memories(decision)
            if decision.edit:
                act.reword(decision.edit.memory_id, content, vectors)
            for fact_id in decision.accept:
                act.accept(fact_id, vectors_of, unmask=decision.unmask)
            for fact_id in decision.dismiss:
                act.dismiss(fact_id)
            act.orders(decision, left)
            act.close(decision)
            drop_due(case.pk)
            audit_case(scope, "decide", case, reason=decision.note)
            resolve.file_unfiled(space)  # what an accepted fact contradicts
    except (Conflict, Invalid, NotFound):
        if begun is not None and begun.exists():  # nobody else is at it
            give_up(scope, case_id)
        raise
    masks.fill(space, act.masked)
    due_vectors.fill(space, act.shown)
    for memory_id in decision.forget:
        take_words(scope, space, memory_id)
    for plan in plans:
        intents.take_again(scope, plan.intent, plan.told)
    for intent in act.left:
        intents.give_back_due(scope, intent)
    return case


def _plans(scope: Scope, case_id: uuid.UUID, decision: CaseDecision) -> list[OrderPlan]:
    """Plan the orders in the case, where the decision is to carry them out."""
    case = Case.objects.visible_to(scope).filter(pk=case_id).first()
    if case is None or case.is_decided or decision.intent != DO:
        return []
    kept = {*decision.keep, *(pair.new for pair in decision.replace)}
    return [intents.plan_decided(scope, pk, kept) for pk in waiting_orders(case)]


# Words of many texts go in steps before the case is decided: it says that it is when they are gone.
# The decision is written down first, and whoever comes after a dead process goes on with it.


def _begun(
    scope: Scope,
    space: WorkspaceIndex,
    case_id: uuid.UUID,
    decision: CaseDecision,
    plans: Sequence[OrderPlan],
) -> QuerySet[LongJob] | None:
    """Write down a decision that takes steps, or with which a process began that ended; return its
    job. None where it takes none."""
    is_long = not all(plan.is_short for plan in plans)
    if not is_long and not (plans and job_of(LongJob.Kind.MASKING, case_id).exists()):
        return None
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        case = locked_case(scope, case_id)
        refuse_changed(case, decision.version)
        _check_names(case, decision)
        leave_due(scope, case, sum(plan.texts for plan in plans if not plan.is_short))
        case.steps = [{"act": BEGUN, "version": case.version, **decision.ids}]
        case.note = decision.note
        case.save(update_fields=["steps", "note", "updated_at"])
    return job_of(LongJob.Kind.MASKING, case_id)


def _masked_ahead(plan: OrderPlan, begun: QuerySet[LongJob] | None) -> OrderPlan:
    if begun is None:
        return plan
    why = intents.why_of(plan.intent)
    left = intents.mask_ahead(plan, why, partial(advanced, begun))
    if left is None:
        _refuse_taken_over(begun)
        raise Conflict("The order waits no more.", "stale", "intent")
    return left


def _refuse_taken_over(begun: QuerySet[LongJob] | None) -> None:
    if begun is not None and not begun.exists():
        raise Conflict("Somebody decided about it meanwhile.", "stale", "state")


def give_up(scope: Scope, case_id: uuid.UUID) -> None:
    """Give back the words that went ahead of a decision that was not taken, in steps: the case is
    as it was before."""
    server = worker_scope(scope.workspace_id, scope.actor)
    case = Case.objects.undecided().filter(pk=case_id).first()
    orders = Intent.objects.filter(pk__in=waiting_orders(case) if case else ())
    for intent in orders:
        intents.give_back(server, intents.not_withheld_of(intent))
    drop_due(case_id)
    Case.objects.undecided().filter(pk=case_id).update(steps=[], note="")


def waiting_orders(case: Case) -> list[uuid.UUID]:
    """The intents in it that wait for a person."""
    ids = case.items.exclude(intent=None).values("intent")
    rows = Intent.objects.filter(pk__in=ids, state=Intent.State.CASE)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def refuse_changed(case: Case, version: int | None = None) -> None:
    """Conflict where it is decided, or newer than the version that somebody read."""
    if case.is_decided:
        when = f"{case.decided_at:%Y-%m-%d %H:%M} UTC"
        message = f"{case.decided_by} decided it meanwhile, at {when}: {what_was_done(case)}."
        raise Conflict(message, "stale", "state")
    if version is not None and version != case.version:
        newest = case.items.order_by("-added_at", "-pk").first()
        came = f": {newest.why or newest.pk} came at {newest.added_at:%H:%M}" if newest else ""
        message = f"It is version {case.version} now{came}. Read it again."
        raise Conflict(message, "stale", "version")


def what_was_done(case: Case) -> str:
    """The steps of a decided case, counted: "2 replaced, 1 forgotten"."""
    counts = Counter(DONE[step["act"]] for step in case.steps if step["act"] in DONE)
    return ", ".join(f"{number} {word}" for word, number in counts.items()) or "all was kept"


def _check_names(case: Case, decision: CaseDecision) -> None:
    known = set(case.items.values_list("memory_id", flat=True))
    facts = set(case.items.values_list("fact_id", flat=True))
    for field, memory_id in decision.named:
        if memory_id not in known:
            raise Invalid(field, "This memory is not of the case.", "not_of_the_case")
    for field in ("accept", "dismiss"):
        for place, fact_id in enumerate(getattr(decision, field)):
            if fact_id not in facts:
                name = f"{field}[{place}]"
                raise Invalid(name, "This fact is not of the case.", "not_of_the_case")
    forgotten, over = set(decision.forget), set(decision.end)
    replaced = {pair.old for pair in decision.replace}
    ended = forgotten | over | replaced
    for place, memory_id in enumerate(decision.keep):
        if memory_id in ended:
            raise Invalid(f"keep[{place}]", "It cannot be kept and end as well.", "contradiction")
    both = forgotten & over or (forgotten | over) & replaced
    if both or set(decision.accept) & set(decision.dismiss):
        raise Invalid("forget", "Something is decided in two ways.", "contradiction")


class _CaseAct:
    """The execution of a decision in the caller's transaction, with notes by id of what it did."""

    def __init__(self, scope: Scope, space: WorkspaceIndex, case: Case) -> None:
        self.scope, self.space, self.case = scope, space, case
        self.steps: list[dict[str, object]] = []
        self.masked: list[MaskedSpan] = []
        self.shown: list[uuid.UUID] = []
        self.left: list[Intent] = []
        rows = Supersession.objects.filter(case=case, state=State.PENDING)
        self.pairs = {(row.old_id, row.new_id): row for row in rows.select_for_update()}
        waiting = [str(row.pk) for row in self.pairs.values()]
        self.steps.append({"act": "pairs", "ids": waiting})
        of_case = case.items.values_list("memory_id", flat=True)
        self.was = believed(pk for pk in of_case if pk)

    def memories(self, decision: CaseDecision) -> None:
        for memory_id in decision.keep:
            self._free(self._standing(memory_id))
        for pair in decision.replace:
            self._replace(pair)
        for memory_id in decision.forget:
            memory = self._standing(memory_id)
            was_held = memory.state is MemoryState.HELD
            note = decision.note or REJECTED
            self.masked += hide_locked(self.scope, self.space, memory, note)
            forget_locked(self.scope, [memory], note)
            reject_claim(self.scope, memory, note)
            self.steps.append({"act": "forget", "memory": str(memory.pk), "held": was_held})
        for memory_id in decision.end:
            memory = self._standing(memory_id)
            was_held = memory.state is MemoryState.HELD
            forget_locked(self.scope, [memory], OUTDATED)
            self.steps.append({"act": "end", "memory": str(memory.pk), "held": was_held})
            if confirmed := touches.confirm(memory_id, self.scope.actor):
                self.steps.append({"act": "confirm", **confirmed})
        for memory_id in decision.keep:
            self._uphold(memory_id)

    def _uphold(self, memory_id: uuid.UUID) -> None:
        """Write that a kept memory holds, even if its grounds have ended or its document no longer says it."""
        if kept := grounds.keep(memory_id):
            self.steps.append({"act": "keep", "grounds": kept})
        if agreed := touches.agree(memory_id, self.scope.actor):
            self.steps.append({"act": "agree", "touches": agreed})
        if upheld := touches.uphold(memory_id, self.scope.actor):
            self.steps.append({"act": "uphold", "touches": upheld})
        if fact := take_support_away.keep_unsupported(self._standing(memory_id)):
            self.steps.append({"act": "vouch", "fact": str(fact.pk)})

    def _standing(self, memory_id: uuid.UUID) -> Memory:
        """The memory, locked; Conflict where it ended meanwhile."""
        memory = locked(self.scope, memory_id)
        if memory.state in (MemoryState.SUPERSEDED, MemoryState.FORGOTTEN):
            message = f"“{memory.content[:80]}” was {memory.state} meanwhile."
            raise Conflict(message, "stale", "memory")
        return memory

    def _free(self, memory: Memory) -> None:
        if memory.state is MemoryState.HELD:
            release(self.space, memory)
            self.steps.append({"act": "release", "memory": str(memory.pk)})

    def _replace(self, pair: Replaced) -> None:
        if pair.old == pair.new:
            raise Invalid("replace", "A memory does not replace itself.", "contradiction")
        old = self._standing(pair.old)
        self._free(old)
        old, new = self._standing(pair.old), self._standing(pair.new)
        self._free(new)
        new = self._standing(pair.new)
        step = {"pinned": new.pinned, "version": new.version}
        waiting = Supersession.objects.filter(old=old, new=new, state=State.PENDING)
        row = self.pairs.pop((old.pk, new.pk), None) or waiting.first()
        is_new = row is None
        row = row or Supersession.objects.create(
            workspace_id=self.scope.workspace_id,
            old=old,
            new=new,
            rule=IN_A_CASE,
            method="manual",
            state=State.PENDING,
            decided_by=self.scope.actor,
            case=self.case,
        )
        let_replace(self.space, old, new)
        decide(self.scope, row, "approve")
        self.steps.append({"act": "replace", "pair": str(row.pk), "made": is_new, **step})

    def reword(self, memory_id: uuid.UUID, content: str, vectors: Vectors) -> None:
        memory = self._standing(memory_id)
        self._free(memory)
        memory = self._standing(memory_id)
        if content != memory.content:
            new = new_version(self.scope, self.space, memory, content, vectors, note=REWORDED)
            edit = Supersession.objects.get(old=memory, new=new)
            self.steps.append({"act": "edit", "pair": str(edit.pk)})

    def accept(self, fact_id: uuid.UUID, vectors_of: dict[uuid.UUID, Vectors], *, unmask: bool) -> None:
        fact = self._waiting(fact_id)
        if fact is None:
            return
        shown: dict[str, list[tuple[int, int]]] | None = {} if unmask else None
        if shown is not None:  # of each message, where words are masked for the sake of the fact
            for span in MaskedSpan.objects.filter(
                workspace_id=fact.workspace_id,
                cause=fact.pk,
                episode__isnull=False,
                place="content",
            ):
                shown.setdefault(str(span.episode_id), []).append((span.start, span.end))
        if fact.memory_id is not None:  # written by hand, and held
            if unmask:
                unmask_held(self.scope, self.space, self._standing(fact.memory_id))
            for row in Supersession.objects.filter(new=fact.memory_id, state=State.PENDING):
                self._replace(Replaced(row.old_id, row.new_id))
            self._free(self._standing(fact.memory_id))
            self.steps.append({"act": "dismiss", "fact": str(fact.pk)})
            self._note_shown(fact.memory_id, fact.pk, shown)
            return
        memory, is_new = believe_fact(self.scope, self.space, fact, vectors_of.get(fact_id), unmask=unmask)
        anew = Fact.objects.filter(memory=memory).order_by("-pk").values_list("pk", flat=True)[0]
        Fact.objects.filter(pk=anew).update(quarantine_reason=fact.quarantine_reason)
        step = {"act": "accept", "memory": str(memory.pk), "fact": str(anew), "made": is_new}
        self.steps.append(step)
        self._note_shown(memory.pk, anew, shown)

    def _note_shown(
        self,
        memory_id: uuid.UUID,
        fact_id: uuid.UUID,
        shown: dict[str, list[tuple[int, int]]] | None,
    ) -> None:
        """Undone, what was shown is masked again: before all else."""
        if shown is not None:
            step = {"memory": str(memory_id), "fact": str(fact_id), "episodes": shown}
            self.steps.append({"act": UNMASK, **step})

    def dismiss(self, fact_id: uuid.UUID) -> None:
        fact = self._waiting(fact_id)
        if fact is None:
            return
        dismiss_locked(self.scope, fact)
        self.steps.append({"act": "dismiss", "fact": str(fact_id)})
        if fact.memory_id is not None:
            step = {"act": "forget", "memory": str(fact.memory_id), "held": True}
            self.steps.append(step)

    def _waiting(self, fact_id: uuid.UUID) -> Fact | None:
        """The fact, locked; None where what was said of its memory has decided it."""
        row = Fact.objects.filter(pk=fact_id, memory__isnull=False, quarantined_at=None)
        return None if row.exists() else locked_fact(self.scope, fact_id)

    def orders(self, decision: CaseDecision, plans: Sequence[OrderPlan]) -> None:
        """Carry out or leave undone what was asked of the memory."""
        for plan in plans:
            intent = intents.waiting_intent(self.scope, plan.intent.pk, lock=True)
            step = _order_step(ORDER, intent)
            self.masked += intents.do_locked(self.scope, plan)
            if plan.intent.state != Intent.State.DONE:
                raise Conflict("What was asked for ended meanwhile.", "stale", "intent")
            self.steps.append(step)
        if decision.intent == LEAVE:
            for intent_id in waiting_orders(self.case):
                intent = intents.waiting_intent(self.scope, intent_id, lock=True)
                self.steps.append(_order_step(LEAVE, intent))
                self.shown += intents.leave_locked(self.scope, self.space, intent)
                self.left.append(intent)

    def close(self, decision: CaseDecision) -> None:
        """Both of what nobody replaced stay; Invalid where something still waits."""
        case = self.case
        for row in Supersession.objects.filter(case=case, state=State.PENDING):
            if not Memory.objects.filter(pk=row.new_id, held_at__isnull=False).exists():
                decide(self.scope, row, "keep_both", Supersession.KEPT_BOTH)
        if waiting_orders(self.case):
            raise Invalid("intent", "Say whether what was asked for is done.", "left")
        left = CaseItem.objects.filter(case=self.case).select_related("memory", "fact")
        for item in left:
            if item.memory and item.memory.state is MemoryState.HELD:
                raise Invalid("keep", f"Say what becomes of memory {item.memory_id}: it is held back.", "left")
            if item.fact and item.fact.quarantined_at is not None:
                raise Invalid("accept", f"Say what becomes of fact {item.fact_id}: it waits.", "left")
        self.steps.append(of_steps(case, self.steps, self.was).step())
        case.state, case.note, case.steps = Case.State.DECIDED, decision.note, self.steps
        case.decided_by, case.decided_at = self.scope.actor, timezone.now()
        case.snoozed_until = None
        case.version = Case.objects.values_list("version", flat=True).get(pk=case.pk) + 1
        case.save()


def _order_step(act: str, intent: Intent) -> dict[str, object]:
    named = [str(pk) for pk in intent.memory_ids]
    step = {"act": act, "intent": str(intent.pk), "memories": named, "reason": intent.reason}
    return step | {"withheld": intents.withheld_of(intent).exists()}


def audit_case(scope: Scope, action: str, case: Case, **details: object) -> None:
    scope.audit(action, case, subject_id=case.subject_id, **details)


# A decided case taken back: everything in it is as it was, and waits again.

Cause = MemoryPeriod.Cause
