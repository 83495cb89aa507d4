"""A real `up` over a trial's own folder: started, asked, and hit."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from django.conf import settings

from bench import processes
from bench.http_client import Client
from memoryproject.postgres.embedded_postgres import DATABASE, OWNER_ROLE, Home

START = 180.0  # seconds; the machine may be busy, and the database may have to recover
STOP = 60.0
# Nothing may leave the machine, and nothing but this folder's server be touched.
NOT_INHERITED = (
    "DATABASE_URL",
    "APP_DATABASE_URL",
    "DATABASE_REPLICA_URL",
    "DATABASE_ROLE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "EMBEDDING_MODEL",
    "EMBEDDING_DIMENSIONS",
    "EMBEDDING_FOLDER",
    "RERANK_PROVIDER",
    "RERANK_BASE_URL",
    "METRICS_TOKEN",
)
ONLY_LOCAL = {
    "EMBEDDING_PROVIDER": "hash",
    "EXTRACTION_PROVIDER": "none",
    "LOG_LEVEL": "WARNING",
    "EXTRACTOR_ALLOWED_HOSTS": "localhost,127.0.0.1",
}


Running: TypeAlias = "subprocess.Popen[str]"


class ServerFailed(Exception):
    """`up` did not become ready; the message has the end of its log."""


class TrialServer:
    """One data folder and the `up` over it, which may be killed and started again."""

    def __init__(
        self,
        folder: Path,
        env: Mapping[str, str] | None = None,
        *,
        web: int = 2,
        workers: int = 1,
    ) -> None:
        self.folder, self.data, self.file = folder, folder / "data", folder / "info.json"
        self.log, self.home = folder / "up.log", Home.below(folder / "data")
        self.extra, self.web, self.workers = dict(env or {}), web, workers
        self.process: subprocess.Popen[bytes] | None = None
        self.info: dict[str, Any] = {}
        self.starts = 0

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        own = {
            "MEMORY_DATA_DIR": str(self.data),
            "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
        }
        return {**kept, **own, **ONLY_LOCAL, **self.extra}

    def start(self) -> None:
        """Start `up` and wait until it answers. Raises ServerFailed."""
        self.file.unlink(missing_ok=True)
        words = ["--data", str(self.data), "--port", "0", "--info", str(self.file)]
        words += ["--web", str(self.web), "--workers", str(self.workers)]
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", *words],
                cwd=settings.BASE_DIR,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self.starts += 1
        end = time.monotonic() + START
        while not self.file.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise ServerFailed(f"The server did not become ready. Its log ends: {self.said()}")
            time.sleep(0.1)
        self.info = json.loads(self.file.read_text())

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def path(self) -> str:
        return f"/api/v1/workspaces/{self.info['workspace']}"

    def said(self) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return text[-2000:]

    def client(self, timeout: float = 30.0) -> Client:
        return Client(str(self.info["url"]), str(self.info["key"]), timeout)

    def serves(self) -> bool:
        """Tell whether a request that reads rows is answered."""
        with self.client(5.0) as client:
            return client.ask("GET", f"{self.path}/memories?limit=1").status == 200

    def wait_until_it_serves(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.serves():
                return True
            time.sleep(0.2)
        return False

    def stop(self) -> None:
        """In order where it can, else by force; nothing of it is left."""
        if self.process is not None and self.process.poll() is None:
            self.signal_all(signal.SIGCONT)
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP)
        self.kill()

    def kill(self) -> None:
        """End everything that runs over the folder at once, as when the power fails."""
        end = time.monotonic() + STOP
        while self.signal_all(signal.SIGKILL) and time.monotonic() < end:
            time.sleep(0.05)
        if self.process is not None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP)

    def signal_all(self, number: int) -> int:
        """Send a signal to all processes over the folder; how many there were."""
        found = [each.pid for each in self.processes()]
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return len(found)

    def processes(self) -> list[processes.Found]:
        up = self.process.pid if self.process and self.process.poll() is None else None
        return processes.over(self.data, up)

    def worked(self) -> float:
        """Seconds of processor time of its workers."""
        own = [each for each in self.processes() if each.kind == processes.WORKER]
        return processes.processor_seconds(own)

    def leave(self, *, keep: bool) -> None:
        """Stop it, and remove its data unless they are to be looked at."""
        self.stop()
        if not keep:
            shutil.rmtree(self.data, ignore_errors=True)
            if self.home.socket != self.home.root:
                shutil.rmtree(self.home.socket, ignore_errors=True)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows that the database's owner reads. Raises psycopg.Error where it cannot be asked."""
        with self.open_database() as connection:
            return connection.execute(statement.encode(), values or None).fetchall()

    def open_database(self) -> psycopg.Connection[tuple[Any, ...]]:
        """Open a connection as the database's owner. Raises psycopg.Error."""
        return psycopg.connect(
            host=str(self.home.socket),
            user=OWNER_ROLE,
            dbname=DATABASE,
            connect_timeout=10,
            options="-c statement_timeout=300s",
        )

    def command(self, *words: str, env: Mapping[str, str] | None = None, out: int = subprocess.PIPE) -> Running:
        """A command over the server's folder, running beside it."""
        return subprocess.Popen(
            [sys.executable, "manage.py", *words],
            cwd=settings.BASE_DIR,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            text=True,
        )

    def run(self, *words: str, timeout: float = 600.0) -> tuple[int, str, str]:
        """Exit code, output and errors of a command; 124 where it took longer than `timeout`."""
        running = self.command(*words)
        try:
            out, errors = running.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            running.kill()
            out, errors = running.communicate()
            return 124, out, errors
        return running.returncode, out, errors
