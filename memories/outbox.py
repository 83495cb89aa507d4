"""The queue: jobs are posted in the transaction that makes them due, and commit with it. Who else
speaks to it: `work`, which runs it, and the admin's pages of it."""

import uuid
from collections.abc import Collection
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.tasks import async_task

# By the database's clock, which all machines share: who writes the row in this minute is the one.
CLAIM_MINUTE = """
insert into memories_postedjob as p (job, posted_at) values (%s, now())
on conflict (job) do update set posted_at = now()
where date_trunc('minute', p.posted_at) <> date_trunc('minute', now())
returning 1
"""


def post(job: str, row_id: uuid.UUID | int | None = None) -> None:
    """Wake the worker for a row. Losing the bell loses nothing: the sweep reads the rows."""
    arguments = () if row_id is None else (str(row_id),)
    async_task(f"memories.tasks.{job}", *arguments, task_name=job)


def waiting() -> dict[int, set[str]]:
    """The ids that each task names which nobody has begun or finished."""
    tasks = {row.pk: row.task.get("args") for row in OrmQ.objects.all()}
    return {pk: {str(one) for one in args or ()} for pk, args in tasks.items()}


def drop(tasks: Collection[int]) -> None:
    """Take waiting tasks back, by their keys in `waiting`."""
    OrmQ.objects.filter(pk__in=tasks).delete()


def length() -> int:
    return OrmQ.objects.count()


def post_each_minute(job: str) -> bool:
    """Post a job unless somebody did in this minute, on whatever machine; whether it was posted."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(CLAIM_MINUTE, [job])
            is_ours = cursor.fetchone() is not None
        if is_ours:
            post(job)
    return is_ours


def heal(far: timedelta) -> int:
    """Take back locks that a clock which was wrong has left more than `far` ahead of what is
    honest; the number of rows."""
    now = timezone.now()
    locked = OrmQ.objects.filter(lock__gt=now + timedelta(seconds=Conf.RETRY) + far)
    return locked.update(lock=now)
