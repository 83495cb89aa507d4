"""Events over HTTP, as one answer: who hears of what, and where it goes on."""

import uuid

import pytest

from tests.api_fixtures import Answer, caller, member
from tests.handed_in import hand_in
from tests.people import Person


def told(answer: Answer) -> list[str]:
    """The names of the events of a stream."""
    assert answer.status == 200, answer.body
    assert answer.headers["Content-Type"] == "text/event-stream"
    lines = answer.body.decode().splitlines()
    return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]


def last_id(answer: Answer) -> str:
    lines = answer.body.decode().splitlines()
    return [line.removeprefix("id: ") for line in lines if line.startswith("id: ")][-1]


# What reads has written nothing in its own transaction: a snapshot leaves that one out.
@pytest.mark.django_db(transaction=True)
def test_a_stream_goes_on_behind_the_last_event(alice: Person):
    http = caller(alice)
    answer = http.get("/events")
    assert told(answer) == []
    hand_in(alice)
    alice.tell("Plums are kept in the cellar.")
    steps = ["document.step"] * 5
    later = http.call("GET", "/events", headers={"Last-Event-ID": last_id(answer)})
    assert told(later) == [*steps, "document.done", "session.done"]
    assert b"cellar" not in later.body
    some = http.get("/events", lastEventId=last_id(answer), type="session")
    assert told(some) == ["session.done"]


@pytest.mark.django_db(transaction=True)
def test_only_who_may_see_the_row_hears_of_it(alice: Person, bob: Person, carol: Person, mallory: Person):
    people = (alice, bob, carol, mallory)
    start = {person: last_id(caller(person).get("/events")) for person in people}
    hand_in(bob, visibility="private")
    hand_in(alice, "A letter about pears.", visibility="team")

    def heard() -> list[int]:
        answers = (caller(one).get("/events", lastEventId=start[one]) for one in people)
        return [told(answer).count("document.done") for answer in answers]

    assert heard() == [2, 2, 0, 0]
    assert caller(mallory, alice.workspace).get("/events").status == 404
    viewer = member(alice.workspace, "viewer")
    assert told(viewer.get("/events", lastEventId=start[alice])).count("document.done") == 2


@pytest.mark.django_db(transaction=True)
def test_a_documents_stream_begins_with_where_it_stands(alice: Person, mallory: Person):
    document = hand_in(alice)
    other = hand_in(alice, "A letter about pears.")
    http = caller(alice)
    answer = http.get(f"/documents/{document.pk}/events")
    assert told(answer) == ["document.done"]
    assert str(document.pk) in answer.body.decode()
    http.post(f"/documents/{document.pk}/reprocess")
    http.post(f"/documents/{other.pk}/reprocess")
    later = http.get(f"/documents/{document.pk}/events", lastEventId=last_id(answer))
    assert told(later) == ["document.step"]
    assert told(http.get(f"/documents/{document.pk}/events")) == ["document.step"]
    assert caller(mallory).get(f"/documents/{document.pk}/events").status == 404
    assert http.get(f"/documents/{uuid.uuid4()}/events").status == 404


def test_what_is_no_id_of_an_event_is_refused(alice: Person):
    answer = caller(alice).get("/events", lastEventId="7")
    assert (answer.status, answer.fields) == (400, ["Last-Event-ID"])
    assert caller(alice).get("/events", type="weather").status == 400
