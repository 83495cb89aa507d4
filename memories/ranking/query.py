"""Analysis of a query: what it asks for, read from its own words and from who speaks in the
conversations. Questions that name several things, or a time by what happened then ("before the
move", "which came first"), are split so that each part is looked up by itself."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import NamedTuple

from memories.language.english.calendar import DateOrder, Span, later, midnight
from memories.language.english.dates import places, spans
from memories.language.english.lexical import STOP_WORDS, stems
from memories.ranking.message_marks import Mark

LONGEST = 300  # characters of a query that is read so
_sides = {"before": True, "until": True, "after": False, "since": False, "following": False}
_near = ("right", "just", "shortly", "soon", "immediately")
_first = ("first", "earlier", "sooner")
_bare = STOP_WORDS | frozenset(stems("that this all then now it everything happen time"))


_roles = "user assistant system human ai bot agent tool me model customer"
# Names that say what somebody is in a talk, and not who.
SPEAKER_ROLES = frozenset(_roles.split())
MOST = 24  # stretches


@dataclass(frozen=True, slots=True)
class EventQuestion:
    """`about`: what is asked, of the time before (or after) `event`; of two events, `about` is
    empty and both stand in `events`. `is_near`: right before or after."""

    events: tuple[str, ...]
    about: str = ""
    is_before: bool = False
    is_near: bool = False


def event_question(query: str, now: datetime | None = None, order: DateOrder = "auto") -> EventQuestion | None:
    """Split a question about events; None where no event is named, or a date is."""
    text = " ".join(query.split()).rstrip("?.! ")
    if len(text) > LONGEST or spans(text, now, order):
        return None
    return _of_two(text) or _of_one(text)


def _of_one(text: str) -> EventQuestion | None:
    """ "What did I do before the move", "After the move, where did I live"."""
    words = text.split(" ")
    bare = [word.strip(",").lower() for word in words]
    for place, word in enumerate(bare):
        if word not in _sides:
            continue
        is_near = place > 0 and bare[place - 1] in _near
        about = " ".join(words[: place - is_near])
        event = " ".join(words[place + 1 :])
        if not about:
            event, _, about = event.partition(", ")
        if _tells(event) and about and about.lower() != "how long":
            # A question that asks only for what happened then means the time right next to it.
            return EventQuestion((event,), about, _sides[word], is_near or not _tells(about))
    return None


def _of_two(text: str) -> EventQuestion | None:
    """ "How long between the fire and the move", "Which came first, the fire or the move"."""
    lower = text.lower()
    if (place := lower.find("between ")) >= 0:
        return _both(text[place + len("between ") :], " and ")
    if " or " in lower and not set(_first).isdisjoint(lower.replace(",", " ").split(" ")):
        parts = text.rpartition(", ")[2] if ", " in text else text
        kept = [word for word in parts.split(" ") if word.lower() not in _first]
        return _both(" ".join(kept), " or ")
    if lower.startswith("how long after "):
        return _both(text[len("how long after ") :], " did ")
    return None


def _both(text: str, apart: str) -> EventQuestion | None:
    one, _, other = text.partition(apart)
    both = (one.strip(" ,"), other.strip(" ,"))
    return EventQuestion(both) if all(map(_tells, both)) else None


def _tells(part: str) -> bool:
    """Tell whether it has a word that something can be found by."""
    return any(stem not in _bare for stem in stems(part))


# words that only carry the form of a question: nothing is found by them
_question_words = """
    what which who whom whose when where why how many much long often old
    tell give find say said mention mentioned describe according happen happened likely
    would could might may shall
"""
_form = frozenset(stems(_question_words)) | STOP_WORDS
# words that more often ask for the form of an answer than stand in one: looked up where hardly
# another one is
_weak = frozenset(stems("kind type sort name list"))
_hardly = 2
# words of a question that asks for whatever happened, and names nothing
_whatever = _form | frozenset(
    stems("do happen go get up on experience busy spend recap summary summarize overview remember")
)
# words of somebody who asks about the talk itself, not of what it was about
_talk_words = """
    can please provide give clear comprehensive complete detailed brief summary summaries summarize
    overview recap list walk order brought bring aspects different various
    conversation conversations discussion discussions discuss discussed session sessions
    throughout across mention only items
    item everything covered two three four five six seven eight nine ten time far
