"""The folder of a trial: it holds what the trial made and nothing else, and goes with it."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MARK = "made-by-a-trial"
INSIDE = "trial"
EXPLANATION = "A trial of memoryproject made this folder, and may empty it at any time.\n"


class NotSpare(Exception):
    """The folder holds what no trial made, or another trial is at it."""


@contextmanager
def spare_folder(given: Path | None, *, keep: bool = False) -> Iterator[Path]:
    """An empty folder below `given` (or a temporary one), removed at the end unless `keep`.

    Raises NotSpare where `given` holds anything that no trial made. What an interrupted trial left
    is removed first.
    """
    is_new = given is None or not given.exists()
    folder = _folder(given)
    _refuse_strangers(folder)
    with open(folder / MARK, "a+") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotSpare(f"Another trial is at {folder}.") from None
        if not mark.tell():
            mark.write(EXPLANATION)
            mark.flush()
        inside = folder / INSIDE
        shutil.rmtree(inside, ignore_errors=True)
        inside.mkdir(mode=0o700)
        try:
            yield inside
        finally:
            if not keep:
                shutil.rmtree(inside, ignore_errors=True)
                (folder / MARK).unlink(missing_ok=True)
                if is_new and not any(folder.iterdir()):
                    folder.rmdir()


def _folder(given: Path | None) -> Path:
    if given is None:
        return Path(tempfile.mkdtemp(prefix="memoryproject-trial-")).resolve()
    folder = given.expanduser().resolve()
    if folder.exists() and not folder.is_dir():
        raise NotSpare(f"{folder} is no folder.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _refuse_strangers(folder: Path) -> None:
    found = set(os.listdir(folder))
    if not found:
        return
    strangers = sorted(found - {MARK, INSIDE})
    if strangers or MARK not in found:
        what = ", ".join((strangers or sorted(found))[:5])
        raise NotSpare(f"{folder} holds what no trial made ({what}): name an empty folder.")
