"""Patterns that a workspace adds: tried on sentences, compiled by RE2; and a pattern to begin with,
made from a sentence.

If one reads the same words as the library, it counts: those who add it know better than we do.
"""

import re
import string
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice, takewhile
from typing import Any

from memories.language.bounds import Budget
from memories.language.english import clauses, pasted_text, person, read_clause, verbs
from memories.language.english.calendar import DateOrder
from memories.language.english.clauses import Clause
from memories.language.english.dates import event_date
from memories.language.english.patterns.pattern import FACT_TYPES, Found
from memories.language.expressions import Fault, compiled, regex_faults

SPEAKER = "speaker"
RULE = "workspace:"
# "Tom's badge number is 88" tells nothing of who says so
_of_others = re.compile(
    r"(?:\b(?-i:[A-Z])[\w-]+['’]s|\b(?:his|her|their|your|my [\w-]+['’]s)) (?:[\w-]+ ){0,2}$", re.IGNORECASE
)
_someone, _day = "Alex", datetime(2026, 1, 5, tzinfo=UTC)


LONGEST_SHAPE = 120


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A pattern of a workspace. `regex` is RE2's syntax and is searched in one sentence, regardless
    of case. `template` is the statement over the named groups and `{speaker}`; empty: the sentence
    in the third person. `visibility` empty: the category's."""

    name: str
    category: str
    regex: str
    template: str = ""
    confidence: float = 0.8
    visibility: str = ""


def find(pattern: OwnPattern, text: str, speaker: str, at: datetime) -> list[Found]:
    """Return the claims that `pattern` finds in `text`: at most one in a sentence, none in a
    question, a supposition, or the words of somebody else. A claim stands on the clauses that it
    matched; one that tells the sentence, on the whole of it."""
    return list(_found_in(_Said(text, speaker.strip() or "User", at), pattern, Budget()))


@dataclass(frozen=True)
class _Said:
    """A text as all patterns read it, cut only once."""

    text: str
    name: str
    at: datetime
    order: DateOrder = "auto"

    @cached_property
    def sentences(self) -> Sequence[tuple[int, int]]:
        return tuple(clauses.sentences(self.text))

    @cached_property
    def parts(self) -> Sequence[Clause]:
        return clauses.of_text(self.text)

    def parts_from(self, start: int) -> Iterator[Clause]:
        first = bisect_left(self.parts, start, key=lambda clause: clause.start)
        return islice(self.parts, first, None)


def _found_in(said: _Said, pattern: OwnPattern, budget: Budget) -> Iterator[Found]:
    for span in said.sentences:
        if not budget.lasts():
            return
        if found := _found(pattern, said, span):
            yield found


def _found(pattern: OwnPattern, said: _Said, span: tuple[int, int]) -> Found | None:
    text, name, at = said.text, said.name, said.at
    sentence = text[slice(*span)]
    words = read_clause.plain(sentence)
    if sentence.rstrip("\"'”’)*_").endswith("?") or read_clause.is_supposed(words):
        return None
    match = None if read_clause.is_for_others(words) else compiled(pattern.regex).search(sentence)
    if match and pasted_text.is_quoted(sentence, match.start()):
        return None
    if match and SPEAKER in pattern.template and _of_others.search(sentence[: match.start()]):
        return None
    statement = _statement(pattern.template, match, name) if match else ""
    if not match or not statement:
        return None
    start, end = _cited(said, span, match) if pattern.template else span
    return Found(
        statement=statement,
        category=pattern.category,
        fact_type=FACT_TYPES[pattern.category],
        confidence=pattern.confidence,
        rule=f"{RULE}{pattern.name}",
        entities=tuple(read_clause.names(sentence)),
        event_date=event_date(text[start:end], at, said.order),
        start=start,
        end=end,
        parts=tuple((span[0] + start, span[0] + end) for start, end in _parts(pattern, match)),
    )


def _cited(said: _Said, span: tuple[int, int], match: Any) -> tuple[int, int]:
    """Return the place of the sentence's clauses that hold the match; all of it if no clause
    does."""
    start, end = span[0] + match.start(), span[0] + match.end()
    own = takewhile(lambda clause: clause.start < end, said.parts_from(span[0]))
    held = [clause for clause in own if start < clause.end]
    if not held:
        return span
    return max(span[0], min(start, held[0].start)), min(span[1], max(end, held[-1].end))


