"""Claims in plain language, found without any model: patterns as data over clauses of a text.

First the message decides which of the fitting clauses say enough to be kept: signs of news about
its speaker's life are weighed against signs of mere courtesy. Then each clause does: the looser a
pattern, the more a clause must say. Weights and limits were fitted to labelled conversations
(logistic regression, each conversation judged by weights from the others), one set for talk between
people and one for talk with an assistant.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memories.language.bounds import Budget
from memories.language.english import (
    claim_worth,
    clauses,
    pasted_text,
    person,
    read_clause,
    short_answers,
    standing_wishes,
)
from memories.language.english.calendar import MONTHS, WEEKDAYS, DateOrder
from memories.language.english.claim_worth import Telling
from memories.language.english.clauses import Clause
from memories.language.english.dates import event_date, places
from memories.language.english.patterns import library
from memories.language.english.patterns.instructions import WITH_A_TASK
from memories.language.english.patterns.pattern import Found, Pattern
from memories.language.english.referents import UNKNOWN, Talk
from memories.language.english.shorten_clause import shortened
from memories.language.english.verbs import PAST

CERTAIN, SURE, FIRM, FAIR, LOOSE = (0.95, 0.9, 0.8, 0.7, 0.55)  # confidence from which a pattern counts as such
FAIR_WEIGHT, LOOSE_WEIGHT = 3, 4  # telling words that a clause needs
DAYS = {*MONTHS, *WEEKDAYS}
FEW = 3  # clauses of a message of which each is heard for itself
AMONG_PEOPLE: Mapping[str, float] = {
    "mentions": 0.22,
    "questions": -0.22,
    "weight": 0.19,
    "is_answer": 0.53,
    "exclamations": -0.06,
    "new_words": 0.185,
    "opens": -0.2,
    "": -0.93,
}
WITH_ASSISTANT: Mapping[str, float] = {
    "length": -0.73,
    "times": 0.28,
    "second_person": -0.32,
    "clauses": 0.49,
    "new_words": 0.076,
    "owned": 0.38,
    "is_answer": 0.54,
    "opens": -0.25,
    "": -0.4,
}
_time = re.compile(
    r"\b(?:last|yesterday|ago|recently|lately|since|weeks?|months?|years?|today|tonight|tomorrow|weekend|next"
    r"|just|still|already|soon|finally|new|first)\b",
    re.IGNORECASE,
)
_second_person = re.compile(r"\b(?:you|your|yours|u|ur|you're|you've)\b", re.IGNORECASE)
_owned = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)


MERE = 60  # characters; no mere yes or no is longer


@dataclass(frozen=True, slots=True)
class Fit:
    """A pattern that fits a clause; `weight` counts the telling words of the clause. `is_beside`:
    it is not part of its message's news."""

    pattern: Pattern
    match: re.Match[str]
    clause: Clause
    weight: int
    is_beside: bool = False


@dataclass(frozen=True, slots=True)
class MessageWorth:
    """A message as a whole: whether it tells `news` (below 0: none), how many clauses are not mere
    courtesy (`heard`), whether any is about its speaker, and whether it is said to a machine."""

    news: float
    heard: int
    is_about_speaker: bool
    to_machine: bool


def message_worth(
    text: str, name: str, read: Sequence[tuple[Clause, str]], fits: Sequence[Fit], talk: Talk
) -> MessageWorth:
    """Weigh a message; `read` holds the clauses of `text` with their words as patterns read
    them."""
    told = " ".join(words for _, words in read)
    to_machine = talk.is_with_machine(name)
    # Signs by which a message is judged; each is capped, so that no long text wins by length.
    said = [words for clause, words in read if not clause.is_question]
    signs = {
        "mentions": min(6, sum(person.mentions(words) for words in said)),
        "questions": min(3, len(read) - len(said)),
        "exclamations": min(4, text.count("!")),
        "new_words": min(20, len(read_clause.telling(text) - talk.words - {name.lower()})),
        "is_answer": bool(talk.question_to(name)),
        "length": math.log1p(len(text.split())),
        "times": min(3, len(_time.findall(text))),
        "second_person": min(4, len(_second_person.findall(text))),
        "clauses": min(6, len(read)),
        "owned": min(3, len(_owned.findall(text))),
        "opens": not talk.words,
        "": 1.0,
    }
    signs["weight"] = max((f.weight for f in fits if f.pattern.confidence >= FAIR), default=0)
    weights = WITH_ASSISTANT if to_machine else AMONG_PEOPLE
    return MessageWorth(
        news=sum(weight * signs[sign] for sign, weight in weights.items()),
        heard=sum(not read_clause.is_courtesy(words) for _, words in read),
        is_about_speaker=person.mentions_speaker(told),
        to_machine=to_machine,
    )


