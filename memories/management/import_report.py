"""A survey of what an import will read, and its results."""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from memories.exchange.import_without_repeats import ImportedBatch
from memories.models import MemorySession
from memories.reading.extraction.cost_ahead import CostAhead, TalkSize, cost_ahead
from memories.reading.extraction.fallback_chain import chain_of
from memories.transcripts import BadLine, Transcript, Unreadable, read

# The survey and the results of an import, for people and for programs.

SHOWN = 20  # bad lines told of each file; all are counted


@dataclass(slots=True)
class Survey:
    """One file, read through before anything is stored. `refused` says why it cannot be read."""

    path: Path
    refused: str = ""
    threads: set[str] = field(default_factory=set)
    subjects: set[str] = field(default_factory=set)
    messages: int = 0
    talks: list[TalkSize] = field(default_factory=list)
    texts: list[TalkSize] = field(default_factory=list)
    bad: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)

    @property
    def is_usable(self) -> bool:
        return self.messages > 0

    def add(self, part: Transcript | BadLine) -> None:
        if isinstance(part, Transcript):
            self.threads.add(part.thread)
            self.subjects |= {part.subject} if part.subject else set()
            self.messages += len(part.messages)
            sizes = self.texts if part.stands_for_itself else self.talks
            sizes.append(TalkSize(len(part.messages), part.size))
            return
        self.bad += 1
        if len(self.bad_lines) < SHOWN:
            self.bad_lines.append(part)

    def lines(self) -> Iterator[str]:
        if self.refused:
            yield f"{self.path}: not read, {self.refused}"
        for bad in self.bad_lines:
            yield f"{self.path}:{bad.line}: {bad.reason}"
        if self.bad > len(self.bad_lines):
            yield f"{self.path}: and {self.bad - len(self.bad_lines)} more"

    def as_json(self) -> dict[str, Any]:
        return {
            "file": str(self.path),
            "refused": self.refused or None,
            "conversations": len(self.threads),
            "subjects": sorted(self.subjects),
            "messages": self.messages,
            "badLines": self.bad,
            "badLinesShown": [{"line": b.line, "reason": b.reason} for b in self.bad_lines],
        }


def survey(path: Path, form: str | None) -> Survey:
    found = Survey(path)
    try:
        for part in read(path, form):
            found.add(part)
    except Unreadable as error:
        found.refused = str(error)
    return found


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
