"""`python -m bench.pressure.attack`: those who press, in a process of their own.

Reads a list of attacks as JSON from standard input, goes on until SIGTERM (`longest` seconds at
most), and writes how often each was answered how.
"""

import asyncio
import json
import os
import random
import re
import signal
import sys
from collections import Counter
from contextlib import suppress
from typing import Any

from bench import sentences
from bench.async_http import Caller, header, request

HALF, GUESS, SEARCH, SMALL, MIXED, LARGE, TEXT = (
    "half",
    "guess",
    "search",
    "small",
    "mixed",
    "large",
    "text",
)
LOGIN = "/admin/login/"
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')
HALF_PATHS = ("/health/live", "{path}/memories/search", LOGIN)
PAUSE = 0.05  # seconds between two requests of one client: they are many
AFTER_FAILURE = 0.5
LAST_WORDS = 20  # seconds that who is stopped before his first answer waits for it
GENTLENESS = 10  # these stand for other machines: the server's processes come first
LARGE_TEXT = 9_500_000  # characters


async def main(wish: dict[str, Any]) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    counts: dict[str, Counter[str]] = {}
    tasks = []
    for attack in wish["attacks"]:
        counted = counts.setdefault(attack["name"], Counter())
        for number in range(attack["clients"]):
            one = Attacker(wish["host"], wish["port"], attack, number, counted)
            tasks.append(asyncio.create_task(one.go_on()))
    with suppress(TimeoutError):  # whoever began it has died
        await asyncio.wait_for(stopping.wait(), wish["longest"])
    for _ in range(LAST_WORDS * 10):  # of each attack, what came of it is known
        if all(counts.values()):
            break
        await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    sys.stdout.write(json.dumps(counts))


class Attacker:
    """`attack`: name, kind, path (of the workspace), key, body (more fields), messages, seed."""

    def __init__(self, host: str, port: int, attack: dict[str, Any], number: int, counted: Counter[str]) -> None:
        self.caller = Caller(host, port, timeout=attack.get("timeout", 120.0))
        self.host, self.port, self.attack, self.number = host, port, attack, number
        self.counted, self.sent = counted, 0
        self.seed = attack["seed"]
        self.chance = random.Random(f"{self.seed} {attack['name']} {number}")

    async def go_on(self) -> None:
        act = {HALF: self.send_half, GUESS: self.guess}.get(self.attack["kind"], self.post)
        while True:
            outcome = await act()
            self.counted[outcome] += 1
            await asyncio.sleep(AFTER_FAILURE if outcome == "0" else PAUSE)

    async def send_half(self) -> str:
        """The beginning of a body whose rest never comes; held as long as the server holds it."""
        path = HALF_PATHS[self.number % 3].format(path=self.attack["path"])
        key = self.attack["key"] if self.number % 2 else ""
        whole = request("POST", path, key, b"{" + b" " * 999)
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port)
            self.counted["begun"] += 1
            try:
                writer.write(whole[:-999])
                await writer.drain()
                head = await reader.read(1 << 16)
                return head[9:12].decode() if head else "closed"
            finally:
                writer.close()
        except OSError:
            return "0"

    async def guess(self) -> str:
        answer, head = await self.caller.send(request("GET", LOGIN))
        found = TOKEN.search(answer.body)
        if found is None:
            return f"form {answer.status}"
        cookie = header(head, "set-cookie").split(";")[0]
        word = sentences.word(self.chance)
        form = f"csrfmiddlewaretoken={found[1].decode()}&username=admin&password={word}"
        more = {"Cookie": cookie, "Content_Type": "application/x-www-form-urlencoded"}
        sent = request("POST", LOGIN, "", form.encode(), **more)
        return str((await self.caller.send(sent))[0].status)

    async def post(self) -> str:
        self.sent += 1
        verb, body = self._body(self.attack["kind"])
        path = f"{self.attack['path']}/memories/{verb}"
        sent = request("POST", path, self.attack["key"], {**body, **self.attack.get("body", {})})
        return str((await self.caller.send(sent))[0].status)

    def _body(self, kind: str) -> tuple[str, dict[str, Any]]:
        mark = f"{self.attack['name']} {os.getpid()} {self.number} {self.sent}"
        if kind == MIXED:
            kind = SEARCH if self.sent % 2 else SMALL
        if kind == SEARCH:
            return "search", {"query": sentences.query(self.seed, str(self.chance.randrange(1000)))}
        if kind == TEXT:
            return "ingest", {"content": sentences.long_text(LARGE_TEXT)}
        number = self.attack.get("messages", 1000) if kind == LARGE else 1
        texts = [_message(self.seed, f"{mark} {at}", at) for at in range(number)]
        messages = [{"role": "user", "content": text} for text in texts]
        return "ingest", {"messages": messages, "userId": f"presser-{self.number}"}


def _message(seed: int, mark: str, at: int) -> str:
    """Some sentences; each third message says something that is believed."""
    said = [sentences.sentence(seed, f"{mark} {part}") for part in "abc"]
    return " ".join([*said, sentences.claim(seed, mark)] if at % 3 == 0 else said)


if __name__ == "__main__":
    os.nice(GENTLENESS)
    asyncio.run(main(json.loads(sys.stdin.read())))
