"""The front of a real server: what people do to it by accident or on purpose, and what it
answers."""

import json
import os
import select
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from tests.live_server import PATIENCE, Server, measured, wait_for
from tests.wire_servers import FACT, chat_completion, facts_json

LIMITS = {"BODY_TIMEOUT": "2", "MAX_BODY_BYTES": "200000"}
SEARCH = "/api/v1/workspaces/demo/memories/search"
INGEST = "/api/v1/workspaces/demo/memories/ingest"
HALF_SENT = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("front"), env=LIMITS | measured())
    try:
        yield running.wait_until_ready()
    finally:
        running.end()


def asked(server: Server, method: str, path: str, **request: Any) -> tuple[Message, int, bytes]:
    """The headers, the status and the body of the answer."""
    address = urlsplit(server.info["url"])
    assert address.hostname
    with closing(HTTPConnection(address.hostname, address.port, timeout=PATIENCE)) as made:
        made.request(method, path, **request)
        answer = made.getresponse()
        return answer.headers, answer.status, answer.read()


def half_sent(server: Server, path: str, key: bool) -> socket.socket:
    """A request of which the rest never comes."""
    address = urlsplit(server.info["url"])
    line = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
    line += f"X-API-Key: {server.info['key']}\r\n" if key else ""
    made = socket.create_connection((address.hostname, address.port))
    made.sendall(f"{line}\r\n{{".encode())
    return made


@pytest.mark.parametrize("path", ["/health/live", SEARCH, "/admin/login/"])
@pytest.mark.parametrize("key", [True, False])
def test_half_sent_requests_are_in_nobodys_way(server: Server, path: str, key: bool) -> None:
    with ExitStack() as stack:
        for _ in range(HALF_SENT):
            stack.enter_context(half_sent(server, path, key))
        assert server.get("/health/live") == 200
        assert server.get("/health/ready") == 200
        assert server.post(SEARCH, {"query": "apples"}) == 200


def test_a_body_that_does_not_come_is_a_408(server: Server) -> None:
    with half_sent(server, SEARCH, True) as made:
        made.settimeout(PATIENCE)
        answer = made.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 408")
    assert json.loads(answer.partition("\r\n\r\n")[2])["code"] == "too_slow"


def test_a_refusal_is_a_short_line_however_long_the_path(server: Server) -> None:
    before, body = server.log.stat().st_size, b"x" * 300_000
    key = {"X-API-Key": server.info["key"]}
    _, status, _ = asked(server, "POST", "/api/v1/" + "a" * 30_000, body=body, headers=key)
    assert status == 413
    written = server.log.read_bytes()[before:].splitlines()
    [line] = [line for line in written if b" 413 POST /api/v1/aaa" in line]
    assert len(line) < 500


def test_a_body_that_is_too_large_is_a_413_that_can_be_read(server: Server) -> None:
    assert server.post(SEARCH, {"query": "x" * 8_000_000}) == 413


@pytest.mark.parametrize("path", ["/api/v1/workspaces/demo/documents", INGEST])
@pytest.mark.parametrize(
    ("length", "status"),
    [("Transfer-Encoding: chunked", 411), (f"Content-Length: {10**12}", 413)],
)
def test_a_body_without_end_is_ended(server: Server, path: str, length: str, status: int) -> None:
    """Hundreds of megabytes would be taken before anything is said."""
    address, part, sent = urlsplit(server.info["url"]), b"10000\r\n" + b"x" * 2**16 + b"\r\n", 0
    kind = "multipart/form-data; boundary=b" if path != INGEST else "application/json"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {server.info['key']}\r\n"
    head += f"Content-Type: {kind}\r\n{length}\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), PATIENCE) as made:
        made.sendall(head.encode())
        with suppress(OSError):
            while sent < 400 * 2**20 and not select.select([made], [], [], 0)[0]:
                made.sendall(part)
                sent += len(part)
        with suppress(ConnectionResetError):
            answer = made.recv(65536)
            assert answer.startswith(f"HTTP/1.1 {status}".encode())
    assert sent < 64 * 2**20
    assert server.post(SEARCH, {"query": "apples"}) == 200


