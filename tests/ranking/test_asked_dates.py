"""Dates in a query: which are read, and which memories and messages they bring up."""

from datetime import UTC, date, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from memories.belief import review
from memories.index import repair, workspace_index
from memories.ingest import NewMessage
from memories.language.english.calendar import Span, days_from, in_year, months_from
from memories.models import Entry, Layer, Memory
from memories.ranking import Candidate, Columns, analyse, event_question
from memories.ranking.hybrid import fits
from memories.search import Hit
from tests.api_fixtures import caller
from tests.people import Person


def at(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def named(year: int | None, month: int | None, day: int | None, days: int = 1) -> Span:
    """A day and those after it, a month or a year; the year None: of any year."""
    start = at(year or 2000, month or 1, day or 1)
    if day is None:
        span = months_from(start, 1 if month else 12, "month" if month else "year")
    else:
        span = days_from(start, days)
    return span._replace(any_year=year is None)


def asked(query: str, now: datetime | None) -> list[tuple[date, date, bool]]:
    return [days_of(span) for span in analyse(query, now=now).dates]


def days_of(span: Span) -> tuple[date, date, bool]:
    if span.any_year:
        span = in_year(span, 2000)._replace(any_year=True)
    return span.first_day, span.last_day, span.any_year


DAY = [named(2023, 5, 3)]
MONTH = [named(2023, 5, None)]


def fit(
    dates: list[Span], *, said: datetime | None = None, event: datetime | None = None, assistant: bool | None = False
) -> float:
    times = [when and when.timestamp() for when in (said, event)]
    row = Candidate(1, 1, 0.5, 1.0, at=times[0], event=times[1], assistant=assistant)
    return float(fits(dates, Columns.of([row]))[0])


# what is read


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("on 3 May 2023", [named(2023, 5, 3)]),
        ("on October 13, 2023", [named(2023, 10, 13)]),
        ("in june", [named(None, 6, None)]),
        ("on 2024-02-29", [named(2024, 2, 29)]),
        ("during 2022", [named(2022, None, None)]),
        ("may we march on?", []),
        ("99 December 2023", []),
        ("on 14.11.2026", [named(2026, 11, 14)]),
        ("yesterday and two months ago", []),
    ],
)
def test_dates_are_read_out_of_the_query(query: str, found: list[Span]) -> None:
    assert asked(query, None) == [days_of(span) for span in found]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("yesterday", named(2026, 11, 20)),
        ("what do I do tomorrow?", named(2026, 11, 22)),
        ("three months ago", named(2026, 8, None)),
        ("last year", named(2025, None, None)),
        ("next month", named(2026, 12, None)),
        ("last week", named(2026, 11, 9, 7)),
        ("this week", named(2026, 11, 16, 7)),
        ("two weeks ago", named(2026, 11, 2, 7)),
        ("next weekend", named(2026, 11, 28, 2)),
        ("ten months ago", named(2026, 1, None)),
        ("twelve years ago", named(2014, None, None)),
        ("in the past week", named(2026, 11, 14, 8)),
        ("over the past month", named(2026, 10, 22, 31)),
        ("during the past year", named(2025, 11, 21, 366)),
        ("the last three days", named(2026, 11, 18, 4)),
        ("in ten days", named(2026, 12, 1)),
        ("in two weeks", named(2026, 12, 2, 7)),
        ("in three months", named(2027, 2, None)),
        ("what happened last May", named(2026, 5, None)),
        ("what happened last November", named(2025, 11, None)),
        ("since last December", named(2025, 12, None)),
        ("next November", named(2027, 11, None)),
        ("next December", named(2026, 12, None)),
        ("the kettle last year in May", named(2025, 5, None)),
        ("in May of last year", named(2025, 5, None)),
        ("in the last week of May", named(None, 5, 25, 7)),
        ("in May", named(None, 5, None)),
        ("the day before yesterday", named(2026, 11, 19)),
        ("what did I do on Friday", named(2026, 11, 20)),
        ("what do I have next Tuesday", named(2026, 11, 24)),
        ("last night", named(2026, 11, 20, 2)),
        ("last May 2023", named(2023, 5, None)),
    ],
)
def test_relative_dates_are_read_from_the_day_of_the_question(query: str, found: Span) -> None:
    assert asked(query, at(2026, 11, 21))[0] == days_of(found)


# how well a day fits


def test_a_message_of_the_day_fits_it_best_and_those_of_its_month_little() -> None:
    days = (at(2023, 5, 3), at(2023, 5, 5), at(2023, 5, 28), at(2023, 9, 1))
    same, near, later, other = [fit(DAY, said=day) for day in days]
    assert (same, other) == (1.0, 0.0)
    assert same > near > later > other


