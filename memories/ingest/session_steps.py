"""A claimed session, learned step by step: read, embed, resolve, commit; then the next messages.

Whoever comes after a worker that died, or after one whose turn was over, goes on behind the last
step that was committed. What was said before that is heard again, so it makes no difference in how
many steps a session is learned.
"""

import logging
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from django.db import transaction
from django.db.models.functions import Coalesce

from memories import intents, resolve, skip_counts, unmatched
from memories.documents.ingested_texts import keep_long_texts
from memories.extraction import ExtractionRun, ExtractOptions, Message
from memories.extraction.fallback import FallbackChain
from memories.index import due_vectors, entries, workspace_index
from memories.ingest import document_memories, session_queue
from memories.ingest.mask_messages import GUARD
from memories.ingest.session_messages import writer_of
from memories.ingest.store import Kept
from memories.leases import TakenOver
from memories.models import Episode, Fact, MemorySession, Revision
from memories.resolve import Claim, ResolveOutcome

FactPlace = tuple[str, uuid.UUID | None, int | None]
Span = tuple[uuid.UUID, int, int]

log = logging.getLogger(__name__)
LONGEST_NOTE = 500  # characters
# Of one step: other writers of the workspace wait as long as it is written.
MOST_MESSAGES, MOST_CLAIMS, LONGEST_READING = 100, 300, 2.0


class SessionSteps:
    """What is left to be learned of a session. `taken` of the claims that were found are written;
    `ahead` are the episodes that were said to be of the future, with when that was. `has_waited`:
    something may have been said to the memory since its messages came."""

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
        self.timings = dict(self.session.timings)  # of the attempts before
        self.run = ExtractionRun(options)
        self.run.read(*messages[: self.session.learned])
        self.taken = len(self.run.found.claims)
        self.is_written = False  # all claims are; what was said to the memory is to be done

    @property
    def is_last(self) -> bool:
        return self.session.learned >= len(self.messages)

    def take(self, *, is_late: bool = False) -> MemorySession:
        """The next step, which leaves the rest to another worker where it `is_late`; the session as
        its row is then. Raises TakenOver."""
        if self.is_written:
            return self._obey()
        end, first = time.monotonic() + LONGEST_READING, self.session.learned
        for message in self.messages[first : first + MOST_MESSAGES]:
            self.run.read(message)
            self.session.learned += 1
            if len(self.run.found.claims) - self.taken >= MOST_CLAIMS or time.monotonic() >= end:
                break
        if self.is_last:
            self.run.finish(self.chain)
            if self.session.counts.get("intents"):
                self.run.found.claims += intents.claims_to_keep(
                    self.session, self.messages, self.run.found.claims
                )
        fresh = self.earlier.without(self._claims(self.run.found.claims[self.taken :]))
        self.taken = len(self.run.found.claims)
        claims = [
            replace(
                claim,
                metadata=self.session.metadata,
                occurred_at=self.ahead.get(
                    claim.quotes[0].text_id if claim.quotes else None, claim.occurred_at
                ),
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
        return found if self.document is None else self.document.claims_of(found)

    def _log(self, row: MemorySession, outcome: ResolveOutcome) -> None:
        """What an operator asks about, by ids: never what was said. What was held back or is in
        quarantine is told by whoever wrote it."""
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
            claims, vectors = _still_said(claims, vectors)
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
        return [(claim, reason) for each, reason in found for claim in self._claims([each])]

    def _settle(self) -> None:
        found, document = self.run.found, self.document
        is_whole = any(claim.method == Fact.Method.WHOLE for claim in found.claims)
        session_queue.settle(self.session, found.error, kept_whole=is_whole)
        if document and self.session.is_final and not document_memories.is_superseded(document):
            document_memories.take_support(writer_of(self.session), self.space, document)

    def _obey(self) -> MemorySession:
        """Do what was said to the memory, and end: whoever comes after a worker that died does what
        is left of it."""
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
        """What all steps came to so far."""
        session, found, counts = self.session, self.run.found, self.session.counts
        session.created_ids = [*session.created_ids, *outcome.created]
        session.updated_ids = [*session.updated_ids, *outcome.superseded]
        session.reinforced_ids = [*session.reinforced_ids, *outcome.reinforced]
        session.counts = counts | {
            "facts": counts.get("facts", 0) + outcome.facts,
            "held": counts.get("held", 0) + len(outcome.held),
            "reviewed": counts.get("reviewed", 0) + len(outcome.reviewed),
            "rejected": counts.get("rejected", 0) + len(outcome.rejected),
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
        if rejected:
            statements = "; ".join(rejected)[:LONGEST_NOTE]
            reasons.append(f"{len(rejected)} rejected before by a person: {statements}")
        if self.ahead:
            reasons.append(
                f"{len(self.ahead)} of the messages said to be of the future: believed as of now"
            )
        if not session.episode_ids and self.document is None:
            reasons.append("all messages are known already")
        session.reason = "; ".join(reasons)
        found.milliseconds["total"] = round((time.perf_counter() - self.started) * 1e3, 2)
        session.timings = {
            name: round(self.timings.get(name, 0.0) + found.milliseconds.get(name, 0.0), 2)
            for name in self.timings | found.milliseconds
        }


def _still_said(
    claims: Sequence[Claim], vectors: Sequence[entries.Vectors] | None
) -> tuple[Sequence[Claim], Sequence[entries.Vectors] | None]:
    """The claims whose words their messages still have: others were masked while they were read."""
    cited = {quote.text_id for claim in claims for quote in claim.quotes}
    rows = Episode.objects.filter(pk__in=cited, masks__isnull=False).distinct()
    texts = dict(rows.values_list("pk", "content"))
    if any(claim.is_of_document for claim in claims):
        texts |= Revision.objects.filter(pk__in=cited).values_list("pk", "text")
    kept = [
        number
        for number, claim in enumerate(claims)
        if all(
            quote.text_id not in texts
            or texts[quote.text_id][quote.start : quote.end] == quote.quote
            for quote in claim.quotes
        )
    ]
    return [claims[n] for n in kept], None if vectors is None else [vectors[n] for n in kept]


@dataclass(frozen=True, slots=True)
class EarlierFacts:
    """What earlier attempts of a session have written, none of which is written again: statements
    with the place that they stand on, where they have one; of a model's the spans, for it may tell
    the same in other words; and what a person had rejected before."""

    places: frozenset[FactPlace] = frozenset()
    spans: tuple[Span, ...] = ()
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
        """The claims that are not written yet."""
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
        """As `without`, of claims that go to quarantine, each with its reason."""
        return [one for one in doubted if (one[0].statement, None, None) not in self.places]
