"""`memoryproject`, and `python -m memoryproject`: all commands of an installed server, where nothing
is left to prepare. `manage.py` of a checkout comes here, too, once the packages are there."""

import argparse
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# The kind of work that a process of these commands does.
KINDS = {"web": "web", "work": "worker", "models": "worker"}
HELP = """{program} COMMAND [options]     {program} COMMAND --help shows all of one

Run
  up                 the whole server: database, web and worker; --demo adds an example
  work               background tasks alone, where `up` runs with --no-worker
  models             neural models alone, beside an `up` without workers
  demo               an example in a workspace of its own, to look at
  mcp                MCP over standard input and output, for a client that starts it

Bring in, find, take out
  ingestfile         files: texts, messages, exported chats
  importmemories     what another memory server or program holds
  search             ask a workspace
  erase              a subject, a conversation or a message, for good
  prune              what is older than a workspace keeps
  exportworkspace    a workspace with its history into a file
  importworkspace    and out of it again

Who may enter
  createworkspace    and removeworkspace
  createkey          a key for a program
  keys               list, revoke or rotate keys
  members            list, invite or remove people
  changepassword     of an account
  resetsecondfactor  of an account, whose phone is lost

Keep it safe
  backup             everything, while the server runs
  restore            a backup; with --check a drill
  stats              what each workspace has
  checkindex         whether index and truth agree
  checkaudit         whether somebody changed the audit log
  checkvisibility    what a team sees that would be private today
  prove_isolation    whether one workspace reaches another

Index and quality
  reindex            make the index anew
  reembed            make vectors anew, after a change of the model
  sweep              do at once what is due
  migrate            bring the tables to this version; `up` does it, too
  evaluate           measure quality on labelled files
  calibrate          measure when two statements are near
  golden             ask the questions whose answers are known
  teach              the judge, what people of a workspace decided

Settings are environment variables. MEMORY_DATA_DIR names the folder of all state.
"""


def main() -> None:
    run(["memoryproject", *sys.argv[1:]])


def run(words: list[str]) -> None:
    """Run one command; the first word is the name of the program."""
    program, *rest = words
    if rest in ([], ["help"], ["-h"], ["--help"]):
        print(HELP.format(program=program), end="")
    elif rest == ["--version"]:
        print(own_version())
    elif rest[0] == "mcp":
        run_bridge(rest[1:])
    else:
        prepare(*rest)
        run_django(words)


def own_version() -> str:
    try:
        return version("memoryproject")
    except PackageNotFoundError:
        return "a checkout"


def run_bridge(words: list[str]) -> None:
    """MCP over standard input and output: needs no package of ours and no database."""
    from memoryproject.server import mcp_bridge

    mcp_bridge.main(words)


def prepare(command: str, *words: str) -> None:
    """Set what must be known before the settings are read."""
    if command == "up":
        before_up(words)
    if command in KINDS:
        os.environ.setdefault("PROCESS_KIND", KINDS[command])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")


def before_up(words: tuple[str, ...]) -> None:
    """Name the data folder, and remove an old info file before a script takes it for the new one."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data")
    parser.add_argument("--info", type=Path)
    given = parser.parse_known_args(words)[0]
    if given.data:
        os.environ["MEMORY_DATA_DIR"] = str(Path(given.data).expanduser().resolve())
    if given.info:
        given.info.unlink(missing_ok=True)


def run_django(words: list[str]) -> None:
    """A setting that cannot be is one line, and no trace of where it was read."""
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(words)
    except ImproperlyConfigured as error:
        if "--traceback" in words:
            raise
        sys.exit(f"CommandError: {error}")


if __name__ == "__main__":
    main()
