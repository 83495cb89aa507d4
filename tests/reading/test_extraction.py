"""Patterns first, then the model, then the whole text: and every claim stands on its words."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Response

from memories import ingest
from memories.ingest import IngestRequest, NewMessage
from memories.ingest.session_queue import due_sessions
from memories.models import Citation, Fact, Memory, MemorySession
from memories.reading import extraction
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
    ("answer", "state"),
    [
        (claude_message("I could not find anything, sorry."), "done"),
        (failing(529, claude_error("Overloaded")), "received"),
        (claude_message(facts_json(FACT)[:40], "max_tokens"), "done"),
        (claude_message("", "refusal"), "done"),
        (failing(401, claude_error("invalid x-api-key", "authentication_error")), "done"),
        (failing(400, claude_error("no such model", "invalid_request_error")), "done"),
    ],
)
def test_a_text_is_kept_whole_when_the_model_fails(alice: Person, claude, answer: Response, state: str) -> None:
    """Once: what passes by itself is tried again, with what is there."""
    claude(answer)
    session = alice.tell(TEXT, **wish())
    attempt_again(session)
    assert alice.live() == [TEXT]
    assert Fact.objects.count() == 1
    session.refresh_from_db()
    assert (session.state, "provider failed" in session.reason) == (state, True)
    assert session.error


def attempt_again(session: MemorySession) -> MemorySession | None:
    """What waits for its next attempt is tried at once."""
    MemorySession.objects.filter(pk=session.pk).update(next_attempt_at=session.created_at)
    return ingest.run(session.pk)


def test_what_was_kept_whole_is_read_when_the_model_is_back(alice: Person, claude) -> None:
    claude(failing(529, claude_error("Overloaded")), claude_message(facts_json(FACT)))
    session = alice.tell(TEXT, **wish())
    for _ in range(5):
        attempt_again(session)
    session.refresh_from_db()
    assert alice.live() == [TEXT, "Ana lives in Lisbon"]
    assert (session.state, session.error, len(session.created_ids)) == ("done", "", 2)


def test_what_was_kept_whole_can_be_read_again_when_the_model_is_back(alice: Person, claude) -> None:
    down = failing(401, claude_error("invalid x-api-key", "authentication_error"))
    claude(down, claude_message(facts_json(FACT)))
    session = alice.tell(TEXT, **wish())
    ingest.retry(alice.scope, session)
    ingest.run(session.pk)
    assert alice.live() == [TEXT, "Ana lives in Lisbon"]
    assert MemorySession.objects.get().state == "done"


def test_a_server_that_is_not_there_loses_nothing(alice: Person, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = "test", "http://127.0.0.1:9"
    session = alice.tell(TEXT, **wish())
    assert (session.state, alice.live()) == ("received", [TEXT])
    assert session.next_attempt_at > timezone.now()


def test_what_patterns_found_is_kept_and_the_rest_stays_due(alice: Person, claude) -> None:
    claude(failing(529, claude_error("Overloaded")), claude_message(facts_json(FACT)))
    request = IngestRequest(
        messages=(NewMessage("I prefer cider to beer.", id="1"), NewMessage(TEXT, id="2")), user_id="ana"
    )
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


def test_an_outage_costs_no_attempt(alice: Person, claude) -> None:
    claude(failing(500, claude_error("Internal")))
    session = alice.say(TEXT, **wish())
    for _ in range(2 * ingest.MAX_FAILURES):
        attempt_again(session)
    session.refresh_from_db()
    assert (session.state, session.failures, session.attempts) == ("received", 0, 0)
    assert "Internal" in session.error


def test_pauses_grow_until_the_attempts_are_used_up_where_others_are_answered(alice: Person, claude) -> None:
    broken, well = failing(500, claude_error("Internal")), claude_message(facts_json())
    claude(*[broken, well] * ingest.MAX_FAILURES, broken)
    session, pauses = alice.say(TEXT, **wish()), []
    while session.state == "received":
        alice.say(TEXT, **wish(), thread_id=f"another {len(pauses)}")
        pauses.append(session.next_attempt_at - session.updated_at)
        attempt_again(session)
        session.refresh_from_db()
    grown = [pause.total_seconds() for pause in pauses[:3]]
    assert grown == pytest.approx([20, 40, 80], abs=5)
    assert max(pauses) <= timedelta(hours=1, seconds=5)
    assert (session.state, session.failures) == ("dead", ingest.MAX_FAILURES)


def test_what_is_doubted_is_kept_while_a_model_fails_and_not_doubled(alice: Person, claude) -> None:
    """Of two pieces one is read, with an invention in it; then the other is, and no piece is paid for twice."""
    long = "The weather was fine all day. " * 1_000
    invented = FACT | {"quotes": [{"message": 0, "text": "I own seven boats"}]}
    claude(
        claude_message(facts_json(FACT, invented)),
        claude_message("I could not read this, sorry."),
        claude_message(facts_json(invented)),
    )
    session = alice.say(TEXT, long, **wish())
    before = (alice.live(), Fact.objects.filter(memory=None).count())
    assert before == (["Ana lives in Lisbon"], 1)
    session = attempt_again(session)
    assert (alice.live(), Fact.objects.filter(memory=None).count()) == before
    assert (session.state, session.counts["quarantined"]) == ("done", 1)


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
