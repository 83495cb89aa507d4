"""Checks that a model's statement says what its quotes say; rules of what a paraphrase may say.

A quote that stands in the text proves nothing of the statement beside it. So its content words
must be supported: by stem, class of synonyms or what they imply; and with no tolerance its
numbers, days, addresses, names, script, negation, and who did it to whom.
"""

import contextlib
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from memories.language.bounds import STATEMENT
from memories.language.english import lexical, statements
from memories.language.english.calendar import WEEKDAY, DateOrder, Span, in_year
from memories.language.english.dates import spans
from memories.language.english.patterns.pattern import KIN, PEOPLE
from memories.language.english.statements.word_lists import ADVERBS, ARTICLES, FUNCTION, MODAL
from memories.language.english.statements.wording import WEEKDAYS, Word, root, words

# What a paraphrase may say: words that a statement may use though nobody said them. What it may not
# put in other words: numbers, days, addresses, the script.

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
    "week": 14,
    "weekend": 14,
    "range": 7,
    "month": 62,
    "quarter": 92,
    "season": 366,
    "year": 366,
    "decade": 3660,
}


WEEKDAY_WITHIN = 14  # days around the telling in which a weekday lies that it names
SENTENCE = 2_000  # characters before and after a quote in which its sentence ends
ENGLISH = 0.2  # at least so many of an English text's words are stop words
SHORT = 4  # words; fewer tell nothing of the language
FIRST_PERSON = re.compile(r"\b(?:i|i'm|we|we're|my|our|me|us|let's)\b", re.IGNORECASE)
SPEAKER, ANYBODY = "qqspk", "qqanb"  # no words, so no stem changes them
TEAM = frozenset(("team", "user", SPEAKER))


def addresses(statement: str, evidence: str) -> Iterator[str]:
    """Yield web and mail addresses and handles of `statement` that `evidence` does not have."""
    known = {found.lower().rstrip(_ends) for found in _address.findall(evidence)}
    for found in _address.findall(statement):
        if found.lower().rstrip(_ends) not in known:
            yield found


def numbers(statement: str, evidence: str, said_at: datetime, order: DateOrder = "auto") -> Iterator[str]:
    """Yield numbers of `statement` that `evidence` does not have, in digits or in words, and that
    are no part of a day that follows from it."""
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


def days(statement: str, evidence: str, said_at: datetime, order: DateOrder = "auto") -> Iterator[str]:
    """Yield months and weekdays of `statement` that `evidence` neither names nor implies."""
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
        """Tell whether a day, month or year of a statement follows from them."""
        return any(self._is_near(one) for one in self.in_years(span)) or any(
            self._is_same(one, named) for named in self.spans if not named.is_relative for one in self.in_years(span)
        )

    def in_years(self, span: Span) -> list[Span]:
        """Return the span; if it names no year, in the year of the evidence's day and the years
        beside it."""
        if not span.any_year:
            return [span]
        result = []
        for year in range(max(1, self.said_on.year - 1), min(9998, self.said_on.year + 1) + 1):
            with contextlib.suppress(ValueError):  # 29 February
                result.append(in_year(span, year))
        return result

    def _is_near(self, span: Span) -> bool:
        """Tell whether it is in the period that a relative date means, or in one beside it."""
        first, last = span.first_day.toordinal(), span.last_day.toordinal()
        times = [
            (each.first_day, each.last_day, _MARGINS.get(each.grain, 0)) for each in self.spans if each.is_relative
        ]
        if self.names_weekday:
            times.append((self.said_on, self.said_on, 14))
        return any(
            first <= end.toordinal() + margin and last >= start.toordinal() - margin for start, end, margin in times
        )

    def _is_same(self, span: Span, named: Span) -> bool:
        """Tell whether it is the same day or month, in the same year, or one beside it if none is
        named."""
        days = [(day.month, day.day) for day in (span.first_day, span.last_day)]
        if days != [(day.month, day.day) for day in (named.first_day, named.last_day)]:
            return False
        apart = span.first_day.year - named.first_day.year
        return apart == 0 or named.any_year and abs(span.first_day.year - self.said_on.year) <= 1


