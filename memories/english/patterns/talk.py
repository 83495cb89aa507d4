"""What a conversation has said before a message, as far as the message's meaning hangs on it.

Whom "she" and "you" mean, what was asked, and which words are no news any more. Told message by
message; it grows no faster than what was said.
"""

import uuid
from dataclasses import dataclass, field
from functools import lru_cache

from memories.english.patterns import clauses, content, plain_clause
from memories.english.patterns.people import People

UNKNOWN = "User"
MOST_WORDS = 4_000  # of a conversation; what is said after so many is news again
LONGEST, LAST_WORDS = 200, 45  # characters of a question, and of what may follow it
_ends = ".!?\n"


@dataclass(frozen=True, slots=True)
class Asked:
    """The question that a message ended with: `quote` is `text[place[0]:place[1]]` of the message
    that the teller calls `key`."""

    words: str
    speaker: str
    place: tuple[int, int]
    quote: str
    key: uuid.UUID


@dataclass(slots=True)
class Talk:
    """`asked`: what the last message ended with asking. `speakers`: the people who spoke."""

    with_assistant: bool = False
    asked: Asked | None = None
    people: People = field(default_factory=People)
    words: set[str] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)

    def hear(self, text: str, speaker: str, key: uuid.UUID, *, is_assistant: bool = False) -> None:
        """Take in a message after it was read."""
        # Of an assistant nothing is believed, so whose words it tells does not matter.
        spoken = clauses.unmarked(text) if is_assistant else clauses.spoken(text)
        self.asked = _asked(text, spoken, speaker, key)
        if len(self.words) < MOST_WORDS:
            self.words |= _telling(spoken)
        if is_assistant:
            self.with_assistant = True
        else:
            self.people.turn(spoken, speaker)
            self.speakers.add(speaker)

    def question_to(self, speaker: str) -> str:
        """What somebody else has just asked `speaker`; empty where nothing."""
        return self.asked.words if self.asked and self.asked.speaker != speaker else ""

    def listener(self, speaker: str) -> str:
        """Whom `speaker` calls "you"; empty where that may be several, or a machine."""
        others = self.speakers - {speaker, UNKNOWN}
        return others.pop() if len(others) == 1 and not self.with_assistant else ""


@lru_cache(maxsize=64)  # of a message told in its turn, the ones before are known
def _telling(spoken: str) -> frozenset[str]:
    return frozenset(content.telling(spoken))


def _asked(text: str, spoken: str, speaker: str, key: uuid.UUID) -> Asked | None:
    end = spoken.rfind("?")
    if end < 0 or len(spoken[end + 1 :].strip()) > LAST_WORDS:
        return None
    start = max(spoken.rfind(mark, 0, end) for mark in _ends) + 1
    quote = spoken[start : end + 1].lstrip()
    start, end = end + 1 - len(quote), end + 1
    if not quote[:-1] or len(quote) > LONGEST:
        return None
    return Asked(plain_clause.plain(quote), speaker, (start, end), text[start:end], key)
