"""Events that end what was true without naming it: a woman who gave birth is pregnant no more.

An event must be told, as past or done. If it ends a thing, it must be about that thing, which
stands beside its verb. Also here: when a statement about the past was true, and from when one about
the future will be.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from itertools import product, takewhile
from typing import NamedTuple

from memories.language.english.calendar import DateOrder
from memories.language.english.dates import spans
from memories.language.english.numbers import words_from
from memories.language.english.plain_words import IMPLIED
from memories.language.english.statements.auxiliaries import is_when
from memories.language.english.statements.duplicates import KIN_ROOTS, Relation, light, meet, subject_words
from memories.language.english.statements.life_events import IMPLIED_ENDS, LIFE
from memories.language.english.statements.read_statement import ME, Reading, read
from memories.language.english.statements.word_lists import ARTICLES, BE, FUNCTION, HAVE, PROFESSIONS
from memories.language.english.statements.wording import Word, root, words
from memories.language.english.verbs import PARTICIPLES, PAST

_reason = re.compile(
    r"\b(?:because|since|due to|thanks to|now that|as long as"
    r"|(?:near|with|at|from|to|for|of|by) (?:their|his|her|my|our|[A-Z][\w-]*['’]s))\b"
)
APART = 4  # places from one root of a phrase to the next


# Verbs of lasting states: in the past tense they are over. An event has no end to tell.
STATES = frozenset(
    map(
        root,
        "live work study own drive play smoke use attend date rent commute teach serve belong "
        "lead manage volunteer sing coach run reside stay train collect call name wear weigh earn "
        "employ base".split(),
    )
)
COPULAS = frozenset({"be", "have"})


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    ends: frozenset[str]
    words: tuple[str, ...]
    slots: frozenset[str]
    of_thing: bool
    is_sure: bool


@cache
def _by_first() -> dict[str, list[tuple[tuple[str, ...], bool, _Row]]]:
    """Return the phrases by their first root: the roots that follow, and whether it is told as past
    or done."""
    result: dict[str, list[tuple[tuple[str, ...], bool, _Row]]] = {}
    for each in IMPLIED_ENDS:
        row = _Row(
            each.name,
            frozenset(map(root, each.ends.split())),
            tuple(each.ends.split()),
            frozenset(each.slots.split()),
            each.of_thing,
            each.is_sure,
        )
        for phrase in each.phrases.split(","):
            if "+" in phrase:
                roots = tuple(map(root, phrase.strip().split("+")))
                result.setdefault(roots[0], []).append((roots[1:], True, row))
                continue
            for chosen in product(*(part.split("|") for part in phrase.split())):
                said = words(" ".join(chosen))
                roots = tuple(word.root for word in said if word.text not in ARTICLES)
                is_done = said[0].is_past or bool(_done.fullmatch(said[0].text))
                result.setdefault(roots[0], []).append((roots[1:], is_done, row))
    return result


def events(reading: Reading) -> tuple[_Row, ...]:
    """Return the events in a statement that end something; none for plans and denials."""
    # "had to put her down" is no plan, "is jobless" no denial.
    if reading.is_plan and "had to" not in reading.statement.lower():
        return ()
    if "past" in reading.change or reading.parse.denials and "end" not in reading.change:
        return ()
    rows = _events(reading.statement)
    # A speaker's move ends nothing that others do with them; the home is an attribute.
    return tuple(row for row in rows if row.ends) if reading.subject in _persons else tuple(rows)


def is_life_event(statement: str) -> bool:
    """Tell whether a statement is about an event that changes a life, worth knowing however briefly
    it is told."""
    # Most statements have none of the words, and are not taken apart for it.
    if _life_words().isdisjoint(_letters.findall(statement.lower())):
        return False
    return any(row.name in LIFE for row in events(read(statement)))


@cache
def _life_words() -> frozenset[str]:
    phrases = " ".join(each.phrases for each in IMPLIED_ENDS if each.name in LIFE)
    return frozenset(_letters.findall(phrases)) - FUNCTION - BE - HAVE - _idle


@lru_cache(maxsize=4096)
def _events(statement: str) -> Mapping[_Row, frozenset[str]]:
    """Return the rows that a statement tells, each with the roots of what the event is about: the
    words beside it, up to the next preposition."""
    known = _by_first()
    said = [word for word in words(statement) if word.text not in ARTICLES]
    result: dict[_Row, frozenset[str]] = {}
    for place, first in enumerate(said):
        for rest, is_done, row in known.get(first.root, ()):
            is_told = first.is_past or not is_done or _done.fullmatch(first.text)
            if {word.text for word in said[max(0, place - 1) : place]} & _denying:
                continue
            if is_told and (end := _follows(said, place, rest)) is not None:
                before = takewhile(_is_part, reversed(said[max(0, place - APART) : place]))
                behind = takewhile(_is_part, said[end : end + APART + 2])
                between = said[place:end]
                # What happened is not what it happened to, nor is who did it.
                about = {word.root for each in (between, behind) for word in each}
                about -= {first.root, *rest}
                if not row.ends or not about - light():
                    about |= {word.root for word in before}
                result[row] = result.get(row, frozenset()) | about
    return result


def _is_part(word: Word) -> bool:
    return word.text not in _joints


def _follows(said: Sequence[Word], place: int, rest: tuple[str, ...]) -> int | None:
    """Return the place behind a phrase whose first word stands at `place`; None if it is not
    there."""
    for each in rest:
        # "off at night" is no night off.
        behind = said[place + 1 : place + 1 + APART]
        near = [word.root for word in takewhile(lambda word: word.text != "at", behind)]
        if len(near) < len(behind) and each == behind[len(near)].root:
            near.append(each)
        if each not in near:
            return None
        place += 1 + near.index(each)
    return place + 1


def implied(old: Reading, new: Reading, off: frozenset[str] = frozenset()) -> Relation | None:
    """Return the relation if an event ends the old one: "Ada gave birth" ends "Ada is pregnant"."""
    rows = [row for row in events(new) if f"{IMPLIED}{row.name}" not in off]
    # "is ill", "is unemployed" deny by a word of their own, which is what ends.
    if not rows or "past" in old.change or old.is_past or old.parse.denials:
        return None
    # "was fired" is over by no loss of a job: it tells of it.
    if _journey.search(new.statement) or old.is_negated and events(old):
        return None
    persons = _persons_of(old)
    verb = {word.root for word in old.words[old.verb_at : old.verb_at + 1]}
    told = old.stems | subject_words(old) | {old.head} | verb
    if old.is_negated:
        told |= frozenset(old.order)
    if (cut := _reason.search(old.statement)) and cut.start():
        # What it rests on has ended, which makes it doubtful, not untrue.
        main = read(old.statement[: cut.start()])
        told = main.stems | subject_words(main) | {main.head}
    for row in rows:
        ended = _ended(row, old, new, told)
        if not ended or not _is_of(old, new, row.of_thing):
            continue
        shared = _said(new) & _said(old) - persons
        about = _events(new.statement)[row] | subject_words(new) - _persons_of(new)
        acts = _act_of(old) if row.name in _of_act else frozenset()
        if row.of_thing and not shared & about - _no_things - acts:
            continue
        names = [r.names - persons - subject_words(r) - r.dates for r in (old, new)]
        if not row.of_thing and "from" in new.order and not shared:
            continue  # "resigned from the chess club" tells nothing of a job
        apart = all(names) and not names[0] & (names[1] | subject_words(new))
        if apart and not row.slots & _partnership:
            continue
        is_own = old.subject == (new.subject.partition("/")[0] if row.name == "birth" else new.subject)
        is_sure = row.is_sure and (bool(shared) or is_own)
        return Relation("update" if is_sure else "unsure", f"{IMPLIED}{row.name}")
    return None


def _ended(row: _Row, old: Reading, new: Reading, told: Collection[str]) -> Collection[str]:
    """Return the words or attributes of the old statement, `told` by its roots, that the event
    ends."""
    if old.is_plan and row.slots & _work:
        return ()  # what somebody thinks of doing is no job
    ended: Collection[str] = row.ends & set(told)
    if row.slots & _work and not _employed.search(old.statement):
        ended = set(ended) - _working  # "works hard on a shop", "works together with her"
    ended = ended or {s.name for s in old.slots if s.name in row.slots}
    if not row.ends and new.subject and subject_words(new) <= old.names - _persons_of(old):
        return old.stems
    # "is a nurse", "works as a nurse"; who builds or designs something has no trade yet.
    has_trade = old.head == "be" or _employed.search(old.statement)
    return ended or (_professions & set(told) if row.slots & _work and has_trade else ())


def _act_of(reading: Reading) -> frozenset[str]:
    """Return its verb, "train" of "is training" too."""
    verb = {word.root for word in reading.words[reading.verb_at : reading.verb_at + 1]}
    return frozenset(verb | {reading.head} if reading.is_ongoing else verb)


def _persons_of(reading: Reading) -> frozenset[str]:
    return _persons | set(reading.subject.partition("/")[0].split("-"))


def words_ended(reading: Reading) -> tuple[str, ...]:
    """Return words by which to look up what a statement may end: what it names, then what is
    over."""
    rows = events(reading)
    if not rows:
        return ()
    said = [w for w in reading.words if not (w.is_function or w.is_number or w.root in _persons)]
    named = [word.text for word in said if word.root not in light()][:6]
    return tuple(dict.fromkeys((*named, *(word for row in rows for word in row.words))))[:24]


def _is_of(old: Reading, new: Reading, of_thing: bool) -> bool:
    """Tell whether both are about one person, or about one thing."""
    persons = set(old.subject.partition("/")[0].split("-"))
    if meet(old, new):
        return True
    owner = set(new.subject.partition("/")[0].split("-")) if "/" in new.subject else persons
    if not owner & persons and not owner <= old.names:
        return False
    owned = set(new.subject.rpartition("/")[2].split("-")) if "/" in new.subject else set()
    if owned <= _born and {"born", "pregnant"} <= {*new.stems, *old.stems}:
        return True  # who is expecting, or whose partner is, has the child that is born
    if owned & KIN_ROOTS and not owned & (old.stems | subject_words(old)):
        return False
    persons -= {"other"}
    if persons & {*new.subject.partition("/")[0].split("-"), *new.order}:
        return True
    # "Jonas moved out" is about what names Jonas; "the cottage was sold" about what one has.
    about = subject_words(new)
    return bool(about & old.stems) and (of_thing or about <= old.stems)


def _said(reading: Reading) -> frozenset[str]:
    return (reading.stems | subject_words(reading)) - light() - reading.dates


_letters = re.compile(r"[a-z]+")
# What is told as past or done; "given" of "was given away".
_done = re.compile(rf"{PAST}|{'|'.join(sorted(PARTICIPLES))}")
_denying = frozenset("not never wont cannot cant".split())
_joints = frozenset(
    """
    to at for in with by from because so that which who and but or on about into near after before
    when while since as than , ;
    """.split()
)
_idle = frozenset("got get getting own new said yes again last day".split())
_persons = frozenset(ME.values()) | {"other"}
_professions = frozenset(map(root, PROFESSIONS))
_work = frozenset({"employer", "job"})
# "is off to Ireland" calls nothing off, "got back from a party" gives nothing back.
_journey = re.compile(r"\b(?:is|are|am|was|were) off to\b|\b(?:got|gets|get|came|comes|is|was|are|were) back from\b")
_working = frozenset({root("work")})
_employed = re.compile(
    r"\bwork(?:s|ed|ing)? (?:(?:part|full)[- ]time|at|for|as|in|with|nights?|days|shifts?|from|the|freelance|remotely|there)\b"
    r"|\bworks?\.?$|\bwork (?:shift|place|visa|address|hours)\b"
)
# For these the verb is not the thing: somebody who stopped writing letters may write a blog.
_of_act = frozenset({"habit", "course over"})
# Verbs that stand beside one as often as things do.
_no_things = frozenset(map(root, "like need want enjoy find study get have help make think know".split()))
_born = frozenset(map(root, "baby child son daughter twin boy girl".split()))
_partnership = frozenset({"spouse", "relationship"})


# What is told as past: "used to", "in 2019 I worked at", "until May".

_range = re.compile(r"\bfrom\b[^.,;]{1,30}\b(?:to|until|till)\b|\bbetween\b", re.I)
_until = re.compile(rf"\b(?:until|till|up to)\b|{_range.pattern}", re.I)
_childhood = re.compile(
    r"\b(?:as an? (?:student|child|kid|teenager|boy|girl|young|apprentice)|back then|growing up)\b"
    rf"|\bfor (?:an?|some|many|several|{words_from(2, 10)}|\d+) years\b",
    re.I,
)
_named = re.compile(r"\b(?:first|former|old|ex|late|previous)\b[^.,;]{1,40}\bwas (?:called|named)\b", re.I)
_still = re.compile(r"\b(?:since|still|always|ever)\b", re.I)


class PastPeriod(NamedTuple):
    """The period in which a statement about the past was true; without a `begin` nobody knows since
    when. `is_said`: the words name the end, else it had come by the time it was told."""

    begin: datetime | None
    end: datetime
    is_said: bool


def past_period(reading: Reading, told_at: datetime, order: DateOrder = "auto") -> PastPeriod | None:
    """Return the period in which a statement about the past was true; None if it still holds, or is
    about a single event."""
    statement = reading.statement
    if reading.is_plan or reading.is_negated or _still.search(statement):
        return None
    is_over = "past" in reading.change
    is_past = reading.is_past or any(word.is_past for word in reading.words[reading.verb_at :][:1])
    if not is_over and _named.search(statement):
        return PastPeriod(None, told_at, is_said=False)
    if not is_over and not is_past:
        return None
    dated = [span for span in spans(statement, told_at, order) if span.grain != "minute"]
    begun = [span for span in dated if span.start <= told_at]
    is_until = _until.search(statement) is not None
    if not is_over:
        is_bounded = bool(is_until or _childhood.search(statement)) or any(
            span.grain in ("year", "decade", "range") for span in dated
        )
        owned = is_until and any(w.root == "have" for w in reading.words[reading.verb_at :][:1])
        is_state = reading.head in STATES or owned or reading.head in COPULAS and is_bounded
        if not is_state or not (is_bounded or dated):
            return None
    if not begun:
        return PastPeriod(None, told_at, is_said=False)
    end = min([told_at, *(span.end for span in begun)])
    begin = None if is_until and not _range.search(statement) else min(s.start for s in begun)
    return PastPeriod(begin, end, is_said=True)


# A plan that is told with its day: "will start at Equinor on 1 May", "is 900 euros from June".
_planned = re.compile(
    r"\b(?:will|going to|gonna|(?:starting|beginning|effective|from|as of) (?=\w))\b|['’]ll\b"
    r"|\b(?:is|are|am) (?:[a-z]+ing|getting \w+)\b",
    re.I,
)


def true_from(
    reading: Reading, event: datetime | None, told_at: datetime, order: DateOrder = "auto"
) -> datetime | None:
    """Return the future day from which a statement is true; None if it is true already, or only
    gives an event its day."""
    if event is None or event <= told_at or not _planned.search(reading.statement):
        return None
    days = {word.root for word in reading.words if is_when(word)}
    telling = [slot for slot in reading.slots if not set(slot.value.split()) <= days]
    return event if telling or not reading.slots else None
