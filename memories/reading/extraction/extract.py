"""From episodes to claims: gatekeeper, patterns, the configured model, then the whole text.

Asks only: rows are read before, and written after. A claim's quotes are verified here against
the text they cite, and a model's words against its quotes; what has no evidence goes to
quarantine."""

import re
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from memories.belief.resolve import Claim, Quote
from memories.language import bounds
from memories.language.bounds import Budget
from memories.language.english import (
    claim_worth,
    find_claims,
    gatekeeper,
    pasted_text,
    self_repair,
    verbs,
    workspace_patterns,
)
from memories.language.english.patterns.library import compile_patterns
from memories.language.english.patterns.pattern import Found
from memories.language.english.referents import Talk
from memories.language.english.topics import is_private_life, is_work
from memories.language.english.write_dates import end_of_state, with_dates
from memories.models import (
    Category,
    Episode,
    Fact,
    FactType,
    MemorySession,
    Source,
    Visibility,
)
from memories.reading.extraction.extraction_types import (
    SPEAKING,
    Extraction,
    ExtractOptions,
    Message,
    Missed,
    Skip,
    since,
    step,
)
from memories.reading.extraction.fallback_chain import FallbackChain
from memories.reading.extraction.labelled_speakers import parts_by_speaker
from memories.reading.extraction.model_claims import ask_model
from memories.reading.extraction.trust import HOLD, IGNORE, SOURCES
from memories.reading.extraction.workspace_instructions import Instructions

KEPT = "kept"  # the label of what is kept and not read
# Nobody knows what a text without findings claims; a caller who wants none read says it is a claim.
WHOLE_CONFIDENCE, NONE_CONFIDENCE = 0.5, 0.8


def warm_up() -> None:
    """Compile what compiles on first use, before the first request."""
    compile_patterns()
    find_claims.extract("I said nothing yet.", "", datetime.now(UTC))


def extract(messages: Sequence[Message], options: ExtractOptions, chain: FallbackChain | None = None) -> Extraction:
    """Return the claims of `messages`. Never raises ProviderError: it is in `error`."""
    run = ExtractionRun(options)
    run.read(*messages)
    run.finish(chain)
    return run.found


class ExtractionRun:
    """An extraction that goes on message by message; `found` is the result so far. Reading them in
    one go or in several makes no difference."""

    def __init__(self, options: ExtractOptions) -> None:
        self.options, self.talk = options, talk_before(options)
        is_read = options.extract != MemorySession.Extract.NONE  # what is kept word for word is nobody's to judge
        self.found = Extraction(instructions=options.instructions if is_read else Instructions())
        self.messages: list[Message] = []
        self.heard: list[Message] = []
        self.unmatched: list[Message] = []

    def read(self, *messages: Message) -> None:
        """Read the next messages by patterns; with `extract` none, only keep them whole."""
        self.messages += messages
        if self.options.extract == MemorySession.Extract.NONE:
            texts = [message for message in messages if message.text.strip()]
            _keep_whole(texts, self.options, "none", self.found)
            return
        heard, unmatched = read_by_patterns(messages, self.options, self.found, self.talk)
        self.heard += heard
        self.unmatched += unmatched

    def finish(self, chain: FallbackChain | None) -> None:
        """Do what needs all messages: ask a model, and keep a text whole if it gave no claims."""
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
        if not found.claims and self.heard and options.is_whole_text and not found.ignored:
            # A text is kept whole, as in the seed; of messages the episodes alone, and of a text
            # that was understood and is not worth keeping.
            understood = {skip.index for skip in found.unworthy if skip.label in claim_worth.UNDERSTOOD}
            texts = [m for m in self.heard if m.index not in understood and m.id not in found.unmeant]
            _keep_whole(texts, options, "whole", found)
            found.notes.insert(0, f"{'kept whole: ' if found.claims else ''}no claim found")
            found.notes += _too_long(found)
            found.steps.append(step("whole", len(found.claims)))
        elif not found.claims and self.heard:
            found.notes.insert(0, "no claim found")
        if not found.claims and options.is_whole_text:
            found.too_long = sum(_is_too_long(message) for message in self.messages)


