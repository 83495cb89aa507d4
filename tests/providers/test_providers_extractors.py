"""Facts out of messages: both vendors' SDKs against real sockets, and the scripted one."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest
from pydantic import BaseModel
from pytest_httpserver import HTTPServer

from memories.errors import ProviderError
from memories.providers import (
    ExtractedQuote,
    ExtractionAnswer,
    ExtractionRequest,
    Extractor,
    ExtractorConfig,
    ModelQuestion,
    ModelReply,
    PromptMessage,
    extractor_from,
)
from memories.providers.prompts import PROMPT_VERSION, FactsAnswer
from tests.wire_servers import (
    FACT,
    Json,
    chat_completion,
    claude_message,
    facts_json,
    serve_in_turn,
)

REQUEST = ExtractionRequest((PromptMessage(0, "user", "I live in Lisbon", "Ana", datetime(2024, 5, 1, 9, tzinfo=UTC)),))


class ScriptedExtractor(Extractor):
    """Gives `answers` one by one: a FactsAnswer, the raw text of a reply, or an error to raise.

    `requests` and `questions` hold what it was asked. After the last answer it fails.
    """

    provider = "scripted"
    model = "scripted"
    is_remote = False

    def __init__(self, answers: Iterable[BaseModel | str | ProviderError]) -> None:
        self._answers = iter(answers)
        self.requests: list[ExtractionRequest] = []
        self.questions: list[ModelQuestion] = []

    def extract(self, request: ExtractionRequest) -> ExtractionAnswer:
        self.requests.append(request)
        return super().extract(request)

    def ask(self, question: ModelQuestion) -> ModelReply:
        self.questions.append(question)
        answer = next(self._answers, None)
        if answer is None:
            raise ProviderError("the script has no more answers", permanent=True)
        if isinstance(answer, ProviderError):
            raise answer
        text = answer if isinstance(answer, str) else answer.model_dump_json()
        return ModelReply(text, stop_reason="end", model=self.model)


def claude(server: HTTPServer) -> Extractor:
    base = server.url_for("").rstrip("/")
    return extractor_from(ExtractorConfig("anthropic", api_key="key", base_url=base))


def openai(server: HTTPServer) -> Extractor:
    return extractor_from(ExtractorConfig("openai", base_url=server.url_for("/v1")))


def failure(extractor: Extractor) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        extractor.extract(REQUEST)
    return caught.value


def scripted(**changes: object) -> ScriptedExtractor:
    return ScriptedExtractor([facts_json({**FACT, **changes})])


def test_claude_answers_facts_with_quotes_and_its_costs(httpserver: HTTPServer) -> None:
    serve_in_turn(httpserver, "/v1/messages", claude_message(facts_json(FACT)))
    answer = claude(httpserver).extract(REQUEST)
    (fact,) = answer.facts
    assert (fact.statement, fact.category, fact.fact_type) == (
        "Ana lives in Lisbon",
        "identity",
        "profile",
    )
    assert fact.quotes == (ExtractedQuote(0, "I live in Lisbon"),)
    assert (answer.model, answer.prompt_version) == ("claude-haiku-4-5-20251001", PROMPT_VERSION)
    assert (answer.input_tokens, answer.output_tokens, answer.stop_reason) == (120, 40, "end_turn")
    assert answer.milliseconds > 0


def test_claude_is_asked_for_strict_json_and_without_temperature(httpserver: HTTPServer) -> None:
    bodies = serve_in_turn(httpserver, "/v1/messages", claude_message(facts_json()))
    claude(httpserver).extract(REQUEST)
    (body,) = bodies
    assert body["model"] == "claude-haiku-4-5"
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert "temperature" not in body
    assert "I live in Lisbon" in body["messages"][0]["content"]
    assert "I live in Lisbon" not in body["system"]


def test_openai_answers_facts_with_quotes_and_its_costs(httpserver: HTTPServer) -> None:
    serve_in_turn(httpserver, "/v1/chat/completions", chat_completion(facts_json(FACT)))
    answer = openai(httpserver).extract(REQUEST)
    assert answer.facts[0].quotes == (ExtractedQuote(0, "I live in Lisbon"),)
    assert (answer.input_tokens, answer.output_tokens, answer.stop_reason) == (120, 40, "stop")


def test_a_house_server_is_asked_without_a_key_for_strict_json(httpserver: HTTPServer) -> None:
    bodies = serve_in_turn(httpserver, "/v1/chat/completions", chat_completion(facts_json()))
    openai(httpserver).extract(REQUEST)
    (body,) = bodies
    assert body["model"] == "llama3.2"
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["max_tokens"] == 8_000


def test_usage_that_is_not_told_is_estimated(httpserver: HTTPServer) -> None:
    body = chat_completion(facts_json(FACT))
    del body["usage"]
    serve_in_turn(httpserver, "/v1/chat/completions", body)
    answer = openai(httpserver).extract(REQUEST)
    assert answer.input_tokens > answer.output_tokens > 0


def test_a_refusal_of_claude_is_a_permanent_error(httpserver: HTTPServer) -> None:
    serve_in_turn(httpserver, "/v1/messages", claude_message("", "refusal"))
    error = failure(claude(httpserver))
    assert "refused to answer" in str(error)
    assert error.permanent


@pytest.mark.parametrize(
    "body",
    [
        chat_completion(None, refusal="I cannot help with that"),
        chat_completion("", "content_filter"),
    ],
)
def test_a_refusal_of_openai_is_a_permanent_error(httpserver: HTTPServer, body: Json) -> None:
    serve_in_turn(httpserver, "/v1/chat/completions", body)
    error = failure(openai(httpserver))
    assert "refused to answer" in str(error)
    assert error.permanent


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_a_cut_off_answer_of_claude_is_told_from_a_wrong_one(httpserver: HTTPServer, stop: str) -> None:
    serve_in_turn(httpserver, "/v1/messages", claude_message('{"facts": [{"sta', stop))
    error = failure(claude(httpserver))
    assert "cut off after 40 tokens" in str(error)
    assert error.permanent


def test_a_cut_off_answer_of_openai_is_told_from_a_wrong_one(httpserver: HTTPServer) -> None:
    serve_in_turn(httpserver, "/v1/chat/completions", chat_completion('{"facts": [{', "length"))
    error = failure(openai(httpserver))
    assert "cut off after 40 tokens" in str(error)
    assert error.permanent


@pytest.mark.parametrize("text", ["Sure! Here are the facts:", "", '{"facts": 3}', "null", '{"a": 1}'])
def test_an_answer_that_is_not_the_json_asked_for_is_a_passing_error(httpserver: HTTPServer, text: str) -> None:
    serve_in_turn(httpserver, "/v1/messages", claude_message(text))
    serve_in_turn(httpserver, "/v1/chat/completions", chat_completion(text))
    for extractor in (claude(httpserver), openai(httpserver)):
        error = failure(extractor)
        assert "did not answer with the JSON" in str(error)
        assert not error.permanent


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_without_a_key_the_vendor_is_not_asked(provider: str) -> None:
    error = failure(extractor_from(ExtractorConfig(provider)))
    assert f"{provider.upper()}_API_KEY is not set" in str(error)
    assert error.permanent


def test_no_model_says_how_to_get_one() -> None:
    assert "ANTHROPIC_API_KEY" in str(failure(extractor_from(ExtractorConfig("none"))))


def test_an_unknown_extractor_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ProviderError, match="anthropic, azure, bedrock, openai, vertex, none"):
        extractor_from(ExtractorConfig("antropic"))


def test_the_scripted_extractor_records_what_it_was_asked() -> None:
    answer = FactsAnswer.model_validate(json.loads(facts_json(FACT)))
    extractor = ScriptedExtractor([answer, ProviderError("down", permanent=False)])
    assert extractor.extract(REQUEST).facts[0].statement == "Ana lives in Lisbon"
    assert str(failure(extractor)) == "down"
    assert "no more answers" in str(failure(extractor))
    assert extractor.requests == [REQUEST] * 3


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("2024-05-07", datetime(2024, 5, 7, tzinfo=UTC)),
        ("2024-05-07T10:00:00Z", datetime(2024, 5, 7, tzinfo=UTC)),
        ("2024-05", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("next week", None),
        ("2024-13-45", None),
        (None, None),
    ],
)
def test_event_dates_are_days_or_nothing(said: str | None, read: datetime | None) -> None:
    assert scripted(event_date=said).extract(REQUEST).facts[0].event_date == read


@pytest.mark.parametrize(("said", "read"), [(1.7, 1.0), (-2, 0.0), ("0.5", 0.5)])
def test_confidence_stays_between_none_and_all(said: object, read: float) -> None:
    assert scripted(confidence=said).extract(REQUEST).facts[0].confidence == read


def test_a_category_nobody_knows_becomes_other() -> None:
    (fact,) = scripted(category="hobby").extract(REQUEST).facts
    assert (fact.category, fact.fact_type) == ("other", "fact")


def test_fields_that_a_small_model_forgets_do_not_cost_the_fact() -> None:
    extractor = ScriptedExtractor(['{"facts": [{"statement": "Ana likes tea"}]}'])
    (fact,) = extractor.extract(REQUEST).facts
    assert (fact.statement, fact.quotes) == ("Ana likes tea", ())


def test_a_quote_without_words_is_dropped() -> None:
    quotes = [{"message": 0, "text": " "}]
    assert scripted(quotes=quotes).extract(REQUEST).facts[0].quotes == ()


def test_what_no_row_can_hold_is_taken_out() -> None:
    (fact,) = scripted(statement="Ana\x00 lives ", entities=["", "Ana", "Ana", "x" * 300]).extract(REQUEST).facts
    assert fact.statement == "Ana lives"
    assert fact.entities == ("Ana", "x" * 255)


def test_empty_statements_and_facts_over_the_limit_are_left_out() -> None:
    said = facts_json({**FACT, "statement": " "}, *[FACT] * 40)
    assert len(ScriptedExtractor([said]).extract(REQUEST).facts) == REQUEST.max_facts


def test_the_default_model_is_one_that_the_server_has() -> None:
    theirs = extractor_from(ExtractorConfig("openai", base_url="https://api.openai.com/v1"))
    own = extractor_from(ExtractorConfig("openai", base_url="http://localhost:11434/v1"))
    assert (theirs.model, own.model) == ("gpt-5-mini", "llama3.2")
