"""Kills while documents are on their way: at each of their states, one after the other."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.faults import document_rows, rows
from bench.faults.document_acts import CLAIMS, LARGE, SMALL, Source, Wanted, Writer, send_half
from bench.faults.outcome import Finding, Outcome
from bench.faults.points import ALL, KILL, Hitting, Point
from bench.processes import POSTGRES, WEB, WORKER
from bench.server import ServerFailed, TrialServer

# As its rows say, or what somebody does to it at that time.
WORKING = ("extracting", "chunking", "indexing", "embedding")
BY_WORKER = ("fetching", *WORKING, "memories", "done")
BY_CALLER = ("queued", "upload", "revision", "delete", "sync")
STATES = (*BY_CALLER, *BY_WORKER)
TARGETS = {
    BY_WORKER: {WORKER: 70, ALL: 18, POSTGRES: 12},
    BY_CALLER: {WEB: 40, ALL: 25, WORKER: 20, POSTGRES: 15},
}
LONGEST_DELAY = 0.4  # seconds
REACHED = 45.0  # seconds until the state that is waited for
RECOVERS = 120.0
FILES = 6  # of the folder that is kept in step


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """`hurried`: at the end leases are taken as run out, and a sweep does what the worker would do
    half a minute later."""

    seed: int
    patience: float  # seconds until nothing is due
    deadline: float  # of time.monotonic()
    hurried: bool = False


def plan(number: int, seed: int, states: Sequence[str] = STATES) -> Iterator[Point]:
    """Every state in turn; the same seed, the same points."""
    chance = random.Random(f"{seed} documents")
    for at in range(number):
        state = states[at % len(states)]
        shares = TARGETS[BY_WORKER if state in BY_WORKER else BY_CALLER]
        target = chance.choices(list(shares), list(shares.values()))[0]
        delay = chance.uniform(0.0, LONGEST_DELAY) if state in BY_CALLER else 0.0
        yield Point(at + 1, KILL, target, state, delay, chance.random())


class DocumentTrial:
    """The server has been started, with `environment_of(folder)`."""

    def __init__(self, server: TrialServer, folder: Path, options: DocumentOptions) -> None:
        self.server, self.folder, self.options = server, folder, options
        self.writer, self.source = Writer(options.seed), Source()
        self.hitting = Hitting(server, 0.0)
        self.outcome = Outcome()
        self.wanted: list[Wanted] = []
        self.seen: Counter[str] = Counter()
        self.chance = random.Random(f"{options.seed} documents chosen")
        self.files: dict[str, str] = {}
        self.connection = ""
        self.threads: list[threading.Thread] = []

    def run(self, points: Sequence[Point], advance: Callable[[int], object]) -> Outcome:
        began = time.monotonic()
        try:
            self._connect()
            for point in points:
                if time.monotonic() > self.options.deadline:
                    break
                self._try(point)
                advance(1)
            self.outcome.seconds["points"] = time.monotonic() - began
            self._settle()
            self.outcome.findings += document_rows.findings(self.server, self.wanted, self.files)
            self.outcome.findings += document_rows.blobs_agree(self.server)
            self.outcome.findings += rows.index_agrees(self.server, 900.0)
        except (ServerFailed, psycopg.Error) as error:
            self._find(rows.STUCK, str(error))
        finally:
            self.source.close()
        for wanted in self.wanted:
            kind = "gone" if wanted.text is None else wanted.kind
            own = self.outcome.acts.setdefault(kind, {})
            for status in map(str, wanted.statuses):
                own[status] = own.get(status, 0) + 1
        self.outcome.starts = self.server.starts
        return self.outcome

    def _try(self, point: Point) -> None:
        said = self._begin(point.during)
        time.sleep(point.delay)
        what = self.hitting.hit(point)
        hit_at = time.monotonic()
        self.seen[said] += 1
        self.outcome.tried.append(f"{what}: {said}")
        if point.target == ALL:
            self.server.start()
        if not self.server.wait_until_it_serves(RECOVERS):
            self._find(rows.STUCK, f"no answer {RECOVERS:.0f} s after: {what}")
            self.server.kill()
            self.server.start()
        took = time.monotonic() - hit_at
        self.outcome.slowest_recovery = max(self.outcome.slowest_recovery, took)

    def _begin(self, state: str) -> str:
        """Bring a document to that state; what is hit, in one word."""
        if state in ("revision", "delete"):
            done = [each for each in self.wanted if each.is_answered and each.text]
            ids = {row[0] for row in self._rows(document_rows.DONE)}
            known = [each for each in done if each.name in ids and each.kind == "content"]
            if known:
                chosen = self.chance.choice(known)
                chosen.claims = chosen.claims if state == "delete" else ()
                text = self.writer.text(f"{chosen.name}v{len(chosen.said) + 1}", LARGE // 4)
                chosen.give(None if state == "delete" else text)
                self._send_aside(chosen)
                return state
            state = "queued"
        if state == "sync":
            self._change_folder()
            self._ask_for_sync()
            return state
        if state == "upload":
            wanted = self._new(self.writer.document(LARGE, "file"))
            with send_half(self.server, wanted):
                time.sleep(0.2)
            return state
        if state == "memories":
            wanted = self._new(self.writer.document(SMALL, claims=CLAIMS))
            self._send(wanted)
            return self._reached(document_rows.LEARNING, wanted, state)
        if state == "fetching":
            wanted = self._new(self.writer.document(SMALL, "url"))
            self.source.texts[wanted.name] = wanted.text or ""
            self.source.asked.clear()
            self._send(wanted)
            return state if self.source.asked.wait(REACHED) else "not reached: fetching"
        wanted = self._new(self.writer.document(LARGE if state in WORKING else SMALL))
        if state == "queued":
            self._send_aside(wanted)
            return state
        self._send(wanted)
        return self._reached(document_rows.IN_STATE[state], wanted, state)

    def _new(self, wanted: Wanted) -> Wanted:
        self.wanted.append(wanted)
        return wanted

    def _send(self, wanted: Wanted) -> None:
        with self.server.client(60.0) as client:
            wanted.send(self.server, client, self.source.url)

    def _send_aside(self, wanted: Wanted) -> None:
        thread = threading.Thread(target=self._send, args=(wanted,), daemon=True)
        self.threads.append(thread)
        thread.start()

    def _reached(self, statement: str, wanted: Wanted, state: str) -> str:
        end = time.monotonic() + REACHED
        with suppress(psycopg.Error), self.server.open_database() as database:
            while time.monotonic() < end:
                if database.execute(statement.encode(), [wanted.name]).fetchone():
                    return state
                time.sleep(0.002)
        return f"not reached: {state}"

    # ---- a folder that is kept in step

    def _connect(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self._change_folder()
        body = {"provider": "folder", "options": {"path": str(self.folder)}, "extract": "none"}
        with self.server.client(60.0) as client:
            answer = client.ask("POST", f"{self.server.path}/connections", body)
        if not answer.is_success:
            raise ServerFailed(f"No connection: {answer.status} {answer.body[:300]!r}")
        self.connection = str(answer.json["id"])

    def _change_folder(self) -> None:
        """Two files are new or have other words, and one may be gone."""
        for name in self.chance.sample(range(FILES), 2):
            self.writer.number += 1
            text = self.writer.text(f"f{self.writer.number}n", SMALL)
            self.files[f"f{name}.txt"] = text
            (self.folder / f"f{name}.txt").write_text(text)
        if len(self.files) > 2 and self.chance.random() < 0.5:
            gone = self.chance.choice(sorted(self.files))
            del self.files[gone]
            (self.folder / gone).unlink()

    def _ask_for_sync(self) -> bool:
        with self.server.client(60.0) as client:
            path = f"{self.server.path}/connections/{self.connection}/sync"
            return client.ask("POST", path, {"confirmDeletions": True}).is_success

    # ---- the end

    def _settle(self) -> None:
        """All is answered, nothing is due, and the folder was asked once more."""
        for thread in self.threads:
            thread.join(60.0)
        end = time.monotonic() + self.options.patience
        asked = swept = False
        while time.monotonic() < end:
            for wanted in (each for each in self.wanted if not each.is_answered):
                self._send(wanted)
            waiting = self._waiting()
            if not waiting and all(each.is_answered for each in self.wanted):
                if asked:
                    return
                asked = self._ask_for_sync()
            if self.options.hurried and not swept:
                document_rows.end_leases(self.server)
                swept = self.server.run("sweep")[0] == 0 and asked
            time.sleep(0.5)
        for name, number in self._waiting().items():
            self._find(rows.STUCK, f"{number} {name} after {self.options.patience:.0f} s")
        for wanted in self.wanted:
            if not wanted.is_answered:
                self._find(rows.STUCK, f"{wanted.name} was answered {wanted.statuses[-6:]}")

    def _waiting(self) -> dict[str, int]:
        """Count what is due, by name. One that was given up is tried again, as its owner would."""
        counted = {"answers of the database": 1}
        with suppress(psycopg.Error):
            counted = {name: int(self.server.rows(text)[0][0]) for name, text in document_rows.WAITING.items()}
            with self.server.client(60.0) as client:
                for (row,) in self.server.rows(document_rows.GIVEN_UP):
                    self.seen["given up, and tried again"] += 1
                    client.ask("POST", f"{self.server.path}/documents/{row}/retry", {})
        return {name: number for name, number in counted.items() if number}

    def _rows(self, statement: str) -> list[tuple[str, ...]]:
        with suppress(psycopg.Error):
            return self.server.rows(statement)
        return []

    def _find(self, kind: str, what: str) -> None:
        self.outcome.findings.append(Finding(kind, what))


def environment_of(folder: Path) -> dict[str, str]:
    return {"FETCH_ALLOWED_HOSTS": "127.0.0.1", "CONNECTION_FOLDERS": str(folder)}
