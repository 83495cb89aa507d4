"""A real PgBouncer for tests: the one that is installed where it is new enough, else Debian 13's,
unpacked beside its own libraries into a folder, which takes no rights and changes no system."""

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memoryproject.postgres.embedded_postgres import as_server
from tests.live_server import ROOT, wait_for

LEAST = (1, 21)  # the first that keeps account of prepared statements
TRIES = 5  # of ports: one that was free may be somebody else's when it is listened at
SUITE, MIRROR = "trixie", "http://deb.debian.org/debian"
# The program, and what it is linked with.
PACKAGES = (
    "pgbouncer",
    "libc6",
    "libcares2",
    "libevent-2.1-7t64",
    "libssl3t64",
    "libsystemd0",
    "libpam0g",
    "libaudit1",
    "libcap-ng0",
    "libcap2",
    "libgcc-s1",
    "zlib1g",
    "libzstd1",
)
HINT = (
    "The tests of poolers need PgBouncer 1.21 or newer: install it (Debian 13: apt-get install"
    " pgbouncer), or let apt-get reach deb.debian.org, from where they unpack it."
)


def folder() -> Path:
    """Where what was unpacked is kept from one run to the next."""
    name = hashlib.sha256(" ".join((SUITE, *PACKAGES)).encode()).hexdigest()[:12]
    return ROOT / ".data" / "tools" / f"pgbouncer-{name}"


def command() -> list[str]:
    """The words that start it; it is fetched where there is none."""
    there = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if there and _version([there]) >= LEAST:
        return [there]
    words = _unpacked_command(folder())
    if not words:
        _unpack(folder())
        words = _unpacked_command(folder())
    assert words, HINT
    return words


def _version(words: list[str]) -> tuple[int, ...]:
    told = subprocess.run([*words, "--version"], capture_output=True, text=True).stdout
    match = re.search(r"PgBouncer (\d+)\.(\d+)", told)
    return (int(match[1]), int(match[2])) if match else (0,)


def _unpacked_command(root: Path) -> list[str]:
    program = root / "usr/sbin/pgbouncer"
    loaders = sorted(root.glob("usr/lib*/**/ld-linux*.so*"))
    if not program.exists() or not loaders:
        return []
    libraries = ":".join(str(path) for path in sorted(root.glob("usr/lib/*-linux-gnu*")))
    return [str(loaders[0]), "--library-path", libraries, str(program)]


def _unpack(root: Path) -> None:
    """By apt's own means, with its signatures, under a folder of its own."""
    draft = root.with_name(f"{root.name}.{os.getpid()}")
    for name in ("state/lists/partial", "cache/archives/partial", "out"):
        (draft / name).mkdir(parents=True)
    (draft / "state/status").touch()
    (draft / "sources.list").write_text(
        f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {MIRROR} {SUITE} main\n"
    )
    own = {
        "Dir::Etc::sourcelist": draft / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State": draft / "state",
        "Dir::State::status": draft / "state/status",
        "Dir::Cache": draft / "cache",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
    }
    apt = ["apt-get", "-qq", *(word for name, at in own.items() for word in ("-o", f"{name}={at}"))]
    try:
        _run([*apt, "update"], draft)
        _run([*apt, "download", *PACKAGES], draft / "out")
        for package in sorted((draft / "out").glob("*.deb")):
            _run(["dpkg-deb", "-x", str(package), str(draft / "root")], draft)
        root.parent.mkdir(parents=True, exist_ok=True)
        if not root.exists():
            (draft / "root").rename(root)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _run(words: list[str], at: Path) -> None:
    try:
        done = subprocess.run(words, cwd=at, capture_output=True, text=True)
    except FileNotFoundError:
        raise AssertionError(HINT) from None
    assert done.returncode == 0, f"{HINT}\n{done.stderr}"


@dataclass(frozen=True)
class Pooler:
    """One that runs: where clients find it."""

    port: int
    process: "subprocess.Popen[bytes]"
    log: Path


@contextmanager
def pooler(at: Path, host: Path, users: Sequence[str], **options: object) -> Iterator[Pooler]:
    """In front of all databases of the server whose socket lies in `host`, in transaction mode;
    `users` come by TCP from this machine, without a password."""
    at.mkdir()
    (at / "users").write_text("".join(f'"{name}" ""\n' for name in users))
    for _ in range(TRIES):
        made = _started(at, host, options)
        if made.process.poll() is None:
            break
    try:
        assert _answers(made.port), made.log.read_text()
        yield made
    finally:
        made.process.send_signal(signal.SIGTERM)
        made.process.wait()


def _started(at: Path, host: Path, options: Mapping[str, object]) -> Pooler:
    """It has ended where the port is somebody else's."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "trust",
        "auth_file": at / "users",
        "pool_mode": "transaction",
        "max_prepared_statements": 200,
        "default_pool_size": 3,
        "logfile": at / "log",
        "ignore_startup_parameters": "",
        **options,
    }
    lines = "".join(f"{name} = {value}\n" for name, value in own.items())
    (at / "pgbouncer.ini").write_text(f"[databases]\n* = host={host}\n[pgbouncer]\n{lines}")
    # It refuses root, as PostgreSQL does.
    process = subprocess.Popen([*as_server(), *command(), "-q", str(at / "pgbouncer.ini")])
    wait_for(lambda: process.poll() is not None or _answers(port))
    return Pooler(port, process, at / "log")


def _answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
