"""Keep what was said, in one short transaction, before anything can fail."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, compress

from django.db import IntegrityError, transaction
from django.utils import timezone

from memories.belief.touches import Meeting, PersonsMessage, write_touches
from memories.errors import Conflict
from memories.index import due_summaries, due_vectors, entries, prepared_sql, workspace_index
from memories.index.configured_embedder import embedder_of
from memories.index.prepared_sql import New
from memories.ingest.document_memories import DocumentReading
from memories.ingest.ingest_request import (
    AT_ONCE,
    IngestRequest,
    NewMessage,
    check_ids,
    known_episodes,
    new_episode,
    new_session,
)
from memories.ingest.mask_messages import (
    GUARD,
    HeldBatch,
    Screened,
    screen_each,
    with_forgotten,
    without_secrets,
)
from memories.language.bounds import BESIDE
from memories.language.english import lexical
from memories.models import (
    Conversation,
    Episode,
    IdempotentAnswer,
    Layer,
    MemorySession,
    WorkspaceIndex,
)
from memories.profiles.features import set_queue, sets
from memories.profiles.summaries import running_summary
from memories.queue import leases, outbox
from memories.reading import guard, intents
from memories.reading.extraction import speaker_of
from memories.reading.guard.masked_text import without_words
from memoryproject.postgres.prepared import Asked
from workspaces.scope import Scope

State = MemorySession.State

TAIL = """
select id, left(content, %(most)s) as content,
       (select max(position) + 1 from memories_episode
        where conversation_id = %(conversation)s) as positions
from memories_episode where conversation_id = %(conversation)s
order by occurred_at desc, position desc limit 3
"""
NOT_WAITING = "set local synchronous_commit = off"
LAST_WORDS = """
select right(said.content, 400) as words
from memories_conversation c
cross join lateral (select e.content from memories_episode e where e.conversation_id = c.id
    and (%(agent)s::uuid is null or e.agent_id = %(agent)s::uuid)
    and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
  order by e.occurred_at desc, e.position desc limit 1) said
