"""Ingest requests of agents, as values, and the rows that they name."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

from django.utils import timezone
from pydantic import Field

from memories.errors import Conflict, Forbidden, Invalid
from memories.index import prepared_sql
from memories.judge.judge import shipped
from memories.models import (
    Conversation,
    Episode,
    MemoryScope,
    MemorySession,
    Visibility,
)
from memories.models.conversation import TAKEN, check_thread
from memories.privacy import masks
from memories.reading.extraction.workspace_instructions import LONGEST
from memories.reading.guard.masked_text import without_masked
from workspaces.models import Agent, Subject
from workspaces.request_fields import (
    ExternalId,
    Metadata,
    NullIs,
    OneOf,
    Text,
    TimeZone,
    ToldMoment,
    declared,
)
from workspaces.scope import NotAllowed, Scope, agent_to_write, subject_to_write
from workspaces.time_zones import offset_of

# All messages of one request: so many characters are read and embedded while it waits, else a
# worker does it. Below it no ingest takes more than about a second.
AT_ONCE = 100_000

SUBJECT = """
select * from workspaces_subject where workspace_id = %(workspace)s and external_id = %(name)s
"""
# Locked, so that of two who speak at once each gets a position of its own; who only refers to the
# conversation does not wait.
CONVERSATION = """
select * from memories_conversation where workspace_id = %(workspace)s and external_id = %(name)s
for no key update
"""


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message as the caller gave it; `id` is the caller's own. `remember` counts as if the words
    asked for it."""

    content: str
    role: str = "user"
    name: str = ""
    created_at: datetime | None = None
    id: str = ""
    kind: str = ""
    remember: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    payload: Mapping[str, Any] = field(default_factory=dict)


@declared
@dataclass(frozen=True, slots=True)
class IngestInstructions:
    """Instructions of one ingest, which hold beside those of its workspace."""

    extract: Annotated[Text, Field(max_length=LONGEST)] = ""
    ignore: Annotated[Text, Field(max_length=LONGEST)] = ""


@declared
@dataclass(frozen=True, slots=True)
class IngestOptions:
    """The fields of an ingest request, all but the type of its messages; ids are the caller's
    own."""

    content: Text | None = None
    messages: Sequence[Any] | None = None
    user_id: ExternalId = ""
    agent_id: Annotated[ExternalId, Field(description="Whose act it is; for keys without an agent.")] = ""
    thread_id: ExternalId = ""
    workflow_id: ExternalId = ""
    scope: Annotated[str, OneOf(MemoryScope)] = MemoryScope.USER
    visibility: Annotated[str, OneOf(Visibility), NullIs("")] = ""
    pathway: Annotated[str, OneOf(MemorySession.SENT)] = MemorySession.Pathway.CONVERSATION
    occurred_at: ToldMoment | None = None
    timezone: Annotated[
        TimeZone,
        NullIs(""),
        Field(description="The speaker's, for times in UTC. Else the person's."),
    ] = ""
    metadata: Metadata = field(default_factory=dict)
    mode: Annotated[str, OneOf(MemorySession.Mode)] = MemorySession.Mode.SYNC
    extract: Annotated[str, OneOf(MemorySession.Extract)] = MemorySession.Extract.AUTO
    instructions: Annotated[
        IngestInstructions | None,
        Field(description="What is written down above all, and what is left out, beside what the workspace says."),
    ] = None

    @property
    def kept_instructions(self) -> dict[str, str]:
        """The instructions as a session keeps them."""
        given = asdict(self.instructions) if self.instructions else {}
        return {name: words for name, words in given.items() if words}


@dataclass(frozen=True, slots=True)
class IngestRequest(IngestOptions):
    """An ingest request of an agent: exactly one of `content` and `messages`.

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
    """Raise Invalid where one of the caller's own ids is given twice."""
    met: set[str] = set()
    for position, message in enumerate(messages):
        if message.id in met:
            raise Invalid(f"messages[{position}].id", "This id stands twice in the request.")
        if message.id:
            met.add(message.id)


