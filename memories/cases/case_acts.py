"""A person's decision on a case: all that was said of one attribute, decided together, undone
together, snoozed, or assigned."""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories import intents, masks, resolve
from memories.cases.case_decision import DO, LEAVE, CaseDecision, Replaced
from memories.cases.inbox import RISKS, failed
from memories.cases.outcome import OUTCOME, believed, of_steps
from memories.english import statements
from memories.errors import Conflict, Invalid, NotFound, needed
from memories.index import due_vectors, entries, row_marks, workspace_index
from memories.intents import OrderPlan
from memories.models import (
    Case,
    CaseItem,
    Fact,
    FailureMark,
    Intent,
    MaskedSpan,
    Memory,
    MemoryPeriod,
    MemoryState,
    Supersession,
    WorkspaceIndex,
    rank_of,
    topic_of,
)
from memories.resolve import grounds, state_changes
from memories.resolve.file_cases import (
    ASKED,
    CaseAbout,
    NewItem,
    WaitingPair,
    file_pairs,
    known_memory,
    open_case,
)
from memories.review.approve_and_undo import (
    believe_again,
    decide,
    let_replace,
    may_be_learned,
    put_back,
    release,
)
from memories.review.create_and_edit import checked, new_version, unmask_held
from memories.review.forget import forget_locked, hide_locked, locked, reject_claim
from memories.review.quarantine import Vectors, believe_fact, dismiss_locked, embedded, locked_fact
from memories.review.taken_words import give_back_locked, give_back_words, take_words, taken_by
from workspaces.models import AuditEntry, Membership
from workspaces.scope import Scope

IN_A_CASE = "case"  # the rule of a replacement that no machine had proposed
REJECTED, OUTDATED = "rejected", "outdated"
REWORDED = "decided in a case, in other words"
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
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        case = locked_case(scope, case_id)
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
        act.orders(decision, plans)
        act.close(decision)
        audit_case(scope, "decide", case, reason=decision.note)
        resolve.file_unfiled(space)  # what an accepted fact contradicts
    masks.fill(space, act.masked)
    due_vectors.fill(space, act.shown)
    for memory_id in decision.forget:
        take_words(scope, space, memory_id)
    return case


def _plans(scope: Scope, case_id: uuid.UUID, decision: CaseDecision) -> list[OrderPlan]:
    """Plan the orders in the case, where the decision is to carry them out."""
    case = Case.objects.visible_to(scope).filter(pk=case_id).first()
    if case is None or case.is_decided or decision.intent != DO:
        return []
    kept = {*decision.keep, *(pair.new for pair in decision.replace)}
    return [intents.plan_decided(scope, pk, kept) for pk in waiting_orders(case)]


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
        # A kept memory holds, even if its grounds have ended or its document no longer says it.
        for memory_id in decision.keep:
            if kept := grounds.keep(memory_id):
                self.steps.append({"act": "keep", "grounds": kept})
            if fact := state_changes.keep_unsupported(self._standing(memory_id)):
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
            workspace_id=self.scope.workspace_id, old=old, new=new, rule=IN_A_CASE, method="manual",
            state=State.PENDING, decided_by=self.scope.actor, case=self.case,
        )  # fmt: skip
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

    def accept(
        self, fact_id: uuid.UUID, vectors_of: dict[uuid.UUID, Vectors], *, unmask: bool
    ) -> None:
        fact = self._waiting(fact_id)
        if fact is None:
            return
        shown: dict[str, list[tuple[int, int]]] | None = {} if unmask else None
        if shown is not None:  # of each message, where words are masked for the sake of the fact
            for span in MaskedSpan.objects.filter(
                workspace_id=fact.workspace_id, cause=fact.pk, episode__isnull=False,
                place="content",
            ):  # fmt: skip
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
        memory, is_new = believe_fact(
            self.scope, self.space, fact, vectors_of.get(fact_id), unmask=unmask
        )
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
                raise Invalid(
                    "keep", f"Say what becomes of memory {item.memory_id}: it is held back.", "left"
                )
            if item.fact and item.fact.quarantined_at is not None:
                raise Invalid(
                    "accept", f"Say what becomes of fact {item.fact_id}: it waits.", "left"
                )
        self.steps.append(of_steps(case, self.steps, self.was).step())
        case.state, case.note, case.steps = Case.State.DECIDED, decision.note, self.steps
        case.decided_by, case.decided_at = self.scope.actor, timezone.now()
        case.snoozed_until = None
        case.version = Case.objects.values_list("version", flat=True).get(pk=case.pk) + 1
        case.save()


