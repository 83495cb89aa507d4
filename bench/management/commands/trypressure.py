"""Measure what callers feel while others press: half requests, floods, hanging models, long texts."""

import os
import signal
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from bench import tenants
from bench.bounds import Bound
from bench.pressure.hanging import HangingServer
from bench.pressure.trial import (
    EMBEDDER,
    FLOOD,
    MODEL,
    PRESSURES,
    Presser,
    Result,
    bounds,
    possible,
    results,
)
from bench.pressure.victim import Victim
from bench.server import TrialServer
from bench.trial_command import TrialCommand, folder_of, server_in, some_of

NAMES = tuple(each.name for each in PRESSURES)
VICTIM = "victim"


class Command(TrialCommand):
    help = (
        "Measure how fast a caller is served while others press: 200 half-sent requests, 8 who"
        " guess\n"
        "passwords, 4 searches over a network embedder that hangs, 4 sync ingests over a language\n"
        "model that hangs, 30 flooding clients of another workspace, ingests of 1,000 messages,\n"
        "texts of 9.5 MB; each alone, then all together. Each time is compared with calm times of\n"
        "the same run: search p99 at most 3 times calm + 0.25 s (all together: 10 times),\n"
        "/health/live under a second, none of the caller's requests refused. Exit code 1 where"
        " that\n"
        "does not hold.\n\n"
        "By itself it makes a server of its own in a spare folder, which must be empty and is\n"
        "emptied at the end. With --url it presses a server that runs, with keys of two"
        " workspaces;\n"
        "hanging models are left out there, and what is written stays."
    )
    examples = (
        "  manage.py trypressure --data /tmp/spare               all of it, some ten minutes\n"
        "  manage.py trypressure --only half,flood --seconds 10\n"
        "  manage.py trypressure --json result.json\n"
        "  manage.py trypressure --url http://127.0.0.1:8000 --workspace demo --key mp_... \\\n"
        "      --other-workspace two --other-key mp_..."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--only", type=some_of(NAMES), default=NAMES, metavar="KINDS", help=",".join(NAMES))
        parser.add_argument("--seconds", type=float, default=20.0, help="of measuring under each pressure")
        parser.add_argument("--memories", type=int, default=1000, help="that the caller has (default 1000)")
        parser.add_argument("--large", type=int, default=1000, help="messages of a large ingest (default 1000)")
        for name in ("url", "workspace", "key", "other-workspace", "other-key"):
            parser.add_argument(f"--{name}", default="", help="of a server that runs")

    def attempt(self, options: dict[str, Any]) -> tuple[list[Bound], dict[str, Any]]:
        found: list[Result] = []
        with _running(options) if options["url"] else _own(options) as (presser, victim):
            self.stderr.write("filling the workspace of the one who is measured ...")
            victim.fill()
            pressures = possible(presser, options["only"])
            if left := set(options["only"]) - {each.name for each in pressures}:
                self.stderr.write(f"left out: {', '.join(sorted(left))}")
            for result in results(presser, victim, pressures, options["seconds"]):
                found.append(result)
                felt = f"p50 {result.felt.p(0.5):.3f} s, p99 {result.felt.p(0.99):.3f} s"
                self.stderr.write(f"{result.name}: {felt}")
        missed = len(pressures) + (len(pressures) > 1) - len(found)
        held = [*bounds(found), Bound("pressures not tried", missed, 0)]
        return held, {"pressures": {result.name: result.as_json() for result in found}}


@contextmanager
def _running(options: dict[str, Any]) -> Iterator[tuple[Presser, Victim]]:
    for name in ("workspace", "key", "other_workspace", "other_key"):
        if not options[name]:
            raise CommandError(f"--url needs --{name.replace('_', '-')}, too.", returncode=2)
    path = _path(options["workspace"])
    victim = Victim(options["url"], path, options["key"], options["memories"], options["seed"])
    paths = {FLOOD: _path(options["other_workspace"])}
    keys = {FLOOD: options["other_key"]}
    yield (
        Presser(options["url"], keys, paths, lambda: False, options["large"], options["seed"]),
        victim,
    )


@contextmanager
def _own(options: dict[str, Any]) -> Iterator[tuple[Presser, Victim]]:
    with HangingServer() as hanging, folder_of(options) as folder:
        env = {"OPENAI_API_KEY": "trial", "OPENAI_BASE_URL": hanging.url}
        with server_in(folder, options, **env) as server:
            server.start()
            rung = {"provider": "openai", "model": "trial", "baseUrl": hanging.url}
            wishes: dict[str, dict[str, Any]] = {
                VICTIM: {},
                FLOOD: {},
                EMBEDDER: {"remote": True},
                MODEL: {"settings": {"extractors": [rung], "llm": "always"}},
            }
            keys = tenants.make_over(server, wishes)
            url = str(server.info["url"])
            victim = Victim(url, _path(VICTIM), keys.pop(VICTIM), options["memories"], options["seed"])
            paths = {slug: _path(slug) for slug in keys}
            revive = partial(_revived, server)
            yield Presser(url, keys, paths, revive, options["large"], options["seed"]), victim


def _revived(server: TrialServer) -> bool:
    """End all its web processes, so that new ones begin where the old ones are stuck."""
    for each in server.processes():
        if each.kind == "web":
            with suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
    return server.wait_until_it_serves(60.0)


def _path(slug: str) -> str:
    return f"/api/v1/workspaces/{slug}"
