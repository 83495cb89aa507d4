"""A workspace's extractors call where the operator allows it, and tell nothing of what stands
there."""

import gzip
import ipaddress
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx2
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from memories.errors import Invalid, ProviderError
from memories.management.checks import allowed_hosts
from memories.models import MemorySession
from memories.providers import (
    ExtractionRequest,
    ExtractorConfig,
    PromptMessage,
    extractor_from,
    network,
    web_fetch,
)
from memories.providers.allowed_addresses import (
    AddressRefused,
    GuardedTransport,
    address_for,
    is_of_this_machine,
    is_refused,
)
from memories.providers.web_fetch import FetchError, FetchLimits, WebRequest, fetch
from memories.reading.extraction.fallback_chain import models_from
from tests.people import Person
from tests.web_servers import Answer, dripping, endless, hinting, raw_server, telling
from tests.wire_servers import failing, openai_error

LIVES = "As of this spring I live in Lisbon, by the river."
METADATA = "role-credentials of the machine"
HERE = ("localhost",)
SECONDS = 0.5


def names(person: Person, url: str) -> None:
    """The workspace's extractor is at `url`, as a row that was written before the rule."""
    person.workspace.settings = {"extractors": [{"provider": "openai", "model": "m", "baseUrl": url}]}
    person.workspace.save()


@pytest.fixture
def inside(httpserver: HTTPServer) -> str:
    httpserver.expect_request("/v1/chat/completions").respond_with_response(failing(400, openai_error(METADATA)))
    return httpserver.url_for("/v1")


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080/v1",
        "http://127.0.0.1/v1",
        "https://127.0.0.1/v1",
        "https://10.0.0.7/v1",
        "https://169.254.169.254/latest",
        "https://[::1]/v1",
        "https://[::ffff:127.0.0.1]/v1",
        "https://[64:ff9b::7f00:1]/v1",
        "https://[64:ff9b:1::a00:7]/v1",
        "https://[fec0::1]/v1",
        "https://[::a00:7]/v1",
        "https://[::ffff:0:a00:7]/v1",
        "https://[2002:a00:7::1]/v1",
        "https://192.0.0.192/v1",
        "https://168.63.129.16/v1",
        "http://93.184.216.34/v1",
        "http://example.org/v1",
        "https://0.0.0.0/v1",
    ],
)
def test_by_itself_only_a_public_https_address_may_be_named(url: str, settings: Any) -> None:
    settings.EXTRACTOR_ALLOWED_HOSTS = []
    with pytest.raises(Invalid) as refusal:
        models_from([{"provider": "openai", "baseUrl": url}])
    assert refusal.value.field == "extractors[0].baseUrl"


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://api.example.org/v1", []),
        ("https://93.184.216.34/v1", []),
        ("http://models.lan:8000/v1", ["models.lan"]),
        ("http://models.lan:8000/v1", ["models.lan:8000"]),
        ("http://10.1.2.3/v1", ["10.0.0.0/8"]),
        ("http://[fd00::1]:80/v1", ["[fd00::1]:80"]),
        ("http://anywhere/v1", ["*"]),
    ],
)
def test_what_the_operator_allows_may_be_named(url: str, allowed: list[str]) -> None:
    assert not is_refused(url, allowed)


def test_another_port_of_an_allowed_host_is_refused() -> None:
    assert is_refused("http://models.lan:22/v1", ["models.lan:8000"])


def test_the_servers_own_address_needs_no_leave(settings: Any) -> None:
    settings.EXTRACTOR_ALLOWED_HOSTS = []
    settings.OPENAI_BASE_URL = "http://localhost:11434/v1/"
    [model] = models_from([{"provider": "openai", "baseUrl": "http://localhost:11434/v1"}])
    assert model.base_url == "http://localhost:11434/v1"


def test_what_a_name_stands_for_is_looked_at_when_it_is_called(httpserver: HTTPServer) -> None:
    """`localhost` is a public name as far as its letters go."""
    url = f"https://localhost:{httpserver.port}/"
    assert not is_refused(url, [])
    transport = GuardedTransport((), seconds=20)
    with pytest.raises(AddressRefused), httpx2.Client(transport=transport) as client:
        client.get(url)
    assert httpserver.log == []


def test_the_connection_goes_to_the_address_that_was_looked_at(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpserver.expect_request("/").respond_with_data("here")
    answers = iter(["127.0.0.1", "127.0.0.9"])

    looked_up = socket.getaddrinfo

    def rebound(host: str, port: int, *more: Any, **named: Any) -> list[Any]:
        known = next(answers) if host == "models.example" else host
        return looked_up(known, port, *more, **named)

    transport = GuardedTransport(["127.0.0.1/32"], seconds=20)
    with httpx2.Client(transport=transport) as client:
        monkeypatch.setattr(socket, "getaddrinfo", rebound)
        answer = client.get(f"http://models.example:{httpserver.port}/")
        assert answer.text == "here"
        assert httpserver.log[0][0].host == f"models.example:{httpserver.port}"
        with pytest.raises(AddressRefused):
            client.get(f"http://models.example:{httpserver.port}/")


def test_of_several_addresses_the_allowed_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, 1, 6, "", (ip, 443)) for ip in ("10.0.0.1", "93.184.216.34")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert address_for("https", "example.org", 443, ()) == "93.184.216.34"


def test_addresses_of_our_own_interfaces_are_told_from_others() -> None:
    own = socket.gethostbyname(socket.gethostname())
    assert all(is_of_this_machine(ipaddress.ip_address(each)) for each in (own, "127.0.0.1"))
    assert not is_of_this_machine(ipaddress.ip_address("93.184.216.34"))


