"""What somebody did in a program is told as a sentence, and then read like talk."""

import json
from typing import Any

import pytest

from memories.models import Citation, Episode, MemorySession
from memories.transcripts import activities
from tests.api_fixtures import Caller, caller
from tests.people import Person

EDITED = {"app": "Word", "action": "edit", "object": "the harbour report", "duration": 2700}


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def activity(payload: dict[str, Any], role: str = "activity", **more: Any) -> dict[str, Any]:
    event = {"role": role, "name": "Ada", "payload": payload, **more}
    return {"pathway": "activity", "userId": "ada", "messages": [event]}


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        (
            {"app": "Word", "action": "edit", "object": "report.docx", "duration": 2700},
            "I edited report.docx in Word for 45 minutes.",
        ),
        ({"app": "Figma", "duration": 9000}, "I used Figma for 2.5 hours."),
        ({"app": "Safari", "action": "read", "object": "a paper"}, "I read a paper in Safari."),
        ({"action": "writing", "object": "chapter 3"}, "I wrote chapter 3."),
        ({"action": "OPEN_TAB", "app": "Chrome"}, "I opened tab in Chrome."),
        ({"action": "planning", "object": "a trip"}, "I planned a trip."),
        ({"action": "tagging", "object": "a photo"}, "I tagged a photo."),
        ({"action": "learn", "object": "a word"}, "I learnt a word."),
        ({"action": "fed", "object": "the cat"}, "I fed the cat."),
        ({"app": "Zoom", "action": "call", "object": "Ida", "duration": 1}, "I called Ida in Zoom for 1 second."),
    ],
)
def test_an_activity_is_told_in_a_sentence(payload: dict[str, Any], sentence: str) -> None:
    assert activities.sentence_of(payload) == sentence


@pytest.mark.parametrize(
    "payload", [{}, {"duration": 60}, {"app": ""}, {"app": None, "action": ["edit"]}, {"app": True}]
)
def test_what_names_nothing_is_not_told(payload: dict[str, Any]) -> None:
    assert activities.sentence_of(payload) == ""


@pytest.mark.parametrize("duration", [True, -5, float("nan"), float("inf"), [], 10**12])
def test_a_duration_without_sense_is_left_out(duration: object) -> None:
    assert activities.sentence_of({"app": "Figma", "duration": duration}) == "I used Figma."


def test_an_activity_becomes_a_memory_that_cites_the_kept_sentence(http: Caller) -> None:
    told = http.post("/memories/ingest", activity(EDITED)).body
    statement = "Ada edited the harbour report in Word for 45 minutes"
    assert [memory["content"] for memory in told["memories"]] == [statement]
    citation = Citation.objects.get()
    assert citation.quote == "I edited the harbour report in Word for 45 minutes."
    assert citation.episode.content[citation.start : citation.end] == citation.quote
    assert MemorySession.objects.get().pathway == "activity"


def test_an_activity_keeps_its_payload_as_it_was(http: Caller) -> None:
    payload = {**EDITED, "windowTitle": "Harbour", "some_key": [1]}
    http.post("/memories/ingest", activity(payload))
    episode = Episode.objects.get()
    assert (episode.kind, episode.payload) == ("activity", payload)


def test_an_event_of_a_user_with_a_payload_alone_is_an_activity(http: Caller) -> None:
    http.post("/memories/ingest", activity(EDITED, role="user"))
    assert Episode.objects.get().kind == "activity"


@pytest.mark.parametrize("role", ["activity", "user"])
def test_words_that_come_with_an_activity_are_kept_beside_it(http: Caller, role: str) -> None:
    http.post("/memories/ingest", activity(EDITED, role, content="I prefer Word to Pages."))
    told = "I edited the harbour report in Word for 45 minutes. I prefer Word to Pages."
    assert Episode.objects.get().content == told


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"app": 5, "action": None}, "app"),
        ({"action": ["edit"]}, "action"),
        ({"object": {}}, "object"),
        ({"duration": "very long"}, "duration"),
        ({"duration": -1}, "duration"),
        ({"duration": True}, "duration"),
    ],
)
@pytest.mark.parametrize("route", ["ingest", "extract"])
def test_an_activitys_field_of_another_kind_is_refused_by_name(
    http: Caller, route: str, wrong: dict[str, Any], field: str
) -> None:
    answer = http.post(f"/memories/{route}", activity(EDITED | wrong))
    assert (answer.status, answer.fields) == (400, [f"messages[0].payload.{field}"])


def test_an_activity_written_out_as_content_is_refused(http: Caller) -> None:
    written = json.dumps(EDITED)
    whole = http.post("/memories/ingest", {"pathway": "activity", "content": written})
    event = http.post("/memories/ingest", activity({}, content=written))
    assert (whole.status, whole.fields) == (400, ["content"])
    assert (event.status, event.fields) == (400, ["messages[0].content"])


def test_an_activity_is_previewed_as_it_would_be_read(http: Caller) -> None:
    [fact] = http.post("/memories/extract", activity(EDITED)).body["facts"]
    assert fact["citations"][0]["quote"] == "I edited the harbour report in Word for 45 minutes."
    assert Episode.objects.count() == 0


def test_an_activity_that_names_nothing_is_refused(http: Caller) -> None:
    answer = http.post("/memories/ingest", activity({"duration": 5}))
    assert (answer.status, answer.fields) == (400, ["messages[0].content"])
