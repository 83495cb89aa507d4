"""The frame of all trials: a spare folder, a server in it, bounds, and an end in order."""

import os
import signal
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from bench import bounds
from bench.bounds import Bound
from bench.server import ServerFailed, TrialServer
from bench.spare_folder import NotSpare, spare_folder
from memories.management.command_options import CommandWithExamples, add_result_file


class TrialCommand(CommandWithExamples):
    """Exit code 1 where a bound is missed, 2 where the trial cannot be made, 130 where stopped."""

    requires_system_checks = ()  # they would ask the user's own database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", type=Path, help="an empty folder (default: a temporary one)")
        parser.add_argument("--keep", action="store_true", help="keep what is in the folder")
        parser.add_argument("--seed", type=int, default=1, help="other choices and words")
        parser.add_argument("--web", type=count, default=os.cpu_count() or 2, help="web processes")
        parser.add_argument("--workers", type=count, default=2, help="worker processes (default 2)")
        add_result_file(parser)

    def attempt(self, options: dict[str, Any]) -> tuple[Sequence[Bound], dict[str, Any]]:
        """Make the trial; what was to hold, and what else the report tells."""
        raise NotImplementedError

    def handle(self, **options: Any) -> None:
        before = signal.signal(signal.SIGTERM, _interrupt)
        try:
            held, more = self.attempt(options)
        except NotSpare as error:
            raise CommandError(str(error), returncode=2) from error
        except ServerFailed as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted.", returncode=130) from None
        finally:
            signal.signal(signal.SIGTERM, before)
        for line in bounds.lines(held):
            self.stdout.write(line)
        bounds.write(options["json"], bounds.as_json(held, seed=options["seed"], **more))
        if not all(bound.holds for bound in held):
            raise CommandError("Not all that was to hold does.")


@contextmanager
def folder_of(options: dict[str, Any]) -> Iterator[Path]:
    with spare_folder(options["data"], keep=options["keep"]) as folder:
        yield folder


@contextmanager
def server_in(folder: Path, options: dict[str, Any], **env: str) -> Iterator[TrialServer]:
    """A server that is not started yet, and is gone at the end."""
    folder.mkdir(exist_ok=True)
    server = TrialServer(folder, env, web=options["web"], workers=options["workers"])
    try:
        yield server
    finally:
        server.leave(keep=options["keep"])


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ArgumentTypeError("from 1")
    return number


def some_of(names: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """For argparse: some of `names`, with commas between them."""

    def chosen(text: str) -> tuple[str, ...]:
        found = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
        if unknown := set(found) - set(names):
            raise ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are {', '.join(names)}")
        return found

    return chosen


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
