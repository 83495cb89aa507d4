"""How a memory stands, and what was said of it later, wherever the API shows it."""

from typing import Any

import pytest

from memories.models import Touch
from tests.api_fixtures import Caller, caller
from tests.people import Person

GONE = "Lovely weather. The canoe got sold, you know."


def tell(http: Caller, *contents: str) -> None:
    for day, content in enumerate(contents, 1):
        said = [{"role": "user", "content": content, "createdAt": f"2026-03-{day:02}T10:00:00Z", "id": f"m{day}"}]
        assert http.post("/memories/ingest", {"messages": said, "userId": "ada"}).status == 201


@pytest.fixture
def http(alice: Person) -> Caller:
    http = caller(alice)
    tell(http, "I have a blue canoe.", "I live in Bergen.", "I moved to Oslo.", GONE)
    return http


def listed(http: Caller, **asked: str) -> dict[str, dict[str, Any]]:
    return {row["content"]: row for row in http.get("/memories", **asked).body["results"]}


def test_a_memory_carries_the_message_that_questions_it(http: Caller) -> None:
    rows = listed(http)
    canoe = rows["User has a blue canoe"]
    (later,) = canoe["laterSaid"]
    assert canoe["standing"] == "questioned"
    assert (later["quote"], later["externalId"], later["relation"]) == ("The canoe got sold, you know.", "m4", "unsure")
    assert (later["by"], later["probability"], later["occurredAt"]) == ("rule", 0.5, "2026-03-04T10:00:00Z")
    assert rows["User moved to Oslo"]["standing"] == "current"
    assert "laterSaid" not in rows["User moved to Oslo"]


def test_a_list_is_narrowed_by_standing(http: Caller) -> None:
    assert set(listed(http, standing="questioned")) == {"User has a blue canoe"}
    assert set(listed(http, standing="current")) == {"User moved to Oslo"}
    past = listed(http, standing="past")
    assert set(past) == {"User lives in Bergen"}
    assert [one["relation"] for one in past["User lives in Bergen"]["laterSaid"]] == ["replaces"]
    assert http.get("/memories", standing="doubtful").status == 400


def test_standing_is_told_as_it_was_known(http: Caller) -> None:
    touch = Touch.objects.get(memory__content__contains="canoe")
    before = touch.memory.created_at.isoformat()
    row = listed(http, knownAt=before, q="canoe")["User has a blue canoe"]
    assert row["standing"] == "current"
    assert "laterSaid" not in row
    assert listed(http, knownAt=before, standing="questioned") == {}


def test_one_memory_its_chain_and_its_hits_carry_it_too(http: Caller) -> None:
    canoe = listed(http)["User has a blue canoe"]
    assert http.get(f"/memories/{canoe['id']}").body["laterSaid"] == canoe["laterSaid"]
    (link,) = http.get(f"/memories/{canoe['id']}/chain").body["results"]
    assert link["memory"]["laterSaid"] == canoe["laterSaid"]
    asked = {"query": "blue canoe", "userId": "ada", "layers": ["memories"]}
    hits = http.post("/memories/search", asked).body["results"]
    found = next(hit["memory"] for hit in hits if hit["memory"]["id"] == canoe["id"])
    assert (found["standing"], found["laterSaid"]) == ("questioned", canoe["laterSaid"])


def test_only_who_may_see_a_message_is_told_what_it_says(bob: Person, carol: Person, mallory: Person) -> None:
    body = {"content": "User has a blue canoe", "userId": "ada", "visibility": "global"}
    assert caller(bob).post("/memories", body).status == 201
    said = {"messages": [{"role": "user", "content": GONE}], "userId": "ada"}
    assert caller(bob).post("/memories/ingest", said).status == 201
    told = {person: listed(caller(person), q="canoe") for person in (bob, carol, mallory)}
    assert [one["quote"] for one in told[bob]["User has a blue canoe"]["laterSaid"]] == [GONE.partition(". ")[2]]
    assert "laterSaid" not in told[carol]["User has a blue canoe"]
    assert told[mallory] == {}