def _order_step(act: str, intent: Intent) -> dict[str, object]:
    named = [str(pk) for pk in intent.memory_ids]
    step = {"act": act, "intent": str(intent.pk), "memories": named, "reason": intent.reason}
    return step | {"withheld": intents.masks_of(intent).exists()}


def audit_case(scope: Scope, action: str, case: Case, **details: object) -> None:
    scope.audit(action, case, subject_id=case.subject_id, **details)


# A decided case taken back: everything in it is as it was, and waits again.

Cause = MemoryPeriod.Cause
UNDONE = "undone"
Step = Mapping[str, Any]


def undo_case(scope: Scope, case_id: uuid.UUID) -> Case:
    """Take a decision back, its last step first. Conflict where the case is not decided, was
    settled by other means, or where something that it decided was changed since."""
    space = workspace_index.index_of(scope.workspace_id)
    touched: list[uuid.UUID] = []
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        case = locked_case(scope, case_id)
        if not case.is_decided:
            raise Conflict("It is not decided.", "stale", "state")
        if not case.steps:
            message = "It was not decided as a case: what was done to its memories is undone there."
            raise Conflict(message, "stale", "state")
        forgotten = [uuid.UUID(s["memory"]) for s in case.steps if s["act"] == "forget"]
        for step in reversed(case.steps):
            touched += BACK[step["act"]](scope.as_part_of(case), space, step) or ()
        decided_by = case.decided_by
        case.state, case.steps, case.note = Case.State.OPEN, [], ""
        case.decided_by, case.decided_at = "", None
        case.version += 1
        _absorb(case)
        case.save()
        audit_case(scope, "undo", case, before={"decidedBy": decided_by})
    due_vectors.fill(space, touched)
    for memory_id in forgotten:
        give_back_words(scope, space, taken_by(memory_id))
    return case


def _absorb(case: Case) -> None:
    """Merge open cases about the same matter into this one."""
    same = {"attribute": case.attribute, "topic": case.topic, "subject_id": case.subject_id}
    rows = Case.objects.undecided().filter(workspace_id=case.workspace_id).exclude(pk=case.pk)
    for other in rows.filter(**{name: value for name, value in same.items() if value is not None}):
        if other.subject_id != case.subject_id:
            continue
        have = set(case.items.values_list("memory", "fact", "intent"))
        for item in CaseItem.objects.filter(case=other):
            if (item.memory_id, item.fact_id, item.intent) not in have:
                CaseItem.objects.filter(pk=item.pk).update(case=case)
        Supersession.objects.filter(case=other).update(case=case)
        case.risk = max(case.risk, other.risk)
        case.served = max(case.served, other.served)
        case.rank = rank_of(case.risk, case.created_at, case.served)
        other.delete()


def _pair(scope: Scope, pk: str) -> Supersession:
    return Supersession.objects.select_for_update().get(workspace_id=scope.workspace_id, pk=pk)


def _unchanged(is_so: bool, memory: Memory) -> None:
    if not is_so:
        message = f"“{memory.content[:80]}” was changed since: its chain shows how."
        raise Conflict(message, "stale", "memory")


