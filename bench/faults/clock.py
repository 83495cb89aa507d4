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
NEXT_SWEEP = """
select coalesce(max(extract(epoch from next_run - now())), 1e9)
from django_q_schedule where func like '%sweep'"""
LATEST = """
select coalesce(max(extract(epoch from greatest(lease_until, next_attempt_at) - now())), 0)
from memories_memorysession where state in ('received', 'extracting', 'resolving')"""
SOON = 120.0  # seconds


def library() -> Path | None:
    found = sorted(Path("/usr/lib").glob("**/faketime/libfaketime.so.1"))
    return found[0] if found else None


def missing() -> str:
    if library() is not None:
        return ""
    return "The clock's trial needs libfaketime: install the package faketime, or choose --only."


def try_clock(server: TrialServer, seed: int, patience: float) -> Outcome:
    """Words, an unfinished ingest and a schedule of the future; then what becomes of them."""
    outcome = Outcome()
    preload = {"LD_PRELOAD": str(library()), "FAKETIME": AHEAD}
    right = dict(server.extra)
    server.extra = {**right, **preload}
    server.start()
    client, work = server.client(60.0), Workload(seed, "k", server.path)
    acts = [work.small("sync"), work.small("async"), work.small("claims")]
    _say(client, server, "I live in Oslo.")
    for act in acts:
        act.note(client.ask(act.method, act.path, act.body, act.headers))
    died = work.large(MESSAGES)
    died.body = {**(died.body or {}), "mode": "async"}
    died.note(client.ask(died.method, died.path, died.body, died.headers))
    _wait(lambda: bool(server.rows(_extracting())), 5.0)
    server.kill()
    server.extra = right
    server.start()
    client = server.client(60.0)
    _say(client, server, "I moved to Rome, I live in Rome now.")
    late = [work.small("async"), work.small("sync")]
    for act in late:
        act.note(client.ask(act.method, act.path, act.body, act.headers))
    _look(server, client, outcome, [*acts, died, *late], patience)
    return outcome


def _look(
    server: TrialServer, client: Client, outcome: Outcome, acts: list[Act], patience: float
) -> None:
    began = time.monotonic()
    due = rows.wait_until_nothing_is_due(server, patience)
    outcome.seconds["until nothing was due"] = round(time.monotonic() - began, 1)
    for name, number in due.items():
        outcome.findings.append(Finding(rows.STUCK, f"{number} {name} after {patience:.0f} s"))
    for name, statement in (("the next sweep", NEXT_SWEEP), ("a session's turn", LATEST)):
        seconds = float(server.rows(statement)[0][0])
        if seconds > SOON:
            outcome.findings.append(
                Finding(rows.STUCK, f"{name} is {seconds / 86400:.1f} days off")
            )
    listed = client.ask("GET", f"{server.path}/memories?userId=traveller").json
    served = client.ask(
        "POST",
        f"{server.path}/memories/search",
        {"query": "Where do I live?", "userId": "traveller"},
    ).json
    for where, texts in (
        ("the list", [row["content"] for row in listed.get("results") or []]),
        ("the search", [row["memory"]["content"] for row in served.get("results") or []]),
    ):
        told = "; ".join(texts)
        if "Rome" not in told:
            outcome.findings.append(Finding(rows.LOST, f"Rome is not in {where}: {told}"))
        if "in Oslo" in told:
            outcome.findings.append(Finding(rows.STUCK, f"Oslo is still in {where}: {told}"))
    outcome.findings += rows.findings(server, acts)
    outcome.findings += rows.index_agrees(server, 300.0)


def _say(client: Client, server: TrialServer, text: str) -> None:
    body = {"messages": [{"role": "user", "content": text}], "userId": "traveller"}
    client.ask("POST", f"{server.path}/memories/ingest", body)


def _extracting() -> str:
    return "select 1 from memories_memorysession where state = 'extracting'"


def _wait(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(psycopg.Error):
            if condition():
                return
        time.sleep(0.02)
