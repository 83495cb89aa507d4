"""Crowds at a real front: too many connections, many first requests at once, bodies of nobody, and
clients that leave a long answer or read it slowly."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.live_server import PATIENCE, Server, wait_for

SEARCH = "/api/v1/workspaces/demo/memories/search"
LONG = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
MOST, CROWD = 200, 600
FLOODER = "127.0.0.2"


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spool")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, spool: Path) -> Iterator[Server]:
    env = {"MAX_CONNECTIONS": str(MOST), "TMPDIR": str(spool), "LOG_FORMAT": "json"}
    running = Server(tmp_path_factory.mktemp("crowd"), env=env)
    try:
        yield running.wait_until_ready()
    finally:
        running.end()


def connect(server: Server, source: str = "127.0.0.1") -> socket.socket:
    address = urlsplit(server.info["url"])
    assert address.hostname
    assert address.port
    return socket.create_connection((address.hostname, address.port), PATIENCE, (source, 0))


def begun(server: Server, path: str) -> tuple[socket.socket, HTTPResponse]:
    """An answer of which the head is read and the body still comes."""
    made = connect(server)
    made.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    answer = HTTPResponse(made)
    answer.begin()
    return made, answer


def test_first_requests_of_many_at_once_are_all_answered(server: Server) -> None:
    """Their credential has proved nothing to this front so far."""

    def ask(_: int) -> int:
        address = urlsplit(server.info["url"])
        assert address.hostname
        headers = {"Authorization": f"Token {server.info['key']}"}
        headers["Content-Type"] = "application/json"
        with closing(HTTPConnection(address.hostname, address.port, timeout=PATIENCE)) as http:
            http.request("POST", SEARCH, json.dumps({"query": "apples"}), headers)
            return http.getresponse().status

    with ThreadPoolExecutor(40) as people:
        assert set(people.map(ask, range(40))) == {200}


def test_one_that_holds_too_many_connections_loses_some_and_others_are_heard(
    server: Server,
) -> None:
    with connect(server) as kept, ExitStack() as crowd:
        for _ in range(CROWD):
            crowd.enter_context(connect(server, FLOODER))
        for _ in range(5):
            began = time.monotonic()
            assert server.get("/health/live") == 200
            assert time.monotonic() - began < 5
        kept.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert kept.recv(15) == b"HTTP/1.1 200 OK"
    assert "connections were closed" in server.log.read_text()


@pytest.mark.parametrize("key", ["", "X-API-Key: mp_made_up\r\n"])
def test_a_large_body_of_nobody_is_refused_before_it_has_come(server: Server, key: str) -> None:
    with connect(server) as made:
        head = f"POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\n{key}Content-Length: 9000000\r\n\r\n"
        made.sendall(head.encode() + b"x" * 1000)
        answer = HTTPResponse(made)
        answer.begin()
        assert answer.status == 401
        assert json.loads(answer.read())["status"] == 401


def test_a_large_body_is_taken_from_a_key_that_is_new_to_the_front(server: Server) -> None:
    body = json.dumps({"content": "The pears are ripe. " * 10_000, "extract": "none"}).encode()
    head = f"POST {SEARCH.replace('search', 'ingest')} HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Authorization: bearer {server.info['key']}\r\nContent-Type: application/json\r\n"
    with connect(server) as made:
        made.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = HTTPResponse(made)
        answer.begin()
        assert answer.status in (201, 202)


def test_who_reads_a_long_answer_slowly_or_not_to_its_end_keeps_nobody_waiting(server: Server, spool: Path) -> None:
    """There is one process for pages; what it answered is kept no longer than it is sent."""
    slow, long = begun(server, LONG)
    left, _ = begun(server, LONG)
    left.close()
    assert server.get("/api/schema") == 200
    length = int(long.headers["Content-Length"])
    first = long.read(1000)
    assert len(first + long.read()) == length
    slow.close()
    assert wait_for(lambda: not list(spool.glob("memoryproject-*")), 60)


@pytest.mark.parametrize(
    ("logger", "rest"),
    [
        ("workspaces.middleware", "\r\n"),
        ("memoryproject.server.front", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ],
)
def test_front_and_web_processes_log_who_was_refused_as_json(server: Server, logger: str, rest: str) -> None:
    with connect(server) as made:
        head = f"POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: {logger}\r\n"
        made.sendall(f"{head}{rest}".encode())
        made.recv(1000)
    said = [line for line in server.log.read_text().splitlines() if line.startswith("{")]
    [line] = [line for line in map(json.loads, said) if line["requestId"] == logger]
    assert (line["logger"], line["level"]) == (logger, "WARNING")
