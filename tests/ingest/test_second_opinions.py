"""What a language model says of the changes that the judge is not sure of, asked over a real wire."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer

from memories import ingest, metrics
from memories.belief import review, touches
from memories.ingest import judged_messages
from memories.meters import breakers, stored_metrics
from memories.models import Case, Fact, Memory, ModelUse, Supersession, Touch
from memories.worker.sweep import file_cases
from tests.ingest.test_judged_messages import HIVE, standing, told
from tests.people import Person
from tests.scripted_judge import Judge, change
from tests.wire_servers import chat_completion, claude_message, failing, openai_error, serve_in_turn
from workspaces.models import AuditEntry

NAMES = {"/v1/messages": "claude-haiku-4-5-20251001", "/v1/chat/completions": "gpt-test-2026"}


@pytest.fixture(autouse=True)
def nothing_known_before() -> Iterator[None]:
    metrics.clear()
    breakers.forget()
    yield
    metrics.clear()
    breakers.forget()


@pytest.fixture(params=["anthropic", "openai"])
def wire(request: Any, httpserver: HTTPServer, settings: Any) -> str:
    """A server with one or the other language model; the path of its calls."""
    if request.param == "anthropic":
        settings.ANTHROPIC_API_KEY = "test"
        settings.ANTHROPIC_BASE_URL = httpserver.url_for("").rstrip("/")
        return "/v1/messages"
    return openai(httpserver, settings)


def openai(httpserver: HTTPServer, settings: Any) -> str:
    settings.EXTRACTION_PROVIDER, settings.OPENAI_API_KEY = "openai", "test"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    return "/v1/chat/completions"


def reply(path: str, *verdicts: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps({"verdicts": list(verdicts)})
    return claude_message(text) if path == "/v1/messages" else chat_completion(text)


def verdict(relation: str, quote: str = "", *, index: int = 0, sure: bool = True) -> dict[str, Any]:
    return {"index": index, "relation": relation, "quote": quote, "sure": sure}


def unsure(person: Person, words: str = HIVE, over: float = 0.6, user_id: str = "ada") -> Touch:
    """A belief that the judge questions, and is not sure of."""
    person.say("I keep bees in the orchard.", user_id=user_id, extract="patterns")
    told(person, words, user_id=user_id, judge_attempts=0, extract="patterns")
    judged_messages.run(person.workspace.pk, judge=Judge(change(ends=over, compatible=1 - over)))
    return Touch.objects.get(by="judge", memory__workspace=person.workspace)


def opinions(person: Person) -> dict[str, int]:
    stored_metrics.flush()
    today = timezone.now().date()
    days = (today - timedelta(days=1), today + timedelta(days=2))
    return stored_metrics.counts_by_label("judge_second_opinions", "outcome", [person.workspace.pk], *days)


def test_without_a_language_model_nothing_changes(alice: Person) -> None:
    touch = unsure(alice)
    assert ingest.doubtful_workspaces() == []
    assert ingest.ask_models(alice.workspace.pk) is None
    assert Touch.objects.get() == touch
    assert Touch.objects.get().model_attempts == 0


def test_what_a_model_holds_for_compatible_questions_nothing_any_more(
    alice: Person, httpserver: HTTPServer, wire: str
) -> None:
    touch = unsure(alice)
    assert standing(touch.memory_id) == "questioned"
    bodies = serve_in_turn(httpserver, wire, reply(wire, verdict("compatible")))
    assert ingest.doubtful_workspaces() == [alice.workspace.pk]
    assert ingest.ask_models(alice.workspace.pk) == 1
    touch.refresh_from_db()
    assert (touch.relation, touch.by, touch.model) == ("adds", "model", NAMES[wire])
    assert standing(touch.memory_id) == "current"
    assert "keeps bees in the orchard" in json.dumps(bodies[0])
    assert HIVE in json.dumps(bodies[0])
    assert opinions(alice) == {"differed": 1}
    [use] = ModelUse.objects.filter(purpose="judge")
    assert (use.calls, use.input_tokens, use.output_tokens) == (1, 120, 40)
    assert ingest.doubtful_workspaces() == []


def test_what_a_model_is_sure_of_and_quotes_takes_the_place_of_the_belief(
    alice: Person, httpserver: HTTPServer, wire: str
) -> None:
    touch = unsure(alice)
    serve_in_turn(httpserver, wire, reply(wire, verdict("ends", "hive went to a farmer")))
    ingest.ask_models(alice.workspace.pk)
    [decision] = Supersession.objects.all()
    assert (decision.old_id, decision.state, decision.decided_by) == (
        touch.memory_id,
        "applied",
        f"model:{NAMES[wire]}",
    )
    assert alice.live() == [f'User said: "{HIVE}"']
    assert Fact.objects.get(method="judge").rule == f"model:{NAMES[wire]}"
    assert AuditEntry.objects.get(action="replace").actor == f"model:{NAMES[wire]}"
    assert opinions(alice) == {"agreed": 1}
    review.undo(alice.scope, decision.pk)
    assert standing(touch.memory_id) == "current"


@pytest.mark.parametrize("why", ["not sure", "not plain", "asked for more", "pinned", "seen by others"])
def test_a_model_has_the_guards_that_the_judge_has(
    alice: Person, httpserver: HTTPServer, settings: Any, why: str
) -> None:
    words = "Maybe the last hive went to a farmer." if why == "not plain" else HIVE
    touch = unsure(alice, words)
    if why == "asked for more":
        alice.workspace.settings = {"judge": {"act": 1.0}}
        alice.workspace.save()
    elif why == "pinned":
        Memory.objects.update(pinned=True)
    elif why == "seen by others":
        Memory.objects.update(visibility="team")
    wire = openai(httpserver, settings)
    serve_in_turn(httpserver, wire, reply(wire, verdict("ends", "went to a farmer", sure=why != "not sure")))
    assert ingest.ask_models(alice.workspace.pk) == 1
    touch.refresh_from_db()
    assert (touch.relation, touch.by) == ("ends", "model")
    assert standing(touch.memory_id) == "questioned"
    assert not Supersession.objects.exists()


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"verdicts": [verdict("ends", "the hive is gone")]}),  # nobody said that
        json.dumps({"verdicts": [verdict("ends")]}),
        json.dumps({"verdicts": [verdict("ends", HIVE, index=7)]}),
        json.dumps({"verdicts": [verdict("ends", HIVE, index=-1)]}),
        json.dumps({"verdicts": [verdict("over", HIVE)]}),
        json.dumps({"verdicts": [verdict("ends", HIVE), verdict("compatible")]}),
        json.dumps({"verdicts": []}),
        json.dumps({"verdicts": "all of them end"}),
        json.dumps([verdict("ends", HIVE)]),
        "I think that the belief ends.",
        "{" * 5_000,
        "",
    ],
)
def test_an_answer_that_is_none_changes_nothing_and_is_not_waited_for_for_ever(
    alice: Person, httpserver: HTTPServer, settings: Any, answer: str
) -> None:
    touch = unsure(alice)
    wire = openai(httpserver, settings)
    bodies = serve_in_turn(httpserver, wire, chat_completion(answer))
    for _ in range(5):
        ingest.ask_models(alice.workspace.pk)
        Touch.objects.update(asked_at=timezone.now() - timedelta(hours=1))
    assert len(bodies) == 3
    touch.refresh_from_db()
    assert (touch.relation, touch.by, touch.probability) == ("ends", "judge", 0.6)
    assert ingest.doubtful_workspaces() == []
    assert opinions(alice) == {"none": 3}


def test_of_several_the_good_verdicts_count(alice: Person, httpserver: HTTPServer, settings: Any) -> None:
    wire = openai(httpserver, settings)
    unsure(alice)
    alice.say("I keep hens in the yard.", user_id="ben", extract="patterns")
    told(alice, "The last hen went to a farmer.", user_id="ben", judge_attempts=0, extract="patterns")
    judged_messages.run(alice.workspace.pk, judge=Judge(change(ends=0.6, compatible=0.4)))
    serve_in_turn(httpserver, wire, reply(wire, verdict("compatible", index=0), verdict("ends", "a goat", index=1)))
    assert ingest.ask_models(alice.workspace.pk) == 1
    assert sorted(Touch.objects.filter(relation__in=("adds", "ends")).values_list("by", flat=True)) == [
        "judge",
        "model",
    ]


def test_a_model_that_fails_is_asked_again_and_its_breaker_opens(
    alice: Person, httpserver: HTTPServer, settings: Any
) -> None:
    touch = unsure(alice)
    wire = openai(httpserver, settings)
    busy = failing(500, openai_error("busy"))
    bodies = serve_in_turn(httpserver, wire, busy, busy, busy, reply(wire, verdict("compatible")))
    settings.PROCESS_KIND = "worker"
    for _ in range(5):
        assert ingest.ask_models(alice.workspace.pk) == 0
        Touch.objects.update(asked_at=None)
    assert len(bodies) == 3
    touch.refresh_from_db()
    assert (touch.by, touch.model_attempts) == ("judge", 0)
    settings.PROCESS_KIND = "command"
    assert ingest.ask_models(alice.workspace.pk) == 1


def test_a_spent_budget_leaves_all_as_it_is(alice: Person, httpserver: HTTPServer, settings: Any) -> None:
    touch = unsure(alice)
    wire = openai(httpserver, settings)
    bodies = serve_in_turn(httpserver, wire, reply(wire, verdict("compatible")))
    alice.workspace.settings = {"budget": {"tokensPerDay": 0}}
    alice.workspace.save()
    assert ingest.ask_models(alice.workspace.pk) == 0
    assert bodies == []
    touch.refresh_from_db()
    assert (touch.by, touch.model_attempts, touch.asked_at) == ("judge", 0, None)


def test_no_second_worker_asks_about_the_same_pair(alice: Person, httpserver: HTTPServer, settings: Any) -> None:
    touch = unsure(alice)
    bodies = serve_in_turn(httpserver, openai(httpserver, settings), chat_completion("{}"))
    [pair] = touches.claim_unsure(alice.workspace.pk, 0.9)
    assert pair.touch == touch
    assert ingest.ask_models(alice.workspace.pk) == 0
    assert bodies == []


@pytest.mark.parametrize("over", [0.95, 0.05])
def test_a_model_is_asked_only_what_the_judge_is_not_sure_of(
    alice: Person, httpserver: HTTPServer, settings: Any, over: float
) -> None:
    alice.say("I keep bees in the orchard.", user_id="ada", extract="patterns")
    told(alice, HIVE, user_id="ada", judge_attempts=0, extract="patterns")
    Memory.objects.update(pinned=True)
    judged_messages.run(alice.workspace.pk, judge=Judge(change(ends=over, compatible=1 - over)))
    bodies = serve_in_turn(httpserver, openai(httpserver, settings), chat_completion("{}"))
    assert ingest.ask_models(alice.workspace.pk) == 0
    assert bodies == []


@pytest.mark.parametrize("why", ["decided by a person", "old", "switched off"])
def test_what_a_person_has_decided_or_is_old_or_switched_off_is_not_asked(
    alice: Person, httpserver: HTTPServer, settings: Any, why: str
) -> None:
    touch = unsure(alice)
    openai(httpserver, settings)
    if why == "decided by a person":
        touches.uphold(touch.memory_id, "ann")
    elif why == "old":
        Touch.objects.update(decided_at=timezone.now() - timedelta(days=8))
    else:
        alice.workspace.settings = {"judge": {"enabled": False}}
        alice.workspace.save()
    assert ingest.doubtful_workspaces() == []


def test_another_workspace_is_not_asked_about(
    alice: Person, mallory: Person, httpserver: HTTPServer, settings: Any
) -> None:
    touch = unsure(alice)
    wire = openai(httpserver, settings)
    bodies = serve_in_turn(httpserver, wire, reply(wire, verdict("compatible")))
    assert ingest.ask_models(mallory.workspace.pk) == 0
    assert bodies == []
    touch.refresh_from_db()
    assert touch.by == "judge"


def test_a_case_that_asked_about_it_is_closed(alice: Person, httpserver: HTTPServer, settings: Any) -> None:
    unsure(alice, over=0.8)
    file_cases()
    assert Case.objects.undecided().count() == 1
    wire = openai(httpserver, settings)
    serve_in_turn(httpserver, wire, reply(wire, verdict("compatible")))
    ingest.ask_models(alice.workspace.pk)
    assert Case.objects.undecided().count() == 0
    assert Case.objects.get().decided_by == "model:gpt-test-2026"