def day_follows(day: datetime, evidence: "Evidence") -> bool:
    """Tell whether a day lies in a time that the quotes name or mean: in 2019, yesterday, on Friday."""
    meant = _Meant(evidence.cited_text, evidence.said_at, evidence.date_order)
    if meant.names_weekday and abs((day.date() - meant.said_on).days) <= WEEKDAY_WITHIN:
        return f"{day:%A}".lower() in evidence.cited_text.lower()
    for span in meant.spans:
        margin = timedelta(days=_MARGINS.get(span.grain, 0) if span.is_relative else 0)
        for one in meant.in_years(span):
            if one.first_day - margin <= day.date() <= one.last_day + margin:
                return True
    return False


def _months(span: Span) -> set[int]:
    """The months that its words name."""
    if span.grain in ("year", "decade", "season", "quarter"):
        return set()
    return {span.first_day.month, span.last_day.month}


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers of a text in digits, without what only groups or pads them."""
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
        unicodedata.name(sign, "?").partition(" ")[0] for sign in set(text) if sign.isalpha() and not sign.isascii()
    } | ({"LATIN"} if re.search("[A-Za-z]", text) else set())


TOLERATED, TOLERATED_ABROAD = 0.2, 0.4  # share of content words; in languages without our stems
OWN = 0.5  # at least so many of a statement's content words stand in the quotes themselves
_clause = re.compile(r"[,;:.!?\n()]+|\b(?:and|but|because|while|although|so|und|aber|et|mais|y|pero)\b")
_pronoun = re.compile(r"\b(?:he|she|it|they|him|her|his|its|their|them|that|this|there|one)\b", re.IGNORECASE)
# "Her husband" makes only one person the husband
_relative = re.compile(rf"(?:\b(?:my|our)|\b[\w-]+['’]s) (?P<who>{KIN}|{PEOPLE})\b", re.IGNORECASE)
_leaving = re.compile(
    r"\b(?:left|leaves|leaving) (?:my|our|her|his|their|the) (?:job|work|school|company|team|band|club|church|husband|wife|partner|army)\b",
    re.IGNORECASE,
)
_unspaced = re.compile(r"(?<=[A-Za-z])(?=[\u3040-\u9fff])|(?<=[\u3040-\u9fff])(?=[A-Za-z])")
_ENDS = (". ", "! ", "? ", "\n")
# Endings that two words of one family may have after their common part: dentist, dental.
_DERIVED = frozenset(
    """
    s es e ed d ing er ers or ors ion ions tion tions ption ptions be bed bing bes ation ations al als ist ists ic
    ics ary eer eers eered eering y ies ied ity ment ments ness ship ships ful ly able ance ence ant ent ive
    ism ise ize ised ized ises izes ising izing isation ization age hood dom cy tive ative sion sions
    """.split()
) | {""}
_preferred = re.compile(
    r"\b(?:prefer\w*|rather (?:have |drink |eat |take |use |read |watch )?) ?(?P<first>[\w' -]{2,40}?) (?:to|over|than|instead of) (?P<second>[\w'-]{2,30})",
    re.IGNORECASE,
)
_letters = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Evidence:
    """`quotes`: the sentences that were quoted. `around`: all the messages, and those before;
    `asked`: the question that they answer. `meant`: what was said right before, of which a pronoun in
    the quotes may take its meaning. `speakers`: the names of who spoke."""

    quotes: tuple[str, ...]
    around: str
    asked: str
    speakers: tuple[str, ...]
    said_at: datetime
    date_order: DateOrder = "auto"
    meant: str = ""

    @cached_property
    def cited_text(self) -> str:
        return "\n".join((*self.quotes, self.asked))

    @cached_property
    def roots(self) -> frozenset[str]:
        return _roots(self.cited_text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset([word.lower() for word in _letters.findall(self.cited_text)])

    @cached_property
    def roots_around(self) -> frozenset[str]:
        return _roots(self.around) | self.roots

    @cached_property
    def roots_meant(self) -> frozenset[str]:
        return _roots(self.meant) if _pronoun.search(self.cited_text) else frozenset()

    @cached_property
    def is_english(self) -> bool:
        said = re.findall(r"[^\W\d_]+", self.cited_text.lower())
        stops = sum(word in lexical.STOP_WORDS for word in said)
        is_short = len(said) < SHORT and self.cited_text.isascii()
        return is_short or stops >= ENGLISH * len(said)

    @cached_property
    def own_names(self) -> frozenset[str]:
        return frozenset(w.lower() for name in self.speakers for w in _letters.findall(name))


def unsupported(statement: str, evidence: Evidence) -> str:
    """Return, in words, why `statement` is not what its evidence says; empty where it is."""
    if len(statement) > STATEMENT:
        return f"a statement of {len(statement)} characters"
    if strange := _scripts(statement, evidence):
        return f"in another script than the text: {strange}"
    cited = evidence.cited_text
    literally = (
        ("addresses", addresses(statement, f"{cited} {evidence.around}")),
        ("numbers", numbers(statement, cited, evidence.said_at, evidence.date_order)),
        ("days", days(statement, cited, evidence.said_at, evidence.date_order)),
    )
    for what, found in literally:
        if lacking := list(dict.fromkeys(found)):
            return f"{what} that the quotes do not have: {', '.join(lacking[:8])}"
    if lacking := _words_lacking(statement, evidence):
        return f"words that the quotes do not support: {', '.join(lacking[:12])}"
    if any(
        _is_negative(part) != _told_negative(part, evidence)
        for part in _clause.split(statement)
        if _roots_of(_content(part)) & evidence.roots
    ):
        return "the quotes say the opposite"
    said, told = _preferred.search(statement), _preferred.search(cited)
    if said and told:  # of two things the other one is preferred
        crossed = (("first", "second"), ("second", "first"))
        if all(set(_roots(said[one])) & set(_roots(told[other])) for one, other in crossed):
            return "the quotes say the opposite"
    return "the quotes say it of others" if _is_turned_round(statement, evidence) else ""


def _scripts(statement: str, evidence: Evidence) -> str:
    said = scripts(f"{evidence.cited_text} {evidence.around} {' '.join(evidence.speakers)} User")
    if strange := scripts(statement) - said:
        return ", ".join(sorted(strange))
    # Latin alone where the quotes have none, but for the speaker's name.
    rest = " ".join(w for w in _letters.findall(statement) if w.lower() not in evidence.own_names)
    is_strange = not scripts(rest) & scripts(evidence.cited_text)
    return "LATIN" if rest and scripts(rest) == {"LATIN"} and is_strange else ""


# ---- words


def _words_lacking(statement: str, evidence: Evidence) -> list[str]:
    """Return the content words without support, if they are too many or one of them is a name. A
    pronoun lends words from before, though not most of what is said."""
    content = [word for word in _content(statement) if word.text not in evidence.own_names]
    other = [word for word in content if not _is_supported(word, evidence)]
    lacking = [word for word in other if word.root not in evidence.roots_meant]
    if len(other) > len(content) * OWN:
        return [word.text for word in other]
    share = TOLERATED if evidence.is_english else TOLERATED_ABROAD
    if any(word.is_name for word in lacking) or len(lacking) > share * len(content):
        return [word.text for word in lacking]
    return []


def _content(statement: str) -> list[Word]:
    return [
        word
        for word in words(_unspaced.sub(" ", statement))
        if word.root not in FREE and word.text not in FREE and _letters.search(word.text)
    ]


def _is_supported(word: Word, evidence: Evidence) -> bool:
    if word.root in evidence.roots or word.text in evidence.words:
        return True
    if evidence.roots & IMPLIED.get(word.root, frozenset()):
        return True
    if evidence.words & IMPLIED.get(word.root, frozenset()):
        return True
    if word.is_name and word.root in evidence.roots_around:
        return True
    if not evidence.is_english and len(word.text) <= 4 and not word.is_name:
        return True
    return any(_alike(word.text, other, evidence.is_english) for other in evidence.words)


def _alike(one: str, other: str, is_english: bool) -> bool:
    """Tell whether two words are forms of one, by their beginnings: "dental" and "dentist"."""
    longest = max(len(one), len(other))
    common = len(os.path.commonprefix((one, other)))
    if not one.isascii() and set(one) & set(other) and scripts(one) & {"CJK", "HIRAGANA"}:
        return one in other or other in one or len(set(one) & set(other)) >= 0.6 * len(set(one))
    if is_english:
        is_derived = common >= 4 and one[common:] in _DERIVED and other[common:] in _DERIVED
        return is_derived or (common >= 4 and common >= 0.7 * longest)
    return common >= 3 and common >= 0.55 * longest


def _roots(text: str) -> frozenset[str]:
    return frozenset(form for word in words(text) for form in (word.root, word.text))


def _roots_of(said: Iterable[Word]) -> frozenset[str]:
    return frozenset(word.root for word in said)


# ---- polarity


def _is_negative(text: str) -> bool:
    if any(sign in text for sign in NEGATIVE_SIGNS):
        return True
    said = words(text)
    if _leaving.search(text):
        return True
    return any({word.text, word.root} & (NEGATIVE | ENDING) for word in said)


def _told_negative(part: str, evidence: Evidence) -> bool:
    """Tell whether the quoted clause with most of the words of `part` is negative; whether any
    quote is, where no clause has them or the question has more. Where several clauses have as
    many, `part` may follow any of them."""
    content = _roots_of(_content(part))
    told = [clause for quote in evidence.quotes for clause in _clause.split(quote)]
    shared = {clause: len(content & _roots(clause)) for clause in told}
    most = max(shared.values(), default=0)
    if most == 0 or evidence.asked and most < len(content & _roots(evidence.asked)):
        return any(_is_negative(quote) for quote in evidence.quotes)
    found = {_is_negative(clause) for clause, count in shared.items() if count == most}
    return _is_negative(part) if len(found) == 2 else found.pop()


# ---- who did what to whom


@dataclass(frozen=True)
class _Sides:
    """The words before a verb and after it; the speaker is SPEAKER, whoever it is."""

    before: frozenset[str]
    after: frozenset[str]
    is_passive: bool

    @property
    def doers(self) -> frozenset[str]:
        return self.after if self.is_passive else self.before


def _is_turned_round(statement: str, evidence: Evidence) -> bool:
    """Tell whether all clauses with its verb say it of others: "Tom lent Mara" for "I lent Tom"."""
    head = statements.read(statement).head
    first = next((part for part in _clause.split(statement) if head in _roots(part)), "")
    if not first or head in ("", "be") or not evidence.is_english:
        return False
    said = _sides(first, head, evidence)
    clauses = [part for quote in evidence.quotes for part in _clause.split(quote)]
    told = [_sides(part, head, evidence) for part in clauses if head in _roots(part)]
    return bool(told) and all(_differ(said, each, evidence.own_names) for each in told)


def _differ(said: _Sides, told: _Sides, own_names: frozenset[str]) -> bool:
    if ANYBODY in told.before | told.after:
        return False
    if said.doers and told.doers and not said.doers & told.doers:
        return True
    is_new = SPEAKER in said.after and SPEAKER not in told.before | told.after
    return is_new and bool(own_names)


def _sides(clause: str, head: str, evidence: Evidence) -> _Sides:
    clause = _relative.sub(r" \g<who>", clause)
    said = words(_pronoun.sub(f" {ANYBODY} ", FIRST_PERSON.sub(f" {SPEAKER} ", clause)))
    at = next((i for i, word in enumerate(said) if word.root == head), len(said))
    by = any(word.text == "by" for word in said[at:])
    speaker = evidence.own_names | TEAM
    sides = [
        frozenset({SPEAKER if w.text in speaker else w.root for w in part}) - FREE
        for part in (said[:at], said[at + 1 :])
    ]
    return _Sides(sides[0], sides[1], by and any(w.root == "be" for w in said[:at]))


def sentences_of(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """The sentences of `text` that the spans lie in."""
    found = []
    for start, end in spans:
        low, high = max(0, start - SENTENCE), end + SENTENCE
        first = max(low, max(text.rfind(mark, low, start) for mark in _ENDS) + 1)
        ends = [place for mark in _ENDS if (place := text.find(mark, end - 1, high)) >= 0]
        found.append(text[first : min(ends, default=high) + 1].strip())
    return tuple(dict.fromkeys(found))
