"""The task worker: django-q2's cluster, ended as a whole when one of its processes was killed.

A process that is killed while it waits at the queue between the processes takes that queue's lock
with it, and all others wait for ever. So nothing is mended inside; `up` (or systemd, or Docker)
starts it again. What was under way is found by the sweep.
"""

import os
import sys
import time
from functools import partial
from multiprocessing import Process
from typing import Any, NoReturn

from django.core.management.base import BaseCommand
from django.db import Error, connections
from django_q import cluster
from django_q.conf import logger
from django_q.pusher import pusher
from django_q.scheduler import scheduler as run_schedules
from django_q.worker import worker

from memories import health_parts, outbox, quick_sessions, stored_metrics
from memories.leases import FAR
from memories.sweep import ensure_schedule
from memoryproject.postgres.base import one_line_refusals

RAN_TOO_LONG, WAS_RECYCLED = (
    0,
    -2,
)  # what django-q2 writes into a worker's timer when it ends it itself
PATIENCE = 30.0  # seconds for the tasks of the other processes


class Sentinel(cluster.Sentinel):
    def guard(self) -> None:
        """Its rounds call the scheduler every half minute, and so show that they go on."""
        beats = health_parts.Beats("guard")
        beats.write()
        cluster.scheduler = partial(scheduler, beats)
        super().guard()
        beats.end()

    def reincarnate(self, process: Process) -> None:
        if not is_planned(process):
            self.give_up(process)
        super().reincarnate(process)

    def give_up(self, process: Process) -> NoReturn:
        logger.error("%s was killed: ending all worker processes", process.name)
        self.pusher.terminate()  # takes no further tasks
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and any(is_busy(other) for other in self.pool):
            time.sleep(0.1)
        time.sleep(1.0)  # for the monitor to write down the last results
        for other in (*self.pool, self.monitor):
            other.terminate()
        os._exit(1)


def scheduler(beats: health_parts.Beats, broker: Any = None) -> None:
    """As django-q2's, which would wait for a sweep that a wrong clock put off by a year."""
    beats.write()
    try:
        outbox.heal(FAR)
    except Error as error:  # as the scheduler itself, the sentinel outlives its database
        logger.warning("the queue was not healed, and is looked at again: %s", error)
    run_schedules(broker=broker)


class Command(BaseCommand):
    help = "Run background tasks until SIGTERM. One is enough; `up` starts it by itself."

    def handle(self, *_: Any, **__: Any) -> None:
        with one_line_refusals():
            ensure_schedule()
        stored_metrics.start()
        health_parts.forget_the_dead()
        connections.close_all()  # the processes are forked, and a connection is no thing to share
        cluster.Sentinel = Sentinel  # Cluster.start() takes it from its module
        cluster.worker = beating_worker  # as does the sentinel
        cluster.pusher = beating_pusher
        quick = quick_sessions.start()
        running = cluster.Cluster()
        running.start()
        # Asked once a second: the pipe that tells of the sentinel's end is its children's, too.
        while running.sentinel.is_alive():
            quick.join(1.0)
            if not quick.is_alive() and running.sentinel.is_alive():
                logger.error("%s ended (%s): another one is started", quick.name, quick.exitcode)
                time.sleep(1.0)
                quick = quick_sessions.start()
        quick.terminate()
        quick.join(PATIENCE)
        quick.kill()  # where it did not end by itself
        sys.exit(running.sentinel.exitcode and 1)


def beating_worker(*given: Any) -> None:
    """A process of the pool: each shows for itself that it lives."""
    with health_parts.beating("worker"):
        worker(*given)


def beating_pusher(*given: Any) -> None:
    """The process that hands tasks to the pool: while it hangs, all of them wait."""
    with health_parts.beating("pusher"):
        pusher(*given)


def is_planned(process: Process) -> bool:
    timer = getattr(process, "timer", None)  # the monitor and the pusher have none
    return timer is not None and int(timer.value) in (RAN_TOO_LONG, WAS_RECYCLED)


def is_busy(process: Process) -> bool:
    return process.is_alive() and process.timer.value > 0  # type: ignore[attr-defined]
