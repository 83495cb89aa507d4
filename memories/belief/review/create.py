"""Memories written by hand; one that holds a secret or an order waits for a person."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from django.db import transaction
from django.utils import timezone
from pydantic import Field

from memories.belief import resolve
from memories.belief.resolve import Claim, file_facts, rejections
from memories.belief.review.forget import audit
from memories.errors import Forbidden, Invalid
from memories.index import due_vectors, entries, row_marks, workspace_index
from memories.index.nearest import Placement
from memories.language.bounds import WHOLE
from memories.language.english import lexical
from memories.language.english.patterns.pattern import FACT_TYPES
from memories.models import (
    Category,
    Conversation,
    Fact,
    FactType,
    MaskedSpan,
    Memory,
    MemoryScope,
    Source,
    Visibility,
    WorkspaceIndex,
)
from memories.models.conversation import check_thread, is_shared_by_default
from memories.privacy import masks
from memories.reading import guard
from memories.reading.extraction import visibility_of
from memories.reading.guard.masked_text import without_words
from workspaces.request_fields import ExternalId, Flag, Metadata, Moment, NullIs, Number, OneOf, OwnId, Text, declared
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
        raise Invalid("content", f"{len(content)} characters; a memory has at most {WHOLE}.", "max_length")
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
