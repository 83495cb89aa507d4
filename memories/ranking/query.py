"""What a query asks for, read from its own words and from who speaks in the conversations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memories import languages
from memories.english.calendar_dates import DateOrder
from memories.english.dates import spans
from memories.english.lexical import STOP_WORDS, stems
from memories.english.time_spans import Span
from memories.ranking.message_marks import Mark

# words that only carry the form of a question: nothing is found by them
_question_words = """
    what which who whom whose when where why how many much long often old kind type sort name
    list tell give find say said mention mentioned describe according happen happened likely
    would could might may shall
"""
_form = frozenset(stems(_question_words)) | STOP_WORDS
# words of somebody who asks about the talk itself, not of what it was about
_talk_words = """
    can please provide give clear comprehensive complete detailed brief summary summaries summarize
    overview recap list walk order brought bring aspects different various
    conversation conversations discussion discussions discuss discussed session sessions
    throughout across mention only items
    item everything covered two three four five six seven eight nine ten time far
"""
_talk = frozenset(stems(_talk_words))
_overview = re.compile(r"\b(?:summar(?:y|ies|i[sz]e\w*)|overview|recap\w*)\b", re.IGNORECASE)
_order = re.compile(r"\b(?:what|the|in|which) order\b", re.IGNORECASE)
_many = re.compile(
    r"\bhow many\b|\bdifferent\b|\b(?:throughout|across) (?:all|my|our|the|these|those)\b"
    r"|\bwhat (?:\w+ ){0,2}\w+s (?:has|have|had|did|does|do|are|were)\b|\bwhich \w+s\b",
    re.IGNORECASE,
)
_number = re.compile(r"\bhow (?:many|much|often|old)\b", re.IGNORECASE)
_where = re.compile(r"\bwhere\b|\b(?:countr|cit)(?:y|ies)\b|\b(?:state|place)s?\b", re.IGNORECASE)
_when = re.compile(
    r"^\s*(?:when|how long|what time|in (?:what|which) (?:month|year))\b"
    r"|\b(?:what|which) (?:date|day|month|year)\b",
    re.IGNORECASE,
)
_told = re.compile(
    r"\bdid you\b|\byou (?:said|told|recommended|suggested|mentioned|explained|gave|proposed"
    r"|advised|wrote|listed)\b",
    re.IGNORECASE,
)
_asked = ((_when, Mark.TIME), (_number, Mark.NUMBER), (_where, Mark.PLACE))
_sentence_end = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_roles = "user assistant system human ai bot agent tool me model customer"
_nobody = frozenset(_roles.split())
# names that are words as well: meant as names only with a capital and not at the beginning
_ambiguous = """
    art bill chase drew faith frank grace hope jack joy mark may miles page pat ray rob rose sky
    sue summer will
"""
_also_words = frozenset(_ambiguous.split())
_turn_from, _turn_to = 4, 20  # words outside of questions
_half_a_turn = 0.5


class Participant(NamedTuple):
    """Somebody who speaks in the conversations that are searched, and how many messages."""

    author: str
    assistant: bool
    messages: int


@dataclass(frozen=True, slots=True)
class QueryView:
    """A query as the rankings see it.

    `meaning` is the text to embed and `terms` the distinct stems to look up, in order of
    appearance. Names of people who speak there are in neither, for what they said does not hold
    them; `names` are the stems of these, to be looked up too where statements carry the name.
    `named` is the author whom the query names, if it names one alone. `kind` holds the marks that
    an answer carries. `asks_many`: the answer lies in several places; `asks_overview`: in what
    both sides said there. `turn` is 0 for a question
    or a few keywords and grows to 1 for the next message of a conversation, which wants its
    context rather than an answer. `among_people`: people talk with each other, not with an
    assistant.
    """

    text: str
    meaning: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    named: str | None
    dates: tuple[Span, ...]
    kind: Mark
    asks_many: bool
    asks_overview: bool
    asks_assistant: bool
    turn: float
    among_people: bool

    @property
    def looks_far(self) -> bool:
        """Whether who said it, or when, may count for more than its words and its meaning."""
        return self.among_people or bool(self.named or self.dates)


def analyse(
    query: str,
    participants: Sequence[Participant] = (),
    *,
    now: datetime | None = None,
    order: DateOrder = "auto",
    beside: Sequence[str] = (),
) -> QueryView:
    """Reads a query. `now` grounds "last week"; without it only absolute dates count. `order` is
    that of day and month in numbers, `beside` the languages that are read beside English."""
    people = [
        p for p in participants if p.author and not (p.assistant or p.author.casefold() in _nobody)
    ]
    named = {p.author: words for p in people if (words := _names_in(query, p.author))}
    meaning = _without(query, [word for words in named.values() for word in words])
    overview, turn = bool(_overview.search(query)), _turn(query)
    in_all = overview or bool(_order.search(query))
    if in_all:  # without the words about the talk itself, unless nothing else is left
        rest = " ".join(word for word in meaning.split() if _talk.isdisjoint(stems(word)))
        meaning = rest if stems(rest) else meaning
    distinct = tuple(dict.fromkeys(stems(meaning)))
    spoken, total = (sum(p.messages for p in some) for some in (people, participants))
    return QueryView(
        text=query,
        meaning=meaning,
        terms=tuple(stem for stem in distinct if stem not in _form) or distinct,
        names=tuple(dict.fromkeys(stems(" ".join(w for words in named.values() for w in words)))),
        named=next(iter(named)) if len(named) == 1 else None,
        dates=_dates(query, now if turn < _half_a_turn else None, order, beside),
        kind=Mark(sum(mark for pattern, mark in _asked if pattern.search(query))),
        asks_many=turn < _half_a_turn and (in_all or bool(_many.search(query))),
        asks_overview=overview,
        asks_assistant=bool(_told.search(query)),
        turn=turn,
        among_people=len(people) > 1 and spoken >= 0.9 * total,
    )


def _dates(
    query: str, now: datetime | None, order: DateOrder, beside: Sequence[str]
) -> tuple[Span, ...]:
    """The dates that the query names; a year alone counts only where nothing finer is named."""
    named = spans(query, now, order)
    named += languages.spans(query, now, beside) if now else []
    finer = [span for span in named if span.grain != "year" or span.is_relative]
    return tuple(dict.fromkeys(finer or named))


def _names_in(query: str, name: str) -> list[str]:
    found = []
    for word in name.split():
        form = rf"(?i:\b{re.escape(word)}\b)"
        if word.casefold() in _also_words or word.casefold() in STOP_WORDS:
            form = rf"(?<=\w ){re.escape(word)}\b"
        if len(word) > 1 and re.search(form, query):
            found.append(word)
    return found


def _without(query: str, words: Sequence[str]) -> str:
    rest = query
    for word in words:
        rest = re.sub(rf"\b{re.escape(word)}\b(?:['’]s\b)?", " ", rest, flags=re.IGNORECASE)
    rest = " ".join(rest.split())
    return rest if stems(rest) else query


def _turn(query: str) -> float:
    said = [s for s in _sentence_end.split(query) if not s.rstrip().endswith(("?", "？"))]
    words = sum(len(s.split()) for s in said)
    return min(1.0, max(0.0, (words - _turn_from) / (_turn_to - _turn_from)))