def test_a_body_in_chunks_is_asked_for_with_its_length(server: Server) -> None:
    headers = {"X-API-Key": server.info["key"], "Content-Type": "application/json"}
    body = iter([b'{"query":', b' "apples"}'])
    _, status, _ = asked(server, "POST", SEARCH, body=body, headers=headers, encode_chunked=True)
    assert status == 411


BROKEN_OFF = {
    "a length that is not reached": b"Content-Length: 500\r\n\r\n" + b'{"content": "The pears fell."}',
    "chunks without a last one": b"Transfer-Encoding: chunked\r\n\r\n1e\r\n" + b'{"content": "The pears fell."}\r\n',
    "chunks and then none": b"Transfer-Encoding: chunked\r\n\r\n1e\r\n" + b'{"content": "The pears fell."}\r\nZZ\r\n',
}


@pytest.mark.parametrize("way", BROKEN_OFF)
def test_a_body_that_breaks_off_is_not_acted_upon(server: Server, way: str) -> None:
    address = urlsplit(server.info["url"])
    head = f"POST {INGEST} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {server.info['key']}\r\n"
    head += "Content-Type: application/json\r\n"
    with socket.create_connection((address.hostname, address.port), PATIENCE) as made:
        made.sendall(head.encode() + BROKEN_OFF[way])
        made.shutdown(socket.SHUT_WR)
        while made.recv(65536):
            pass
    assert server.post(INGEST, {"content": "A later one.", "extract": "none"}) == 201
    kept = "select count(*) from memories_episode where content like '%pears fell%'"
    assert server.ask(kept) == [(0,)]