def test_a_public_address_of_this_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services that listen at it are kept from others by a firewall, not from us."""
    assert not is_refused("https://93.184.216.34/v1", ())
    monkeypatch.setattr(socket.socket, "getsockname", lambda _: ("93.184.216.34", 5))
    assert is_refused("https://93.184.216.34/v1", ())
    assert not is_refused("https://93.184.216.34/v1", ["93.184.216.34/32"])


def test_a_setting_of_before_is_not_called_either(
    alice: Person, inside: str, httpserver: HTTPServer, settings: Any
) -> None:
    settings.EXTRACTOR_ALLOWED_HOSTS = []
    names(alice, inside)
    session = alice.say(LIVES, extract="llm")
    assert "EXTRACTOR_ALLOWED_HOSTS" in session.error
    assert httpserver.log == []


def test_the_words_of_a_foreign_server_stand_in_no_error(alice: Person, inside: str) -> None:
    names(alice, inside)
    session = alice.say(LIVES, extract="llm")
    assert "answered 400" in session.error
    told = [session.error, session.reason, session.steps]
    assert METADATA not in str(told)


def test_the_words_of_the_servers_own_model_are_told(alice: Person, inside: str, settings: Any) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = inside, "own"
    names(alice, inside)
    assert METADATA in alice.say(LIVES, extract="llm").error


def test_a_redirect_is_not_followed(alice: Person, httpserver: HTTPServer) -> None:
    moved = Response(status=307, headers={"Location": httpserver.url_for("/latest/meta-data")})
    httpserver.expect_request("/v1/chat/completions").respond_with_response(moved)
    names(alice, httpserver.url_for("/v1"))
    session = alice.say(LIVES, extract="llm")
    assert "answered 307" in session.error
    assert [request.path for request, _ in httpserver.log] == ["/v1/chat/completions"]


def test_an_answer_that_is_no_json_is_not_quoted(alice: Person, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/chat/completions").respond_with_data(METADATA)
    names(alice, httpserver.url_for("/v1"))
    session = alice.say(LIVES, extract="llm")
    assert session.state == MemorySession.State.RECEIVED
    assert METADATA not in str([session.error, session.reason, session.steps])


@pytest.mark.parametrize(
    ("entry", "ids"),
    [
        ("http://localhost", ["memories.E009"]),
        ("10.0.0.0/99", ["memories.E009"]),
        ("*", ["memories.W006"]),
        ("localhost:11434", []),
    ],
)
def test_a_check_tells_a_wrong_list(entry: str, ids: list[str], settings: Any) -> None:
    settings.EXTRACTOR_ALLOWED_HOSTS = [entry]
    assert [found.id for found in allowed_hosts(None)] == ids


def reads_a_page(url: str, _: pytest.MonkeyPatch) -> None:
    fetch(WebRequest(url), FetchLimits(seconds=SECONDS), HERE)


def tells_a_webhook(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_fetch, "LONGEST", SECONDS)
    web_fetch.post(url, {}, b"{}", HERE)


def asks_a_model(url: str, _: pytest.MonkeyPatch) -> None:
    asks(url, seconds=SECONDS)


def asks(url: str, *, seconds: float = 20) -> None:
    config = ExtractorConfig("openai", api_key="key", base_url=f"{url}v1", timeout=seconds, allowed=HERE)
    extractor_from(config).extract(ExtractionRequest((PromptMessage(0, "user", LIVES, "Ana"),)))


@pytest.mark.parametrize("door", [reads_a_page, tells_a_webhook, asks_a_model])
@pytest.mark.parametrize(
    "answer",
    [
        hinting,
        dripping(b""),
        dripping(b"HTTP/1.1 200 OK\r\nx: "),
        dripping(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"),
    ],
    ids=["interim answers", "line", "head", "body"],
)
def test_a_server_that_drips_loses_its_connection_when_the_time_is_over(
    door: Callable[[str, pytest.MonkeyPatch], None],
    answer: Answer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_ended = threading.Event()
    with raw_server(telling(answer, has_ended)) as url:
        with suppress(FetchError, ProviderError):  # of a webhook the status is all that counts
            door(url, monkeypatch)
        assert has_ended.wait(20)


def test_a_models_answer_without_an_end_is_left_when_it_is_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network, "LARGEST_ANSWER", 1_000_000)
    has_ended = threading.Event()
    with raw_server(telling(endless, has_ended)) as url:
        with pytest.raises(ProviderError, match="cannot be reached"):
            asks(url, seconds=60)
        assert has_ended.wait(20)


def test_a_models_answer_is_not_unpacked(httpserver: HTTPServer) -> None:
    packed = gzip.compress(b"\0" * 50_000_000)
    httpserver.expect_request("/v1/chat/completions").respond_with_data(packed, headers={"content-encoding": "gzip"})
    with pytest.raises(ProviderError, match="cannot be reached"):
        asks(f"http://localhost:{httpserver.port}/")
    assert httpserver.log[0][0].headers["accept-encoding"] == "identity"


def test_a_connection_of_before_is_not_used_again(httpserver: HTTPServer) -> None:
    """The end of one request's time would be that of another."""
    httpserver.expect_request("/").respond_with_handler(lambda request: Response(str(request.environ["REMOTE_PORT"])))
    with httpx2.Client(transport=GuardedTransport(HERE, seconds=20)) as client:
        ports = {client.get(f"http://localhost:{httpserver.port}/").text for _ in range(3)}
    assert len(ports) == 3
