"""Learn from a session that is due: its messages with what was said before, step by step. It can
run twice, from the rows."""

import logging
import math
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Self

from django.db import transaction
from django.db.models.functions import Coalesce

from memories import metrics
from memories.belief import resolve
from memories.belief.resolve import Claim, ResolveOutcome
from memories.documents.long_texts import keep_long_texts
from memories.errors import erased
from memories.index import (
    configured_embedder,
    due_vectors,
    entries,
    prepared_sql,
    repair,
    row_marks,
    workspace_index,
)
from memories.ingest import document_memories, session_queue, whose_words
from memories.ingest.decided_examples import decided_examples
from memories.ingest.ingest_request import AT_ONCE, IngestRequest
from memories.ingest.mask_messages import GUARD
from memories.ingest.store import Kept, keep
from memories.language import bounds
from memories.meters import skip_counts
from memories.models import (
    Episode,
    Fact,
    MemorySession,
    Revision,
    WorkspaceIndex,
    WorkspacePattern,
)
from memories.models.conversation import is_shared_by_default
from memories.queue import leases
from memories.queue.leases import TakenOver
from memories.reading import intents
from memories.reading.extraction import (
    ExtractionRun,
    ExtractOptions,
    Message,
    speaker_of,
    unmatched,
)
from memories.reading.extraction.fallback_chain import ALWAYS, FallbackChain, chain_from
from memories.reading.extraction.workspace_instructions import Instructions
from memories.reading.guard.masked_text import is_masked
from memoryproject.postgres import crossings
from workspaces.scope import Scope, worker_scope

# What the conversation of a session had said before.

MOST_BEFORE = 6  # messages
RECENT = timedelta(hours=12)  # what is older is another sitting
BEFORE = """
select id, kind, role, author, left(content, %(most)s) as content, occurred_at, utc_offset,
       exists (select 1 from memories_memorysession s
               where s.id = memories_episode.session_id and s.counts->'in_play' is not null) as in_play
from memories_episode
where conversation_id = %(conversation)s and position < %(position)s
  and occurred_at between %(at)s - %(recent)s::interval and %(at)s
  and subject_id is not distinct from %(subject)s::uuid
  and (agent_id = %(agent)s::uuid or %(agent)s::uuid is null)
order by position desc limit %(last)s
"""
END = 2**31 - 1  # behind all positions


LONGEST_NOTE = 500  # characters
ASKING = (MemorySession.Extract.AUTO, MemorySession.Extract.LLM)  # these may ask a model
TURN = 100.0  # seconds that a worker stays with one session


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """A place in a conversation, and the words that may be read there: the agent's own, about the
    subject; without an agent, everybody's."""

    conversation_id: uuid.UUID
    subject_id: uuid.UUID | None
    agent_id: uuid.UUID | None
    at: datetime
    position: int = END


def said_before(place: ConversationPlace, subject_name: str) -> tuple[Message, ...]:
    """Return the last messages before `place`, the oldest first."""
    values = {
        "conversation": place.conversation_id,
        "subject": place.subject_id,
        "agent": place.agent_id,
        "at": place.at,
        "position": place.position,
        "recent": RECENT,
        "last": MOST_BEFORE,
        "most": bounds.READ_CHARACTERS,
    }
    rows = prepared_sql.rows(BEFORE, values)
    return tuple(
        Message(
            index=-1,
            id=row.id,
            kind=row.kind,
            role=row.role,
            speaker=speaker_of(row.kind, subject_name, row.author),
            text=row.content,
            occurred_at=Episode(occurred_at=row.occurred_at, utc_offset=row.utc_offset).said_at,
            is_played=row.in_play,
        )
        for row in reversed(rows)
    )


def messages_before(kept: Kept) -> tuple[Message, ...]:
    """Return what was said before a session's episodes; nothing if they begin a conversation."""
    session, first = kept.session, kept.episodes[0] if kept.episodes else None
    if first is None or first.position == 0 or session.conversation_id is None:
        return ()
    place = ConversationPlace(
        session.conversation_id,
        session.subject_id,
        session.agent_id,
        first.occurred_at,
        first.position,
    )
    return said_before(place, session.subject.name if session.subject else "")


def messages_of(kept: Kept) -> list[Message]:
    unnamed = any(not each.author or is_masked(each.author) for each in kept.episodes)
    subject = kept.session.subject.name if unnamed and kept.session.subject else ""
    return [
        Message(
            index=index,
            id=episode.pk,
            kind=episode.kind,
            role=episode.role,
            speaker=speaker_of(episode.kind, subject, episode.author),
            text=episode.content,
            occurred_at=episode.said_at,
        )
        for index, episode in enumerate(kept.episodes)
    ]


