from datetime import UTC, datetime

import pytest

from memories import patterns
from memories.patterns import PATTERNS, Found, Pattern

AT = datetime(2026, 2, 6, 12, 30, tzinfo=UTC)  # a Friday


def found(text: str, speaker: str = "Alex") -> list[Found]:
    return patterns.extract(text, speaker, AT)


def statements(text: str, speaker: str = "Alex") -> list[str]:
    return [claim.statement for claim in found(text, speaker)]


def by_rule(text: str, pattern: Pattern) -> list[str]:
    return [claim.statement for claim in found(text) if claim.rule == pattern.name]


EXAMPLES = [(p, *example) for p in PATTERNS for example in p.examples]
COUNTER_EXAMPLES = [(p, text) for p in PATTERNS for text in p.counter_examples]


@pytest.mark.parametrize(("pattern", "text", "statement"), EXAMPLES)
def test_every_example_of_a_pattern_gives_its_statement(
    pattern: Pattern, text: str, statement: str
) -> None:
    assert by_rule(text, pattern) == [statement]


@pytest.mark.parametrize(("pattern", "text"), COUNTER_EXAMPLES)
def test_no_counter_example_of_a_pattern_matches(pattern: Pattern, text: str) -> None:
    assert by_rule(text, pattern) == []


def test_every_pattern_has_a_name_of_its_own_and_examples() -> None:
    assert len({pattern.name for pattern in PATTERNS}) == len(PATTERNS)
    assert all(pattern.examples and pattern.counter_examples for pattern in PATTERNS)


def test_a_switch_of_tools_is_the_teams_technology() -> None:
    text = "We switched from JWT to Clerk for authentication because of compliance requirements"
    [claim] = found(text, "")
    assert claim.statement == "Team switched from JWT to Clerk"
    assert (claim.category, claim.confidence) == ("technology", 0.9)
    assert claim.entities == ("JWT", "Clerk")
    assert text[claim.start : claim.end] == text


def test_a_workaround_is_a_decision() -> None:
    [claim] = found("I found a workaround for NativeWind v4 by using className prop directly")
    assert claim.statement == "Found workaround for NativeWind v4 by using className prop directly"
    assert (claim.category, claim.confidence) == ("decision", 0.85)
    assert claim.entities == ("NativeWind v4", "className")


def test_a_demand_in_a_review_is_a_policy() -> None:
    [claim] = found("This function should add null check before reading user.name")
    assert (claim.statement, claim.category) == ("Should add null check", "policy")


def test_a_speaker_without_a_name_is_user() -> None:
    assert statements("I prefer tea", "") == ["User prefers tea"]


def test_a_claims_place_is_its_clause_and_not_the_message() -> None:
    text = "Good morning! I prefer tea over coffee. The weather is fine today."
    claim = found(text)[0]
    assert text[claim.start : claim.end] == "I prefer tea over coffee."


def test_a_beginning_is_dated_from_the_messages_time() -> None:
    claims = found("I started using Zustand last May. Started using Vim 3 weeks ago.")
    assert [c.event_date for c in claims] == [
        datetime(2025, 5, 1, tzinfo=UTC),
        datetime(2026, 1, 16, tzinfo=UTC),
    ]
    assert {c.category for c in claims} == {"temporal"}


def test_a_question_claims_nothing() -> None:
    assert statements("Should we say that I prefer tea?") == []
