"""What all calls to model servers have in common, shown on both SDKs and real sockets."""

import socket
from collections.abc import Callable, Iterator

import pytest
from pytest_httpserver import HTTPServer

from memories import metrics
from memories.errors import ProviderError
from memories.providers import (
    ExtractionRequest,
    Extractor,
    ExtractorConfig,
    PromptMessage,
    answer_forms,
    extractor_from,
)
from memories.providers.network import offline, pause_wanted
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
    silent_server,
)

REQUEST = ExtractionRequest((PromptMessage(0, "user", "I live in Lisbon", "Ana"),))
PATHS = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}
GOOD: dict[str, Json] = {
    "anthropic": claude_message(facts_json(FACT)),
    "openai": chat_completion(facts_json(FACT)),
}
FORMS = {"anthropic": 2, "openai": 5}
ERRORS: dict[str, Callable[[str], Json]] = {"anthropic": claude_error, "openai": openai_error}


@pytest.fixture(autouse=True)
def _no_form_is_known_yet() -> None:
    """All tests share one server, of which the process would remember what it took."""
    answer_forms._taken.clear()
    answer_forms._refused.clear()


@pytest.fixture(params=["anthropic", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def extractor(provider: str, url: str, timeout: float = 60.0) -> Extractor:
    base = url if provider == "anthropic" else f"{url}/v1"
    return extractor_from(ExtractorConfig(provider, api_key="key", base_url=base, timeout=timeout))


def failure(extractor: Extractor) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        extractor.extract(REQUEST)
    return caught.value


def url_of(server: HTTPServer) -> str:
    return server.url_for("").rstrip("/")


def test_a_short_pause_is_handed_to_the_caller_too(httpserver: HTTPServer, provider: str) -> None:
    busy = failing(429, ERRORS[provider]("slow down"), retry_after="1")
    bodies = serve_in_turn(httpserver, PATHS[provider], busy, GOOD[provider])
    error = failure(extractor(provider, url_of(httpserver)))
    assert (error.permanent, error.retry_after, len(bodies)) == (False, 1.0, 1)


def test_a_long_pause_is_handed_to_the_caller_and_not_slept(httpserver: HTTPServer, provider: str) -> None:
    busy = failing(429, ERRORS[provider]("slow down"), retry_after="3600")
    bodies = serve_in_turn(httpserver, PATHS[provider], busy)
    error = failure(extractor(provider, url_of(httpserver)))
    assert (error.permanent, error.retry_after, len(bodies)) == (False, 3600.0, 1)


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_server_that_stays_busy_is_a_passing_error(httpserver: HTTPServer, provider: str, status: int) -> None:
    busy = failing(status, ERRORS[provider]("come back later"), retry_after="0.01")
    bodies = serve_in_turn(httpserver, PATHS[provider], busy)
    error = failure(extractor(provider, url_of(httpserver)))
    assert f"answered {status}" in str(error)
    assert "come back later" in str(error)
    assert (error.permanent, len(bodies)) == (False, 1)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_what_waiting_cannot_mend_is_a_permanent_error(httpserver: HTTPServer, provider: str, status: int) -> None:
    refusal = failing(status, ERRORS[provider]("not like this"))
    bodies = serve_in_turn(httpserver, PATHS[provider], refusal)
    error = failure(extractor(provider, url_of(httpserver)))
    assert f"answered {status}" in str(error)
    assert "not like this" in str(error)
    # It may be the form of the question that is refused: each is asked in, once.
    calls = FORMS[provider] if status in answer_forms.NOT_KNOWN else 1
    assert (error.permanent, len(bodies)) == (True, calls)


def test_a_slow_server_is_a_passing_error(provider: str) -> None:
    with silent_server() as server:
        error = failure(extractor(provider, url_of(server), timeout=0.1))
    assert "did not answer in time" in str(error)
    assert not error.permanent


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_a_server_that_is_not_there_is_a_passing_error(provider: str, closed_port: int) -> None:
    error = failure(extractor(provider, f"http://127.0.0.1:{closed_port}"))
    assert f"127.0.0.1:{closed_port} cannot be reached" in str(error)
    assert not error.permanent


@pytest.mark.parametrize("body", ["<html>Sign in</html>", "{}", "[]", "null", "{"])
@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_an_answer_of_another_shape_is_a_passing_error(
    httpserver: HTTPServer, provider: str, body: str, kind: str
) -> None:
    httpserver.expect_request(PATHS[provider]).respond_with_data(body, content_type=kind)
    error = failure(extractor(provider, url_of(httpserver)))
    assert "not expected" in str(error)
    assert not error.permanent


def test_a_page_instead_of_an_error_is_cut_short(httpserver: HTTPServer, provider: str) -> None:
    page = "<html>" + "bad gateway " * 1000
    httpserver.expect_request(PATHS[provider]).respond_with_data(
        page, status=502, headers={"retry-after": "0.01"}, content_type="text/html"
    )
    assert len(str(failure(extractor(provider, url_of(httpserver))))) < 500


@pytest.mark.parametrize("base", ["localhost:11434/v1", "file:///etc/passwd", "not a url"])
def test_a_base_url_must_be_one(provider: str, base: str) -> None:
    error = failure(extractor_from(ExtractorConfig(provider, api_key="key", base_url=base)))
    assert "must begin with http" in str(error)
    assert error.permanent


def test_a_key_with_a_line_break_is_refused_by_us(httpserver: HTTPServer, provider: str) -> None:
    config = ExtractorConfig(provider, api_key="key\n", base_url=url_of(httpserver))
    error = failure(extractor_from(config))
    assert "no key has" in str(error)
    assert error.permanent


def test_nothing_is_asked_while_the_network_is_off(httpserver: HTTPServer, provider: str) -> None:
    bodies = serve_in_turn(httpserver, PATHS[provider], GOOD[provider])
    with offline():
        error = failure(extractor(provider, url_of(httpserver)))
    assert "switched off" in str(error)
    assert bodies == []


def test_calls_are_counted_with_their_outcome(httpserver: HTTPServer, provider: str) -> None:
    metrics.clear()
    serve_in_turn(httpserver, PATHS[provider], GOOD[provider], failing(400, {}))
    extractor(provider, url_of(httpserver)).extract(REQUEST)
    failure(extractor(provider, url_of(httpserver)))
    assert [(dict(m.labels)["outcome"], m.count) for m in metrics.snapshot()] == [
        ("failed", 1),
        ("ok", 1),
    ]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("12", 12.0), ("-3", 0.0), ("", None), ("soon", None), ("Mon, 01 Jan 2001 00:00:00 GMT", 0.0)],
)
def test_retry_after_may_be_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert pause_wanted({"retry-after": value}) == seconds