def writer_of(session: MemorySession) -> Scope:
    """Return a scope that sees what the session's agent sees; without an agent, all of the
    workspace, or as much as its key limited to spaces may see."""
    scope = worker_scope(session.workspace_id, session.requested_by)
    scope = replace(scope, container_tags=resolve.spaces_of(session))
    return scope if session.agent is None else scope.as_agent(session.agent)


# A claimed session, learned step by step: read, embed, resolve, commit; then the next messages.
#
# After a worker has died, or its turn is over, the next one goes on behind the last step that was
# committed. It hears again what was said before, so the number of steps makes no difference.

FactPlace = tuple[str, uuid.UUID | None, int | None]
EpisodeSpan = tuple[uuid.UUID, int, int]

log = logging.getLogger(__name__)
# Of one step: other writers of the workspace wait as long as it is written.
MOST_MESSAGES, MOST_CLAIMS, LONGEST_READING = 100, 300, 2.0


class SessionSteps:
    """The steps left to learn a session. `taken` of the claims found are written; `ahead` are the
    episodes dated in the future, with the time that counts instead. `has_waited`: instructions to
    the memory may have come since the session's messages."""

    def __init__(
        self,
        kept: Kept,
        messages: Sequence[Message],
        options: ExtractOptions,
        chain: FallbackChain | None,
        *,
        has_waited: bool = True,
    ) -> None:
        self.has_waited = has_waited
        self.started = time.perf_counter()
        self.session, self.space, self.episodes = kept.session, kept.space, kept.episodes
        self.messages, self.chain, self.document = messages, chain, kept.document
        self.ahead: dict[uuid.UUID | None, datetime] = {
            episode.pk: episode.believed_at for episode in kept.episodes if episode.is_ahead
        }
        self.earlier = EarlierFacts.of(self.session)
        self.private = 0  # claims that a person is asked about, for they were forgotten as private
        self.timings = dict(self.session.timings)  # of the attempts before
        self.run = ExtractionRun(options)
        self.run.read(*messages[: self.session.learned])
        self.taken = len(self.run.found.claims)
        self.unclear: list[str] = []  # statements about somebody of whom nobody knows who it is
        self.is_written = False  # all claims are; what was said to the memory is to be done

    @property
    def is_last(self) -> bool:
        return self.session.learned >= len(self.messages)

    def take(self, *, is_late: bool = False) -> MemorySession:
        """Do the next step, and leave the rest to another worker where it `is_late`; return the
        session as its row is then. Raises TakenOver."""
        if self.is_written:
            return self._obey()
        end, first = time.monotonic() + LONGEST_READING, self.session.learned
        # Half as many after each worker that died of it: a short step is done between two restarts.
        most = max(1, MOST_MESSAGES >> (self.session.attempts - 1))
        for message in self.messages[first : first + most]:
            self.run.read(message)
            self.session.learned += 1
            if len(self.run.found.claims) - self.taken >= MOST_CLAIMS or time.monotonic() >= end:
                break
        if self.is_last:
            self.run.finish(self.chain)
            if self.session.counts.get("intents"):
                self.run.found.claims += intents.claims_to_keep(self.session, self.messages, self.run.found.claims)
        fresh = self.earlier.without(self._claims(self.run.found.claims[self.taken :]))
        self.taken = len(self.run.found.claims)
        claims = [
            replace(
                claim,
                metadata=self.session.metadata,
                occurred_at=self.ahead.get(claim.quotes[0].text_id if claim.quotes else None, claim.occurred_at),
            )
            for claim in fresh
        ]
        began, milliseconds = time.perf_counter(), self.run.found.milliseconds
        texts = [entries.texts_of(claim.statement) for claim in claims]
        vectors = due_vectors.embed_or_leave(self.space, texts)
        took = (time.perf_counter() - began) * 1e3
        milliseconds["embed"] = round(milliseconds.get("embed", 0.0) + took, 2)
        row, outcome = self._commit(claims, vectors, is_late)
        self._log(row, outcome)
        return row

    def _claims(self, found: Sequence[Claim]) -> Sequence[Claim]:
        if self.document is None:
            return found
        claims = self.document.claims_of(found)
        if resolve.is_limited(self.session):
            return claims
        named = resolve.people_named(self.space, claims, self.session.subject_id)
        self.unclear += named.unclear
        return named.claims

    def _log(self, row: MemorySession, outcome: ResolveOutcome) -> None:
        """Log what an operator asks about, by ids, never what was said. Held and quarantined claims
        are logged where they are written."""
        name = session_queue.name_of(row)
        if outcome.rejected:
            log.info("%d claims refused: a person rejected them (%s)", len(outcome.rejected), name)
        error = self.run.found.error
        if error is None or not self.is_last or self.is_written:
            return
        if row.state in (row.State.FAILED, row.State.DEAD):
            log.error("%s is %s: %s", name, row.state, error.own_words)
        elif row.is_postponed:
            log.warning("%s is tried again at %s: %s", name, row.next_attempt_at, error.own_words)

    @transaction.atomic(durable=True)
    def _commit(
        self, claims: Sequence[Claim], vectors: Sequence[entries.Vectors] | None, is_late: bool
    ) -> tuple[MemorySession, ResolveOutcome]:
        session, found = self.session, self.run.found
        if self.has_waited:
            workspace_index.lock(self.space)
            claims, vectors = still_said(claims, vectors)
            if self.document is not None and document_memories.is_superseded(self.document):
                claims, vectors, found.quarantined = [], None, []
        placement = resolve.placement_of(session, claims)
        outcome = ResolveOutcome()
        for place, numbers in resolve.places_of(session, placement, claims):
            outcome.add(
                resolve.apply(
                    self.space,
                    place,
                    [claims[number] for number in numbers],
                    None if vectors is None else [vectors[number] for number in numbers],
                    actor=f"session:{session.pk}",
                    session_id=session.pk,
                )
            )
        self._note(outcome)
        whose_words.spare_judge(self.messages)
        if self.is_last:
            doubted = self.earlier.without_doubted(self._doubted())
            resolve.quarantine(placement, doubted, session.pk)
            session.counts["quarantined"] = session.counts.get("quarantined", 0) + len(doubted)
            if found.missed and self.document is None:
                unmatched.record(session, found.missed)
            session.steps = [*session.steps, *found.steps]
            if found.too_long:
                keep_long_texts(session, self.episodes)
            self.is_written = bool(session.counts.get("intents")) or (
                self.has_waited and not self.document and intents.unmet_before(session).exists()
            )
            if self.is_written:
                session_queue.go_on(session)
            else:
                self._settle()
        elif is_late:
            session_queue.hand_over(session)
        else:
            session_queue.go_on(session)
        row = session_queue.save(session)
        if row is None:
            raise TakenOver
        return row, outcome

    def _doubted(self) -> list[tuple[Claim, str]]:
        found = self.run.found.quarantined
        if self.document is None:
            return found
        claims_of = self.document.claims_of
        return [(claim, reason) for each, reason in found for claim in claims_of([each])]

    def _settle(self) -> None:
        found, document = self.run.found, self.document
        is_whole = any(claim.method == Fact.Method.WHOLE for claim in found.claims)
        session_queue.settle(self.session, found.error, kept_whole=is_whole)
        if document and self.session.is_final and not document_memories.is_superseded(document):
            scope = worker_scope(self.session.workspace_id, self.session.requested_by)
            document_memories.take_support(scope, self.space, document)

    def _obey(self) -> MemorySession:
        """Carry out the orders to the memory, and end the session. After a worker has died, the
        next one does what is left."""
        for intent in intents.waiting_of(self.session):
            intents.carry_out(writer_of(self.session), intent, self.chain)
        for intent in intents.unmet_before(self.session):
            intents.carry_out(writer_of(intent.session), intent, self.chain)
        with transaction.atomic(durable=True):
            self._settle()
            row = session_queue.save(self.session)
            if row is None:
                raise TakenOver
        self.is_written = False
        self._log(row, ResolveOutcome())
        return row

    def _note(self, outcome: ResolveOutcome) -> None:
        """Note in the session the outcome of all steps so far."""
        session, found, counts = self.session, self.run.found, self.session.counts
        session.created_ids = [*session.created_ids, *outcome.created]
        session.updated_ids = [*session.updated_ids, *outcome.superseded]
        session.reinforced_ids = [*session.reinforced_ids, *outcome.reinforced]
        session.counts = counts | {
            "facts": counts.get("facts", 0) + outcome.facts,
            "held": counts.get("held", 0) + len(outcome.held),
            "reviewed": counts.get("reviewed", 0) + len(outcome.reviewed),
            "rejected": counts.get("rejected", 0) + len(outcome.rejected),
            "quarantined": counts.get("quarantined", 0) + len(outcome.quarantined),
            "skipped": len(found.skipped),
            "tooLong": found.too_long,
            "unworthy": len(found.unworthy),
            **Counter(f"{skip_counts.KEY}{skip.label}" for skip in found.skipped),
            **Counter(f"{skip_counts.UNWORTHY}{skip.label}" for skip in found.unworthy),
        }
        rejected = self.earlier.rejected
        rejected.extend(outcome.rejected)
        reasons = [step["outcome"] for step in session.steps if step["rule"] == GUARD]
        reasons += [found.reason] if found.reason else []
        if self.document is not None:
            reasons += self.document.notes
        if self.unclear:
            statements = "; ".join(self.unclear)[:LONGEST_NOTE]
            reasons.append(
                f"{len(self.unclear)} about somebody whose name several have, or have only a part"
                f" of: quoted, and not believed: {statements}"
            )
        if rejected:
            statements = "; ".join(rejected)[:LONGEST_NOTE]
            reasons.append(f"{len(rejected)} rejected before by a person: {statements}")
        self.private += len(outcome.quarantined)
        if self.private:
            reasons.append(f"{self.private} forgotten as private before: a person is asked")
        if self.ahead:
            reasons.append(f"{len(self.ahead)} of the messages said to be of the future: believed as of now")
        if not session.episode_ids and self.document is None:
            reasons.append("all messages are known already")
        session.reason = "; ".join(reasons)
        found.milliseconds["total"] = round((time.perf_counter() - self.started) * 1e3, 2)
        session.timings = {
            name: round(self.timings.get(name, 0.0) + found.milliseconds.get(name, 0.0), 2)
            for name in self.timings | found.milliseconds
        }


