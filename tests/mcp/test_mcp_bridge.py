"""`manage.py mcp`: standard input and output at one end, a server of HTTP at the other."""

import io
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memoryproject.server import mcp_bridge
from memoryproject.server.mcp_bridge import Bridge, header_value
from tests.live_server import ROOT

ASK = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}}


def said(server: HTTPServer, *messages: Any) -> list[Any]:
    """What the bridge answers to these lines."""
    lines = "".join((m if isinstance(m, str) else json.dumps(m)) + "\n" for m in messages)
    out = io.StringIO()
    Bridge(server.url_for("/mcp"), "mp_a_b").run(io.StringIO(lines), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture
def mirror(httpserver: HTTPServer) -> HTTPServer:
    """Answers with what it was asked."""

    def answer(request: Request) -> Response:
        message = request.get_json()
        result = {"headers": dict(request.headers), "protocolVersion": "2025-11-25"}
        told = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return Response(json.dumps(told), content_type="application/json")

    httpserver.expect_request("/mcp", method="POST").respond_with_handler(answer)
    return httpserver


def test_a_message_goes_to_the_server_with_the_key(mirror: HTTPServer) -> None:
    [answer] = said(mirror, ASK)
    assert answer["id"] == 7
    assert answer["result"]["headers"]["Authorization"] == "Bearer mp_a_b"
    assert "Mcp-Protocol-Version" not in answer["result"]["headers"]


def test_the_version_that_was_agreed_on_goes_with_what_follows(mirror: HTTPServer) -> None:
    first, second = said(mirror, {**ASK, "id": 1, "method": "initialize"}, ASK)
    assert "Mcp-Protocol-Version" not in first["result"]["headers"]
    assert second["result"]["headers"]["Mcp-Protocol-Version"] == "2025-11-25"


def test_a_message_of_the_new_era_says_in_headers_what_it_asks(mirror: HTTPServer) -> None:
    about = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    params = {"name": "zoë", "_meta": about}
    [answer] = said(mirror, {**ASK, "method": "tools/call", "params": params})
    headers = answer["result"]["headers"]
    assert (headers["Mcp-Method"], headers["Mcp-Protocol-Version"]) == ("tools/call", "2026-07-28")
    assert headers["Mcp-Name"] == "=?base64?em/Dqw==?="
    [answer] = said(mirror, {**ASK, "params": {"_meta": about}})
    assert "Mcp-Name" not in answer["result"]["headers"]
    assert header_value("plain") == "plain"


def test_what_asks_for_no_answer_is_not_sent(httpserver: HTTPServer) -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert said(httpserver, notice, "no json", [1], {"id": 1}) == []
    assert httpserver.log == []


def test_a_busy_server_is_asked_again(httpserver: HTTPServer) -> None:
    httpserver.expect_ordered_request("/mcp").respond_with_data("{}", status=429, headers={"Retry-After": "0"})
    httpserver.expect_ordered_request("/mcp").respond_with_json({"id": 7, "result": {}})
    assert said(httpserver, ASK) == [{"id": 7, "result": {}}]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"detail": "This key is unknown."}, "This key is unknown."),
        (400, {"error": {"code": -32602, "message": "Wrong."}, "id": None}, "Wrong."),
        (500, {}, "500"),
    ],
)
def test_a_refusal_is_an_error_of_the_protocol(
    httpserver: HTTPServer, status: int, body: dict[str, Any], words: str
) -> None:
    httpserver.expect_request("/mcp").respond_with_json(body, status=status)
    [answer] = said(httpserver, ASK)
    assert answer["id"] == 7
    assert words in answer["error"]["message"]


def test_a_server_that_stays_busy_is_told(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_bridge, "LONGEST_PAUSE", 0.0)
    httpserver.expect_request("/mcp").respond_with_json({"detail": "Busy."}, status=503)
    [answer] = said(httpserver, ASK)
    assert answer["error"]["message"] == "Busy."
    assert len(httpserver.log) == mcp_bridge.TRIES


def test_no_server_and_no_json_are_told(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/mcp").respond_with_data("<html>")
    [answer] = said(httpserver, ASK)
    assert "cannot be asked" in answer["error"]["message"]
    out = io.StringIO()
    Bridge("http://127.0.0.1:9/mcp", "k").run(io.StringIO(json.dumps(ASK) + "\n"), out)
    assert "cannot be asked" in json.loads(out.getvalue())["error"]["message"]


def test_the_command_names_server_key_and_user(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[Bridge] = []
    monkeypatch.setattr(Bridge, "run", lambda bridge, *_: begun.append(bridge))
    monkeypatch.setenv(mcp_bridge.KEY, "from the environment")
    mcp_bridge.main(["--url", "http://h:1/", "--user", "a/b"])
    assert (begun[0].address, begun[0].key) == ("http://h:1/mcp/a%2Fb", "from the environment")
    monkeypatch.delenv(mcp_bridge.KEY)
    with pytest.raises(SystemExit):
        mcp_bridge.main(["--url", "http://h:1/"])
    assert "give --key" in capsys.readouterr().err


def test_it_runs_on_a_bare_python_without_django(mirror: HTTPServer) -> None:
    """No package of any environment: -S leaves them out."""
    command = [
        sys.executable,
        "-S",
        "-E",
        "manage.py",
        "mcp",
        "--url",
        mirror.url_for("").rstrip("/"),
    ]
    process = subprocess.run(
        command,
        cwd=ROOT,
        input=json.dumps(ASK) + "\n",
        capture_output=True,
        text=True,
        env={mcp_bridge.KEY: "mp_a_b", "PATH": os.environ["PATH"]},
        timeout=60,
    )
    assert json.loads(process.stdout)["id"] == 7, process.stderr
