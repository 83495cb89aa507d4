"""What an operator asks about stands in one line of the log, by ids, and never what was said."""

from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_httpserver import HTTPServer

from memories import ingest
from memories.ingest import IngestRequest
from memories.models import Memory, MemorySession
from tests.people import Person
from tests.wire_servers import failing, openai_error

WORD = "zanzibar"
LIVES, MOVED = f"I live in {WORD.title()}.", f"I live in New {WORD.title()}."


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Any:
    """The log of the room; no line of it has the word that all content here has."""
    caplog.set_level("INFO", logger="memories")
    yield lambda: [record.getMessage() for record in caplog.records]
    assert WORD not in caplog.text.lower()


def test_a_claim_that_is_held_back(
    alice: Person,
    lines: Any,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    alice.say(LIVES, user_id="ana")
    Memory.objects.update(pinned=True)
    with django_capture_on_commit_callbacks(execute=True):
        session = alice.say(MOVED, user_id="ana")
    [line] = [line for line in lines() if "a person decides" in line]
    held = Memory.objects.order_by("pk").last()
    assert held is not None
    for row in (held.pk, session.pk, alice.workspace.pk):
        assert str(row) in line


def test_a_model_that_failed_and_the_session_that_waits_for_it(
    alice: Person, httpserver: HTTPServer, lines: Any
) -> None:
    httpserver.expect_request("/v1/chat/completions").respond_with_response(
        failing(500, openai_error(f"overloaded by {WORD}"))
    )
    alice.workspace.settings = {
        "extractors": [{"provider": "openai", "model": "m", "baseUrl": httpserver.url_for("/v1")}]
    }
    alice.workspace.save()
    session = alice.say(LIVES, extract="llm")
    for words in ("a model failed", "is tried again at"):
        [line] = [line for line in lines() if words in line]
        assert str(alice.workspace.pk) in line
        assert "answered 500" in line
    assert any(f"session {session.pk}" in line for line in lines())


def test_a_session_whose_workers_died(alice: Person, lines: Any) -> None:
    session = ingest.receive(alice.scope, IngestRequest(content=LIVES))
    MemorySession.objects.filter(pk=session.pk).update(attempts=ingest.MAX_ATTEMPTS)
    ingest.run(session.pk)
    [line] = lines()
    assert f"session {session.pk} of workspace {alice.workspace.pk} is dead" in line


def test_what_goes_well_is_not_told(alice: Person, lines: Any) -> None:
    alice.say(LIVES, user_id="ana")
    assert lines() == []
