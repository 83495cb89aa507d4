"""Orders whose words leave open what is meant: a model chooses, within what their giver may order;
and orders that come before what they are about was read."""

import json
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from memories import ingest
from memories.ingest import IngestRequest, NewMessage
from memories.ingest.process import SessionSteps
from memories.models import Case, Episode, Intent, Memory, MemorySession
from tests.people import Person
from tests.wire_servers import chat_completion, claude_error, claude_message, serve_in_turn
from workspaces.models import AuditEntry

BOAT, HOME = "I own a sailing boat called Vesper.", "I live in Lisbon."
VAGUE = "Please forget what I told you about the sailing thing in the harbour."
ABOUT = {"user_id": "u1", "thread_id": "t1"}


@pytest.fixture(params=["anthropic", "openai"])
def wire(request: Any, httpserver: HTTPServer, settings: Any) -> str:
    """A workspace of which one or the other model reads; its path."""
    if request.param == "anthropic":
        settings.ANTHROPIC_API_KEY = "test"
        settings.ANTHROPIC_BASE_URL = httpserver.url_for("").rstrip("/")
        return "/v1/messages"
    settings.EXTRACTION_PROVIDER, settings.OPENAI_API_KEY = "openai", "test"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    return "/v1/chat/completions"


def reply(path: str, text: str) -> dict[str, Any]:
    return claude_message(text) if path == "/v1/messages" else chat_completion(text)


def asked(body: dict[str, Any]) -> str:
    """The words of the person's turn, as they were sent."""
    return json.dumps(body["messages"][-1])


def order(person: Person, text: str, **options: Any) -> Intent:
    person.say(text, **{**ABOUT, **options})
    return Intent.objects.latest("pk")


@pytest.fixture
def knowing(alice: Person) -> Person:
    """Two things are believed, read by patterns."""
    for text in (BOAT, HOME):
        alice.say(text, extract="patterns", **ABOUT)
    return alice


def test_a_model_says_what_is_meant_and_it_is_done(knowing: Person, httpserver: HTTPServer, wire: str) -> None:
    boat = Memory.objects.get(content__contains="Vesper")
    bodies = serve_in_turn(
        httpserver,
        wire,
        reply(wire, json.dumps({"meant": [index_of(boat)], "sure": True})),
    )
    intent = order(knowing, VAGUE)
    assert (intent.state, intent.memory_ids) == ("done", [boat.pk])
    assert "Vesper" not in " ".join(knowing.live())
    assert "Lisbon" in " ".join(knowing.live())
    assert "Vesper" not in Episode.objects.get(position=0).content
    assert "harbour" in asked(bodies[-1])


def index_of(memory: Memory) -> int:
    """Its number in the question: what was said last comes first."""
    newest = Memory.objects.live().order_by("-pk").values_list("pk", flat=True)
    return list(newest).index(memory.pk)


def test_what_a_model_is_not_sure_of_a_person_decides(knowing: Person, httpserver: HTTPServer, wire: str) -> None:
    boat = Memory.objects.get(content__contains="Vesper")
    answer = json.dumps({"meant": [index_of(boat), 99], "sure": False})
    serve_in_turn(httpserver, wire, reply(wire, answer))
    intent = order(knowing, VAGUE)
    assert (intent.state, intent.reason) == ("case", "not surely meant")
    assert intent.memory_ids == [boat.pk]
    assert Case.objects.get().kind == Case.Kind.INTENT


def test_what_shares_no_word_with_the_order_a_person_decides(
    knowing: Person, httpserver: HTTPServer, wire: str
) -> None:
    home = Memory.objects.get(content__contains="Lisbon")
    serve_in_turn(httpserver, wire, reply(wire, json.dumps({"meant": [index_of(home)], "sure": True})))
    intent = order(knowing, VAGUE)
    assert (intent.state, intent.reason, intent.memory_ids) == ("case", "not surely meant", [home.pk])
    assert len(knowing.live()) == 2


def test_more_than_five_statements_a_person_decides(alice: Person, httpserver: HTTPServer, wire: str) -> None:
    for number in range(6):
        alice.say(f"I own a sailing boat called Vesper{number}.", extract="patterns", **ABOUT)
    assert len(alice.live()) == 6
    serve_in_turn(httpserver, wire, reply(wire, json.dumps({"meant": list(range(6)), "sure": True})))
    intent = order(alice, VAGUE)
    assert (intent.state, len(intent.memory_ids), len(alice.live())) == ("case", 6, 6)


