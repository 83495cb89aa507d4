"""Forgetting: a memory ends; `wrong` also leaves a rejection, so that it is not learned again."""

import logging
import uuid
from collections.abc import Mapping, Sequence
from functools import partial

from django.db import transaction
from django.utils import timezone

from memories import resolve
from memories.errors import needed
from memories.features.follow_sources import withdraw
from memories.index import workspace_index
from memories.models import CaseItem, Fact, Memory, Rejection, Supersession
from memories.resolve import state_changes
from workspaces.models import AuditEntry
from workspaces.scope import Scope

log = logging.getLogger(__name__)

WRONG, CORRECTED = "wrong", "corrected"
BATCH = 1000  # memories that end in one transaction


def locked(scope: Scope, memory_id: uuid.UUID) -> Memory:
    """The memory, locked until the transaction ends; NotFound where `scope` does not see it."""
    seen = Memory.objects.visible_to(scope).select_for_update(of=("self",))
    return needed(seen.filter(pk=memory_id).first(), "Memory")


@transaction.atomic(durable=True)
def forget(scope: Scope, memory_id: uuid.UUID, reason: str = "") -> Memory:
    """End a memory for `reason` (wrong, outdated, private or any text). Forgetting twice is
    once."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    memory = locked(scope, memory_id)
    if memory.forgotten_at is None:
        forget_locked(scope, [memory], reason)
    return memory


def forget_all(scope: Scope, ids: Sequence[uuid.UUID]) -> int:
    """As `forget`, of all that `scope` sees of these: each batch in a transaction of its own, by
    as many statements as one memory takes. How many ended."""
    space, count = workspace_index.index_of(scope.workspace_id), 0
    for start in range(0, len(ids), BATCH):
        with transaction.atomic(durable=True):
            workspace_index.lock(space)
            seen = Memory.objects.visible_to(scope).select_for_update(of=("self",))
            batch = ids[start : start + BATCH]
            rows = list(seen.filter(pk__in=batch, forgotten_at=None).order_by("pk"))
            forget_locked(scope, rows, "")
            count += len(rows)
    return count


def forget_locked(scope: Scope, memories: Sequence[Memory], reason: str) -> None:
    """Forget locked memories within the caller's transaction; what waited to let one of them
    replace another is rejected."""
    space, now = workspace_index.index_of(scope.workspace_id), timezone.now()
    state_changes.end(space, memories, reason, now)
    Supersession.objects.filter(new__in=memories, state=Supersession.State.PENDING).update(
        state=Supersession.State.REJECTED, decided_by=scope.actor, decided_at=now, note=reason
    )
    Fact.objects.filter(memory__in=memories, quarantined_at__isnull=False).update(
        quarantined_at=None
    )
    withdraw(scope, memories)
    if reason == WRONG:
        for memory in memories:
            reject_claim(scope, memory, reason)
    lines = {
        memory: {"reason": reason, "before": {"content": memory.content}} for memory in memories
    }
    _write_audit(scope, "forget", lines)
    cases = CaseItem.objects.filter(memory__in=memories).values_list("case", flat=True)
    resolve.settle(list(cases), scope.actor)


def reject_claim(scope: Scope, memory: Memory, reason: str) -> None:
    """Leave word that this is not to be learned again about its subject, nor in other words."""
    fingerprint = bytes(memory.fingerprint)
    if Rejection.objects.of(memory.workspace_id, memory.subject_id, fingerprint).exists():
        return  # the workspace's lock is held: nobody adds one meanwhile
    Rejection.objects.create(
        workspace_id=memory.workspace_id,
        subject=memory.subject,
        memory=memory,
        fingerprint=fingerprint,
        content=memory.content,
        reason=reason,
        rejected_by=scope.actor,
    )


def audit(scope: Scope, action: str, memory: Memory, **details: object) -> None:
    """A line in the audit, and once it is committed one in the log, which holds ids alone."""
    _write_audit(scope, action, {memory: details})


def _write_audit(scope: Scope, action: str, details: Mapping[Memory, Mapping[str, object]]) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry.line(
            scope.workspace_id, scope.actor, action, memory, subject_id=memory.subject_id, **own
        )
        for memory, own in details.items()
    )
    for memory in details:
        tell = partial(
            log.info, "workspace %s: %s of memory %s by %s",
            scope.workspace_id, action, memory.pk, scope.actor,
        )  # fmt: skip
        transaction.on_commit(tell)
