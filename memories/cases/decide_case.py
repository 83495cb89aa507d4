"""A person's word on a case: all that was said of one attribute, decided together and taken back
together."""

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from django.db import transaction
from django.utils import timezone
from pydantic import Field

from memories import intents, masks, resolve
from memories.errors import Conflict, Invalid, needed
from memories.index import due_vectors, entries, workspace_index
from memories.intents import OrderPlan
from memories.models import (
    Case,
    CaseItem,
    Fact,
    Intent,
    MaskedSpan,
    Memory,
    MemoryState,
    Supersession,
    WorkspaceIndex,
)
from memories.resolve import grounds, state_changes
from memories.review.approve import decide, let_replace, release
from memories.review.create import checked
from memories.review.edit import new_version
from memories.review.forget import forget_locked, locked, reject_claim
from memories.review.held_by_hand import unmask_held
from memories.review.quarantine import Vectors, believe_fact, dismiss_locked, embedded, locked_fact
from workspaces.request_fields import AnyText, Flag, Maybe, NullIs, OneOf, Text, Whole, declared
from workspaces.scope import Scope

IN_A_CASE = "case"  # the rule of a replacement that no machine had proposed
REJECTED = "rejected"
DO, LEAVE = "do", "leave"
ORDER = "order"  # the step of an order that was done
UNMASK = "unmask"  # and of words that are shown from then on
# What a step did, as people are told.
DONE = {
    "replace": "replaced",
    "edit": "reworded",
    "forget": "forgotten",
    "release": "kept",
    "accept": "believed",
    "dismiss": "dismissed",
    "order": "done as asked",
    "leave": "not done as asked",
    UNMASK: "shown again",
}
State = Supersession.State
Ids = Annotated[tuple[uuid.UUID, ...], Field(max_length=100), NullIs(())]


@declared
@dataclass(frozen=True, slots=True)
class Replaced:
    old: uuid.UUID
    new: uuid.UUID


@declared
@dataclass(frozen=True, slots=True)
class Reworded:
    memory_id: uuid.UUID
    content: Text


@declared
@dataclass(frozen=True, slots=True)
class CaseDecision:
    """What becomes of each: `forget` is also not learned again. Memories that are not named stay
    as they are; what is held back, and a fact in quarantine, has to be named."""

    keep: Ids = ()
    replace: Annotated[tuple[Replaced, ...], Field(max_length=100), NullIs(())] = ()
    forget: Ids = ()
    edit: Annotated[Reworded | None, Field(description="Say it in these words instead.")] = None
    accept: Ids = ()
    dismiss: Ids = ()
    unmask: Annotated[
        Flag, Field(description="Show what is masked for the sake of what is accepted.")
    ] = False
    intent: Annotated[str, OneOf([DO, LEAVE]), NullIs("")] = ""
    note: Annotated[AnyText, Field(max_length=2000), NullIs("")] = ""
    version: Maybe[
        Annotated[
            Whole,
            Field(description="Of the case as it was read: 409 where it has changed since."),
        ]
    ] = None

    @property
    def named(self) -> Iterator[tuple[str, uuid.UUID]]:
        """Each memory that it names, with the place where it does."""
        for name in ("keep", "forget"):
            for place, memory_id in enumerate(getattr(self, name)):
                yield f"{name}[{place}]", memory_id
        for place, pair in enumerate(self.replace):
            yield f"replace[{place}].old", pair.old
            yield f"replace[{place}].new", pair.new
        if self.edit:
            yield "edit.memoryId", self.edit.memory_id


def locked_case(scope: Scope, case_id: uuid.UUID) -> Case:
    """The case, locked until the transaction ends; NotFound where `scope` does not see it."""
    rows = Case.objects.visible_to(scope).select_for_update(of=("self",))
    return needed(rows.filter(pk=case_id).first(), "Case")


