"""Processes beside the workers, each for one kind of work alone.

The workers wait for models and read long texts. Meanwhile what somebody said in a sentence is learned at once,
and the judge is asked what it changes. The judge's process is that of all models of this machine: neural embedders
and rerankers, for which all others ask there.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import Process

from django.db import DatabaseError, close_old_connections, connections

from memories import ingest, teaching
from memories.ingest import judged_messages, rehearse_judge
from memories.queue import workers_seen
from memories.search.neural_models import served
from memories.worker import waiting_for_models
from memoryproject.postgres import crossings, visible

LOOK, PAUSE = 0.5, 5.0  # seconds between two looks, and where the database takes nothing
TURN = 10.0  # seconds for one session, and for the messages of a workspace
LONGEST = 120  # seconds, after which the process is stuck and ends: another one is started
log = logging.getLogger(__name__)


def learn_quick_session() -> bool:
    """Learn the quick session that is due next; tell whether there was one. What waits for a model that failed is
    looked at besides: a sweep comes too seldom for it."""
    waiting_for_models.look()
    with _alarm():
        return ingest.run_next(TURN, only_quick=True) is not None


def judge_messages() -> bool:
    """Ask the judge about what waits, workspace by workspace; tell whether anything was decided."""
    with crossings.everywhere():
        due = judged_messages.due_workspaces()
    decided = 0
    for workspace_id in due:
        with _alarm(), visible.only(workspace_id):
            decided += judged_messages.run(workspace_id, TURN)
    return decided > 0 or rehearse() or learn_head()


def learn_head() -> bool:
    """Let the judge learn from what a workspace decided, where nothing else waits for it; tell whether it did."""
    with crossings.everywhere():
        due = teaching.due_workspaces()
    if not due:
        return False
    with _alarm(), visible.only(due[0]):
        return teaching.learn(due[0]) is not None


def rehearse() -> bool:
    """Go on with a rehearsal of the judge, where nothing else waits for it; tell whether there was one."""
    with crossings.everywhere():
        due = rehearse_judge.due()
    if not due:
        return False
    row_id, workspace_id = due
    with _alarm(), visible.only(workspace_id):
        return rehearse_judge.go_on(row_id) is not None


@contextmanager
def _alarm() -> Iterator[None]:
    """End this process if what stands inside takes too long."""
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)


@dataclass(frozen=True)
class SideWork:
    """An act that a process repeats, and what it does `beside` that all the time."""

    act: Callable[[], bool]
    beside: Callable[[], AbstractContextManager[object]] = nullcontext


WORKS = {"quick sessions": SideWork(learn_quick_session), "models": SideWork(judge_messages, served)}


def start(name: str) -> Process:
    """Start the process of one of `WORKS`; it ends when this one does."""
    process = Process(target=_run, args=(os.getpid(), WORKS[name]), name=name, daemon=True)
    process.start()
    return process


def _run(parent: int, work: SideWork) -> None:
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connections.close_all()
    with workers_seen.beating("worker"), work.beside():
        while not ending.is_set() and os.getppid() == parent:
            ending.wait(_do(work.act, ending))


def _do(work: Callable[[], bool], ending: threading.Event) -> float:
    """Do all that is due; return the seconds until the next look."""
    close_old_connections()
    try:
        while not ending.is_set():
            if not work():
                return LOOK
    except DatabaseError as error:
        log.warning("Work waits for the database: %s", error)
        return PAUSE
    except Exception:
        # Its claim counted the attempt: it is retried, and at last given up.
        log.exception("a piece of work failed")
    return LOOK
