"""The queue: jobs are posted in the transaction that makes them due, and commit with it. Who else
speaks to it: `work`, which runs it, and the admin's pages of it."""

import uuid
from collections.abc import Collection
from datetime import timedelta

from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule, Task
from django_q.tasks import async_task


def post(job: str, row_id: uuid.UUID | int | None = None) -> None:
    """Wake the worker for a row. Losing the bell loses nothing: the sweep reads the rows."""
    arguments = () if row_id is None else (str(row_id),)
    async_task(f"memories.tasks.{job}", *arguments, task_name=job)


def forget(ids: Collection[uuid.UUID]) -> None:
    """Drop what is kept of finished tasks about these rows: an error may hold their words."""
    gone = {str(one) for one in ids}
    tasks = Task.objects.only("args")
    about = [task.pk for task in tasks if any(str(one) in gone for one in task.args or ())]
    Task.objects.filter(pk__in=about).delete()


def waiting() -> dict[int, set[str]]:
    """The ids that each task names which nobody has begun or finished."""
    tasks = {row.pk: row.task.get("args") for row in OrmQ.objects.all()}
    return {pk: {str(one) for one in args or ()} for pk, args in tasks.items()}


def drop(tasks: Collection[int]) -> None:
    """Take waiting tasks back, by their keys in `waiting`."""
    OrmQ.objects.filter(pk__in=tasks).delete()


def length() -> int:
    return OrmQ.objects.count()


def every_minute(job: str) -> None:
    """Post a job of `memories.tasks` each minute; calling it again changes nothing."""
    timing = {"schedule_type": Schedule.MINUTES, "minutes": 1, "repeats": -1}
    path = f"memories.tasks.{job}"
    if not Schedule.objects.filter(func=path).update(**timing):
        Schedule.objects.create(name=job, func=path, **timing)


def heal(far: timedelta) -> int:
    """Take back locks and next runs that a clock which was wrong has left more than `far` ahead of
    what is honest; the number of rows.

    A next run that lies long ago is taken forward: the periods since then are not counted one by
    one."""
    now = timezone.now()
    locked = OrmQ.objects.filter(lock__gt=now + timedelta(seconds=Conf.RETRY) + far)
    healed = locked.update(lock=now)
    for schedule in Schedule.objects.filter(schedule_type=Schedule.MINUTES):
        latest = now + timedelta(minutes=schedule.minutes or 1) + far
        if not now - timedelta(days=1) < schedule.next_run <= latest:
            healed += Schedule.objects.filter(pk=schedule.pk).update(next_run=now)
    return healed
