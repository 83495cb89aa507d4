"""Clients that go on asking while the server is hit, and note every answer."""

import random
import threading
import time
from collections import Counter

from bench.faults.acts import ERASE, FOLD, SYNC, Act, Workload
from bench.http_client import Client
from bench.server import TrialServer

TRIES = 3  # at once; what is not answered then is sent again at the end
STARTS_WITHIN = 90.0  # seconds
PAUSE = 0.4  # seconds between two acts of a client, on average
APPENDS_TO = "thread-user-1"


class Clients:
    """A few threads of small acts, and acts that are asked for by name; all noted in `acts`."""

    def __init__(self, server: TrialServer, seed: int, number: int, *, large: int, keyed: float) -> None:
        self.server, self.seed, self.messages, self.keyed = server, seed, large, keyed
        self.acts: list[Act] = []
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self._go_on, args=(f"c{at}n",), daemon=True) for at in range(number)]
        self.extra = Workload(seed, "p", server.path, keyed)
        self.conversation = ""

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopping.set()
        for thread in self.threads:
            thread.join(90.0)

    def begin(self, what: str) -> None:
        """Start one act of this kind beside the others; it may be under way when the fault
        comes."""
        with self.lock:
            if what == "large":
                acts = [self.extra.large(self.messages)]
            elif what == "fold":
                acts = [self.extra.fold(f"user-{at}") for at in range(2)]
            elif what == "erase":
                acts = [self.extra.small(SYNC, f"gone-{self.extra.number}")]
            else:
                acts = [self.extra.small()]
        thread = threading.Thread(target=self._in_turn, args=(acts, what), daemon=True)
        self.threads.append(thread)
        thread.start()

    def settle(self, seconds: float) -> list[Act]:
        """Send again what was not answered; what is still not answered after `seconds`."""
        end, pause = time.monotonic() + seconds, 1.0
        while time.monotonic() < end:
            waiting = [act for act in self.acts if not act.is_over]
            if not waiting:
                return []
            with self.server.client(120.0) as client:
                for act in waiting:
                    if time.monotonic() < end:
                        self._send(client, act)
            time.sleep(pause)
            pause = min(pause * 1.5, 10.0)
        return [act for act in self.acts if not act.is_over]

    def counts(self) -> dict[str, dict[str, int]]:
        """Statuses by kind."""
        found: dict[str, Counter[str]] = {}
        for act in list(self.acts):
            found.setdefault(act.kind, Counter()).update(map(str, act.statuses))
        return {kind: dict(sorted(counts.items())) for kind, counts in sorted(found.items())}

    def _go_on(self, name: str) -> None:
        work = Workload(self.seed, name, self.server.path, self.keyed)
        chance = random.Random(f"{self.seed} pauses {name}")
        with self.server.client() as client:
            while not self.stopping.is_set():
                if self.conversation and chance.random() < 0.15:
                    act = work.append(self.conversation)
                elif chance.random() < 0.05:
                    act = work.fold(f"user-{chance.randrange(3)}")
                else:
                    act = work.small()
                self._do(client, act)
                if not self.conversation and act.answer is not None:
                    self._find_conversation(client)
                self.stopping.wait(chance.expovariate(1 / PAUSE))

    def _in_turn(self, acts: list[Act], what: str) -> None:
        with self.server.client(120.0) as client:
            for act in acts:
                self._do(client, act)
            # Of a request that was sent twice the first may still be under way, and be served
            # after the erasure: then its words are new ones.
            if what == "erase" and acts[0].answer is not None and len(acts[0].statuses) == 1:
                self._erase(client, acts[0])

    def _erase(self, client: Client, said: Act) -> None:
        path = f"{self.server.path}/subjects?externalId={said.user}"
        for _ in range(TRIES):
            rows = client.ask("GET", path).json.get("results") or []
            if rows:
                said.erased = True
                self._do(client, self.extra.erase(rows[0]["id"], said))
                return
            client.move_to(str(self.server.info["url"]))

    def _do(self, client: Client, act: Act) -> None:
        if act.kind != FOLD:  # folding may be asked for at any time, and says nothing of rows
            self.acts.append(act)
        for _ in range(TRIES):
            self._wait_for_server(client)
            self._send(client, act)
            if act.is_over or act.kind == FOLD or self.stopping.wait(0.5):
                return

    def _wait_for_server(self, client: Client) -> None:
        """A server that starts is waited for: what nobody could be told proves nothing, and all
        would have to be sent again at the end."""
        end = time.monotonic() + STARTS_WITHIN
        while not self.stopping.is_set() and time.monotonic() < end:
            client.move_to(str(self.server.info["url"]))  # another one after each start
            if client.ask("GET", "/health/live").status:
                return
            self.stopping.wait(0.5)

    def _send(self, client: Client, act: Act) -> None:
        if act.kind == ERASE and not act.statuses:
            act.statuses.append(0)  # a lost answer is not told from one that never was
        act.note(client.ask(act.method, act.path, act.body, act.headers))

    def _find_conversation(self, client: Client) -> None:
        found = client.ask("GET", f"{self.server.path}/conversations?threadId={APPENDS_TO}")
        for row in found.json.get("results") or []:
            self.conversation = str(row["id"])
