"""A claimed session, learned step by step: read, embed, resolve, commit; then the next messages.

Whoever comes after a worker that died, or after one whose turn was over, goes on behind the last
step that was committed. What was said before that is heard again, so it makes no difference in how
many steps a session is learned.
"""

import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from memories import resolve, skip_counts, unmatched
from memories.extraction import ExtractionRun, ExtractOptions, Message
from memories.extraction.fallback import FallbackChain
from memories.index import due, entries
from memories.ingest import session_queue
from memories.ingest.store import Kept
from memories.ingest.written import Written
from memories.leases import TakenOver
from memories.models import Fact, MemorySession
from memories.resolve import Claim, ResolveOutcome

LONGEST_NOTE = 500  # characters
# Of one step: other writers of the workspace wait as long as it is written.
MOST_MESSAGES, MOST_CLAIMS, LONGEST_READING = 100, 300, 2.0


class SessionSteps:
    """What is left to be learned of a session. `taken` of the claims that were found are written;
    `ahead` are the episodes that were said to be of the future, with when that was."""

    def __init__(
        self,
        kept: Kept,
        messages: Sequence[Message],
        options: ExtractOptions,
        chain: FallbackChain | None,
    ) -> None:
        self.started = time.perf_counter()
        self.session, self.space = kept.session, kept.space
        self.messages, self.chain = messages, chain
        self.ahead: dict[uuid.UUID | None, datetime] = {
            episode.pk: episode.believed_at for episode in kept.episodes if episode.is_ahead
        }
        self.written = Written.of(self.session)
        self.timings = dict(self.session.timings)  # of the attempts before
        self.run = ExtractionRun(options)
        self.run.read(*messages[: self.session.learned])
        self.taken = len(self.run.found.claims)

    @property
    def is_last(self) -> bool:
        return self.session.learned >= len(self.messages)

    def take(self, *, is_late: bool = False) -> MemorySession:
        """The next step, which leaves the rest to another worker where it `is_late`; the session as
        its row is then. Raises TakenOver."""
        self._read()
        if self.is_last:
            self.run.finish(self.chain)
        fresh = self.written.new(self.run.found.claims[self.taken :])
        self.taken = len(self.run.found.claims)
        claims = [self._believed(claim) for claim in fresh]
        return self._commit(claims, self._embedded(claims), is_late)

    def _read(self) -> None:
        """As many messages as make a step."""
        end, first = time.monotonic() + LONGEST_READING, self.session.learned
        for message in self.messages[first : first + MOST_MESSAGES]:
            self.run.read(message)
            self.session.learned += 1
            if len(self.run.found.claims) - self.taken >= MOST_CLAIMS or time.monotonic() >= end:
                break

    def _believed(self, claim: Claim) -> Claim:
        cited = claim.quotes[0].episode_id if claim.quotes else None
        at = self.ahead.get(cited, claim.occurred_at)
        return replace(claim, metadata=self.session.metadata, occurred_at=at)

    def _embedded(self, claims: Sequence[Claim]) -> list[entries.Vectors] | None:
        began = time.perf_counter()
        texts = [entries.texts_of(claim.statement) for claim in claims]
        vectors = due.embed_or_leave(self.space, texts)
        took = self.run.found.milliseconds.get("embed", 0.0) + (time.perf_counter() - began) * 1e3
        self.run.found.milliseconds["embed"] = round(took, 2)
        return vectors

    @transaction.atomic(durable=True)
    def _commit(
        self, claims: Sequence[Claim], vectors: Sequence[entries.Vectors] | None, is_late: bool
    ) -> MemorySession:
        session, found = self.session, self.run.found
        placement = resolve.placement_of(session, claims)
        outcome = resolve.apply(
            self.space,
            placement,
            claims,
            vectors,
            actor=f"session:{session.pk}",
            session_id=session.pk,
        )
        self._note(outcome)
        if self.is_last:
            doubted = self.written.newly_doubted(found.quarantined)
            resolve.quarantine(placement, doubted, session.pk)
            session.counts["quarantined"] = session.counts.get("quarantined", 0) + len(doubted)
            unmatched.record(session, found.missed)
            session.steps = [*session.steps, *found.steps]
            is_whole = any(claim.method == Fact.Method.WHOLE for claim in found.claims)
            session_queue.settle(session, found.error, kept_whole=is_whole)
        elif is_late:
            session_queue.hand_over(session)
        else:
            session_queue.go_on(session)
        row = session_queue.save(session)
        if row is None:
            raise TakenOver
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
            **Counter(f"{skip_counts.KEY}{skip.label}" for skip in found.skipped),
        }
        self.written.rejected.extend(outcome.rejected)
        session.reason = "; ".join(self._reasons())
        found.milliseconds["total"] = round((time.perf_counter() - self.started) * 1e3, 2)
        session.timings = {
            name: round(self.timings.get(name, 0.0) + found.milliseconds.get(name, 0.0), 2)
            for name in self.timings | found.milliseconds
        }

    def _reasons(self) -> list[str]:
        found, rejected = self.run.found, self.written.rejected
        notes = [found.reason] if found.reason else []
        if rejected:
            told = "; ".join(rejected)[:LONGEST_NOTE]
            notes.append(f"{len(rejected)} rejected before by a person: {told}")
        if self.ahead:
            notes.append(
                f"{len(self.ahead)} of the messages said to be of the future: believed as of now"
            )
        if not self.session.episode_ids:
            notes.append("all messages are known already")
        return notes
