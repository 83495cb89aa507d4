"""Statements that a subject asked to forget, or never to bring up, where others repeat them: in
words of an assistant, a tool or a document they are masked too. What the person has repeated since
stays. Reads only."""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from django.db.models import Exists, OuterRef, Q

from memories.english import clauses, exact_values, topics
from memories.masked_text import is_masked
from memories.models import MaskedSpan, Memory, Rejection

MOST_SAID, MOST_MEMORIES = 200, 1_000
SHORT = 2  # stems of a sentence that says one thing
SAME = 0.75  # of a statement's words, in one that says it again
LONGEST = 100_000  # characters of a text that is looked through
_person = re.compile(r"\b(?:you|your|yours|user|I|my)\b", re.IGNORECASE)
_line = re.compile(r"\S[^\n.!?]*(?:[.!?](?=\S)[^\n.!?]*)*[.!?]*")
_words = re.compile(r"\w[\w'’-]*(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class ForgottenWords:
    """A statement that was forgotten because of `cause`, an intent, or the words that the request
    used for it; compared by its stems."""

    words: str
    stems: tuple[str, ...]
    cause: uuid.UUID | None = None

    @classmethod
    def of(cls, words: str, cause: uuid.UUID | None = None) -> Self:
        return cls(words, tuple(topics.naming(words)), cause)

    @property
    def rarest(self) -> str:
        """The rarest word by guess: a number, or the longest word."""
        words: list[str] = _words.findall(self.words)
        return max(words, key=lambda word: (any(map(str.isdigit, word)), len(word)), default="")

    def is_said_by(self, sentence: str) -> bool:
        said = topics.words_of(sentence)
        if len(self.stems) > 1:
            return topics.coverage(self.stems, said) >= SAME
        is_short = len(topics.naming(sentence)) <= SHORT and len(self.words.split()) > SHORT
        return bool(self.stems) and is_short and topics.coverage(self.stems, said) == 1.0


@dataclass(frozen=True, slots=True)
class ToldAgain:
    """A place where something forgotten is repeated."""

    start: int
    end: int
    cause: uuid.UUID | None


def forgotten_of(
    workspace_id: uuid.UUID,
    user: str,
    again: Sequence[str] = (),
    *,
    agent_id: uuid.UUID | None = None,
) -> list[ForgottenWords]:
    """The statements that stay forgotten for the subject with this external id, except those the
    person has repeated since: in their memories, or in the texts `again`. For an agent's text, only
    statements that this agent itself had kept: else it could learn, by guessing, what others
    forgot. A request by an agent's key binds no other agent."""
    rows = MaskedSpan.objects.filter(
        Q(memory__subject__external_id=user) | Q(episode__subject__external_id=user),
        workspace=workspace_id, kind=MaskedSpan.Kind.FORGOTTEN, place="content",
    )  # fmt: skip
    said_no = Rejection.objects.filter(workspace=workspace_id, memory=OuterRef("cause"))
    if agent_id is None:
        of_an_agent = said_no.exclude(agent=None)
        rows = rows.filter(~Exists(of_an_agent) | Exists(said_no.filter(agent=None)))
    else:
        rows = rows.filter(Q(memory__agent=agent_id) | Q(episode__agent=agent_id))
    said = {
        ForgottenWords.of(row.words, row.cause)
        for row in rows.order_by("-pk")[:MOST_SAID]
        if not is_masked(row.words)
    }
    if not said:
        return []
    live = Memory.objects.filter(workspace=workspace_id, subject__external_id=user).live()
    told = [*again, *live.order_by("-pk").values_list("content", flat=True)[:MOST_MEMORIES]]
    return [one for one in said if not any(map(one.is_said_by, told))]


def places_in(
    text: str, forgotten: Sequence[ForgottenWords], name: str = "", *, is_his: bool = False
) -> list[ToldAgain]:
    """The places where a text repeats them: whole sentences about the person (you, I, the user,
    `name`), or any sentence of a text that `is_his`; of exact values these words alone."""
    found: list[ToldAgain] = []
    named = name.split()[0].casefold() if len(name) > 2 else ""
    for start, end in _sentences(text[:LONGEST]) if forgotten else ():
        sentence = text[start:end]
        is_of_him = is_his or _person.search(sentence) or (named and named in sentence.casefold())
        for each in forgotten:
            if is_of_him and each.is_said_by(sentence):
                found.append(ToldAgain(start, end, each.cause))
                break
            if exact_values.exact_values(each.words) == [each.words]:
                places = exact_values.places_of(each.words, sentence)
                found += [ToldAgain(start + a, start + b, each.cause) for a, b in places]
    return found


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """All sentences, including those that the text quotes, which its own sentences leave out."""
    at = 0
    for start, end in [*clauses.sentences(text), (len(text), len(text))]:
        yield from (match.span() for match in _line.finditer(text, at, start))
        if start < end:
            yield start, end
        at = end
