"""Learn from a session that is due. It can run twice, from the rows."""

import math
import time
import uuid
from functools import partial

from memories import intents, leases, metrics
from memories.errors import erased
from memories.extraction import ExtractOptions, Message
from memories.extraction.configured_models import ALWAYS
from memories.extraction.fallback import FallbackChain, chain_from
from memories.index import configured_embedder, due_vectors, repair, row_marks, workspace_index
from memories.ingest import document_memories, session_messages, session_queue
from memories.ingest.ingest_request import AT_ONCE, IngestRequest
from memories.ingest.session_messages import messages_before, messages_of, writer_of
from memories.ingest.session_steps import SessionSteps
from memories.ingest.store import Kept, keep
from memories.leases import TakenOver
from memories.models import Episode, MemorySession, WorkspaceIndex, WorkspacePattern
from memories.models.conversation import is_shared_by_default
from memoryproject import crossings
from workspaces.scope import Scope

ASKING = (MemorySession.Extract.AUTO, MemorySession.Extract.LLM)  # these may ask a model
MATCHING = (MemorySession.Extract.AUTO, MemorySession.Extract.PATTERNS)
TURN = 100.0  # seconds that a worker stays with one session


def ingest(scope: Scope, request: IngestRequest, seconds: float = math.inf) -> MemorySession:
    """Keep, and learn at once where that is asked and no network model stands in the way; the
    session as the rows have it then.

    It is not final where it is still to be run: an async one has woken the worker already, and so
    has one of which a part was not learned in `seconds`.
    """
    until = time.monotonic() + seconds
    space = workspace_index.index_for(scope)
    here = (
        request.mode == MemorySession.Mode.SYNC
        and sum(len(message.content) for message in request.all_messages) <= AT_ONCE
        and not configured_embedder.embedder_of(space).is_remote
        and _chain(request.extract, space) is None
    )
    kept = keep(scope, request, space, claimed=here)
    if not here:
        return kept.session
    # What is quick asks no model.
    row = (
        _learn(kept, None, until, has_waited=False)
        or MemorySession.objects.filter(pk=kept.session.pk).first()
    )
    if row is None:
        raise erased()
    return row


def _chain(extract: str, space: WorkspaceIndex) -> FallbackChain | None:
    if extract not in ASKING:
        return None
    return chain_from(space.workspace_id, space.extractors)


def run(session_id: uuid.UUID, seconds: float = math.inf) -> MemorySession | None:
    """Extract and resolve a session that is due, for about `seconds`: what is left then wakes a
    worker. None where another worker has it, or it is done."""
    until = time.monotonic() + seconds
    with crossings.of_row("memories_memorysession", session_id):
        session = session_queue.claim(session_id)
        if session is None:
            return None
        rows = Episode.objects.filter(pk__in=session.episode_ids).order_by("position", "pk")
        space = workspace_index.index_of(session.workspace_id)
        document = None
        if session.pathway == MemorySession.Pathway.DOCUMENT:
            document = document_memories.reading_of(session)
        kept = Kept(session, space, tuple(rows), document)
        return _learn(kept, _chain(session.extract, space), until)


def run_next(seconds: float = math.inf, *, only_quick: bool = False) -> MemorySession | None:
    """As `run`, of whichever session is due next (`session_queue.next_due`); None where none is."""
    while (session_id := session_queue.next_due(only_quick=only_quick)) is not None:
        if done := run(session_id, seconds):
            return done
    return None


def _learn(
    kept: Kept, chain: FallbackChain | None, until: float, *, has_waited: bool = True
) -> MemorySession | None:
    """Do the work of a claimed session; None where another worker took it meanwhile."""
    session = kept.session
    is_long = sum(len(episode.content) for episode in kept.episodes) > AT_ONCE
    with leases.renewed(partial(session_queue.held, session)) as work:
        if is_long:
            due_vectors.make_keys(kept.space, items=session.episode_ids)
        if not row_marks.are_current(kept.space):
            repair.repair_subject(kept.space, session.subject_id)
        messages = _messages_of(kept)
        steps = SessionSteps(kept, messages, _options_of(kept), chain, has_waited=has_waited)
        try:
            row = steps.take(is_late=time.monotonic() >= until)
            while row.state == session_queue.State.EXTRACTING:
                work.advance()
                row = steps.take(is_late=time.monotonic() >= until)
        except TakenOver:
            return None
    if row.is_final:
        metrics.count("sessions_finished", outcome=row.state)
    if steps.is_last and (is_long or configured_embedder.embedder_of(kept.space).is_remote):
        due_vectors.fill(kept.space, session.episode_ids)
    return row


def _messages_of(kept: Kept) -> list[Message]:
    """What is to be read; of a document none is an order to the memory."""
    session, own = kept.session, kept.session.created_ids
    if kept.document is not None:
        document_memories.carry_over(kept.space, kept.document)
        session.counts["passages"] = len(kept.document.messages)
        return list(kept.document.messages)
    messages = session_messages.mark_own_output(messages_of(kept), lambda: writer_of(session), own)
    if session.extract == MemorySession.Extract.NONE:
        return messages
    return intents.hear(session, messages)


def _options_of(kept: Kept) -> ExtractOptions:
    session = kept.session
    matching = session.extract in MATCHING
    asked = matching and kept.space.has_patterns
    own = WorkspacePattern.objects.in_use(session.workspace_id) if asked else ()
    context = messages_before(kept) if matching else ()
    always = kept.space.llm == ALWAYS
    subject = session.subject.external_id if session.subject else ""
    return ExtractOptions(
        session.extract, session.is_whole_text, session.visibility, own, context, always, subject,
        kept.space.languages, kept.space.date_order,
        is_shared_by_default(
            session.subject_id, session.agent, session.conversation,
            str(kept.space.guard.get("audience") or ""),
        ),
        kept.space.guard, kept.space.patterns_off,
    )  # fmt: skip
