"""Options that several commands have, a --help that ends with examples, and the keeping of what a
run measured."""

import os
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
    OutputWrapper,
)
from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from memories.errors import Conflict, Invalid
from memories.exchange.who_is_who import WhoIsWho
from memories.index import workspace_index
from memories.models import EvaluationRun, WorkspaceIndex
from memories.privacy import irrevocable
from memoryproject.log_lines import printable
from memoryproject.postgres import crossings, database_roles, visible
from memoryproject.postgres.base import one_line_refusals
from workspaces.models import Workspace

LONGEST = timedelta(days=36_500)  # until a key ends
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def add_authors(parser: ArgumentParser) -> None:
    """Add the options that say which authors of a log are which users."""
    parser.add_argument("--me", action="append", default=[], metavar="NAME", help="an author of a log who is --user")
    parser.add_argument(
        "--author",
        action="append",
        default=[],
        type=author_of_user,
        dest="authors",
        metavar="NAME=USER",
        help="an author of a log who is another user here",
    )


def author_of_user(text: str) -> tuple[str, str]:
    name, _, user = text.rpartition("=")
    if not name.strip() or not user.strip():
        raise ArgumentTypeError("NAME=USER")
    return name.strip(), user.strip()


def who_is_who(options: Mapping[str, Any], known: Iterable[str]) -> WhoIsWho:
    """Return what the options say of a log's authors. Raises CommandError."""
    who = WhoIsWho(options["me"], dict(options["authors"]))
    if who.me and not options["user"]:
        raise CommandError("--me says which author --user is: give both.")
    try:
        who.check(known)
    except Invalid as error:
        raise CommandError(error.message) from None
    return who


class Formatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    pass


class PrintableOutput(OutputWrapper):
    """Output in which stored words move no cursor and hide nothing."""

    def write(  # type: ignore[override]  # as Django's own
        self,
        msg: str = "",
        style_func: Callable[[str], str] | None = None,
        ending: str | None = None,
    ) -> None:
        super().write(printable(msg, keep="\n\t"), style_func, ending)


class PrintableCommand(BaseCommand):
    def __init__(self, stdout: Any = None, stderr: Any = None, **options: Any) -> None:
        super().__init__(stdout, stderr, **options)
        style = self.stderr.style_func
        self.stdout = PrintableOutput(stdout or sys.stdout)
        self.stderr = PrintableOutput(stderr or sys.stderr)
        self.stderr.style_func = style

    def execute(self, *args: Any, **options: Any) -> str | None:
        if stdout := options.pop("stdout", None):
            self.stdout = PrintableOutput(stdout)
        if stderr := options.pop("stderr", None):
            self.stderr = PrintableOutput(stderr)
        return super().execute(*args, **options)


class CommandWithExamples(PrintableCommand):
    examples = ""
    copies_tables = False  # as a whole, not the rows of workspaces

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        examples = self.examples.replace("manage.py", Path(settings.COMMAND[-1]).name)
        kwargs |= {"epilog": f"examples:\n{examples}", "formatter_class": Formatter}
        return super().create_parser(prog_name, subcommand, **kwargs)

    def execute(self, *args: Any, **options: Any) -> str | None:
        # All workspaces are seen, until one is chosen.
        with (
            one_line_refusals(),
            nullcontext() if self.copies_tables else database_roles.through_views(),
            crossings.everywhere() if crossings.are_made() else nullcontext(),
        ):
            return super().execute(*args, **options)


def refuse_unfinished_restore() -> None:
    """Raise CommandError where what a backup brought back must not be served."""
    try:
        irrevocable.refuse_unfinished()
    except Conflict as error:
        raise CommandError(error.message) from None


def add_workspace(parser: ArgumentParser, default: str) -> None:
    """`default` says in words what is meant where the option is left out."""
    parser.add_argument("--workspace", metavar="SLUG", help=f"default: {default}")


