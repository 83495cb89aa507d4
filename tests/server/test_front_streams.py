"""Event streams: the front passes on what another process tells, as it comes."""

import asyncio
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from memoryproject.server.address import reserve
from memoryproject.server.front.lanes import Options
from memoryproject.server.front.pools import PoolReply
from memoryproject.server.front.requests import Request
from memoryproject.server.front.streams import LARGEST_WAITING, ClientConnection, Stream, StreamConnection, Streams
from memoryproject.server.front.wire import packed
from memoryproject.server.stream_process import StreamProcess
from tests.live_server import PATIENCE, ROOT, strangers_environment, wait_for

GRANIAN = (sys.executable, "-m", "granian", "--http", "1", "--no-ws", "--log-level", "error")
PATH = "/api/v1/events"
Ask = Callable[[str], HTTPResponse]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("streams")


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    options = Options(str(folder / "front"), 1000, 20.0)
    env = strangers_environment() | options.as_variable()
    with reserve("127.0.0.1", 0) as held:  # until the end: nobody else is given it meanwhile
        port = int(held.getsockname()[1])
        words = ["--interface", "rsgi", "--port", str(port), "memoryproject.server.front.server:app"]
        with subprocess.Popen([*GRANIAN, *words], cwd=ROOT, env=env) as process:
            assert wait_for(lambda: is_live(port))
            yield port
            process.terminate()


