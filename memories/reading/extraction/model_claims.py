"""Claims out of a model's facts: their quotes must really stand in the text, and say what the facts
say."""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memories import providers
from memories.belief.resolve import Claim, Quote
from memories.errors import BudgetSpent
from memories.language.bounds import STATEMENT
from memories.language.english import claim_worth, clauses, lexical, person, read_clause
from memories.language.english.calendar import MONTHS, WEEKDAYS, DateOrder
from memories.language.english.patterns import library
from memories.language.english.patterns.pattern import FACT_TYPES
from memories.language.english.referents import UNKNOWN, open_referent
from memories.language.english.write_dates import end_of_state, with_dates
from memories.models import Category, Fact, FactType, Source
from memories.providers import ExtractedFact, ExtractionRequest
from memories.providers.message_pieces import PIECE
from memories.reading import guard
from memories.reading.extraction.evidence import (
    FIRST_PERSON,
    SENTENCE,
    Evidence,
    day_follows,
    sentences_of,
    unsupported,
)
from memories.reading.extraction.extraction_types import Extraction, ExtractOptions, Message, Skip, since
from memories.reading.extraction.fallback_chain import ChainAnswer, FallbackChain, ReadFact
from memories.reading.extraction.trust import BELIEVE, SOURCES

NEARBY = 8  # messages before one that is cited, in which "she" and "it" may have their names
MEANT_MESSAGES, MEANT_SENTENCES = 2, 2  # before the quoted words, whose words a pronoun may stand for
SHORTEST = 3  # words of a statement that tells something
QUESTION_MARKS = ("?", "？", "؟")
_written = re.compile(r"\S+")
_word = re.compile(r"[^\W\d_]{3,}")
_any_word = re.compile(r"\w+")
_quoted = re.compile(r'["“«][^"”»]*["”»]')
_DAYS = f" {' '.join([*MONTHS, *WEEKDAYS]).title()} User Assistant Team"


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
        wanted=options.instructions.extract,
        unwanted=options.instructions.ignore,
        examples=tuple(options.examples()),
    )
    answer = chain.extract(request, options.read)
    result.milliseconds["model"] = since(started)
    result.steps += [step.as_json() for step in answer.steps]
    if answer.error is not None:
        result.error = answer.error
        failed = "" if isinstance(answer.error, BudgetSpent) else "provider failed: "
        result.notes.append(f"{failed}{answer.error.message}")
    if answer.unread:
        read = len(answer.pieces) - answer.unread
        result.notes.append(f"too long: the model read {read} of {len(answer.pieces)} pieces")
    known = {lexical.fingerprint(claim.statement) for claim in result.claims}
    context = [*options.before, *messages]
    unsure = {
        message.id: SOURCES[options.source_of(message)] for message in messages if options.trust_in(message) != BELIEVE
    }
    for told in _distinct_claims(answer, unmatched, options):
        claim = in_third_person(told)
        evidence = evidence_of(claim, context, options.subject, options.date_order)
        if label := unworthy(claim, evidence):
            place = next((one.index for one in unmatched if one.id == claim.quotes[0].text_id), 0)
            result.unworthy.append(Skip(place, claim_worth.REASONS[label], label))
        elif doubt := doubt_of(claim, evidence):
            text = claim.statement  # what nobody believes need not be kept at any length
            short = text if len(text) <= STATEMENT else f"{text[:STATEMENT]}…"
            result.quarantined.append((replace(claim, statement=short), doubt))
        elif lexical.fingerprint(claim.statement) not in known:
            places = guard.findings(claim.statement)
            if places:
                safe = replace(claim, statement=guard.masked(claim.statement, places))
                result.quarantined.append((safe, guard.reason_of(places)))
            else:
                statement = with_dates(claim.statement, claim.occurred_at)
                ends = end_of_state(claim.statement, claim.occurred_at)
                result.add([only_told(replace(claim, statement=statement, forget_after=ends), evidence)], unsure)
    if result.quarantined:
        result.notes.append(f"{len(result.quarantined)} claims of the model had no evidence or are held")


