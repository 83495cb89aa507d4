"""The bell: jobs are posted in the transaction that makes them due, and commit with it."""

import uuid

from django_q.tasks import async_task


def post(job: str, row_id: uuid.UUID | int | None = None) -> None:
    """Wake the worker for a row. Losing the bell loses nothing: the sweep reads the rows."""
    arguments = () if row_id is None else (str(row_id),)
    async_task(f"memories.tasks.{job}", *arguments, task_name=job)
