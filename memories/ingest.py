"""Ingest: keep what was said, then learn from it.

`receive` writes episodes and a session in one short transaction, before anything can fail.
`run` claims a session, extracts, embeds and resolves; it can run twice, and from the rows alone.
"""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from memories import extraction, lexical, outbox, supersession
from memories.errors import Conflict, Forbidden, Invalid, ProviderError
from memories.extraction import Extraction, Message, Wish
from memories.indexing import due, entries, spaces, speakers, statements
from memories.indexing.nearest import Placement
from memories.models import (
    Conversation,
    Episode,
    Fact,
    Layer,
    MemoryScope,
    MemorySession,
    WorkspaceIndex,
)
from memories.providers import Extractor, ExtractorConfig, extractor_from
from memories.supersession import Claim, Outcome
from workspaces.models import Agent, AuditEntry, Subject
from workspaces.naming import NotAllowed, agent_to_write, subject_to_write
from workspaces.scope import Scope, worker_scope

State = MemorySession.State
MAX_ATTEMPTS = 3
# Longer than a worker can take: a model is asked three times at most, each time this long.
LEASE = timedelta(seconds=20 + 4 * settings.PROVIDER_TIMEOUT)
BACK_OFF = timedelta(seconds=20)


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


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What an agent tells: exactly one of `content` and `messages`; ids are the caller's own."""

    content: str | None = None
    messages: tuple[NewMessage, ...] = ()
    user_id: str = ""
    agent_id: str = ""
    thread_id: str = ""
    workflow_id: str = ""
    scope: str = MemoryScope.USER
    visibility: str = ""
    pathway: str = MemorySession.Pathway.CONVERSATION
    occurred_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    mode: str = MemorySession.Mode.SYNC
    extract: str = MemorySession.Extract.AUTO


# ---- receive --------------------------------------------------------------------------------


def receive(scope: Scope, request: IngestRequest) -> MemorySession:
    """Keep the episodes and a session in state received; the worker is woken with the commit.

    A message whose id is known with the same content is the same episode. Raises Conflict
    where it is known with other content, Invalid and Forbidden for what cannot be.
    """
    _check(request)
    space = spaces.space_of(scope.workspace_id)
    new = _new_messages(request)
    texts = [entries.texts_of(message.content) for message in new]
    vectors = due.embed_now(space, texts)
    try:
        return _keep(scope, request, space, new, vectors)
    except IntegrityError:
        # Another request brought one of these ids in between: now it is known.
        return _keep(scope, request, space, new, vectors)


def _check(request: IngestRequest) -> None:
    if (request.content is None) == (not request.messages):
        raise Invalid("content", "Give exactly one of content and messages.")
    if request.scope == MemoryScope.THREAD and not request.thread_id:
        raise Invalid("threadId", "Memories of scope thread need a threadId.")
    if request.scope == MemoryScope.WORKFLOW and not request.workflow_id:
        raise Invalid("workflowId", "Memories of scope workflow need a workflowId.")


def _new_messages(request: IngestRequest) -> Sequence[NewMessage]:
    if request.content is None:
        return request.messages
    return [NewMessage(request.content, kind=Episode.Kind.TEXT, created_at=request.occurred_at)]


@transaction.atomic(durable=True)
def _keep(
    scope: Scope,
    request: IngestRequest,
    space: WorkspaceIndex,
    new: Sequence[NewMessage],
    vectors: list[entries.Vectors] | None,
) -> MemorySession:
    session = _session(scope, request)
    known = _known_episodes(session, new)
    fresh = [i for i, m in enumerate(new) if not m.id or m.id not in known]
    made = [_episode(session, request, new[i], n) for n, i in enumerate(fresh)]
    adopted = [e for e in known.values() if e.session_id is None]
    _place_after(session, made)
    session.episode_ids = [e.pk for e in sorted([*adopted, *made], key=lambda e: e.pk)]
    session.counts = {"messages": len(new), "known": len(new) - len(fresh)}
    statements.insert([session])
    if adopted:
        Episode.objects.filter(pk__in=[e.pk for e in adopted]).update(session=session)
    statements.insert(made)
    found = None if vectors is None else [vectors[i] for i in fresh]
    _index(space, session, made, found)
    if unfinished := {e.session_id for e in known.values() if e.session_id}:
        _finish_known(unfinished)
    if session.mode == MemorySession.Mode.ASYNC:
        outbox.post("run_session", session.pk)
    return session


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
    space = spaces.space_of(scope.workspace_id)
    vectors = due.embed_now(space, [entries.texts_of(message.content) for message in messages])
    try:
        return _append(scope, request, space, vectors)
    except IntegrityError:
        return _append(scope, request, space, vectors)