def test_a_model_gives_nobody_a_right(knowing: Person, httpserver: HTTPServer, wire: str) -> None:
    boat = Memory.objects.get(content__contains="Vesper")
    Memory.objects.filter(pk=boat.pk).update(pinned=True)
    answer = json.dumps({"meant": [index_of(boat)], "sure": True})
    serve_in_turn(httpserver, wire, reply(wire, answer))
    intent = order(knowing, VAGUE)
    assert (intent.state, intent.reason) == ("case", "pinned")
    assert any("Vesper" in text for text in knowing.live())


@pytest.mark.parametrize("answer", ["I will not say.", '{"meant": "all"}', ""])
def test_where_no_model_answers_it_is_as_without_one(
    knowing: Person, httpserver: HTTPServer, wire: str, answer: str
) -> None:
    body = claude_message(answer) if wire == "/v1/messages" else chat_completion(answer)
    serve_in_turn(httpserver, wire, body if answer else claude_error("busy"))
    intent = order(knowing, VAGUE)
    assert intent.state in ("case", "nothing_found")
    assert len(knowing.live()) == 2


def test_a_model_that_names_nothing_leaves_everything(knowing: Person, httpserver: HTTPServer, wire: str) -> None:
    serve_in_turn(httpserver, wire, reply(wire, '{"meant": [], "sure": true}'))
    order(knowing, VAGUE)
    assert len(knowing.live()) == 2


def test_a_message_that_nothing_was_read_from_is_masked(alice: Person, httpserver: HTTPServer, wire: str) -> None:
    alice.say("Vesper needs a new sailing keel.", extract="none", **ABOUT)
    Memory.objects.all().delete()
    serve_in_turn(httpserver, wire, reply(wire, '{"meant": [0], "sure": true}'))
    assert order(alice, VAGUE).state == "done"
    assert "Vesper" not in Episode.objects.get(position=0).content


def test_a_joke_is_taken_back_before_it_was_read(alice: Person) -> None:
    late = ingest.receive(alice.scope, request(BOAT))
    intent = order(alice, "I was only kidding about the sailing boat.")
    assert intent.state == "nothing_found"
    ingest.run(late.pk)
    intent.refresh_from_db()
    assert (intent.state, len(intent.memory_ids)) == ("done", 1)
    assert not alice.live()


def test_an_order_looks_once_more_only_at_what_was_said_before_it(alice: Person) -> None:
    late = ingest.receive(alice.scope, request(HOME))
    intent = order(alice, "I was only kidding about the sailing boat.")
    alice.say(BOAT, **ABOUT)
    lines = AuditEntry.objects.filter(target_id=str(intent.pk)).count()
    ingest.run(late.pk)
    intent.refresh_from_db()
    assert intent.state == "nothing_found"
    assert len(alice.live()) == 2
    assert AuditEntry.objects.filter(target_id=str(intent.pk)).count() == lines


def request(text: str) -> IngestRequest:
    return IngestRequest(messages=(NewMessage(text),), mode="async", **ABOUT)


def test_what_is_forgotten_while_it_is_read_is_not_believed(alice: Person, forgetting: list[Person]) -> None:
    late = ingest.receive(alice.scope, request(f"{BOAT} {HOME}"))
    forgetting.append(alice)
    ingest.run(late.pk)
    assert MemorySession.objects.get(pk=late.pk).state == "done"
    assert "Vesper" not in " ".join(alice.live())
    assert "Lisbon" in " ".join(alice.live())


@pytest.fixture
def forgetting(monkeypatch: pytest.MonkeyPatch) -> list[Person]:
    """Whoever stands in this list forgets the boat when the next claims are about to be written."""
    people: list[Person] = []
    commit = SessionSteps._commit

    def interrupted(steps: SessionSteps, *arguments: Any) -> Any:
        while people:
            assert order(people.pop(), "Forget what I said about my sailing boat.").state == "done"
        return commit(steps, *arguments)

    monkeypatch.setattr(SessionSteps, "_commit", interrupted)
    return people
