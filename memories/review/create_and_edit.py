"""Memories written or changed by hand; one that holds a secret or an order waits for a person."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.utils import timezone
from pydantic import Field

from memories import guard, masks, resolve
from memories.bounds import WHOLE
from memories.english import lexical, read_clause, statements
from memories.english.patterns.pattern import FACT_TYPES
from memories.errors import Conflict, Forbidden, Invalid
from memories.extraction import visibility_of
from memories.features import follow_sources
from memories.index import due_vectors, entries, row_marks, workspace_index
from memories.index.nearest import Placement
from memories.masked_text import without_words
from memories.models import (
    Category,
    Conversation,
    Fact,
    FactType,
    Layer,
    MaskedSpan,
    Memory,
    MemoryPeriod,
    MemoryScope,
    MemoryState,
    Source,
    Supersession,
    Visibility,
    WorkspaceIndex,
)
from memories.models.conversation_and_summaries import check_thread, is_shared_by_default
from memories.resolve import Claim, file_facts, grounds, rejections, state_changes
from memories.review.forget import CORRECTED, audit, locked, reject_claim
from workspaces.request_fields import (
    ExternalId,
    Flag,
    Metadata,
    Moment,
    NullIs,
    Number,
    OneOf,
    OwnId,
    Text,
    declared,
)
from workspaces.scope import NotAllowed, Scope, agent_to_write, mates_of, subject_to_write

# A memory written by hand that holds a secret or an order: masked, and not live before a person
# says so.

GUARD = "guard"  # so begins the rule of its fact


def places_in(space: WorkspaceIndex, content: str) -> list[guard.Finding]:
    """Find what must be masked in words that somebody writes by hand."""
    return guard.findings(content, guard.TEXT, space.guard.get("allowed", ()))


def without_secrets(space: WorkspaceIndex, value: Any) -> Any:
    """Return metadata or a title that somebody writes by hand, with blocks in the place of secrets
    and of orders to the reader."""
    return without_words(value, guard.words_in(value, guard.OTHER, space.guard.get("allowed", ())))


def hold_new(space: WorkspaceIndex, memory: Memory, places: Sequence[guard.Finding]) -> Memory:
    """Write an unsaved memory masked and held, with a fact in quarantine that says why; in the
    caller's transaction."""
    reason = guard.reason_of(places)
    fact = Fact(
        workspace_id=memory.workspace_id,
        subject_id=memory.subject_id,
        agent_id=memory.agent_id,
        memory=memory,
        statement=memory.content,
        category=memory.category,
        fact_type=memory.fact_type,
        visibility=memory.visibility,
        confidence=memory.confidence,
        method=Fact.Method.MANUAL,
        rule=f"{GUARD}:{places[0].label}",
        quarantined_at=timezone.now(),
        quarantine_reason=reason,
    )
    why = masks.MaskReason(MaskedSpan.Kind.SECRET, reason, fact.pk)
    spans = [(place.start, place.end) for place in places]
    hidden = [*masks.of_new_memory(memory, spans, why), *masks.of_new_fact(fact, spans, why)]
    memory.held_at = timezone.now()
    memory.fingerprint = lexical.fingerprint(memory.content)
    memory.slots = row_marks.slots_of_memory(memory, row_marks.words_of(space))
    memory.save(force_insert=True)
    fact.save(force_insert=True)
    MaskedSpan.objects.bulk_create(hidden)
    entries.write(space, [entries.memory_item(memory)], None)
    file_facts([fact])
    return memory


def let_go(memory: Memory) -> None:
    """Take the fact that says why a memory was held out of quarantine."""
    waiting = Fact.objects.filter(memory=memory, quarantined_at__isnull=False)
    waiting.update(quarantined_at=None)


def unmask_held(scope: Scope, space: WorkspaceIndex, memory: Memory) -> None:
    """Put the words back that were masked because the memory was held."""
    hidden = MaskedSpan.objects.filter(memory=memory, kind=MaskedSpan.Kind.SECRET)
    causes = [pk for pk in hidden.values_list("cause", flat=True) if pk]
    masked = MaskedSpan.objects.filter(workspace_id=space.workspace_id, cause__in=causes)
    masks.unmask(scope, space, masked)
    memory.refresh_from_db(fields=["content", "slots"])
    memory.fingerprint = lexical.fingerprint(memory.content)
    memory.save(update_fields=["fingerprint"])


Share = Annotated[Number, Field(ge=0, le=1)]
Entities = Annotated[tuple[OwnId, ...], Field(max_length=100)]


@declared
@dataclass(frozen=True, slots=True)
class NewMemory:
    content: Annotated[Text, Field(max_length=WHOLE)]
    user_id: ExternalId = ""
    agent_id: ExternalId = ""
    thread_id: ExternalId = ""
    workflow_id: ExternalId = ""
    scope: Annotated[str, OneOf(MemoryScope)] = MemoryScope.USER
    category: Annotated[str, OneOf(Category)] = Category.OTHER
    fact_type: Annotated[
        str | None,
        OneOf(FactType),
        NullIs(""),
        Field(description="Absent: the category's; null: none, listed under uncategorized."),
    ] = None
    visibility: Annotated[str, OneOf(Visibility), NullIs("")] = ""
    confidence: Share = 1.0
    entities: Entities = ()
    event_date: Moment | None = None
    metadata: Metadata = field(default_factory=dict)
    forget_after: Moment | None = None
    pinned: Flag = False
    valid_from: Moment | None = None
    valid_until: Moment | None = None