def new_session(scope: Scope, request: IngestRequest) -> MemorySession:
    """Make a session for a request, with the subject, agent and conversation that it names; new
    ones are recorded here."""
    subject = None
    if request.user_id and scope.subject_ids is None:  # the usual case, without planning anew
        values = {"workspace": scope.workspace_id, "name": request.user_id}
        subject = prepared_sql.first(Subject, SUBJECT, values)
    try:
        agent = agent_to_write(scope, request.agent_id)
        subject = subject or subject_to_write(scope, request.user_id)
    except NotAllowed as error:
        fields = {"subject": "userId", "agent": "agentId"}
        raise Forbidden(error.message, fields[error.field]) from None
    return MemorySession(
        workspace_id=scope.workspace_id,
        subject=subject,
        agent=agent,
        conversation=_conversation(scope, request, subject, agent),
        workflow=request.workflow_id,
        scope=request.scope,
        visibility=request.visibility,
        pathway=request.pathway,
        mode=request.mode,
        extract=request.extract,
        is_whole_text=request.content is not None,
        metadata=dict(request.metadata),
        instructions=request.kept_instructions,
        requested_by=scope.actor,
        answer=request.answer[0] if request.answer else None,
        next_attempt_at=timezone.now(),
    )


def _conversation(
    scope: Scope, request: IngestRequest, subject: Subject | None, agent: Agent | None
) -> Conversation | None:
    if not request.thread_id:
        return None
    values = {"workspace": scope.workspace_id, "name": request.thread_id}
    if found := prepared_sql.first(Conversation, CONVERSATION, values):
        check_thread(scope, found)
        return found
    made = Conversation(
        workspace_id=scope.workspace_id,
        external_id=request.thread_id,
        subject=subject,
        agent=agent,
        workflow=request.workflow_id,
    )
    Conversation.objects.bulk_create([made], ignore_conflicts=True)
    found = prepared_sql.first(Conversation, CONVERSATION, values)
    check_thread(scope, found or made)
    return found


def known_episodes(scope: Scope, conversation: Conversation | None, new: Sequence[NewMessage]) -> dict[str, Episode]:
    """Return the episodes that are here already, by external id. Raises Conflict where one says
    something else.

    An id is unique within workspace and thread, whoever sends it: of an episode that the asker may
    not see, the answer reveals only that its id is taken, whether the words match or not."""
    asked = {message.id: (at, message) for at, message in enumerate(new) if message.id}
    if not asked:
        return {}
    rows = Episode.objects.filter(workspace_id=scope.workspace_id, conversation=conversation, external_id__in=asked)
    known = {episode.external_id or "": episode for episode in rows}
    seen = Episode.objects.visible_to(scope).filter(pk__in=[each.pk for each in known.values()])
    may_know = set(seen.values_list("pk", flat=True)) if scope.is_narrow else None
    for external_id, episode in known.items():
        position, message = asked[external_id]
        if may_know is not None and episode.pk not in may_know:
            raise _taken(position, TAKEN)
        if not _says(scope, episode, message.content):
            raise _taken(position, "An episode with this id says something else already.")
    return known


def _says(scope: Scope, episode: Episode, words: str) -> bool:
    """Tell whether an episode has these words. For askers who may not see its masked words, only
    the rest is compared: whatever they send in their place, the answer is the same."""
    if words == episode.content:
        return True
    if scope.may_unmask:
        return words == masks.originals([episode])[episode.pk]
    return without_masked(words, episode.content) == episode.content


def _taken(position: int, message: str) -> Conflict:
    return Conflict(message, field=f"messages[{position}].id")


def time_of(request: IngestRequest, message: NewMessage) -> datetime:
    return message.created_at or request.occurred_at or timezone.now()


def new_episode(
    session: MemorySession, request: IngestRequest, message: NewMessage, position: int, time_zone: str
) -> Episode:
    """Make the episode of a message; `time_zone` is the workspace's."""
    at, person = time_of(request, message), session.subject
    kind = message.kind or (message.role if message.role in Episode.Kind.values else Episode.Kind.TOOL_RESULT)
    return Episode(
        workspace_id=session.workspace_id,
        session=session,
        conversation=session.conversation,
        subject=session.subject,
        agent=session.agent,
        kind=kind,
        role=message.role,
        author=message.name,
        content=message.content,
        payload=dict(message.payload),
        metadata={**request.metadata, **message.metadata},
        occurred_at=at.astimezone(UTC),
        utc_offset=offset_of(at, request.timezone, person.time_zone if person else "", time_zone),
        position=position,
        scope=session.scope,
        workflow=session.workflow,
        external_id=message.id or None,
        judge_attempts=0 if shipped.is_there and kind in Episode.OF_PEOPLE else None,
    )
