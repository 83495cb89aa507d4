"""What a paraphrase may say and what it may not: the words with which a statement may be put though
nobody said them, and what it may not put in other words: numbers, days, addresses, the script."""

import contextlib
import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime

from memories.english.calendar import WEEKDAY, DateOrder, Span, in_year
from memories.english.dates import spans
from memories.english.statements.word_lists import ADVERBS, ARTICLES, FUNCTION, MODAL
from memories.english.statements.wording import WEEKDAYS, root, words

# The user and the voice of the one who writes down; what they tell is in the other words.
_FREE = (
    FUNCTION
    | ARTICLES
    | ADVERBS
    | MODAL
    | frozenset(
        """
        user speaker assistant person people someone somebody something thing one man woman
        say mention state report describe explain note express prefer want would plan
        intend decide agree choose consider think believe feel become remain include involve keep
        make take get go do be have give play hold use call name wear say tell located takes
        place time kind type used lot year old age yearsold named never ever originally past former previously
        another other more less own team company project number amount total some few several
        everyone everybody anyone anybody after follow their ours my our your me us we i you myself own
        """.split()
    )
)
FREE = _FREE | {root(word) for word in _FREE}
# What is said with one of the words on the right may be put with the one on the left.
_IMPLIED_TEXT = """
    live: move home settle base rent stay from flat apartment house
    work: job hire career role at start as living commute shift office employ
    job: work role hire career
    pregnant: expect expecting due
    due: expect expecting deadline until
    wedding: marry married husband wife bride groom
    marry: wedding bride groom wife husband
    relationship: broke break split dating together boyfriend girlfriend partner
    end: broke break split over cancel quit finish stop
    alcohol: sober drink wine beer
    advise: tell told say said recommend suggest
    diet: gluten dairy vegan vegetarian pescatarian keto halal kosher eat meat pork dinner meal salt sugar
    glutenfree: gluten
    avoid: not can't cannot never no without
    leave: quit resign depart gave
    train: study learn become
    belong: inherit own member mine
    member: membership join belong club
    birthplace: born
    degree: graduate major university college
    graduate: degree finish college university
    next: tomorrow
    day: tomorrow today yesterday
    smoke: cigarette cigarettes vape
    cigarette: smoke pack
    oldest: eldest elder
    youngest: baby little
    teacher: teach school pupils class
    sibling: brother sister
    parent: mother father child daughter son
    daughter: girl
    son: boy
    former: ex used
    single: divorced broke
    injure: hurt broke sprain tore twist
    hurt: injure sprain twist
    ill: sick flu fever
    sick: ill flu fever
    recover: better heal
    better: recover improve
    retire: pension
    raise: grew grow
    grow: raise
    weekly: week
    monthly: month
    morning: breakfast
    evening: dinner night
    vehicle: car van truck bike
    pet: dog cat rabbit parrot hamster
    drink: coffee tea wine beer alcohol sober
    employer: work job company
    colleague: work team office
    neighbour: next door live
    language: speak fluent
    medicine: take tablet pill insulin
    exercise: run gym swim cycle yoga train
    sport: football tennis rugby run swim cycle row
    instrument: piano violin guitar cello drum flute
    start: now new
    own: have get bought my our belong mine
    travel: go going trip fly off visit drive
    visit: go trip been travel
    attend: go
    love: favorite fan great into best good want
    hate: not
    dislike: not hate
    eat: gluten meat pork vegetarian vegan not salt sugar dairy food diet dinner lunch breakfast
    learn: degree major
    responsible: own
    owner: own
    stop: quit gave
    permit: no not
    need: must
    require: must
    alter: push slip
    move: push slip postpone
    child: twin baby grow growing
    commute: work job
    old: elder
    husband: marry wife
    spouse: husband wife
    meeting: meet
    retain: retention
    replace: drop insteadof infavorof
    instead: infavorof drop
    city: town
    product: dairy food milk
"""
IMPLIED: dict[str, frozenset[str]] = {}
for _line in _IMPLIED_TEXT.strip().splitlines():
    _left, _, _right = _line.partition(":")
    _name = root(_left.strip())  # of several words of one class what is said of any
    IMPLIED[_name] = IMPLIED.get(_name, frozenset()) | frozenset(_right.split())
NEGATIVE = frozenset(
    """
    not no never nobody none nothing neither nor without nolonger hardly cannot nowhere nope
    nicht kein keine keinen keinem keiner nie niemals nichts ne pas jamais non mai niente nunca jamás
    jamas nada não nao не нет никогда nie geen niet
    """.split()
)
NEGATIVE_SIGNS = "不没沒無无未ない"
# Verbs that say that something is not, or no more
ENDING = frozenset(
    """
    stop stopped stops quit quits hate hates hated dislike dislikes refuse refuses refused
    avoid avoids avoided cancel cancelled canceled sold sober lack lacks unable reject
    rejected forbid forbidden prohibited prohibit
    """.split()
)


_address = re.compile(
    r"(?:https?://|www\.)[^\s<>\"']+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w.])@\w[\w.-]*"
    r"|(?<![\w.@/-])(?:[a-z0-9-]+\.)+[a-z]{2,10}(?:/[^\s<>\"']*)?(?![\w@])",
    re.IGNORECASE,
)
_number = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_tens = frozenset("20 30 40 50 60 70 80 90".split())
_ends = ".,;:!?)»\"'"
_iso = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_clock = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))? ?([ap])\.?m\b", re.IGNORECASE)
_weekday = re.compile(rf"\b{WEEKDAY}s?\b", re.IGNORECASE)
# So many days beside what "last month" means by the calendar may lie what somebody meant by it
_MARGINS = {
    "week": 14, "weekend": 14, "range": 7, "month": 62, "quarter": 92, "season": 366, "year": 366,
    "decade": 3660,
}  # fmt: skip


