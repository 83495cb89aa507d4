"""Evaluation of what in a message is worth keeping: labelled stories, and the rules by which they
are labelled.

A memory is worth keeping where all of this holds:

1. Subject: it says whom or what it is about, by name where the name is known, else "User".
2. Finished: it is a whole clause. No heading, no list without a verb, no half of a sentence.
3. No open referent: nothing in it points at what stands elsewhere ("this genre", "he", "there",
   "the same one"), unless it was resolved from the messages before.
4. Told, not asked: no request to the reader stands in it, and no wish about the piece of work at
hand.
5. Whose: it is the speaker's own, or says whose it is. What was pasted, quoted or listed of others,
   code, and an assistant's words tell nothing of the speaker.
6. Of use later: another conversation, weeks after, could go better for knowing it. Not: a mood,
cheer,
   thanks, what one thinks of the other's words, a truism, the next ten minutes. What holds for some
   days only is kept with an end.
7. True as it stands: days are dates and not "yesterday"; what is over has an end; nothing is put in
   place of another's pronoun, and nothing is more certain than it was said.

Who judges memories by hand uses the same seven, and says "keep" only where all of them hold.

Each story is told message by message, to a subject and a thread of its own in a scratch workspace.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from memories.evaluation.retrieval import scratch
from memories.evaluation.story_files import read_lines, share, tell
from memories.ingest import NewMessage
from memories.models import Memory
from workspaces.scope import Scope

WORTH = Path(__file__).with_name("worth.jsonl")
TOLD_AT = datetime(2026, 3, 11, 15, tzinfo=UTC)  # a Wednesday
NOTHING = "*"


@dataclass(frozen=True, slots=True)
class WorthStory:
    """`keep` and `ended` are words that stand together in one memory, those of `ended` in one that
    has an end; `unworthy` are words that stand in none, or "*" where nothing may be kept."""

    name: str
    kind: str
    messages: tuple[tuple[str, str, str], ...]
    keep: tuple[tuple[str, ...], ...] = ()
    ended: tuple[tuple[str, ...], ...] = ()
    unworthy: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        return cls(
            str(row["id"]),
            row["kind"],
            tuple((m["role"], m.get("name", ""), m["content"]) for m in row["messages"]),
            tuple(tuple(words) for words in row.get("keep", ())),
            tuple(tuple(words) for words in row.get("ended", ())),
            tuple(row.get("not", ())),
        )


@dataclass(slots=True)
class WorthJudged:
    """Counts over stories, by what was expected of them, and the stories that went wrong."""

    stories: dict[str, list[bool]] = field(default_factory=dict)
    kept: list[bool] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)
    left: list[bool] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def measured(self) -> dict[str, float]:
        right = [one for each in self.stories.values() for one in each]
        return {
            "stories": len(right),
            "right": share(sum(right), len(right)),
            "worth keeping: kept": share(sum(self.kept), len(self.kept)),
            "with an end: kept so": share(sum(self.ended), len(self.ended)),
            "not worth it: kept": 1 - share(sum(self.left), len(self.left)),
            **{kind: share(sum(each), len(each)) for kind, each in sorted(self.stories.items())},
        }


def worth_stories(path: Path) -> list[WorthStory]:
    """JSONL of {id, kind, messages, keep, ended, not}.

    Raises Unreadable with the number of the line that is none.
    """
    return read_lines(path, WorthStory.of, "story")


def evaluate(told: Sequence[WorthStory], advance: Callable[[int], object]) -> WorthJudged:
    result = WorthJudged()
    with scratch() as scope:
        for story in told:
            for role, name, text in story.messages:
                message = NewMessage(text, role=role, name=name, created_at=TOLD_AT)
                tell(scope, story.name, message)
            _judge(scope, story, result)
            advance(1)
    return result


def _judge(scope: Scope, story: WorthStory, result: WorthJudged) -> None:
    """Compare the memories kept of a story, expired or not, with its labels."""
    own = Memory.objects.filter(workspace=scope.workspace_id, subject__external_id=story.name)
    rows = list(own.values_list("content", "valid_until", "forget_after"))

    def stands(words: Sequence[str], *, ended: bool) -> bool:
        return any(all(word in text for word in words) and (not ended or until or after) for text, until, after in rows)

    kept = [stands(words, ended=False) for words in story.keep]
    ended = [stands(words, ended=True) for words in story.ended]
    left = [not rows if words == NOTHING else not stands([words], ended=False) for words in story.unworthy]
    result.kept += kept
    result.ended += ended
    result.left += left
    result.stories.setdefault(story.kind, []).append(all([*kept, *ended, *left]))
    if not all([*kept, *ended, *left]):
        result.wrong.append(
            {
                "id": story.name,
                "messages": [text for _, _, text in story.messages],
                "memories": [text for text, _, _ in rows],
            }
        )