def _hold_again(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    memory = locked(scope, step["memory"])
    _unchanged(memory.state.is_head, memory)
    state_changes.hold(space, memory, timezone.now())


def _take_out(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    """Take the new memory out of the old one's place; a pair that had waited waits again."""
    pair = _pair(scope, step["pair"])
    old, new = locked(scope, pair.old_id), locked(scope, pair.new_id)
    is_so = pair.state == State.APPLIED and old.superseded_by_id == new.pk
    _unchanged(is_so and new.superseded_by_id is None, new)
    put_back(space, old, new)
    Memory.objects.filter(pk=new.pk).update(pinned=step["pinned"], version=step["version"])
    decide(scope, pair, "undo", state="" if step["made"] else State.PENDING)


def _take_words_back(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    edit = _pair(scope, step["pair"])
    old, worded = locked(scope, edit.old_id), locked(scope, edit.new_id)
    _unchanged(old.superseded_by_id == worded.pk and worded.superseded_by_id is None, worded)
    state_changes.unlink(old, worded)
    forget_locked(scope, [worded], UNDONE)
    may_be_learned(scope, old)
    believe_again(space, old, Cause.UNDONE)
    decide(scope, edit, "undo")


def _remember(scope: Scope, space: WorkspaceIndex, step: Step) -> list[uuid.UUID]:
    memory = locked(scope, step["memory"])
    _unchanged(memory.may_return, memory)
    may_be_learned(scope, memory)
    touched = give_back_locked(scope, space, memory)
    if step["held"]:
        state_changes.hold(space, memory, timezone.now())
    else:
        believe_again(space, memory, Cause.UNDONE)
    return touched


def _doubt_again(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    """Put an accepted fact back into quarantine; the memory that it made is forgotten."""
    memory, fact = locked(scope, step["memory"]), Fact.objects.get(pk=step["fact"])
    _unchanged(fact.memory_id == memory.pk and memory.superseded_by_id is None, memory)
    if step["made"]:
        for row in Supersession.objects.filter(new=memory, state=State.APPLIED).order_by("-pk"):
            put_back(space, locked(scope, row.old_id), memory)
            decide(scope, row, "undo")
        if memory.forgotten_at is None:
            forget_locked(scope, [memory], UNDONE)
    else:
        state_changes.add_support({memory.pk: -1}, timezone.now())
    Fact.objects.filter(pk=fact.pk).update(memory=None, quarantined_at=timezone.now())
    CaseItem.objects.filter(memory=memory, why="quarantine").update(memory=None, fact=fact)


def believed_no_more(scope: Scope, memory_id: uuid.UUID) -> None:
    """Take back that a statement in quarantine was believed, outside of a case: it waits again."""
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        memory = locked(scope, memory_id)
        _unchanged(memory.state is MemoryState.LIVE, memory)
        fact = needed(Fact.objects.filter(memory=memory).order_by("-pk").first(), "Fact")
        made = memory.source_count <= 1
        step = {"memory": str(memory_id), "fact": str(fact.pk), "made": made}
        _doubt_again(scope.as_part_of(memory), space, step)
        scope.audit("undo", memory, subject_id=memory.subject_id)
        resolve.file_unfiled(space)


def _mask_again(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    """Mask again what an accepted fact had shown, and all words of the memory."""
    why = masks.MaskReason(MaskedSpan.Kind.SECRET, "taken back", uuid.UUID(step["fact"]))
    places = {
        uuid.UUID(pk): [(start, end) for start, end in spans]
        for pk, spans in step["episodes"].items()
    }
    masks.mask_episodes(space, places, why)
    masks.mask_memories(space, [uuid.UUID(step["memory"])], why)


def _doubt(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    Fact.objects.filter(pk=step["fact"]).update(quarantined_at=timezone.now())


def _ask_again(scope: Scope, space: WorkspaceIndex, step: Step) -> list[uuid.UUID]:
    """Let an order to the memory wait again; undo it first where it was done."""
    rows = Intent.objects.select_for_update(of=("self",))
    intent = rows.filter(pk=step["intent"], workspace_id=scope.workspace_id).first()
    if intent is None:
        return []
    is_done = intent.state == Intent.State.DONE
    touched = intents.take_back_locked(scope, space, intent) if is_done else []
    if step.get("withheld"):
        intents.withhold_again_locked(scope, space, intent)
    rows.filter(pk=intent.pk).update(
        state=Intent.State.CASE, memory_ids=step["memories"], reason=step["reason"],
        supersession=None, decided_by=scope.actor, decided_at=timezone.now(),
    )  # fmt: skip
    return touched


def _wait_again(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    """The pairs that the case was about."""
    rows = Supersession.objects.filter(workspace_id=scope.workspace_id, pk__in=step["ids"])
    rows.exclude(state=State.PENDING).update(
        state=State.PENDING, decided_by=scope.actor, decided_at=timezone.now(), note=""
    )


def _let_fall(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    grounds.doubt(step["grounds"])


def _vouch_no_more(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    state_changes.take_keeping_back(step["fact"])


BACK: dict[str, Callable[[Scope, WorkspaceIndex, Step], list[uuid.UUID] | None]] = {
    "pairs": _wait_again,
    "release": _hold_again,
    "keep": _let_fall,
    "vouch": _vouch_no_more,
    "replace": _take_out,
    "edit": _take_words_back,
    "forget": _remember,
    "end": _remember,
    OUTCOME: lambda *_: None,
    "accept": _doubt_again,
    "dismiss": _doubt,
    UNMASK: _mask_again,
    ORDER: _ask_again,
    LEAVE: _ask_again,
}


# A case made by a person, left for later, or given to somebody; and what failed, left for later,
# given to somebody, or as it is.


@transaction.atomic(durable=True)
def ask_case(scope: Scope, memory_id: uuid.UUID) -> Case:
    """The case in which a live memory waits for somebody's word: the one that is open about its
    attribute, else a new one. Conflict where it is believed no more."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    memory = locked(scope, memory_id)
    if memory.state != MemoryState.LIVE:
        raise Conflict(f"It is {memory.state}: there is nothing to decide about it.")
    keys = statements.slot_keys(statements.read(memory.content, row_marks.words_of(space)))
    attribute, topic = memory.category or "other", memory.pk
    if keys:
        attribute, topic = keys[0].split("|")[1], topic_of(keys[0])
    about = CaseAbout(scope.workspace_id, memory.subject_id, attribute, topic)
    item = NewItem(memory.valid_from or memory.created_at, ASKED, memory_id=memory.pk)
    case = Case.objects.get(pk=open_case(about, Case.Kind.UNCERTAIN, [item]))
    audit_case(scope, "ask", case)
    return case


@transaction.atomic(durable=True)
def ask_pair(scope: Scope, one_id: uuid.UUID, other_id: uuid.UUID) -> Case:
    """The case in which somebody says which of two live memories about one subject is right; both
    are believed until then. Conflict where that waits already, or was decided."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    old, new = sorted((locked(scope, pk) for pk in (one_id, other_id)), key=lambda each: each.pk)
    if old.pk == new.pk or old.subject_id != new.subject_id:
        raise Invalid("id", "Only two memories about the same subject can contradict each other.")
    if not old.is_live or not new.is_live:
        raise Conflict("One of them is no longer live.", "stale", "id")
    if Supersession.objects.filter(old__in=(old, new), new__in=(old, new)).exists():
        raise Conflict("It is decided, or waits in the inbox.", "stale", "id")
    pair = Supersession(
        workspace_id=scope.workspace_id, old=old, new=new, rule=statements.VALUES, method="manual",
        state=State.PENDING, decided_by=scope.actor,
    )  # fmt: skip
    waiting = WaitingPair(pair, known_memory(old), known_memory(new), is_held=False)
    file_pairs(old.subject_id, [waiting], row_marks.words_of(space))
    pair.save()
    case = Case.objects.get(pairs=pair)
    audit_case(scope, "ask", case)
    return case


@transaction.atomic(durable=True)
def snooze_case(scope: Scope, case_id: uuid.UUID, until: datetime | None) -> Case:
    """Snooze a case until then; None wakes it. Conflict where it is decided."""
    case = locked_case(scope, case_id)
    refuse_changed(case)
    if until is not None and until <= timezone.now():
        raise Invalid("until", "This time has passed.")
    before = {"snoozedUntil": case.snoozed_until.isoformat() if case.snoozed_until else None}
    case.state = Case.State.OPEN if until is None else Case.State.SNOOZED
    case.snoozed_until = until
    case.save(update_fields=["state", "snoozed_until", "updated_at"])
    after = {"snoozedUntil": until.isoformat() if until else None}
    audit_case(scope, "snooze", case, before=before, after=after)
    return case


@transaction.atomic(durable=True)
def assign_case(scope: Scope, case_id: uuid.UUID, member_id: uuid.UUID | None) -> Case:
    """Give it to a member of the workspace, by the id of the membership; None takes it back."""
    case = locked_case(scope, case_id)
    refuse_changed(case)
    member = member_of(scope, member_id)
    before = {"assignee": str(case.assignee_id) if case.assignee_id else None}
    case.assignee = member
    case.save(update_fields=["assignee", "updated_at"])
    after = {"assignee": str(member_id) if member_id else None}
    audit_case(scope, "assign", case, before=before, after=after)
    return case


def member_of(scope: Scope, member_id: uuid.UUID | None) -> Membership | None:
    """Return the membership with this id. Invalid where nobody of the workspace has it."""
    members = Membership.objects.filter(workspace_id=scope.workspace_id)
    member = members.filter(pk=member_id).first() if member_id else None
    if member_id and member is None:
        raise Invalid("assignee", "There is no such member of this workspace.")
    return member


@transaction.atomic(durable=True)
def assign_failure(scope: Scope, row_id: uuid.UUID, member_id: uuid.UUID | None) -> None:
    """Give it to a member of the workspace, by the id of the membership; None takes it back."""
    row, mark = _marked(scope, row_id)
    member = member_of(scope, member_id)
    before = {"assignee": str(mark.assignee_id) if mark.assignee_id else None}
    mark.assignee = member
    after = {"assignee": str(member_id) if member_id else None}
    _keep(scope, row, mark, "assign", before=before, after=after)


@transaction.atomic(durable=True)
def snooze_failure(scope: Scope, row_id: uuid.UUID, until: datetime | None) -> None:
    """Snooze a failure until then; None wakes it."""
    if until is not None and until <= timezone.now():
        raise Invalid("until", "This time has passed.")
    row, mark = _marked(scope, row_id)
    before = {"snoozedUntil": mark.snoozed_until.isoformat() if mark.snoozed_until else None}
    mark.snoozed_until = until
    after = {"snoozedUntil": until.isoformat() if until else None}
    _keep(scope, row, mark, "snooze", before=before, after=after)


@transaction.atomic(durable=True)
def leave_failure(scope: Scope, row_id: uuid.UUID, *, is_left: bool = True) -> None:
    """Leave a failure as it is: it waits for nobody until it fails again. `is_left=False` undoes
    that."""
    row, mark = _marked(scope, row_id)
    mark.left_as = row.failure if is_left else None
    _keep(scope, row, mark, "leave" if is_left else "take_up")


def _marked(scope: Scope, row_id: uuid.UUID) -> tuple[Any, FailureMark]:
    """Return the failed row and its mark, locked until the transaction ends; NotFound where `scope`
    does not see it, or where it no longer fails."""
    for kind in RISKS:
        row = failed(kind).visible_to(scope).filter(pk=row_id).first()  # type: ignore[attr-defined]
        if row is not None:
            own = {"workspace_id": row.workspace_id, f"{kind}_id": row.pk}
            mark, _ = FailureMark.objects.select_for_update().get_or_create(**own)
            return row, mark
    raise NotFound("Entry of the inbox")


def _keep(scope: Scope, row: Any, mark: FailureMark, action: str, **details: object) -> None:
    mark.save()
    line = AuditEntry.line(
        scope.workspace_id, scope.actor, action, row, subject_id=row.subject_id, **details
    )
    line.save()
