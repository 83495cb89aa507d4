"""`saidBefore`: what had been said by then, of history that came in at once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from memories.ingest import NewMessage
from tests.api_fixtures import Caller, caller
from tests.people import Person, bound_to_agent

MARCH, MAY, JULY = (datetime(2024, month, 1, tzinfo=UTC) for month in (3, 5, 7))
LISBON, PORTO = "I live in Lisbon.", "I moved to Porto, and I live there now."


def say(person: Person, content: str, at: datetime) -> None:
    person.say(NewMessage(content, created_at=at), user_id="ada", thread_id=person.key[-8:])


@pytest.fixture
def moved(alice: Person) -> Person:
    """Told in one go of a home in March, and of another one in July."""
    say(alice, LISBON, MARCH)
    say(alice, "I live in Porto.", JULY)
    return alice


def listed(http: Caller, at: datetime, **more: str) -> list[dict[str, Any]]:
    return list(http.get("/memories", saidBefore=at.isoformat(), userId="ada", **more).body["results"])


def told(http: Caller, at: datetime) -> set[str]:
    """All texts that a search, a context, a profile and a list have of that time."""
    wish = {"query": "Where do I live?", "userId": "ada", "saidBefore": at.isoformat()}
    hits = http.post("/memories/search", wish).body["results"]
    texts = [(one.get("memory") or one["episode"])["content"] for hit in hits for one in (hit, *hit.get("echoes", ()))]
    texts.append(http.post("/memories/context", {**wish, "floor": 0}).body["text"])
    profile = http.get("/memories/profile", userId="ada", saidBefore=at.isoformat()).body
    texts += [row["content"] for group in ("facts", "profile") for row in profile[group]]
    return {*texts, *(row["content"] for row in listed(http, at))}


def test_what_was_said_later_counts_nowhere(moved: Person) -> None:
    then = told(caller(moved), MAY)
    assert any("Lisbon" in text for text in then)
    assert not any("Porto" in text for text in then)


def test_what_later_words_replaced_is_believed_again(moved: Person) -> None:
    (row,) = listed(caller(moved), MAY)
    assert "Lisbon" in row["content"]
    assert (row["isLatest"], row["supersededById"], row["validUntil"]) == (True, None, None)
    assert (row["standing"], row.get("laterSaid", [])) == ("current", [])


def test_after_the_last_word_all_is_as_it_is_now(moved: Person) -> None:
    http = caller(moved)
    now = http.get("/memories", userId="ada").body["results"]
    assert [row["id"] for row in listed(http, timezone.now())] == [row["id"] for row in now]


def test_before_the_first_word_nothing_is_known(moved: Person) -> None:
    assert listed(caller(moved), MARCH - timedelta(days=1)) == []


def test_the_servers_own_clock_is_another_question(moved: Person) -> None:
    known = caller(moved).get("/memories", knownAt=MAY.isoformat(), userId="ada").body["results"]
    assert known == []


def test_what_was_forgotten_stays_forgotten(moved: Person) -> None:
    http = caller(moved)
    (row,) = listed(http, MAY)
    http.delete(f"/memories/{row['id']}?reason=private")
    assert listed(http, MAY) == []
    assert not any("Lisbon" in text for text in told(http, MAY))


@pytest.mark.parametrize("given", ["2024-05-01T00:00:00", "2999-01-01T00:00:00Z", "last May", "2024-13-01T00:00:00Z"])
def test_a_time_that_cannot_be_meant_is_refused_by_name(alice: Person, given: str) -> None:
    http = caller(alice)
    answers = [
        http.post("/memories/search", {"query": "home", "saidBefore": given}),
        http.post("/memories/context", {"query": "home", "saidBefore": given}),
        http.get("/memories/profile", userId="ada", saidBefore=given),
        http.get("/memories", saidBefore=given),
    ]
    for answer in answers:
        assert answer.status == 400
        assert "saidBefore" in str(answer.body)


def test_each_sees_of_that_time_what_they_see_now(alice: Person, mallory: Person) -> None:
    owner, teammate = bound_to_agent(alice.workspace, "keeper"), bound_to_agent(alice.workspace, "helper")
    say(owner, LISBON, MARCH)
    say(owner, PORTO, JULY)
    assert any("Lisbon" in text for text in told(caller(owner), MAY))
    assert not any("Lisbon" in text for text in told(caller(teammate), MAY))
    assert listed(caller(mallory), MAY) == []
