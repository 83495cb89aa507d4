import time
from datetime import UTC, datetime

import pytest

from memories.language.english import find_claims
from memories.language.english.patterns.library import PATTERNS
from memories.language.english.patterns.pattern import Found, Pattern

AT = datetime(2026, 2, 6, 12, 30, tzinfo=UTC)  # a Friday


def found(text: str, speaker: str = "Alex") -> list[Found]:
    return find_claims.extract(text, speaker, AT)


def statements(text: str, speaker: str = "Alex") -> list[str]:
    return [claim.statement for claim in found(text, speaker)]


def by_rule(text: str, pattern: Pattern) -> list[str]:
    return [claim.statement for claim in found(text) if claim.rule == pattern.name]


EXAMPLES = [(p, *example) for p in PATTERNS for example in p.examples]
COUNTER_EXAMPLES = [(p, text) for p in PATTERNS for text in p.counter_examples]


@pytest.mark.parametrize(("pattern", "text", "statement"), EXAMPLES)
def test_every_example_of_a_pattern_gives_its_statement(pattern: Pattern, text: str, statement: str) -> None:
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


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("The team relies on ClickHouse for reports.", "Team relies on ClickHouse for reports"),
        ("The team doesn't merge without a green build.", "Team policy: don't merge without a green build"),
        ("Our team never pushes to main.", "Team policy: never push to main"),
        ("Team has settled on Bazel for the monorepo.", "Team settled on Bazel for the monorepo"),
        ("The team's backend is written in Elixir.", "The team's backend is written in Elixir"),
        ("Our team lost the relay.", "Alex's team lost the relay"),
    ],
)
def test_what_is_told_of_the_team_is_told_as_by_one_of_it(text: str, statement: str) -> None:
    assert statements(text) == [statement]


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


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I don't live in Rome anymore", "Alex doesn't live in Rome anymore"),
        ("I might move to Lyon next month", "Alex might move to Lyon next month"),
        ("I'm not planning to sell the boat", "Alex is not planning to sell the boat"),
        ("I love opera and hate olives", "Alex loves opera and hates olives"),
        ("I've decided to teach my son chess", "Alex has decided to teach their son chess"),
        ("Me and my brother went fishing", "Alex and their brother went fishing"),
        ("No need to wait, I moved to Oslo", "Alex moved to Oslo"),
        (
            "I enjoy the songs of faith and love here",
            "Alex enjoys the songs of faith and love here",
        ),
        ("i use vim and tmux", "Alex uses vim and tmux"),
        ("I moved my backups to us-west-2", "Alex moved their backups to us-west-2"),
        ("My favourite poet is Edna B. Moss", "Alex's favourite poet is Edna B. Moss"),
        ("Just got back from Rome", "Alex just got back from Rome"),
        ("Been learning Finnish for two years", "Alex has been learning Finnish for two years"),
        ("Can\u2019t wait to move to Malta", "Alex can't wait to move to Malta"),
        ("My cousin Priya and I restored a tram", "Alex and their cousin Priya restored a tram"),
        (
            "Last autumn my best friend Odo and I cycled to Trieste",
            "Last autumn Alex and their best friend Odo cycled to Trieste",
        ),
    ],
)
def test_the_first_person_becomes_the_third(text: str, statement: str) -> None:
    assert statements(text) == [statement]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I work for R. T. Lindqvist as a clerk.", "Alex works for R. T. Lindqvist as a clerk"),
        ("My landlord is G. Okafor. He is strict.", "Alex's landlord is G. Okafor"),
        ("I live near Mt. Hood with two dogs.", "Alex lives near Mt. Hood with two dogs"),
        ("My favourite painter is L. S. Lowry.", "Alex's favourite painter is L. S. Lowry"),
        ("We settled on plan B. Marta told us.", "Team settled on plan B"),
    ],
)
def test_the_dots_of_a_name_end_no_sentence(text: str, statement: str) -> None:
    assert statements(text)[0] == statement


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "My aunt Greta used to say: sell the boat",
            "Alex's aunt Greta used to say: sell the boat",
        ),
        ("My lawyer advises: wait until spring", "Alex's lawyer advises: wait until spring"),
        ("My shoe size: 41", "Alex's shoe size is 41"),
    ],
)
def test_what_somebody_says_is_no_thing_of_his(text: str, statement: str) -> None:
    assert statements(text) == [statement]


def test_clauses_are_claims_of_their_own() -> None:
    text = "I prefer tea, but my wife prefers coffee."
    first, second = found(text)
    assert (first.statement, second.statement) == ("Alex prefers tea", "Alex's wife prefers coffee")
    assert text[second.start : second.end] == "my wife prefers coffee."


