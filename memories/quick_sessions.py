"""A process for quick sessions alone, beside the workers.

The workers wait for models and read long texts. Meanwhile, what somebody said in a sentence is
learned at once.
"""

import logging
import os
import signal
import threading
from multiprocessing import Process

from django.db import DatabaseError, close_old_connections, connections

from memories import health_parts, ingest

LOOK, PAUSE = 0.5, 5.0  # seconds between two looks, and where the database takes nothing
TURN = 10.0  # seconds for one session
LONGEST = 120  # seconds, after which the process is stuck and ends: another one is started
log = logging.getLogger(__name__)


def start() -> Process:
    """Start the process, which ends when this one does."""
    process = Process(target=_run, args=(os.getpid(),), name="quick sessions", daemon=True)
    process.start()
    return process


def _run(parent: int) -> None:
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connections.close_all()
    with health_parts.beating("worker"):
        while not ending.is_set() and os.getppid() == parent:
            ending.wait(_work(ending))


def _work(ending: threading.Event) -> float:
    """Run all quick sessions that are due; the seconds until the next look."""
    close_old_connections()
    try:
        while not ending.is_set():
            signal.alarm(LONGEST)
            if ingest.run_next(TURN, only_quick=True) is None:
                return LOOK
    except DatabaseError as error:
        log.warning("Quick sessions wait for the database: %s", error)
        return PAUSE
    except Exception:
        # Its claim counted the attempt: after the lease it is retried, and at last given up.
        log.exception("a session failed")
    finally:
        signal.alarm(0)
    return LOOK
