"""Claims in plain language, found without any model: patterns as data over clauses of a text.

Pure: no database, no network, no clock. A pattern is a row in the file of its category.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from memories.bounds import Budget
from memories.english.dates import event_date
from memories.english.patterns import (
    clauses,
    content,
    dispatch,
    entities,
    person,
    plain_clause,
    relevance,
    short_answers,
)
from memories.english.patterns.clauses import Clause
from memories.english.patterns.dispatch import warm_up
from memories.english.patterns.library import PATTERNS
from memories.english.patterns.pattern import Found, Pattern
from memories.english.patterns.relevance import Fit
from memories.english.patterns.talk import UNKNOWN, Talk

__all__ = ["PATTERNS", "Found", "Pattern", "Talk", "extract", "warm_up"]

MERE = 60  # characters; no mere yes or no is longer


def extract(
    text: str,
    speaker: str,
    occurred_at: datetime,
    talk: Talk | None = None,
    budget: Budget | None = None,
) -> list[Found]:
    """What `speaker` claims in `text`, each claim with its place; relative dates count from
    `occurred_at` (aware). A speaker without a name is "User". `talk` is what was said before;
    the text itself is not added to it. Clauses are read as long as the `budget` lasts."""
    name, talk, budget = speaker.strip() or UNKNOWN, talk or Talk(), budget or Budget()
    read, fits = [], []
    for clause, words in _assented(text, name, talk) or _read(text, name, talk):
        if not budget.lasts():
            break
        read.append((clause, words))
        fits += _fit(clause, words, name)
    kept = (
        relevance.kept(fits, relevance.message(clauses.spoken(text), name, read, fits, talk))
        if fits
        else []
    )
    claim = _claim(name, talk.listener(name), occurred_at)
    found = {each.statement.lower(): each for each in map(claim, kept)}
    return list(found.values())


def _assented(text: str, name: str, talk: Talk) -> list[tuple[Clause, str]]:
    """A mere yes or no, as the clause that it agrees to."""
    question = talk.question_to(name)
    if len(text) > MERE or not question:
        return []
    words = short_answers.assented(question, plain_clause.plain(text))
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return [(Clause(words, start, end, False, True), words)] if words else []


def _read(text: str, name: str, talk: Talk) -> Iterator[tuple[Clause, str]]:
    """The clauses of `text` with their words as patterns read them; the first may be an answer."""
    people, question = replace(talk.people), talk.question_to(name)
    for clause in clauses.of_text(text):
        words = plain_clause.plain(clause.text)
        answer = _answered(question, words, text[clause.start : clause.end]) if question else ""
        question = ""
        if answer:
            yield replace(clause, is_answer=True), answer
        else:
            yield clause, people.resolved(plain_clause.with_subject(words), name)


def _answered(question: str, words: str, said: str) -> str:
    """What the first clause says by what was asked: `words` are `said` without its "yes"."""
    whole = plain_clause.plain(said)
    return short_answers.affirmed(question, whole) or short_answers.completed(question, words)


def _fit(clause: Clause, words: str, name: str) -> list[Fit]:
    """The first pattern that fits a clause, if it claims anything."""
    if clause.is_question or not content.is_claim(words):
        return []
    first = dispatch.first(words, is_request=content.is_request(words))
    return [Fit(*first, clause, content.weight(words, name))] if first else []


def _claim(name: str, listener: str, at: datetime) -> Callable[[Fit], Found]:
    def claim(fit: Fit) -> Found:
        pattern, words = fit.pattern, fit.match.string
        return Found(
            statement=_statement(pattern, fit.match, name, listener),
            category=pattern.category,
            fact_type=pattern.fact_type,
            confidence=pattern.confidence,
            rule=pattern.name,
            entities=_entities(pattern, fit.match, fit.clause.text),
            event_date=event_date(words, at),
            start=fit.clause.start,
            end=fit.clause.end,
            is_answer=fit.clause.is_answer,
        )

    return claim


def _statement(pattern: Pattern, match: re.Match[str], name: str, listener: str) -> str:
    us = person.TEAM if pattern.is_team else ""
    words = person.with_listener(match.string, listener)
    if pattern.statement:
        groups = {
            group: person.third_person(_inside(said or "", match.start(group)), name, us)
            for group, said in match.groupdict().items()
        }
        return _sentence(pattern.statement.format(speaker=name, **groups).rstrip(" .,;!"))
    told = person.third_person(words, name, us)
    if pattern.is_team or pattern.is_plain or person.mentions_speaker(words):
        return _sentence(told)
    return f"{name} says {words[0].lower()}{words[1:]}"


def _sentence(told: str) -> str:
    return told[:1].upper() + told[1:]


def _inside(said: str, start: int) -> str:
    """`said` without the capital of a sentence's beginning: it goes into another sentence."""
    return said if start or not said[1:2].islower() else said[0].lower() + said[1:]


def _entities(pattern: Pattern, match: re.Match[str], clause: str) -> tuple[str, ...]:
    named = [match[group] for group in pattern.entities if match[group]]
    return tuple(dict.fromkeys([*named, *entities.find(clause)]))
