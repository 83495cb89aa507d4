"""Conversations with labels: LoCoMo's questions and facts with the turns that answer and say them,
RealMem's facts."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from memories.transcripts import Transcript, TranscriptMessage, Unreadable, read

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
ADVERSARIAL = 5  # has no answer
_turn = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """`gold` are the ids of the messages that hold the answer, `answer` is the published one. `points` are what
    an answer has to say, where that is given one by one; `asked_at` is None where nobody says."""

    text: str
    category: str
    gold: frozenset[str]
    answer: str = ""
    points: tuple[str, ...] = ()
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LabelledFact:
    """A statement that a good extraction finds, and the ids of the messages that say it."""

    text: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class LabelledConversation:
    """One conversation over many sittings, with its labels. `left_out` counts by the reason the
    questions that cannot be scored."""

    name: str
    transcripts: tuple[Transcript, ...]
    questions: tuple[Question, ...]
    facts: tuple[LabelledFact, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def messages(self) -> list[TranscriptMessage]:
        return [message for part in self.transcripts for message in part.messages]


def locomo_cases(path: Path, limit: int = 0) -> list[LabelledConversation]:
    """The conversations of a file with their labels, the first `limit` of them where it is not 0.

    Raises Unreadable for a file that is not LoCoMo's, or where conversations share a name.
    """
    parts: dict[str, list[Transcript]] = {}
    for part in read(path, "locomo"):
        if isinstance(part, Transcript):
            parts.setdefault(part.subject or "", []).append(part)
    # The objects that hold a conversation, in the file's order.
    data = json.loads(path.read_text())
    found = data if isinstance(data, list) else [data]
    labels = [label for label in found if isinstance(label, dict) and "conversation" in label]
    if len(labels) != len(parts):
        raise Unreadable(f"{len(labels)} labelled conversations, {len(parts)} names of them")
    pairs = list(zip(parts.items(), labels, strict=True))[: limit or None]
    labelled = []
    for (name, own), label in pairs:
        known = {message.id for part in own for message in part.messages}
        left_out: Counter[str] = Counter()
        try:
            questions = tuple(_questions(label, known, left_out))
            facts = tuple(
                LabelledFact(text, _turns(evidence, known))
                for by_speaker in label.get("observation", {}).values()
                for said in by_speaker.values()
                for text, evidence in said
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            wrong = f"the labels of {name} are not as LoCoMo writes them: {error}"
            raise Unreadable(wrong) from error
        labelled.append(LabelledConversation(name, tuple(own), questions, facts, left_out))
    return labelled


def _questions(label: Mapping[str, Any], known: set[str], left_out: Counter[str]) -> Iterator[Question]:
    for asked in label.get("qa", ()):
        evidence, category = asked.get("evidence"), CATEGORIES.get(asked["category"])
        gold = _turns(evidence, known)
        if gold and category:
            yield Question(asked["question"], category, gold, str(asked.get("answer", "")))
        elif not category:
            left_out["adversarial" if asked["category"] == ADVERSARIAL else "of no category"] += 1
        else:
            left_out["with evidence that is not there" if evidence else "without evidence"] += 1


def _turns(evidence: object, known: set[str]) -> frozenset[str]:
    """Ids however they are written: "D1:3", "D1:3; D2:4", ["D:1:3"]."""
    found = {f"D{int(a)}:{int(b)}" for a, b in _turn.findall(str(evidence))}
    return frozenset(found & known)


_heading = re.compile(r"^【.*?】\s*")


def realmem_cases(path: Path, limit: int = 0) -> list[LabelledConversation]:
    """The person's conversation of a file with its labels; `limit` is for other formats.

    Raises Unreadable for a file that is not RealMem's.
    """
    parts = tuple(part for part in read(path, "realmem") if isinstance(part, Transcript))
    known = {message.id for part in parts for message in part.messages}
    facts = []
    try:
        for number, dialogue in enumerate(json.loads(path.read_text())["dialogues"]):
            for label in dialogue["extracted_memory"]:
                if label["source_role_snapshot"] == "User" and isinstance(label["content"], str):
                    gold = frozenset({f"{number}:{label['source_turn']}"} & known)
                    facts.append(LabelledFact(_heading.sub("", label["content"]), gold))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"the labels are not as RealMem writes them: {error}") from error
    return [LabelledConversation(path.stem, parts, (), tuple(facts))]