def _keep_whole(messages: Sequence[Message], options: ExtractOptions, rule: str, found: Extraction) -> None:
    """Keep each message as one memory; those too long for one stay episodes, and are searched."""
    for message in messages:
        if _is_too_long(message):
            found.too_long += 1
            continue
        start = len(message.text) - len(message.text.lstrip())
        statement = message.text.strip()
        claim = Claim(
            statement=statement,
            category=Category.OTHER,
            fact_type=FactType.FACT,
            visibility=options.visibility_of(Category.OTHER, statement),
            method=Fact.Method.WHOLE,
            rule=rule,
            confidence=WHOLE_CONFIDENCE if rule == "whole" else NONE_CONFIDENCE,
            source=Source.INGESTED,
            occurred_at=message.occurred_at,
            quotes=(Quote(message.id, start, start + len(statement), statement),),
        )
        found.add([claim], unsure([message], options))


def unsure(messages: Iterable[Message], options: ExtractOptions) -> dict[uuid.UUID, str]:
    """Return the messages not believed unless a person says so, by id, and whose words they are."""
    return {
        message.id: SOURCES[options.source_of(message)] for message in messages if options.trust_in(message) == HOLD
    }


def _too_long(found: Extraction) -> Iterator[str]:
    if found.too_long:
        yield (
            f"nothing is believed of {found.too_long} texts of more than {bounds.WHOLE}"
            " characters: they are kept as documents, and search finds them"
        )


def _is_too_long(message: Message) -> bool:
    return len(message.text.strip()) > bounds.WHOLE


def talk_before(options: ExtractOptions) -> Talk:
    """Return what the conversation had said before the first message."""
    talk = Talk()
    for message in options.before:
        _hear(talk, message, bounds.start_of(message.readable))
    return talk


def read_by_patterns(
    messages: Sequence[Message], options: ExtractOptions, found: Extraction, talk: Talk
) -> tuple[list[Message], list[Message]]:
    """Add what patterns find. Return the messages worth reading, and those of them that no pattern
    covered. Adds the messages to `talk`."""
    started = time.perf_counter()
    heard, unmatched = [], []
    for message in messages:
        is_unmeant = message.is_played or any(pasted_text.not_in_earnest(message.readable))
        if message.kind in SPEAKING and is_unmeant:
            found.unmeant.add(message.id)
        if message.voices:
            found.voiced.add(message.id)
        made = len(found.claims)
        labels = {
            _read_part(part, options, found, talk)
            for part in (parts_by_speaker(message) if message.voices else (message,))
        }
        if "" in labels:
            heard.append(message)
            unmatched += [] if len(found.claims) > made else [message]
        else:
            label = min(labels)
            if label in ("served", "quoted") and (message.id in found.unmeant or message.voices):
                label = "fiction" if message.id in found.unmeant else "quoted"
            reason = f"{message.kind} messages are kept only" if label == KEPT else label
            found.skipped.append(Skip(message.index, reason, label))
    took = found.milliseconds.get("patterns", 0.0) + since(started)
    found.milliseconds["patterns"] = round(took, 2)
    return heard, unmatched


def _read_part(message: Message, options: ExtractOptions, found: Extraction, talk: Talk) -> str:
    """Add what patterns find in what one person says; return the label of why it is not read, "" if it is."""
    text = bounds.start_of(message.readable)
    if self_repair.MAY_SLIP.search(text):
        text = self_repair.mended(text)
    label = "" if message.kind in SPEAKING else KEPT
    if message.is_served:
        label = "served"
    else:
        label = gatekeeper.verdict(text, message.role, message.kind, talk.question_to(message.speaker)).label or label
    if not label:
        budget = bounds.Budget()
        read = _pattern_claims(message, text, options, talk, budget, found)
        claims = [claim for claim in read if len(claim.statement) <= bounds.STATEMENT]
        found.add(claims, unsure([message], options))
        found.unread += budget.is_spent or len(text) < len(message.readable)
        found.cut += len(read) - len(claims)
    _hear(talk, message, text)
    return label


