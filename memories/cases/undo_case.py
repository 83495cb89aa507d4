"""A decided case taken back: everything in it is as it was, and waits again."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories import intents, masks
from memories.cases.decide_case import LEAVE, ORDER, UNMASK, audit_case, locked_case
from memories.errors import Conflict
from memories.index import due_vectors, workspace_index
from memories.models import (
    Case,
    CaseItem,
    Fact,
    Intent,
    MaskedSpan,
    Memory,
    MemoryPeriod,
    Supersession,
    WorkspaceIndex,
    rank_of,
)
from memories.resolve import grounds, state_changes
from memories.review.approve import believe_again, decide
from memories.review.forget import forget_locked, locked
from memories.review.undo import may_be_learned, put_back
from workspaces.scope import Scope

State = Supersession.State
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
        for step in reversed(case.steps):
            touched += BACK[step["act"]](scope, space, step) or ()
        decided_by = case.decided_by
        case.state, case.steps, case.note = Case.State.OPEN, [], ""
        case.decided_by, case.decided_at = "", None
        case.version += 1
        _absorb(case)
        case.save()
        audit_case(scope, "undo", case, before={"decidedBy": decided_by})
    due_vectors.fill(space, touched)
    return case


def _absorb(case: Case) -> None:
    """What was opened about the same since goes on in this one."""
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
    """The new memory leaves the old one's place; a pair that had waited waits again."""
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
    may_be_learned(old)
    believe_again(space, old, Cause.UNDONE)
    decide(scope, edit, "undo")


def _remember(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    memory = locked(scope, step["memory"])
    _unchanged(memory.may_return, memory)
    may_be_learned(memory)
    if step["held"]:
        state_changes.hold(space, memory, timezone.now())
    else:
        believe_again(space, memory, Cause.UNDONE)


def _doubt_again(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    """An accepted fact waits again; the memory that it made is forgotten."""
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


def _mask_again(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    """What was shown for the sake of an accepted fact; of the memory all words."""
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
    """What was asked of the memory waits again, taken back where it was done."""
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
    "accept": _doubt_again,
    "dismiss": _doubt,
    UNMASK: _mask_again,
    ORDER: _ask_again,
    LEAVE: _ask_again,
}
