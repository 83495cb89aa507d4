"""Memories changed by hand, in place or as a new version."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories.belief.resolve import grounds, rejections, state_changes
from memories.belief.review.create import checked, hold_new, places_in, without_secrets
from memories.belief.review.forget import CORRECTED, audit, locked, reject_claim
from memories.errors import Conflict
from memories.index import due_vectors, entries, row_marks, workspace_index
from memories.language.english import lexical, read_clause, statements
from memories.models import Fact, Layer, Memory, MemoryPeriod, MemoryState, Source, Supersession, WorkspaceIndex
from memories.profiles.features import follow_sources
from memories.reading import guard
from workspaces.scope import Scope

# A memory changed by hand: in place, or by a new version where its words change.

EDIT = "edit"  # the rule of a correction by hand
# Fields that may change in place; new content is always a new version.
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
OF_THE_WORDS = ("entities", "valid_until")
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
class MemoryEdit:
    """An edit of the head with this id; with `expected_version`, only of that version."""

    memory_id: uuid.UUID
    changes: Mapping[str, Any]
    expected_version: int | None = None


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
    return edit_all(scope, [MemoryEdit(memory_id, changes, expected_version)])[0]


def edit_all(scope: Scope, edits: Sequence[MemoryEdit]) -> list[Memory]:
    """Make several edits like `edit`, all of them or, where one cannot be made, none."""
    space = workspace_index.index_of(scope.workspace_id)
    contents = [checked(str(e.changes["content"])) if "content" in e.changes else "" for e in edits]
    places = [places_in(space, content) for content in contents]
    new = [content for content, held in zip(contents, places, strict=True) if content and not held]
    made = due_vectors.embed_or_leave(space, [entries.texts_of(text) for text in new]) if new else None
    vectors = dict(zip(new, made, strict=True)) if made else {}
    ids = []
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        for one, content, held in zip(edits, contents, places, strict=True):
            memory = locked(scope, one.memory_id)
            if memory.state in (MemoryState.SUPERSEDED, MemoryState.FORGOTTEN):
                message = f"This version is {memory.state}; edit the head of its chain."
                raise Conflict(message, "not_head", "id")
            if one.expected_version is not None and memory.version != one.expected_version:
                message = f"Somebody changed it: version {memory.version} is the head now."
                raise Conflict(message, "stale", "If-Match")
            kept = {name: value for name, value in one.changes.items() if name in IN_PLACE}
            if "metadata" in kept:
                kept["metadata"] = without_secrets(space, kept["metadata"])
            is_new = bool(content) and content != memory.content
            # A new version's own: the old one keeps what it had.
            own_of_new = {n: kept.pop(n) for n in OF_THE_WORDS if is_new and n in kept}
            _change_in_place(scope, memory, kept)
            if is_new:
                if held:
                    memory = _hold_version(scope, space, memory, content, held)
                else:
                    own = [vectors[content]] if content in vectors else None
                    memory = new_version(scope, space, memory, content, own)
                _change_in_place(scope, memory, own_of_new)
            ids.append(memory.pk)
    rows = Memory.objects.with_names().in_bulk(ids)
    return [rows[each] for each in ids]


def _change_in_place(scope: Scope, memory: Memory, changes: Mapping[str, Any]) -> None:
    before = {name: getattr(memory, name) for name in changes}
    changed = [name for name, value in changes.items() if before[name] != value]
    if not changed:
        return
    for name in changed:
        setattr(memory, name, changes[name])
    if "valid_until" in changed:
        memory.valid_until_at, memory.ended_by = timezone.now(), None
    memory.save(update_fields=[*changed, "valid_until_at", "ended_by", "updated_at"])
    if "visibility" in changed:
        entries.change_visibility(Layer.MEMORIES, [memory.pk], memory.visibility)
    if not {"event_date", "valid_from"}.isdisjoint(changed):
        entries.change_times(memory)
    plain = [
        {n: v.isoformat() if isinstance(v, datetime) else v for n, v in values.items()}
        for values in ({n: before[n] for n in changed}, {n: changes[n] for n in changed})
    ]
    audit(scope, "edit", memory, before=plain[0], after=plain[1])


def new_version(
    scope: Scope,
    space: WorkspaceIndex,
    old: Memory,
    content: str,
    vectors: list[entries.Vectors] | None,
    *,
    note: str = "",
) -> Memory:
    """Replace a locked head by `content`, in the caller's transaction. Return the new head."""
    new = _next(old, content)
    new.slots = row_marks.slots_of_memory(new, row_marks.words_of(space))
    new.save(force_insert=True)
    # In other words it is still what others rest on; a change of it ends that.
    was, now = (statements.read(each) for each in (old.content, content))
    is_changed = statements.relation(was, now, cosine=None, threshold=1.0).kind == "update"
    if not is_changed:
        grounds.move(old.pk, new.pk, also_own=True)
    state_changes.supersede(space, {old.pk: (new.pk, new.valid_from)}, timezone.now())
    own = {name: getattr(new, name) for name in OF_A_FACT}
    Fact.objects.create(**own, memory=new, statement=content, method=Fact.Method.MANUAL, rule=EDIT)
    Supersession.objects.create(
        workspace_id=scope.workspace_id,
        old=old,
        new=new,
        rule=EDIT,
        method="manual",
        note=note,
        state=Supersession.State.APPLIED,
        decided_by=scope.actor,
    )
    state_changes.begin_period(new, MemoryPeriod.Cause.CREATED)
    entries.write(space, [entries.memory_item(new)], vectors)
    follow_sources.correct(scope, old, new)
    vector = vectors[0][0] if vectors else None
    rejections.take_back(scope, space, old.subject_id, content, vector)
    if bytes(old.fingerprint) != new.fingerprint:
        reject_claim(scope, old, CORRECTED)  # else it comes back with the next ingest
    audit(scope, "edit", new, before={"content": old.content}, after={"content": content})
    return new


def _hold_version(
    scope: Scope,
    space: WorkspaceIndex,
    old: Memory,
    content: str,
    places: Sequence[guard.Finding],
) -> Memory:
    """Hold a correction, masked, for a person; `old` lives until then."""
    new = hold_new(space, _next(old, content), places)
    Supersession.objects.create(
        workspace_id=scope.workspace_id,
        old=old,
        new=new,
        rule=EDIT,
        method="manual",
        state=Supersession.State.PENDING,
        decided_by=scope.actor,
    )
    audit(scope, "hold", new, after={"content": new.content})
    return new


def _next(old: Memory, content: str) -> Memory:
    still_named = [entity for entity in old.entities if entity.lower() in content.lower()]
    return Memory(
        **{name: getattr(old, name) for name in INHERITED},
        content=content,
        fingerprint=lexical.fingerprint(content),
        entities=list(dict.fromkeys([*still_named, *read_clause.names(content)])),
        source=Source.MANUAL,
        version=old.version + 1,
        # A correction: what it says was true as long as the old one was taken to be.
        valid_from=old.valid_from,
    )
