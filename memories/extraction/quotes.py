"""Whether the words that a model quotes really stand in the text, and where."""

import calendar
import re
from collections.abc import Iterable

from memories.english import read_clause
from memories.extraction.extraction_types import Message
from memories.providers import ExtractedFact, ExtractionRequest
from memories.resolve import Quote

_written = re.compile(r"\S+")
_word = re.compile(r"[^\W\d_]{3,}")
_DAYS = f" {' '.join([*calendar.month_name, *calendar.day_name])} User Assistant Team"


def verified_quotes(
    fact: ExtractedFact, read: ExtractionRequest, by_index: dict[int, Message]
) -> tuple[Quote, ...]:
    """The quotes of a fact that really stand in what a model `read`, as they stand in its messages:
    of one that it read a part of, with their place in the whole."""
    quotes = []
    for cited in fact.quotes:
        # What is named, then the others: models often count wrong, and copy right.
        for part in sorted(read.messages, key=lambda part: part.index != cited.message_index):
            if span := find_quote(part.text, cited.text):
                start, end = part.start + span[0], part.start + span[1]
                message = by_index[part.index]
                quotes.append(Quote(message.id, start, end, message.text[start:end]))
                break
    return tuple(dict.fromkeys(quotes))


def names_strangers(statement: str, messages: Iterable[Message]) -> bool:
    """Whether `statement` names somebody or something that nobody named in `messages`: then its
    quotes may stand in the text, but what it says does not."""
    # A model may reckon a day out of "yesterday".
    texts = " ".join(
        f"{message.speaker} {message.readable} {message.occurred_at:%A %d %B %Y}{_DAYS}"
        for message in messages
    ).lower()
    words = (word for name in read_clause.names(statement) for word in _word.findall(name))
    return any(word.lower() not in texts for word in words)


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`, blanks of any kind and number counting as one; or None."""
    said = " ".join(quote.split())
    if not said:
        return None
    start = " ".join(text.split()).find(said)
    if start < 0:
        return None
    return _place(text, start), _place(text, start + len(said) - 1) + 1


def _place(text: str, place: int) -> int:
    """Where in `text` the sign stands that is at `place` when blanks count as one."""
    for word in _written.finditer(text):
        if place < len(word[0]):
            return word.start() + place
        place -= len(word[0]) + 1
    raise IndexError(place)
