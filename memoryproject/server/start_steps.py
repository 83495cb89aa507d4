"""Progress of a start, for whoever waits for it: on a terminal one line that changes, elsewhere a
line for each step, and one every few seconds of a long one.

Used by `manage.py` before any package is installed: standard library only.
"""

import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

BETWEEN_LINES, BETWEEN_LOOKS = 5.0, 0.25  # seconds, without a terminal and on one
KEPT_LINES = 30  # of what an installer wrote, shown where it fails
# What installers write: pip for each package, uv once for all of them.
LEFT_OUT = re.compile(r"^Ignoring (\S+): markers")
COLLECTED = re.compile(r"^(?:Collecting|Requirement already satisfied:) ")
ALL_THERE = re.compile(r"^(?:Installing collected packages|Prepared \d+ packages?)\b")


class StartStep:
    """One step, entered with `with`; `say` adds its progress to its line. `tick` shows the time
    that it has taken: called by a separate thread, or, where there may be no threads, by the
    caller."""

    def __init__(self, title: str, out: TextIO | None = None, *, with_thread: bool = True) -> None:
        self.title, self.out, self.detail = title, out or sys.stderr, ""
        self.between = BETWEEN_LOOKS if self.out.isatty() else BETWEEN_LINES
        self.begun = self.shown = time.monotonic()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True) if with_thread else None

    def __enter__(self) -> Self:
        if self.out.isatty():
            self._show("...")
        if self.thread is not None:
            self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end("failed after " if kind else "")

    def say(self, detail: str) -> None:
        self.detail = detail

    def tick(self) -> None:
        """Show how long it has taken, if the last line is old enough."""
        now = time.monotonic()
        if now - self.shown >= self.between and not self.ended.is_set():
            self.shown = now
            self._show(f"{now - self.begun:.0f} s ...")

    def end(self, how: str = "") -> None:
        """Write its last line; once."""
        if self.ended.is_set():
            return
        self.ended.set()
        if self.thread is not None:
            self.thread.join()
        self._show(f"{how}{time.monotonic() - self.begun:.1f} s", last=True)

    def _watch(self) -> None:
        while not self.ended.wait(BETWEEN_LOOKS):
            self.tick()

    def _show(self, words: str, *, last: bool = False) -> None:
        text = f"  {self.title}{f', {self.detail}' if self.detail else ''}: {words}"
        if self.out.isatty():
            self.out.write(f"\r\x1b[K{text}{chr(10) if last else ''}")
        else:
            self.out.write(f"{text}\n")
        self.out.flush()


def install(command: Sequence["str | Path"], lock: Path) -> None:
    """Run an installer for the packages in `lock`, and show its progress. Raises CalledProcessError
    with the end of its output."""
    names = set(re.findall(r"^([A-Za-z0-9._-]+)==", lock.read_text(), re.M))
    seen, last = 0, deque[str](maxlen=KEPT_LINES)
    with StartStep("Packages") as one:
        one.say("downloading, or taking from the cache")
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                last.append(line)
                if left_out := LEFT_OUT.match(line):
                    names.discard(left_out[1])
                elif COLLECTED.match(line):
                    seen += 1
                    one.say(f"{seen} of {len(names)} downloaded or taken from the cache")
                elif ALL_THERE.match(line):
                    one.say("unpacking them")
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command, "".join(last))
        one.say(f"{len(names)} installed")
