"""A real `manage.py up` for tests: its processes, its port, its folder."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg

from memoryproject.postgres.embedded_postgres import DATABASE, OWNER_ROLE, Home, is_alive
from memoryproject.postgres.postgres_guard import command_line
from tests import migrated_folder

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 300.0  # seconds; the machine may be busy


def wait_for(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def strangers_environment() -> dict[str, str]:
    """Ours, without what a browser's test beside this one set for its own process."""
    ours = {k: v for k, v in os.environ.items() if k != "DJANGO_ALLOW_ASYNC_UNSAFE"}
    own = {
        "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
        "EXTRACTOR_ALLOWED_HOSTS": "localhost",
    }
    return {**ours, **own}


def measured() -> dict[str, str]:
    """For processes whose lines count where those of the tests do. It costs each of them half of
    its time again: enough where a file of tests is the one that runs some lines."""
    config = {
        "COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"),
        "PYTHONPATH": str(ROOT / "tests" / "measured"),
    }
    return config if "tests.executed_lines" in sys.modules else {}


class Server:
    """One `up` over a folder; its children are found by the variable that names the folder.
    `empty`: the first start makes its tables itself, which takes most of its time."""

    def __init__(
        self,
        folder: Path,
        port: int = 0,
        env: Mapping[str, str] | None = None,
        more: str = "",
        *,
        empty: bool = False,
    ) -> None:
        self.folder, self.file = folder, folder / "info.json"
        if not (empty or (folder / "data").exists() or "DATABASE_URL" in (env or {})):
            migrated_folder.copy_to(folder / "data")
        self.home = Home.below(folder / "data")
        words = ["--port", str(port), "--data", str(folder / "data"), "--info", str(self.file)]
        words += ["--web", "1", "--workers", "1", *more.split()]
        self.log = folder / "log"
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", *words],
                cwd=ROOT,
                env={**strangers_environment(), **(env or {})},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until_ready(self) -> "Server":
        wait_for(lambda: self.file.exists() or self.process.poll() is not None)
        assert self.file.exists(), self.log.read_text()
        return self

    @property
    def info(self) -> dict[str, str]:
        return json.loads(self.file.read_text())

    def get(self, path: str) -> int:
        request = Request(self.info["url"] + path, headers={"X-API-Key": self.info["key"]})
        try:
            with urlopen(request, timeout=30) as answer:
                return answer.status
        except HTTPError as error:
            return error.code
        except OSError:
            return 0

    def post(self, path: str, body: dict[str, Any]) -> int:
        """The status; 0 where nobody answers."""
        headers = {"X-API-Key": self.info["key"], "Content-Type": "application/json"}
        request = Request(self.info["url"] + path, json.dumps(body).encode(), headers)
        try:
            with urlopen(request, timeout=30) as answer:
                return answer.status
        except HTTPError as error:
            return error.code
        except OSError:
            return 0

    def run(self, *words: str) -> str:
        """What a command over this server's folder prints."""
        env = {**strangers_environment(), "MEMORY_DATA_DIR": str(self.folder / "data")}
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        host = str(self.home.socket)
        with psycopg.connect(host=host, user=OWNER_ROLE, dbname=DATABASE) as connection:
            return connection.execute(statement).fetchall()

    def children(self, word: str) -> list[int]:
        """The pids of this server's processes whose command has `word`, oldest first."""
        mark = f"MEMORY_DATA_DIR={self.folder / 'data'}".encode()
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                env = (process / "environ").read_bytes().split(b"\0")
                began = int((process / "stat").read_text().rpartition(")")[2].split()[19])
            except OSError:
                continue
            if mark in env and word in command_line(int(process.name)):
                found[int(process.name)] = began
        return sorted(found, key=lambda pid: (found[pid], pid))

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def is_gone(self) -> bool:
        programs = ("granian", "web", "work")
        return not (is_alive(self.home) or any(self.children(name) for name in programs))
