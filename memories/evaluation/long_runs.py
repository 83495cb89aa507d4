"""Evaluation of a long run: what is served of a person after a year or two of talk, in which most of what was told
first has changed.

Each person's messages are told one by one, in a scratch workspace of their own, and what waits for the judge is
judged after each. Then questions are put about what holds now, what held before, what held on a day, and about
something else altogether; and the profile is read as of the day after the last message.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from memories.evaluation.retrieval import scratch
from memories.evaluation.story_files import read_lines, share, tell
from memories.ingest import NewMessage, judged_messages
from memories.models import AsOf, FeatureSet
from memories.profiles.features.update import update_now
from memories.profiles.profile import ProfileOptions, profile
from memories.profiles.profile_lines import EARLIER, chosen_lines
from memories.search import SearchRequest, evidence_first, search
from memories.search.context import PACKED, context
from workspaces.models import Subject
from workspaces.scope import Scope

LONG_RUNS = Path(__file__).with_name("long_runs.jsonl")
KINDS = ("now", "before", "day", "off")
BUDGETS = (450, 1_000)  # tokens of a context
FOUND = 50  # hits, as a context is packed of
AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """A question of a kind; `at` is the day that one of the kind "day" is about. A right answer holds words of
    `says`; those of `over` are of another time. One of the kind "off" has no answer here."""

    kind: str
    query: str
    says: tuple[str, ...]
    over: tuple[str, ...]
    at: datetime | None = None

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        if row["kind"] not in KINDS or (row["kind"] == "day") != ("at" in row):
            raise ValueError(f"no kind {row['kind']}")
        at = datetime.fromisoformat(row["at"]) if "at" in row else None
        return cls(row["kind"], row["question"], tuple(row["says"]), tuple(row["not"]), at)


@dataclass(frozen=True, slots=True)
class LongRun:
    """A person's messages, the questions about them, and what a profile has to say, and has to leave out of what is
    current: of each, words of which one is enough."""

    name: str
    messages: tuple[NewMessage, ...]
    questions: tuple[RunQuestion, ...]
    must: tuple[tuple[str, ...], ...]
    over: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        messages = tuple(
            NewMessage(each["content"], role=each["role"], created_at=datetime.fromisoformat(each["at"]))
            for each in row["messages"]
        )
        must, over = (tuple(map(tuple, row["profile"][side])) for side in ("must", "over"))
        return cls(row["id"], messages, tuple(map(RunQuestion.of, row["questions"])), must, over)

    @property
    def asked_at(self) -> datetime:
        return max(message.created_at for message in self.messages if message.created_at) + AFTER


@dataclass(slots=True)
class RunsServed:
    """Counts by name: how often something was `asked`, and how often it was so. `rows` tell it question by
    question, `profiles` line by line."""

    asked: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)
    profiles: list[dict[str, Any]] = field(default_factory=list)
    people: int = 0
    messages: int = 0

    def add(self, name: str, is_so: bool, times: int = 1) -> None:
        self.asked[name] += times
        self.seen[name] += times * is_so

    def measured(self) -> dict[str, float]:
        shares = {name: share(self.seen[name], count) for name, count in self.asked.items()}
        return {"people": self.people, "messages": self.messages, **shares}


def long_runs(path: Path, half: str = "") -> list[LongRun]:
    """One person per line. Raises Unreadable with the number of the line that is none."""
    return read_lines(path, LongRun.of, "long run", half)


def evaluate(told: Sequence[LongRun], advance: Callable[[int], object]) -> RunsServed:
    """Advance by one for each message."""
    result = RunsServed()
    for run in told:
        with scratch() as scope:
            tell_all(scope, run, advance)
            ask_all(scope, run, result)
    return result


def tell_all(scope: Scope, run: LongRun, advance: Callable[[int], object]) -> None:
    """Tell the messages; what the worker does between two of them is done there, too."""
    for message in run.messages:
        tell(scope, run.name, message)
        judged_messages.run(scope.workspace_id)
        update_now(scope, FeatureSet.own_key(run.name))
        advance(1)


def ask_all(scope: Scope, run: LongRun, result: RunsServed) -> None:
    """Put the questions and read the profile."""
    result.people += 1
    result.messages += len(run.messages)
    for question in run.questions:
        result.rows.append({"id": run.name, **_answered(scope, run, question, result)})
    result.profiles.append({"id": run.name, **_profile(scope, run, result)})


def _answered(scope: Scope, run: LongRun, question: RunQuestion, result: RunsServed) -> dict[str, Any]:
    at = AsOf(valid_at=question.at)
    wanted = SearchRequest(question.query, user_id=run.name, now=run.asked_at, at=at)
    hits = search(scope, evidence_first(wanted)).hits
    first = hits[0].row.content if hits else ""
    row: dict[str, Any] = {"kind": question.kind, "question": question.query, "first": first}
    if question.kind == "day":
        result.add("what held on a day: first hit is right", _is_right(first, question))
        return row | {"right": _is_right(first, question)}
    packed = SearchRequest(question.query, limit=FOUND, user_id=run.name, layers=PACKED, now=run.asked_at)
    texts = {tokens: context(scope, packed, tokens) for tokens in BUDGETS}
    row |= {f"context of {tokens}": one.text for tokens, one in texts.items()}
    row["confidence"] = round(texts[BUDGETS[-1]].confidence, 3)
    if question.kind == "off":
        result.add("off: silent", not texts[BUDGETS[-1]].text)
        return row
    name = {"now": "now", "before": "before"}[question.kind]
    result.add(f"{name}: first hit is right", _is_right(first, question))
    result.add(f"{name}: first hit is wrong", _is_wrong(first, question))
    for tokens, one in texts.items():
        result.add(f"{name}: context of {tokens:,} holds it", _holds(one.text, question.says))
    result.add(f"{name}: context tells only what is over", _is_wrong(texts[BUDGETS[-1]].text, question))
    result.add(f"{name}: context is empty", not texts[BUDGETS[-1]].text)
    return row | {"right": _is_right(first, question)}


def _profile(scope: Scope, run: LongRun, result: RunsServed) -> dict[str, Any]:
    subject = Subject.objects.get(workspace=scope.workspace_id, external_id=run.name)
    options = ProfileOptions(subject.pk, AsOf(said_before=run.asked_at))
    lines = chosen_lines(profile(scope, options))
    current = "\n".join(line.text for line in lines if line.heading != EARLIER)
    missed = [words for words in run.must if not _holds(current, words)]
    over = [words for words in run.over if _holds(current, words)]
    result.add("profile says what it must", True, len(run.must))
    result.seen["profile says what it must"] -= len(missed)
    result.add("profile says what is over", False, len(run.over))
    result.seen["profile says what is over"] += len(over)
    return {"missed": missed, "over": over, "lines": [f"{line.heading}: {line.dated}" for line in lines]}


def _is_right(text: str, question: RunQuestion) -> bool:
    """Tell whether a text says what is asked for; of a day, and nothing of another time."""
    is_pure = question.kind != "day" or not _holds(text, question.over)
    return is_pure and _holds(text, question.says)


def _is_wrong(text: str, question: RunQuestion) -> bool:
    return _holds(text, question.over) and not _holds(text, question.says)


def _holds(text: str, words: Sequence[str]) -> bool:
    low = " ".join(text.casefold().split())
    return any(one.casefold() in low for one in words)