def one_workspace(slug: str | None) -> Workspace:
    """The workspace that is named, or the only one there is: rows of no other are visible from then
    on. Raises CommandError."""
    found = [_named(slug)] if slug else list(Workspace.objects.order_by("slug")[:2])
    if not found:
        raise CommandError("There is no workspace yet: start the server once with `up`.")
    if len(found) > 1:
        raise CommandError(f"There are several workspaces: name one with --workspace ({_slugs()}).")
    visible.narrow(found[0].pk)
    return found[0]


def chosen_spaces(slug: str | None) -> Iterator[WorkspaceIndex]:
    """The index rows of the workspace that is named, or of all, one after the other: while one is
    worked on, rows of no other are visible. Raises CommandError."""
    before = visible.setting()
    for workspace in [_named(slug)] if slug else list(Workspace.objects.order_by("slug")):
        visible.narrow(workspace.pk)
        space = workspace_index.index_of(workspace.pk)
        space.workspace = workspace
        yield space
        visible.narrow_to(before)


def _named(slug: str) -> Workspace:
    found = Workspace.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no workspace {slug!r}. There is: {_slugs() or 'none yet'}.")
    return found


def _slugs() -> str:
    slugs = list(Workspace.objects.order_by("slug").values_list("slug", flat=True)[:21])
    return ", ".join(slugs[:20]) + (", ..." if len(slugs) > 20 else "")


def span(text: str) -> timedelta:
    """Return the duration that `30m`, `24h`, `7d` or `2w` means. For argparse."""
    match = re.fullmatch(r"([0-9]{1,6})([mhdw])", text)
    if match is None:
        raise ArgumentTypeError(f"{text!r} is no time like 30m, 24h, 7d, 2w")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def moment(text: str) -> datetime:
    """Return the time that `30d` (from now) or `2027-01-31` (at its midnight) means. For
    argparse."""
    found = None
    if re.fullmatch(r"[0-9]{1,6}[mhdw]", text):
        if span(text) > LONGEST:
            raise ArgumentTypeError(f"{text} is more than a hundred years")
        found = timezone.now() + span(text)
    else:
        with suppress(ValueError):
            day, found = parse_date(text), parse_datetime(text)
            if day is not None:
                found = datetime(day.year, day.month, day.day)
    if found is not None and timezone.is_naive(found):
        found = timezone.make_aware(found)
    if found is None:
        raise ArgumentTypeError(f"{text!r} is neither a time like 30d, 12h, 2w nor a date")
    if found <= timezone.now():
        raise ArgumentTypeError(f"{text} is over: the key would be of no use")
    return found


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """One from `least` on, up to `most`. For argparse."""
    end = "on" if most is None else f"to {most:,}"

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            raise ArgumentTypeError(f"{text!r} is no number from {least:,} {end}")
        return int(text)

    return read


def add_result_file(
    parser: ArgumentParser, option: str = "--json", meaning: str = "write the result there, too"
) -> None:
    """An option that names a file to write."""
    parser.add_argument(option, type=_result_file, metavar="FILE", help=meaning)


def _result_file(text: str) -> Path:
    path = Path(text).expanduser()
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {path.parent}: make it, or name another")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ArgumentTypeError(f"{path} may not be written: name another file")
    return path


def keep(kind: str, name: str, started: datetime, figures: Mapping[str, float], details: Any) -> EvaluationRun | None:
    """Store the run and return it; None where there is no installation yet: measuring does not make
    one."""
    home = settings.EMBEDDED_POSTGRES
    if home is not None and not (home.data / "PG_VERSION").exists():
        return None
    if EvaluationRun._meta.db_table not in connection.introspection.table_names():
        return None
    seconds = (timezone.now() - started).total_seconds()
    return EvaluationRun.objects.create(
        kind=kind,
        name=name,
        started_at=started,
        seconds=round(seconds, 1),
        figures=dict(figures),
        details=details,
    )
