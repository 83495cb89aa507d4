"""The bell: jobs are posted in the transaction that makes them due, and commit with it."""

import uuid
from collections.abc import Collection

from django_q.models import OrmQ, Task
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
