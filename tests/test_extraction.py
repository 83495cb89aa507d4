"""Patterns first, then the model, then the whole text: and every claim stands on its words."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from memories import extraction, ingest
from memories.ingest import IngestRequest, NewMessage
from memories.models import Citation, Fact, Memory, MemorySession
from memories.sweeping import due_sessions
from tests.people import Person
from tests.wire_servers import (
    FACT,
    claude_error,
    claude_message,
    facts_json,
    failing,
    serve_in_turn,
)

TEXT = "As of this spring I live in Lisbon, by the river."
CLAUDE = "/v1/messages"


@pytest.fixture
def claude(httpserver: HTTPServer, settings: Any) -> Callable[..., list[object]]:
    """A server that speaks Anthropic's wire, and answers these in turn."""
    settings.ANTHROPIC_API_KEY = "test"
    settings.ANTHROPIC_BASE_URL = httpserver.url_for("").rstrip("/")
    return lambda *answers: serve_in_turn(httpserver, CLAUDE, *answers)


def wish(**extra: object) -> dict[str, object]:
    return {"extract": "llm", "user_id": "ana", **extra}


def test_the_models_facts_are_kept_with_their_citations(alice: Person, claude) -> None:
    claude(claude_message(facts_json(FACT)))
    session = alice.tell(TEXT, **wish())
    assert alice.live() == ["Ana lives in Lisbon"]
    assert Citation.objects.get().quote == "I live in Lisbon"
    fact = Fact.objects.get()
    assert (fact.method, session.state) == ("llm", "done")
    assert fact.rule.startswith("claude-haiku-4-5")


def test_a_claim_without_evidence_waits_in_quarantine(alice: Person, claude) -> None:
    invented = FACT | {"quotes": [{"message": 0, "text": "I own seven boats"}]}
    claude(claude_message(facts_json(invented)))
    session = alice.say(TEXT, **wish())
    assert not Memory.objects.exists()
    fact = Fact.objects.get()
    assert (fact.memory_id, fact.quarantined_at is not None) == (None, True)
    assert ("no evidence" in session.reason, session.counts["quarantined"]) == (True, 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (claude_message("I could not find anything, sorry."), "provider failed"),
        (claude_message(facts_json(FACT)[:40], "max_tokens"), "provider failed"),
        (claude_message("", "refusal"), "provider failed"),
        (
            failing(401, claude_error("invalid x-api-key", "authentication_error")),
            "provider failed",
        ),
        (failing(400, claude_error("no such model", "invalid_request_error")), "provider failed"),
    ],
)
def test_a_text_is_kept_whole_when_the_model_fails(
    alice: Person, claude, answer: Response, reason: str
) -> None:
    claude(answer)
    session = alice.tell(TEXT, **wish())
    assert alice.live() == [TEXT]
    assert (session.state, reason in session.reason) == ("done", True)
    assert session.error


def test_what_was_kept_whole_can_be_read_again_when_the_model_is_back(
    alice: Person, claude
) -> None:
    down = failing(401, claude_error("invalid x-api-key", "authentication_error"))
    claude(down, claude_message(facts_json(FACT)))
    session = alice.tell(TEXT, **wish())
    ingest.retry(alice.scope, session)
    ingest.run(session.pk)
    assert alice.live() == [TEXT, "Ana lives in Lisbon"]
    assert MemorySession.objects.get().state == "done"


def test_a_server_that_is_not_there_loses_nothing(alice: Person, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = "test", "http://127.0.0.1:9"
    assert alice.tell(TEXT, **wish()).state == "done"
    assert alice.live() == [TEXT]


def test_what_patterns_found_is_kept_and_the_rest_stays_due(alice: Person, claude) -> None:
    claude(failing(529, claude_error("Overloaded")), claude_message(facts_json(FACT)))
    request = IngestRequest(messages=(NewMessage("I prefer cider to beer.", id="1"),
                                      NewMessage(TEXT, id="2")), user_id="ana")  # fmt: skip
    session = ingest.receive(alice.scope, request)
    ingest.run(session.pk)
    session.refresh_from_db()
    assert (session.state, "Overloaded" in session.reason) == ("received", True)
    assert len(alice.live()) >= 1
    before = set(alice.live())
    MemorySession.objects.update(next_attempt_at=session.created_at)
    assert due_sessions() == [session.pk]
    ingest.run(session.pk)
    assert before <= set(alice.live())
    assert Memory.objects.filter(source_count__gt=1).count() == 0


def test_a_wrong_key_fails_for_good_and_can_be_retried(alice: Person, claude) -> None:
    claude(failing(401, claude_error("invalid x-api-key", "authentication_error")))
    session = alice.say(TEXT, **wish())
    assert (session.state, "x-api-key" in session.error) == ("failed", True)
    assert ingest.retry(alice.scope, session).state == "received"


def test_attempts_are_used_up_at_last(alice: Person, claude) -> None:
    claude(*[failing(500, claude_error("Internal"))] * 30)
    session = alice.say(TEXT, **wish())
    for _ in range(ingest.MAX_ATTEMPTS):
        MemorySession.objects.update(next_attempt_at=session.created_at)
        ingest.run(session.pk)
    session.refresh_from_db()
    assert (session.state, session.attempts) == ("dead", ingest.MAX_ATTEMPTS)


def test_a_request_does_not_wait_for_a_model_itself(alice: Person, claude) -> None:
    slow = ingest.ingest(alice.scope, IngestRequest(content=TEXT, user_id="ana"))
    quick = ingest.ingest(alice.scope, IngestRequest(content=TEXT, extract="patterns"))
    assert (slow.state, quick.state) == ("received", "done")


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("I  live\nin Lisbon.", "I live in Lisbon", "I  live\nin Lisbon"),
        ("a b a c", "a c", "a c"),
        ("I live in Lisbon", "I lived in Lisbon", None),
        ("anything", " ", None),
    ],
)
def test_a_quote_is_found_whatever_its_blanks(text: str, quote: str, found: str | None) -> None:
    span = extraction.find_quote(text, quote)
    assert (text[slice(*span)] if span else None) == found
