"""What people and programs do to memories by hand: create, edit, restore, decide, undo."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories import lexical, supersession
from memories.errors import Conflict, Forbidden, Invalid, NotFound
from memories.extraction import type_of, visibility_of
from memories.forgetting import audit, end, locked
from memories.indexing import due, entries, spaces
from memories.indexing.nearest import Placement
from memories.models import (
    Conversation,
    Fact,
    Layer,
    Liveness,
    Memory,
    MemoryScope,
    Rejection,
    Source,
    Supersession,
    WorkspaceIndex,
)
from memories.supersession import Claim
from workspaces.naming import NotAllowed, agent_to_write, subject_to_write
from workspaces.scope import Scope, mates_of

# What may change in place; new content is always a new version.
IN_PLACE = (
    "metadata",
    "pinned",
    "visibility",
    "forget_after",
    "category",
    "fact_type",
    "entities",
    "confidence",
    "event_date",
    "valid_from",
    "valid_until",
)
INHERITED = (
    "workspace_id",
    "subject_id",
    "agent_id",
    "conversation_id",
    "workflow",
    "scope",
    "fact_type",
    "category",
    "visibility",
    "event_date",
    "forget_after",
    "pinned",
    "metadata",
    "confidence",
    "source_count",
)

OF_A_FACT = (
    "workspace_id",
    "subject_id",
    "agent_id",
    "category",
    "fact_type",
    "visibility",
    "confidence",
    "entities",
    "event_date",
)


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory written by hand; ids are the callers' own."""

    content: str
    user_id: str = ""
    agent_id: str = ""
    thread_id: str = ""
    workflow_id: str = ""
    scope: str = MemoryScope.USER
    category: str = "other"
    fact_type: str = ""
    visibility: str = ""
    confidence: float = 1.0
    entities: tuple[str, ...] = ()
    event_date: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def create(scope: Scope, new: NewMemory) -> Memory:
    """Add a memory by hand; one that is believed already with the same text is answered again."""
    claim = Claim(
        statement=new.content.strip(),
        category=new.category,
        fact_type=new.fact_type or type_of(new.category),
        visibility=new.visibility or visibility_of(new.category),
        method=Fact.Method.MANUAL,
        rule="manual",
        source=Source.MANUAL,
        occurred_at=timezone.now(),
        confidence=new.confidence,
        entities=new.entities,
        event_date=new.event_date,
        metadata=new.metadata,
    )
    if not claim.statement:
        raise Invalid("content", "A memory must say something.")
    space = spaces.space_of(scope.workspace_id)
    vectors = due.embed_or_leave(space, [entries.texts_of(claim.statement)])
    return _create(scope, space, new, claim, vectors)


@transaction.atomic(durable=True)
def _create(
    scope: Scope,
    space: WorkspaceIndex,
    new: NewMemory,
    claim: Claim,
    vectors: list[entries.Vectors] | None,
) -> Memory:
    placement = _placement(scope, new)
    # A person's word outranks an earlier "no": saying it again by hand takes the "no" back.
    Rejection.objects.of(
        scope.workspace_id, placement.subject_id, lexical.fingerprint(claim.statement)
    ).delete()
    outcome = supersession.apply(space, placement, [claim], vectors, actor=scope.actor)
    memory_id = (outcome.created or outcome.reinforced)[0]
    memory = Memory.objects.with_names().get(pk=memory_id)
    audit(scope, "create", memory, after={"content": memory.content})
    return memory


def _placement(scope: Scope, new: NewMemory) -> Placement:
    try:
        subject = subject_to_write(scope, new.user_id)
        agent = agent_to_write(scope, new.agent_id)
    except NotAllowed as error:
        fields = {"subject": "userId", "agent": "agentId"}
        raise Forbidden(error.message, fields[error.field]) from None
    if new.scope == MemoryScope.WORKFLOW and not new.workflow_id:
        raise Invalid("workflowId", "A memory of scope workflow needs a workflowId.")
    team = agent.team if agent else ""
    conversation = _conversation(scope, new)
    return Placement(
        workspace_id=scope.workspace_id,
        subject_id=subject.pk if subject else None,
        agent_id=agent.pk if agent else None,
        team=mates_of(scope.workspace_id, team),
        in_default_team=not team,
        scope=new.scope,
        conversation_id=conversation.pk if conversation else None,
        workflow=new.workflow_id,
    )


def _conversation(scope: Scope, new: NewMemory) -> Conversation | None:
    if not new.thread_id:
        if new.scope == MemoryScope.THREAD:
            raise Invalid("threadId", "A memory of scope thread needs a threadId.")
        return None
    conversation, _ = Conversation.objects.get_or_create(
        workspace_id=scope.workspace_id, external_id=new.thread_id
    )
    return conversation


# ---- edit -----------------------------------------------------------------------------------


