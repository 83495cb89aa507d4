"""What a pattern is, and what one finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

FACT_TYPES = {
    "preference": "preference",
    "identity": "profile",
    "relationship": "profile",
    "possession": "profile",
    "plan": "event",
    "temporal": "event",
    "policy": "fact",
    "technology": "fact",
    "decision": "fact",
    "instruction": "system",
    "other": "fact",
}
TEAM_CATEGORIES = frozenset({"policy", "technology", "decision"})


@dataclass(frozen=True, slots=True)
class Found:
    """One claim found in a text; `text[start:end]` is the sentence or clause that says it.

    `is_answer`: it says so only together with the question that was asked before. `parts` are
    where the words stand that a workspace's own pattern tells.
    """

    statement: str
    category: str
    fact_type: str
    confidence: float
    rule: str
    entities: tuple[str, ...]
    event_date: datetime | None
    start: int
    end: int
    is_answer: bool = False
    parts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Pattern:
    """A named form of words that makes a claim.

    `regex` is searched in one clause, without its opening interjections. `statement` is a
    template over the named groups and `{speaker}`; empty: the clause itself, in the third person.
    `entities` names groups whose text is an entity. `is_team` makes "we" the team. `is_plain`: a clause
    that does not speak of its speaker is the claim as it stands, not "Alex says". `needs` are
    words, in small letters, of which a clause must have one to be tried at all. `examples` are
    (text, statement) pairs said by Alex, `counter_examples` texts that it must not match.
    """

    name: str
    category: str
    regex: str
    examples: Sequence[tuple[str, str]]
    counter_examples: Sequence[str]
    confidence: float = 0.8
    statement: str = ""
    entities: Sequence[str] = ()
    is_team: bool = False
    is_plain: bool = False
    needs: Sequence[str] = ()

    @property
    def fact_type(self) -> str:
        return FACT_TYPES[self.category]

    @property
    def visibility(self) -> str:
        """Who sees what it finds unless the caller says otherwise."""
        return "team" if self.category in TEAM_CATEGORIES else "private"
