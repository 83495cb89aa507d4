"""From episodes to claims: gatekeeper, patterns, the configured model, then the whole text.

Asks only: rows are read before, and written after. A claim's quotes are verified here against
the text they cite; what has no evidence goes to quarantine.
"""

import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memories import gatekeeper, patterns, providers
from memories.errors import ProviderError
from memories.ladder import Ladder
from memories.models import Category, Episode, Fact, FactType, MemorySession, Source, Visibility
from memories.patterns import Talk, own
from memories.patterns.own import OwnPattern
from memories.patterns.talk import UNKNOWN
from memories.providers import ExtractedFact, ExtractionRequest
from memories.supersession import Claim, Quote

TYPE_OF: dict[str, str] = {
    Category.PREFERENCE: FactType.PREFERENCE,
    Category.IDENTITY: FactType.PROFILE,
    Category.RELATIONSHIP: FactType.PROFILE,
    Category.POSSESSION: FactType.PROFILE,
    Category.PLAN: FactType.EVENT,
    Category.TEMPORAL: FactType.EVENT,
    Category.INSTRUCTION: FactType.SYSTEM,
}
TEAM_CATEGORIES = (Category.POLICY, Category.TECHNOLOGY, Category.DECISION)
# What an assistant says of itself is no memory; what it decides or demands is its team's.
ASSISTANT_CATEGORIES = frozenset(TEAM_CATEGORIES)
SPEAKING = (
    Episode.Kind.USER,
    Episode.Kind.ASSISTANT,
    Episode.Kind.TEXT,
    Episode.Kind.ACTIVITY,
)
Span = tuple[int, int]
NEW_LINE, BULLETS = "\n", "… \t\r\n-*•>"


@dataclass(frozen=True, slots=True)
class Message:
    """One episode as extraction sees it; `index` is its place in the request.

    `served` are the places of what this server itself had told: they are not read.
    """

    index: int
    id: uuid.UUID
    kind: str
    role: str
    speaker: str
    text: str
    occurred_at: datetime
    served: tuple[Span, ...] = ()

    @property
    def readable(self) -> str:
        """The text, each place as it was, with other signs where it was served."""
        text = self.text
        for start, end in self.served:
            # Not blanks alone: no quote must reach over it.
            text = f"{text[:start]}{'…'.center(end - start, NEW_LINE)}{text[end:]}"
        return text

    @property
    def is_served(self) -> bool:
        return bool(self.served) and not self.readable.strip(BULLETS)


@dataclass(frozen=True, slots=True)
class Skip:
    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Missed:
    """What a model found in a message in which no pattern fired; `category` is the commonest."""

    episode_id: uuid.UUID
    text: str
    statements: tuple[str, ...]
    category: str


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller asked of an extraction; `visibility` empty: by category.

    `patterns` are the workspace's own; they are tried where the library found nothing. `before`
    are the messages that the conversation had already: they are context, and make no claims.
    """

    extract: str = MemorySession.Extract.AUTO
    is_whole_text: bool = False
    visibility: str = ""
    patterns: tuple[OwnPattern, ...] = ()
    before: tuple[Message, ...] = ()


@dataclass(slots=True)
class Extraction:
    """The claims found, and why the rest made none. `error` is a model's failure."""

    claims: list[Claim] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: ProviderError | None = None
    quarantined: list[Claim] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    milliseconds: dict[str, float] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """Why there are no more claims than there are, in words for people."""
        counted: dict[str, int] = {}
        for skip in self.skipped:
            counted[skip.reason] = counted.get(skip.reason, 0) + 1
        parts = [f"{reason} ({n})" if n > 1 else reason for reason, n in counted.items()]
        return "; ".join([*self.notes, *(["skipped: " + ", ".join(parts)] if parts else [])])


def warm_up() -> None:
    """Compile what compiles on first use (half a second of patterns), before the first request."""
    patterns.extract("I said nothing yet.", "", datetime.now(UTC))


def visibility_of(category: str) -> str:
    """The default of API.md's table: preferences and people private, the team's rules team."""
    return Visibility.TEAM if category in TEAM_CATEGORIES else Visibility.PRIVATE


def type_of(category: str) -> str:
    return TYPE_OF.get(category, FactType.FACT)


