"""A language is a folder: German is read where a workspace names it, and nowhere else."""

from datetime import UTC, datetime, timedelta

import pytest

from memories.language import languages
from memories.language.german import dates, patterns
from memories.settings.workspace_settings import faults_of
from tests.api_fixtures import caller
from tests.people import Person

AT = datetime(2026, 11, 18, 12, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "statement"),
    [example for pattern in patterns.PATTERNS for example in pattern.examples],
)
def test_a_german_pattern_finds_its_examples(text: str, statement: str) -> None:
    assert [claim.statement for claim in patterns.extract(text, "Alex", AT)] == [statement]


@pytest.mark.parametrize(
    ("name", "text"),
    [(each.name, text) for each in patterns.PATTERNS for text in each.counter_examples],
)
def test_a_german_pattern_leaves_its_counter_examples(name: str, text: str) -> None:
    assert name not in [claim.rule for claim in patterns.extract(text, "Alex", AT)]


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("gestern", "2026-11-17", "2026-11-17"),
        ("vorgestern", "2026-11-16", "2026-11-16"),
        ("übermorgen", "2026-11-20", "2026-11-20"),
        ("vor drei Tagen", "2026-11-15", "2026-11-15"),
        ("vor zwei Wochen", "2026-11-02", "2026-11-08"),
        ("letzte Woche", "2026-11-09", "2026-11-15"),
        ("nächsten Monat", "2026-12-01", "2026-12-31"),
        ("letztes Jahr", "2025-01-01", "2025-12-31"),
        ("am 3. Mai 2024", "2024-05-03", "2024-05-03"),
        ("am 14.11.2026", "2026-11-14", "2026-11-14"),
        ("im Mai", "2026-05-01", "2026-05-31"),
        ("seit 2019", "2019-01-01", "2019-12-31"),
    ],
)
def test_german_dates_are_counted_from_the_clock(words: str, first: str, last: str) -> None:
    (span,) = dates.spans(f"Ich war {words} dort", AT)
    assert (str(span.first_day), str(span.last_day)) == (first, last)


@pytest.mark.parametrize("text", ["Guten Morgen!", "Hallo zusammen, wie geht's?", "Vielen Dank!"])
def test_german_courtesies_are_known(text: str) -> None:
    assert languages.is_courtesy(text, ["de"])
    assert not languages.is_courtesy(text, ["en"])


def test_no_german_is_read_unless_the_workspace_names_it(alice: Person) -> None:
    alice.say("Ich wohne in Graz.")
    assert alice.live() == []


def test_a_workspace_that_names_german_learns_from_it(alice: Person) -> None:
    name_german(alice)
    alice.say("Ich wohne in Graz.")
    (statement,) = alice.live()
    assert statement.endswith("lives in Graz")


def test_a_german_date_in_a_query_meets_its_day(alice: Person, still_clock: datetime) -> None:
    name_german(alice)
    for days, place in ((1, "Ghent"), (2, "Bruges")):
        alice.note(f"Ada went to {place}", event_date=still_clock - timedelta(days=days))
    query = {"query": "Ada vorgestern", "include": ["scores"]}
    best = caller(alice).post("/memories/search", query).body["results"][0]
    assert best["memory"]["content"] == "Ada went to Bruges"


@pytest.mark.parametrize("wrong", [["fr"], "de", [], [7]])
def test_a_language_that_there_is_not_is_refused(wrong: object) -> None:
    assert faults_of({"languages": wrong})
    assert not faults_of({"languages": ["en", "de"]})


def name_german(person: Person) -> None:
    person.workspace.settings = {**person.workspace.settings, "languages": ["en", "de"]}
    person.workspace.save()
