"""A memory written by hand."""

from dataclasses import dataclass, field
from typing import Annotated

from django.db import transaction
from django.utils import timezone
from pydantic import Field

from memories import resolve
from memories.bounds import WHOLE
from memories.errors import Forbidden, Invalid
from memories.extraction import type_of, visibility_of
from memories.index import due, entries, workspace_index
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
)
from memories.resolve import Claim, rejections
from memories.review.forget import audit
from workspaces.request_fields import (
    ExternalId,
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
    fact_type: Annotated[str, OneOf(FactType), NullIs("")] = ""
    visibility: Annotated[str, OneOf(Visibility), NullIs("")] = ""
    confidence: Share = 1.0
    entities: Entities = ()
    event_date: Moment | None = None
    metadata: Free = field(default_factory=dict)


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
    """Add a memory by hand; one that is believed already with the same text is answered again."""
    claim = Claim(
        statement=checked(new.content),
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
    space = workspace_index.index_of(scope.workspace_id)
    vectors = due.embed_or_leave(space, [entries.texts_of(claim.statement)])
    with transaction.atomic(durable=True):
        placement = _placement(scope, new)
        # A person's word outranks an earlier "no": saying it again by hand takes the "no" back.
        vector = vectors[0][0] if vectors else None
        rejections.take_back(space, placement.subject_id, claim.statement, vector)
        outcome = resolve.apply(space, placement, [claim], vectors, actor=scope.actor)
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
    if new.scope == MemoryScope.THREAD and not new.thread_id:
        raise Invalid("threadId", "A memory of scope thread needs a threadId.")
    conversation = None
    if new.thread_id:
        conversation, _ = Conversation.objects.get_or_create(
            workspace_id=scope.workspace_id, external_id=new.thread_id
        )
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
