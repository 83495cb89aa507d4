"""Tests whether a new statement denies, ends or replaces what an old one says."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from memories.language.english.calendar import DateOrder
from memories.language.english.dates import last_day
from memories.language.english.plain_words import ENDED
from memories.language.english.statements.attributes import NO_WORDS, OwnChange, OwnWords, condition_of
from memories.language.english.statements.auxiliaries import RENAMED, is_time
from memories.language.english.statements.duplicates import (
    MANY_VALUED_ROOTS,
    Overlap,
    Relation,
    light,
    meet,
    same_head,
    same_subject,
    subject_words,
    weight,
)
from memories.language.english.statements.read_statement import Reading
from memories.language.english.statements.word_lists import ENDINGS, EVENTS, HABITS, KINDS, NOW_SINGLE, SINGLE_ROLES
from memories.language.english.statements.wording import MONTHS, RELATIVE_DATES, Word, root

NUMBERED = "numbered"  # the number that differs tells which one is meant
NUMBER_WORDS = {"number", "no", "nr"}
SPEAKERS = {"user", "team"}  # who say "pay" where others say "pays"


# For these the date in a statement is the day on which it came true; a deadline's is its value.
LASTING = frozenset("residence place employer job school relationship spouse car diet household".split())
# A memory without a date may have been true for up to so long before it was told.
UNKNOWN = timedelta(days=366)


def denied(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """Return "update" if one denies the other: "likes olives" and "does not like olives"."""
    if old.is_negated == new.is_negated or old.is_past and not old.is_negated:
        return None
    # "stopped working there in October 2026": when it ended is no part of what did.
    is_ended = "end" in new.change and any("_" in day or day in _months for day in new.dates)
    times = new.dates | new.numbers if is_ended else frozenset()
    if not (same_subject(old, new) or overlap.is_equal) or not (
        new.numbers - times <= old.numbers and new.dates - times <= old.dates
    ):
        return None
    if "past" in new.change or (new.is_plan and not old.is_plan):
        return None
    if old.is_plan and not new.is_plan and "end" not in new.change:
        return None
    only_new = overlap.only_new - times
    is_stopped = "end" in new.change and only_new <= _doing and not new.dates - times
    if is_stopped and weight(overlap.shared - subject_words(old)) >= 1 and overlap.missing <= 1:
        return Relation("update", "denied")
    return _denied_alike(old, new, Overlap(overlap.shared, overlap.only_old, only_new))


def _denied_alike(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """Return "update" if what is denied is what was said, but for a word or two. "Does not like
    tea" denies "prefers tea"."""
    are_tastes = bool(old.stems & _liking and new.stems & _liking)
    taste = _liking if are_tastes else frozenset()
    if not (old.negated | new.negated) & (overlap.shared | taste):
        return None  # "wants it simple" and "wants it simple and does no searching"
    covered = weight(overlap.shared - subject_words(old))
    lost, added = weight(overlap.only_old - taste), weight(overlap.only_new - taste)
    if covered < 1 or lost > 0.5 and "end" not in new.change:
        return None
    if min(lost, added) >= 1 or max(lost, added) > covered + 1:
        return None
    is_given_up = "end" in new.change and new.head in overlap.shared and old.head in _habits
    return Relation("update", "denied") if is_given_up or same_head(old, new) else None


_months = frozenset(map(root, MONTHS))
_liking = frozenset(map(root, "love prefer favor adore".split()))
_doing = frozenset({"doing", root("go"), root("play"), root("take")})
# What people do with a thing: "drinks coffee" is over when coffee is given up.
_habits = frozenset(map(root, HABITS))


@dataclass(frozen=True, slots=True)
class _Verbs:
    name: str
    verbs: frozenset[str]
    ended: frozenset[str]
    is_any: bool


@lru_cache(maxsize=64)
def _endings(changes: tuple[OwnChange, ...] = ()) -> tuple[_Verbs, ...]:
    """Return the endings that ship, then a workspace's own."""
    rows = [(True, row.verbs, row.ended) for row in ENDINGS]
    rows += [(False, change.verbs, change.ended) for change in changes]
    return tuple(
        _Verbs(
            f"{ENDED}{verbs.split()[0]}" if is_shipped else "",
            frozenset(map(root, verbs.split())),
            frozenset(map(root, ended.split())) - {"*"},
            ended == "*",
        )
        for is_shipped, verbs, ended in rows
    )


@lru_cache(maxsize=64)
def ending_verbs(changes: tuple[OwnChange, ...]) -> frozenset[str]:
    return frozenset().union(*(row.verbs for row in _endings(changes)))


