"""A database that fell silent is not waited for again: whoever asks is refused at once.

One process that waited in vain says so to all that were forked beside it, and tries again in the
background until there is an answer.
"""

import logging
import mmap
import os
import struct
import threading
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

BETWEEN = 1.0  # seconds between two tries
HOLDS = 8.0  # seconds for which a try's failure holds: longer than the next try takes
_until = struct.Struct("d")  # by the machine's monotonic clock, which all processes share
_shared = mmap.mmap(-1, _until.size)
_lock = threading.Lock()
_trying: threading.Thread | None = None


def is_open() -> bool:
    """Whether the database is known to be silent."""
    return time.monotonic() < float(_until.unpack_from(_shared)[0])


def open_until_answered(answers: Callable[[], bool]) -> None:
    """Refuse all from here on, until `answers`, asked in a thread of its own, says True."""
    global _trying
    with _lock:
        if not is_open():
            log.error("the database is silent: nobody waits for it until it answers again")
        _until.pack_into(_shared, 0, time.monotonic() + HOLDS)
        if _trying is None:
            _trying = threading.Thread(target=_try, args=(answers,), name="database", daemon=True)
            _trying.start()


def close() -> None:
    """The database answers."""
    _until.pack_into(_shared, 0, 0.0)


def _try(answers: Callable[[], bool]) -> None:
    global _trying
    while not answers():
        _until.pack_into(_shared, 0, time.monotonic() + HOLDS)
        time.sleep(BETWEEN)
    with _lock:
        close()
        _trying = None
    log.warning("the database answers again")


def _forget() -> None:
    """A forked process has no thread, and knows of the breaker what all know."""
    global _lock, _trying
    _lock, _trying = threading.Lock(), None


os.register_at_fork(after_in_child=_forget)
