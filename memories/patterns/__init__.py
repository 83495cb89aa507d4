"""Claims in plain language, found without any model: patterns as data over clauses of a text.

Pure: no database, no network, no clock. A pattern is a row in the file of its category.
"""

import re
from collections.abc import Callable
from datetime import datetime

from memories.patterns import clauses, content, dates, entities, library, person, reading, worth
from memories.patterns.clauses import Clause
from memories.patterns.library import PATTERNS
from memories.patterns.pattern import Found, Pattern
from memories.patterns.people import People
from memories.patterns.worth import Fit

__all__ = ["PATTERNS", "Found", "Pattern", "extract"]

UNKNOWN = "User"


def extract(text: str, speaker: str, occurred_at: datetime) -> list[Found]:
    """What `speaker` claims in `text`, each claim with its place; relative dates count from
    `occurred_at` (aware). A speaker without a name is "User"."""
    name, people = speaker.strip() or UNKNOWN, People()
    read = [(clause, _read(clause, people)) for clause in clauses.of_text(text)]
    fits = [fit for clause, words in read for fit in _fit(clause, words, name)]
    kept = worth.kept(fits, worth.message(text, name, read)) if fits else []
    found = {claim.statement.lower(): claim for claim in map(_claim(name, occurred_at), kept)}
    return list(found.values())


def _read(clause: Clause, people: People) -> str:
    return people.resolved(reading.with_subject(reading.plain(clause.text)))


def _fit(clause: Clause, words: str, name: str) -> list[Fit]:
    """The first pattern that fits a clause, if it claims anything."""
    if clause.is_question or not content.is_claim(words):
        return []
    for pattern in library.candidates(words, is_request=content.is_request(words)):
        match = pattern.find(words)
        if match:
            return [Fit(pattern, match, clause, content.weight(words, name))]
    return []


def _claim(name: str, at: datetime) -> Callable[[Fit], Found]:
    def claim(fit: Fit) -> Found:
        pattern, words = fit.pattern, fit.match.string
        return Found(
            statement=_statement(pattern, fit.match, words, name),
            category=pattern.category,
            fact_type=pattern.fact_type,
            confidence=pattern.confidence,
            rule=pattern.name,
            entities=_entities(pattern, fit.match, fit.clause.text),
            event_date=dates.ground(words, at),
            start=fit.clause.start,
            end=fit.clause.end,
        )

    return claim


def _statement(pattern: Pattern, match: re.Match[str], words: str, name: str) -> str:
    us = person.TEAM if pattern.is_team else ""
    if pattern.statement:
        groups = {
            group: person.third_person(_inside(said or "", match.start(group)), name, us)
            for group, said in match.groupdict().items()
        }
        return pattern.statement.format(speaker=name, **groups).rstrip(" .,;!")
    told = person.third_person(words, name, us)
    if pattern.is_team or person.mentions_speaker(words):
        return told[0].upper() + told[1:]
    return f"{name} says {words[0].lower()}{words[1:]}"


def _inside(said: str, start: int) -> str:
    """`said` without the capital of a sentence's beginning: it goes into another sentence."""
    return said if start or not said[1:2].islower() else said[0].lower() + said[1:]


def _entities(pattern: Pattern, match: re.Match[str], clause: str) -> tuple[str, ...]:
    named = [match[group] for group in pattern.entities if match[group]]
    return tuple(dict.fromkeys([*named, *entities.find(clause)]))
