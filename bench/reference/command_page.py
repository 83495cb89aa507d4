"""The page of management commands: the help, options and examples that --help shows."""

import argparse
from collections.abc import Iterator

from django.core.management import get_commands, load_command_class

from bench.reference.markdown import cell, plain, table

HEAD = """# Commands

All are `python3 manage.py <command>` in a checkout, and `memoryproject <command>` where the package is installed;
`--help` shows the same. Two more are not Django's: `mcp --url URL --key KEY` speaks [MCP](../guides/mcp.md) over standard
input and output, and `python3 manage.py test` runs all tests (words after it go to pytest).
"""
TRIALS = """# Trials and benchmarks

These commands are in the repository (`bench/`), and not in what is installed. They work on servers and
databases of their own.
"""
# Options that Django gives every command.
OF_DJANGO = {
    "help",
    "version",
    "verbosity",
    "settings",
    "pythonpath",
    "traceback",
    "no_color",
    "force_color",
    "skip_checks",
}
APPS = ("memories", "workspaces")


def page(*apps: str, head: str) -> str:
    names = sorted(name for name, app in get_commands().items() if app in apps)
    parsers = {name: load_command_class(get_commands()[name], name).create_parser("manage.py", name) for name in names}
    rows = [
        (f"[`{name}`](#{name})", cell(parser.description or "").partition(". ")[0].rstrip("."))
        for name, parser in parsers.items()
    ]
    parts = [head, table(("command", "what it does"), rows)]
    for name, parser in parsers.items():
        parts += [f"## {name}\n", *lines_of(parser)]
    return "\n".join(parts)


def lines_of(parser: argparse.ArgumentParser, name: str = "") -> Iterator[str]:
    """Yield the lines of a command, and then of each of its own commands."""
    if parser.description:
        yield plain(parser.description) + "\n"
    rows, inner = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            inner = [*action.choices.items()]
        elif action.dest not in OF_DJANGO:
            rows.append((f"`{written(action)}`", cell(words_of(action))))
    if rows:
        yield table(("argument", "meaning"), rows)
    if parser.epilog:
        yield f"```text\n{parser.epilog.rstrip()}\n```\n"
    for word, other in inner:
        yield f"### {name or parser.prog.split()[-1]} {word}\n"
        yield from lines_of(other, word)


def written(action: argparse.Action) -> str:
    """Return an argument as it is typed: `--keep N`, or its name."""
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    if isinstance(value, tuple):
        value = " ".join(value)
    if not action.option_strings:
        return value if action.nargs not in ("?", "*") else f"[{value}]"
    takes = "" if action.nargs == 0 else f" {value}"
    return f"{', '.join(action.option_strings)}{takes}"


def words_of(action: argparse.Action) -> str:
    return (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
