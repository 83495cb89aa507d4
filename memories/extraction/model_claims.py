"""What a model finds in messages: its facts become claims where their quotes stand in the text."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
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
from memories.extraction.quotes import verified_quotes
from memories.models import Category, Episode, Fact, FactType, MemorySession, Source
from memories.providers import ExtractionRequest
from memories.resolve import Claim, Quote


def messages_to_ask(messages: list[Message], options: ExtractOptions) -> list[Message]:
    """What a model shall read. An assistant's words alone are no reason to ask: with its person's
    they are read, and so an exchange costs one call, however it comes in."""
    if options.extract == MemorySession.Extract.LLM:
        return messages
    is_asked = options.extract == MemorySession.Extract.AUTO
    has_person = any(message.kind != Episode.Kind.ASSISTANT for message in messages)
    return messages if is_asked and has_person else []


def ask_model(
    unmatched: list[Message],
    messages: Sequence[Message],
    options: ExtractOptions,
    chain: FallbackChain | None,
    result: Extraction,
) -> None:
    """Add what a model finds in `unmatched`; `messages` are all, these among them."""
    if chain is None:
        result.notes.append("no model is configured")
        return
    started = time.perf_counter()
    request = ExtractionRequest(
        messages=tuple(map(_prompt_message, unmatched)),
        context=tuple(map(_prompt_message, options.before)),
    )
    answer = chain.extract(request)
    result.milliseconds["model"] = since(started)
    result.steps += [step.as_json() for step in answer.steps]
    if answer.error is not None:
        result.error = answer.error
        result.notes.append(f"provider failed: {answer.error.message}")
    if answer.unread:
        read = len(answer.pieces) - answer.unread
        result.notes.append(f"too long: the model read {read} of {len(answer.pieces)} pieces")
    known = {lexical.fingerprint(claim.statement) for claim in result.claims}
    context = [*options.before, *messages]
    for claim in _distinct_claims(answer, unmatched, options):
        if doubt := doubt_of(claim, context, options.subject):
            text = claim.statement  # what nobody believes need not be kept at any length
            short = text if len(text) <= STATEMENT else f"{text[:STATEMENT]}…"
            result.quarantined.append((replace(claim, statement=short), doubt))
        elif lexical.fingerprint(claim.statement) not in known:
            result.claims.append(claim)
    if result.quarantined:
        result.notes.append(f"{len(result.quarantined)} claims of the model had no evidence")


def _distinct_claims(
    answer: ChainAnswer, messages: Sequence[Message], options: ExtractOptions
) -> Iterator[Claim]:
    """What a model claims, once. Pieces overlap: what a later one reads out of words from which one
    before it read something is that again, in whatever words. So is the same statement of the same
    words."""
    by_index = {message.index: message for message in messages}
    taken: list[tuple[int, bytes, tuple[Quote, ...]]] = []
    for read in answer.facts:
        piece = read.piece
        quotes = verified_quotes(read.fact, answer.pieces[piece], by_index)
        mark = lexical.fingerprint(read.fact.statement.strip())
        quoted = [
            quote for other, text, own in taken if text == mark or other != piece for quote in own
        ]
        is_again = all(
            any(
                quote.episode_id == other.episode_id
                and quote.start < other.end
                and other.start < quote.end
                for other in quoted
            )
            for quote in quotes
        )
        if is_again if quotes else (piece, mark, ()) in taken:
            continue
        taken.append((piece, mark, quotes))
        yield _model_claim(read, quotes, by_index, options)


def _prompt_message(message: Message) -> providers.PromptMessage:
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