def ended(old: Reading, new: Reading, own: OwnWords) -> Relation | None:
    """Return the relation if the new one ends the old: "sold her Fiat" ends "drives a Fiat"."""
    if new.is_negated or new.is_plan or "past" in old.change or old.is_past or old.is_negated:
        return None
    # "The parser has a leak" and "the leak of the parser" are about the same.
    if (
        not meet(old, new)
        and not (subject_words(old) <= new.stems and subject_words(new) <= old.stems)
        # "User and others dropped Slack" is said of each of them.
        and not (" and " in new.statement and set(old.subject.split("-")) < set(new.subject.split("-")))
        # "User and others own a boat": likewise if one of them says they sold it.
        and not ("other" in old.about and new.about == old.about - {"other"})
        # "Ann has a cat named Milo", "Milo died": what the new one is about has its name there.
        and not subject_words(new) <= old.names - subject_words(old)
    ):
        return None
    verbs = new.clause_verbs
    if ending_verbs(own.changes).isdisjoint(verbs):
        return None
    pairs = zip(new.words, new.words[1:], strict=False)
    at_a_time = any(w.text in ("at", "by") and (is_time(n) or n.is_number) for w, n in pairs)
    if "leave" in verbs and (at_a_time or any(map(is_time, new.words))):
        return None  # "left Oslo at nine" is a journey
    for row in _endings(own.changes):
        if row.name in own.off:
            continue
        for verb, place in verbs.items():
            if verb in row.verbs and verb not in old.stems and _ends(row, old, new, place):
                return Relation("update", f"{ENDED}{verb}")
    return None


