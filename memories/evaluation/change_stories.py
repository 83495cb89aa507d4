"""Evaluation of changes: whether what changed is no longer believed, what stands stays, and what
rested on it is doubted.

Each story is told message by message, to a subject and a thread of its own in a scratch workspace; then the judge is
asked about what waits for it.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from memories.evaluation.retrieval import scratch
from memories.evaluation.story_files import read_lines, share, tell
from memories.ingest import NewMessage, judged_messages
from memories.models import Case, CaseItem, Ground, Memory
from memories.models.memory_state import Standing
from workspaces.scope import Scope

CHANGES = Path(__file__).with_name("changes.jsonl")
START, APART = datetime(2026, 3, 2, 9, tzinfo=UTC), timedelta(days=30)  # of messages without a day


KINDS = {
    "clauses": "told in two clauses: replaced or questioned",
    "implied": "implied: replaced or questioned",
    "opposite": "opposite as support: wrongly",
    "bystander": "a bystander replaces: wrongly",
    "dated": "an earlier change: wrongly",
    "past": "a past value ends",
    "ground": "dependants marked",
    "still": "look-alikes: wrongly",
}


@dataclass(frozen=True, slots=True)
class ToldMessage:
    content: str
    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ChangeStory:
    """Each expectation is words of a memory: `old` is believed no more, or is questioned (of `opposite`,
    gains no support; of `bystander` and `dated`, stays), `new` is live, `past` has an end, `marked` is
    uncertain or in a case, `keep` is live, in no case, and not questioned."""

    name: str
    kind: str
    messages: tuple[ToldMessage, ...]
    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        if row["kind"] not in KINDS:
            raise ValueError(f"no kind {row['kind']}")
        messages = []
        for place, each in enumerate(row["messages"]):
            at = START + APART * place
            if each.get("on"):
                at = datetime.fromisoformat(each["on"]).replace(hour=9, tzinfo=UTC)
            messages.append(ToldMessage(each["content"], each.get("name", ""), at))
        expected = (tuple(row.get(name, ())) for name in ("old", "new", "past", "marked", "keep"))
        return cls(str(row["id"]), row["kind"], tuple(messages), *expected)


@dataclass(slots=True)
class ChangesTold:
    """Counts of the stories of each kind and of those that went right, with the stories that did
    not.

    `begun` counts the stories in which the memory that changes was there at all.
    """

    told: dict[str, int] = field(default_factory=dict)
    right: dict[str, int] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def measured(self) -> dict[str, float]:
        rates = {
            name: share(self.right.get(kind, 0), self.told[kind]) for kind, name in KINDS.items() if kind in self.told
        }
        wrongly = {name: 1 - rate for name, rate in rates.items() if name.endswith("wrongly")}
        begun = share(sum(self.begun.values()), sum(self.told.values()))
        return {"stories": sum(self.told.values()), "begun": begun, **rates, **wrongly}


def stories(path: Path, half: str = "") -> list[ChangeStory]:
    """JSONL of {id, kind, messages: [{content, name?, on?}], old, new, past, marked, keep}; with
    `half`, those of this half alone.

    Raises Unreadable with the number of the line that is none.
    """
    return read_lines(path, ChangeStory.of, "story", half)


def evaluate(told: Sequence[ChangeStory], advance: Callable[[int], object]) -> ChangesTold:
    result = ChangesTold()
    with scratch() as scope:
        for story in told:
            for message in story.messages:
                own = NewMessage(message.content, name=message.name, created_at=message.at)
                tell(scope, story.name, own)
            judged_messages.run(scope.workspace_id)
            memories = Memories.of(scope, story.name)
            faults = _JUDGES[story.kind](story, memories)
            result.told[story.kind] = result.told.get(story.kind, 0) + 1
            result.right[story.kind] = result.right.get(story.kind, 0) + (not faults)
            begun = all(memories.saying(words) for words in (*story.old, *story.marked))
            result.begun[story.kind] = result.begun.get(story.kind, 0) + begun
            if faults:
                result.wrong.append(
                    {
                        "id": story.name,
                        "kind": story.kind,
                        "messages": [each.content for each in story.messages],
                        "memories": [f"{m.state}: {m.content}" for m in memories.rows],
                        "faults": faults,
                    }
                )
            advance(1)
    return result


@dataclass(frozen=True, slots=True)
class Memories:
    """The memories that a story left, oldest first, with the kinds of the open cases about each, or
    of those that would be opened: a questioned memory counts as asked about."""

    rows: Sequence[Any]
    cases: Mapping[uuid.UUID, set[str]]

    @classmethod
    def of(cls, scope: Scope, name: str) -> Self:
        rows = Memory.objects.filter(workspace=scope.workspace_id, subject__external_id=name)
        cases: dict[uuid.UUID, set[str]] = {row.pk: set() for row in rows}
        asked = CaseItem.objects.filter(memory__in=cases, case__state__in=Case.UNDECIDED)
        for memory_id, kind in asked.values_list("memory_id", "case__kind"):
            cases[memory_id].add(kind)
        resting = Ground.objects.ended().filter(memory__in=cases)
        for row_id in resting.values_list("memory_id", flat=True):
            cases[row_id].add(Case.Kind.UNCERTAIN)
        told: list[Any] = list(rows.with_names().order_by("pk"))
        for row in told:
            if row.standing == Standing.QUESTIONED:
                cases[row.pk].add(Case.Kind.UNCERTAIN)
        return cls(told, cases)

    def saying(self, words: str) -> list[Any]:
        return [row for row in self.rows if words.lower() in row.content.lower()]


def _ended(story: ChangeStory, memories: Memories) -> list[str]:
    faults = []
    for words in story.old:
        rows = memories.saying(words)
        first = next((row for row in rows), None)
        if first is None:
            faults.append(f"never believed: {words}")
        elif first.is_live and not memories.cases[first.pk]:
            faults.append(f"still believed: {first.content}")
    return faults


def _replaced(story: ChangeStory, memories: Memories) -> list[str]:
    faults = _ended(story, memories)
    for words in story.new:
        if not any(row.is_live for row in memories.saying(words)):
            faults.append(f"not believed: {words}")
    return faults


def _unsupported(story: ChangeStory, memories: Memories) -> list[str]:
    rows = [row for words in story.old for row in memories.saying(words)]
    return [f"supported: {row.content}" for row in rows if row.is_live and row.source_count > 1]


def _stayed(story: ChangeStory, memories: Memories) -> list[str]:
    rows = [row for words in story.old for row in memories.saying(words)[:1]]
    return [f"{row.state}: {row.content}" for row in rows if not row.is_live]


def _past(story: ChangeStory, memories: Memories) -> list[str]:
    faults = []
    for words in story.past:
        rows = memories.saying(words)
        if not rows:
            faults.append(f"never believed: {words}")
        faults += [f"without an end: {row.content}" for row in rows if row.is_live and not row.valid_until]
    return faults + _kept(story, memories, asked=True)


def _marked(story: ChangeStory, memories: Memories) -> list[str]:
    faults = []
    for words in story.marked:
        rows = [row for row in memories.saying(words) if row.is_live]
        if not rows:
            faults.append(f"not believed: {words}")
        elif not any(memories.cases[row.pk] for row in rows):
            faults.append(f"not marked: {rows[0].content}")
    return faults + _kept(story, memories)


def _kept(story: ChangeStory, memories: Memories, *, asked: bool = False) -> list[str]:
    faults = []
    for words in story.keep:
        rows = memories.saying(words)
        if rows and not rows[0].is_live:
            faults.append(f"{rows[0].state}: {rows[0].content}")
        if not asked:
            faults += [f"asked about: {row.content}" for row in rows if memories.cases[row.pk]]
    return faults


_JUDGES: dict[str, Callable[[ChangeStory, Memories], list[str]]] = {
    "clauses": _replaced,
    "implied": _ended,
    "opposite": _unsupported,
    "bystander": _stayed,
    "dated": _stayed,
    "past": _past,
    "ground": _marked,
    "still": _kept,
}
