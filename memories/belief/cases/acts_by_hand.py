"""Decisions of people and programs outside cases and replacements: lines of the audit, each with
the act that takes it back."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from memories.belief import resolve, review
from memories.belief.cases.postpone_case import leave_failure
from memories.belief.cases.undo_case import believed_no_more
from memories.belief.review.edit import IN_PLACE
from memories.belief.review.merge_duplicates import part_duplicates
from memories.errors import Conflict, NotFound, needed
from memories.index import workspace_index
from memories.language.english import lexical
from memories.models import Fact, Memory, Rejection
from memories.profiles.features import edit_features, undo_features
from workspaces.models import AuditEntry
from workspaces.scope import Scope

# Kinds of lines: the act and the kind of the row.
FORGET, RESTORE, MOVE, EDIT, CREATE = ((act, "memory") for act in ("forget", "restore", "move", "edit", "create"))
MERGE, ACCEPT, DISMISS = ("merge", "memory"), ("accept", "memory"), ("dismiss", "fact")
ALLOW = ("allow_again", "rejection")
NOTES = tuple((f"{act}_feature", "feature") for act in ("add", "update", "delete"))
IN_PROFILE = ("edit_feature", "feature")  # what no undo of a feature's own changes takes back
LEFT = tuple(("leave", kind) for kind in ("memorysession", "document", "goldenquestion"))
OF_THE_NEWEST = (*NOTES, IN_PROFILE, *LEFT)
KINDS = (FORGET, RESTORE, MOVE, EDIT, CREATE, MERGE, ACCEPT, DISMISS, ALLOW, *OF_THE_NEWEST)
# Reasons of lines that older versions wrote for a part of another decision.
PARTS = Q(reason__in=("undone", "rejected")) | Q(reason__startswith="duplicate of ")
MOMENTS = ("forget_after", "event_date", "valid_from", "valid_until")


def lines() -> QuerySet[AuditEntry]:
    """Return the lines of decisions that stand by themselves. An act that is part of another is
    shown with that one, a correction with the replacement it made."""
    kinds = Q()
    for action, kind in KINDS:
        kinds |= Q(action=action, target_kind=kind)
    told_with_another = Q(after__has_key="within") | Q(action="edit", after__has_key="content")
    rows = AuditEntry.objects.filter(kinds, Q(after=None) | ~told_with_another)
    return rows.exclude(PARTS, action="forget")


def kind_of(line: AuditEntry) -> tuple[str, str]:
    return line.action, line.target_kind


def open_lines(found: Iterable[AuditEntry]) -> set[uuid.UUID]:
    """Return those lines that can be undone: their rows are as the line left them. A few queries
    for all."""
    rows = list(found)
    ids = {line.target_id for line in rows} | {_merged(line) for line in rows}
    memories = Memory.objects.select_related("subject").in_bulk([pk for pk in ids if pk])
    facts = Fact.objects.in_bulk([line.target_id for line in rows if kind_of(line) == DISMISS])
    later = _latest([line for line in rows if kind_of(line) in OF_THE_NEWEST])
    return {line.pk for line in rows if _stands(line, memories, facts, later)}


def _latest(rows: list[AuditEntry]) -> dict[uuid.UUID, uuid.UUID]:
    """Return the newest line about each target."""
    about = AuditEntry.objects.filter(target_id__in=[line.target_id for line in rows])
    newest = about.order_by("target_id", "-pk").distinct("target_id") if rows else about.none()
    return dict(newest.values_list("target_id", "pk"))


def _stands(
    line: AuditEntry,
    memories: Mapping[uuid.UUID, Memory],
    facts: Mapping[uuid.UUID, Fact],
    later: Mapping[uuid.UUID, uuid.UUID],
) -> bool:
    """Tell whether the rows are as the line left them."""
    kind, memory = kind_of(line), memories.get(line.target_id)
    before, after = line.before or {}, line.after or {}
    if kind == FORGET:
        return memory is not None and memory.may_return
    if kind in (RESTORE, ACCEPT, CREATE):
        is_theirs = kind != CREATE or (memory is not None and memory.source_count == 1)
        return memory is not None and memory.is_live and is_theirs
    if kind == MOVE and memory is not None and memory.subject is not None:
        return bool(before.get("userId")) and memory.subject.external_id == after.get("userId")
    if kind == EDIT and memory is not None and set(before) <= set(IN_PLACE):
        return memory.state.is_head and all(
            (held.isoformat() if isinstance(held, datetime) else held) == value
            for held, value in ((getattr(memory, name), value) for name, value in after.items())
        )
    if kind == MERGE:
        other = memories.get(_merged(line) or uuid.UUID(int=0))
        return other is not None and other.may_return and memory is not None
    if kind == DISMISS:
        fact = facts.get(line.target_id)
        return fact is not None and fact.quarantined_at is None and fact.memory_id is None
    if kind == ALLOW:
        return bool(before.get("content"))
    return later.get(line.target_id) == line.pk


def _merged(line: AuditEntry) -> uuid.UUID | None:
    """The memory that was merged into another."""
    other = (line.before or {}).get("memory") if kind_of(line) == MERGE else None
    return uuid.UUID(other) if other else None


def take_back(scope: Scope, line_id: uuid.UUID) -> AuditEntry:
    """Undo what a line tells; NotFound where `scope` has no such line, Conflict where it was undone
    or something came after it."""
    rows = lines().filter(workspace_id=scope.workspace_id, pk=line_id)
    line = needed(rows.first(), "Decision")
    if line.pk not in open_lines([line]):
        raise Conflict("It was taken back, or something came after it.", "stale", "id")
    ACTS[kind_of(line)](scope, line)
    return line


def _forget_again(scope: Scope, line: AuditEntry) -> None:
    before = AuditEntry.objects.filter(
        workspace_id=scope.workspace_id, target_id=line.target_id, action="forget", pk__lt=line.pk
    )
    reason = before.order_by("-pk").values_list("reason", flat=True).first() or ""
    review.forget(scope, line.target_id, reason)


def _change_back(scope: Scope, line: AuditEntry) -> None:
    before = dict(line.before or {})
    for name in MOMENTS:
        if before.get(name):
            before[name] = parse_datetime(before[name])
    review.edit(scope, line.target_id, before)


@transaction.atomic(durable=True)
def _ask_again(scope: Scope, line: AuditEntry) -> None:
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    seen = Fact.objects.visible_to(scope).filter(pk=line.target_id)
    if not seen.update(quarantined_at=timezone.now()):
        raise NotFound("Fact")
    scope.audit("undo", seen.get(), subject_id=line.subject_id)
    resolve.file_unfiled(space)


@transaction.atomic(durable=True)
def _reject_again(scope: Scope, line: AuditEntry) -> None:
    before = line.before or {}
    fingerprint = lexical.fingerprint(before["content"])
    agent = before.get("agent")
    known = Rejection.objects.of(scope.workspace_id, line.subject_id, fingerprint)
    if known.filter(agent=agent).exists():
        raise Conflict("It is not learned again as it is.", "stale", "id")
    made = Rejection.objects.create(
        workspace_id=scope.workspace_id,
        subject_id=line.subject_id,
        fingerprint=fingerprint,
        content=before["content"],
        reason=before.get("reason", ""),
        rejected_by=scope.actor,
        agent_id=agent,
    )
    scope.audit("reject", made, subject_id=line.subject_id)


ACTS: dict[tuple[str, str], Callable[[Scope, AuditEntry], object]] = {
    FORGET: lambda scope, line: review.restore(scope, line.target_id),
    RESTORE: _forget_again,
    MOVE: lambda scope, line: review.move(scope, [line.target_id], (line.before or {})["userId"]),
    EDIT: _change_back,
    CREATE: lambda scope, line: review.forget(scope, line.target_id, "added by mistake"),
    MERGE: lambda scope, line: part_duplicates(
        scope, line.target_id, _merged(line) or line.target_id, (line.before or {}).get("facts", ())
    ),
    ACCEPT: lambda scope, line: believed_no_more(scope, line.target_id),
    DISMISS: _ask_again,
    ALLOW: _reject_again,
    **dict.fromkeys(NOTES, lambda scope, line: undo_features.undo(scope, line.target_id)),
    IN_PROFILE: lambda scope, line: edit_features.edit(scope, line.target_id, line.before or {}),
    **dict.fromkeys(LEFT, lambda scope, line: leave_failure(scope, line.target_id, is_left=False)),
}