def test_people_speak_of_a_month_when_it_is_over_not_before_it_began() -> None:
    assert 1.0 == fit(MONTH, said=at(2023, 5, 31)) > fit(MONTH, said=at(2023, 6, 8)) > 0
    assert fit(MONTH, said=at(2023, 4, 30)) == 0


def test_what_has_a_date_of_its_own_fits_by_that_and_not_by_when_it_was_said() -> None:
    said = at(2023, 5, 3)
    assert fit(MONTH, said=said, event=at(2023, 7, 1)) == 0
    assert fit(MONTH, said=at(2023, 1, 1), event=at(2023, 5, 1)) == 1.0
    assert fit(MONTH, said=said, event=at(2023, 6, 1)) == 0


def test_an_event_of_the_day_is_told_from_the_others_of_its_month() -> None:
    same, next_day, same_month = [fit(DAY, event=at(2023, 5, day)) for day in (3, 4, 12)]
    assert same == 1.0
    assert next_day <= 0.5
    assert 0 < same_month <= 0.2


def test_an_event_fits_the_whole_week_that_is_named() -> None:
    week = [named(2023, 5, 1, 7)]
    assert [fit(week, event=at(2023, 5, day)) for day in (1, 4, 7)] == [1.0, 1.0, 1.0]
    assert fit(week, event=at(2023, 5, 9)) < 0.2


def test_an_event_of_the_year_that_is_named_counts_more_than_what_was_said_in_it() -> None:
    year = [named(2023, None, None)]
    assert fit(year, event=at(2023, 5, 1)) > fit(year, said=at(2023, 5, 1)) > 0
    assert fit(year, event=at(2024, 1, 1)) == 0


@pytest.mark.parametrize("query", ["half past ten", "in past years", "the last two weeks of May"])
def test_no_time_is_read_out_of_other_words(query: str) -> None:
    assert not [span for span in asked(query, at(2026, 11, 21)) if not span[2]]


def test_the_past_year_is_no_finer_than_a_year() -> None:
    past, year = [named(2022, 12, 31, 366)], [named(2023, None, None)]
    assert fit(past, said=at(2023, 5, 3)) == fit(year, said=at(2023, 5, 3)) > 0
    assert fit(past, said=at(2021, 5, 3)) == 0


def test_a_month_without_a_year_is_that_of_any_year() -> None:
    june = [named(None, 6, None)]
    assert [fit(june, event=at(year, 6, 1)) for year in (1999, 2031)] == [1.0, 1.0]


def test_what_is_told_without_a_date_is_less_sure_than_a_message() -> None:
    said = at(2023, 5, 3)
    assert 0 < fit(DAY, said=said, assistant=None) < fit(DAY, said=said)
    assert fit(DAY, said=at(2023, 5, 4), assistant=None) == 0
    assert fit(DAY) == 0


@pytest.mark.parametrize("never", ["2023-13-01", "on 31 February 2023", "0000-01-01"])
def test_a_date_that_there_is_not_is_not_asked_for(never: str) -> None:
    assert asked(f"what happened {never}?", at(2026, 11, 21)) == []


# what is found


def with_date(hits: list[Hit]) -> list[str]:
    """Those that the query's date meets in full."""
    best = max(hit.scores.get("date", 0.0) for hit in hits)
    return [hit.memory.content for hit in hits if hit.scores.get("date", 0.0) == best > 0]


def test_a_plan_is_found_by_the_month_it_is_for(alice: Person) -> None:
    alice.note("Ada flies to Japan", event_date=at(2031, 10, 1))
    alice.note("Ada paints the fence", event_date=at(2031, 6, 1))
    alice.note("Ada has a dog")
    found = alice.ask("what is planned for October 2031?")
    assert found[0].memory.content == "Ada flies to Japan"
    assert [hit.memory.content for hit in found if "date" in hit.scores] == ["Ada flies to Japan"]


def test_the_day_is_finer_than_its_month(alice: Person) -> None:
    for day in (1, 8, 20, 30):
        alice.note(f"Ada went to town number {day}", event_date=at(2026, 6, day))
    found = alice.ask("what happened on 8 June 2026")
    assert found[0].memory.content == "Ada went to town number 8"
    assert max(hit.scores.get("date", 0) for hit in found[1:]) < found[0].scores["date"] / 3


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("yesterday", 1),
        ("last week", 7),
        ("tomorrow", -1),
        ("in the past month", 20),
        ("in two weeks", -14),
    ],
)
def test_relative_days_meet_the_events_of_that_time(alice: Person, query: str, days: int) -> None:
    now = timezone.now()
    alice.note("Ada baked bread", event_date=now - timedelta(days=days))
    alice.note("Ada sowed beans", event_date=now - timedelta(days=40))
    assert with_date(alice.ask(f"what of Ada {query}?")) == ["Ada baked bread"]


