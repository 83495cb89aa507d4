"""One address is read within bounds: where it is, how much, how long, how many redirects."""

import gzip
import socket
import time
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.providers import network
from memories.providers.web_fetch import (
    FetchError,
    FetchLimits,
    WebAnswer,
    WebRequest,
    fetch,
    refused_reason,
)
from tests.web_servers import dripping, endless, raw_server

HERE = ("localhost",)
LIMITS = FetchLimits(seconds=20, size=100_000)


def read(url: str, *, allowed: tuple[str, ...] = HERE, limits: FetchLimits = LIMITS) -> WebAnswer:
    return fetch(WebRequest(url), limits, allowed)


def refusal(url: str, **named: Any) -> FetchError:
    with pytest.raises(FetchError) as raised:
        read(url, **named)
    return raised.value


def at(httpserver: HTTPServer, path: str) -> str:
    return f"http://localhost:{httpserver.port}{path}"


def test_a_page_comes_with_what_is_said_of_it(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/a").respond_with_data(
        "<p>Hello", headers={"ETag": '"1"'}, content_type="text/html; charset=utf-8"
    )
    answer = read(at(httpserver, "/a"))
    assert (answer.data, answer.media_type) == (b"<p>Hello", "text/html")
    assert answer.headers["etag"] == '"1"'


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "http://localhost:1/",
        "http://10.0.0.7/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:10.0.0.7]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[fe80::1]/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://100.64.0.1/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "http://ada:secret@example.org/",
        "http://example.org:99999/",
        "http:///nothing",
        "nonsense",
        "http://example.org/" + "a" * 2_000,
    ],
)
def test_what_is_inside_or_no_page_is_refused(url: str) -> None:
    assert refusal(url, allowed=()).code == "fetch_refused"


def test_public_pages_may_be_read_over_plain_http() -> None:
    assert refused_reason("http://93.184.216.34/a", ()) == ""
    assert refused_reason("http://example.org/a", ()) == ""


def test_a_redirect_to_the_inside_is_refused(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/out").respond_with_response(
        Response(status=302, headers={"Location": f"http://127.0.0.1:{httpserver.port}/secret"})
    )
    httpserver.expect_request("/secret").respond_with_data("the metadata")
    assert refusal(at(httpserver, "/out")).code == "fetch_refused"
    assert [request.path for request, _ in httpserver.log] == ["/out"]


def test_redirects_are_followed_five_times(httpserver: HTTPServer) -> None:
    for n in range(6):
        httpserver.expect_request(f"/{n}").respond_with_response(
            Response(status=301, headers={"Location": f"/{n + 1}"})
        )
    httpserver.expect_request("/6").respond_with_data("here")
    assert read(at(httpserver, "/1")).url == at(httpserver, "/6")
    assert refusal(at(httpserver, "/0")).code == "fetch_refused"


def test_secrets_do_not_follow_a_redirect_to_another_host(httpserver: HTTPServer) -> None:
    there = f"http://127.0.0.1:{httpserver.port}/there"
    httpserver.expect_request("/here").respond_with_response(Response(status=302, headers={"Location": there}))
    httpserver.expect_request("/there").respond_with_handler(
        lambda request: Response(request.headers.get("authorization", "none"))
    )
    asked = WebRequest(at(httpserver, "/here"), headers={"authorization": "Bearer secret"})
    assert fetch(asked, LIMITS, (*HERE, "127.0.0.1")).data == b"none"


def test_what_is_written_is_not_written_elsewhere(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_response(Response(status=307, headers={"Location": "/other"}))
    with pytest.raises(FetchError) as raised:
        fetch(WebRequest(at(httpserver, "/"), "POST", body=b"{}"), LIMITS, HERE)
    assert raised.value.code == "fetch_refused"


def test_a_body_without_an_end_is_read_to_its_limit() -> None:
    with raw_server(endless) as url:
        assert refusal(url).code == "fetch_refused"


@pytest.mark.parametrize(
    "start",
    [b"", b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 200 OK\r\n\r\n"],
    ids=["line", "head", "body"],
)
def test_a_server_that_drips_is_left_when_the_time_is_over(start: bytes) -> None:
    with raw_server(dripping(start)) as url:
        began = time.monotonic()
        error = refusal(url, limits=FetchLimits(seconds=0.5, size=10**9))
        assert (error.code, error.is_passing) == ("timeout", True)
        assert time.monotonic() - began < 15


def test_what_is_packed_is_unpacked_to_the_limit_and_no_further(httpserver: HTTPServer) -> None:
    packed = {"Content-Encoding": "gzip"}
    httpserver.expect_request("/fine").respond_with_data(gzip.compress(b"fine"), headers=packed)
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < LIMITS.size
    httpserver.expect_request("/bomb").respond_with_data(bomb, headers=packed)
    httpserver.expect_request("/odd").respond_with_data(b"x", headers={"Content-Encoding": "gzip, gzip"})
    httpserver.expect_request("/torn").respond_with_data(b"not packed", headers=packed)
    assert read(at(httpserver, "/fine")).data == b"fine"
    assert refusal(at(httpserver, "/bomb")).code == "fetch_refused"
    assert refusal(at(httpserver, "/odd")).code == "fetch_refused"
    assert refusal(at(httpserver, "/torn")).code == "fetch_failed"


@pytest.mark.parametrize(
    ("status", "headers", "code", "is_passing", "pause"),
    [
        (401, {}, "login_required", False, None),
        (403, {}, "login_required", False, None),
        (404, {}, "source_gone", False, None),
        (410, {}, "source_gone", False, None),
        (418, {}, "fetch_status", False, None),
        (429, {"Retry-After": "7"}, "rate_limited", True, 7.0),
        (429, {}, "rate_limited", True, 60.0),
        (500, {}, "fetch_status", True, None),
        (503, {"Retry-After": "9"}, "rate_limited", True, 9.0),
        (503, {}, "fetch_status", True, None),
    ],
)
def test_each_status_has_its_code(
    httpserver: HTTPServer,
    status: int,
    headers: dict[str, str],
    code: str,
    is_passing: bool,
    pause: float | None,
) -> None:
    httpserver.expect_request("/").respond_with_data("no", status=status, headers=headers)
    error = refusal(at(httpserver, "/"))
    assert (error.code, error.is_passing, error.retry_after) == (code, is_passing, pause)
    assert error.status == status
    assert str(status) in str(error)


def test_what_was_not_changed_is_an_answer(httpserver: HTTPServer) -> None:
    def answer(request: Request) -> Response:
        return Response(status=304 if request.headers.get("if-none-match") == "1" else 200)

    httpserver.expect_request("/").respond_with_handler(answer)
    asked = WebRequest(at(httpserver, "/"), headers={"if-none-match": "1"})
    assert fetch(asked, LIMITS, HERE).status == 304


def test_nobody_there_is_a_failure_that_may_pass() -> None:
    with socket.socket() as bound:  # a port that nobody else takes, and where nobody listens
        bound.bind(("127.0.0.1", 0))
        error = refusal(f"http://localhost:{bound.getsockname()[1]}/")
    assert (error.code, error.is_passing) == ("fetch_failed", True)


def test_with_the_network_off_nothing_is_asked(httpserver: HTTPServer) -> None:
    with network.offline():
        assert refusal(at(httpserver, "/")).code == "fetch_failed"
    assert httpserver.log == []
