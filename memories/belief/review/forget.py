"""Forgetting a memory. A `wrong` or `private` one also leaves a rejection, so that it is not
learned again without a person's word, and its words are taken out of all that is served."""

import logging
import uuid
from collections.abc import Mapping, Sequence
from functools import partial

from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from memories.belief import resolve
from memories.belief.resolve import state_changes
from memories.belief.resolve.rejections import HIDDEN, PRIVATE, kind_of
from memories.belief.review import taken_words
from memories.errors import needed
from memories.index import workspace_index
from memories.models import (
    CaseItem,
    Fact,
    MaskedSpan,
    Memory,
    MemoryPeriod,
    Rejection,
    Supersession,
    WorkspaceIndex,
    expired_memories,
    versions_of,
)
from memories.privacy import irrevocable, masks
from memories.privacy.masks import MaskReason
from memories.profiles.features.follow_sources import withdraw
from workspaces.models import AuditEntry
from workspaces.scope import Scope

log = logging.getLogger(__name__)

CORRECTED, EXPIRED = "corrected", "expired"
MESSAGES = MASK, KEEP = "mask", "keep"  # what becomes of the messages that it stands on
BATCH = 200  # memories that end in one transaction


def locked(scope: Scope, memory_id: uuid.UUID) -> Memory:
    """Return the memory, locked until the transaction ends; NotFound where `scope` does not see
    it."""
    seen = Memory.objects.visible_to(scope).select_for_update(of=("self",))
    return needed(seen.filter(pk=memory_id).first(), "Memory")


def forget(scope: Scope, memory_id: uuid.UUID, reason: str = "", messages: str = "") -> Memory:
    """End a memory for `reason` (wrong, outdated, private or any text). Forgetting twice is
    once.

    What is wrong or private is told by nothing any more: the memory's own words are masked, of what
    is private those of all its versions, too. `messages` says what becomes of those it stands on:
    "mask" takes the same words out of them and of documents, as far as they are the asker's own to
    change; "keep" leaves them; by default they go where its own do. They are looked for and go once
    it is forgotten, in several transactions: where its process ends in between, the worker goes on.
    """
    space = workspace_index.index_of(scope.workspace_id)
    kind = kind_of(reason)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        memory = locked(scope, memory_id)
        made = hide_locked(scope, space, memory, reason, messages=messages)
        known = None if memory.forgotten_at is None else kind_of(memory.forget_reason)
        if known is None or (kind in HIDDEN and known not in (kind, PRIVATE)):
            forget_locked(scope, [memory], reason, messages)
        elif kind in HIDDEN:  # an agent may have said so before, which bound that agent alone
            reject_claim(scope, memory, reason)
            _note_hidden(scope, [memory], memory.forget_reason, messages)
    masks.fill(space, made)
    taken_words.take_words(scope, space, memory_id)
    return memory


def hide_locked(
    scope: Scope, space: WorkspaceIndex, memory: Memory, reason: str, *, messages: str = ""
) -> list[MaskedSpan]:
    """Take the words out of a locked memory that is about to be forgotten for this reason, and note
    that those of messages and documents are to go, where they are: `messages` as `forget` takes
    it. Its caller fills the vectors, and once it has committed takes the words."""
    kind = kind_of(reason)
    if (messages or (MASK if kind in HIDDEN else KEEP)) == MASK:
        taken_words.leave_due(scope, memory)
    if kind not in HIDDEN:
        return []
    every = set(versions_of(memory.pk)) if kind == PRIVATE else {memory.pk}
    seen = Memory.objects.visible_to(scope).filter(pk__in=every)
    every = set(seen.values_list("pk", flat=True))
    taken = MaskedSpan.objects.filter(memory__in=every, place="content", kind=MaskedSpan.Kind.FORGOTTEN)
    every -= set(taken.values_list("memory_id", flat=True))
    made = masks.mask_memories(space, every, MaskReason(MaskedSpan.Kind.FORGOTTEN, kind, memory.pk))
    memory.refresh_from_db(fields=["content", "entities"])
    return made


def forget_all(scope: Scope, ids: Sequence[uuid.UUID]) -> int:
    """Forget those of these memories that `scope` sees, like `forget`: each batch in its own
    transaction, by as many statements as one memory takes. Return how many ended."""
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


def forget_expired(scope: Scope, ids: Sequence[uuid.UUID]) -> int:
    """End those of these memories whose `forget_after` has passed. Return how many."""
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        # Under the lock: a person may have given it more time, or forgotten it.
        still = Memory.objects.filter(expired_memories(), pk__in=ids, forgotten_at=None)
        rows = list(still.select_for_update())
        for memory in rows:
            # It was believed until it expired, however late the sweep comes.
            MemoryPeriod.objects.filter(memory=memory, until_at=None).update(
                until_at=Greatest(F("from_at"), Value(memory.forget_after)), ended_by=EXPIRED
            )
            forget_locked(scope, [memory], EXPIRED)
    return len(rows)


def forget_locked(scope: Scope, memories: Sequence[Memory], reason: str, messages: str = "") -> None:
    """Forget locked memories within the caller's transaction; what waited to let one of them
    replace another is rejected. A restore does it again where it is wrong or private; `messages`
    says what becomes then of those they stand on, as `forget` takes it."""
    space, now = workspace_index.index_of(scope.workspace_id), timezone.now()
    state_changes.end(space, memories, reason, now)
    Supersession.objects.filter(new__in=memories, state=Supersession.State.PENDING).update(
        state=Supersession.State.REJECTED, decided_by=scope.actor, decided_at=now, note=reason
    )
    Fact.objects.filter(memory__in=memories, quarantined_at__isnull=False).update(quarantined_at=None)
    withdraw(scope, memories)
    if kind_of(reason) in HIDDEN:
        for memory in memories:
            reject_claim(scope, memory, reason)
        _note_hidden(scope, memories, reason, messages)
    lines = {memory: {"reason": reason, "before": {"content": memory.content}} for memory in memories}
    _write_audit(scope, "forget", lines)
    cases = CaseItem.objects.filter(memory__in=memories).values_list("case", flat=True)
    resolve.settle(list(cases), scope.actor)


def _note_hidden(scope: Scope, memories: Sequence[Memory], reason: str, messages: str) -> None:
    irrevocable.note_memories(
        irrevocable.FORGOTTEN,
        memories,
        reason=kind_of(reason),
        messages=messages or MASK,
        agent=scope.agent_id,
    )


def reject_claim(scope: Scope, memory: Memory, reason: str) -> None:
    """Record that this must not be learned again about its subject, nor in other words; where it is
    private, not before a person says so. What was told to an agent, or said by its key, binds that
    agent."""
    fingerprint = bytes(memory.fingerprint)
    known = Rejection.objects.of(memory.workspace_id, memory.subject_id, fingerprint)
    if known.filter(Q(agent=None) | Q(agent=scope.agent_id)).exists():
        return  # the workspace's lock is held: nobody adds one meanwhile
    Rejection.objects.create(
        workspace_id=memory.workspace_id,
        subject=memory.subject,
        agent_id=scope.agent_id,
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
        scope.line(action, memory, subject_id=memory.subject_id, **own) for memory, own in details.items()
    )
    for memory in details:
        tell = partial(
            log.info,
            "workspace %s: %s of memory %s by %s",
            scope.workspace_id,
            action,
            memory.pk,
            scope.actor,
        )
        transaction.on_commit(tell)