@transaction.atomic(durable=True)
def _append(
    scope: Scope,
    request: IngestRequest,
    space: WorkspaceIndex,
    vectors: list[entries.Vectors] | None,
) -> list[Episode]:
    place = _session(scope, request)  # says where the episodes belong, and is not kept
    known = _known_episodes(place, request.messages)
    fresh = [i for i, m in enumerate(request.messages) if not m.id or m.id not in known]
    made = [_episode(place, request, request.messages[i], n) for n, i in enumerate(fresh)]
    for episode in made:
        episode.session = None
    _place_after(place, made)
    statements.insert(made)
    _index(space, place, made, None if vectors is None else [vectors[i] for i in fresh])
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
        next_attempt_at=timezone.now(),
    )


def _named(scope: Scope, request: IngestRequest) -> tuple[Subject | None, Agent | None]:
    try:
        return subject_to_write(scope, request.user_id), agent_to_write(scope, request.agent_id)
    except NotAllowed as error:
        fields = {"subject": "userId", "agent": "agentId"}
        raise Forbidden(error.message, fields[error.field]) from None


def _conversation(
    scope: Scope, request: IngestRequest, subject: Subject | None, agent: Agent | None
) -> Conversation | None:
    if not request.thread_id:
        return None
    known = Conversation.objects.filter(
        workspace_id=scope.workspace_id, external_id=request.thread_id
    )
    if found := known.first():
        return found
    made = Conversation(
        workspace_id=scope.workspace_id,
        external_id=request.thread_id,
        subject=subject,
        agent=agent,
        workflow=request.workflow_id,
    )
    Conversation.objects.bulk_create([made], ignore_conflicts=True)
    return known.get()


def _known_episodes(session: MemorySession, new: Sequence[NewMessage]) -> dict[str, Episode]:
    """Episodes by external id that are here already; Conflict where one says something else."""
    asked: dict[str, tuple[int, NewMessage]] = {}
    for position, message in enumerate(new):
        if not message.id:
            continue
        before = asked.setdefault(message.id, (position, message))
        if before[0] != position:
            raise Invalid(f"messages[{position}].id", "This id stands twice in the request.")
    if not asked:
        return {}
    known = Episode.objects.filter(
        workspace_id=session.workspace_id,
        conversation=session.conversation,
        external_id__in=asked,
    )
    found = {episode.external_id or "": episode for episode in known}
    for external_id, episode in found.items():
        position, message = asked[external_id]
        if episode.content != message.content:
            raise Conflict(
                "An episode with this id says something else already.",
                field=f"messages[{position}].id",
            )
    return found


def _episode(
    session: MemorySession, request: IngestRequest, message: NewMessage, position: int
) -> Episode:
    return Episode(
        workspace_id=session.workspace_id,
        session=session,
        conversation=session.conversation,
        subject=session.subject,
        agent=session.agent,
        kind=message.kind or _kind_of(message.role),
        role=message.role,
        author=message.name,
        content=message.content,
        payload=dict(message.payload),
        metadata=dict(message.metadata),
        occurred_at=message.created_at or request.occurred_at or timezone.now(),
        position=position,
        external_id=message.id or None,
    )


def _kind_of(role: str) -> str:
    return role if role in Episode.Kind.values else Episode.Kind.TOOL_RESULT


def _place_after(session: MemorySession, made: list[Episode]) -> None:
    """Positions go on where the conversation ended."""
    if session.conversation is None:
        return
    last = session.conversation.episodes.aggregate(last=Max("position"))["last"]
    for episode in made:
        episode.position += 0 if last is None else last + 1


def _index(
    space: WorkspaceIndex,
    session: MemorySession,
    made: list[Episode],
    vectors: list[entries.Vectors] | None,
) -> None:
    """Entries of new episodes; each lends a share of its words to its neighbours'."""
    before = _neighbours_before(session, made)
    stems = [lexical.stems(e.content) for e in [*before, *made]]
    items = []
    for at, episode in enumerate(made, start=len(before)):
        counts = _document(stems, at)
        items.append(
            entries.episode_item(
                episode, scope=session.scope, workflow=session.workflow, counts=counts
            )
        )
    entries.write(space, items, vectors)
    speakers.heard(space, session.subject_id, made)
    if before and made:
        at = len(before) - 1
        entries.reweigh(space, Layer.EPISODES, before[-1].pk, _document(stems, at))


def _neighbours_before(session: MemorySession, made: list[Episode]) -> list[Episode]:
    """The last two episodes of the conversation, oldest first: one to borrow from, one to lend."""
    if session.conversation is None or not made:
        return []
    last = session.conversation.episodes.exclude(pk__in=[e.pk for e in made])
    return list(last.order_by("-occurred_at", "-position")[:2])[::-1]


