"""Files read in a child process, which has no keys and no access to the database, and is killed
where it takes too long."""

import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
from django.conf import settings

from memories.file_formats.assembly import LONGEST, FileRefused, FileText
from memories.file_formats.child import Answer
from memories.file_formats.known_formats import PDF_WITHIN

MOST_ANSWERED = 6 * LONGEST  # bytes
PART = 1 << 20
GRACE = 5.0  # seconds
# The reason why a child was ended, by its signal.
CAUSES = {
    signal.SIGXCPU: ("timeout", "Reading the file takes too much processor time."),
    signal.SIGKILL: ("memory", "Reading the file was ended by the system."),
}


def read_in_child(path: Path, name: str) -> FileText:
    """The text of a file. Raises FileRefused, also with `timeout`, `memory` and `crashed`."""
    seconds = int(settings.DOCUMENT_SECONDS)
    with path.open("rb") as file:
        process = subprocess.Popen(
            command_for(path, name, seconds),
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=settings.BASE_DIR,
            env=bare_environment(),
            start_new_session=True,
        )
    assert process.stdout is not None
    with process.stdout as answers:
        try:
            said = _answer_of(answers.fileno(), time.monotonic() + 2 * seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    try:
        code = process.wait(GRACE)
    except subprocess.TimeoutExpired:  # it said all, and is in no hurry to end
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        code = 0
    return _text_in(said, code)


def command_for(path: Path, name: str, seconds: int) -> list[str]:
    words = [sys.executable, "-m", "memories.file_formats.child", str(seconds), name or "file"]
    with path.open("rb") as file:
        head = file.read(PDF_WITHIN)
    # Engines for pictures bring models of their own.
    may_be_pictures = b"%PDF" in head or head.startswith((b"\x89PNG", b"\xff\xd8", b"II*", b"MM", b"RIFF"))
    return [*words, "--pictures"] if may_be_pictures or head[:3] in (b"GIF", b"BM") else words


def bare_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {
        "PYTHONPATH": str(settings.BASE_DIR),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OCR_LANGUAGES": settings.OCR_LANGUAGES,
    }


def _answer_of(answers: int, until: float) -> bytes:
    """Return all that it writes; raises FileRefused where that takes too long or is too much."""
    said: list[bytes] = []
    size = 0
    with selectors.DefaultSelector() as selector:
        selector.register(answers, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, until - time.monotonic())):
                raise FileRefused("timeout", "Reading the file takes too long.")
            part = os.read(answers, PART)
            if not part:
                return b"".join(said)
            said.append(part)
            size += len(part)
            if size > MOST_ANSWERED:
                raise FileRefused("too_large", "The text of the file is too long.")


def _text_in(said: bytes, code: int) -> FileText:
    if code < 0:
        cause = CAUSES.get(signal.Signals(-code))
        raise FileRefused(*(cause or ("crashed", f"Reading the file ended by signal {-code}.")))
    try:
        answer = msgspec.json.decode(said, type=Answer)
    except msgspec.DecodeError:
        raise FileRefused("crashed", f"Reading the file ended with code {code}.") from None
    if answer.text is None:
        raise FileRefused(answer.code, answer.message)
    return answer.text
