"""A command whose --help ends with examples, line by line as they are written."""

import os
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
)

from memories.index import workspace_index
from memories.models import WorkspaceIndex
from workspaces.models import Workspace


class Formatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    pass


class CommandWithExamples(BaseCommand):
    examples = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs |= {"epilog": f"examples:\n{self.examples}", "formatter_class": Formatter}
        return super().create_parser(prog_name, subcommand, **kwargs)


def add_workspace(parser: ArgumentParser, default: str) -> None:
    """`default` says in words what is meant where the option is left out."""
    parser.add_argument("--workspace", metavar="SLUG", help=f"default: {default}")


def one_workspace(slug: str | None) -> Workspace:
    """The workspace that is named, or the only one there is. Raises CommandError."""
    if slug:
        return _named(slug)
    found = list(Workspace.objects.order_by("slug")[:2])
    if not found:
        raise CommandError("There is no workspace yet: start the server once with `up`.")
    if len(found) > 1:
        raise CommandError(f"There are several workspaces: name one with --workspace ({_slugs()}).")
    return found[0]


def chosen_spaces(slug: str | None) -> list[WorkspaceIndex]:
    """The index rows of the workspace that is named, or of all. Raises CommandError."""
    chosen = [_named(slug)] if slug else list(Workspace.objects.order_by("slug"))
    spaces = []
    for workspace in chosen:
        space = workspace_index.index_of(workspace.pk)
        space.workspace = workspace
        spaces.append(space)
    return spaces


def _named(slug: str) -> Workspace:
    found = Workspace.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no workspace {slug!r}. There is: {_slugs() or 'none yet'}.")
    return found


def _slugs() -> str:
    slugs = list(Workspace.objects.order_by("slug").values_list("slug", flat=True)[:21])
    return ", ".join(slugs[:20]) + (", ..." if len(slugs) > 20 else "")


def add_result_file(parser: ArgumentParser) -> None:
    """The option `--json`."""
    parser.add_argument(
        "--json", type=_result_file, metavar="FILE", help="write the result there, too"
    )


def _result_file(text: str) -> Path:
    path = Path(text).expanduser()
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {path.parent}: make it, or name another")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ArgumentTypeError(f"{path} may not be written: name another file")
    return path