def _document(stems: Sequence[Sequence[str]], at: int) -> dict[str, float]:
    previous = stems[at - 1] if at else ()
    following = stems[at + 1] if at + 1 < len(stems) else ()
    return lexical.index_stems(stems[at], previous, following)


def _finish_known(sessions: set[uuid.UUID | None]) -> None:
    """An unfinished extraction of episodes that are sent again is finished."""
    unfinished = MemorySession.objects.filter(pk__in=sessions).exclude(state__in=[State.DONE])
    for session_id in unfinished.values_list("pk", flat=True):
        MemorySession.objects.filter(pk=session_id, state__in=[State.FAILED, State.DEAD]).update(
            state=State.RECEIVED, attempts=0, next_attempt_at=timezone.now(), error=""
        )
        outbox.post("run_session", session_id)


# ---- run ------------------------------------------------------------------------------------


def may_run_here(session: MemorySession) -> bool:
    """Whether no network model stands in the way: then the request itself does the work."""
    space = spaces.space_of(session.workspace_id)
    slow_extractor = session.extract in ("auto", "llm") and configured_extractor() is not None
    return not slow_extractor and not spaces.embedder_of(space).is_remote


def configured_extractor() -> Extractor | None:
    """The extractor that the settings name; None where there is none."""
    provider = settings.EXTRACTION_PROVIDER
    if provider == "auto":
        provider = "anthropic" if settings.ANTHROPIC_API_KEY else "none"
    if provider == "none":
        return None
    is_openai = provider == "openai"
    return extractor_from(
        ExtractorConfig(
            provider=provider,
            model=settings.EXTRACTION_MODEL,
            api_key=settings.OPENAI_API_KEY if is_openai else settings.ANTHROPIC_API_KEY,
            base_url=settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL,
            timeout=settings.PROVIDER_TIMEOUT,
        )
    )


def run(session_id: uuid.UUID) -> MemorySession | None:
    """Extract and resolve a session that is due; None where another worker has it, or is done."""
    session = _claim(session_id)
    if session is None:
        return None
    started = time.perf_counter()
    messages = messages_of(session)
    wish = Wish(session.extract, session.is_whole_text, session.visibility)
    found = extraction.extract(messages, wish, configured_extractor())
    return _finish(session, found, started)


CLAIM = """
update memories_memorysession
set state = 'extracting', attempts = attempts + 1, updated_at = %(now)s,
    lease_until = %(now)s + %(lease)s::interval
where id = %(id)s and ((state = 'received' and next_attempt_at <= %(now)s)
                       or (state in ('extracting', 'resolving') and lease_until < %(now)s))
returning *
"""


def _claim(session_id: uuid.UUID) -> MemorySession | None:
    """Take a session whose turn it is; the attempt is counted before the work, so that a
    session which kills its worker is given up at last."""
    claimed = statements.rows(CLAIM, {"id": session_id, "lease": LEASE, "now": timezone.now()})
    if not claimed:
        return None
    session = MemorySession(**claimed[0]._asdict())
    session._state.adding = False
    if session.attempts <= MAX_ATTEMPTS:
        return session
    _close(session, State.DEAD, "attempts used up")
    _save(session)
    return None


def messages_of(session: MemorySession) -> list[Message]:
    rows = list(Episode.objects.filter(pk__in=session.episode_ids).order_by("position", "pk"))
    unnamed = not all(episode.author for episode in rows)
    subject = session.subject.name if unnamed and session.subject else ""
    return [
        Message(
            index=index,
            id=episode.pk,
            kind=episode.kind,
            role=episode.role,
            speaker=episode.author or _speaker(episode, subject),
            text=episode.content,
            occurred_at=episode.occurred_at,
        )
        for index, episode in enumerate(rows)
    ]


def _speaker(episode: Episode, subject: str) -> str:
    if episode.kind == Episode.Kind.ASSISTANT:
        return "Assistant"
    return subject or "User"


def _finish(session: MemorySession, found: Extraction, started: float) -> MemorySession | None:
    space = spaces.space_of(session.workspace_id)
    claims = _unwritten(session, found.claims)
    embedding = time.perf_counter()
    texts = [entries.texts_of(claim.statement) for claim in claims]
    vectors = due.embed_or_leave(space, texts)
    found.milliseconds["embed"] = round((time.perf_counter() - embedding) * 1e3, 2)
    try:
        _apply(session, space, claims, vectors, found, started)
    except _TakenOver:
        return None
    if spaces.embedder_of(space).is_remote:
        due.fill(space, session.episode_ids)
    return session


def _unwritten(session: MemorySession, claims: Sequence[Claim]) -> list[Claim]:
    """Claims that an earlier attempt of this session did not write already."""
    if session.attempts == 1:
        return list(claims)
    known = set(
        Fact.objects.filter(session=session).values_list(
            "statement", "citations__episode_id", "citations__start"
        )
    )
    return [
        claim
        for claim in claims
        if (claim.statement, claim.quotes[0].episode_id, claim.quotes[0].start) not in known
    ]


