"""Evaluation of intents: whether what people say to the memory is done, and nothing else is taken
for it.

Each story is told message by message, to a subject and a thread of its own in a scratch workspace.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from memories.evaluation.retrieval import scratch
from memories.evaluation.story_files import read_lines, share, tell
from memories.ingest import NewMessage
from memories.models import Episode, Intent, Memory
from workspaces.scope import Scope

OWN = Path(__file__).with_name("intents.jsonl")
NONE = "none"
HIDING = ("forget", "never")
KINDS = (*HIDING, "retract", "correct", "remember", NONE)


@dataclass(frozen=True, slots=True)
class IntentStory:
    """`kind` is what the last messages, each of a role and perhaps a name, say to the memory, or
    none. Words that are `gone` afterwards
    are in no memory, and where they are hidden in no message; those that `become` true are in one;
    those still `here` are in a memory or a message."""

    name: str
    kind: str
    messages: tuple[tuple[str, str, str], ...]
    gone: tuple[str, ...] = ()
    becomes: tuple[str, ...] = ()
    here: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        if row["kind"] not in KINDS:
            raise ValueError(f"no kind {row['kind']}")
        messages = tuple((each["role"], each.get("name", ""), each["content"]) for each in row["messages"])
        expected = (tuple(row.get(name, ())) for name in ("gone", "becomes", "here"))
        return cls(str(row["id"]), row["kind"], messages, *expected)


@dataclass(slots=True)
class StoriesTold:
    """Counts of the stories of each kind and of those that went right, with the stories that did
    not."""

    told: dict[str, int] = field(default_factory=dict)
    right: dict[str, int] = field(default_factory=dict)
    asked: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def rate(self, *kinds: str) -> float:
        return share(
            sum(self.right.get(kind, 0) for kind in kinds),
            sum(self.told.get(kind, 0) for kind in kinds),
        )

    def measured(self) -> dict[str, float]:
        return {
            "stories": sum(self.told.values()),
            "forget and never: done": self.rate(*HIDING),
            "retract and correct: done": self.rate("retract", "correct"),
            "remember: kept": self.rate("remember"),
            "look-alikes: wrongly done": 1.0 - self.rate(NONE) if self.told.get(NONE) else 0.0,
            "orders asked about": self.asked,
        }


def stories(path: Path, half: str = "") -> list[IntentStory]:
    """JSONL of {id, kind, messages, gone, becomes, here}; with `half`, those of this half alone.

    Raises Unreadable with the number of the line that is none.
    """
    return read_lines(path, IntentStory.of, "story", half)


def evaluate(told: Sequence[IntentStory], advance: Callable[[int], object]) -> StoriesTold:
    found = StoriesTold()
    with scratch() as scope:
        for story in told:
            for role, name, text in story.messages:
                tell(scope, story.name, NewMessage(text, role=role, name=name))
            faults = _faults(scope, story)
            found.told[story.kind] = found.told.get(story.kind, 0) + 1
            found.right[story.kind] = found.right.get(story.kind, 0) + (not faults)
            rows = Intent.objects.filter(subject__external_id=story.name)
            states = [f"{row.kind} {row.state} {row.reason}".strip() for row in rows]
            found.asked += any("case" in state for state in states)
            if faults:
                found.wrong.append(
                    {
                        "id": story.name,
                        "kind": story.kind,
                        "intents": states,
                        "messages": [text for *_, text in story.messages],
                        "faults": faults,
                    }
                )
            advance(1)
    return found


def _faults(scope: Scope, story: IntentStory) -> list[str]:
    live = list(
        Memory.objects.filter(workspace=scope.workspace_id, subject__external_id=story.name)
        .live()
        .values_list("content", flat=True)
    )
    messages = Episode.objects.filter(workspace=scope.workspace_id, subject__external_id=story.name)
    said = list(messages.values_list("content", flat=True))
    done = Intent.objects.filter(
        workspace=scope.workspace_id, subject__external_id=story.name, state=Intent.State.DONE
    ).exclude(kind=Intent.Kind.REMEMBER)
    looked_at = [*live, *said] if story.kind in HIDING else live
    faults = [f"still there: {w}" for w in story.gone if any(w in text for text in looked_at)]
    faults += [f"not believed: {w}" for w in story.becomes if not any(w in t for t in live)]
    if story.kind == NONE and done.exists():
        faults.append("done")
    elif story.kind not in (NONE, "remember") and not done.exists():
        faults.append("not done")
    faults += [f"lost: {w}" for w in story.here if not any(w in t for t in [*live, *said])]
    return faults