def unread_notes(found: Extraction) -> Iterator[str]:
    """Yield notes on what was not read of messages, which are kept as they are."""
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
    message: Message,
    text: str,
    options: ExtractOptions,
    talk: Talk,
    budget: Budget,
    found: Extraction,
) -> list[Claim]:
    """Return what the workspace's own patterns find in `text`, and what the library's add to it."""
    # An assistant's advice is nobody's rule, and what it says of a person it was told.
    is_ignored = options.trust_in(message) == IGNORE
    if options.extract == MemorySession.Extract.LLM or is_ignored:
        return []
    said = (text, message.speaker, message.occurred_at)
    hits = find_claims.extract(*said, talk, budget, options.date_order)
    hits = [hit for hit in hits if hit.rule not in options.patterns_off]
    found.unworthy += [
        Skip(message.index, claim_worth.REASONS[hit.unworthy], hit.unworthy) for hit in hits if hit.unworthy
    ]
    library, order = [hit for hit in hits if not hit.unworthy], options.date_order
    if options.patterns:
        library = workspace_patterns.with_library(library, options.patterns, *said, budget, order)
    told: dict[str, Found] = {}
    for hit in library:
        told.setdefault(hit.statement.lower(), hit)
    return [_pattern_claim(message, hit, options, talk) for hit in told.values()]


def _pattern_claim(message: Message, hit: Found, options: ExtractOptions, talk: Talk) -> Claim:
    quotes = [Quote(message.id, hit.start, hit.end, message.text[hit.start : hit.end])]
    if hit.is_answer and talk.asked is not None:
        quotes.append(Quote(talk.asked.key, *talk.asked.place, talk.asked.quote))
    own = {f"{workspace_patterns.RULE}{pattern.name}": pattern.visibility for pattern in options.patterns}
    is_own = hit.rule.startswith(workspace_patterns.RULE)
    statement = hit.statement if is_own else with_dates(hit.statement, message.occurred_at)
    words = quotes[0].quote
    visibility = options.visibility or own.get(hit.rule) or options.visibility_of(hit.category, statement, words)
    if is_private_life(statement) or (visibility == Visibility.PRIVATE and not is_work(words)):
        statement = _of_no_team(statement, words, message.speaker)
    return Claim(
        statement=statement,
        category=hit.category,
        fact_type=hit.fact_type,
        visibility=visibility,
        speaker=message.speaker,
        method=Fact.Method.PATTERN,
        rule=hit.rule,
        source=Source.EXTRACTED,
        occurred_at=message.occurred_at,
        confidence=hit.confidence,
        entities=tuple(hit.entities),
        event_date=hit.event_date,
        quotes=tuple(quotes),
        forget_after=None if is_own else end_of_state(hit.statement, message.occurred_at),
    )


_team = re.compile(r"^Team (?P<rule>policy: )?(?P<verb>[\w']+)(?!\w*:)")
_we = re.compile(r"\bwe\b", re.IGNORECASE)


def _of_no_team(statement: str, words: str, speaker: str) -> str:
    """Return a statement worded as a team's, reworded for people who are no team."""
    team = _team.match(statement)
    if team is None or (team["rule"] and not _we.search(words)):
        return statement
    rest = statement[team.end() :].replace("the team's ", "their ")
    verb = team["verb"] if verbs.is_adverb(team["verb"]) else verbs.without_s(team["verb"])
    return f"{speaker} and others {verb}{rest}"


def messages_to_ask(messages: list[Message], options: ExtractOptions) -> list[Message]:
    """Return the messages for a model to read. An assistant's words alone are no reason to ask:
    they are read with a person's, so an exchange costs one call, however it comes in."""
    if options.extract == MemorySession.Extract.LLM:
        return messages
    is_asked = options.extract == MemorySession.Extract.AUTO
    has_person = any(message.kind != Episode.Kind.ASSISTANT for message in messages)
    return messages if is_asked and has_person else []


def missed_in(unmatched: Sequence[Message], claims: Sequence[Claim]) -> Iterator[Missed]:
    """Yield the messages that no pattern covered, but in which a model found something."""
    for message in unmatched:
        in_it = [c for c in claims if any(q.text_id == message.id for q in c.quotes)]
        if in_it:
            commonest = Counter(claim.category for claim in in_it).most_common(1)[0][0]
            statements = tuple(dict.fromkeys(claim.statement for claim in in_it))
            yield Missed(message.id, message.text, statements, commonest)