def checked(content: str) -> str:
    """Return `content` without blanks around it. Invalid where it says nothing, or is too long for
    a memory."""
    content = content.strip()
    if not content:
        raise Invalid("content", "A memory must say something.")
    if len(content) > WHOLE:
        raise Invalid(
            "content", f"{len(content)} characters; a memory has at most {WHOLE}.", "max_length"
        )
    return content


def create(scope: Scope, new: NewMemory) -> Memory:
    """Add a memory by hand; one that is believed already with the same text is answered again.

    Raises Invalid and Forbidden for what cannot be."""
    content = checked(new.content)
    if new.valid_from and new.valid_until and new.valid_until < new.valid_from:
        raise Invalid("validUntil", "Must not be before validFrom.")
    space = workspace_index.index_of(scope.workspace_id)
    new = replace(new, metadata=without_secrets(space, new.metadata))
    places = places_in(space, content)
    vectors = None if places else due_vectors.embed_or_leave(space, [entries.texts_of(content)])
    with transaction.atomic(durable=True):
        placement, shares = _placement(scope, new, str(space.guard.get("audience") or ""))
        claim = _claim(new, content, shares)
        if claim.is_of_team and scope.subject_ids is None:
            placement = replace(placement, subject_id=None)
        if places:
            return _hold(scope, space, placement, claim, places)
        # A person's word outranks an earlier "no": saying it again by hand takes the "no" back.
        vector = vectors[0][0] if vectors else None
        rejections.take_back(scope, space, placement.subject_id, content, vector)
        outcome = resolve.apply(space, placement, [claim], vectors, actor=scope.actor)
        memory_id = (outcome.created or outcome.reinforced)[0]
        memory = Memory.objects.with_names().get(pk=memory_id)
        audit(scope, "create", memory, after={"content": memory.content})
    return memory


def _hold(
    scope: Scope,
    space: WorkspaceIndex,
    placement: Placement,
    claim: Claim,
    places: Sequence[guard.Finding],
) -> Memory:
    """Store a memory that nobody may read before a person approves it."""
    workspace_index.lock(space)
    memory = Memory(
        workspace_id=placement.workspace_id,
        subject_id=placement.subject_id,
        agent_id=placement.agent_id,
        conversation_id=placement.conversation_id,
        workflow=placement.workflow,
        scope=placement.scope,
        content=claim.statement,
        category=claim.category,
        fact_type=claim.fact_type,
        source=claim.source,
        visibility=claim.visibility,
        confidence=claim.confidence,
        event_date=claim.event_date,
        valid_from=claim.valid_from,
        valid_until=claim.until,
        forget_after=claim.forget_after,
        pinned=claim.pinned,
        source_count=1,
        metadata=dict(claim.metadata),
    )
    hold_new(space, memory, places)
    audit(scope, "hold", memory, after={"content": memory.content})
    return Memory.objects.with_names().get(pk=memory.pk)


def _claim(new: NewMemory, content: str, shares: bool) -> Claim:
    return Claim(
        statement=content,
        category=new.category,
        fact_type=FACT_TYPES[new.category] if new.fact_type is None else new.fact_type,
        visibility=new.visibility or visibility_of(new.category, content, shares=shares),
        method=Fact.Method.MANUAL,
        rule="manual",
        source=Source.MANUAL,
        occurred_at=timezone.now(),
        confidence=new.confidence,
        entities=new.entities,
        event_date=new.event_date,
        metadata=new.metadata,
        since=new.valid_from,
        until=new.valid_until,
        forget_after=new.forget_after,
        pinned=new.pinned,
    )


def _placement(scope: Scope, new: NewMemory, audience: str) -> tuple[Placement, bool]:
    """Return its placement, and whether a team's decision there is visible to the team."""
    try:
        subject = subject_to_write(scope, new.user_id)
        agent = agent_to_write(scope, new.agent_id)
    except NotAllowed as error:
        fields = {"subject": "userId", "agent": "agentId"}
        raise Forbidden(error.message, fields[error.field]) from None
    if new.scope == MemoryScope.WORKFLOW and not new.workflow_id:
        raise Invalid("workflowId", "A memory of scope workflow needs a workflowId.")
    team = agent.team if agent else ""
    if new.scope == MemoryScope.THREAD and not new.thread_id:
        raise Invalid("threadId", "A memory of scope thread needs a threadId.")
    conversation = None
    if new.thread_id:
        conversation, _ = Conversation.objects.get_or_create(
            workspace_id=scope.workspace_id,
            external_id=new.thread_id,
            defaults={"subject": subject, "agent": agent},
        )
        check_thread(scope, conversation)
    shares = is_shared_by_default(subject.pk if subject else None, agent, conversation, audience)
    placement = Placement(
        workspace_id=scope.workspace_id,
        subject_id=subject.pk if subject else None,
        agent_id=agent.pk if agent else None,
        team=mates_of(scope.workspace_id, team),
        in_default_team=not team,
        scope=new.scope,
        conversation_id=conversation.pk if conversation else None,
        workflow=new.workflow_id,
        spaces=scope.container_tags,
    )
    return placement, shares


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
    made = (
        due_vectors.embed_or_leave(space, [entries.texts_of(text) for text in new]) if new else None
    )
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
