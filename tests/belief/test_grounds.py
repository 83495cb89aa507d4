"""What rests on something else: marked when that ends, asked about, and certain again when it is
back."""

from typing import Any

import pytest

from memories.models import Case, Ground, Memory
from tests.api_fixtures import Caller, caller
from tests.people import Person

POOL = "I swim at the Nordnes pool because it's close to my flat."


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def tell(http: Caller, *contents: str, day: int = 1) -> None:
    for content in contents:
        said = [{"role": "user", "content": content, "createdAt": f"2026-03-{day:02}T10:00:00Z"}]
        assert http.post("/memories/ingest", {"messages": said, "userId": "u1"}).status == 201
        day += 1


def memory_of(http: Caller, words: str) -> dict[str, Any]:
    rows = http.get("/memories", userId="u1").body["results"]
    return next(row for row in rows if words in row["content"])


def open_cases(http: Caller) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = http.get("/cases", state="open", userId="u1").body["results"]
    return rows


@pytest.fixture
def moved(http: Caller) -> Caller:
    tell(http, "I live in Bergen.", POOL, "I play chess.", "I moved to Stavanger.")
    return http


def test_what_rests_on_a_flat_is_uncertain_after_a_move(moved: Caller) -> None:
    assert memory_of(moved, "Nordnes")["uncertain"] is True
    assert memory_of(moved, "chess")["uncertain"] is False
    assert memory_of(moved, "Stavanger")["uncertain"] is False


def test_what_rests_on_something_else_is_an_inference(moved: Caller) -> None:
    assert memory_of(moved, "Nordnes")["isInference"] is True
    assert memory_of(moved, "chess")["isInference"] is False


def test_it_is_still_found_and_marked_wherever_it_is_served(moved: Caller) -> None:
    body = {"query": "Where do I swim?", "userId": "u1"}
    hits = moved.post("/memories/search", body | {"layers": ["memories"]}).body["results"]
    marks = {hit["memory"]["content"]: hit["memory"]["uncertain"] for hit in hits}
    assert [text for text, mark in marks.items() if mark] == [text for text in marks if "Nordnes" in text]
    text = moved.post("/memories/context", body).body["text"]
    (line,) = [line for line in text.splitlines() if "Nordnes" in line and line.strip().startswith("[m")]
    assert "uncertain" in line
    profile = moved.get("/memories/profile", userId="u1").body
    rows = [row for group in profile.values() if isinstance(group, list) for row in group]
    assert [row["content"] for row in rows if row["uncertain"]] == [
        row["content"] for row in rows if "Nordnes" in row["content"]
    ]


def test_it_is_asked_about_with_the_change_that_ended_its_ground(moved: Caller) -> None:
    (case,) = open_cases(moved)
    assert (case["kind"], case["attribute"]) == ("uncertain", "residence")
    contents = [item["memory"]["content"] for item in case["items"]]
    assert any("Nordnes" in text for text in contents)
    assert {"User lives in Bergen", "User moved to Stavanger"} <= set(contents)


def test_whoever_keeps_it_makes_it_certain_and_undo_asks_again(moved: Caller) -> None:
    (case,) = open_cases(moved)
    pool = memory_of(moved, "Nordnes")["id"]
    assert moved.post(f"/cases/{case['id']}/decide", {"keep": [pool]}).status == 200
    assert memory_of(moved, "Nordnes")["uncertain"] is False
    assert open_cases(moved) == []
    assert moved.post(f"/cases/{case['id']}/undo").status == 200
    assert memory_of(moved, "Nordnes")["uncertain"] is True


def test_it_may_be_forgotten_with_the_change(moved: Caller) -> None:
    (case,) = open_cases(moved)
    pool = memory_of(moved, "Nordnes")["id"]
    assert moved.post(f"/cases/{case['id']}/decide", {"forget": [pool]}).status == 200
    assert not Memory.objects.live().filter(pk=pool).exists()
    assert open_cases(moved) == []


