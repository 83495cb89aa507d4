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

from django.db import Error, connections
from django_q import cluster
from django_q.brokers import get_broker
from django_q.conf import logger
from django_q.pusher import pusher
from django_q.worker import worker

from memories.management.command_options import PrintableCommand, refuse_unfinished_restore
from memories.meters import stored_metrics
from memories.queue import outbox, workers_seen
from memories.queue.leases import FAR
from memories.worker import side_processes
from memories.worker.tasks import listed
from memoryproject.postgres import database_roles
from memoryproject.postgres.base import one_line_refusals

RAN_TOO_LONG, WAS_RECYCLED = (
    0,
    -2,
)  # what django-q2 writes into a worker's timer when it ends it itself
PATIENCE = 30.0  # seconds for the tasks of the other processes


class Sentinel(cluster.Sentinel):
    def guard(self) -> None:
        """Its rounds call this every half minute in the place of django-q2's scheduler, whose rows
        name what is run; and so show that they go on."""
        beats = workers_seen.Beats("guard")
        beats.write()
        cluster.scheduler = partial(make_round, beats)
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


def make_round(beats: workers_seen.Beats, broker: Any = None) -> None:
    """Show that the guard lives, and tend the queue."""
    beats.write()
    tend_queue()


def tend_queue() -> None:
    """Heal the queue, and post this minute's sweep."""
    try:
        outbox.heal(FAR)
        outbox.post_each_minute("sweep")
    except Error as error:  # the sentinel outlives its database
        logger.warning("this minute's sweep was not posted, and is tried again: %s", error)
        connections.close_all()


class Command(PrintableCommand):
    help = "Run background tasks until SIGTERM. One is enough; `up` starts it by itself."

    def handle(self, *_: Any, **__: Any) -> None:
        refuse_unfinished_restore()
        with one_line_refusals(), database_roles.through_views():
            outbox.heal(FAR)
            self.work()

    def work(self) -> None:
        stored_metrics.start()
        workers_seen.forget_the_dead()
        connections.close_all()  # the processes are forked, and a connection is no thing to share
        cluster.Sentinel = Sentinel  # Cluster.start() takes it from its module
        cluster.worker = beating_worker  # as does the sentinel
        cluster.pusher = beating_pusher
        cluster.monitor = acknowledge
        beside = [side_processes.start(name) for name in side_processes.WORKS]
        running = cluster.Cluster()
        running.start()
        # Asked once a second: the pipe that tells of the sentinel's end is its children's, too.
        while running.sentinel.is_alive():
            time.sleep(1.0)
            for at, one in enumerate(beside):
                if not one.is_alive() and running.sentinel.is_alive():
                    logger.error("%s ended (%s): another one is started", one.name, one.exitcode)
                    beside[at] = side_processes.start(one.name)
        for one in beside:
            one.terminate()
        for one in beside:
            one.join(PATIENCE)
            one.kill()  # where it did not end by itself
        sys.exit(running.sentinel.exitcode and 1)


def beating_worker(tasks: Any, *given: Any) -> None:
    """A process of the pool: each shows for itself that it lives, and runs listed jobs alone."""
    with workers_seen.beating("worker"):
        worker(ListedTasks(tasks), *given)


class ListedTasks:
    """The queue as a process of the pool reads it. Of a task nothing but its name decides what is
    run, and the name stands in the list of `tasks.py` or is refused."""

    def __init__(self, tasks: Any) -> None:
        self.tasks = tasks

    def get(self) -> Any:
        task = self.tasks.get()
        if task == "STOP":
            return task
        kept = {name: task[name] for name in ("id", "name", "args", "started", "ack_id")}
        return {**kept, "func": listed(task["func"]), "kwargs": {}}


def acknowledge(results: Any, broker: Any = None) -> None:
    """The process that takes finished tasks out of the queue. Nothing is kept of them: what failed
    is due by its row, and told in the log."""
    queue = broker or get_broker()
    for task in iter(results.get, "STOP"):
        queue.acknowledge(task["ack_id"])
        if not task["success"]:
            logger.error("Failed '%s' - %s", task["name"], task["result"])


def beating_pusher(*given: Any) -> None:
    """The process that hands tasks to the pool: while it hangs, all of them wait."""
    with workers_seen.beating("pusher"):
        pusher(*given)


def is_planned(process: Process) -> bool:
    timer = getattr(process, "timer", None)  # the monitor and the pusher have none
    return timer is not None and int(timer.value) in (RAN_TOO_LONG, WAS_RECYCLED)


def is_busy(process: Process) -> bool:
    return process.is_alive() and process.timer.value > 0  # type: ignore[attr-defined]
