"""Evaluation of extraction: what patterns find in labelled turns, and which turns the gatekeeper
rejects. Needs no database.

Times are the processor's: what else runs on the machine does not count.
"""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memories.evaluation.labelled_conversations import LabelledConversation
from memories.evaluation.story_files import share
from memories.ingest.process import MOST_BEFORE
from memories.language.english import lexical
from memories.models import Episode, MemorySession
from memories.reading import extraction
from memories.reading.extraction import ExtractOptions
from memories.transcripts import TranscriptMessage

MATCH = 0.5  # overlap of terms from which two statements count as the same fact


@dataclass(slots=True)
class Turns:
    """Counts over turns and facts. A turn bears facts where a labelled fact cites it."""

    turns: int = 0
    bearing: int = 0
    fired: int = 0
    fired_bearing: int = 0
    skipped: int = 0
    skipped_bearing: int = 0
    gold: int = 0
    gold_found: int = 0
    facts: int = 0
    facts_right: int = 0
    milliseconds: list[float] = field(default_factory=list)
    categories: dict[str, int] = field(default_factory=dict)

    def measured(self) -> dict[str, float]:
        recall, precision = share(self.gold_found, self.gold), share(self.facts_right, self.facts)
        took = sorted(self.milliseconds)
        return {
            "turns": self.turns,
            "fact-bearing": share(self.bearing, self.turns),
            "coverage": share(self.fired_bearing, self.bearing),
            "turn precision": share(self.fired_bearing, self.fired),
            "facts per turn": share(self.facts, self.turns),
            "fact recall": recall,
            "fact precision": precision,
            "fact F1": share(2 * recall * precision, recall + precision),
            "ms p50": _at(took, 0.5),
            "ms p95": _at(took, 0.95),
            "skipped": share(self.skipped, self.turns),
            "skipped rightly": 1 - share(self.skipped_bearing, self.skipped),
            "lost by skipping": share(self.skipped_bearing, self.bearing),
        }


def evaluate(cases: Sequence[LabelledConversation], advance: Callable[[int], object]) -> Turns:
    """Read each turn of a person with the patterns, after the turns before it. A fact is right
    where a labelled fact of the same turn shares half of its terms."""
    found = Turns()
    for case in cases:
        by_turn: dict[str, list[int]] = {}
        for number, fact in enumerate(case.facts):
            for turn in fact.gold:
                by_turn.setdefault(turn, []).append(number)
        matched = _conversation(case, by_turn, found, advance)
        cited = {number for numbers in by_turn.values() for number in numbers}
        found.gold += len(cited)
        found.gold_found += len(matched)
    return found


def _conversation(
    case: LabelledConversation,
    by_turn: dict[str, list[int]],
    found: Turns,
    advance: Callable[[int], object],
) -> set[int]:
    """The labelled facts of a conversation that were found, by number."""
    gold = [terms(fact.text) for fact in case.facts]
    matched: set[int] = set()
    for part in case.transcripts:
        # The last ones of the same sitting, as they reach a server that is told one at a time.
        before: tuple[extraction.Message, ...] = ()
        for message in part.messages:
            advance(1)
            earlier, before = before, (*before, _as_message(message))[-MOST_BEFORE:]
            if message.role == Episode.Kind.ASSISTANT:
                continue
            said = by_turn.get(message.id, [])
            statements = [terms(each) for each in _read(message, earlier, bool(said), found)]
            scores = [[overlap(one, gold[number]) for number in said] for one in statements]
            found.facts_right += sum(max(row, default=0.0) >= MATCH for row in scores)
            matched |= {n for row in scores for n, score in zip(said, row, strict=True) if score >= MATCH}
    return matched


def _read(
    message: TranscriptMessage,
    before: tuple[extraction.Message, ...],
    is_bearing: bool,
    found: Turns,
) -> list[str]:
    """The statements found in one turn, counted."""
    wish = ExtractOptions(MemorySession.Extract.PATTERNS, before=before)
    started = time.process_time()
    read = extraction.extract([_as_message(message)], wish)
    found.milliseconds.append((time.process_time() - started) * 1e3)
    claims, skips = read.claims, bool(read.skipped)
    found.turns += 1
    found.bearing += is_bearing
    found.fired += bool(claims)
    found.fired_bearing += bool(claims) and is_bearing
    found.skipped += skips
    found.skipped_bearing += skips and is_bearing
    found.facts += len(claims)
    for claim in claims:
        found.categories[claim.category] = found.categories.get(claim.category, 0) + 1
    return [claim.statement for claim in claims]


def _as_message(message: TranscriptMessage) -> extraction.Message:
    kind = message.kind or Episode.Kind.USER
    return extraction.Message(
        index=0,
        id=uuid.uuid4(),
        kind=kind,
        role=message.role,
        speaker=message.name or extraction.speaker_of(kind, ""),
        text=message.content,
        occurred_at=message.created_at or datetime.now(UTC),
    )


def _at(ordered: Sequence[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """F1 of two texts' index terms, with repeats: 0 to 1."""
    common = (Counter(one) & Counter(other)).total()
    return share(2 * common, len(one) + len(other))


def terms(text: str) -> list[str]:
    return lexical.stems(text)
