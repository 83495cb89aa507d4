"""Undo of a decided case, step by step from its record."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories.belief import resolve, touches
from memories.belief.cases.case_decision import LEAVE
from memories.belief.cases.decide_case import ORDER, UNMASK, Cause, State, audit_case, locked_case
from memories.belief.cases.outcome import OUTCOME
from memories.belief.resolve import grounds, state_changes, take_support_away
from memories.belief.review.approve import decide
from memories.belief.review.forget import forget_locked, locked
from memories.belief.review.taken_words import give_back_words, leave_due, taken_by
from memories.belief.review.undo import believe_anew, put_back, return_locked
from memories.errors import Conflict, needed
from memories.index import due_vectors, workspace_index
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
    rank_of,
)
from memories.privacy import masks
from memories.reading import intents
from workspaces.scope import Scope

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
        asked = [uuid.UUID(s["intent"]) for s in case.steps if s["act"] in (ORDER, LEAVE)]
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
        give_back_words(scope, space, taken_by(memory_id), memory_id)
    rows = Intent.objects.select_related("episode", "session", "subject")
    for intent in rows.filter(pk__in=asked).order_by("pk"):
        intents.give_back_due(scope, intent)
        intents.withhold_again(scope, intent)
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
    believe_anew(scope, space, old, Cause.UNDONE)
    decide(scope, edit, "undo")


def _remember(scope: Scope, space: WorkspaceIndex, step: Step) -> list[uuid.UUID]:
    memory = locked(scope, step["memory"])
    _unchanged(memory.may_return, memory)
    return return_locked(scope, space, memory, is_held=step["held"])


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
    places = {uuid.UUID(pk): [(start, end) for start, end in spans] for pk, spans in step["episodes"].items()}
    masks.mask_episodes(space, places, why)
    masks.mask_memories(space, [uuid.UUID(step["memory"])], why)


def _doubt(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    Fact.objects.filter(pk=step["fact"]).update(quarantined_at=timezone.now())


def _ask_again(scope: Scope, space: WorkspaceIndex, step: Step) -> list[uuid.UUID]:
    """Let an order to the memory wait again; undo it first where it was done. What it names stays
    hidden, or is to be hidden again."""
    rows = Intent.objects.select_for_update(of=("self",))
    intent = rows.filter(pk=step["intent"], workspace_id=scope.workspace_id).first()
    if intent is None:
        return []
    is_done = intent.state == Intent.State.DONE
    touched: list[uuid.UUID] = []
    if is_done:
        own = intents.not_withheld_of(intent)
        touched = intents.take_back_locked(scope, space, intent, own)
    elif step.get("withheld"):
        leave_due(scope, intent)
    rows.filter(pk=intent.pk).update(
        state=Intent.State.CASE,
        memory_ids=step["memories"],
        reason=step["reason"],
        supersession=None,
        decided_by=scope.actor,
        decided_at=timezone.now(),
    )
    return touched


def _wait_again(scope: Scope, space: WorkspaceIndex, step: Step) -> None:
    """The pairs that the case was about."""
    rows = Supersession.objects.filter(workspace_id=scope.workspace_id, pk__in=step["ids"])
    rows.exclude(state=State.PENDING).update(
        state=State.PENDING, decided_by=scope.actor, decided_at=timezone.now(), note=""
    )


BACK: dict[str, Callable[[Scope, WorkspaceIndex, Step], list[uuid.UUID] | None]] = {
    "pairs": _wait_again,
    "uphold": lambda _scope, _space, step: touches.question_again(step["touches"]),
    "agree": lambda _scope, _space, step: touches.disagree(step["touches"]),
    "confirm": lambda _scope, _space, step: touches.unconfirm(step["touch"], step["was"]),
    "release": _hold_again,
    "keep": lambda _scope, _space, step: grounds.doubt(step["grounds"]),
    "vouch": lambda _scope, _space, step: take_support_away.take_keeping_back(step["fact"]),
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