@transaction.atomic(durable=True)
def _apply(
    session: MemorySession,
    space: WorkspaceIndex,
    claims: Sequence[Claim],
    vectors: Sequence[entries.Vectors] | None,
    found: Extraction,
    started: float,
) -> None:
    outcome = supersession.apply(
        space,
        placement_of(session),
        claims,
        vectors,
        actor=f"session:{session.pk}",
        session_id=session.pk,
    )
    supersession.quarantine(
        placement_of(session), found.quarantined, "no evidence in the text", session.pk
    )
    _note(session, outcome, found)
    session.timings = found.milliseconds | {
        "total": round((time.perf_counter() - started) * 1e3, 2)
    }
    _settle(session, found.error)
    if not _save(session):
        raise _TakenOver


class _TakenOver(Exception):
    """The lease ran out and another worker has the session: what this one did is rolled back."""


def placement_of(session: MemorySession) -> Placement:
    agent = session.agent
    scope = worker_scope(session.workspace_id)
    if agent is not None:
        scope = scope.as_agent(agent)
    return Placement(
        workspace_id=session.workspace_id,
        subject_id=session.subject_id,
        agent_id=session.agent_id,
        team=scope.team_agent_ids,
        in_default_team=scope.in_default_team,
        scope=session.scope,
        conversation_id=session.conversation_id,
        workflow=session.workflow,
    )


def _note(session: MemorySession, outcome: Outcome, found: Extraction) -> None:
    session.created_ids = [*session.created_ids, *outcome.created]
    session.updated_ids = [*session.updated_ids, *outcome.superseded]
    session.reinforced_ids = [*session.reinforced_ids, *outcome.reinforced]
    counts = session.counts
    session.counts = counts | {
        "facts": counts.get("facts", 0) + outcome.facts,
        "held": counts.get("held", 0) + len(outcome.held),
        "rejected": counts.get("rejected", 0) + outcome.rejected,
        "skipped": len(found.skipped),
        "quarantined": len(found.quarantined),
    }
    notes = [found.reason] if found.reason else []
    if outcome.rejected:
        notes.append(f"{outcome.rejected} rejected before by a person")
    if not session.episode_ids:
        notes.append("all messages are known already")
    session.reason = "; ".join(notes)


def _settle(session: MemorySession, error: ProviderError | None) -> None:
    """Done; or, where a model failed and messages wait for it, due again, failed or dead."""
    if error is None or session.is_whole_text:
        _close(session, State.DONE, "" if error is None else error.message)
    elif error.permanent:
        _close(session, State.FAILED, error.message)
    elif session.attempts >= MAX_ATTEMPTS:
        _close(session, State.DEAD, error.message)
    else:
        session.state, session.error = State.RECEIVED, error.message
        pause = max(BACK_OFF * 2**session.attempts, timedelta(seconds=error.retry_after or 0))
        session.next_attempt_at, session.lease_until = timezone.now() + pause, None


def _close(session: MemorySession, state: str, error: str) -> None:
    session.state, session.error = state, error
    session.finished_at = timezone.now()
    session.next_attempt_at = session.lease_until = None
    line = AuditEntry.line(
        session.workspace_id,
        session.requested_by,
        "ingest",
        session,
        subject_id=session.subject_id,
        reason=session.reason,
        after={"state": state, **session.counts},
    )
    statements.insert([line])


OUTCOME = (
    "state",
    "reason",
    "error",
    "next_attempt_at",
    "lease_until",
    "finished_at",
    "created_ids",
    "updated_ids",
    "reinforced_ids",
    "counts",
    "timings",
)


def _save(session: MemorySession) -> bool:
    """Write a session's outcome, unless another worker has taken it since."""
    mine = MemorySession.objects.filter(
        pk=session.pk, state=State.EXTRACTING, attempts=session.attempts
    )
    changes = {name: getattr(session, name) for name in OUTCOME}
    return mine.update(updated_at=timezone.now(), **changes) == 1


def retry(scope: Scope, session: MemorySession) -> MemorySession:
    """Make a failed or dead session due again; Conflict where it is neither."""
    changed = MemorySession.objects.filter(
        pk=session.pk, workspace_id=scope.workspace_id, state__in=[State.FAILED, State.DEAD]
    ).update(state=State.RECEIVED, attempts=0, error="", next_attempt_at=timezone.now())
    if not changed:
        raise Conflict(f"A session that is {session.state} cannot be retried.", field="status")
    outbox.post("run_session", session.pk)
    session.refresh_from_db()
    return session