FORGED = "/api/v1/workspaces/x%0A2026-01-01%2000:00:00%20WARNING%20forged:%20all%20is%20well%1b%5b31m%9b"
REFUSED = {
    411: b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    413: b"Content-Length: 900000\r\n\r\n" + b"x" * 900_000,
    408: b"Content-Length: 500\r\nConnection: close\r\n\r\n{",
    404: b"Content-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("status", REFUSED)
def test_a_refused_path_is_a_line_of_printable_signs(server: Server, status: int) -> None:
    address, before = urlsplit(server.info["url"]), server.log.stat().st_size
    head = f"POST {FORGED} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {server.info['key']}\r\n"
    head += "Content-Type: application/json\r\n"
    with socket.create_connection((address.hostname, address.port), PATIENCE) as made:
        made.sendall(head.encode() + REFUSED[status])
        made.settimeout(PATIENCE)
        assert made.recv(65536).startswith(f"HTTP/1.1 {status}".encode())

    def written() -> list[str]:
        return server.log.read_bytes()[before:].decode(errors="replace").split("\n")[:-1]

    wait_for(lambda: any("forged" in line for line in written()))
    assert all(line.isprintable() and not line.startswith("2026-01-01") for line in written())
    assert len([line for line in written() if "forged" in line]) == 1


def test_the_request_id_of_the_caller_comes_back(server: Server) -> None:
    headers, status, body = asked(server, "GET", "/api/v1/workspaces", headers={"X-Request-Id": "mine-1"})
    assert (status, headers["X-Request-Id"]) == (401, "mine-1")
    assert json.loads(body)["requestId"] == "mine-1"


LONG = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"


@pytest.mark.parametrize("path", ["/static/admin/css/base.css", "/api/schema", "/admin/login/", LONG])
def test_files_pages_and_documents_come_whole(server: Server, path: str) -> None:
    headers, status, body = asked(server, "GET", path)
    assert (status, int(headers["Content-Length"])) == (200, len(body))


def test_what_the_front_counts_is_in_the_metrics(server: Server) -> None:
    text = asked(server, "GET", "/metrics")[2].decode()
    assert 'memory_front_places{lane="read"} 1' in text
    assert "memory_requests_seconds" in text


def test_readers_are_answered_while_all_that_writes_is_frozen(server: Server) -> None:
    """A stuck lane is its own."""
    web = server.children("web")
    writers = [pid for pid in web[1:] if lane_of_process(server, pid) == "write"]
    for pid in writers:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert server.post(SEARCH, {"query": "apples"}) == 200
        assert server.get("/health/ready") == 200
    finally:
        for pid in writers:
            os.kill(pid, signal.SIGCONT)
    assert server.post(INGEST, {"content": "The apples are ripe.", "extract": "none"}) == 201


def lane_of_process(server: Server, pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip().removeprefix("web-")


def test_a_process_that_dies_with_a_read_is_not_noticed(server: Server) -> None:
    readers = [pid for pid in server.children("web") if lane_of_process(server, pid) == "read"]
    os.kill(readers[0], signal.SIGSTOP)
    with connect_and_ask(server) as made:
        os.kill(readers[0], signal.SIGKILL)
        made.settimeout(PATIENCE)
        assert made.recv(15) == b"HTTP/1.1 200 OK"
    assert wait_for(lambda: server.post(SEARCH, {"query": "apples"}) == 200)


def connect_and_ask(server: Server) -> socket.socket:
    address, body = urlsplit(server.info["url"]), b'{"query": "apples"}'
    made = socket.create_connection((address.hostname, address.port))
    lines = [
        f"POST {SEARCH} HTTP/1.1",
        "Host: localhost",
        f"X-API-Key: {server.info['key']}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "",
        "",
    ]
    made.sendall("\r\n".join(lines).encode() + body)
    return made


def test_who_made_up_a_key_is_told_so(server: Server) -> None:
    headers = {"X-API-Key": "mp_made_up"}
    assert asked(server, "GET", "/api/v1/workspaces", headers=headers)[1] == 401


UNDER_WAY = "select count(*) from memories_memorysession where state <> 'done'"
SAID = "I live in Lisbon, and the harbour is right below my windows."


@pytest.fixture
def model(server: Server) -> Iterator[threading.Event]:
    """A language model that answers when it is let go."""
    go = threading.Event()

    def answer(_: object) -> Response:
        assert go.wait(PATIENCE)
        body = chat_completion(facts_json(FACT))
        return Response(json.dumps(body), content_type="application/json")

    with HTTPServer(threaded=True) as wire:
        wire.expect_request("/v1/chat/completions").respond_with_handler(answer)
        rung = {"provider": "openai", "model": "m", "baseUrl": wire.url_for("/v1"), "timeout": 60}
        configure(server, {"extractors": [rung], "llm": "always"})
        yield go
        go.set()
        configure(server, {})


def configure(server: Server, settings: dict[str, Any]) -> None:
    text = json.dumps(settings)
    server.ask(f"update workspaces_workspace set settings = '{text}' returning slug")


def ingest(server: Server, number: int, **more: Any) -> tuple[int, dict[str, Any]]:
    headers = {"X-API-Key": server.info["key"], "Content-Type": "application/json"}
    said = {"role": "user", "name": "Ana", "content": SAID, "id": f"{number}"}
    body = {"messages": [said], "threadId": f"talk-{number}", "userId": f"{number}", **more}
    _, status, answer = asked(server, "POST", INGEST, body=json.dumps(body), headers=headers)
    return status, json.loads(answer)


def test_who_waits_for_a_model_is_in_nobodys_way_and_is_told_what_came_of_it(
    server: Server, model: threading.Event
) -> None:
    with ThreadPoolExecutor(4) as people:
        waiting = [people.submit(ingest, server, number, wait=60) for number in range(4)]
        assert wait_for(lambda: server.ask(UNDER_WAY) == [(4,)])
        assert server.post(SEARCH, {"query": "apples"}) == 200
        assert ingest(server, 9, extract="none")[0] == 201
        assert not any(one.done() for one in waiting)
        model.set()
        answers = [one.result() for one in waiting]
    assert [status for status, _ in answers] == [201] * 4
    assert [body["memoriesCreated"] for _, body in answers] == [1] * 4


def test_who_does_not_want_to_wait_longer_is_told_where_to_look(server: Server, model: threading.Event) -> None:
    status, body = ingest(server, 20, wait=0.5)
    assert (status, set(body)) == (202, {"sessionId", "status"})
