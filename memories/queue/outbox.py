"""The queue: jobs are posted in the transaction that makes them due, and commit with it. Only
`work`, which runs it, and its admin pages use it besides."""

import uuid
from collections.abc import Collection
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.tasks import async_task

# By the database's clock, which all machines share: whoever writes this minute's row posts.
CLAIM_MINUTE = """
insert into memories_postedjob as p (job, posted_at) values (%s, now())
on conflict (job) do update set posted_at = now()
where date_trunc('minute', p.posted_at) <> date_trunc('minute', now())
returning 1
"""


def post(job: str, row_id: uuid.UUID | int | None = None) -> None:
    """Wake the worker for a row. A lost job loses nothing: the sweep reads the rows."""
    arguments = () if row_id is None else (str(row_id),)
    async_task(f"memories.worker.tasks.{job}", *arguments, task_name=job)


def waiting() -> dict[int, set[str]]:
    """The ids of each task that nobody has begun or finished."""
    tasks = {row.pk: row.task.get("args") for row in OrmQ.objects.all()}
    return {pk: {str(one) for one in args or ()} for pk, args in tasks.items()}


def drop(tasks: Collection[int]) -> None:
    """Remove waiting tasks, by their keys in `waiting`."""
    OrmQ.objects.filter(pk__in=tasks).delete()


def length() -> int:
    return OrmQ.objects.count()


def post_each_minute(job: str) -> bool:
    """Post a job unless any machine did so in this minute; whether it was posted."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(CLAIM_MINUTE, [job])
            is_ours = cursor.fetchone() is not None
        if is_ours:
            post(job)
    return is_ours


def heal(far: timedelta) -> int:
    """Release locks that a wrong clock has set more than `far` ahead of what is plausible; the
    number of rows."""
    now = timezone.now()
    locked = OrmQ.objects.filter(lock__gt=now + timedelta(seconds=Conf.RETRY) + far)
    return locked.update(lock=now)