def _kept(fits: Sequence[Fit], told: MessageWorth) -> list[Fit]:
    """Return those of a message's fits that claim something, in their order."""
    is_all = len(fits) >= told.heard  # no clause beside those that claim something
    firm = [fit for fit in fits if _says_enough(fit, told)]
    if not firm and told.news >= 0:
        heaviest = max(fits, key=lambda fit: fit.weight)
        firm = [heaviest] if heaviest.weight else []
    places = {fit.clause.start for fit in firm}
    return [fit for fit in fits if fit.clause.start in places or (is_all and _stands_alone(fit, told))]


def _stands_alone(fit: Fit, told: MessageWorth) -> bool:
    """Tell whether a clause that is the whole message is a claim without any more around it."""
    if told.heard > 1:
        return _is_own(fit) and fit.weight >= 1
    if fit.pattern.confidence >= FAIR:
        return fit.weight >= 1
    return told.is_about_speaker and fit.pattern.confidence >= LOOSE and fit.weight >= 3


def _is_own(fit: Fit) -> bool:
    """Tell whether a clause is surely about its speaker."""
    return fit.pattern.confidence >= FIRM and person.mentions_speaker(fit.match.string)


def _says_enough(fit: Fit, told: MessageWorth) -> bool:
    confidence = fit.pattern.confidence
    if confidence >= SURE and fit.weight >= (1 if confidence >= CERTAIN else 2):
        return True
    if (fit.clause.is_item or fit.clause.is_answer) and confidence >= FAIR and fit.weight:
        return True
    if fit.pattern.name in claim_worth.OF_WORK and fit.weight:
        return True
    # To a machine, what somebody tells of themselves stands beside what they ask it to do.
    if told.to_machine and told.heard <= FEW and fit.weight > 1 and _is_own(fit):
        return True
    if told.news < 0 or not fit.weight:
        return False
    if confidence >= FIRM:
        return True
    least = FAIR_WEIGHT if confidence >= FAIR else LOOSE_WEIGHT
    return confidence >= LOOSE and fit.weight >= least


def extract(
    text: str,
    speaker: str,
    occurred_at: datetime,
    talk: Talk | None = None,
    budget: Budget | None = None,
    order: DateOrder = "auto",
) -> list[Found]:
    """Return the claims of `speaker` in `text`, each with its place. Relative dates count from
    `occurred_at` (aware); days and months in numbers stand in `order`. A speaker without a name is
    "User". `talk` is what was said before; the text itself is not added to it. Clauses are read as
    long as the `budget` lasts."""
    name, talk, budget = speaker.strip() or UNKNOWN, talk or Talk(), budget or Budget()
    read, fits = [], []
    for clause, words in _assented(text, name, talk) or _read(text, name, talk, occurred_at):
        if not budget.lasts():
            break
        read.append((clause, words))
        # The first pattern that fits a clause, if the clause claims anything.
        if clause.is_question:
            first = library.first_of_question(words)
        elif read_clause.is_claim(words) or library.first_wish(words, is_question=False):
            first = _of_team(words) or library.first(words, is_request=read_clause.is_request(words))
        else:
            first = None
        if first:
            weight = read_clause.weight(words, name)
            fits.append(Fit(*first, clause, weight))
    # A request that is only about the piece of work the message asks for is no claim.
    wishes = [fit.clause for fit in fits if library.is_wish(fit.pattern, fit.match.string)]
    if wishes and standing_wishes.has_task(read, wishes):
        fits = [fit for fit in fits if fit.pattern.name not in WITH_A_TASK]
    told = message_worth(pasted_text.spoken(text), name, read, fits, talk)
    kept = _kept(fits, told) if fits else []
    base = Telling(
        to_machine=talk.is_with_machine(name),
        is_named=bool(talk.listener(name)),
        is_alone=told.heard == 1,
        is_unknown=name == UNKNOWN,
    )
    claim = _claim(name, talk.listener(name), occurred_at, order, base)
    places = {fit.clause.start for fit in kept}
    # Clauses beside the news of a message that are surely worth keeping.
    others = [
        replace(fit, is_beside=True)
        for fit in fits
        if fit.clause.start not in places and fit.pattern.name not in claim_worth.LOOSE and fit.weight > 1
    ]
    said = sorted([*kept, *others], key=lambda fit: fit.clause.start)
    claims = [(fit, claim(fit)) for fit in said]
    found = {each.statement.lower(): each for fit, each in claims if not (fit.is_beside and each.unworthy)}
    return list(found.values())