def edit(
    scope: Scope,
    memory_id: uuid.UUID,
    changes: Mapping[str, Any],
    *,
    expected_version: int | None = None,
) -> Memory:
    """Change a head; new `content` makes a new version and answers it, as the new head.

    Raises Conflict for a version that is no head, or another one than expected.
    """
    content = str(changes.get("content", "")).strip()
    if "content" in changes and not content:
        raise Invalid("content", "A memory must say something.")
    space = spaces.space_of(scope.workspace_id)
    vectors = due.embed_or_leave(space, [entries.texts_of(content)]) if content else None
    with transaction.atomic(durable=True):
        spaces.lock(space)
        memory = locked(scope, memory_id)
        _check_head(memory, expected_version)
        _change_in_place(scope, memory, {k: v for k, v in changes.items() if k in IN_PLACE})
        if content and content != memory.content:
            memory = new_version(scope, space, memory, content, vectors)
    return Memory.objects.with_names().get(pk=memory.pk)


def _check_head(memory: Memory, expected_version: int | None) -> None:
    if memory.superseded_by_id is not None or memory.forgotten_at is not None:
        what = "superseded" if memory.superseded_by_id else "forgotten"
        raise Conflict(f"This version is {what}; edit the head of its chain.", "not_head", "id")
    if expected_version is not None and memory.version != expected_version:
        raise Conflict(
            f"Somebody changed it: version {memory.version} is the head now.", "stale", "If-Match"
        )


def _change_in_place(scope: Scope, memory: Memory, changes: Mapping[str, Any]) -> None:
    before = {name: getattr(memory, name) for name in changes}
    changed = [name for name, value in changes.items() if before[name] != value]
    if not changed:
        return
    for name in changed:
        setattr(memory, name, changes[name])
    memory.save(update_fields=[*changed, "updated_at"])
    if "visibility" in changed:
        entries.change_visibility(Layer.MEMORIES, memory.pk, memory.visibility)
    audit(
        scope,
        "edit",
        memory,
        before={name: _plain(before[name]) for name in changed},
        after={name: _plain(changes[name]) for name in changed},
    )


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def new_version(
    scope: Scope,
    space: WorkspaceIndex,
    old: Memory,
    content: str,
    vectors: list[entries.Vectors] | None,
) -> Memory:
    """Replace a locked head by `content`, in the caller's transaction; the new head."""
    now = timezone.now()
    new = Memory(
        **{name: getattr(old, name) for name in INHERITED},
        content=content,
        fingerprint=lexical.fingerprint(content),
        entities=[entity for entity in old.entities if entity.lower() in content.lower()],
        source=Source.MANUAL,
        version=old.version + 1,
        # A correction: what it says was true as long as the old one was taken to be.
        valid_from=old.valid_from,
    )
    new.save(force_insert=True)
    Memory.objects.filter(pk=old.pk).supersede(by=new, at=now)
    Fact.objects.create(
        **{name: getattr(new, name) for name in OF_A_FACT},
        memory=new,
        statement=content,
        method=Fact.Method.MANUAL,
        rule="edit",
    )
    _record(scope, old, new, "edit")
    _begin(new, Liveness.Cause.CREATED)
    entries.set_live(space, Layer.MEMORIES, [old.pk], live=False)
    entries.write(space, [entries.memory_item(new)], vectors)
    audit(scope, "edit", new, before={"content": old.content}, after={"content": content})
    return new


def _record(scope: Scope, old: Memory, new: Memory, rule: str) -> None:
    Supersession.objects.create(
        workspace_id=scope.workspace_id,
        old=old,
        new=new,
        rule=rule,
        method="manual",
        state=Supersession.State.APPLIED,
        decided_by=scope.actor,
    )


def _begin(memory: Memory, cause: str) -> None:
    Liveness.objects.create(
        workspace_id=memory.workspace_id, memory=memory, from_at=timezone.now(), cause=cause
    )


@transaction.atomic(durable=True)
def restore(scope: Scope, memory_id: uuid.UUID) -> Memory:
    """Believe a forgotten memory again; its rejection goes. Conflict where a newer one stands."""
    space = spaces.space_of(scope.workspace_id)
    spaces.lock(space)
    memory = locked(scope, memory_id)
    if memory.superseded_by_id is not None:
        raise Conflict("A newer version stands: undo its supersession instead.", "not_head", "id")
    if memory.forgotten_at is None and (memory.forget_after is None or memory.is_live):
        raise Conflict("It is not forgotten.", "not_forgotten", "id")
    memory.forgotten_at, memory.forget_reason, memory.forget_after = None, "", None
    memory.held_at = None
    memory.save(
        update_fields=["forgotten_at", "forget_reason", "forget_after", "held_at", "updated_at"]
    )
    Rejection.objects.of(memory.workspace_id, memory.subject_id, bytes(memory.fingerprint)).delete()
    _revive(space, memory, Liveness.Cause.RESTORED)
    audit(scope, "restore", memory, after={"content": memory.content})
    return Memory.objects.with_names().get(pk=memory.pk)


