"""What patterns find in messages, each read with those before it."""

import time
from collections.abc import Sequence

from memories import gatekeeper, patterns
from memories.extraction.values import (
    ASSISTANT_CATEGORIES,
    SPEAKING,
    Extraction,
    Message,
    Skip,
    Wish,
    since,
    visibility_of,
)
from memories.models import Episode, Fact, MemorySession, Source
from memories.patterns import Talk, own
from memories.supersession import Claim, Quote

KEPT = "kept"  # the label of what is kept and not read


def talk_before(wish: Wish) -> Talk:
    """What the conversation had said before the first message."""
    talk = Talk()
    for message in wish.before:
        _hear(talk, message)
    return talk


def listened(
    messages: Sequence[Message], wish: Wish, found: Extraction, talk: Talk
) -> tuple[list[Message], list[Message]]:
    """Add what patterns find; the messages that are worth reading, and of those the ones that no
    pattern covered. `talk` goes on by them."""
    started = time.perf_counter()
    heard, unmatched = [], []
    for message in messages:
        label = _passed_over(message, talk)
        if label:
            reason = f"{message.kind} messages are kept only" if label == KEPT else label
            found.skipped.append(Skip(message.index, reason, label))
        else:
            heard.append(message)
            claims = _pattern_claims(message, wish, talk)
            found.claims += claims
            unmatched += [] if claims else [message]
        _hear(talk, message)
    took = found.milliseconds.get("patterns", 0.0) + since(started)
    found.milliseconds["patterns"] = round(took, 2)
    return heard, unmatched


def _passed_over(message: Message, talk: Talk) -> str:
    """Why a message is not read; empty where it is."""
    if message.is_served:
        return "served"
    question = talk.question_to(message.speaker)
    verdict = gatekeeper.verdict(message.readable, message.role, message.kind, question)
    if verdict.skip:
        return verdict.label
    return "" if message.kind in SPEAKING else KEPT


def _hear(talk: Talk, message: Message) -> None:
    if message.kind in SPEAKING:
        is_assistant = message.kind == Episode.Kind.ASSISTANT
        talk.hear(message.readable, message.speaker, message.id, is_assistant=is_assistant)


def _pattern_claims(message: Message, wish: Wish, talk: Talk) -> list[Claim]:
    if wish.extract == MemorySession.Extract.LLM:
        return []
    return [_pattern_claim(message, hit, wish, talk) for hit in _hits(message, wish, talk)]


def _hits(message: Message, wish: Wish, talk: Talk) -> list[patterns.Found]:
    """What the workspace's own patterns find, and of the library's what they leave."""
    said = (message.readable, message.speaker, message.occurred_at)
    library = [hit for hit in patterns.extract(*said, talk) if _is_told(message, hit.category)]
    tried = [pattern for pattern in wish.patterns if _is_told(message, pattern.category)]
    return own.with_library(library, tried, *said)


def _is_told(message: Message, category: str) -> bool:
    return message.kind != Episode.Kind.ASSISTANT or category in ASSISTANT_CATEGORIES


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
