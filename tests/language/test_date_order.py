"""Whether 3/4/2026 is in March or in April: the workspace says it, for what is told and what is
asked."""

from datetime import UTC, date, datetime

import pytest
from django.utils import timezone

from memories.language.english.dates import spans
from memories.models import Fact
from memories.reading.extraction.evidence import Evidence, unsupported
from memories.settings.workspace_settings import faults_of
from tests.admin.test_admin_settings import save, settings_of
from tests.api_fixtures import caller
from tests.desk import member, page_of
from tests.people import Person
from workspaces.models import Workspace

AT = datetime(2026, 11, 18, 12, tzinfo=UTC)
MARCH, APRIL = date(2026, 3, 4), date(2026, 4, 3)
BOTH = pytest.mark.parametrize(("order", "day"), [("month_first", MARCH), ("day_first", APRIL), (None, MARCH)])


@BOTH
def test_what_is_told_is_dated_in_the_order_of_the_workspace(alice: Person, order: str | None, day: date) -> None:
    read_in(alice, order)
    alice.say("I moved to Ghent on 3/4/2026.")
    assert dates_of_facts() == [day]


@BOTH
def test_what_is_asked_means_the_same_day(alice: Person, order: str | None, day: date) -> None:
    read_in(alice, order)
    for each, place in ((MARCH, "Ghent"), (APRIL, "Bruges")):
        at = datetime(each.year, each.month, each.day, tzinfo=UTC)
        alice.note(f"Ada went to {place}", event_date=at)
    query = {"query": "Where did Ada go on 3/4/2026?"}
    best = caller(alice).post("/memories/search", query).body["results"][0]
    assert best["memory"]["content"] == f"Ada went to {'Ghent' if day == MARCH else 'Bruges'}"


@BOTH
def test_a_model_may_name_the_month_in_words(order: str | None, day: date) -> None:
    evidence = Evidence(
        ("I leave Oslo on 3/4/2026",),
        "",
        "",
        ("Ada",),
        AT,
        **({"date_order": order} if order else {}),
    )
    right, wrong = ("4 March", "3 April") if day == MARCH else ("3 April", "4 March")
    assert unsupported(f"Ada leaves Oslo on {right} 2026", evidence) == ""
    assert "month" in unsupported(f"Ada leaves Oslo on {wrong} 2026", evidence)


@pytest.mark.parametrize(("order", "is_over"), [("month_first", True), ("day_first", False)])
def test_a_plan_is_over_after_the_day_that_is_meant(alice: Person, order: str, is_over: bool) -> None:
    read_in(alice, order)
    http, year = caller(alice), timezone.now().year - 1
    at = f"{year}-01-02T12:00:00Z"
    text = f"I am going to sail to Malta on 1/12/{year}."
    message = {"role": "user", "name": "Ada", "content": text, "createdAt": at}
    http.post("/memories/ingest", {"userId": "ada", "messages": [message]})
    http.post("/sets/user:ada/fold")
    told = http.get("/memories/profile", userId="ada", validAt=f"{year}-06-01T00:00:00Z").body
    assert ("Malta" not in " ".join(told["dynamic"])) is is_over


@pytest.mark.parametrize("order", ["auto", "day_first", "month_first"])
@pytest.mark.parametrize(
    "text",
    ["on 14.11.2026", "on 11/14/2026", "on 14/11/2026", "on 2026-11-14", "on 14 November 2026"],
)
def test_what_can_be_read_one_way_alone_is_read_so(text: str, order: str) -> None:
    (span,) = spans(text, AT, order)
    assert span.first_day == date(2026, 11, 14)


def test_an_order_that_there_is_not_is_refused(alice: Person) -> None:
    assert faults_of({"dateOrder": "year_first"})
    assert not faults_of({"dateOrder": "day_first"})
    refused = caller(alice).patch("", {"settings": {"dateOrder": "year_first"}})
    assert (refused.status, refused.fields) == (400, ["settings.dateOrder"])


def test_an_admin_chooses_the_order_in_the_form(workspace: Workspace) -> None:
    alice = member(workspace)
    assert save(alice, workspace, date_order="day_first") is None
    assert settings_of(workspace) == {"dateOrder": "day_first"}
    assert save(alice, workspace, date_order="") is None
    assert settings_of(workspace) == {}
    assert "Dates in numbers" in alice.sees(page_of(workspace))


def dates_of_facts() -> list[date]:
    return [fact.event_date.date() for fact in Fact.objects.all() if fact.event_date]


def read_in(person: Person, order: str | None) -> None:
    if order is not None:
        person.workspace.settings = {**person.workspace.settings, "dateOrder": order}
        person.workspace.save()