def addresses(statement: str, evidence: str) -> Iterator[str]:
    """Web and mail addresses and handles of `statement` that `evidence` does not hold."""
    known = {found.lower().rstrip(_ends) for found in _address.findall(evidence)}
    for found in _address.findall(statement):
        if found.lower().rstrip(_ends) not in known:
            yield found


def numbers(
    statement: str, evidence: str, said_at: datetime, order: DateOrder = "auto"
) -> Iterator[str]:
    """Numbers of `statement` that `evidence` does not hold, in digits or in words, and that are no
    part of a day which follows from it."""
    rest = _address.sub(" ", statement)
    meant = _Meant(evidence, said_at, order)
    for span in filter(meant.holds, spans(statement, None, order)):
        # The numbers by which its words name it.
        result = set(_months(span))
        for day in (span.first_day, span.last_day):
            result |= set() if span.any_year else {day.year}
            result |= set() if span.grain == "month" or not _months(span) else {day.day}
        parts = result
        for part in parts:
            rest = re.sub(rf"(?<!\d)0?{part}(?:st|nd|rd|th)?(?!\d)", " ", rest)
    known = {*_numbers(evidence), *(w.root for w in words(evidence) if w.is_number)}
    for number in _numbers(rest):
        if number not in known and number != "1":
            yield number


def days(
    statement: str, evidence: str, said_at: datetime, order: DateOrder = "auto"
) -> Iterator[str]:
    """Months and weekdays of `statement` that `evidence` does not name and that do not follow."""
    meant = _Meant(evidence, said_at, order)
    months = {month for span in spans(evidence, None, order) for month in _months(span)}
    for span in spans(statement, None, order):
        for month in _months(span):
            if month not in months and not meant.holds(span):
                yield f"month {month}"
    named = {root(word.lower()) for word in _number.findall(evidence)}
    is_reckoned = any(span.is_relative and span.grain in ("day", "part") for span in meant.spans)
    for word in _number.findall(statement):
        day = root(word.lower())
        if day in WEEKDAYS and day not in named and not is_reckoned:
            yield word


class _Meant:
    """The days that the words of `evidence` may mean."""

    def __init__(self, evidence: str, said_at: datetime, order: DateOrder) -> None:
        self.spans = spans(evidence, said_at, order)
        self.said_on = said_at.date()
        self.names_weekday = bool(_weekday.search(evidence))

    def holds(self, span: Span) -> bool:
        """Whether a day, month or year of a statement follows from them."""
        return any(self._is_near(one) for one in self._in_years(span)) or any(
            self._is_same(one, named)
            for named in self.spans
            if not named.is_relative
            for one in self._in_years(span)
        )

    def _in_years(self, span: Span) -> list[Span]:
        """Where no year is named, that of the evidence's day and those beside it."""
        if not span.any_year:
            return [span]
        result = []
        for year in range(max(1, self.said_on.year - 1), min(9998, self.said_on.year + 1) + 1):
            with contextlib.suppress(ValueError):  # 29 February
                result.append(in_year(span, year))
        return result

    def _is_near(self, span: Span) -> bool:
        """In the time that a relative date means, or one beside it."""
        first, last = span.first_day.toordinal(), span.last_day.toordinal()
        times = [
            (each.first_day, each.last_day, _MARGINS.get(each.grain, 0))
            for each in self.spans
            if each.is_relative
        ]
        if self.names_weekday:
            times.append((self.said_on, self.said_on, 14))
        return any(
            first <= end.toordinal() + margin and last >= start.toordinal() - margin
            for start, end, margin in times
        )

    def _is_same(self, span: Span, named: Span) -> bool:
        """The same day or month, and the same year or one beside it where none is named."""
        days = [(day.month, day.day) for day in (span.first_day, span.last_day)]
        if days != [(day.month, day.day) for day in (named.first_day, named.last_day)]:
            return False
        apart = span.first_day.year - named.first_day.year
        return apart == 0 or named.any_year and abs(span.first_day.year - self.said_on.year) <= 1


def _months(span: Span) -> set[int]:
    """The months that its words name."""
    if span.grain in ("year", "decade", "season", "quarter"):
        return set()
    return {span.first_day.month, span.last_day.month}


def _numbers(text: str) -> Iterator[str]:
    """In digits, as they stand and without what only groups or pads them."""
    text = _clock.sub(_in_24_hours, _iso.sub(r" \1 \2 \3 ", text)).replace("-", " ")
    before = ""
    for word in _number.findall(re.sub(r"(?<=\d)[,.](?=\d{3}\b)", "", text)):
        number = root(word.lower())
        if not number[:1].isdigit():
            before = ""
            continue
        number = re.sub(r"\D+$", "", number)
        if before in _tens and len(number) == 1 and not word.isdigit():
            yield str(int(before) + int(number))
        yield re.sub(r"[:.]0+$", "", number.lstrip("0") or "0")
        before = number if not word.isdigit() else ""


def _in_24_hours(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    return f"{hour}:{match[2] or '00'}"


def scripts(text: str) -> set[str]:
    """The scripts of its letters: LATIN, CYRILLIC, CJK..."""
    return {
        unicodedata.name(sign, "?").partition(" ")[0]
        for sign in set(text)
        if sign.isalpha() and not sign.isascii()
    } | ({"LATIN"} if re.search("[A-Za-z]", text) else set())
