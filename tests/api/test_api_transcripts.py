"""Files of conversations over the API: tried first, kept by author, taken back as one."""

import json
from typing import Any

import pytest

from memories import ingest
from memories.models import Conversation, Episode, Memory, MemorySession
from memories.privacy import erase
from tests.api_fixtures import Answer, Caller, caller
from tests.exchange.chat_exports import EXPORTS
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)

LOG = (
    "14/10/2026, 15:34 - Greta: I moved to Umeå last week\n"
    "14/10/2026, 15:35 - Milo: I work as a baker\n"
    "14/10/2026, 15:36 - Milo: <Media omitted>\n"
)


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def _believed() -> set[tuple[str, str]]:
    for session in MemorySession.objects.exclude(state="done"):
        ingest.run(session.pk)
    rows = Memory.objects.select_related("subject")
    return {(row.subject.external_id if row.subject else "", row.content) for row in rows}


def _send_form(http: Caller, name: str, content: bytes, **said: Any) -> Answer:
    parts = [
        b'--b\r\nContent-Disposition: form-data; name="transcript"\r\n\r\n' + json.dumps(said).encode(),
        f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + content,
        b"--b--\r\n",
    ]
    return http.call("POST", "/transcripts", b"\r\n".join(parts), content_type="multipart/form-data; boundary=b")


def test_a_trial_lists_authors_and_what_is_left_out_and_keeps_nothing(http: Caller) -> None:
    answer = http.post("/transcripts", {"content": LOG, "userId": "ada", "dryRun": True})
    assert answer.status == 200
    assert [(each["name"], each["messages"]) for each in answer.body["authors"]] == [("Greta", 1), ("Milo", 1)]
    assert answer.body["leftOut"] == [{"line": 3, "reason": "left out: a picture or file without words"}]
    assert (answer.body["messages"], answer.body["stored"], Episode.objects.count()) == (2, 0, 0)


def test_authors_are_the_users_that_the_request_says(http: Caller) -> None:
    said = {"userId": "ada", "me": ["greta"], "authors": {"Milo": "milo"}, "batch": "family"}
    answer = http.post("/transcripts", {"content": LOG, **said})
    assert (answer.status, answer.body["stored"], len(answer.body["sessionIds"])) == (202, 2, 2)
    assert _believed() == {
        ("ada", "User moved to Umeå in the week of 5 October 2026"),
        ("milo", "User works as a baker"),
    }
    again = http.post("/transcripts", {"content": LOG, **said})
    assert (again.body["stored"], again.body["known"]) == (0, 2)


def test_an_import_is_taken_back_as_one(http: Caller, alice: Person) -> None:
    slack = next(each for each in EXPORTS if each.kind == "slack")
    assert _send_form(http, slack.name, slack.content, userId="ada", batch="work").body["stored"] == 3
    http.post("/transcripts", {"content": LOG, "userId": "ada", "batch": "family"})
    assert ("ada", "Milo works as a baker") in _believed()
    listed = http.get("/transcripts").body["results"]
    assert listed == [{"batch": "family", "messages": 2}, {"batch": "work", "messages": 3}]
    gone = http.call("DELETE", "/transcripts", query={"batch": "family"})
    assert gone.status == 202
    for row in gone.body["erasureIds"]:
        erase.run(row)
    assert ("ada", "Milo works as a baker") not in _believed()
    assert Episode.objects.count() == 3
    assert http.call("DELETE", "/transcripts", query={"batch": "nothing"}).status == 404


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"content": "2026-03-09 10:00:01 [INFO] Greta: I moved\n" * 4}, "file"),
        ({"content": " "}, "file"),
        ({"content": LOG, "me": ["Greta"]}, "me"),
        ({"content": LOG, "me": ["Gretel"], "userId": "ada"}, "me"),
        ({"content": LOG, "authors": {"Milo": 7}}, "authors.Milo"),
        ({"content": LOG, "batch": "My Family"}, "batch"),
        ({"content": LOG, "format": "fax"}, "format"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(http: Caller, said: dict[str, Any], field: str) -> None:
    answer = http.post("/transcripts", said)
    assert answer.status == 400
    assert [each["field"] for each in answer.body["errors"]] == [field]
    assert Episode.objects.count() == 0


def test_nobody_reads_or_takes_back_what_others_imported(http: Caller, bob: Person, mallory: Person) -> None:
    http.post("/transcripts", {"content": LOG, "userId": "ada", "batch": "family"})
    assert caller(mallory).get("/transcripts").body["results"] == []
    assert caller(mallory).call("DELETE", "/transcripts", query={"batch": "family"}).status == 404
    assert caller(bob).get("/transcripts").body["results"] == []
    assert caller(bob).call("DELETE", "/transcripts", query={"batch": "family"}).status in (403, 404)
    assert Conversation.objects.count() == 1
