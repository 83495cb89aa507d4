"""What callers feel while others press: half requests, floods, hanging models, long texts."""

import os
import signal
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from bench import bounds, tenants
from bench.pressure.hanging import HangingServer
from bench.pressure.trial import (
    EMBEDDER,
    FLOOD,
    MODEL,
    PRESSURES,
    Presser,
    Result,
    possible,
    results,
)
from bench.pressure.trial import bounds as bounds_of
from bench.pressure.victim import Victim
from bench.server import ServerFailed, TrialServer
from bench.spare_folder import NotSpare, spare_folder
from memories.management.examples import CommandWithExamples
from memories.management.result_file import add_result_file

NAMES = tuple(each.name for each in PRESSURES)
VICTIM = "victim"


class Command(CommandWithExamples):
    help = (
        "Measure how fast a caller is served while others press: 200 half-sent requests, 8 who guess\n"
        "passwords, 4 searches over a network embedder that hangs, 4 sync ingests over a language\n"
        "model that hangs, 30 flooding clients of another workspace, ingests of 1,000 messages,\n"
        "texts of 9.5 MB; each alone, then all together. Each time is compared with calm times of\n"
        "the same run: search p99 at most 3 times calm + 0.25 s (all together: 10 times),\n"
        "/health/live under a second, none of the caller's requests refused. Exit code 1 where that\n"
        "does not hold.\n\n"
        "By itself it makes a server of its own in a spare folder, which must be empty and is\n"
        "emptied at the end. With --url it presses a server that runs, with keys of two workspaces;\n"
        "hanging models are left out there, and what is written stays."
    )
    examples = (
        "  manage.py trypressure --data /tmp/spare               all of it, some ten minutes\n"
        "  manage.py trypressure --only half,flood --seconds 10\n"
        "  manage.py trypressure --json result.json\n"
        "  manage.py trypressure --url http://127.0.0.1:8000 --workspace demo --key mp_... \\\n"
        "      --other-workspace two --other-key mp_..."
    )
    requires_system_checks = ()  # they would ask the user's own database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", type=Path, help="an empty folder (default: a temporary one)")
        parser.add_argument(
            "--only", type=_names, default=NAMES, metavar="KINDS", help=",".join(NAMES)
        )
        parser.add_argument(
            "--seconds", type=float, default=20.0, help="of measuring under each pressure"
        )
        parser.add_argument(
            "--memories", type=int, default=1000, help="that the caller has (default 1000)"
        )
        parser.add_argument(
            "--large", type=int, default=1000, help="messages of a large ingest (default 1000)"
        )
        parser.add_argument("--web", type=int, default=os.cpu_count() or 2, help="web processes")
        parser.add_argument("--workers", type=int, default=2, help="worker processes (default 2)")
        parser.add_argument("--keep", action="store_true", help="keep the folder")
        for name in ("url", "workspace", "key", "other-workspace", "other-key"):
            parser.add_argument(f"--{name}", default="", help="of a server that runs")
        add_result_file(parser)

    def handle(self, **options: Any) -> None:
        found: list[Result] = []
        try:
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
        except NotSpare as error:
            raise CommandError(str(error), returncode=2) from error
        except (ServerFailed, RuntimeError) as error:
            raise CommandError(str(error)) from error
        held = list(bounds_of(found))
        for line in bounds.lines(held):
            self.stdout.write(line)
        details = {
            result.name: {
                "calm": result.calm.as_json(),
                "felt": result.felt.as_json(),
                "pressed": result.pressed,
                "calmAgainAfter": result.quiet_after,
            }
            for result in found
        }
        bounds.write(options["json"], bounds.as_json(held, pressures=details))
        wanted = len(pressures) + (len(pressures) > 1)
        if len(found) < wanted:
            raise CommandError(f"{len(found)} of {wanted} were tried: the server answered no more.")
        if not all(bound.holds for bound in held):
            raise CommandError("Not all that was to hold does.")


@contextmanager
def _running(options: dict[str, Any]) -> Iterator[tuple[Presser, Victim]]:
    for name in ("workspace", "key", "other_workspace", "other_key"):
        if not options[name]:
            raise CommandError(f"--url needs --{name.replace('_', '-')}, too.", returncode=2)
    path = _path(options["workspace"])
    victim = Victim(options["url"], path, options["key"], options["memories"])
    paths = {FLOOD: _path(options["other_workspace"])}
    keys = {FLOOD: options["other_key"]}
    yield Presser(options["url"], keys, paths, lambda: False, options["large"]), victim


@contextmanager
def _own(options: dict[str, Any]) -> Iterator[tuple[Presser, Victim]]:
    with ExitStack() as stack:
        folder = stack.enter_context(spare_folder(options["data"], keep=options["keep"]))
        hanging = stack.enter_context(HangingServer())
        env = {"OPENAI_API_KEY": "trial", "OPENAI_BASE_URL": hanging.url}
        server = TrialServer(folder, env, web=options["web"], workers=options["workers"])
        stack.callback(lambda: server.leave(keep=options["keep"]))
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
        victim = Victim(url, _path(VICTIM), keys.pop(VICTIM), options["memories"])
        paths = {slug: _path(slug) for slug in keys}

        presser = Presser(url, keys, paths, lambda: _revived(server), options["large"])
        yield presser, victim


def _revived(server: TrialServer) -> bool:
    """End all its web processes, so that new ones begin where the old ones are stuck."""
    for each in server.processes():
        if each.kind == "web":
            with suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
    return server.wait_until_it_serves(60.0)


def _path(slug: str) -> str:
    return f"/api/v1/workspaces/{slug}"


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if unknown := set(names) - set(NAMES):
        raise ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    return names
