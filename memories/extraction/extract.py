"""From episodes to claims: gatekeeper, patterns, the configured model, then the whole text.

Asks only: rows are read before, and written after. A claim's quotes are verified here against
the text they cite, and a model's words against its quotes; what has no evidence goes to quarantine.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from memories import bounds
from memories.english import find_claims
from memories.english.patterns import library
from memories.extraction.extraction_types import (
    Extraction,
    ExtractOptions,
    Message,
    step,
    visibility_of,
)
from memories.extraction.fallback import FallbackChain
from memories.extraction.model_claims import ask_model, messages_to_ask, missed_in
from memories.extraction.pattern_claims import read_by_patterns, talk_before, unread_notes
from memories.models import Category, Fact, FactType, MemorySession, Source
from memories.resolve import Claim, Quote


def warm_up() -> None:
    """Compile what compiles on first use, before the first request."""
    library.warm_up()
    find_claims.extract("I said nothing yet.", "", datetime.now(UTC))


def extract(
    messages: Sequence[Message], options: ExtractOptions, chain: FallbackChain | None = None
) -> Extraction:
    """The claims of `messages`. Never raises ProviderError: it stands in `error`."""
    run = ExtractionRun(options)
    run.read(*messages)
    run.finish(chain)
    return run.found


class ExtractionRun:
    """An extraction that goes on message by message; `found` is what came of all so far. In how
    many goes they are read makes no difference to it."""

    def __init__(self, options: ExtractOptions) -> None:
        self.options, self.found, self.talk = options, Extraction(), talk_before(options)
        self.messages: list[Message] = []
        self.heard: list[Message] = []
        self.unmatched: list[Message] = []

    def read(self, *messages: Message) -> None:
        """What patterns find in the next messages."""
        self.messages += messages
        if self.options.extract == MemorySession.Extract.NONE:
            texts = [message for message in messages if message.text.strip()]
            _keep_whole(texts, self.options, "none", self.found)
            return
        heard, unmatched = read_by_patterns(messages, self.options, self.found, self.talk)
        self.heard += heard
        self.unmatched += unmatched

    def finish(self, chain: FallbackChain | None) -> None:
        """What hangs on all of them: a model's facts, and a text in which nothing was found."""
        options, found = self.options, self.found
        if options.extract == MemorySession.Extract.NONE:
            found.notes += _too_long(found)
            return
        found.notes += unread_notes(found)
        if options.extract != MemorySession.Extract.LLM:
            found.steps.append(step("patterns", len(found.claims), found.milliseconds["patterns"]))
        chosen = messages_to_ask(self.heard if options.asks_always else self.unmatched, options)
        if chosen:
            ask_model(chosen, self.messages, options, chain, found)
        if options.extract == MemorySession.Extract.AUTO:
            found.missed = list(missed_in(self.unmatched, found.claims))
        if not found.claims and self.heard and options.is_whole_text:
            # A text is kept whole, as in the seed; of messages the episodes alone.
            _keep_whole(self.heard, options, "whole", found)
            found.notes.insert(0, f"{'kept whole: ' if found.claims else ''}no claim found")
            found.notes += _too_long(found)
            found.steps.append(step("whole", len(found.claims)))
        elif not found.claims and self.heard:
            found.notes.insert(0, "no claim found")
        if not found.claims and options.is_whole_text:
            found.too_long = sum(_is_too_long(message) for message in self.messages)


def _keep_whole(
    messages: Sequence[Message], options: ExtractOptions, rule: str, found: Extraction
) -> None:
    """Each as one memory; what is longer than a memory may be stays an episode, and is searched."""
    short = [message for message in messages if not _is_too_long(message)]
    found.claims += [_whole(message, options, rule) for message in short]
    found.too_long += len(messages) - len(short)


def _too_long(found: Extraction) -> Iterator[str]:
    if found.too_long:
        yield (
            f"nothing is believed of {found.too_long} texts of more than {bounds.WHOLE}"
            " characters: they are kept as they are, and search finds them"
        )


def _is_too_long(message: Message) -> bool:
    return len(message.text.strip()) > bounds.WHOLE


def _whole(message: Message, options: ExtractOptions, rule: str) -> Claim:
    start = len(message.text) - len(message.text.lstrip())
    statement = message.text.strip()
    return Claim(
        statement=statement,
        category=Category.OTHER,
        fact_type=FactType.FACT,
        visibility=options.visibility or visibility_of(Category.OTHER),
        method=Fact.Method.WHOLE,
        rule=rule,
        source=Source.INGESTED,
        occurred_at=message.occurred_at,
        quotes=(Quote(message.id, start, start + len(statement), statement),),
    )