def teller(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.streams_process", str(folder / "front"), str(folder)]
    return subprocess.Popen([*command, *words], cwd=ROOT, env=strangers_environment())


@pytest.fixture(scope="module")
def streams(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    with teller(folder) as process:
        assert wait_for(lambda: is_live(port, f"{PATH}?once"))
        yield process
        process.kill()


@pytest.fixture
def ask(port: int) -> Iterator[Ask]:
    with ExitStack() as stack:

        def ask(how: str) -> HTTPResponse:
            made = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            stack.callback(made.close)
            made.request("GET", f"{PATH}?{how}")
            return made.getresponse()

        yield ask


def is_live(port: int, path: str = "/health/live") -> bool:
    asked = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        asked.request("GET", path)
        return asked.getresponse().status == 200
    except OSError:
        return False
    finally:
        asked.close()


@pytest.mark.xdist_group("front_streams")
def test_streams_without_a_process_are_a_503(folder: Path, port: int) -> None:
    with teller(folder, "--answers-only") as process:
        made = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        made.request("GET", f"{PATH}?once")
        answer = made.getresponse()
        assert (answer.status, answer.headers["Content-Type"]) == (503, "application/problem+json")
        made.close()
        process.kill()


@pytest.mark.xdist_group("front_streams")
@pytest.mark.usefixtures("streams")
def test_an_event_comes_before_the_stream_ends(ask: Ask) -> None:
    answer = ask("ever")
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert answer.read(17) == b"first;data: hello"


@pytest.mark.xdist_group("front_streams")
@pytest.mark.usefixtures("streams")
@pytest.mark.parametrize(("how", "told"), [("once", b"data: hello\n\n"), ("broken", b"")])
def test_a_stream_ends_when_its_process_ends_it(ask: Ask, how: str, told: bytes) -> None:
    assert ask(how).read() == b"first;" + told


@pytest.mark.xdist_group("front_streams")
@pytest.mark.usefixtures("streams")
def test_a_reader_that_goes_ends_its_stream(folder: Path, port: int) -> None:
    (folder / "closed").unlink(missing_ok=True)
    with socket.create_connection(("127.0.0.1", port)) as made:
        made.sendall(f"GET {PATH}?ever HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        with made.makefile("rb") as told:  # who goes before it begins has nothing to end
            assert any(b"hello" in line for line in told)
    assert wait_for((folder / "closed").exists)


@pytest.mark.xdist_group("front_streams")
@pytest.mark.usefixtures("streams")
def test_a_reader_that_is_too_slow_is_dropped(folder: Path, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as made:
        made.sendall(f"GET {PATH}?flood HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert wait_for((folder / "dropped").exists)
        assert wait_for(lambda: has_ended(made))
    assert is_live(port)


def has_ended(made: socket.socket) -> bool:
    """What was on its way is still there to be read."""
    try:
        return made.recv(2**20) == b""
    except ConnectionResetError:
        return True


@pytest.mark.xdist_group("front_streams")
def test_a_stream_ends_with_its_process(ask: Ask, streams: subprocess.Popen[bytes], folder: Path) -> None:
    answer = ask("ever")
    assert answer.read(17) == b"first;data: hello"
    streams.kill()
    answer.read()


def test_what_waits_for_one_reader_is_bounded() -> None:
    waiting = Counter[str]()
    stream = Stream("t", waiting)
    stream.put(b"x" * LARGEST_WAITING)
    assert not stream.is_slow
    stream.put(b"x")
    assert stream.is_slow
    assert stream.has_ended
    stream.put(b"more")  # from its process, which does not know yet
    assert (stream.size, waiting) == (0, {})


def test_what_waits_for_all_readers_of_a_tenant_is_bounded_and_who_reads_is_not_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memoryproject.server.front.streams.MOST_WAITING_OF_TENANT", 10)
    waiting = Counter[str]()
    slow, reading, others = (Stream(name, waiting) for name in ("t", "t", "u"))
    slow.put(b"x" * 8)
    reading.put(b"x" * 4)
    others.put(b"x" * 8)
    slow.put(b"x")
    assert [each.is_slow for each in (slow, reading, others)] == [True, False, False]
    assert waiting == {"t": 4, "u": 8}
    assert asyncio.run(reading.next_part()) == b"xxxx"
    assert waiting == {"u": 8}


def test_a_process_lets_go_of_a_front_that_does_not_read_and_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryproject.server.stream_process.MOST_UNSENT", 2**20)

    async def run() -> int:
        made: list[asyncio.StreamWriter] = []

        async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            made.append(writer)
            writer.write(packed({"open": 1, "ticket": {"kind": "flood", "requestId": "r"}}))

        streams, sent = StreamProcess(str(tmp_path / "front")), 0

        async def flood(number: int, ticket: dict[str, object]) -> None:
            nonlocal sent
            while len(made) < 2 and sent < 100:
                streams.send([number], b"x" * 2**18)
                sent += 1
                await asyncio.sleep(0)

        streams.kinds["flood"] = flood
        async with await asyncio.start_unix_server(deaf, streams.front):
            running = asyncio.create_task(streams.run())
            async with asyncio.timeout(PATIENCE):
                while len(made) < 2:
                    await asyncio.sleep(0.01)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            for each in made:
                each.close()
        return sent

    assert asyncio.run(run()) < 20  # of a quarter of a megabyte each


class Reader:
    """What the server below the front gives it for one reader, who takes all at once."""

    def __init__(self) -> None:
        self.heard = b""

    async def client_disconnect(self) -> None:
        await asyncio.sleep(PATIENCE)

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> "Reader":
        return self

    async def send_bytes(self, part: bytes) -> None:
        self.heard += part


class NoProcess:
    """A process that tells nothing by itself."""

    def __init__(self) -> None:
        self.streams: dict[int, Stream] = {}
        self.transport = SimpleNamespace(write=lambda data: None)


@pytest.mark.parametrize(("size", "looks"), [(1_000, 0), (LARGEST_WAITING, 1)])
def test_a_stream_that_says_little_looks_through_no_open_files(
    monkeypatch: pytest.MonkeyPatch, size: int, looks: int
) -> None:
    looked: list[tuple[str, ...]] = []

    class Counted(ClientConnection):
        def __init__(self, *peer: str) -> None:
            looked.append(peer)
            super().__init__(*peer)

    monkeypatch.setattr("memoryproject.server.front.streams.ClientConnection", Counted)

    async def tell() -> bytes:
        every, process, reader = Streams(), NoProcess(), Reader()
        every.connections.append(cast(StreamConnection, process))
        environ = {"REMOTE_ADDR": "127.0.0.1", "REMOTE_PORT": "9"}
        asked = SimpleNamespace(tenant="t", request_id="r", environ=environ)
        reply = PoolReply({"status": 200, "headers": [], "stream": {}}, b"first;")
        passing = asyncio.ensure_future(every.pass_on(cast(Request, asked), reply, reader))
        await asyncio.sleep(0)
        [stream] = process.streams.values()
        stream.put(b"x" * size)
        stream.end()
        await passing
        return reader.heard

    assert len(asyncio.run(tell())) == size + 6
    assert len(looked) == looks