where c.workspace_id = %(workspace)s and c.external_id = %(thread)s
"""


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a conversation: its number of positions, and the ids and words (cut if long) of
    its last three episodes, the oldest first; the last is indexed again beside the new ones."""

    positions: int
    last: tuple[tuple[uuid.UUID, str], ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Values that the index needs of new messages and that take time to make. None for vectors that
    are due, and for keys that depend on a message's neighbours; vectors of a text too long to wait
    for are `entries.UNMADE`, and due as well."""

    vectors: Sequence[entries.Vectors | None] | None
    keys: Sequence[entries.Keys | None]
    screened: Sequence[Screened]

    def of(self, chosen: Sequence[int]) -> "Prepared":
        vectors = None if self.vectors is None else [self.vectors[at] for at in chosen]
        screened = [self.screened[at] for at in chosen]
        return Prepared(vectors, [self.keys[at] for at in chosen], screened)


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of a request that was kept: its session, and the episodes to learn from in their
    order; or the revision of a document."""

    session: MemorySession
    space: WorkspaceIndex
    episodes: tuple[Episode, ...]
    document: DocumentReading | None = None


def receive(scope: Scope, request: IngestRequest) -> MemorySession:
    """Keep the episodes and a session in state received; the worker is woken with the commit.

    A message whose id is known with the same content is the same episode. Raises Conflict
    where it is known with other content, Invalid and Forbidden for what cannot be kept.
    """
    return keep(scope, request, workspace_index.index_of(scope.workspace_id)).session


def keep(scope: Scope, request: IngestRequest, space: WorkspaceIndex, *, claimed: bool = False) -> Kept:
    """Keep a request as `receive` does; `claimed`: by the caller, which learns from it at once."""
    request.check()
    prepared = prepare(space, scope, request, request.user_id)
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
    session, new = new_session(scope, request), request.all_messages
    hidden = [word for each in prepared.screened for word in each.words]
    if hidden:
        session.metadata = without_words(session.metadata, hidden)
        session.instructions = without_words(session.instructions, hidden)
    known = known_episodes(scope, session.conversation, new)
    fresh = [i for i, m in enumerate(new) if not m.id or m.id not in known]
    made = [new_episode(session, request, new[i], n, space.time_zone) for n, i in enumerate(fresh)]
    adopted = [e for e in known.values() if e.session_id is None]
    tail = tail_of(session.conversation_id)
    _place_after(tail, made)
    session.episode_ids = [e.pk for e in sorted([*adopted, *made], key=lambda e: e.pk)]
    session.counts = {"messages": len(new), "known": len(new) - len(fresh)}
    if len(fresh) < len(new):
        # Where in the request each stands, for what answers about messages.
        by_id = {m.id: i for i, m in reversed([*enumerate(new)]) if m.id}
        places = {str(e.pk): by_id[e.external_id] for e in adopted if e.external_id in by_id}
        places |= {str(e.pk): i for e, i in zip(made, fresh, strict=True)}
        session.counts["places"] = places
    held = HeldBatch.of(made, prepared.of(fresh).screened, session)
    if held.facts:
        session.counts["quarantined"] = len(held.facts)
        session.steps = [{"rule": GUARD, "outcome": held.reason, "milliseconds": 0.0}]
    if claimed:
        session.state, session.attempts, session.claims = State.EXTRACTING, 1, 1
        session.lease_until = leases.end()
    then = _due_by(session, tail, made)
    # Whoever goes on to learn answers behind a commit that waits for the disk, and for this one.
    then += [(NOT_WAITING, {})] if claimed else []
    with _touching(space, session, made):
        index_episodes(space, made, tail, prepared.of(fresh), beside=[[session], made], then=then)
    held.write()
    session._state.adding = False
    asked = [n for n, i in enumerate(fresh) if new[i].remember]
    if asked:
        intents.remember(session, [(made[n], fresh[n]) for n in asked])
    if adopted:
        Episode.objects.filter(pk__in=[e.pk for e in adopted]).update(session=session)
        set_queue.unmark(session.workspace_id, [e.pk for e in adopted])
    _grow(session, tail, made)
    if made and session.subject and not tail.positions:
        # There at once; looked for where a conversation begins, the sweep sees to the rest.
        sets.make_own_set(session.subject)
    if unfinished := {e.session_id for e in known.values() if e.session_id}:
        _finish_known(unfinished)
    if session.mode == MemorySession.Mode.ASYNC:
        outbox.post("run_session", session.pk)
    ordered = sorted([*adopted, *made], key=lambda e: (e.position, e.pk))
    return Kept(session, space, tuple(ordered))


@contextmanager
def _touching(space: WorkspaceIndex, session: MemorySession, made: Sequence[Episode]) -> Iterator[None]:
    """Write new messages, and then which memories people speak about in them."""
    name = session.subject.name if session.subject else ""
    messages = [
        PersonsMessage(one.pk, one.content, one.believed_at, speaker_of(one.kind, name, one.author))
        for one in made
        if one.kind in Episode.OF_PEOPLE
    ]
    meeting = Meeting.of(space, session, messages)
    yield
    if meeting is not None:
        write_touches(session.workspace_id, meeting.touches())


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


def append(scope: Scope, conversation: Conversation, messages: Sequence[NewMessage]) -> list[Episode]:
    """Keep messages in a conversation without learning from them; return the episodes in order.

    Ids are as in `receive`: a known message is the same episode. Sent to `receive` later, the
    message is learned from. The caller has checked that `scope` sees the conversation.
    """
    subject = conversation.subject.external_id if conversation.subject else ""
    request = IngestRequest(messages=tuple(messages), user_id=subject, thread_id=conversation.external_id)
    check_ids(request.messages)
    space = workspace_index.index_of(scope.workspace_id)
    prepared = prepare(space, scope, request, subject)
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
    place = new_session(scope, request)  # says where the episodes belong, and is not kept
    known = known_episodes(scope, place.conversation, request.messages)
    fresh = [i for i, m in enumerate(request.messages) if not m.id or m.id not in known]
    made = [new_episode(place, request, request.messages[i], n, space.time_zone) for n, i in enumerate(fresh)]
    for episode in made:
        episode.session = None
    held = HeldBatch.of(made, prepared.of(fresh).screened, None)
    tail = tail_of(place.conversation_id)
    _place_after(tail, made)
    then = _due_by(place, tail, made)
    with _touching(space, place, made):
        index_episodes(space, made, tail, prepared.of(fresh), beside=[made], then=then)
    held.write()
    _grow(place, tail, made)
    by_position = dict(zip(fresh, made, strict=True))
    return [by_position.get(i) or known[m.id] for i, m in enumerate(request.messages)]


def _due_by(session: MemorySession, tail: Tail, made: Sequence[Episode]) -> list[Asked]:
    """Return the query that makes summaries of the conversation, if it is long enough, and of its
    subjects due."""
    if session.conversation_id is None or tail.positions + len(made) < due_summaries.FEWEST:
        return []
    return [due_summaries.of_conversation(session.workspace_id, session.conversation_id)]


def _grow(session: MemorySession, tail: Tail, made: Sequence[Episode]) -> None:
    """Note that the conversation has grown, for its running summary. Without a conversation that is
    long enough, make the summaries of the subject due."""
    known, after = tail.positions, tail.positions + len(made)
    if session.conversation_id is not None:
        running_summary.grown(session.conversation_id, known, after)
    is_short = session.conversation_id is None or after < due_summaries.FEWEST
    if session.subject_id is not None and is_short:
        due_summaries.of_subject(session.workspace_id, session.subject_id)


def _place_after(tail: Tail, made: list[Episode]) -> None:
    """Continue the positions where the conversation ended."""
    for episode in made:
        episode.position += tail.positions


def _finish_known(sessions: set[uuid.UUID]) -> None:
    """Finish unfinished extractions of episodes that are sent again."""
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


def prepare(space: WorkspaceIndex, scope: Scope, request: IngestRequest, user: str) -> Prepared:
    """Prepare before the transaction, whose locks others wait for. Masked words are not indexed."""
    messages = request.all_messages
    screened = screen_each(
        [replace(each, metadata={**request.metadata, **each.metadata}) for each in messages],
        space.guard.get("allowed", ()),
        before=last_words(scope, request),
        is_whole_text=request.content is not None,
    )
    screened = with_forgotten(messages, screened, scope, user)
    texts = [without_secrets(message, places) for message, places in zip(messages, screened, strict=True)]
    ends = accumulate(len(text) for text in texts)
    now = [end <= AT_ONCE for end in ends]
    keys = [
        (entries.keys_of_episode(space.number, text) if is_now else entries.UNMADE) if len(text) > BESIDE else None
        for text, is_now in zip(texts, now, strict=True)
    ]
    if embedder_of(space).is_remote:
        return Prepared(None, keys, screened)
    vectors = due_vectors.embed_or_leave(space, [entries.texts_of(text) for text in compress(texts, now)])
    if vectors is None:
        return Prepared(None, keys, screened)
    made = iter(vectors)
    return Prepared([next(made) if is_now else None for is_now in now], keys, screened)


def last_words(scope: Scope, request: IngestRequest) -> str:
    """Return the end of the last message in the request's thread that the asker sees, if the first
    of the new ones may answer it."""
    if not request.thread_id or not guard.may_answer(request.all_messages[0].content):
        return ""
    values = {
        "workspace": scope.workspace_id,
        "thread": request.thread_id,
        "agent": scope.agent_id,
        "subjects": None if scope.subject_ids is None else list(scope.subject_ids),
    }
    rows = prepared_sql.rows(LAST_WORDS, values)
    return str(rows[0].words) if rows else ""


def tail_of(conversation_id: uuid.UUID | None) -> Tail:
    if conversation_id is None:
        return Tail(0, ())
    found = prepared_sql.rows(TAIL, {"conversation": conversation_id, "most": BESIDE + 1})
    last = tuple((row.id, row.content) for row in reversed(found))
    return Tail(found[0].positions if found else 0, last)


def index_episodes(
    space: WorkspaceIndex,
    made: list[Episode],
    tail: Tail,
    prepared: Prepared,
    *,
    beside: Sequence[New],
    then: Sequence[Asked] = (),
) -> None:
    """Write entries of new episodes, which follow the `tail` of their conversation; also the rows
    `beside` them, and `then` run queries."""
    before = tail.last if made else ()
    texts = [*(text for _, text in before), *(episode.content for episode in made)]
    stems = [lexical.lent(text) for text in texts]
    items = []
    for at, (episode, keys) in enumerate(zip(made, prepared.keys, strict=True), len(before)):
        counts = {} if keys else _document(stems, at)
        items.append(replace(entries.episode_item(episode, counts), keys=keys))
    own = [workspace_index.counting_speakers(space, made[0].subject_id, made)] if made else []
    if before and len(before[-1][1]) <= BESIDE:
        document = _document(stems, len(before) - 1)
        own.append(entries.reweighing(space, Layer.EPISODES, before[-1][0], document))
    entries.write(space, items, prepared.vectors, beside=beside, then=[*own, *then])


def _document(stems: Sequence[Sequence[str]], at: int) -> dict[str, float]:
    previous = stems[at - 1] if at else ()
    earlier = stems[at - 2] if at > 1 else ()
    following = stems[at + 1] if at + 1 < len(stems) else ()
    return lexical.index_stems(stems[at], previous, following, earlier)
