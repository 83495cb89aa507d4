"""A preview is waited for, so it is bounded, and says what it left out."""

import importlib
import time
from typing import Any

import pytest

from memories import ingest
from memories.ingest import IngestRequest, NewMessage
from memories.language.bounds import READ_WORDS
from memories.providers import network
from tests.api_fixtures import caller
from tests.people import Person
from tests.wire_servers import silent_server

LIVES = "I live in Lisbon."
preview_room = importlib.import_module("memories.ingest.extract_preview")


def test_of_many_words_the_first_messages_are_read(alice: Person) -> None:
    long = "It rained. " * (READ_WORDS // 4)
    said = (NewMessage(LIVES), *[NewMessage(long)] * 3, NewMessage("I work in Porto."))
    shown = ingest.preview(alice.scope, IngestRequest(messages=said, extract="patterns"))
    assert [claim.statement for claim in shown.found.claims] == ["User lives in Lisbon"]
    assert "read the first 2 of 5 messages" in shown.found.reason


def test_of_what_takes_long_the_first_messages_are_read(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview_room, "READING", 0.0)
    said = (NewMessage(LIVES), NewMessage("I work in Porto."))
    shown = ingest.preview(alice.scope, IngestRequest(messages=said, extract="patterns"))
    assert "read the first 1 of 2 messages" in shown.found.reason


def test_what_is_short_is_read_whole(alice: Person) -> None:
    shown = ingest.preview(alice.scope, IngestRequest(messages=(NewMessage(LIVES),) * 3))
    assert "read the first" not in shown.found.reason


def test_a_model_is_waited_for_a_bounded_time_and_the_answer_says_so(
    alice: Person, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(preview_room, "ASKING", 0.5)
    with silent_server() as model:
        alice.workspace.settings = {
            "extractors": [{"provider": "openai", "model": "m", "baseUrl": model.url_for("/v1")}]
        }
        alice.workspace.save()
        began = time.monotonic()
        body = {"messages": [{"role": "user", "content": LIVES}], "extract": "llm"}
        answer = caller(alice).post("/memories/extract", body)
        assert time.monotonic() - began < settings.PROVIDER_TIMEOUT / 2
    assert (answer.status, answer.body["facts"]) == (200, [])
    assert "did not answer in time" in answer.body["reason"]
    assert network.ALLOW_NETWORK
