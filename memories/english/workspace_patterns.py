"""Patterns that a workspace adds itself: tried on sentences, compiled by RE2.

Where one reads the same words as the library, it counts: who adds it knows better than we do.
"""

import re
import string
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice, takewhile
from typing import Any

from memories.bounds import Budget
from memories.english import clauses, pasted_text, person, read_clause
from memories.english.calendar import DateOrder
from memories.english.clauses import Clause
from memories.english.dates import event_date
from memories.english.patterns.pattern import FACT_TYPES, Found
from memories.expressions import Fault, compiled, regex_faults

SPEAKER = "speaker"
RULE = "workspace:"
# "Tom's badge number is 88" tells nothing of who says so
_of_others = re.compile(
    r"(?:\b(?-i:[A-Z])[\w-]+['’]s|\b(?:his|her|their|your|my [\w-]+['’]s)) (?:[\w-]+ ){0,2}$",
    re.IGNORECASE,
)
_someone, _day = "Alex", datetime(2026, 1, 5, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """`regex` is RE2's syntax and is searched in one sentence, whatever its case. `template` is
    the statement over the named groups and `{speaker}`; empty: the sentence in the third person.
    `visibility` empty: the category's.
    """

    name: str
    category: str
    regex: str
    template: str = ""
    confidence: float = 0.8
    visibility: str = ""


def find(pattern: OwnPattern, text: str, speaker: str, at: datetime) -> list[Found]:
    """What `pattern` finds in `text`: at most one claim in a sentence, none in a
    question, a supposition, or the words of somebody else. It stands on the clauses that it
    matched; one that tells the sentence, on the whole of it."""
    return list(_found_in(_Said(text, speaker.strip() or "User", at), pattern, Budget()))


@dataclass(frozen=True)
class _Said:
    """A text as all patterns read it: cut once."""

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
    """The clauses of the sentence that hold what was matched; all of it where none begins there."""
    start, end = span[0] + match.start(), span[0] + match.end()
    own = takewhile(lambda clause: clause.start < end, said.parts_from(span[0]))
    held = [clause for clause in own if start < clause.end]
    if not held:
        return span
    return max(span[0], min(start, held[0].start)), min(span[1], max(end, held[-1].end))


def _parts(pattern: OwnPattern, match: Any) -> Iterator[tuple[int, int]]:
    """Where each part that the statement names begins; where it names none, the whole match."""
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
    """What the library `found` in a text, and before it what own patterns do: one claim of them in
    a clause, the first by its place in the list. Of the library's, those go that say the same or
    are read from the clause in which all that the own one tells stands; no other is lost.
    Sentences are read as long as the `budget` lasts."""
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
    """What the library found and no own pattern did."""
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
    groups = {
        group: person.third_person(words or "", name) for group, words in match.groupdict().items()
    }
    filled = template.format(**{**groups, SPEAKER: name})
    return " ".join(filled.split()).rstrip(" .,;!")


def faults(
    pattern: OwnPattern, examples: Sequence[str], counter_examples: Sequence[str]
) -> list[Fault]:
    """Why a pattern cannot be used, or does not do what its examples say; [] for a good one."""
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


def _example_faults(
    pattern: OwnPattern, examples: Sequence[str], counter_examples: Sequence[str]
) -> Iterator[Fault]:
    if not examples:
        yield Fault("examples", "Give at least one text that it must match.")
    for text in examples:
        if not find(pattern, text, _someone, _day):
            yield Fault("examples", f"It does not match: {text}")
    for text in counter_examples:
        if find(pattern, text, _someone, _day):
            yield Fault("counter_examples", f"It matches: {text}")