def test_the_day_before_yesterday_is_not_yesterday(alice: Person) -> None:
    http, now = caller(alice), timezone.now()
    for days, place in ((1, "Ghent"), (2, "Bruges"), (3, "Namur")):
        alice.note(f"Ada went to {place}", event_date=now - timedelta(days=days))
    query = {"query": "Where did I go the day before yesterday?", "include": ["scores"]}
    best, *others = http.post("/memories/search", query).body["results"]
    assert best["memory"]["content"] == "Ada went to Bruges"
    assert all(other["scores"]["date"] < best["scores"]["date"] for other in others)


def test_a_date_that_is_read_out_of_the_words_is_met(alice: Person) -> None:
    alice.say("I have an appointment with the dentist on 3 March 2031.")
    alice.say("I have two cats.")
    (found,) = with_date(alice.ask("what is there in March 2031?"))
    assert "dentist" in found


def test_recency_still_goes_by_when_it_became_true(alice: Person) -> None:
    memory = alice.note("Ada flies to Japan", event_date=at(2031, 10, 1))
    entry = Entry.objects.get(item=memory.pk)
    assert (entry.occurred_at, entry.event_at) == (memory.valid_from, memory.event_date)


# truth and index agree


def test_a_corrected_date_is_met_at_once(alice: Person) -> None:
    memory = alice.note("Ada flies to Japan", event_date=at(2031, 10, 1))
    wish = {"event_date": at(2032, 2, 1), "valid_from": at(2026, 1, 1)}
    review.edit(alice.scope, memory.pk, wish)
    assert "date" in alice.ask("what is planned for February 2032?")[0].scores
    assert "date" not in alice.ask("what is planned for October 2031?")[0].scores
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())


def test_a_new_version_keeps_the_date(alice: Person) -> None:
    memory = alice.note("Ada flies to Japan", event_date=at(2031, 10, 1))
    review.edit(alice.scope, memory.pk, {"content": "Ada sails to Japan"})
    assert with_date(alice.ask("what is planned for October 2031?")) == ["Ada sails to Japan"]
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())


def test_entries_of_before_are_given_their_dates(alice: Person) -> None:
    memory = alice.note("Ada flies to Japan", event_date=at(2031, 10, 1))
    plain = alice.note("Ada has a dog")
    Entry.objects.update(event_at=None, rules=0)
    Memory.objects.filter(pk=plain.pk).update(valid_from=at(2020, 1, 1))
    index = workspace_index.index_of(alice.workspace.pk)
    repair.repair(index, Layer.MEMORIES, [memory.pk, plain.pk])
    assert Entry.objects.get(item=memory.pk).event_at == at(2031, 10, 1)
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())


# events in the place of dates


@pytest.mark.parametrize(
    ("query", "events", "about", "is_before"),
    [
        ("What did I do before the surgery?", ("the surgery",), "What did I do", True),
        ("After the move, where did I eat?", ("the move",), "where did I eat", False),
        ("How many weeks between the fire and the move?", ("the fire", "the move"), "", False),
        ("Which came first, the fire or the move?", ("the fire", "the move"), "", False),
        ("How long after the fire did we move?", ("the fire", "we move"), "", False),
        ("How long was I ill before the move?", ("the move",), "How long was I ill", True),
    ],
)
def test_an_event_names_a_time(query: str, events: tuple[str, ...], about: str, is_before: bool) -> None:
    question = event_question(query)
    assert question is not None
    assert (question.events, question.about, question.is_before) == (events, about, is_before)


@pytest.mark.parametrize(
    "query",
    [
        "What did I do before May 2023?",
        "Where do I live?",
        "What happened after that?",
        "Tea or coffee?",
        "How long did it take to get between them?",
        "x " * 200 + "before the move",
    ],
)
def test_what_names_no_event_is_asked_as_it_is(query: str) -> None:
    assert event_question(query) is None


def test_what_lies_before_an_event_is_found(alice: Person) -> None:
    for day, text in (
        (3, "My lunch is at the harbour."),
        (10, "We moved to Bristol today."),
        (20, "My lunch is in the park."),
    ):
        alice.say(NewMessage(text, created_at=at(2026, 3, day)), user_id="ada")
    wish = {"user_id": "ada", "layers": ("episodes",)}
    assert "harbour" in alice.finds("Where was my lunch before the move to Bristol?", **wish)[0]
    assert "park" in alice.finds("Where was my lunch after we moved to Bristol?", **wish)[0]
    assert "park" in alice.finds("Where was my lunch right after we moved to Bristol?", **wish)[0]
    both = alice.finds("What came first, the lunch in the park or the move?", **wish)[:2]
    assert [("park" in text, "moved" in text) for text in both] == [(True, False), (False, True)]
    assert alice.finds("Where was my lunch before the eclipse?", **wish)