def over(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """Return the relation if the old one is over: "used to smoke" ends "smokes"."""
    is_new = "past" in new.change and "past" not in old.change and not old.is_past
    if not is_new or old.is_negated or new.is_negated or old.is_plan or not same_subject(old, new):
        return None
    if overlap.missing >= 0.5 or weight(overlap.shared - subject_words(old)) < 1:
        return None
    return Relation("update" if overlap.added < 1 else "unsure", "over")


def negates(reading: Reading, own: OwnWords = NO_WORDS) -> tuple[str, ...]:
    """Return words of what a statement denies, ends or replaces; () if it does nothing of the
    kind."""
    if reading.is_plan:
        return ()
    verbs = set(reading.clause_verbs)
    ends = not verbs.isdisjoint(ending_verbs(own.changes))
    changes = reading.is_negated or bool(reading.replaced or reading.contrasted)
    if not (ends or changes or reading.change & {"end", "past"}):
        return ()
    said = [w for w in reading.words[reading.verb_at :] if w.root not in verbs | light()]
    named = tuple(word.text for word in said if not word.is_function and not word.is_number)[:3]
    gone = tuple(w.text for w in reading.words if w.root in reading.contrasted)
    return tuple(dict.fromkeys((*gone, *named)))


def _ends(row: _Verbs, old: Reading, new: Reading, place: int) -> bool:
    said = old.stems - {old.subject.partition("/")[0]} - set(old.subject.split("-"))
    verb = {word.root for word in old.words[old.verb_at : old.verb_at + 1]}
    states = row.ended & (said | verb & {"be", "have"})
    if not row.is_any and not states:
        return False
    objects = _objects(new, place)
    if not objects:  # "the parrot died", "the trip was cancelled"
        about = frozenset(word.rpartition(":")[2] for word in subject_words(new))  # "to:oslo"
        objects = about - {new.subject.partition("/")[0]} or about
    found = objects & (said | subject_words(old)) - row.ended
    if not found or not objects <= found | row.ended | _unsaid:
        return False
    is_ahead = old.is_plan or old.is_ongoing and bool(old.dates)
    shared = found | new.stems & said - subject_words(new)
    covered = weight(shared - states) + len(states) + is_ahead
    return covered * 2.5 >= weight(said)


_unsaid = light() | frozenset(map(root, EVENTS)) | {"new", "old"}


def _objects(reading: Reading, place: int) -> frozenset[str]:
    """Return the content words right after the verb: "Fiat" of "sold her Fiat to Liv"."""
    found: list[str] = []
    after = reading.words[place + 1 :]
    source = next((i for i, word in enumerate(after) if word.text == "from"), 0)
    for word in after[source:]:
        if word.text in RELATIVE_DATES:
            continue
        if word.is_function and word.text != "of" and (found or word.text in ("because", "since", "after", "before")):
            break
        if not word.is_function:
            found.append(word.root)
    return frozenset(found)


def contrasted(old: Reading, new: Reading) -> Relation | None:
    """Return the relation if the new one names the old value as what is not so: "B instead of A", "B, not A"."""
    gone = new.contrasted - subject_words(old)
    if not gone or new.is_plan and not old.is_plan or old.is_past or new.is_negated:
        return None
    # "Ann's lodger is Bo": who has somebody else instead of Bo has another lodger.
    owner, _, owned = old.subject.partition("/")
    is_role = bool(owned) and owner == new.subject and (old.head == "be" or owned in _collective)
    is_told = gone <= old.stems and 4 * weight(gone) >= weight(old.stems - subject_words(old))
    return Relation("update", "replaced") if is_told and (is_role or meet(old, new)) else None


_collective = frozenset(map(root, "team family company household band club class group".split()))


def new_value(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """Return the relation if all is alike but for one value, and the thing can have only one."""
    if old.is_negated != new.is_negated or subject_words(old) != subject_words(new):
        return None
    if old.is_past or new.is_past and not new.change or old.is_plan != new.is_plan:
        return None
    if _is_successor(old, new):
        return Relation("update", "now")
    numbers = old.numbers != new.numbers
    rest = overlap.only_old - old.numbers, overlap.only_new - new.numbers
    is_alike = old.dates == new.dates and _is_like(old, new, weight(rest[0]), weight(rest[1]))
    # A number of something, not the number that names it (ticket 12, port 80).
    is_measure = any(word.is_number for word in old.words[old.verb_at :])
    if numbers and old.numbers and new.numbers and is_alike and is_measure:
        is_name = not new.change and _is_name_of(old, old.numbers - new.numbers)
        return Relation("update", NUMBERED if is_name else "number")
    if new.change & {"now", "nowadays", "again", "to", "instead"}:
        return _now(old, new, overlap)
    return None


def _is_successor(old: Reading, new: Reading) -> bool:
    """Tell whether a role that one person holds was passed on: "Ann's lodger is Bo" and "Ann's new
    lodger is Kim"."""
    is_named = old.head == new.head == "be" and bool(old.names - subject_words(old))
    is_new = _new_role.match(new.statement) is not None
    return is_named and is_new and bool(new.names - subject_words(new) - old.names)


_new_role = re.compile(rf"[^,;]{{1,60}}['’]s new (?:{'|'.join(SINGLE_ROLES)}) is (?:called |named )?[A-Z]")


def _is_like(old: Reading, new: Reading, missing: float, added: float) -> bool:
    """Tell whether only a phrase was added after the same measure: "of four siblings since May";
    not one that says when it holds: "on weekends"."""
    if missing + added < 1:
        return True
    if condition_of(new.words[new.verb_at + 1 :]):
        return False
    return missing < 0.5 and added <= 3 and old.head == new.head and _units(old) == _units(new)


def _units(reading: Reading) -> list[str]:
    words = reading.words
    return [words[i + 1].root for i in range(len(words) - 1) if words[i].is_number]


def _is_name_of(reading: Reading, numbers: frozenset[str]) -> bool:
    """Tell whether one of `numbers` says which thing is meant: "has locker 12", not "has 12
    lockers"."""
    words = reading.words
    return any(
        words[i].root in numbers and _is_noun(words[i - 1]) and not (i + 1 < len(words) and _is_noun(words[i + 1]))
        for i in range(_end_of_verb(reading) + 1, len(words))
    )


def _end_of_verb(reading: Reading) -> int:
    """Return the place after the verb; in a title or a label without a verb, before its last noun,
    or 0: "this is message 3", "test message 3", "message number 3"."""
    at, words = reading.verb_at, reading.words
    if not 0 < at < len(words) or words[at].is_function:
        return at + 1
    if words[at].is_number or words[at].text in NUMBER_WORDS:
        return 0
    is_inflected = words[at].text.endswith(("s", "ed")) or reading.subject in SPEAKERS
    is_named = words[at - 1].is_function and not reading.subject
    return at if is_named or not is_inflected else at + 1


def _is_noun(word: Word) -> bool:
    return not word.is_function and not word.is_number


def _now(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    if old.subject != new.subject or not overlap.only_old or len(overlap.only_new) > 3:
        return None
    common = overlap.shared - subject_words(old)
    if "instead" in new.change and weight(common) >= 1 and len(overlap.only_old) <= 2:
        return Relation("update", "instead")
    if old.head != new.head and new.head != RENAMED:
        return None
    if old.head in MANY_VALUED_ROOTS:
        is_close = len(common) > 1 and overlap.missing <= 1 and overlap.added <= 2
        if not is_close or old.head not in _now_single and common <= _kinds | {old.head}:
            return None
    elif old.head == "be" and common and len(overlap.only_old) > 2 * len(common):
        return None  # "is busy volunteering", "is now a friend of a volunteer"
    elif not common and "/" not in old.subject and not (old.is_definite and old.head == "be"):
        return None
    return Relation("update", "now")


_kinds = frozenset(map(root, KINDS))


_now_single = frozenset(map(root, NOW_SINGLE))


_current = re.compile(r"\b(?:since|now|currently|still|these days)\b", re.IGNORECASE)


def came_before(
    told: Reading,
    event: datetime,
    rule: str,
    since: datetime,
    *,
    margin: timedelta = timedelta(0),
    order: DateOrder = "auto",
) -> bool:
    """Tell whether `told` came true before `since`, from when the present value holds, by more than
    `margin`. `event` is the first day that `told` can mean; `rule` names the attribute."""
    # It must tell what happened, not what is.
    is_over = "to" in told.change or any(word.is_past for word in told.words)
    if rule.removeprefix("slot:") not in LASTING or not is_over or _current.search(told.statement):
        return False
    last = last_day(told.statement, event.date(), order) - event.date()
    return since - event > margin + last
