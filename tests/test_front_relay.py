"""Event streams and MCP: the front passes them on to another process, as they come."""

import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from memoryproject.address import reserve
from memoryproject.front.options import Options
from tests.live_server import PATIENCE, ROOT, strangers_environment, wait_for

GRANIAN = (sys.executable, "-m", "granian", "--http", "1", "--no-ws", "--log-level", "error")


@pytest.fixture
def port() -> int:
    with reserve("127.0.0.1", 0) as held:
        return int(held.getsockname()[1])


@pytest.fixture
def streams(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    words = ["--interface", "asginl", "--uds", str(tmp_path / "streams"), "tests.streams_app:app"]
    with subprocess.Popen([*GRANIAN, *words], cwd=ROOT) as process:
        assert wait_for((tmp_path / "streams").exists)
        yield process
        process.terminate()


@pytest.fixture
def front(tmp_path: Path, port: int) -> Iterator[HTTPConnection]:
    options = Options(str(tmp_path / "front"), 1000, 20.0, streams=str(tmp_path / "streams"))
    words = ["--interface", "rsgi", "--port", str(port), "memoryproject.front.server:app"]
    env = strangers_environment() | options.as_variable()
    with subprocess.Popen([*GRANIAN, *words], cwd=ROOT, env=env) as process:
        assert wait_for(lambda: is_live(port))
        asked = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        yield asked
        asked.close()
        process.terminate()


def is_live(port: int) -> bool:
    asked = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        asked.request("GET", "/health/live")
        return asked.getresponse().status == 200
    except OSError:
        return False
    finally:
        asked.close()


def test_an_event_comes_before_the_stream_ends(
    streams: subprocess.Popen[bytes], front: HTTPConnection
) -> None:
    front.request("POST", "/mcp/ada?for=ever", b"hello")
    answer = front.getresponse()
    assert (answer.status, answer.headers["X-Path"]) == (200, "/mcp/ada")
    assert answer.read(11) == b"data: hello"


def test_a_stream_ends_when_its_process_ends_it(
    streams: subprocess.Popen[bytes], front: HTTPConnection
) -> None:
    front.request("POST", "/mcp", b"hello")
    assert front.getresponse().read() == b"data: hello\n\n"


def test_streams_without_a_process_are_a_503(front: HTTPConnection) -> None:
    front.request("GET", "/mcp")
    answer = front.getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (503, "application/problem+json")