def decide_case(scope: Scope, case_id: uuid.UUID, decision: CaseDecision) -> Case:
    """Do to everything in the case what the person says, all of it or nothing.

    Conflict, with what happened meanwhile, where the case or one of its memories has changed;
    Invalid where the decision names what is not of the case, or leaves out what waits.
    """
    content = checked(decision.edit.content) if decision.edit else ""
    space = workspace_index.index_of(scope.workspace_id)
    vectors = due_vectors.embed_or_leave(space, [entries.texts_of(content)]) if content else None
    believed = embedded(scope, space, decision.accept, unmask=decision.unmask)
    plans = _plans(scope, case_id, decision)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        case = locked_case(scope, case_id)
        refuse_changed(case, decision.version)
        _check_names(case, decision)
        act = _CaseAct(scope, space, case)
        act.memories(decision)
        if decision.edit:
            act.reword(decision.edit.memory_id, content, vectors)
        for fact_id in decision.accept:
            act.accept(fact_id, believed, unmask=decision.unmask)
        for fact_id in decision.dismiss:
            act.dismiss(fact_id)
        act.orders(decision, plans)
        act.close(decision)
        resolve.file_unfiled(space)  # what an accepted fact contradicts
    masks.fill(space, act.masked)
    due_vectors.fill(space, act.shown)
    return case


def _plans(scope: Scope, case_id: uuid.UUID, decision: CaseDecision) -> list[OrderPlan]:
    """What the orders in the case come to, where they are to be done."""
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
    """ "2 replaced, 1 forgotten" of a decided case."""
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
    ended = {*decision.forget, *(pair.old for pair in decision.replace)}
    for place, memory_id in enumerate(decision.keep):
        if memory_id in ended:
            raise Invalid(f"keep[{place}]", "It cannot be kept and end as well.", "contradiction")
    both = set(decision.forget) & {pair.old for pair in decision.replace}
    if both or set(decision.accept) & set(decision.dismiss):
        raise Invalid("forget", "Something is decided in two ways.", "contradiction")


class _CaseAct:
    """Carries out a decision in the caller's transaction, and notes by ids what it did."""

    def __init__(self, scope: Scope, space: WorkspaceIndex, case: Case) -> None:
        self.scope, self.space, self.case = scope, space, case
        self.steps: list[dict[str, object]] = []
        self.masked: list[MaskedSpan] = []
        self.shown: list[uuid.UUID] = []
        rows = Supersession.objects.filter(case=case, state=State.PENDING)
        self.pairs = {(row.old_id, row.new_id): row for row in rows.select_for_update()}
        waiting = [str(row.pk) for row in self.pairs.values()]
        self.steps.append({"act": "pairs", "ids": waiting})

    def memories(self, decision: CaseDecision) -> None:
        for memory_id in decision.keep:
            self._free(self._standing(memory_id))
        for pair in decision.replace:
            self._replace(pair)
        for memory_id in decision.forget:
            memory = self._standing(memory_id)
            was_held = memory.state is MemoryState.HELD
            note = decision.note or REJECTED
            forget_locked(self.scope, [memory], note)
            reject_claim(self.scope, memory, note)
            self.steps.append({"act": "forget", "memory": str(memory.pk), "held": was_held})
        # What is kept holds whatever it rested on, and whatever document says it no more.
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
            note = "decided in a case, in other words"
            new = new_version(self.scope, self.space, memory, content, vectors, note=note)
            edit = Supersession.objects.get(old=memory, new=new)
            self.steps.append({"act": "edit", "pair": str(edit.pk)})

    def accept(
        self, fact_id: uuid.UUID, believed: dict[uuid.UUID, Vectors], *, unmask: bool
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
                unmask_held(self.space, self._standing(fact.memory_id))
            for row in Supersession.objects.filter(new=fact.memory_id, state=State.PENDING):
                self._replace(Replaced(row.old_id, row.new_id))
            self._free(self._standing(fact.memory_id))
            self.steps.append({"act": "dismiss", "fact": str(fact.pk)})
            self._note_shown(fact.memory_id, fact.pk, shown)
            return
        memory, is_new = believe_fact(
            self.scope, self.space, fact, believed.get(fact_id), unmask=unmask
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
        """What was asked of the memory is done, or left."""
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
        case.state, case.note, case.steps = Case.State.DECIDED, decision.note, self.steps
        case.decided_by, case.decided_at = self.scope.actor, timezone.now()
        case.snoozed_until = None
        case.version = Case.objects.values_list("version", flat=True).get(pk=case.pk) + 1
        case.save()
        audit_case(self.scope, "decide", case, reason=decision.note)


def _order_step(act: str, intent: Intent) -> dict[str, object]:
    named = [str(pk) for pk in intent.memory_ids]
    step = {"act": act, "intent": str(intent.pk), "memories": named, "reason": intent.reason}
    return step | {"withheld": intents.masks_of(intent).exists()}


def audit_case(scope: Scope, action: str, case: Case, **details: object) -> None:
    scope.audit(action, case, subject_id=case.subject_id, **details)