"""
_talk = frozenset(stems(_talk_words))
# of a turn that goes on with what was said
_idle = frozenset(
    stems(
        "ok okay go on continue more yes no yeah sure right really exactly then else well please"
        " thanks thank tell me about so anything something it that this too again next and"
    )
)
_longest_nothing = 60  # characters
_overview = re.compile(r"\b(?:summar(?:y|ies|i[sz]e\w*)|overview|recap\w*)\b", re.IGNORECASE)
_order = re.compile(r"\b(?:what|the|in|which) order\b", re.IGNORECASE)
_in_time = re.compile(
    r"\b(?:what|which|the) order\b|(?<!things )(?<!affairs )(?<!papers )\bin order\b(?! to\b)"
    r"|\bchronological\w*|\btimeline\b|\b(?:over|through) time\b|\bstory of\b|\bstep by step\b"
    r"|\bfrom (?:the (?:beginning|start)|oldest to newest|first to last)\b|\bwalk me through\b"
    r"|\b(?:history of|outline) (?:my|our|the|his|her|their)\b|\bsequence of events\b"
    r"|\b(?:which|what) (?:came|happened|was|did .{1,60}) first\b"
    r"|\bwhat (?:happened (?:after|before|next)|led to)\b"
    r"|\bhow (?:did|has|have)\b.{1,200}\b(?:chang|evol|develop|progress|gr[eo]w)\w*",
    re.IGNORECASE,
)
_of_past = re.compile(
    r"\b(?:was|were|did|had|been|used to|before|previous(?:ly)?|former(?:ly)?|earlier|once|original(?:ly)?|first"
    r"|past|histor\w+|until|till|ago|back then|chang\w+|mov\w+|switch\w*|replac\w+|no longer|any ?more|old"
    r"|since|last|[12]\d{3})\b",
    re.IGNORECASE,
)
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
_help = re.compile(
    r"\b(?:can|could|would|will) you\b|\bhow (?:do|can|should|could|would|might|to)\b"
    r"|\bshould (?:I|we)\b|\bwhat (?:are|is) (?:some|the (?:best|different))\b"
    r"|\b(?:suggest|recommend|help me)\b",
    re.IGNORECASE,
)
# Questions about what was said or done.
_past = re.compile(
    r"\b(?:did|have|has|had|was|were) (?:I|we|you)\b|\b(?:tell|remind) me\b"
    r"|\b(?:I|we|you) (?:(?!need)\w+ed|said|told|brought|did)\b"
    r"|\bour (?:conversation|chat|discussion|session)s?\b",
    re.IGNORECASE,
)
_asked = ((_when, Mark.TIME), (_number, Mark.NUMBER), (_where, Mark.PLACE))
_sentence_end = re.compile(r"(?<=[.!?。！？])\s+|\n+")
# names that are words as well: meant as names only with a capital and not at the beginning
_ambiguous = """
    art bill chase drew faith frank grace hope jack joy mark may miles page pat ray rob rose sky
    sue summer will
