"""A data folder on a small disk that is filled while clients write, and emptied again."""

import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.faults import rows
from bench.faults.acts import ASYNC, NOTE, SYNC, Act, Workload
from bench.faults.outcome import Finding, Outcome
from bench.http_client import Answer, Client
from bench.server import TrialServer

SIZE = "320m"
BALLAST = "ballast"
FULL_FOR = 15.0  # seconds of writing against a full disk
RECOVERS = 60.0
TOLD = ("disk", "space", "room", "storage")  # one of these words says what the matter is


def missing() -> str:
    if os.geteuid() == 0 and shutil.which("mount") and shutil.which("umount"):
        return ""
    return "The disk's trial mounts a small disk, which only root may: choose --only kill,stop,clock."


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        # Lazily: whatever still ends over it must not keep it.
        subprocess.run(["umount", "-l", folder], check=True)


def try_disk(server: TrialServer, seed: int, patience: float) -> Outcome:
    server.start()
    with server.client(60.0) as client:
        return _tried(server, client, Workload(seed, "d", server.path), patience)


def _tried(server: TrialServer, client: Client, work: Workload, patience: float) -> Outcome:
    outcome = Outcome()
    acts: list[Act] = []
    for _ in range(10):
        acts.append(_sent(client, _next(work)))
    _fill(server.folder / BALLAST)
    told, ready = _write_against(client, work, acts), Counter[int]()
    ready[client.ask("GET", "/health/ready").status] += 1
    search = client.ask("POST", f"{server.path}/memories/search", {"query": "kept near the hill"})
    (server.folder / BALLAST).unlink()
    _judge(outcome, told, ready, search)
    began = time.monotonic()
    while time.monotonic() - began < RECOVERS:
        acts.append(_sent(client, _next(work)))
        if acts[-1].answer is not None:
            break
        time.sleep(0.5)
    outcome.seconds["until it accepted again"] = round(time.monotonic() - began, 1)
    if acts[-1].answer is None:
        outcome.findings.append(Finding(rows.STUCK, "it accepts nothing though there is room"))
    accepted = [act for act in acts if act.answer is not None]
    outcome.findings += rows.still_due(server, patience)
    outcome.findings += rows.findings(server, accepted)
    outcome.findings += rows.index_agrees(server, 300.0)
    outcome.acts = {"full": {str(status): n for status, n in sorted(_statuses(told).items())}}
    return outcome


def _next(work: Workload) -> Act:
    return work.small(work.chance.choice((SYNC, ASYNC, NOTE)))


def _sent(client: Client, act: Act) -> Act:
    act.note(client.ask(act.method, act.path, act.body, act.headers))
    return act


def _fill(file: Path) -> None:
    """Until not a byte more fits."""
    with open(file, "wb", buffering=0) as out:
        for size in (1 << 20, 1 << 12):
            with suppress(OSError):  # no room is left, as it was to be
                while out.write(bytes(size)) == size:
                    pass


def _write_against(client: Client, work: Workload, acts: list[Act]) -> list[Answer]:
    """Keep writing until it has been refused for a while; small pieces may still fit at first."""
    told: list[Answer] = []
    end = time.monotonic() + FULL_FOR
    while time.monotonic() < end:
        act = work.small(SYNC) if len(told) % 3 else work.large(100)
        answer = client.ask(act.method, act.path, act.body, act.headers)
        act.note(answer)
        acts.append(act)
        told.append(answer)
        time.sleep(0.1)
    return told


def _judge(outcome: Outcome, told: list[Answer], ready: Counter[int], search: Answer) -> None:
    refused = [answer for answer in told if not answer.is_success]
    for status, number in sorted(_statuses(refused).items()):
        if status != 503:
            outcome.findings.append(Finding(rows.DIFFERS, f"{number} answers of {status}, not 503"))
    unclear = [a for a in refused if a.status == 503 and not any(w in _words(a) for w in TOLD)]
    if unclear:
        words = _words(unclear[0])
        outcome.findings.append(
            Finding(rows.DIFFERS, f"{len(unclear)} of {len(refused)} answers say no cause: {words}")
        )
    if not refused:
        outcome.findings.append(Finding(rows.DIFFERS, "the disk did not become full"))
    if 503 not in ready:
        outcome.findings.append(Finding(rows.DIFFERS, f"/health/ready says {dict(ready)}"))
    if search.status != 200:
        outcome.findings.append(Finding(rows.STUCK, f"search answers {search.status}"))


def _words(answer: Answer) -> str:
    return str(answer.json.get("detail", "")).lower()


def _statuses(told: list[Answer]) -> Counter[int]:
    return Counter(answer.status for answer in told)