def test_a_change_taken_back_makes_it_certain_and_closes_the_case(moved: Caller) -> None:
    (decision,) = moved.get("/supersessions", state="applied").body["results"]
    assert moved.post(f"/supersessions/{decision['id']}/undo").status == 200
    assert memory_of(moved, "Nordnes")["uncertain"] is False
    assert open_cases(moved) == []


def test_what_rests_on_a_forgotten_memory_waits_without_it_and_comes_back_with_it(
    http: Caller,
) -> None:
    tell(http, "I live in Bergen.", POOL)
    home = memory_of(http, "Bergen")["id"]
    assert http.delete(f"/memories/{home}").status in (200, 204)
    assert memory_of(http, "Nordnes")["uncertain"] is True
    (case,) = open_cases(http)
    assert not any("Bergen" in item["memory"]["content"] for item in case["items"])
    assert http.post(f"/memories/{home}/restore").status == 200
    assert memory_of(http, "Nordnes")["uncertain"] is False
    assert open_cases(http) == []


def test_what_was_only_said_in_other_words_is_still_a_ground(http: Caller) -> None:
    tell(http, "I live in Bergen.", POOL)
    home = memory_of(http, "Bergen")["id"]
    assert http.patch(f"/memories/{home}", {"content": "User lives in Bergen, Norway"}).status == 200
    assert memory_of(http, "Nordnes")["uncertain"] is False
    tell(http, "I moved to Stavanger.", day=9)
    assert memory_of(http, "Nordnes")["uncertain"] is True


def test_a_correction_that_changes_the_ground_ends_it(http: Caller) -> None:
    tell(http, "I live in Bergen.", POOL)
    home = memory_of(http, "Bergen")["id"]
    assert http.patch(f"/memories/{home}", {"content": "User lives in Tromsø"}).status == 200
    assert memory_of(http, "Nordnes")["uncertain"] is True


def test_a_reason_and_what_it_gives_reason_for_may_be_told_at_once(http: Caller) -> None:
    tell(http, "I live in Bergen. My favourite bakery is near my flat.", "I moved to Stavanger.")
    assert memory_of(http, "bakery")["uncertain"] is True


def test_what_is_done_at_a_place_is_uncertain_when_one_has_left_it(http: Caller) -> None:
    tell(http, "I work at Bosch.", "I eat lunch at the canteen at Bosch.", "I quit Bosch.")
    assert memory_of(http, "canteen")["uncertain"] is True
    (case,) = open_cases(http)
    assert "User works at Bosch" in {item["memory"]["content"] for item in case["items"]}


def test_what_rests_on_what_a_person_has_to_decide_is_decided_with_it(http: Caller) -> None:
    tell(http, "I live in Bergen.", POOL)
    http.patch(f"/memories/{memory_of(http, 'Bergen')['id']}", {"pinned": True})
    tell(http, "I moved to Stavanger.", day=9)
    (case,) = open_cases(http)
    assert case["kind"] == "held"
    ids = {item["memory"]["content"]: item["memory"]["id"] for item in case["items"]}
    (pool,) = [row for text, row in ids.items() if "Nordnes" in text]
    move = {"old": ids["User lives in Bergen"], "new": ids["User moved to Stavanger"]}
    decided = http.post(f"/cases/{case['id']}/decide", {"replace": [move], "forget": [pool]})
    assert decided.status == 200
    assert not Memory.objects.live().filter(pk=pool).exists()
    assert http.post(f"/cases/{case['id']}/undo").status == 200
    assert memory_of(http, "Nordnes")["uncertain"] is False


def test_nothing_is_left_of_a_ground_whose_memory_is_erased(moved: Caller) -> None:
    assert Ground.objects.exists()
    (subject,) = moved.get("/subjects", externalId="u1").body["results"]
    assert moved.delete(f"/subjects/{subject['id']}").status in (200, 202, 204)
    assert not Ground.objects.exists()
    assert not Case.objects.undecided().exists()
