"""Decisions that wait for a person, and what becomes of them."""

import pytest

from tests.api_fixtures import Caller, caller, member
from tests.people import Person

OLD, NEW = "I prefer tabs over spaces.", "I prefer spaces over tabs."


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def pending(http: Caller) -> str:
    """A pinned memory that a nearly equal statement wants to replace."""
    told = http.post("/memories/ingest", {"content": OLD, "userId": "u1"}).body
    http.patch(f"/memories/{told['memories'][0]['id']}", {"pinned": True})
    answer = http.post("/memories/ingest", {"content": NEW, "userId": "u1"}).body
    assert answer["pendingReview"] == 1
    found = http.get("/supersessions", state="pending", userId="u1").body["results"]
    return f"/supersessions/{found[0]['id']}"


def live(http: Caller) -> list[str]:
    return http.get("/memories").contents()


def test_a_pending_one_shows_both_memories(http: Caller, pending: str) -> None:
    found = http.get(pending).body
    assert (found["state"], found["old"]["pinned"]) == ("pending", True)
    assert found["new"]["heldAt"] is not None
    assert len(live(http)) == 1


def test_approved_the_new_one_lives(http: Caller, pending: str) -> None:
    new = http.get(pending).body["new"]["content"]
    answer = http.post(f"{pending}/approve")
    assert (answer.status, answer.body["state"], live(http)) == (200, "applied", [new])


def test_approved_in_other_words(http: Caller, pending: str) -> None:
    http.post(f"{pending}/approve", {"content": "Spaces, always"})
    assert live(http) == ["Spaces, always"]


def test_rejected_the_old_one_stays(http: Caller, pending: str) -> None:
    old = http.get(pending).body["old"]["content"]
    answer = http.post(f"{pending}/reject", {"note": "a slip"})
    assert (answer.body["state"], answer.body["note"]) == ("rejected", "a slip")
    assert live(http) == [old]


def test_both_are_kept(http: Caller, pending: str) -> None:
    assert http.post(f"{pending}/keep-both").status == 200
    assert len(live(http)) == 2


def test_an_applied_one_is_undone(http: Caller, pending: str) -> None:
    old = http.get(pending).body["old"]["content"]
    assert http.post(f"{pending}/undo").status == 409
    http.post(f"{pending}/approve")
    assert http.post(f"{pending}/undo").body["state"] == "undone"
    assert live(http) == [old]


def test_an_undone_one_stands_again(http: Caller, pending: str) -> None:
    new = http.get(pending).body["new"]["content"]
    assert http.post(f"{pending}/redo").status == 409
    http.post(f"{pending}/approve")
    http.post(f"{pending}/undo")
    assert http.post(f"{pending}/redo").body["state"] == "applied"
    assert live(http) == [new]


@pytest.mark.parametrize("decided", ["approve", "reject", "keep-both"])
def test_what_a_person_decided_waits_again(http: Caller, pending: str, decided: str) -> None:
    before = live(http)
    assert http.post(f"{pending}/reopen").status == 409
    http.post(f"{pending}/{decided}")
    answer = http.post(f"{pending}/reopen")
    assert (answer.status, answer.body["state"], live(http)) == (200, "pending", before)
    assert http.post(f"{pending}/approve").status == 200


def test_what_somebody_decided_meanwhile_is_409(http: Caller, pending: str) -> None:
    http.post(f"{pending}/approve")
    for act in ("approve", "reject", "keep-both"):
        answer = http.post(f"{pending}/{act}")
        assert (answer.status, answer.is_problem) == (409, True)


def test_who_sees_not_both_memories_sees_no_decision(pending: str, bob: Person, mallory: Person) -> None:
    for person in (bob, mallory):
        assert caller(person).get("/supersessions").body["results"] == []
        assert caller(person).get(pending).status == 404
        for act in ("approve", "reopen", "redo"):
            assert caller(person).post(f"{pending}/{act}").status == 404


def test_deciding_needs_the_right(http: Caller, pending: str, alice: Person) -> None:
    for act in ("approve", "reopen", "redo"):
        assert member(alice.workspace, "viewer").post(f"{pending}/{act}").status == 403
    assert member(alice.workspace, "editor").post(f"{pending}/approve").status == 200
