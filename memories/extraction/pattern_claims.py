"""What patterns find in messages, each read with those before it."""

import time
from collections.abc import Iterator, Sequence

from memories import bounds, languages
from memories.bounds import Budget
from memories.english import find_claims, gatekeeper, workspace_patterns
from memories.english.patterns.pattern import Found
from memories.english.talk import Talk
from memories.extraction.extraction_types import (
    ASSISTANT_CATEGORIES,
    SPEAKING,
    Extraction,
    ExtractOptions,
    Message,
    Skip,
    since,
    visibility_of,
)
from memories.models import Episode, Fact, MemorySession, Source
from memories.resolve import Claim, Quote

KEPT = "kept"  # the label of what is kept and not read


def talk_before(options: ExtractOptions) -> Talk:
    """What the conversation had said before the first message."""
    talk = Talk()
    for message in options.before:
        _hear(talk, message, bounds.start_of(message.readable))
    return talk


def read_by_patterns(
    messages: Sequence[Message], options: ExtractOptions, found: Extraction, talk: Talk
) -> tuple[list[Message], list[Message]]:
    """Add what patterns find; the messages that are worth reading, and of those the ones that no
    pattern covered. `talk` goes on by them."""
    started = time.perf_counter()
    heard, unmatched = [], []
    for message in messages:
        text = bounds.start_of(message.readable)
        question = talk.question_to(message.speaker)
        verdict = gatekeeper.verdict(text, message.role, message.kind, question)
        label = "" if message.kind in SPEAKING else KEPT
        if message.is_served:
            label = "served"
        elif verdict.skip:
            label = verdict.label
        elif languages.is_courtesy(text, options.languages):
            label = "courtesy"
        if label:
            reason = f"{message.kind} messages are kept only" if label == KEPT else label
            found.skipped.append(Skip(message.index, reason, label))
        else:
            heard.append(message)
            budget = bounds.Budget()
            read = _pattern_claims(message, text, options, talk, budget)
            claims = [claim for claim in read if len(claim.statement) <= bounds.STATEMENT]
            found.claims += claims
            unmatched += [] if claims else [message]
            found.unread += budget.is_spent or len(text) < len(message.readable)
            found.cut += len(read) - len(claims)
        _hear(talk, message, text)
    took = found.milliseconds.get("patterns", 0.0) + since(started)
    found.milliseconds["patterns"] = round(took, 2)
    return heard, unmatched


def unread_notes(found: Extraction) -> Iterator[str]:
    """What was left out of messages that are kept as they are."""
    if found.unread:
        words, seconds = bounds.READ_WORDS, bounds.READ_SECONDS
        yield f"too long: of {found.unread} messages the beginning was read ({words} words, {seconds:g} s)"
    if found.cut:
        yield f"{found.cut} statements of more than {bounds.STATEMENT} characters"


def _hear(talk: Talk, message: Message, text: str) -> None:
    if message.kind in SPEAKING:
        is_assistant = message.kind == Episode.Kind.ASSISTANT
        talk.hear(text, message.speaker, message.id, is_assistant=is_assistant)


def _pattern_claims(
    message: Message, text: str, options: ExtractOptions, talk: Talk, budget: Budget
) -> list[Claim]:
    """What the workspace's own patterns find in `text`, and of the library's what they leave."""
    if options.extract == MemorySession.Extract.LLM:
        return []
    said = (text, message.speaker, message.occurred_at)
    hits = languages.extract(*said, options.languages, budget)
    hits += find_claims.extract(*said, talk, budget)
    library = [hit for hit in hits if _is_read_of(message, hit.category)]
    tried = [pattern for pattern in options.patterns if _is_read_of(message, pattern.category)]
    left = workspace_patterns.with_library(library, tried, *said, budget)
    return [_pattern_claim(message, hit, options, talk) for hit in left]


def _is_read_of(message: Message, category: str) -> bool:
    return message.kind != Episode.Kind.ASSISTANT or category in ASSISTANT_CATEGORIES


def _pattern_claim(message: Message, hit: Found, options: ExtractOptions, talk: Talk) -> Claim:
    quotes = [Quote(message.id, hit.start, hit.end, message.text[hit.start : hit.end])]
    if hit.is_answer and talk.asked is not None:
        quotes.append(Quote(talk.asked.key, *talk.asked.place, talk.asked.quote))
    return Claim(
        statement=hit.statement,
        category=hit.category,
        fact_type=hit.fact_type,
        visibility=options.visibility
        or _own_visibility(hit, options)
        or visibility_of(hit.category),
        method=Fact.Method.PATTERN,
        rule=hit.rule,
        source=Source.EXTRACTED,
        occurred_at=message.occurred_at,
        confidence=hit.confidence,
        entities=tuple(hit.entities),
        event_date=hit.event_date,
        quotes=tuple(quotes),
    )


def _own_visibility(hit: Found, options: ExtractOptions) -> str:
    rules = {
        f"{workspace_patterns.RULE}{pattern.name}": pattern.visibility
        for pattern in options.patterns
    }
    return rules.get(hit.rule, "")