def _distinct_claims(answer: ChainAnswer, messages: Sequence[Message], options: ExtractOptions) -> Iterator[Claim]:
    """Yield each claim of a model once. Pieces overlap: a fact of a later piece is a duplicate if
    facts of earlier pieces stand on the same words, however it is put. So is the same statement of
    the same words."""
    by_index = {message.index: message for message in messages}
    taken: list[tuple[int, bytes, tuple[Quote, ...]]] = []
    for read in answer.facts:
        piece = read.piece
        quotes = verified_quotes(read.fact, answer.pieces[piece], by_index)
        mark = lexical.fingerprint(read.fact.statement.strip())
        quoted = [quote for other, text, own in taken if text == mark or other != piece for quote in own]
        is_again = all(
            any(
                quote.text_id == other.text_id and quote.start < other.end and other.start < quote.end
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
    first = by_id[quotes[0].text_id] if quotes else next(iter(by_index.values()))
    category = fact.category if fact.category in Category.values else Category.OTHER
    return Claim(
        statement=fact.statement.strip(),
        category=category,
        fact_type=fact.fact_type if fact.fact_type in FactType.values else FACT_TYPES[category],
        visibility=options.visibility_of(category, fact.statement, " ".join(quote.quote for quote in quotes)),
        method=Fact.Method.LLM,
        rule=read.rule,
        source=Source.EXTRACTED,
        occurred_at=first.occurred_at,
        confidence=min(1.0, max(0.0, fact.confidence)),
        entities=tuple(fact.entities),
        event_date=fact.event_date,
        quotes=quotes,
        speaker=first.speaker if quotes else "",
    )


def in_third_person(claim: Claim) -> Claim:
    """Return the claim about its speaker by name, where the model kept the speaker's "I"."""
    words = _quoted.sub("", claim.statement)
    if not (claim.speaker and FIRST_PERSON.search(words)):
        return claim
    return replace(claim, statement=person.third_person(claim.statement, claim.speaker))


def unworthy(claim: Claim, evidence: "ClaimEvidence | None") -> str:
    """Return why a claim is not worth keeping, a key of `claim_worth.REASONS`; empty if it is. Only of
    English, whose words these rules know."""
    if evidence is None or not evidence.told.is_english or len(claim.statement) > STATEMENT:
        return ""  # whether it is believed comes first
    words = claim.statement.rstrip(" .!")
    if words.endswith("?") or claim_worth.NO_END.search(words) or len(words.split()) < SHORTEST:
        return "unfinished"
    if claim.category in claim_worth.STANDING:
        return ""  # how to answer is said of "this" and to "you"
    if claim_worth.YOU.search(_quoted.sub("", words)):
        return "addressed"
    if open_referent(words):
        return "referent"
    return "vague" if claim_worth.says_nothing(words) else ""


def only_told(claim: Claim, evidence: "ClaimEvidence | None") -> Claim:
    """Return the claim without a day and names that its quotes do not have."""
    if evidence is None:
        return claim
    told = f"{claim.statement} {evidence.told.cited_text} {' '.join(evidence.told.speakers)}".lower()
    known = frozenset(_any_word.findall(told))
    names = tuple(name for name in claim.entities if known.issuperset(_any_word.findall(name.lower())))
    day = claim.event_date
    return replace(claim, entities=names, event_date=day if day and day_follows(day, evidence.told) else None)


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """The words that a claim stands on; `near` are the messages in which its pronouns have their names,
    `asks` that each of its quotes only asks."""

    told: Evidence
    near: Sequence[Message]
    asks: bool


def evidence_of(
    claim: Claim, said: Sequence[Message], subject: str = "", date_order: DateOrder = "auto"
) -> ClaimEvidence | None:
    """Return the evidence of `claim`, None where it has no quotes. `said` are all messages in order, those
    before the request too; `subject` is another name of the user."""
    if not claim.quotes:
        return None
    cited_ids = {quote.text_id for quote in claim.quotes}
    places = [place for place, message in enumerate(said) if message.id in cited_ids]
    within = {other for place in places for other in range(place - NEARBY, place + 1)}
    near = [message for place, message in enumerate(said) if place in within]
    around = [_around(message, claim) for message in near]
    cited = [message for message in near if _spans(claim, message)]
    told = [s for m in cited for s in sentences_of(m.readable, _spans(claim, m))]
    speakers = [message.speaker for message in cited]
    if UNKNOWN in speakers and FIRST_PERSON.search(" ".join(told)):
        # Nobody knows who spoke: it is the name that "I" was given.
        speakers.append(claim.statement.partition(" ")[0].removesuffix("'s"))
    evidence = Evidence(
        quotes=tuple(told),
        around="\n".join(message.text for message in around),
        asked="\n".join(_asked(message, said) for message in cited),
        speakers=(*speakers, subject),
        said_at=claim.occurred_at,
        date_order=date_order,
        meant="\n".join(_before(claim, place, said) for place in places),
    )
    asks = claim.category not in claim_worth.STANDING and all(
        _asks(sentence, quote.quote)
        for message in cited
        for quote in claim.quotes
        if quote.text_id == message.id
        for sentence in sentences_of(message.readable, [(quote.start, quote.end)])
    )
    return ClaimEvidence(evidence, around, asks)


def doubt_of(claim: Claim, evidence: ClaimEvidence | None) -> str:
    """Return what `claim` lacks to be believed; empty where its quotes say it."""
    if evidence is None:
        return "no evidence in the text"
    if evidence.asks:
        return "a question is no evidence"
    if names_strangers(claim.statement, evidence.near):
        return "it names somebody or something that nobody named"
    return unsupported(claim.statement, evidence.told)


def _asks(sentence: str, quote: str) -> bool:
    """Tell whether what is quoted of a sentence only asks: "I moved, do you know a dentist?" tells, too."""
    if not sentence.rstrip().endswith(QUESTION_MARKS):
        return False
    at = max(0, sentence.find(quote))
    told = [one for one in clauses.of_text(sentence) if one.start < at + len(quote) and at < one.end]
    return not any(not one.is_question or library.first_of_question(read_clause.plain(one.text)) for one in told)


def _before(claim: Claim, place: int, said: Sequence[Message]) -> str:
    """Return what was said right before the words that a message is quoted for: two sentences of it, and
    the ends of the messages before."""
    message = said[place]
    start = min(start for start, _ in _spans(claim, message))
    text = message.readable[max(0, start - SENTENCE) : start]
    own = [text[slice(*span)] for span in clauses.sentences(text)]
    others = [one.readable[-SENTENCE:] for one in said[max(0, place - MEANT_MESSAGES) : place]]
    ends = [one[slice(*span)] for one in others for span in list(clauses.sentences(one))[-MEANT_SENTENCES:]]
    return "\n".join([*ends, *own[-MEANT_SENTENCES - 1 :]])


def _around(message: Message, claim: Claim) -> Message:
    """Cut a long message to the text around the quotes: as much as a model reads at once."""
    text = message.readable
    first = min((start for start, _ in _spans(claim, message)), default=0)
    start = max(0, first - PIECE // 2) if len(text) > PIECE else 0
    return replace(message, text=text[start : start + PIECE], served=())


def _spans(claim: Claim, message: Message) -> list[tuple[int, int]]:
    return [(q.start, q.end) for q in claim.quotes if q.text_id == message.id]


def _asked(message: Message, said: Sequence[Message]) -> str:
    """Return the question that `message` answers: the last sentence of the one before it."""
    place = next(i for i, each in enumerate(said) if each.id == message.id)
    before = said[place - 1].readable.rstrip() if place else ""
    if not before.endswith("?") or said[place - 1].speaker == message.speaker:
        return ""
    return sentences_of(before, [(len(before) - 1, len(before))])[0]


def verified_quotes(fact: ExtractedFact, read: ExtractionRequest, by_index: dict[int, Message]) -> tuple[Quote, ...]:
    """Return the quotes of a fact that really stand in what a model `read`, as the messages have
    them; where it read a part of a message, with their place in the whole."""
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
    """Tell whether `statement` names somebody or something that nobody named in `messages`: then
    its quotes may stand in the text, but what it says does not."""
    # A model may reckon a day out of "yesterday".
    texts = " ".join(
        f"{message.speaker} {message.readable} {message.occurred_at:%A %d %B %Y}{_DAYS}" for message in messages
    ).lower()
    words = (word for name in read_clause.names(statement) for word in _word.findall(name))
    return any(word.lower() not in texts for word in words)


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Return the place of `quote` in `text`, or None; any run of blanks counts as one."""
    said = " ".join(quote.split())
    if not said:
        return None
    start = " ".join(text.split()).find(said)
    if start < 0:
        return None
    return _place(text, start), _place(text, start + len(said) - 1) + 1


def _place(text: str, place: int) -> int:
    """Return where in `text` the character is that has `place` when runs of blanks count as one."""
    for word in _written.finditer(text):
        if place < len(word[0]):
            return word.start() + place
        place -= len(word[0]) + 1
    raise IndexError(place)