"""
_also_words = frozenset(_ambiguous.split())
_turn_from, _turn_to = 4, 20  # words outside of questions
_half_a_turn = 0.5
# Among so many voices a person who is named is more often spoken of than speaking.
_many_voices = 3.0


_asks = re.compile(
    r"(?:(?:as of|for|in|at) [^,]{1,60}, )?(?:please )?(?:(?:can|could|would) you )?"
    r"(?:what|which|who|where|when|how"
    r"|give|list|name|recap|remind|show|summari[sz]e|tell|walk)\b",
    re.IGNORECASE,
)
_parts = re.compile(r"[,;] (?:and |or )?|: ")
_name = re.compile(r"(?<= )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_no_thing = _form | _talk | frozenset(stems("current currently now safe right"))
_several, _at_most = 3, 6


def listed(query: str) -> list[str]:
    """The things that a question lists, each with the names that stand in it ("What are the date,
    the budget and the room of Otter?"): three to six; none where it asks for less."""
    text = " ".join(query.split()).rstrip("?.! ")
    one_sentence = len(text) <= LONGEST and not _sentence_end.search(text)
    if not one_sentence or not _asks.match(text) or spans(text, None):
        return []
    *parts, last = _parts.split(text)
    parts += [last] if re.search(r"[,;] (?:and|or) [^,;]+$", text) else last.rsplit(" and ", 1)
    names = list(dict.fromkeys(_name.findall(text)))
    no_thing = _no_thing.union(stems(" ".join(names)))
    things = [
        " ".join([part, *(name for name in names if name not in part)])
        for part in parts
        if not no_thing.issuperset(stems(part))
    ]
    return things[:_at_most] if len(things) >= _several else []


class Participant(NamedTuple):
    """Somebody who speaks in the conversations that are searched, and how many messages."""

    author: str
    assistant: bool
    messages: int


def voices_of(participants: Sequence[Participant]) -> float:
    """Estimate how many people hold a talk, as if each of them said as much: 1 where one speaks
    with an assistant, 2 of two friends; 0 where nobody but an assistant speaks."""
    spoken = [p.messages for p in participants if not p.assistant]
    squares = sum(number * number for number in spoken)
    return sum(spoken) ** 2 / squares if squares else 0.0


class EventSide(NamedTuple):
    """Before or after `at`, in seconds since 1970; `is_near`: the nearer, the better. `of_event`:
    that is when something happened, and no date that the query names."""

    at: float
    is_before: bool
    is_near: bool
    of_event: bool = False


@dataclass(frozen=True, slots=True)
class QueryView:
    """A query as the rankings see it.

    `meaning` is the text to embed and `terms` the distinct stems to look up, in order of
    appearance. Names of people who speak there are in neither, for what they said does not hold
    them, unless many voices speak of each other; `names` are the stems of these, to be looked up
    too where statements carry the name.
    `named` is the author whom the query names, if it names one alone. `kind` holds the marks that
    an answer carries. `asks_many`: the answer lies in several places; `asks_overview`: in what
    both sides said there. `asks_help`: the assistant shall do or explain something, for which the
    person's standing instructions hold. `turn` is 0 for a question
    or a few keywords and grows to 1 for the next message of a conversation, which wants its
    context rather than an answer. `voices` is how many people hold the talk that is searched.
    `side`: what is asked is before or after something that happened. `asks_whatever`: it asks for
    all that there is of the dates, and names nothing else. `told` are the ids of memories that
    tell the very attribute that is asked for.
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
    asks_help: bool
    turn: float
    voices: float
    side: EventSide | None = None
    asks_whatever: bool = False
    told: frozenset[bytes] = frozenset()

    @property
    def among(self) -> float:
        """From 0, where one person speaks with an assistant, to 1, where people do with each
        other."""
        return min(1.0, max(0.0, 2 * (self.voices - 1)))

    @property
    def among_people(self) -> bool:
        return self.among > 0

    @property
    def told_by_named(self) -> float:
        """The likelihood that the person named in the query is the one who says what is asked for,
        0 to 1."""
        return min(1.0, 2 / self.voices) if self.voices else 1.0

    @property
    def looks_far(self) -> bool:
        """Tell whether the speaker or the time may count for more than its words and its
        meaning."""
        return self.among_people or bool(self.named or self.dates or self.side)


def analyse(
    query: str,
    participants: Sequence[Participant] = (),
    voices: float | None = None,
    *,
    now: datetime | None = None,
    order: DateOrder = "auto",
) -> QueryView:
    """Read a query. `voices` are those of `participants`, if nobody has counted them by talk; `now` grounds "last
    week"; without it only absolute dates count. `order` is that of day and month in numbers."""
    people = [p for p in participants if p.author and not (p.assistant or p.author.casefold() in SPEAKER_ROLES)]
    named = {p.author: words for p in people if (words := _names_in(query, p.author))}
    voices = voices_of(participants) if voices is None else voices
    name_words = [word for words in named.values() for word in words]
    meaning = query if voices > _many_voices else _without(query, name_words)
    overview, turn = bool(_overview.search(query)), _turn(query)
    in_all = overview or bool(_order.search(query))
    if in_all:  # without the words about the talk itself, unless nothing else is left
        rest = " ".join(word for word in meaning.split() if _talk.isdisjoint(stems(word)))
        meaning = rest if stems(rest) else meaning
    distinct = tuple(dict.fromkeys(stems(meaning)))
    found = places(query, now, order)
    in_dates = stems(" ".join(query[first:last] for first, last in found))
    dates = _dates(query, now if turn < _half_a_turn else None, order)
    side = _side_of_date(query, found, dates)
    dates = _until_now(query, found, dates, now)
    whatever = bool(dates) and not side and _whatever.union(in_dates).issuperset(distinct)
    return QueryView(
        text=query,
        meaning=meaning,
        terms=_terms(distinct, {stem for stem in in_dates if stem[0].isdigit()}),
        names=tuple(dict.fromkeys(stems(" ".join(name_words)))),
        named=next(iter(named)) if len(named) == 1 else None,
        dates=() if side else dates,
        side=side,
        kind=Mark(sum(mark for pattern, mark in _asked if pattern.search(query))),
        asks_many=turn < _half_a_turn and (in_all or whatever or bool(_many.search(query))),
        asks_overview=overview,
        asks_assistant=asks_assistant(query),
        asks_help=not in_all and bool(_help.search(query)) and not _past.search(query),
        turn=turn,
        voices=voices,
        asks_whatever=whatever,
    )


def _terms(distinct: Sequence[str], numbers: AbstractSet[str]) -> tuple[str, ...]:
    """Return the telling stems, without words of form and of dates, unless nothing else is left: a
    number in a date is none of a room."""
    telling = [stem for stem in distinct if stem not in _form] or distinct
    telling = [stem for stem in telling if stem not in numbers] or [
        # Only the year of "11/11/2026": texts have it that name no other day by it.
        stem
        for stem in telling
        if len(stem) == _year or not stem.isdigit()
    ]
    strong = [stem for stem in telling if stem not in _weak]
    return tuple(strong if len(strong) >= _hardly else telling)


_year = 4  # digits


def asks_in_time(query: str) -> bool:
    """Tell whether events are asked for in the order in which they happened, as a story is told."""
    return bool(_in_time.search(query) or _overview.search(query))


def asks_of_past(query: str) -> bool:
    """Tell whether what was so before may be meant, too: only a question in the present leaves it
    out."""
    return bool(_of_past.search(query)) or asks_in_time(query)


def asks_assistant(query: str) -> bool:
    """Tell whether the assistant's own words are asked for."""
    return bool(_told.search(query))


def says_nothing(query: str) -> bool:
    """Tell whether it has no content of its own: "And why?", "Go on." and the like."""
    return len(query) <= _longest_nothing and not set(stems(query)) - _form - _idle


def _dates(query: str, now: datetime | None, order: DateOrder) -> tuple[Span, ...]:
    """The dates that the query names; a year alone counts only where nothing finer is named."""
    named = spans(query, now, order)
    finer = [span for span in named if span.grain != "year" or span.is_relative]
    return tuple(dict.fromkeys(finer or named))


_since = re.compile(r"\bsince(?: the)? $", re.IGNORECASE)


def _until_now(
    query: str,
    found: Sequence[tuple[int, int]],
    dates: tuple[Span, ...],
    now: datetime | None,
) -> tuple[Span, ...]:
    """Add the days up to today where the query says "since Monday": it means that day or a later
    one."""
    if not now or len(found) != 1 or len(dates) != 1 or not _since.search(query, 0, found[0][0]):
        return dates
    start, end = dates[0].start, later(midnight(now), days=1)
    return (*dates, Span(start, end, "range", is_relative=True)) if start < end else dates


_side = re.compile(
    r"(?:\b(day|morning|week|right|just|shortly|immediately) )?\b(before|after)(?: the)? $",
    re.IGNORECASE,
)


def _side_of_date(query: str, found: Sequence[tuple[int, int]], dates: Sequence[Span]) -> EventSide | None:
    """The side of the one date that is named, as in "before 2020"; None where there is none."""
    if len(found) != 1 or len(dates) != 1 or dates[0].any_year:
        return None
    match = _side.search(query, 0, found[0][0])
    if not match:
        return None
    is_before = match[2].lower() == "before"
    at = dates[0].start if is_before else dates[0].end
    return EventSide(at.replace(tzinfo=at.tzinfo or UTC).timestamp(), is_before, bool(match[1]))


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


# From when until when a query's dates reach: what is told of then is looked up by it.

AHEAD, BACK = 1, 8  # years around this one in which a day without a year is looked for


def asked_days(dates: Sequence[Span], now: datetime) -> list[tuple[datetime, datetime]]:
    """Return the named days, each from a midnight up to, not including, another one; for a day
    without a year first that of the year that is meant, then those around `now`."""
    found = dict.fromkeys(one for span in dates for one in _stretches(span, now))
    return [(_midnight(first), _midnight(until)) for first, until in islice(found, MOST)]


def _stretches(span: Span, now: datetime) -> Iterator[tuple[date, date]]:
    first = span.first_day
    last = first if span.grain == "part" else span.last_day  # a night's day is its first
    around = range(now.year + AHEAD, now.year - BACK, -1) if span.any_year else ()
    for year in dict.fromkeys((first.year, *around)):
        try:
            begin = first.replace(year=year)
            until = begin + (last - first) + timedelta(days=1)
        except (ValueError, OverflowError):  # the calendar has no such day in that year
            continue
        yield begin, until


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