def speaker_of(kind: str, subject: str) -> str:
    """Whose words a message without an author's name are."""
    return "Assistant" if kind == Episode.Kind.ASSISTANT else subject or UNKNOWN


def extract(messages: Sequence[Message], wish: Wish, ladder: Ladder | None = None) -> Extraction:
    """The claims of `messages`. Never raises ProviderError: it stands in `error`."""
    found = Extraction()
    if wish.extract == MemorySession.Extract.NONE:
        found.claims = [_whole(m, wish, "none") for m in messages if m.text.strip()]
        return found
    heard, unmatched = _listened(messages, wish, found)
    if wish.extract in (MemorySession.Extract.AUTO, MemorySession.Extract.LLM) and unmatched:
        _asked(unmatched, wish, ladder, found)
    if wish.extract == MemorySession.Extract.AUTO:
        found.missed = list(_missed(unmatched, found.claims))
    if not found.claims and heard:
        _nothing(heard, wish, found)
    return found


def _listened(
    messages: Sequence[Message], wish: Wish, found: Extraction
) -> tuple[list[Message], list[Message]]:
    """Add what patterns find; the messages that are worth reading, and of those the ones that no
    pattern covered."""
    started, talk = time.perf_counter(), Talk()
    for message in wish.before:
        _hear(talk, message)
    heard, unmatched = [], []
    for message in messages:
        reason = _passed_over(message, talk)
        if reason:
            found.skipped.append(Skip(message.index, reason))
        else:
            heard.append(message)
            claims = _pattern_claims(message, wish, talk)
            found.claims += claims
            unmatched += [] if claims else [message]
        _hear(talk, message)
    found.milliseconds["patterns"] = _since(started)
    if wish.extract != MemorySession.Extract.LLM:
        found.steps.append(_step("patterns", len(found.claims), found.milliseconds["patterns"]))
    return heard, unmatched


def _passed_over(message: Message, talk: Talk) -> str:
    """Why a message is not read; empty where it is."""
    if message.is_served:
        return "served"
    question = talk.question_to(message.speaker)
    verdict = gatekeeper.verdict(message.readable, message.role, message.kind, question)
    if verdict.skip:
        return verdict.label
    return "" if message.kind in SPEAKING else f"{message.kind} messages are kept only"


def _hear(talk: Talk, message: Message) -> None:
    if message.kind in SPEAKING:
        is_assistant = message.kind == Episode.Kind.ASSISTANT
        talk.hear(message.readable, message.speaker, message.id, is_assistant=is_assistant)


def _pattern_claims(message: Message, wish: Wish, talk: Talk) -> list[Claim]:
    if wish.extract == MemorySession.Extract.LLM:
        return []
    return [
        _pattern_claim(message, hit, wish, talk)
        for hit in _hits(message, wish.patterns, talk)
        if message.kind != Episode.Kind.ASSISTANT or hit.category in ASSISTANT_CATEGORIES
    ]


def _hits(message: Message, own_patterns: Sequence[OwnPattern], talk: Talk) -> list[patterns.Found]:
    """What the library finds, and in its other sentences what the workspace's own patterns do."""
    said = (message.readable, message.speaker, message.occurred_at)
    hits = patterns.extract(*said, talk)
    for pattern in own_patterns:
        found = own.find(pattern, *said)
        hits += [each for each in found if not any(_overlap(each, hit) for hit in hits)]
    return hits


def _overlap(one: patterns.Found, other: patterns.Found) -> bool:
    return one.start < other.end and other.start < one.end


def _missed(unmatched: Sequence[Message], claims: Sequence[Claim]) -> Iterator[Missed]:
    """Of the messages that no pattern covered, those in which a model found something."""
    for message in unmatched:
        in_it = [c for c in claims if any(q.episode_id == message.id for q in c.quotes)]
        if in_it:
            commonest = Counter(claim.category for claim in in_it).most_common(1)[0][0]
            statements = tuple(dict.fromkeys(claim.statement for claim in in_it))
            yield Missed(message.id, message.text, statements, commonest)