def test_a_pronoun_stands_for_the_person_named_before() -> None:
    text = "My sister lives in Oslo. She works as a nurse."
    assert statements(text) == ["Alex's sister lives in Oslo", "Alex's sister works as a nurse"]


def test_a_pronoun_does_not_stand_for_a_person_of_another_sex() -> None:
    assert statements("My brother lives in Oslo. She works as a nurse.") == ["Alex's brother lives in Oslo"]


@pytest.mark.parametrize(
    "text",
    [
        "If I had a boat, I would sail to Malta.",
        "She said I like cats.",
        'My boss told me "I hate meetings".',
        "> I prefer tea",
        "```\nI prefer tea\n```",
        "<memories>I prefer tea</memories>",
        "I think so.",
        "I hope you're well!",
        "Do I prefer tea?",
        "Can you help me with my taxes?",
        "I can't wait to see what happens",
        "",
        "   \n\t ",
        "???",
    ],
)
def test_what_claims_nothing_makes_no_claim(text: str) -> None:
    assert statements(text) == []


def test_every_claims_place_lies_in_the_text_and_not_beyond_its_sentence() -> None:
    texts = [text for _, text, _ in EXAMPLES]
    joined = "  ".join(text.rstrip(".") + "." for text in texts)
    for claim in found(joined):
        quote = joined[claim.start : claim.end]
        assert quote.strip() == quote
        assert any(quote.rstrip(".") in text for text in texts)


def test_names_versions_and_identifiers_are_entities() -> None:
    [claim] = found("We're using PostgreSQL 16 with rowLevelSecurity since 2024")
    assert claim.entities == ("PostgreSQL 16", "rowLevelSecurity")


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("yesterday", (2026, 2, 5)),
        ("last night", (2026, 2, 5)),
        ("the day before yesterday", (2026, 2, 4)),
        ("last Friday", (2026, 1, 30)),
        ("on Tuesday", (2026, 2, 3)),
        ("two weeks ago", (2026, 1, 23)),
        ("a few days ago", (2026, 2, 3)),
        ("last month", (2026, 1, 1)),
        ("last year", (2025, 1, 1)),
        ("in May", (2025, 5, 1)),
        ("last summer", (2025, 6, 1)),
        ("in 2019", (2019, 1, 1)),
        ("on May 3rd, 2020", (2020, 5, 3)),
        ("on 12 January", (2026, 1, 12)),
        ("on 2025-11-30", (2025, 11, 30)),
        ("ten years ago", (2016, 1, 1)),
    ],
)
def test_a_past_date_is_counted_from_the_messages_time(words: str, day: tuple[int, int, int]) -> None:
    [claim] = found(f"I visited the tram museum {words}")
    assert claim.event_date == datetime(*day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("tomorrow", (2026, 2, 7)),
        ("next month", (2026, 3, 1)),
        ("next Friday", (2026, 2, 13)),
        ("on Tuesday", (2026, 2, 10)),
        ("in two weeks", (2026, 2, 20)),
        ("in May", (2026, 5, 1)),
        ("next year", (2027, 1, 1)),
        ("next weekend", (2026, 2, 14)),
    ],
)
def test_a_coming_date_is_counted_from_the_messages_time(words: str, day: tuple[int, int, int]) -> None:
    [claim] = found(f"I'm going to visit the tram museum {words}")
    assert claim.event_date == datetime(*day, tzinfo=UTC)


@pytest.mark.parametrize("words", ["on 31 February", "in a second", "99999 years ago", "on 2025-99-99"])
def test_what_is_no_date_gives_none(words: str) -> None:
    [claim] = found(f"I visited the tram museum {words}")
    assert claim.event_date is None


@pytest.mark.parametrize(
    "text",
    [
        "I " * 30_000,
        "we switched from " * 5_000,
        "a" * 100_000,
        "I have a " + "very " * 20_000 + "old dog",
        '"' * 50_000,
        "I like tea and " * 8_000,
        "I love it. " * 9_000,
        "my my my " * 10_000,
        "<memories>" * 10_000,
        "``" * 30_000,
        "[shared a photo: " * 5_000,
        "\n- " * 30_000,
        "so, well, " * 10_000,
        " " * 100_000 + "I like tea",
        "I like tea" + " \n" * 50_000,
        "I like tea - " * 9_000,
    ],
)
def test_a_long_text_takes_as_much_longer_as_it_is_longer(text: str) -> None:
    half, whole = seconds(text[: len(text) // 2]), seconds(text)
    assert whole < 3 * half + 1  # four times is the square


def seconds(text: str) -> float:
    started = time.process_time()
    found(text)
    return time.process_time() - started


def test_a_question_claims_nothing() -> None:
    assert statements("Should we say that I prefer tea?") == []
