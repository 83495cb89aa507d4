"""Claims in plain language, found without any model: patterns as data over clauses of a text.

Pure: no database, no network, no clock. A pattern is a row in the file of its category.
"""

import re
from datetime import datetime

from memories.patterns import clauses, dates, entities, person, subjectless
from memories.patterns.clauses import Clause
from memories.patterns.library import PATTERNS
from memories.patterns.pattern import Found, Pattern

__all__ = ["PATTERNS", "Found", "Pattern", "extract"]

UNKNOWN = "User"


def extract(text: str, speaker: str, occurred_at: datetime) -> list[Found]:
    """What `speaker` claims in `text`, each claim with its place; relative dates count from
    `occurred_at` (aware). A speaker without a name is "User"."""
    found: dict[str, Found] = {}
    for clause in clauses.of_text(text):
        claim = (
            None if clause.is_question else _claim(clause, speaker.strip() or UNKNOWN, occurred_at)
        )
        if claim is not None:
            found.setdefault(claim.statement.lower(), claim)
    return list(found.values())


def _claim(clause: Clause, speaker: str, at: datetime) -> Found | None:
    for pattern in PATTERNS:
        match = pattern.compiled.search(clause.text)
        if match:
            return Found(
                statement=_statement(pattern, match, clause.text, speaker),
                category=pattern.category,
                fact_type=pattern.fact_type,
                confidence=pattern.confidence,
                rule=pattern.name,
                entities=_entities(pattern, match, clause.text),
                event_date=dates.ground(clause.text, at),
                start=clause.start,
                end=clause.end,
            )
    return None


def _statement(pattern: Pattern, match: re.Match[str], clause: str, speaker: str) -> str:
    us = "Team" if pattern.is_team else ""
    if not pattern.statement:
        return subjectless.completed(person.third_person(clause, speaker, us), clause, speaker)
    groups = {
        name: person.third_person(text or "", speaker, us)
        for name, text in match.groupdict().items()
    }
    return pattern.statement.format(speaker=speaker, **groups).rstrip(" .,;!")


def _entities(pattern: Pattern, match: re.Match[str], clause: str) -> tuple[str, ...]:
    named = [match[name] for name in pattern.entities if match[name]]
    return tuple(dict.fromkeys([*named, *entities.find(clause)]))
