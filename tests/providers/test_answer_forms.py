"""Servers are asked for JSON in the form that they know, and what they found in their caches is counted."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from memories.errors import ProviderError
from memories.meters import costs
from memories.models import ModelUse
from memories.providers import (
    ExtractionRequest,
    Extractor,
    ExtractorConfig,
    PromptMessage,
    answer_forms,
    chat_model_from,
    extractor_from,
)
from memories.providers.chat_model import ChatMessage, ChatQuestion
from tests.people import Person
from tests.wire_servers import (
    FACT,
    Json,
    chat_completion,
    claude_error,
    claude_message,
    facts_json,
    failing,
    openai_error,
    serve_in_turn,
)

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
REQUEST = ExtractionRequest((PromptMessage(0, "user", "I live in Lisbon", "Ana", datetime(2024, 5, 1, 9, tzinfo=UTC)),))
FOUND = chat_completion(facts_json(FACT))


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_forms, "_taken", {})


def own_server(server: HTTPServer) -> Extractor:
    return extractor_from(ExtractorConfig("openai", base_url=server.url_for("/v1")))


def claude(server: HTTPServer) -> Extractor:
    return extractor_from(ExtractorConfig("anthropic", api_key="key", base_url=server.url_for("").rstrip("/")))


def forms(bodies: list[Json]) -> list[str]:
    """The form of each request, in a word."""
    told = []
    for body in bodies:
        form = body.get("response_format") or {"type": "words"}
        bounds = ", bounded" if "maxItems" in json.dumps(form) else ""
        schema = " with schema" if "schema" in form else ""
        told.append(f"{form['type']}{schema}{bounds}")
    return told


def test_a_server_that_takes_schemas_is_asked_once(httpserver: HTTPServer) -> None:
    bodies = serve_in_turn(httpserver, CHAT, FOUND)
    assert own_server(httpserver).extract(REQUEST).facts
    assert forms(bodies) == ["json_schema, bounded"]


def test_bounds_that_a_strict_mode_refuses_are_left_out(httpserver: HTTPServer) -> None:
    refusal = failing(400, openai_error("'maxItems' is not permitted"))
    bodies = serve_in_turn(httpserver, CHAT, refusal, FOUND)
    assert own_server(httpserver).extract(REQUEST).facts
    assert own_server(httpserver).extract(REQUEST).facts
    assert forms(bodies) == ["json_schema, bounded", "json_schema", "json_schema"]


def test_a_llama_server_that_fails_on_schemas_is_asked_in_its_own_form(httpserver: HTTPServer) -> None:
    fails = failing(500, openai_error("Internal Server Error"))
    bodies = serve_in_turn(httpserver, CHAT, fails, fails, FOUND)
    assert own_server(httpserver).extract(REQUEST).facts
    own_server(httpserver).extract(REQUEST)
    assert forms(bodies)[-2:] == ["json_object with schema, bounded"] * 2
    assert len(bodies) == 4


def test_a_server_that_knows_no_form_is_told_the_schema_in_words(httpserver: HTTPServer) -> None:
    refusal = failing(422, openai_error("response_format: extra fields not permitted"))
    bodies = serve_in_turn(httpserver, CHAT, refusal, refusal, refusal, refusal, FOUND)
    assert own_server(httpserver).extract(REQUEST).facts
    assert forms(bodies)[-2:] == ["json_object", "words"]
    assert '"statement"' in bodies[-1]["messages"][0]["content"]


def test_where_no_form_is_taken_the_first_refusal_is_told_and_the_next_call_tries_anew(httpserver: HTTPServer) -> None:
    first, other = failing(400, openai_error("too long")), failing(400, openai_error("what?"))
    bodies = serve_in_turn(httpserver, CHAT, first, other, other, other, other, FOUND)
    with pytest.raises(ProviderError, match="too long"):
        own_server(httpserver).extract(REQUEST)
    assert own_server(httpserver).extract(REQUEST).facts
    assert forms(bodies)[-1] == "json_schema, bounded"


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_failure_that_is_not_about_the_form_is_asked_once(httpserver: HTTPServer, status: int) -> None:
    bodies = serve_in_turn(httpserver, CHAT, failing(status, openai_error("no")))
    with pytest.raises(ProviderError):
        own_server(httpserver).extract(REQUEST)
    assert len(bodies) == 1


def test_claude_without_structured_output_answers_by_a_tool(httpserver: HTTPServer) -> None:
    used = claude_message("", "tool_use")
    used["content"] = [{"type": "tool_use", "id": "t1", "name": "answer", "input": {"facts": [FACT]}}]
    refusal = failing(400, claude_error("output_config: Extra inputs are not permitted", "invalid_request_error"))
    bodies = serve_in_turn(httpserver, MESSAGES, refusal, used)
    assert claude(httpserver).extract(REQUEST).facts[0].statement == FACT["statement"]
    claude(httpserver).extract(REQUEST)
    assert ["output_config" in body for body in bodies] == [True, False, False]
    assert bodies[-1]["tool_choice"] == {"type": "tool", "name": "answer"}
    assert "quotes" in json.dumps(bodies[-1]["tools"][0]["input_schema"])


# ---- caches


def cached(body: Json, found: int, put: int = 0) -> Json:
    return body | {"usage": body["usage"] | {"cache_read_input_tokens": found, "cache_creation_input_tokens": put}}


def test_the_rules_stand_first_alike_and_marked_for_claudes_cache(httpserver: HTTPServer) -> None:
    bodies = serve_in_turn(httpserver, MESSAGES, cached(claude_message(facts_json()), 500, 20))
    other = ExtractionRequest((PromptMessage(0, "user", "I have a canoe", "Ben"),))
    answers = [claude(httpserver).extract(each) for each in (REQUEST, other)]
    assert bodies[0]["system"] == bodies[1]["system"]
    assert bodies[0]["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert (answers[0].input_tokens, answers[0].cached_tokens) == (120 + 500 + 20, 500)


def test_a_talk_marks_its_end_so_that_the_next_turn_finds_all_of_it(httpserver: HTTPServer) -> None:
    bodies = serve_in_turn(httpserver, MESSAGES, failing(503, claude_error("busy")))
    model = chat_model_from(ExtractorConfig("anthropic", api_key="key", base_url=httpserver.url_for("").rstrip("/")))
    said = [ChatMessage("user", "Hi"), ChatMessage("assistant", "Hello"), ChatMessage("user", "Where do I live?")]
    with pytest.raises(ProviderError):
        model.ask(ChatQuestion("Be brief.", said), lambda _: None)
    marks = ["cache_control" in part for turn in bodies[0]["messages"] for part in turn["content"]]
    assert marks == [False, False, True]


def test_what_an_openai_server_found_in_its_cache_is_counted(httpserver: HTTPServer) -> None:
    body = FOUND | {"usage": FOUND["usage"] | {"prompt_tokens_details": {"cached_tokens": 100}}}
    serve_in_turn(httpserver, CHAT, body)
    answer = own_server(httpserver).extract(REQUEST)
    assert (answer.input_tokens, answer.cached_tokens) == (120, 100)


def test_the_ledger_counts_cached_tokens_and_takes_a_tenth_for_them(
    alice: Person, httpserver: HTTPServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = "test", httpserver.url_for("").rstrip("/")
    price = costs.Price(Decimal(10), cached_share=Decimal("0.1"))
    monkeypatch.setattr(costs, "price_of", lambda *_: price)
    serve_in_turn(httpserver, MESSAGES, cached(claude_message(facts_json(FACT)), 1_000))
    alice.say("I live in Lisbon.", extract="llm", user_id="ana")
    row = ModelUse.objects.get(purpose="extraction")
    assert (row.input_tokens, row.cached_tokens) == (1_120, 1_000)
    assert row.cost == Decimal(10) * (120 + 100) / 1_000_000
