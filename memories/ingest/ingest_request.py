"""What an agent tells, as values."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from memories.errors import Invalid
from memories.models import Episode, MemoryScope, MemorySession, Visibility
from workspaces.request_fields import ExternalId, Free, Moment, NullIs, OneOf, Text, declared


@dataclass(frozen=True, slots=True)
class NewMessage:
    """One message as the caller gave it; `id` is the caller's own."""

    content: str
    role: str = "user"
    name: str = ""
    created_at: datetime | None = None
    id: str = ""
    kind: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    payload: Mapping[str, Any] = field(default_factory=dict)


@declared
@dataclass(frozen=True, slots=True)
class IngestOptions:
    """What a caller may say beside messages; ids are the caller's own."""

    content: Text | None = None
    messages: Sequence[Any] | None = None
    user_id: ExternalId = ""
    agent_id: Annotated[
        ExternalId, Field(description="Whose act it is; for keys without an agent.")
    ] = ""
    thread_id: ExternalId = ""
    workflow_id: ExternalId = ""
    scope: Annotated[str, OneOf(MemoryScope)] = MemoryScope.USER
    visibility: Annotated[str, OneOf(Visibility), NullIs("")] = ""
    pathway: Annotated[str, OneOf(MemorySession.Pathway)] = MemorySession.Pathway.CONVERSATION
    occurred_at: Moment | None = None
    metadata: Free = field(default_factory=dict)
    mode: Annotated[str, OneOf(MemorySession.Mode)] = MemorySession.Mode.SYNC
    extract: Annotated[str, OneOf(MemorySession.Extract)] = MemorySession.Extract.AUTO


@dataclass(frozen=True, slots=True)
class IngestRequest(IngestOptions):
    """What an agent tells: exactly one of `content` and `messages`.

    `answer` is the id of the kept answer of a request with an Idempotency-Key, and the number of
    the claim by which this one holds it.
    """

    messages: tuple[NewMessage, ...] = ()
    answer: tuple[uuid.UUID, int] | None = None

    @property
    def all_messages(self) -> tuple[NewMessage, ...]:
        """The messages, or the content as one of kind text."""
        if self.content is None:
            return self.messages
        return (NewMessage(self.content, kind=Episode.Kind.TEXT, created_at=self.occurred_at),)

    def check(self) -> None:
        """Raise Invalid for what cannot be kept, naming the field in the caller's words."""
        if (self.content is None) == (not self.messages):
            raise Invalid("content", "Give exactly one of content and messages.")
        if self.scope == MemoryScope.THREAD and not self.thread_id:
            raise Invalid("threadId", "Memories of scope thread need a threadId.")
        if self.scope == MemoryScope.WORKFLOW and not self.workflow_id:
            raise Invalid("workflowId", "Memories of scope workflow need a workflowId.")
        check_ids(self.messages)


def check_ids(messages: Sequence[NewMessage]) -> None:
    """Raise Invalid where one of the caller's own ids stands twice."""
    met: set[str] = set()
    for position, message in enumerate(messages):
        if message.id in met:
            raise Invalid(f"messages[{position}].id", "This id stands twice in the request.")
        if message.id:
            met.add(message.id)