def _parts(pattern: OwnPattern, match: Any) -> Iterator[tuple[int, int]]:
    """Yield the beginning of each part that the statement names; if it names none, the whole
    match."""
    named = [name for _, name, _, _ in string.Formatter().parse(pattern.template)]
    groups = compiled(pattern.regex).groupindex
    begins = [match.start(groups[name]) for name in named if name in groups and match[name]]
    yield from [(start, start + 1) for start in begins] or [match.span()]


def with_library(
    found: Sequence[Found],
    own_patterns: Sequence[OwnPattern],
    text: str,
    speaker: str,
    at: datetime,
    budget: Budget | None = None,
    order: DateOrder = "auto",
) -> list[Found]:
    """Return what the library `found` in a text, and before it what the workspace's patterns find:
    at most one claim in a clause, by the first of them. A library's claim is dropped if it says the
    same, or if all that such a pattern tells stands in its clause; no other is lost. Sentences are
    read as long as the `budget` lasts."""
    hits: list[Found] = []
    taken: list[tuple[int, int]] = []  # in order
    said, budget = _Said(text, speaker.strip() or "User", at, order), budget or Budget()
    for pattern in own_patterns:
        for hit in _found_in(said, pattern, budget):
            place = bisect_left(taken, (hit.start, hit.end))
            around = taken[max(0, place - 1) : place + 1]
            if not any(hit.start < end and start < hit.end for start, end in around):
                taken.insert(place, (hit.start, hit.end))
                hits.append(hit)
    return [*hits, *_left(found, hits)]


def _left(found: Sequence[Found], hits: Sequence[Found]) -> Iterator[Found]:
    """Yield what the library found that no pattern of the workspace replaces."""
    said = {hit.statement.lower() for hit in hits}
    parts = sorted((min(hit.parts)[0], max(end for _, end in hit.parts)) for hit in hits)
    for each in found:
        first, last = (bisect_left(parts, (place, 0)) for place in (each.start, each.end))
        is_replaced = any(end <= each.end for _, end in parts[first:last])
        if each.statement.lower() not in said and not is_replaced:
            yield each


def _statement(template: str, match: Any, name: str) -> str:
    if not template:
        return person.third_person(match.string.rstrip(" .!,;"), name)
    groups = {group: person.third_person(words or "", name) for group, words in match.groupdict().items()}
    filled = template.format(**{**groups, SPEAKER: name})
    return " ".join(filled.split()).rstrip(" .,;!")


def faults(pattern: OwnPattern, examples: Sequence[str], counter_examples: Sequence[str]) -> list[Fault]:
    """Return the reasons why a pattern cannot be used, or does not do what its examples say; [] for
    a good one."""
    if wrong := regex_faults(pattern.regex):
        return wrong
    if wrong := list(_template_faults(pattern.template, compiled(pattern.regex))):
        return wrong
    return list(_example_faults(pattern, examples, counter_examples))


def _template_faults(template: str, expression: Any) -> Iterator[Fault]:
    known = {SPEAKER, *expression.groupindex}
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        yield Fault("template", f"{error}.")
        return
    for _, name, form, conversion in parts:
        if name is not None and (name not in known or form or conversion):
            yield Fault("template", f"There is no group {{{name}}}: {', '.join(sorted(known))}.")


def _example_faults(pattern: OwnPattern, examples: Sequence[str], counter_examples: Sequence[str]) -> Iterator[Fault]:
    if not examples:
        yield Fault("examples", "Give at least one text that it must match.")
    for text in examples:
        if not find(pattern, text, _someone, _day):
            yield Fault("examples", f"It does not match: {text}")
    for text in counter_examples:
        if find(pattern, text, _someone, _day):
            yield Fault("counter_examples", f"It matches: {text}")


# A pattern to begin with, made of one sentence and what somebody found in it.
#
# Words that would differ in another message of the kind (names, numbers, words behind an article
# or a preposition) become named parts; the frame around them stays.

