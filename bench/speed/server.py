"""The real server, as `up` runs it, over the benchmark's own data folder."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from django.conf import settings

from bench.server import NOT_INHERITED, START, STOP, ServerFailed

ONLY_LOCAL = {"EMBEDDING_PROVIDER": "local", "EXTRACTION_PROVIDER": "none"}
QUIET = {"LOG_LEVEL": "WARNING"}


def environment(folder: Path) -> dict[str, str]:
    """The environment that a process needs to see the database in `folder`, and only that."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    own = {"MEMORY_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
    return kept | own | ONLY_LOCAL | QUIET


@dataclass
class Server:
    """To be entered with `with`: started and ready inside, stopped after it."""

    folder: Path
    web: int
    workers: int
    url: str = ""
    process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def log(self) -> Path:
        return self.folder / "up.log"

    def said(self) -> str:
        """The end of the server's log."""
        return self.log.read_text(errors="replace")[-2000:]

    def __enter__(self) -> Self:
        info = self.folder / "up.json"
        words = ["--data", str(self.folder), "--port", "0", "--info", str(info)]
        words += ["--web", str(self.web), "--workers", str(self.workers)]
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", *words],
                cwd=settings.BASE_DIR,
                env=environment(self.folder),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,  # Ctrl-C ends the benchmark, which then ends this
            )
        try:
            self.url = self._wait(info)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _wait(self, info: Path) -> str:
        end = time.monotonic() + START
        while not info.exists():
            assert self.process is not None
            if self.process.poll() is not None or time.monotonic() > end:
                raise ServerFailed(f"The server did not become ready. It said: {self.said()}")
            time.sleep(0.1)
        return str(json.loads(info.read_text())["url"])

    def _stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        try:
            self.process.wait(STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
