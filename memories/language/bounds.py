"""Limits that several packages share: what one request may bring, how long a text may be and how
much work it may cost.

A text to remember is never refused or cut for its length. Whatever goes beyond a limit is kept and searched as
it is; only less is read out of it, and the reader says so.
"""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
STATEMENT = 300  # characters of a statement that is read out of a text
WHOLE = 2_000  # characters of a text that is one memory as it stands

# Limits of one request, by whichever door it comes.
MOST_MESSAGES, MOST_HITS = 1_000, 100
LONGEST_QUERY, LONGEST_ID = 10_000, 255  # characters

# Limits of one message. Forty pages of prose, which take half a second where an ordinary machine
# reads 200,000 characters a second; nobody says as much in one breath. The limit in characters is
# for texts with hardly a blank.
READ_WORDS, READ_CHARACTERS = 20_000, 120_000
# Six times that: a text that is slower by more was not written to be read.
READ_SECONDS = 3.0

# Bytes of texts that are in memory at once when many are read; a longer one is read alone.
LARGE = 1_000_000
# Characters that lend words to their neighbours, or borrow from them: 60 stems never need more.
BESIDE = 4_000
# Tokens of a document's chunk by default: its size, what two of them share, and the smallest that
# stands by itself.
CHUNK, CHUNK_SHARED, CHUNK_LEAST = 800, 200, 100

_word = re.compile(r"\S+")
_ends = re.compile(r"[.!?…。！？][\"'”’)\]*_]*(?=\s)|\n")
_blank = re.compile(r"\s")
_LAST = 2_000  # characters before a cut in which the end of a sentence is looked for


def start_of(text: str) -> str:
    """Return the beginning of a message that is read; usually the whole message."""
    if len(text) <= READ_WORDS:  # a word has a character
        return text
    head = text[:READ_CHARACTERS]
    too_late = next(islice(_word.finditer(head), READ_WORDS, None), None)
    end = too_late.start() if too_late else len(head)
    if end >= len(text.rstrip()):
        return text
    for form in (_ends, _blank):  # behind a sentence or line, else between words
        if ends := [match.end() for match in form.finditer(text, max(0, end - _LAST), end)]:
            return text[: ends[-1]]
    return text[:end]


def parts(text: str, size: int) -> Iterator[str]:
    """Split `text` into parts of about `size` characters that end before a blank; text without
    blanks is cut at twice that size."""
    start = 0
    while len(text) - start > 2 * size:
        blank = _blank.search(text, start + size, start + 2 * size)
        end = blank.start() if blank else start + 2 * size
        yield text[start:end]
        start = end
    yield text[start:]


def runs(sizes: Iterable[tuple[T, int]], most: int) -> Iterator[list[T]]:
    """Group the items, in order, into runs whose sizes add up to at most `most`; a larger item
    forms a run alone."""
    run: list[T] = []
    held = 0
    for one, size in sizes:
        if run and held + size > most:
            yield run
            run, held = [], 0
        run.append(one)
        held += size
    if run:
        yield run


@dataclass(slots=True)
class Budget:
    """Processor time for reading one message. It counts this thread alone: a busy machine reads no
    less than an idle one."""

    seconds: float = READ_SECONDS
    until: float = field(init=False)
    is_spent: bool = False

    def __post_init__(self) -> None:
        self.until = time.thread_time() + self.seconds

    def lasts(self) -> bool:
        """Tell whether there is time left; called between clauses."""
        self.is_spent = self.is_spent or time.thread_time() >= self.until
        return not self.is_spent