def still_said(
    claims: Sequence[Claim], vectors: Sequence[entries.Vectors] | None
) -> tuple[Sequence[Claim], Sequence[entries.Vectors] | None]:
    """Return the claims whose words are still in their messages, not masked meanwhile."""
    cited = {quote.text_id for claim in claims for quote in claim.quotes}
    rows = Episode.objects.filter(pk__in=cited, masks__isnull=False).distinct()
    texts = dict(rows.values_list("pk", "content"))
    if any(claim.is_of_document for claim in claims):
        texts |= Revision.objects.filter(pk__in=cited).values_list("pk", "text")
    kept = [
        number
        for number, claim in enumerate(claims)
        if all(
            quote.text_id not in texts or texts[quote.text_id][quote.start : quote.end] == quote.quote
            for quote in claim.quotes
        )
    ]
    return [claims[n] for n in kept], None if vectors is None else [vectors[n] for n in kept]


@dataclass(frozen=True, slots=True)
class EarlierFacts:
    """The facts that earlier attempts of a session wrote, so that none is written again: statements
    with the place that they stand on, if any; the spans of a model's, for it may put the same in
    other words; and statements that a person had rejected before."""

    places: frozenset[FactPlace] = frozenset()
    spans: tuple[EpisodeSpan, ...] = ()
    rejected: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, session: MemorySession) -> Self:
        is_of_document = session.pathway == MemorySession.Pathway.DOCUMENT  # some were carried over
        counts = session.counts
        if not (counts.get("facts") or counts.get("quarantined") or is_of_document):
            return cls()
        text = Coalesce("citations__episode_id", "citations__revision_id")
        cited = ("text_id", "citations__start", "citations__end")
        facts = Fact.objects.filter(session=session).annotate(text_id=text).order_by("pk")
        rows = list(facts.values_list("statement", "method", "memory_id", "quarantined_at", *cited))
        return cls(
            frozenset((said, place, start) for said, _, _, _, place, start, _ in rows),
            tuple(
                (place, start, end)
                for _, method, _, _, place, start, end in rows
                if method == Fact.Method.LLM and place is not None
            ),
            list(dict.fromkeys(said for said, _, memory, held, *_ in rows if not (memory or held))),
        )

    def without(self, claims: Sequence[Claim]) -> list[Claim]:
        """Return the claims that are not written yet."""
        if not self.places:
            return list(claims)
        fresh = []
        for claim in claims:
            first = claim.quotes[0]
            is_same = (claim.statement, first.text_id, first.start) in self.places
            is_told_again = claim.method == Fact.Method.LLM and all(
                any(
                    quote.text_id == place and quote.start < end and start < quote.end
                    for place, start, end in self.spans
                )
                for quote in claim.quotes
            )
            if not (is_same or is_told_again):
                fresh.append(claim)
        return fresh

    def without_doubted(self, doubted: Sequence[tuple[Claim, str]]) -> list[tuple[Claim, str]]:
        """Return the claims for quarantine, each with its reason, that are not written yet."""
        return [one for one in doubted if (one[0].statement, None, None) not in self.places]


