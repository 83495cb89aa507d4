"""What a start is doing, for whoever waits for it: on a terminal one line that changes, elsewhere a
line for each step, and one every few seconds of a long one.

Used by `manage.py` before any package is there: standard library only.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from django.db import transaction

from workspaces.keys import scope_for_key
from workspaces.new_workspace import FirstRun, first_run, is_first_password

BETWEEN_LINES, BETWEEN_LOOKS = 5.0, 0.25  # seconds, without a terminal and on one
KEPT_LINES = 30  # of what an installer wrote, shown where it fails
# What installers write: pip for each package, uv once for all of them.
LEFT_OUT = re.compile(r"^Ignoring (\S+): markers")
COLLECTED = re.compile(r"^(?:Collecting|Requirement already satisfied:) ")
ALL_THERE = re.compile(r"^(?:Installing collected packages|Prepared \d+ packages?)\b")


class StartStep:
    """One step, entered with `with`; `say` adds to its line how far it is. `tick` shows the time
    that it has taken: called by a thread of its own, or, where threads may not be, by the caller.
    """

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
        """Show how long it takes by now, if the last line is old enough."""
        now = time.monotonic()
        if now - self.shown >= self.between and not self.ended.is_set():
            self.shown = now
            self._show(f"{now - self.begun:.0f} s ...")

    def end(self, how: str = "") -> None:
        """Its last line; once."""
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
    """Run an installer for what `lock` names, and show how far it is. Raises CalledProcessError
    with the end of what it wrote."""
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


# What the first start made, kept in the data folder so that the next start can tell it again.

FILE = "first_run.json"


def made_now(data_dir: Path) -> FirstRun | None:
    """Make admin, workspace, agent and key; None where the database has users already.

    The file is written before the commit: a crash between the two leaves a file that the next start
    replaces, never a key that nobody knows.
    """
    with transaction.atomic():
        made = first_run()
        if made is not None:
            write_private(data_dir / FILE, asdict(made))
    return made


def made_before(data_dir: Path) -> FirstRun | None:
    """What the file holds, if its key still works in this database.

    A password that does not open the account any more is taken out of the file; one that does must
    be changed at the next login, also where an older version made it.
    """
    kept = read(data_dir)
    if kept is None or not scope_for_key(kept.key):
        return None
    if kept.admin_password and not is_first_password(kept.admin_user, kept.admin_password):
        forget_password(data_dir, kept.admin_user)
    return read(data_dir)


def read(data_dir: Path) -> FirstRun | None:
    """What the file holds; None where there is none that can be read."""
    try:
        return FirstRun(**json.loads((data_dir / FILE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def forget_password(data_dir: Path, username: str) -> None:
    """Take the password out of the file, if it is this account's; `up` then takes it out of the
    info file, too."""
    kept = read(data_dir)
    if kept is not None and kept.admin_user == username and kept.admin_password:
        write_private(data_dir / FILE, asdict(replace(kept, admin_password=None)))


def write_private(file: Path, content: dict[str, object]) -> None:
    """Write JSON that its owner alone may read; it appears whole or not at all."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump(content, out, indent=2)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)
