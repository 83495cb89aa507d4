"""A server whose clock is 400 days ahead for one start, and right again at the next one."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg

from bench.faults import rows
from bench.faults.acts import Act, Workload
from bench.faults.outcome import Finding, Outcome
from bench.http_client import Client
from bench.server import TrialServer

AHEAD = "+400d"
MESSAGES = 300  # of the ingest whose worker dies under the wrong clock
LAST_SWEEP = """
select coalesce(max(abs(extract(epoch from now() - posted_at))), 1e9)
from memories_postedjob where job = 'sweep'"""
LATEST = """
select coalesce(max(extract(epoch from greatest(lease_until, next_attempt_at) - now())), 0)
from memories_memorysession where state in ('received', 'extracting', 'resolving')"""
EXTRACTING = "select 1 from memories_memorysession where state = 'extracting'"
SOON = 120.0  # seconds


def library() -> Path | None:
    found = sorted(Path("/usr/lib").glob("**/faketime/libfaketime.so.1"))
    return found[0] if found else None


def missing() -> str:
    if library() is not None:
        return ""
    return "The clock's trial needs libfaketime: install the package faketime, or choose --only."


def try_clock(server: TrialServer, seed: int, patience: float) -> Outcome:
    """Words, an unfinished ingest and a sweep of the future; then what becomes of them."""
    outcome = Outcome()
    preload = {"LD_PRELOAD": str(library()), "FAKETIME": AHEAD}
    right = dict(server.extra)
    server.extra = {**right, **preload}
    server.start()
    work = Workload(seed, "k", server.path)
    acts = [work.small("sync"), work.small("async"), work.small("claims")]
    acts.append(work.large(MESSAGES))
    acts[-1].body = {**(acts[-1].body or {}), "mode": "async"}
    _send(server, "I live in Oslo.", acts)
    _wait(lambda: bool(server.rows(EXTRACTING)), 5.0)
    server.kill()
    server.extra = right
    server.start()
    late = [work.small("async"), work.small("sync")]
    _send(server, "I moved to Rome, I live in Rome now.", late)
    with server.client(60.0) as client:
        _look(server, client, outcome, [*acts, *late], patience)
    return outcome


def _send(server: TrialServer, text: str, acts: list[Act]) -> None:
    body = {"messages": [{"role": "user", "content": text}], "userId": "traveller"}
    with server.client(60.0) as client:
        client.ask("POST", f"{server.path}/memories/ingest", body)
        for act in acts:
            act.note(client.ask(act.method, act.path, act.body, act.headers))


def _look(server: TrialServer, client: Client, outcome: Outcome, acts: list[Act], patience: float) -> None:
    began = time.monotonic()
    outcome.findings += rows.still_due(server, patience)
    outcome.seconds["until nothing was due"] = round(time.monotonic() - began, 1)
    _wait(lambda: float(server.rows(LAST_SWEEP)[0][0]) <= SOON, SOON)
    for name, statement in (("the last sweep", LAST_SWEEP), ("a session's turn", LATEST)):
        seconds = float(server.rows(statement)[0][0])
        if seconds > SOON:
            outcome.findings.append(Finding(rows.STUCK, f"{name} is {seconds / 86400:.1f} days off"))
    asked = {"query": "Where do I live?", "userId": "traveller", "layers": ["memories"]}
    for where, answer in (
        ("the list", client.ask("GET", f"{server.path}/memories?userId=traveller")),
        ("the search", client.ask("POST", f"{server.path}/memories/search", asked)),
    ):
        found = answer.json.get("results") or []
        told = "; ".join(row.get("memory", row)["content"] for row in found)
        if "Rome" not in told:
            what = f"Rome is not in {where} ({answer.status}): {told}"
            outcome.findings.append(Finding(rows.LOST, what))
        if "in Oslo" in told:
            outcome.findings.append(Finding(rows.STUCK, f"Oslo is still in {where}: {told}"))
    outcome.findings += rows.findings(server, acts)
    outcome.findings += rows.index_agrees(server, 300.0)


def _wait(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(psycopg.Error):
            if condition():
                return
        time.sleep(0.02)
