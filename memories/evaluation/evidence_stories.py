"""Evaluation of what is served after a change: whether the first hit of a search says what holds now, and whether
what is over still stands as current.

Each story is told message by message, to a subject and a thread of its own in a scratch workspace; then the judge is
asked about what waits for it, and the story's question is searched for.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from memories.evaluation.retrieval import scratch
from memories.evaluation.story_files import read_lines, share, tell
from memories.ingest import NewMessage, judged_messages
from memories.models import Memory
from memories.models.memory_state import Standing
from memories.search import SearchRequest, evidence_first, search
from workspaces.scope import Scope

CHANGES = ("two_clauses", "implied", "ground")  # kinds of stories in which what was said first is over


@dataclass(frozen=True, slots=True)
class EvidenceStory:
    """A story of a kind; `question` is asked at its end. A right answer holds words of `now`; those of `over`
    are no longer so, or never were."""

    name: str
    kind: str
    messages: tuple[NewMessage, ...]
    question: str
    now: tuple[str, ...]
    over: tuple[str, ...]

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        messages = tuple(
            NewMessage(each["content"], role=each["role"], created_at=datetime.fromisoformat(each["at"]))
            for each in row["messages"]
        )
        return cls(row["id"], row["kind"], messages, row["question"], tuple(row["now"]), tuple(row["not"]))


@dataclass(slots=True)
class EvidenceServed:
    """Counts of the stories of each kind: `told` and, of them, those counted under a name of what was seen."""

    told: Counter[str] = field(default_factory=Counter)
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def measured(self) -> dict[str, float]:
        found: dict[str, float] = {"stories": self.told.total()}
        for (kind, name), count in sorted(self.seen.items()):
            found[f"{kind}: {name}"] = share(count, self.told[kind])
        return found


def stories(path: Path) -> list[EvidenceStory]:
    """JSONL of {id, kind, messages: [{role, content, at}], question, now, not}. Raises Unreadable with the
    number of the line that is none."""
    return read_lines(path, EvidenceStory.of, "story")


def evaluate(told: Sequence[EvidenceStory], advance: Callable[[int], object]) -> EvidenceServed:
    result = EvidenceServed()
    with scratch() as scope:
        for story in told:
            for message in story.messages:
                tell(scope, story.name, message)
            judged_messages.run(scope.workspace_id)
            result.told[story.kind] += 1
            seen = _seen(scope, story)
            result.seen.update((story.kind, name) for name, is_so in seen.items() if is_so)
            result.rows.append(_row(scope, story, [name for name, is_so in seen.items() if is_so]))
            advance(1)
    return result


def _seen(scope: Scope, story: EvidenceStory) -> dict[str, bool]:
    """Return what is so of a story that was told, by name."""
    hits = search(scope, evidence_first(SearchRequest(query=story.question, user_id=story.name))).hits
    rows = _memories(scope, story)
    over = [row for row in rows if _says(row.content, story.over)]
    now = [row for row in rows if _says(row.content, story.now) and row.standing == Standing.CURRENT]
    is_current = any(row.standing == Standing.CURRENT for row in over)
    if story.kind in CHANGES:
        return {
            "first hit says what holds now": bool(hits) and _says(hits[0].row.content, story.now),
            "what is over was believed": bool(over),
            "what is over is current": is_current,
            "both are current": is_current and bool(now),
        }
    return {
        "first hit says what holds now": bool(hits) and _says(hits[0].row.content, story.now),
        "something is questioned": any(row.standing == Standing.QUESTIONED for row in rows),
        "something has ended": any(row.standing == Standing.PAST for row in rows),
        "what never held is current": is_current,
    }


def _memories(scope: Scope, story: EvidenceStory) -> list[Any]:
    rows = Memory.objects.filter(workspace=scope.workspace_id, subject__external_id=story.name)
    return list(rows.with_names().order_by("pk"))


def _says(content: str, words: Sequence[str]) -> bool:
    text = " ".join(content.casefold().split())
    return any(one.casefold() in text for one in words)


def _row(scope: Scope, story: EvidenceStory, seen: list[str]) -> dict[str, Any]:
    return {
        "id": story.name,
        "kind": story.kind,
        "seen": seen,
        "memories": [f"{row.standing}: {row.content}" for row in _memories(scope, story)],
        "messages": [one.content for one in story.messages if one.role == "user"],
    }
