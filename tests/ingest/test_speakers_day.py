"""Whose day it is: "yesterday" counts from the day of whoever speaks, by the offset of their message,
their own time zone or the workspace's."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memories.language.english.dates import event_date
from memories.models import Episode
from tests import api_fixtures
from tests.admin.test_admin_settings import save, settings_of
from tests.api_fixtures import Answer, caller
from tests.desk import member, messages_of
from tests.people import Person, backend_of, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject, Workspace
from workspaces.time_zones import by_clock, offset_of

LATE = "2026-04-16T03:30:00Z"  # the 15th in New York, the 16th in Shanghai
DENTIST = "I went to the dentist yesterday."


def told(person: Person, text: str, at: str, **more: Any) -> Answer:
    body = {"userId": "ada", "content": text, "occurredAt": at, **more}
    answer = caller(person).post("/memories/ingest", body)
    assert answer.status == 201, answer.body
    return answer


def days(answer: Answer) -> list[str]:
    return [memory["eventDate"][:10] for memory in answer.body["memories"]]


def live_in(person: Person, zone: str) -> Answer:
    Subject.objects.get_or_create(workspace=person.workspace, external_id="ada")
    [row] = caller(person).get("/subjects", externalId="ada").body["results"]
    return caller(person).patch(f"/subjects/{row['id']}", {"timezone": zone})


@pytest.mark.parametrize(
    ("text", "at", "day", "words"),
    [
        (DENTIST, "2026-04-16T00:30:00+08:00", "2026-04-15", "15 April 2026"),
        (DENTIST, "2026-04-15T23:30:00-07:00", "2026-04-14", "14 April 2026"),
        (DENTIST, "2026-04-16T00:30:00Z", "2026-04-15", "15 April 2026"),
        ("My passport expires next year.", "2026-12-31T20:00:00-06:00", "2027-01-01", "2027"),
        ("I moved to Ghent last month.", "2026-05-01T02:00:00+10:00", "2026-04-01", "April 2026"),
    ],
)
def test_days_count_from_the_offset_of_the_message(alice: Person, text: str, at: str, day: str, words: str) -> None:
    answer = told(alice, text, at)
    assert days(answer) == [day]
    assert words in answer.body["memories"][0]["content"]


def test_messages_of_one_talk_keep_each_its_own_offset(alice: Person) -> None:
    messages = [
        {"role": "user", "content": "I saw the doctor yesterday.", "createdAt": "2026-04-16T00:30:00+08:00"},
        {"role": "user", "content": "I sold my car yesterday.", "occurredAt": "2026-04-15T16:40:00+00:00"},
    ]
    answer = caller(alice).post("/memories/ingest", {"userId": "ada", "messages": messages})
    assert days(answer) == ["2026-04-15", "2026-04-14"]


def test_an_answer_says_the_time_as_it_was_told(alice: Person) -> None:
    told(alice, DENTIST, "2026-04-16T00:30:00+08:00", threadId="t")
    [episode] = caller(alice).get("/episodes").body["results"]
    assert episode["occurredAt"] == "2026-04-16T00:30:00+08:00"
    assert Episode.objects.get().occurred_at == datetime(2026, 4, 15, 16, 30, tzinfo=UTC)
    hit = caller(alice).post("/memories/search", {"query": "dentist", "layers": ["episodes"]}).body["results"][0]
    assert hit["episode"]["occurredAt"] == "2026-04-16T00:30:00+08:00"


def test_a_context_dates_a_message_by_its_speakers_clock(alice: Person) -> None:
    told(alice, DENTIST, "2026-04-16T00:30:00+08:00")
    text = caller(alice).post("/memories/context", {"query": "dentist", "userId": "ada", "floor": 0}).body["text"]
    assert "2026-04-16" in text
    assert "15 April" in text
    assert "14 April" not in text


def test_a_persons_time_zone_counts_for_times_in_utc(alice: Person) -> None:
    changed = live_in(alice, "America/New_York")
    assert (changed.status, changed.body["timezone"]) == (200, "America/New_York")
    assert days(told(alice, DENTIST, LATE)) == ["2026-04-14"]
    assert days(told(alice, "I sold my boat yesterday.", "2026-04-16T00:30:00+08:00")) == ["2026-04-15"]
    assert live_in(alice, "").body["timezone"] == ""
    assert days(told(alice, "I sold my car yesterday.", LATE)) == ["2026-04-15"]


def test_a_workspaces_time_zone_counts_for_people_without_their_own(alice: Person) -> None:
    assert caller(alice).patch("", {"settings": {"timezone": "America/New_York"}}).status == 200
    assert days(told(alice, DENTIST, LATE)) == ["2026-04-14"]
    live_in(alice, "Asia/Shanghai")
    assert days(told(alice, "I sold my boat yesterday.", "2026-04-15T20:00:00Z")) == ["2026-04-15"]
    assert days(told(alice, "I sold my car yesterday.", LATE, timezone="Europe/Madrid")) == ["2026-04-15"]


def test_a_preview_counts_as_the_ingest_would(alice: Person) -> None:
    live_in(alice, "America/New_York")
    body = {"userId": "ada", "content": DENTIST, "occurredAt": LATE}
    [fact] = caller(alice).post("/memories/extract", body).body["facts"]
    assert fact["eventDate"][:10] == "2026-04-14"


def test_a_question_counts_from_the_same_day(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    live_in(alice, "Asia/Tokyo")
    for place, day in (("Ghent", 14), ("Bruges", 15)):
        alice.note(f"Ada visited {place}", user_id="ada", event_date=datetime(2026, 4, day, tzinfo=UTC))
    asked = datetime(2026, 4, 15, 20, tzinfo=UTC)  # the 16th in Tokyo
    best = alice.ask("Which place did Ada visit yesterday?", user_id="ada", now=asked)[0]
    assert best.row.content == "Ada visited Bruges"


def test_a_zone_that_there_is_not_is_refused_by_its_field(alice: Person) -> None:
    refused = caller(alice).patch("", {"settings": {"timezone": "Mars/Olympus"}})
    assert (refused.status, refused.fields) == (400, ["settings.timezone"])
    refused = live_in(alice, "+02:00")
    assert (refused.status, refused.fields) == (400, ["timezone"])
    body = {"content": DENTIST, "timezone": "nowhere"}
    refused = caller(alice).post("/memories/ingest", body)
    assert (refused.status, refused.fields) == (400, ["timezone"])


def test_the_zone_of_a_person_is_changed_by_their_workspace_alone(alice: Person) -> None:
    row = Subject.objects.create(workspace=alice.workspace, external_id="ada")
    path, body = f"/subjects/{row.pk}", {"timezone": "Asia/Tokyo"}
    other = backend_of(Workspace.objects.create(slug="elsewhere", name="Elsewhere"))
    assert caller(other).patch(path, body).status == 404
    assert caller(other, alice.workspace).patch(path, body).status == 404
    eve = Subject.objects.create(workspace=alice.workspace, external_id="eve")
    limited = with_key(alice.workspace, KeyOptions("eve", subjects=(eve,)))
    assert caller(limited).patch(path, body).status == 404
    assert api_fixtures.member(alice.workspace, "viewer").patch(path, body).status == 403
    row.refresh_from_db()
    assert row.time_zone == ""


def test_an_owner_sets_both_zones_on_pages(alice: Person) -> None:
    desk = member(alice.workspace)
    assert save(desk, alice.workspace, time_zone="Europe/Madrid") is None
    assert settings_of(alice.workspace) == {"timezone": "Europe/Madrid"}
    form = save(desk, alice.workspace, time_zone="Madrid")
    assert form is not None
    assert "time_zone" in form.errors
    ada = Subject.objects.create(workspace=alice.workspace, external_id="ada")
    desk.does(ada, "rename", name="Ada", metadata="{}", time_zone="Asia/Tokyo")
    ada.refresh_from_db()
    assert (ada.name, ada.time_zone) == ("Ada", "Asia/Tokyo")
    assert "Not a time zone" in messages_of(desk.does(ada, "rename", name="Ada", metadata="{}", time_zone="Tokyo"))
    ada.refresh_from_db()
    assert ada.time_zone == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("at", "zones", "minutes"),
    [
        (datetime(2026, 4, 16, 3, 30, tzinfo=UTC), (), 0),
        (datetime(2026, 4, 16, 3, 30, tzinfo=UTC), ("", "Asia/Kolkata"), 330),
        (by_clock(datetime(2026, 4, 16, 3, 30, tzinfo=UTC), -420), ("Asia/Kolkata",), -420),
        (datetime(2026, 4, 16, tzinfo=UTC), ("Asia/Kolkata",), 0),  # a day without a time
        (datetime(1, 1, 1, 1, tzinfo=UTC), ("America/New_York",), 0),
        (datetime(9999, 12, 31, 23, tzinfo=UTC), ("Asia/Kolkata",), 0),
    ],
)
def test_an_offset_is_the_messages_own_or_that_of_the_first_zone(
    at: datetime, zones: tuple[str, ...], minutes: int
) -> None:
    assert offset_of(at, *zones) == minutes


def test_a_day_is_stored_as_midnight_in_utc_whatever_the_clock() -> None:
    at = by_clock(datetime(2026, 4, 15, 16, 30, tzinfo=UTC), 480)
    assert event_date("I went to the dentist yesterday", at) == datetime(2026, 4, 15, tzinfo=UTC)