def _pattern_claim(message: Message, hit: patterns.Found, wish: Wish, talk: Talk) -> Claim:
    quotes = [Quote(message.id, hit.start, hit.end, message.text[hit.start : hit.end])]
    if hit.is_answer and talk.asked is not None:
        quotes.append(Quote(talk.asked.key, *talk.asked.place, talk.asked.quote))
    return Claim(
        statement=hit.statement,
        category=hit.category,
        fact_type=hit.fact_type,
        visibility=wish.visibility or _own_visibility(hit, wish) or visibility_of(hit.category),
        method=Fact.Method.PATTERN,
        rule=hit.rule,
        source=Source.EXTRACTED,
        occurred_at=message.occurred_at,
        confidence=hit.confidence,
        entities=tuple(hit.entities),
        event_date=hit.event_date,
        quotes=tuple(quotes),
    )


def _own_visibility(hit: patterns.Found, wish: Wish) -> str:
    rules = {f"{own.RULE}{pattern.name}": pattern.visibility for pattern in wish.patterns}
    return rules.get(hit.rule, "")


def _asked(unmatched: list[Message], wish: Wish, ladder: Ladder | None, found: Extraction) -> None:
    if ladder is None:
        found.notes.append("no model is configured")
        return
    started = time.perf_counter()
    answer = ladder.extract(_request(unmatched))
    found.milliseconds["model"] = _since(started)
    found.steps += [step.as_json() for step in answer.steps]
    if answer.error is not None:
        found.error = answer.error
        found.notes.append(f"provider failed: {answer.error.message}")
    by_index = {message.index: message for message in unmatched}
    for read in answer.facts:
        claim = _model_claim(read.fact, by_index, wish, read.rule)
        (found.claims if claim.quotes else found.quarantined).append(claim)
    if found.quarantined:
        found.notes.append(f"{len(found.quarantined)} claims of the model had no evidence")


def _request(messages: list[Message]) -> ExtractionRequest:
    return ExtractionRequest(
        messages=tuple(
            providers.Message(
                index=message.index,
                role=message.role,
                text=message.readable,
                speaker=message.speaker,
                time=message.occurred_at,
            )
            for message in messages
        )
    )


def _model_claim(fact: ExtractedFact, by_index: dict[int, Message], wish: Wish, rule: str) -> Claim:
    quotes = _verified(fact, by_index)
    cited = [by_index[q.message_index] for q in fact.quotes if q.message_index in by_index]
    first = cited[0] if cited else next(iter(by_index.values()))
    category = fact.category if fact.category in Category.values else Category.OTHER
    return Claim(
        statement=fact.statement.strip(),
        category=category,
        fact_type=fact.fact_type if fact.fact_type in FactType.values else type_of(category),
        visibility=wish.visibility or visibility_of(category),
        method=Fact.Method.LLM,
        rule=rule,
        source=Source.EXTRACTED,
        occurred_at=first.occurred_at,
        confidence=min(1.0, max(0.0, fact.confidence)),
        entities=tuple(fact.entities),
        event_date=fact.event_date,
        quotes=quotes,
    )


def _verified(fact: ExtractedFact, by_index: dict[int, Message]) -> tuple[Quote, ...]:
    """The quotes of a model's fact that really stand in the text, as they stand there."""
    found = []
    for cited in fact.quotes:
        message = by_index.get(cited.message_index)
        span = find_quote(message.readable, cited.text) if message else None
        if message and span:
            found.append(Quote(message.id, *span, message.text[slice(*span)]))
    return tuple(found)


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`, blanks of any kind and number counting as one; or None."""
    words = quote.split()
    if not words:
        return None
    start = text.find(words[0])
    while start >= 0:
        end = _follows(text, start, words)
        if end is not None:
            return start, end
        start = text.find(words[0], start + 1)
    return None


def _follows(text: str, start: int, words: list[str]) -> int | None:
    position = start
    for number, word in enumerate(words):
        if number:
            blank = position
            while position < len(text) and text[position].isspace():
                position += 1
            if position == blank:
                return None
        if not text.startswith(word, position):
            return None
        position += len(word)
    return position


def _nothing(heard: list[Message], wish: Wish, found: Extraction) -> None:
    """No claim at all: a text is kept whole, as in the seed; of messages the episodes alone."""
    if wish.is_whole_text:
        found.notes.insert(0, "kept whole: no claim found")
        found.claims = [_whole(message, wish, "whole") for message in heard]
        found.steps.append(_step("whole", len(found.claims)))
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


def _step(rule: str, facts: int, milliseconds: float = 0.0) -> dict[str, Any]:
    return {"rule": rule, "outcome": f"{facts} facts", "milliseconds": milliseconds}


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 2)
