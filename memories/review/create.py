"""A memory written by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from django.db import transaction
from django.utils import timezone
from pydantic import Field

from memories import guard, resolve
from memories.bounds import WHOLE
from memories.english.patterns.pattern import FACT_TYPES
from memories.errors import Forbidden, Invalid
from memories.extraction import visibility_of
from memories.index import due_vectors, entries, workspace_index
from memories.index.nearest import Placement
from memories.models import (
    Category,
    Conversation,
    Fact,
    FactType,
    Memory,
    MemoryScope,
    Source,
    Visibility,
    WorkspaceIndex,
)
from memories.models.conversation import is_shared_by_default
from memories.resolve import Claim, rejections
from memories.review.forget import audit
from memories.review.held_by_hand import hold_new, places_in, without_secrets
from workspaces.request_fields import (
    ExternalId,
    Flag,
    Free,
    Moment,
    NullIs,
    Number,
    OneOf,
    OwnId,
    Text,
    declared,
)
from workspaces.scope import NotAllowed, Scope, agent_to_write, mates_of, subject_to_write

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
    metadata: Free = field(default_factory=dict)
    forget_after: Moment | None = None
    pinned: Flag = False
    valid_from: Moment | None = None
    valid_until: Moment | None = None


def checked(content: str) -> str:
    """`content` without blanks around it. Invalid where it says nothing, or more than one memory
    holds."""
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
        rejections.take_back(space, placement.subject_id, content, vector)
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
    """What nobody may read before a person says so."""
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
    """Where it belongs, and whether what a team decides is the team's there."""
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
            workspace_id=scope.workspace_id, external_id=new.thread_id
        )
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
    )
    return placement, shares
