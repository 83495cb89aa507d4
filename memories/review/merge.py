"""Two subjects become one."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories import outbox
from memories.errors import Invalid, NotFound
from memories.features import merge_subjects as features
from memories.index import slots, subjects, workspace_index
from memories.models import (
    Conversation,
    Episode,
    Fact,
    Memory,
    MemorySession,
    MergedRows,
    Rejection,
    SubjectMerge,
    WorkspaceIndex,
)
from workspaces.ids import uuid7
from workspaces.models import AuditEntry, Subject
from workspaces.scope import Scope

# What was said and believed goes over; sets and features follow in their own way.
FOLLOWING: dict[str, Any] = {
    "conversation": Conversation,
    "session": MemorySession,
    "episode": Episode,
    "fact": Fact,
    "memory": Memory,
    "rejection": Rejection,
}
SHARED = "rejection of both"  # the target's, where the source had the same
Moved = Mapping[str, list[uuid.UUID]]


def merge_subjects(scope: Scope, source_id: uuid.UUID, target_id: uuid.UUID) -> SubjectMerge:
    """What was said and believed about one subject is about another from now on; `separate` takes
    it back.

    The source stays, empty: what programs tell about it later is its own again. Keys that are
    limited to it do not see the target.
    """
    if source_id == target_id:
        raise Invalid("userId", "A subject cannot be merged into itself.")
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        source, target = (of_scope(scope, each) for each in (source_id, target_id))
        hold_still(space, source, target)
        made = SubjectMerge.objects.create(
            workspace_id=scope.workspace_id, source=source, target=target, batch=uuid7(),
            merged_by=scope.actor,
        )  # fmt: skip
        shared = _let_go_of_what_both_rejected(source, target)
        moved = {kind: give(kind, source, target) for kind in FOLLOWING}
        subjects.merge(space, source.pk, target.pk)
        slots.rebuild(moved["memory"], slots.words_of(space))
        learn_again(moved["session"])
        moved |= features.merge(scope, made) | {SHARED: shared}
        _keep(made, moved)
        tell(scope, made, "merge", {kind: len(ids) for kind, ids in moved.items()})
    return made


def of_scope(scope: Scope, subject_id: uuid.UUID) -> Subject:
    """The subject, locked; NotFound where `scope` does not see it."""
    rows = Subject.objects.filter(workspace_id=scope.workspace_id)
    if scope.subject_ids is not None:
        rows = rows.filter(pk__in=scope.subject_ids)
    # Not against keys: who writes a row about it waits for the workspace, and holds a share of it.
    found = rows.filter(pk=subject_id).select_for_update(no_key=True).first()
    if found is None:
        raise NotFound("Subject")
    return found


def hold_still(space: WorkspaceIndex, *subjects: Subject) -> None:
    """Wait for those who are writing down what is said about these subjects: they lock first the
    conversation, then the workspace's row. What they write after is about whom they named."""
    rows = Conversation.objects.filter(subject__in=subjects).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
    WorkspaceIndex.objects.select_for_update(no_key=True).get(pk=space.pk)


def give(kind: str, source: Subject, target: Subject, **which: Any) -> list[uuid.UUID]:
    """Rows of one kind that were about `source` are about `target`; their ids."""
    rows = FOLLOWING[kind]._default_manager.filter(subject=source, **which)
    ids = list(rows.values_list("pk", flat=True))
    FOLLOWING[kind]._default_manager.filter(pk__in=ids).update(subject=target)
    return ids


def _let_go_of_what_both_rejected(source: Subject, target: Subject) -> list[uuid.UUID]:
    own = Rejection.objects.filter(subject=source)
    shared = Rejection.objects.filter(subject=target, fingerprint__in=own.values("fingerprint"))
    ids = list(shared.values_list("pk", flat=True))
    own.filter(fingerprint__in=shared.values("fingerprint")).delete()
    return ids


def learn_again(session_ids: list[uuid.UUID]) -> None:
    """Sessions that a worker is at begin again, with whom they are about now."""
    busy = MemorySession.objects.filter(pk__in=session_ids, state=MemorySession.State.EXTRACTING)
    ids = list(busy.select_for_update().values_list("pk", flat=True))
    busy.filter(pk__in=ids).update(
        state=MemorySession.State.RECEIVED,  # by which the worker sees that it was taken over
        next_attempt_at=timezone.now(),
        lease_until=None,
    )
    for each in ids:
        outbox.post("run_session", each)


def _keep(made: SubjectMerge, moved: Moved) -> None:
    MergedRows.objects.bulk_create(
        MergedRows(workspace_id=made.workspace_id, merge=made, kind=kind, ids=ids)
        for kind, ids in moved.items()
        if ids
    )


def tell(scope: Scope, made: SubjectMerge, action: str, moved: Mapping[str, int]) -> None:
    """A line on each of the two, so that each one's history tells it."""
    for subject in (made.source, made.target):
        AuditEntry.line(
            scope.workspace_id,
            scope.actor,
            action,
            subject,
            subject_id=subject.pk,
            before={"userId": made.source.external_id},
            after={"userId": made.target.external_id, "moved": dict(moved), "merge": str(made.pk)},
        ).save()
