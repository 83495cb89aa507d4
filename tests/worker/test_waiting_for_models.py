"""What waits for a model that failed: tried again by itself, and done as soon as the model answers."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django_q.models import OrmQ
from pytest_httpserver import HTTPServer

from memories.meters import breakers
from memories.models import Breaker, MemorySession
from memories.worker import waiting_for_models
from memories.worker.sweep import sweep
from tests.people import Person
from tests.wire_servers import FACT, chat_completion, facts_json, failing, openai_error, serve_in_turn

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "As of this spring I live in Lisbon, by the river."
WAITS = MemorySession.State.RECEIVED


@pytest.fixture
def down(alice: Person, httpserver: HTTPServer, settings: Any) -> HTTPServer:
    """A model that fails, whose breaker is open, and three sessions that wait for it."""
    settings.PROCESS_KIND = "worker"
    settings.EXTRACTION_PROVIDER, settings.OPENAI_BASE_URL = "openai", httpserver.url_for("/v1")
    serve_in_turn(httpserver, "/v1/chat/completions", failing(503, openai_error("busy")))
    for _ in range(3):
        alice.say(TEXT, extract="llm", user_id="ana")
    assert Breaker.objects.get().state == "open"
    return httpserver


def states() -> list[str]:
    return list(MemorySession.objects.order_by("pk").values_list("state", flat=True))


def pause_is_over() -> None:
    Breaker.objects.update(next_try_at=timezone.now() - timedelta(seconds=1))
    breakers.forget()


def test_while_it_is_down_nothing_is_given_up(alice: Person, down: HTTPServer) -> None:
    for _ in range(40):
        pause_is_over()
        sweep()
    assert states() == [WAITS] * 3
    assert set(MemorySession.objects.values_list("failures", "attempts")) == {(0, 0)}


def test_a_sweep_tries_it_with_one_row_and_the_others_follow_at_once(alice: Person, down: HTTPServer) -> None:
    MemorySession.objects.update(next_attempt_at=timezone.now() + timedelta(minutes=50))
    down.clear()
    serve_in_turn(down, "/v1/chat/completions", chat_completion(facts_json(FACT)))
    sweep()
    assert states() == [WAITS] * 3  # its pause is not over
    pause_is_over()
    sweep()
    assert (states().count("done"), Breaker.objects.get().state) == (1, "closed")
    assert "wake_waiting" in {row.name() for row in OrmQ.objects.all()}
    assert waiting_for_models.wake() == 2
    sweep()
    assert states() == ["done"] * 3


def test_between_sweeps_a_worker_is_woken_for_one_row(alice: Person, down: HTTPServer) -> None:
    OrmQ.objects.all().delete()
    MemorySession.objects.update(next_attempt_at=timezone.now() + timedelta(minutes=9))
    waiting_for_models.try_one()
    assert not OrmQ.objects.exists()  # its pause is not over
    pause_is_over()
    waiting_for_models.try_one()
    waiting_for_models.try_one()  # its worker is not there yet
    assert [row.name() for row in OrmQ.objects.all()] == ["run_session"]
    assert MemorySession.objects.filter(next_attempt_at__lte=timezone.now()).count() == 1


def test_what_did_not_fail_is_left_alone(alice: Person) -> None:
    alice.say(TEXT, extract="patterns", user_id="ana")
    assert waiting_for_models.wake() == 0