_words = re.compile(r"[$€£]?\d[\d.,:%]*|[\w]+(?:['’-]\w+)*|[^\w\s]")
_segment = re.compile(r"(?:(?<!\s)\s++)?[,:;–—!?]\s+")
_number = re.compile(r"[$€£]?\d")
_determiners = "the a an this that these those some any no my our your his her their its each every another"
_prepositions = "in on at to for of by with from about into over under near after before since until during without through between as"
_others = (
    "i we you he she it they me us him them and or but because if when while than so then not there here who which what where"
    " just now still also always never really very too all both finally recently already only ever"
)
_auxiliary_text = """
    am is are was were be been has have had do does did will would can could should must may might
    isn't aren't wasn't weren't don't doesn't didn't won't can't
"""
_determining = frozenset(_determiners.split())
_before_things = frozenset(_prepositions.split()) | _determining
_auxiliary = frozenset(_auxiliary_text.split())
_function = _before_things | frozenset(_others.split()) | _auxiliary
_speaker = re.compile(r"(?:[A-Z][\w-]+ ?){1,2}(?=['’]s\b|\b)")
_part = {"number": r"[$€£]?\d[\d.,:%]*", "words": r"[^\s,.;:!?]+(?: [^\s,.;:!?]+){0,3}"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed pattern; `shape` recognises similar sentences: their frame up to the verb, "…" for
    what differs."""

    sentence: str
    regex: str
    template: str
    shape: str


@dataclass(slots=True)
class _Piece:
    """Neighbouring words of a sentence: part of the frame, or (with a `slot`) what varies in it."""

    words: list[str]
    slot: str = ""

    @property
    def text(self) -> str:
        return " ".join(self.words)


def proposal(text: str, statements: Sequence[str]) -> Proposal:
    """Propose a pattern for the one of `statements` that is most like `text`, and others like
    it."""
    sentence, statement = _telling(text, statements)
    pieces = _narrowed(_pieces(_words.findall(sentence)), statement)
    counts: Counter[str] = Counter()
    for piece in pieces:
        if piece.slot:  # each slot with a name of its own
            of_word = "name" if piece.words[0][0].isupper() else "what"
            name = "number" if piece.slot == "number" else of_word
            counts[name] += 1
            piece.slot = name if counts[name] == 1 else f"{name}{counts[name]}"
    # The frame needs a word of its own: "the … is …" would fit everything.
    if not any(_content(piece.text) for piece in pieces if not piece.slot):
        first = next((piece for piece in pieces if piece.slot), None)  # "the varnish is …"
        pieces = [_Piece(piece.words) if piece is first else piece for piece in pieces]
    # The pieces as one expression: a blank between words, any or none beside a sign.
    told, was_sign = r"\b", True
    atoms: list[tuple[str, bool]] = []
    for piece in pieces:
        if piece.slot:
            kind = "number" if piece.slot.startswith("number") else "words"
            atoms.append((f"(?P<{piece.slot}>{_part[kind]})", False))
        else:
            atoms += [(_literal(word), not word[0].isalnum()) for word in piece.words]
    for words, is_sign in atoms:
        between = "" if told == r"\b" else r"\s*" if is_sign or was_sign else " "
        told, was_sign = f"{told}{between}{words}", is_sign
    regex = told
    if regex_faults(regex) or compiled(regex).search(sentence) is None:  # signs between words that no part allows for
        return Proposal(sentence, _literal(sentence), "", shape(sentence))
    return Proposal(sentence, regex, _template(statement, sentence, pieces), shape(sentence))


def shape(sentence: str) -> str:
    """Return the frame of `sentence` up to its verb, in lower case: "my … needs …"."""
    shapes = [told for part in _segment.split(sentence) if (told := _shape(_words.findall(part)))]
    telling = [told for told in shapes if told.count(" ") > 1]  # not "well …"
    return next(iter(telling or shapes), "")[:LONGEST_SHAPE]


def _shape(words: Sequence[str]) -> str:
    told: list[str] = []
    for piece in _pieces(words):
        if piece.slot:
            told.append("…")
            continue
        for word in piece.words:
            told.append(word.lower())
            if word.lower() in _auxiliary or word.lower() not in _function:
                return " ".join([*told, "…"])
    return " ".join(told)


def shape_of(text: str, statements: Sequence[str]) -> str:
    """Return the shape of the sentence of `text` in which `statements` stand."""
    return shape(_telling(text, statements)[0])


def _telling(text: str, statements: Sequence[str]) -> tuple[str, str]:
    """Return the sentence and the statement that share most; of equals the longest that is no
    question."""
    sentences = [text[start:end] for start, end in clauses.sentences(text)] or [text.strip()[: clauses.LONGEST]]
    said = [(sentence, _content(sentence)) for sentence in sentences]
    found = [
        (len(words & t), s) for s, t in zip(statements, map(_content, statements), strict=True) for _, words in said
    ]
    statement = max(found, key=lambda pair: pair[0], default=(0, ""))[1]
    told = _content(statement)
    best, _ = max(said, key=lambda one: (len(one[1] & told), not one[0].endswith("?"), len(one[0])))
    return best.rstrip(" .!…"), statement.rstrip(" .!")


def _content(text: str) -> set[str]:
    return {word for word in _words.findall(text.lower()) if word not in _function and word[0].isalnum()}


def _pieces(words: Sequence[str]) -> list[_Piece]:
    """Cut `words` into the frame and what varies."""
    pieces: list[_Piece] = []
    has_verb = False
    for number, word in enumerate(words):
        before = words[number - 1].lower() if number else ""
        slot = _kind(word, before, pieces[-1] if pieces else None, has_verb)
        # A sign ends what stood before: "Well, my canoe" has no verb yet.
        is_verb = word.lower() in _auxiliary or word.lower() not in _function
        has_verb = word[0].isalnum() and (has_verb or (not slot and is_verb))
        if pieces and pieces[-1].slot == slot:
            pieces[-1].words.append(word)
        else:
            pieces.append(_Piece([word], slot))
    return pieces


def _kind(word: str, before: str, last: _Piece | None, has_verb: bool) -> str:
    """Return the kind of slot that `word` belongs to; empty if it belongs to the frame."""
    small = word.lower()
    if _number.match(word):
        return "number"
    if small in _function or not word[0].isalnum():
        return ""
    if before in _before_things or (word[0].isupper() and before):
        return "words"
    is_going_on = last is not None and last.slot == "words"
    # "my canoe leaks": behind the subject comes its verb
    is_verb = not has_verb and (verbs.may_be_past(small) or (small.endswith("s") and len(small) > 3))
    follows_number = last is not None and last.slot == "number"
    return "words" if follows_number or (is_going_on and not is_verb) else ""


def _narrowed(pieces: list[_Piece], statement: str) -> list[_Piece]:
    """Narrow what varies to what the statement repeats, so that its template can name it."""
    kept: list[_Piece] = []
    for piece in pieces:
        # The longest run of its words that stands in the statement.
        size = len(piece.words) if piece.slot == "words" else 0
        spans = [(a, b) for a in range(size) for b in range(a + 1, size + 1)]
        longest = sorted(spans, key=lambda span: span[0] - span[1])
        stands = (s for s in longest if _place(" ".join(piece.words[slice(*s)])).search(statement))
        place = next(stands, None)
        if place is None:
            kept.append(piece)
            continue
        start, end = place
        parts = (_Piece(piece.words[:start]), _Piece(piece.words[start:end], "words"), _Piece(piece.words[end:]))
        kept += [part for part in parts if part.words]
    return kept


def _place(said: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(said)}(?!\w)", re.IGNORECASE)


def _literal(words: str) -> str:
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", words)


def _template(statement: str, sentence: str, pieces: Sequence[_Piece]) -> str:
    """Return `statement` with the speaker and the slots in place of their words; empty if it names
    nothing of the sentence."""
    told = statement.replace("{", "{{").replace("}", "}}")
    speaker = _speaker.match(told)
    if speaker and speaker[0].strip().lower() not in sentence.lower():
        told = f"{{{SPEAKER}}}{' ' if speaker[0].endswith(' ') else ''}{told[speaker.end() :]}"
    for piece in pieces:
        if piece.slot:
            told = _place(piece.text).sub(f"{{{piece.slot}}}", told, count=1)
    return told if "{" in told.replace("{{", "") else ""
