"""Our own Python client: against a real server, and against one that fails on purpose."""

import asyncio
import re
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from memoryproject_client import AsyncMemory, Citation, FieldFault, Memory, MemoryFault
from memoryproject_client.answers import decoded
from pytest_httpserver import HTTPServer

from tests.live_server import ROOT, Server

ID = "01a205c1-0000-7000-8000-000000000000"
FOUND = {"results": [], "count": 0, "confidence": 0.0}
SEARCH = "/api/v1/workspaces/demo/memories/search"


def client_of(server: Server, **options: Any) -> Memory:
    return Memory(server.info["url"], server.info["key"], server.info["workspace"], **options)


def output_of_the_program_in(page: str, server: Server, *, most: int) -> str:
    """Of the one program on the page, which has at most so many lines."""
    programs = re.findall(r"^```py\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    [program] = [text for text in programs if "memoryproject_client" in text]
    assert len([line for line in program.splitlines() if line.strip()]) <= most
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={
            "MEMORY_URL": server.info["url"],
            "MEMORY_KEY": server.info["key"],
            "PYTHONPATH": str(ROOT / "clients" / "python"),
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_front_page_shows_ingest_context_and_correction(server: Server) -> None:
    said = output_of_the_program_in("README.md", server, most=12)
    context, versions = said.partition("</memories>")[::2]
    assert "Porto" in context
    assert versions.split("\n")[1:] == [
        "1 User lives in Lisbon",
        "2 User moved to Porto",
        "3 Grace lives in Porto, near the river",
        "",
    ]


def test_the_guides_program_does_what_it_says(server: Server) -> None:
    said = output_of_the_program_in("docs/guides/clients.md", server, most=40)
    for words in ("learned: ", "Lisbon", "version 1 says", "version 2 says", "404 "):
        assert words in said, said
    now, _, then = re.search(r"now: (.*)", said)[1].partition(" | then: ")
    assert "Porto" in now
    assert "Lisbon" in then
    assert "Porto" not in said.rpartition("left: ")[2]


def test_all_methods_work_against_a_real_server(server: Server) -> None:
    with client_of(server) as memory:
        said = memory.ingest("I have a parrot called Kiwi.", user_id="eve", thread_id="t1")
        assert said.status == "done"
        assert said.memories is not None
        [made] = said.memories
        assert (made.user_id, made.thread_id, made.version) == ("eve", "t1", 1)
        assert made.created_at.tzinfo is not None
        found = memory.search("parrot", user_id="eve", layers=["memories"], include=["citations"]).results[0]
        assert found.memory == made
        assert found.citations is not None
        assert "Kiwi" in found.citations[0].quote
        assert "Kiwi" in memory.context("parrot called Kiwi", user_id="eve", floor=0.0).text
        assert made.id in {row.id for row in memory.profile("eve").profile}
        new = memory.correct(made.id, "Eve has a parrot called Mango")
        told = memory.explain(new.id)
        assert [link.memory.version for link in told.chain] == [1, 2]
        assert told.chain[1].supersession is not None
        assert told.chain[1].supersession.rule == "edit"
        assert told.facts
        memory.forget(new.id, "private")
        assert list(memory.memories(user_id="eve")) == []


def test_memories_come_over_all_pages(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryproject_client.client.PAGE", 2)
    colours = ("red", "blue", "green", "white", "black")
    with client_of(server) as memory:
        for colour in colours:
            memory.ingest(f"The {colour} box is full.", user_id="boxes", extract="none")
        every = [row.content.split()[1] for row in memory.memories(user_id="boxes")]
        assert every == [*reversed(colours)]
        assert len(list(memory.memories(user_id="boxes", limit=3))) == 3
        assert len(list(memory.memories(user_id="boxes", limit=5))) == 5


def test_the_async_client_does_the_same(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryproject_client.client.PAGE", 1)

    async def run() -> list[str]:
        info = server.info
        async with AsyncMemory(info["url"], info["key"], info["workspace"]) as memory:
            said = await memory.ingest([{"role": "user", "content": "I have a tortoise called Flash."}], user_id="tim")
            assert said.memories is not None
            made = said.memories[0]
            assert (await memory.search("tortoise", user_id="tim", layers=["memories"])).results[0].memory == made
            assert "Flash" in (await memory.context("tortoise Flash", floor=0.0)).text
            assert (await memory.profile("tim")).user_id == "tim"
            await memory.ingest("I play the piano.", user_id="tim")
            rows = [row.content async for row in memory.memories(user_id="tim")]
            one = [row.content async for row in memory.memories(user_id="tim", limit=1)]
            assert one == rows[:1]
            new = await memory.correct(made.id, "Tim has a tortoise called Comet")
            assert len((await memory.explain(new.id)).chain) == 2
            await memory.forget(new.id)
            with pytest.raises(MemoryFault):
                await memory.search("")
            return rows

    assert len(asyncio.run(run())) == 2


def test_a_refusal_names_status_and_fields(server: Server) -> None:
    with client_of(server) as memory, pytest.raises(MemoryFault) as refused:
        memory.search("x", limit=1000, rankking="hybrid")
    fault = refused.value
    assert (fault.status, fault.fields, fault.code) == (400, ["rankking"], "unknown_field")
    assert fault.request_id
    assert isinstance(fault.errors[0], FieldFault)


# ---- what fails ------------------------------------------------------------------------------


def failing(server: HTTPServer, retries: int = 2) -> Memory:
    return Memory(server.url_for(""), "mp_a_b", "demo", retries=retries)


@pytest.mark.parametrize(("status", "body"), [(429, {}), (502, None), (503, {}), (409, {"code": "in_progress"})])
def test_what_is_busy_is_asked_again_as_the_same(httpserver: HTTPServer, status: int, body: Any) -> None:
    busy = httpserver.expect_ordered_request(SEARCH)
    if body is None:
        busy.respond_with_data("<html>", status=status, headers={"Retry-After": "0"})
    else:
        busy.respond_with_json(body, status=status, headers={"Retry-After": "0"})
    httpserver.expect_ordered_request(SEARCH).respond_with_json(FOUND)
    with failing(httpserver) as memory:
        assert memory.search("x").count == 0
    keys = [request.headers["Idempotency-Key"] for request, _ in httpserver.log]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_what_stays_busy_is_given_up(httpserver: HTTPServer) -> None:
    httpserver.expect_request(SEARCH).respond_with_json({"detail": "Busy."}, status=503, headers={"Retry-After": "0"})
    with failing(httpserver) as memory, pytest.raises(MemoryFault, match="Busy") as refused:
        memory.search("x")
    assert (refused.value.status, len(httpserver.log)) == (503, 3)


def test_a_plain_refusal_is_not_asked_again(httpserver: HTTPServer) -> None:
    httpserver.expect_request(SEARCH).respond_with_data("gone", status=404)
    with failing(httpserver) as memory, pytest.raises(MemoryFault, match="answered 404"):
        memory.search("x")
    assert len(httpserver.log) == 1


def test_a_lost_connection_is_told_and_a_change_is_not_sent_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    waits, tester = time.sleep, threading.current_thread()

    def sleep(seconds: float) -> None:
        """Note what the client waits; other threads of this process go on as they were."""
        if threading.current_thread() is tester:
            slept.append(seconds)
        else:
            waits(seconds)

    monkeypatch.setattr("memoryproject_client.client.time.sleep", sleep)
    with Memory("http://127.0.0.1:9", "k", "demo", retries=2) as memory:
        with pytest.raises(MemoryFault, match="cannot be reached") as refused:
            memory.search("x")
        assert (refused.value.status, slept) == (0, [0.0, 0.5, 1.0])
        slept.clear()
        with pytest.raises(MemoryFault):
            memory.correct(ID, "x")
        assert slept == [0.0]


def test_the_async_client_tells_a_lost_connection_too() -> None:
    async def run() -> None:
        async with AsyncMemory("http://127.0.0.1:9", "k", "demo", retries=0) as memory:
            await memory.search("x")

    with pytest.raises(MemoryFault, match="cannot be reached"):
        asyncio.run(run())


def test_what_is_newer_than_the_client_is_kept_raw() -> None:
    body = {"episodeId": "e", "start": 0, "end": 1, "quote": "I", "mood": "calm"}
    citation = decoded(Citation, body)
    assert (citation.external_id, citation.raw["mood"]) == (None, "calm")
