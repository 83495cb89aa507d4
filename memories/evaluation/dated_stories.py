"""Evaluation of dates: whether a question that names a time, an event or two of them finds the
message it means, and whether what held on a day is what is believed of that day.

Each story is told message by message, to a subject and a thread of its own in a scratch workspace.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from memories.evaluation.retrieval import scratch
from memories.evaluation.story_files import read_lines, share, tell
from memories.ingest import NewMessage
from memories.models import AsOf, Memory
from memories.search import SearchRequest, search
from workspaces.scope import Scope

DATED = Path(__file__).with_name("dated.jsonl")
KINDS = {
    "date": "a date is named",
    "anchor": "an event is named",
    "two": "two events are named",
    "validity": "what held on a day",
}


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    """`gold`: the places of the messages that it means. One has to be the first hit, two have to be
    among the first three."""

    kind: str
    query: str
    gold: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ValidityCheck:
    """A check of what is believed to have held at a time: words that must stand there, words that
    must not."""

    at: datetime
    has: tuple[str, ...]
    has_not: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatedStory:
    name: str
    now: datetime
    messages: tuple[tuple[datetime, str], ...]
    questions: tuple[DatedQuestion, ...]
    checks: tuple[ValidityCheck, ...]

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        if unknown := {each["kind"] for each in row.get("questions", ())} - KINDS.keys():
            raise ValueError(f"no kind {unknown}")
        return cls(
            str(row["id"]),
            datetime.fromisoformat(row["now"]),
            tuple((datetime.fromisoformat(m["at"]), m["content"]) for m in row["messages"]),
            tuple(DatedQuestion(each["kind"], each["query"], tuple(each["gold"])) for each in row.get("questions", ())),
            tuple(
                ValidityCheck(
                    datetime.fromisoformat(each["validAt"]),
                    tuple(each["has"]),
                    tuple(each["hasNot"]),
                )
                for each in row.get("checks", ())
            ),
        )


@dataclass(slots=True)
class DatedAnswers:
    """Counts of the questions of each kind and of those answered right, with the wrongly answered
    ones."""

    asked: dict[str, int] = field(default_factory=dict)
    right: dict[str, int] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: str, fault: str, story: str, text: str) -> None:
        self.asked[kind] = self.asked.get(kind, 0) + 1
        self.right[kind] = self.right.get(kind, 0) + (not fault)
        if fault:
            self.rows.append({"id": story, "fault": fault, "text": text})

    @property
    def wrong(self) -> list[dict[str, Any]]:
        return self.rows

    def measured(self) -> dict[str, float]:
        rates = {
            name: share(self.right.get(kind, 0), self.asked[kind]) for kind, name in KINDS.items() if kind in self.asked
        }
        whole = share(sum(self.right.values()), sum(self.asked.values()))
        return {"questions": sum(self.asked.values()), "all": whole, **rates}


def stories(path: Path, half: str = "") -> list[DatedStory]:
    """One story per line. Raises Unreadable with the number of the line that is none."""
    return read_lines(path, DatedStory.of, "story", half)


def evaluate(told: Sequence[DatedStory], advance: Callable[[int], object]) -> DatedAnswers:
    result = DatedAnswers()
    with scratch() as scope:
        for story in told:
            for at, text in story.messages:
                tell(scope, story.name, NewMessage(text, created_at=at))
            for question in story.questions:
                fault = _missed(scope, story, question)
                result.add(question.kind, fault, story.name, question.query)
            for check in story.checks:
                rows = Memory.objects.filter(subject__external_id=story.name)
                then = rows.believed(scope.workspace_id, AsOf(valid_at=check.at))
                believed = list(then.values_list("content", flat=True))
                text = " / ".join(believed).lower()
                missing = [words for words in check.has if words.lower() not in text]
                there = [words for words in check.has_not if words.lower() in text]
                is_right = not missing and not there
                fault = f"missing {missing}, not to be there {there}: {believed}"
                fault = "" if is_right else fault
                result.add("validity", fault, story.name, f"{check.at:%Y-%m-%d}")
            advance(1)
    return result


def _missed(scope: Scope, story: DatedStory, question: DatedQuestion) -> str:
    wanted = SearchRequest(
        question.query,
        user_id=story.name,
        layers=("memories", "episodes"),
        now=story.now,
        include=frozenset({"source"}),
    )
    texts = []
    for hit in search(scope, wanted).hits:
        texts += [one.row.content for one in (hit, *hit.echoes) if one.layer == "episodes"] or [
            hit.source.text if hit.source else hit.row.content
        ]
    texts = list(dict.fromkeys(texts))
    gold = {story.messages[place][1] for place in question.gold}
    first = texts[: 1 if len(gold) == 1 else 3]
    return "" if gold <= set(first) else f"found {first}"
