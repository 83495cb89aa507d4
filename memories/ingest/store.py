"""Keep what was said, in one short transaction, before anything can fail."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone

from memories import leases, masks, outbox
from memories.errors import Conflict, Forbidden
from memories.features import queue, sets
from memories.index import statements, workspace_index
from memories.ingest.episode_entries import Prepared, Tail, index, prepare, tail_of
from memories.ingest.ingest_request import IngestRequest, NewMessage, check_ids
from memories.models import (
    Conversation,
    Episode,
    IdempotentAnswer,
    MemorySession,
    WorkspaceIndex,
)
from memories.summaries import stale
from workspaces.external_ids import NotAllowed, agent_to_write, subject_to_write
from workspaces.models import Agent, Subject
from workspaces.scope import Scope

State = MemorySession.State


@dataclass(frozen=True, slots=True)
class Kept:
    """What a request left behind: its session, and the episodes to learn from in their order."""

    session: MemorySession
    space: WorkspaceIndex
    episodes: tuple[Episode, ...]


def receive(scope: Scope, request: IngestRequest) -> MemorySession:
    """Keep the episodes and a session in state received; the worker is woken with the commit.

    A message whose id is known with the same content is the same episode. Raises Conflict
    where it is known with other content, Invalid and Forbidden for what cannot be.
    """
    return keep(scope, request, workspace_index.index_of(scope.workspace_id)).session


def keep(
    scope: Scope, request: IngestRequest, space: WorkspaceIndex, *, claimed: bool = False
) -> Kept:
    """As `receive`; `claimed`: by the caller, who goes on to learn from it at once."""
    request.check()
    prepared = prepare(space, [message.content for message in request.all_messages])
    try:
        return _keep(scope, request, space, prepared, claimed)
    except IntegrityError:
        # Another request brought one of these ids in between: now it is known.
        return _keep(scope, request, space, prepared, claimed)


@transaction.atomic(durable=True)
def _keep(
    scope: Scope,
    request: IngestRequest,
    space: WorkspaceIndex,
    prepared: Prepared,
    claimed: bool,
) -> Kept:
    _hold_answer(request)
    session, new = _session(scope, request), request.all_messages
    known = known_episodes(scope, session.conversation, new)
    fresh = [i for i, m in enumerate(new) if not m.id or m.id not in known]
    made = [_episode(session, request, new[i], n) for n, i in enumerate(fresh)]
    adopted = [e for e in known.values() if e.session_id is None]
    tail = tail_of(session.conversation_id)
    _place_after(tail, made)
    session.episode_ids = [e.pk for e in sorted([*adopted, *made], key=lambda e: e.pk)]
    session.counts = {"messages": len(new), "known": len(new) - len(fresh)}
    if claimed:
        session.state, session.attempts, session.claims = State.EXTRACTING, 1, 1
        session.lease_until = leases.end()
    index(space, made, tail, prepared.of(fresh), beside=[[session], made])
    session._state.adding = False
    if adopted:
        Episode.objects.filter(pk__in=[e.pk for e in adopted]).update(session=session)
        queue.unmark(session.workspace_id, [e.pk for e in adopted])
    stale.grown(session.conversation_id, tail.positions, tail.positions + len(made))
    if made and session.subject and not tail.positions:
        # There at once; looked for where a conversation begins, the sweep sees to the rest.
        sets.make_own_set(session.subject)
    if unfinished := {e.session_id for e in known.values() if e.session_id}:
        _finish_known(unfinished)
    if session.mode == MemorySession.Mode.ASYNC:
        outbox.post("run_session", session.pk)
    ordered = sorted([*adopted, *made], key=lambda e: (e.position, e.pk))
    return Kept(session, space, tuple(ordered))


def _hold_answer(request: IngestRequest) -> None:
    """Raise Conflict where another request with the same Idempotency-Key goes on in this one's
    place; one that comes now waits, and finds the session."""
    if request.answer is None:
        return
    pk, claims = request.answer
    rows = IdempotentAnswer.objects.filter(pk=pk, claims=claims, status=None)
    if not rows.select_for_update().values_list("pk", flat=True):
        message = "Another request with this key was faster."
        raise Conflict(message, code="in_progress", field="Idempotency-Key")


def append(
    scope: Scope, conversation: Conversation, messages: Sequence[NewMessage]
) -> list[Episode]:
    """Keep what was said in a conversation without learning from it; the episodes in their order.

    Ids are as in `receive`: a known message is the same episode. Sent to `receive` later, the
    message is learned from. The caller has checked that `scope` sees the conversation.
    """
    subject = conversation.subject.external_id if conversation.subject else ""
    request = IngestRequest(
        messages=tuple(messages), user_id=subject, thread_id=conversation.external_id
    )
    check_ids(request.messages)
    space = workspace_index.index_of(scope.workspace_id)
    prepared = prepare(space, [message.content for message in request.messages])
    try:
        return _append(scope, request, space, prepared)
    except IntegrityError:
        return _append(scope, request, space, prepared)


@transaction.atomic(durable=True)
def _append(
    scope: Scope,
    request: IngestRequest,
    space: WorkspaceIndex,
    prepared: Prepared,
) -> list[Episode]:
    place = _session(scope, request)  # says where the episodes belong, and is not kept
    known = known_episodes(scope, place.conversation, request.messages)
    fresh = [i for i, m in enumerate(request.messages) if not m.id or m.id not in known]
    made = [_episode(place, request, request.messages[i], n) for n, i in enumerate(fresh)]
    for episode in made:
        episode.session = None
    tail = tail_of(place.conversation_id)
    _place_after(tail, made)
    index(space, made, tail, prepared.of(fresh), beside=[made])
    stale.grown(place.conversation_id, tail.positions, tail.positions + len(made))
    by_position = dict(zip(fresh, made, strict=True))
    return [by_position.get(i) or known[m.id] for i, m in enumerate(request.messages)]


def _session(scope: Scope, request: IngestRequest) -> MemorySession:
    subject, agent = _named(scope, request)
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
        requested_by=scope.actor,
        answer=request.answer[0] if request.answer else None,
        next_attempt_at=timezone.now(),
    )


SUBJECT = """
select * from workspaces_subject where workspace_id = %(workspace)s and external_id = %(name)s
"""
# Locked, so that of two who speak at once each gets a position of its own; who only refers to the
# conversation does not wait.
CONVERSATION = """
select * from memories_conversation where workspace_id = %(workspace)s and external_id = %(name)s
for no key update
"""


def _named(scope: Scope, request: IngestRequest) -> tuple[Subject | None, Agent | None]:
    subject = None
    if request.user_id and scope.subject_ids is None:  # the usual case, without planning anew
        values = {"workspace": scope.workspace_id, "name": request.user_id}
        subject = statements.first(Subject, SUBJECT, values)
    try:
        agent = agent_to_write(scope, request.agent_id)
        return subject or subject_to_write(scope, request.user_id), agent
    except NotAllowed as error:
        fields = {"subject": "userId", "agent": "agentId"}
        raise Forbidden(error.message, fields[error.field]) from None


def _conversation(
    scope: Scope, request: IngestRequest, subject: Subject | None, agent: Agent | None
) -> Conversation | None:
    if not request.thread_id:
        return None
    values = {"workspace": scope.workspace_id, "name": request.thread_id}
    if found := statements.first(Conversation, CONVERSATION, values):
        return found
    made = Conversation(
        workspace_id=scope.workspace_id,
        external_id=request.thread_id,
        subject=subject,
        agent=agent,
        workflow=request.workflow_id,
    )
    Conversation.objects.bulk_create([made], ignore_conflicts=True)
    return statements.first(Conversation, CONVERSATION, values)


def known_episodes(
    scope: Scope, conversation: Conversation | None, new: Sequence[NewMessage]
) -> dict[str, Episode]:
    """Episodes by external id that are here already; Conflict where one says something else.

    An id is unique within workspace and thread, whoever sends it: that the words are the same is
    told to a key that may not see the episode, too, if it knows thread, id and words."""
    asked = {message.id: (at, message) for at, message in enumerate(new) if message.id}
    if not asked:
        return {}
    rows = Episode.objects.filter(
        workspace_id=scope.workspace_id, conversation=conversation, external_id__in=asked
    )
    known = {episode.external_id or "": episode for episode in rows}
    for external_id, episode in known.items():
        position, message = asked[external_id]
        if message.content not in (episode.content, masks.originals([episode])[episode.pk]):
            raise Conflict(
                "An episode with this id says something else already.",
                field=f"messages[{position}].id",
            )
    return known


def _episode(
    session: MemorySession, request: IngestRequest, message: NewMessage, position: int
) -> Episode:
    return Episode(
        workspace_id=session.workspace_id,
        session=session,
        conversation=session.conversation,
        subject=session.subject,
        agent=session.agent,
        kind=message.kind
        or (message.role if message.role in Episode.Kind.values else Episode.Kind.TOOL_RESULT),
        role=message.role,
        author=message.name,
        content=message.content,
        payload=dict(message.payload),
        metadata={**request.metadata, **message.metadata},
        occurred_at=message.created_at or request.occurred_at or timezone.now(),
        position=position,
        scope=session.scope,
        workflow=session.workflow,
        external_id=message.id or None,
    )


def _place_after(tail: Tail, made: list[Episode]) -> None:
    """Positions go on where the conversation ended."""
    for episode in made:
        episode.position += tail.positions


def _finish_known(sessions: set[uuid.UUID]) -> None:
    """An unfinished extraction of episodes that are sent again is finished."""
    unfinished = MemorySession.objects.filter(pk__in=sessions).exclude(state__in=[State.DONE])
    for session_id in unfinished.values_list("pk", flat=True):
        MemorySession.objects.filter(pk=session_id, state__in=[State.FAILED, State.DEAD]).update(
            state=State.RECEIVED,
            attempts=0,
            failures=0,
            learned=0,
            next_attempt_at=timezone.now(),
            error="",
        )
        outbox.post("run_session", session_id)
