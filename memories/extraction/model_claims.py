"""What a model finds in messages: its facts become claims where their quotes stand in the text."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memories import providers
from memories.bounds import STATEMENT
from memories.english import lexical
from memories.extraction.doubts import doubt_of
from memories.extraction.extraction_types import (
    Extraction,
    ExtractOptions,
    Message,
    Missed,
    since,
    type_of,
    visibility_of,
)
from memories.extraction.fallback import ChainAnswer, FallbackChain, ReadFact
from memories.extraction.quotes import verified
from memories.models import Category, Episode, Fact, FactType, MemorySession, Source
from memories.providers import ExtractionRequest
from memories.resolve import Claim, Quote


def to_ask(messages: list[Message], options: ExtractOptions) -> list[Message]:
    """What a model shall read. An assistant's words alone are no reason to ask: with its person's
    they are read, and so an exchange costs one call, however it comes in."""
    if options.extract == MemorySession.Extract.LLM:
        return messages
    is_asked = options.extract == MemorySession.Extract.AUTO
    told = any(message.kind != Episode.Kind.ASSISTANT for message in messages)
    return messages if is_asked and told else []


def asked(
    unmatched: list[Message],
    heard: Sequence[Message],
    options: ExtractOptions,
    chain: FallbackChain | None,
    found: Extraction,
) -> None:
    """Add what a model finds in `unmatched`; `heard` are all messages, these among them."""
    if chain is None:
        found.notes.append("no model is configured")
        return
    started = time.perf_counter()
    answer = chain.extract(_request(unmatched, options.before))
    found.milliseconds["model"] = since(started)
    found.steps += [step.as_json() for step in answer.steps]
    if answer.error is not None:
        found.error = answer.error
        found.notes.append(f"provider failed: {answer.error.message}")
    if answer.unread:
        read = len(answer.pieces) - answer.unread
        found.notes.append(f"too long: the model read {read} of {len(answer.pieces)} pieces")
    known = {lexical.fingerprint(claim.statement) for claim in found.claims}
    said = [*options.before, *heard]
    for claim in _once(_claims(answer, unmatched, options)):
        if doubt := doubt_of(claim, said, options.subject):
            found.quarantined.append((_shortened(claim), doubt))
        elif lexical.fingerprint(claim.statement) not in known:
            found.claims.append(claim)
    if found.quarantined:
        found.notes.append(f"{len(found.quarantined)} claims of the model had no evidence")


def _claims(
    answer: ChainAnswer, messages: Sequence[Message], options: ExtractOptions
) -> Iterator[tuple[int, Claim]]:
    """What a model claims, each with the number of the piece in which it read that."""
    by_index = {message.index: message for message in messages}
    for read in answer.facts:
        quotes = verified(read.fact, answer.pieces[read.piece], by_index)
        yield read.piece, _model_claim(read, quotes, by_index, options)


def _once(claims: Iterable[tuple[int, Claim]]) -> Iterator[Claim]:
    """Pieces overlap: what a later one reads out of words from which one before it read something
    is that again, in whatever words. So is the same statement of the same words."""
    taken: list[tuple[int, bytes, tuple[Quote, ...]]] = []
    for piece, claim in claims:
        mark = lexical.fingerprint(claim.statement)
        alike = [quotes for other, said, quotes in taken if said == mark or other != piece]
        quoted = [quote for quotes in alike for quote in quotes]
        is_again = all(any(_meet(quote, other) for other in quoted) for quote in claim.quotes)
        if is_again if claim.quotes else (piece, mark, ()) in taken:
            continue
        taken.append((piece, mark, claim.quotes))
        yield claim


def _meet(one: Quote, other: Quote) -> bool:
    is_same_text = one.episode_id == other.episode_id
    return is_same_text and one.start < other.end and other.start < one.end


def _shortened(claim: Claim) -> Claim:
    """What nobody believes need not be kept at any length."""
    told = claim.statement
    return claim if len(told) <= STATEMENT else replace(claim, statement=f"{told[:STATEMENT]}…")


def _request(messages: Sequence[Message], before: Sequence[Message]) -> ExtractionRequest:
    return ExtractionRequest(
        messages=tuple(_told(message) for message in messages),
        context=tuple(_told(message) for message in before),
    )


def _told(message: Message) -> providers.PromptMessage:
    return providers.PromptMessage(
        index=message.index,
        role=message.role,
        text=message.readable,
        speaker=message.speaker,
        time=message.occurred_at,
    )


def _model_claim(
    read: ReadFact, quotes: tuple[Quote, ...], by_index: dict[int, Message], options: ExtractOptions
) -> Claim:
    fact = read.fact
    by_id = {message.id: message for message in by_index.values()}
    first = by_id[quotes[0].episode_id] if quotes else next(iter(by_index.values()))
    category = fact.category if fact.category in Category.values else Category.OTHER
    return Claim(
        statement=fact.statement.strip(),
        category=category,
        fact_type=fact.fact_type if fact.fact_type in FactType.values else type_of(category),
        visibility=options.visibility or visibility_of(category),
        method=Fact.Method.LLM,
        rule=read.rule,
        source=Source.EXTRACTED,
        occurred_at=first.occurred_at,
        confidence=min(1.0, max(0.0, fact.confidence)),
        entities=tuple(fact.entities),
        event_date=fact.event_date,
        quotes=quotes,
    )


def missed_in(unmatched: Sequence[Message], claims: Sequence[Claim]) -> Iterator[Missed]:
    """Of the messages that no pattern covered, those in which a model found something."""
    for message in unmatched:
        in_it = [c for c in claims if any(q.episode_id == message.id for q in c.quotes)]
        if in_it:
            commonest = Counter(claim.category for claim in in_it).most_common(1)[0][0]
            statements = tuple(dict.fromkeys(claim.statement for claim in in_it))
            yield Missed(message.id, message.text, statements, commonest)