def _revive(space: WorkspaceIndex, memory: Memory, cause: str) -> None:
    if not memory.liveness.filter(until_at=None).exists():
        _begin(memory, cause)
    entries.set_live(space, Layer.MEMORIES, [memory.pk], live=True)


# ---- decisions on supersessions -------------------------------------------------------------


def _locked_decision(scope: Scope, supersession_id: uuid.UUID, state: str) -> Supersession:
    rows = Supersession.objects.filter(workspace_id=scope.workspace_id, pk=supersession_id)
    found = rows.select_for_update().first()
    seen = Memory.objects.visible_to(scope)
    if found is None or seen.filter(pk__in=[found.old_id, found.new_id]).count() < 2:
        raise NotFound("Supersession")
    if found.state != state:
        raise Conflict(f"Somebody decided meanwhile: it is {found.state}.", "stale", "state")
    return found


def approve(scope: Scope, supersession_id: uuid.UUID, content: str = "") -> Supersession:
    """Let the held memory replace the old one; `content` edits it on the way."""
    space = spaces.space_of(scope.workspace_id)
    content = content.strip()
    vectors = due.embed_or_leave(space, [entries.texts_of(content)]) if content else None
    with transaction.atomic(durable=True):
        spaces.lock(space)
        found = _locked_decision(scope, supersession_id, Supersession.State.PENDING)
        old, new = locked(scope, found.old_id), locked(scope, found.new_id)
        if not old.is_latest or old.forgotten_at is not None:
            raise Conflict("The old memory is no longer live.", "stale", "old")
        _release(space, new)
        Memory.objects.filter(pk=old.pk).supersede(by=new, at=timezone.now())
        Memory.objects.filter(pk=new.pk).update(version=old.version + 1)
        new.version = old.version + 1
        entries.set_live(space, Layer.MEMORIES, [old.pk], live=False)
        _decide(scope, found, Supersession.State.APPLIED, "approve")
        if content and content != new.content:
            new_version(scope, space, new, content, vectors)
    return found


@transaction.atomic(durable=True)
def reject(scope: Scope, supersession_id: uuid.UUID, note: str = "") -> Supersession:
    """Keep the old memory; the new one is forgotten."""
    space = spaces.space_of(scope.workspace_id)
    spaces.lock(space)
    found = _locked_decision(scope, supersession_id, Supersession.State.PENDING)
    new = locked(scope, found.new_id)
    _decide(scope, found, Supersession.State.REJECTED, "reject", note)
    end(scope, new, note or "rejected")
    return found


@transaction.atomic(durable=True)
def keep_both(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Both live on: they do not say the same thing."""
    space = spaces.space_of(scope.workspace_id)
    spaces.lock(space)
    found = _locked_decision(scope, supersession_id, Supersession.State.PENDING)
    _release(space, locked(scope, found.new_id))
    _decide(scope, found, Supersession.State.REJECTED, "keep_both", "kept both")
    return found


@transaction.atomic(durable=True)
def undo(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Take an applied supersession back: the old memory is the head again, the new one ends.

    Conflict where the new one has been replaced itself: undo that first.
    """
    space = spaces.space_of(scope.workspace_id)
    spaces.lock(space)
    found = _locked_decision(scope, supersession_id, Supersession.State.APPLIED)
    old, new = locked(scope, found.old_id), locked(scope, found.new_id)
    if new.superseded_by_id is not None:
        raise Conflict("The newer version was replaced itself: undo that first.", "stale", "new")
    old.superseded_by, old.superseded_at = None, None
    if old.valid_until == new.valid_from:
        old.valid_until = None
    old.save(update_fields=["superseded_by", "superseded_at", "valid_until", "updated_at"])
    if new.forgotten_at is None:
        end(scope, new, "undone")
    if old.forgotten_at is None:
        _revive(space, old, Liveness.Cause.UNDONE)
    _decide(scope, found, Supersession.State.UNDONE, "undo")
    return found


def _release(space: WorkspaceIndex, memory: Memory) -> None:
    """Let a held memory live."""
    memory.held_at = None
    memory.save(update_fields=["held_at", "updated_at"])
    _revive(space, memory, Liveness.Cause.APPROVED)


def _decide(scope: Scope, found: Supersession, state: str, action: str, note: str = "") -> None:
    before = found.state
    found.state, found.decided_by, found.decided_at = state, scope.actor, timezone.now()
    found.note = note or found.note
    found.save(update_fields=["state", "decided_by", "decided_at", "note", "updated_at"])
    new = Memory.objects.get(pk=found.new_id)
    audit(scope, action, new, reason=note, before={"state": before}, after={"state": state})
