"""From episodes to claims: gatekeeper, patterns, the configured model, then the whole text.

Asks only: rows are read before, and written after. A claim's quotes are verified here against
the text they cite, and a model's words against its quotes; what has no evidence goes to quarantine.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from memories import patterns
from memories.extraction.asking import asked, missed_in, to_ask
from memories.extraction.citing import find_quote
from memories.extraction.matching import listened, talk_before
from memories.extraction.values import (
    Extraction,
    Message,
    Missed,
    Skip,
    Span,
    Wish,
    speaker_of,
    step,
    type_of,
    visibility_of,
)
from memories.ladder import Ladder
from memories.models import Category, Fact, FactType, MemorySession, Source
from memories.supersession import Claim, Quote

__all__ = [
    "Extraction",
    "ExtractionRun",
    "Message",
    "Missed",
    "Skip",
    "Span",
    "Wish",
    "extract",
    "find_quote",
    "speaker_of",
    "type_of",
    "visibility_of",
    "warm_up",
]


def warm_up() -> None:
    """Compile what compiles on first use, before the first request."""
    patterns.warm_up()
    patterns.extract("I said nothing yet.", "", datetime.now(UTC))


def extract(messages: Sequence[Message], wish: Wish, ladder: Ladder | None = None) -> Extraction:
    """The claims of `messages`. Never raises ProviderError: it stands in `error`."""
    run = ExtractionRun(wish)
    run.read(*messages)
    run.finish(ladder)
    return run.found


class ExtractionRun:
    """An extraction that goes on message by message; `found` is what came of all so far. In how
    many goes they are read makes no difference to it."""

    def __init__(self, wish: Wish) -> None:
        self.wish, self.found, self.talk = wish, Extraction(), talk_before(wish)
        self.messages: list[Message] = []
        self.heard: list[Message] = []
        self.unmatched: list[Message] = []

    def read(self, *messages: Message) -> None:
        """What patterns find in the next messages."""
        self.messages += messages
        if self.wish.extract == MemorySession.Extract.NONE:
            texts = [message for message in messages if message.text.strip()]
            self.found.claims += [_whole(message, self.wish, "none") for message in texts]
            return
        heard, unmatched = listened(messages, self.wish, self.found, self.talk)
        self.heard += heard
        self.unmatched += unmatched

    def finish(self, ladder: Ladder | None) -> None:
        """What hangs on all of them: a model's facts, and a text in which nothing was found."""
        wish, found = self.wish, self.found
        if wish.extract == MemorySession.Extract.NONE:
            return
        if wish.extract != MemorySession.Extract.LLM:
            found.steps.append(step("patterns", len(found.claims), found.milliseconds["patterns"]))
        chosen = to_ask(self.heard if wish.asks_always else self.unmatched, wish)
        if chosen:
            asked(chosen, self.messages, wish, ladder, found)
        if wish.extract == MemorySession.Extract.AUTO:
            found.missed = list(missed_in(self.unmatched, found.claims))
        if not found.claims and self.heard:
            _nothing(self.heard, wish, found)


def _nothing(heard: list[Message], wish: Wish, found: Extraction) -> None:
    """No claim at all: a text is kept whole, as in the seed; of messages the episodes alone."""
    if wish.is_whole_text:
        found.notes.insert(0, "kept whole: no claim found")
        found.claims = [_whole(message, wish, "whole") for message in heard]
        found.steps.append(step("whole", len(found.claims)))
    else:
        found.notes.insert(0, "no claim found")


def _whole(message: Message, wish: Wish, rule: str) -> Claim:
    start = len(message.text) - len(message.text.lstrip())
    statement = message.text.strip()
    return Claim(
        statement=statement,
        category=Category.OTHER,
        fact_type=FactType.FACT,
        visibility=wish.visibility or visibility_of(Category.OTHER),
        method=Fact.Method.WHOLE,
        rule=rule,
        source=Source.INGESTED,
        occurred_at=message.occurred_at,
        quotes=(Quote(message.id, start, start + len(statement), statement),),
    )