def ingest(scope: Scope, request: IngestRequest, seconds: float = math.inf) -> MemorySession:
    """Keep a request, and learn from it at once if asked to and no network model is needed; return
    the session as the rows have it then.

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
    row = _learn(kept, None, until, has_waited=False) or MemorySession.objects.filter(pk=kept.session.pk).first()
    if row is None:
        raise erased()
    return row


def _chain(extract: str, space: WorkspaceIndex) -> FallbackChain | None:
    if extract not in ASKING:
        return None
    return chain_from(space.workspace_id, space.extractors)


def run(session_id: uuid.UUID, seconds: float = math.inf) -> MemorySession | None:
    """Extract and resolve a session that is due, for about `seconds`, and wake a worker for the
    rest. None where another worker has it, or it is done."""
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
    """Run the session that is due next (`session_queue.next_due`); None where none is."""
    while (session_id := session_queue.next_due(only_quick=only_quick)) is not None:
        if done := run(session_id, seconds):
            return done
    return None


def _learn(kept: Kept, chain: FallbackChain | None, until: float, *, has_waited: bool = True) -> MemorySession | None:
    """Do the work of a claimed session; None where another worker took it meanwhile."""
    session = kept.session
    is_long = sum(len(episode.content) for episode in kept.episodes) > AT_ONCE
    with leases.renewed(partial(session_queue.held, session)) as work:
        if is_long:
            due_vectors.make_keys(kept.space, items=session.episode_ids)
        if not row_marks.are_current(kept.space):
            repair.repair_subject(kept.space, session.subject_id)
        options = options_of(kept)
        messages = _messages_of(kept, options.before)
        steps = SessionSteps(kept, messages, options, chain, has_waited=has_waited)
        try:
            row = steps.take(is_late=time.monotonic() >= until)
            while row.state == session_queue.State.EXTRACTING:
                work.advance()
                row = steps.take(is_late=time.monotonic() >= until)
        except TakenOver:
            return None
        except Exception as fault:
            session_queue.note_fault(session, fault)
            raise
    if row.is_final:
        metrics.count("sessions_finished", outcome=row.state)
    if steps.is_last and (is_long or configured_embedder.embedder_of(kept.space).is_remote):
        due_vectors.fill(kept.space, session.episode_ids)
    return row


def _messages_of(kept: Kept, before: Sequence[Message]) -> list[Message]:
    """Return the messages to be read; none of a document is an order to the memory."""
    session, own = kept.session, kept.session.created_ids
    if kept.document is not None:
        document_memories.carry_over(kept.space, kept.document)
        session.counts["passages"] = len(kept.document.messages)
        return list(kept.document.messages)
    messages = whose_words.mark_own_output(messages_of(kept), lambda: writer_of(session), own)
    if session.extract == MemorySession.Extract.NONE:
        return messages
    messages, in_play = whose_words.mark_others(kept.space, messages, before)
    if in_play:
        session.counts["in_play"] = 1
    return intents.hear(session, messages)


def options_of(kept: Kept) -> ExtractOptions:
    session = kept.session
    matching = session.extract in MemorySession.BY_RULES
    asked = matching and kept.space.has_patterns
    own = WorkspacePattern.objects.in_use(session.workspace_id) if asked else ()
    context = messages_before(kept) if matching else ()
    always = kept.space.llm == ALWAYS
    subject = session.subject.external_id if session.subject else ""
    instructions = [rules for rules in (kept.space.instructions, session.instructions) if rules]
    return ExtractOptions(
        session.extract,
        session.is_whole_text,
        session.visibility,
        own,
        context,
        always,
        subject,
        kept.space.date_order,
        is_shared_by_default(
            session.subject_id,
            session.agent,
            session.conversation,
            str(kept.space.guard.get("audience") or ""),
        ),
        kept.space.guard,
        kept.space.patterns_off,
        frozenset(step["piece"] for step in session.steps if step.get("piece")),
        Instructions.of(*instructions) if instructions else Instructions(),
        partial(decided_examples, session, partial(writer_of, session)),
    )
