"""Memories out of other memories: pulled, read, counted, and taken back as one."""

import json
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.events import webhooks
from memories.events.webhooks import NewWebhook
from memories.models import Conversation, Episode, Memory, WebhookDelivery
from tests.people import Person
from workspaces.models import Workspace

ROWS = [
    {"id": "a", "memory": "Likes green tea", "user_id": "u1", "created_at": "2026-05-01T10:00:00Z"},
    {"id": "b", "memory": "Works in Porto", "user_id": "u1", "metadata": {"k": 1}},
    {"id": "c", "memory": "Plays the cello", "user_id": "u2"},
]


def run(*words: str, **options: Any) -> str:
    out = StringIO()
    call_command("importmemories", *words, stdout=out, stderr=out, **options)
    return out.getvalue()


def report(*words: str, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("importmemories", *words, "--json", stdout=out, stderr=StringIO(), **options)
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


@pytest.fixture(autouse=True)
def one_workspace(transactional_db: None, workspace: Workspace) -> Workspace:
    return workspace


@pytest.fixture
def mem0(httpserver: HTTPServer) -> HTTPServer:
    """Two pages of mem0's own API."""

    def answer(request: Request) -> Response:
        assert request.headers["Authorization"] == "Token m0-key"
        page = int(request.args["page"])
        body = {"count": 3, "next": "more" if page == 1 else None, "previous": None}
        rows = ROWS[:2] if page == 1 else ROWS[2:]
        if request.get_json()["filters"] == {"AND": [{"user_id": "u2"}]}:
            rows, body["next"] = ROWS[2:], None
        return Response(json.dumps(body | {"results": rows}), content_type="application/json")

    httpserver.expect_request("/v3/memories/", method="POST").respond_with_handler(answer)
    return httpserver


def pulled(server: HTTPServer, *words: str) -> dict[str, Any]:
    return report("--from", "mem0", "--url", server.url_for(""), "--key", "m0-key", *words)


def test_a_dry_run_counts_and_stores_nothing(mem0: HTTPServer) -> None:
    told = pulled(mem0, "--dry-run")
    assert (told["files"][0]["messages"], told["files"][0]["subjects"]) == (3, ["u1", "u2"])
    assert not Episode.objects.exists()
    assert pulled(mem0, "--dry-run", "--only", "u2")["files"][0]["subjects"] == ["u2"]


def test_what_is_pulled_is_believed_word_for_word_and_again_adds_nothing(
    mem0: HTTPServer, one_workspace: Workspace
) -> None:
    assert pulled(mem0)["memoriesCreated"] == 3
    tea = Memory.objects.select_related("subject").get(content="Likes green tea")
    assert tea.subject is not None
    assert tea.subject.external_id == "u1"
    assert tea.valid_from is not None
    assert tea.valid_from.isoformat() == "2026-05-01T10:00:00+00:00"
    again = pulled(mem0)
    assert (again["stored"], again["known"], again["memoriesCreated"]) == (0, 3, 0)
    assert Memory.objects.count() == 3


def test_addresses_are_told_of_what_comes_in(mem0: HTTPServer, alice: Person) -> None:
    hook = webhooks.create(alice.scope, NewWebhook(mem0.url_for("/hook"), ("memory.changed",)))
    pulled(mem0)
    states = WebhookDelivery.objects.filter(webhook=hook).values_list("item_state", flat=True)
    assert Counter(states) == {"live": 3}


def test_a_batch_is_taken_back_and_what_else_is_believed_stays(mem0: HTTPServer, alice: Person) -> None:
    alice.say("I prefer tea to coffee.", user_id="u1")
    pulled(mem0, "--batch", "old-memory")
    assert "old-memory" in run("--batches")
    assert report("--batches") == {"old-memory": 3}
    with pytest.raises(CommandError, match="say it with --yes"):
        run("--take-back", "old-memory")
    assert report("--take-back", "old-memory", "--dry-run")["memories"] == 3
    assert "taken back" in run("--take-back", "old-memory", "--yes")
    assert [each.content for each in Memory.objects.all()] == ["User prefers tea to coffee"]
    assert not Conversation.objects.filter(external_id__startswith="import:").exists()
    assert "Nothing was imported" in run("--batches")
    with pytest.raises(CommandError, match="no batch"):
        run("--take-back", "old-memory", "--yes")


def test_supermemory_is_pulled_page_by_page(httpserver: HTTPServer) -> None:
    def answer(request: Request) -> Response:
        assert request.headers["Authorization"] == "Bearer sm_key"
        asked = request.get_json()
        assert asked["containerTags"] == ["u1"]
        rows = [{"id": f"d{asked['page']}", "content": "Likes tea", "containerTags": ["u1"]}]
        rows[0]["content"] = f"Note number {asked['page']} about the garden"
        pages = {"currentPage": asked["page"], "totalPages": 2}
        return Response(json.dumps({"memories": rows, "pagination": pages}))

    httpserver.expect_request("/v3/documents/list", method="POST").respond_with_handler(answer)
    words = ("--from", "supermemory", "--url", httpserver.url_for(""), "--key", "sm_key")
    assert report(*words, "--only", "u1")["memoriesCreated"] == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Response("no", status=401), "the key was refused"),
        (Response("[]"), "shape that was not expected"),
        (Response("{"), "shape that was not expected"),
        (Response('{"results": [1]}'), "shape that was not expected"),
        (Response('{"results": []}'), "has no memories"),
    ],
)
def test_a_server_that_does_not_answer_well_is_told(httpserver: HTTPServer, answer: Response, words: str) -> None:
    httpserver.expect_request("/v3/memories/").respond_with_response(answer)
    with pytest.raises(CommandError, match=words):
        pulled(httpserver)


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(CommandError, match="cannot be reached"):
        run("--from", "mem0", "--url", "http://127.0.0.1:9", "--key", "k")


def test_files_are_read_by_what_they_are_and_what_was_not_understood_is_told_by_line(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "CLAUDE.md"
    notes.write_text("# Rules\n\n- Tests run with make\n- Always answer in French\n\n```\ncode\n```\n")
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "I prefer tea to coffee."}]))
    text = run(str(tmp_path), "--user", "ana", "--batch", "mine")
    assert "3 memories and messages" in text
    assert "1 of them wait in the Inbox" in text
    assert "CLAUDE.md:6: code is no statement" in text
    assert "importmemories --take-back mine --yes" in text
    assert {each.content for each in Memory.objects.all()} == {
        "Tests run with make",
        "User prefers tea to coffee",
    }
    threads = Conversation.objects.values_list("external_id", flat=True)
    assert all(thread.startswith("import:mine:") for thread in threads)


def test_what_cannot_be_is_refused_in_plain_words(tmp_path: Path, alice: Person) -> None:
    with pytest.raises(CommandError, match="Name files, or a server"):
        run()
    with pytest.raises(CommandError, match="nothing that could be read"):
        run(str(tmp_path))
    (tmp_path / "x.txt").write_bytes(b"\x00\x01\x02")
    with pytest.raises(CommandError, match="nothing that could be read"):
        run(str(tmp_path / "x.txt"))
    with pytest.raises(CommandError, match="lower-case letters"):
        run(str(tmp_path), "--batch", "A b")
    (tmp_path / "notes.md").write_text("- Likes tea\n")
    run(str(tmp_path / "notes.md"), "--user", "ana", "--batch", "n")
    with pytest.raises(CommandError, match="were not stored"):
        run(str(tmp_path / "notes.md"), "--user", "bob", "--batch", "n")