def _of_team(words: str) -> tuple[Pattern, re.Match[str]] | None:
    """Return the pattern that fits a statement about "the team", if a team would say it of
    itself."""
    we = read_clause.as_we(words)
    first = library.first(we, is_request=False) if we else None
    return first if first and first[0].is_team else None


def _assented(text: str, name: str, talk: Talk) -> list[tuple[Clause, str]]:
    """Return a mere yes or no as the clause that it answers."""
    question = talk.question_to(name)
    if len(text) > MERE or not question:
        return []
    words = short_answers.assented(question, read_clause.plain(text))
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return [(Clause(words, start, end, False, True), words)] if words else []


# The claim is told as holding; the time of telling stands beside it.
_of_now = re.compile(
    r"^(?:now|nowadays|these days|at the moment|at present|currently|right now|by now|meanwhile),? (?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)


# What happened since the last talk, or beside something else, stands for itself.
_since_talk = re.compile(
    r"^since (?:(?:we|I) (?:last |just )?(?:spoke|talked|chatted|met|caught up)(?: last)?|(?:our|my|the) last (?:chat|talk|conversation|call|catch-?up)),? (?=(?:I|we|my|our)\b)"
    rf"|^(?:especially|particularly) (?:after|since|because|now that) (?=I (?:\w+ly )?{PAST}\b[^,]*$)",
    re.IGNORECASE,
)


# "In 2021 I lived in Oslo", "From June my boss is Ann", "Before that I worked at a bank".
_fronted = re.compile(
    r"^(?P<time>(?:back )?(?:in|from|until|till|up to|between|as of|starting|during|for)\b [^,;]{3,40}?)"
    r"(?: on(?:wards?)?)?,? "
    r"(?P<rest>(?:I|my|our)\b [^,;]+)$",
    re.IGNORECASE,
)
_before_that = re.compile(r"^(?:before (?:that|then)|previously),? (?=(?:I|my|our)\b)", re.IGNORECASE)
_other_clause = re.compile(r"\b(?:and|but|when|while|because|until|till|since|who|which|where)\b")

_BEFORE_TIME = len("starting in ")


def _with_time_behind(words: str, at: datetime) -> str:
    """Move a leading time behind what a clause tells about its speaker, so that the subject comes
    first. What was "before that" was so once."""
    if _before_that.match(words):
        rest = _before_that.sub("", words)
        return re.sub(rf"^(I) (?={PAST}\b)", r"\1 once ", rest) if rest.startswith("I ") else words
    match = _fronted.match(words)
    if not match or _other_clause.search(match["rest"]) or places(match["rest"], at):
        return words
    time = re.sub(r"^back ", "", match["time"], flags=re.IGNORECASE)
    found = places(time, at)
    is_time = bool(found) and found[-1][1] == len(time) and found[0][0] <= _BEFORE_TIME
    return f"{match['rest']} {time[:1].lower()}{time[1:]}" if is_time else words


def _read(text: str, name: str, talk: Talk, at: datetime) -> Iterator[tuple[Clause, str]]:
    """Yield the clauses of `text` with their words as patterns read them; the first may be an
    answer."""
    people = talk.people(name)
    question, listener, before = talk.question_to(name), talk.listener(name), ""
    for clause in clauses.of_text(text):
        words = read_clause.plain(clause.text)
        answer = ""
        if question:
            # What the first clause says in answer to the question: with its "yes" or without.
            whole = read_clause.plain(text[clause.start : clause.end])
            answer = short_answers.affirmed(question, whole)
            answer = answer or short_answers.completed(question, words)
            answer = answer or short_answers.taken_up(question, words)
        question = ""
        if answer:
            yield replace(clause, is_answer=True), answer
        else:
            words = _with_time_behind(_of_now.sub("", _since_talk.sub("", words)), at)
            if listener:  # "..., Ben" calls Ben
                words = words.removesuffix(f", {listener}")
            yield clause, people.resolved(read_clause.with_subject(words), name, before)
        before = words


def _claim(name: str, listener: str, at: datetime, order: DateOrder, telling: Telling) -> Callable[[Fit], Found]:
    def claim(fit: Fit) -> Found:
        fit, unworthy = _worth_keeping(fit, telling)
        pattern, words = fit.pattern, fit.match.string
        named = [fit.match[group] for group in pattern.entities if fit.match[group]]
        return Found(
            statement=_statement(pattern, fit.match, name, listener),
            category=pattern.category,
            fact_type=pattern.fact_type,
            confidence=pattern.confidence,
            rule=pattern.name,
            entities=tuple(dict.fromkeys([*named, *read_clause.names(fit.clause.text)])),
            event_date=event_date(words, at, order),
            start=fit.clause.start,
            end=fit.clause.end,
            is_answer=fit.clause.is_answer,
            unworthy=unworthy,
        )

    return claim


def _worth_keeping(fit: Fit, telling: Telling) -> tuple[Fit, str]:
    """Return the fit, or the part of its clause that is worth keeping; and the reason against
    it."""
    opening = read_clause.plain(fit.clause.text)[:2].lower()

    def doubt(words: str, pattern: Pattern) -> str:
        return claim_worth.doubt(
            replace(
                telling,
                words=words,
                rule=pattern.name,
                category=pattern.category,
                confidence=pattern.confidence,
                is_restored=words.startswith("I ") and opening != "i ",
                is_answer=fit.clause.is_answer,
                is_item=fit.clause.is_item,
                is_beside=fit.is_beside,
            )
        )

    reason = doubt(fit.match.string, fit.pattern)
    if not reason or reason == "unfinished":
        return fit, reason
    for words in shortened(fit.match.string, to_machine=telling.to_machine):
        part = library.first(words, is_request=False) if read_clause.is_claim(words) else None
        # A one-time request does not become a standing wish when it is cut short.
        is_cut_wish = part is not None and part[0].category == "instruction"
        if part and not is_cut_wish and not doubt(words, part[0]):
            return replace(fit, pattern=part[0], match=part[1]), ""
    return fit, reason


_us = re.compile(r"(?<=\b(?:with) )Team\b")


def _statement(pattern: Pattern, match: re.Match[str], name: str, listener: str) -> str:
    us = person.TEAM if pattern.is_team else ""
    words = person.with_listener(match.string, listener)
    if not pattern.is_team and claim_worth.HELPS_ANYBODY.match(words):
        return f"{name} says {_reported(person.of_anybody(words))}"
    if pattern.statement:
        groups = {
            group: person.third_person(_inside(said or "", match.start(group)), name, us)
            for group, said in match.groupdict().items()
        }
        told = _sentence(pattern.statement.format(speaker=name, **groups).rstrip(" .,;!"))
        return _us.sub("them", told) if told.startswith("Team ") else told
    told = person.third_person(words, name, us)
    if pattern.is_team or pattern.is_plain or person.mentions_speaker(words):
        return _sentence(told)
    if words.startswith((f"{name} ", f"{name}'s ")):
        return words
    return f"{name} says {_reported(words)}"


def _sentence(told: str) -> str:
    return told[:1].upper() + told[1:]


def _inside(said: str, start: int) -> str:
    """Return `said` without the capital of a sentence's beginning: it goes into another
    sentence."""
    return said if start or not said[1:2].islower() else said[0].lower() + said[1:]


def _reported(words: str) -> str:
    """Do what `_inside` does for reported speech: a day, a name of several words, and an owner keep
    their capitals."""
    first, _, rest = words.partition(" ")
    is_day = first.lower() in DAYS and rest[:1].isdigit()
    is_name = rest[:1].isupper() and not rest.startswith(("I ", "I'")) or first.endswith("'s")
    keeps = is_day or (is_name and not read_clause.is_common(first))
    return words if keeps else _inside(words, 0)
