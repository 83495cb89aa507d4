"""The results of an import, for people and for programs."""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.management.base import CommandError

from memories.exchange.file_survey import SHOWN, Survey
from memories.exchange.import_without_repeats import ImportedBatch
from memories.models import MemorySession
from memories.reading.extraction.cost_ahead import CostAhead, TalkSize, cost_ahead
from memories.reading.extraction.fallback_chain import chain_of


def author_lines(surveys: Iterable[Survey]) -> Iterator[str]:
    """Yield the authors of logs, for whoever maps them to users."""
    counts: Counter[str] = Counter()
    for found in surveys:
        counts.update({author.name: author.messages for author in found.authors.by_name.values()})
    if not counts:
        return
    yield "Authors, with their messages (--me NAME: your own; --author NAME=USER: another user's):"
    yield from (f"{count:>8}  {name}" for name, count in counts.most_common(SHOWN))
    if len(counts) > SHOWN:
        yield f"          and {len(counts) - SHOWN} more"


def cost_of(workspace_id: uuid.UUID, talks: Iterable[TalkSize], batch: int, *, said: bool) -> CostAhead:
    """Return what an import will cost at most. Raises CommandError where that is much and nobody `said` yes."""
    ahead = cost_ahead(chain_of(workspace_id), talks, batch)
    if ahead.is_dear and not said:
        raise CommandError(f"{ahead} Nothing was stored: say with --yes that it may cost so much.")
    return ahead


@dataclass(slots=True)
class Tally:
    """Counts of what was stored so far. `problems` are sessions that did not end well, and why;
    `refused` is why transcripts were not stored."""

    messages: int = 0
    stored: int = 0
    known: int = 0
    facts: int = 0
    created: int = 0
    updated: int = 0
    reinforced: int = 0
    held: int = 0
    changed: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    is_stopped: bool = False

    def add(self, batch: ImportedBatch, thread: str) -> None:
        self.messages += batch.messages
        self.stored += batch.stored
        self.known += batch.known
        self.changed += [f"{thread}: {name}" for name in batch.changed]
        for session in batch.sessions:
            self.facts += session.counts.get("facts", 0)
            self.held += session.counts.get("held", 0) + session.counts.get("quarantined", 0)
            self.created += len(session.created_ids)
            self.updated += len(session.updated_ids)
            self.reinforced += len(session.reinforced_ids)
            if session.state != MemorySession.State.DONE:
                waits = "waits for the worker" if not session.is_final else session.state
                self.problems[f"{waits}: {session.error}" if session.error else waits] += 1

    def counts(self) -> dict[str, int]:
        """Return the counts in words, as the admin shows them."""
        return {
            "messages": self.messages,
            "stored": self.stored,
            "known": self.known,
            "memories": self.created,
            "replaced": self.updated,
            "not stored": len(self.refused),
        }

    def lines(self) -> Iterator[str]:
        yield f"{self.stored} messages stored, {self.known} were there already."
        yield (
            f"{self.created} memories created, {self.updated} superseded,"
            f" {self.reinforced} reinforced, from {self.facts} facts."
        )
        if self.held:
            yield f"{self.held} of them wait in the Inbox for a person's word."
        for name in self.changed[:SHOWN]:
            yield f"kept as it was first said, though the file says otherwise now: {name}"
        if len(self.changed) > SHOWN:
            yield f"and {len(self.changed) - SHOWN} more that changed"
        yield from self.refused
        for problem, times in self.problems.items():
            yield f"{times} sessions: {problem}"

    def as_json(self) -> dict[str, Any]:
        return {
            "messages": self.messages,
            "stored": self.stored,
            "known": self.known,
            "changed": self.changed,
            "factsExtracted": self.facts,
            "memoriesCreated": self.created,
            "memoriesUpdated": self.updated,
            "memoriesReinforced": self.reinforced,
            "pendingReview": self.held,
            "refused": self.refused,
            "problems": dict(self.problems),
            "stopped": self.is_stopped,
        }
