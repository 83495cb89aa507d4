"""Rows by the day on which they were made, read off their ids: the keys alone are read."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import connection
from django.db.models import Model
from django.utils import timezone
from psycopg import sql

from workspaces.adminbase.access import Access
from workspaces.ids import first_uuid7

# A count for each day, instead of one over all: each is a walk along a part of an index.
BY_DAY = """
select (select count(*) from {table} where {where} and id >= d.low and id < d.high)
from unnest(%(low)s::uuid[], %(high)s::uuid[]) with ordinality as d(low, high, place)
order by place
"""


def last_days(number: int) -> list[date]:
    today = timezone.now().date()
    return [today - timedelta(days=back) for back in reversed(range(number))]


def begins(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def by_day(
    model: type[Model], access: Access, days: Sequence[date], where: str = "true"
) -> list[int]:
    """How many rows of the person's workspaces were made on each day; `where` is a constant."""
    conditions = [sql.SQL(where)]
    if not access.everywhere:
        conditions.append(sql.SQL("workspace_id = any(%(workspaces)s)"))
    statement = sql.SQL(BY_DAY).format(
        table=sql.Identifier(model._meta.db_table), where=sql.SQL(" and ").join(conditions)
    )
    values: dict[str, Any] = {
        "low": [first_uuid7(begins(day)) for day in days],
        "high": [first_uuid7(begins(day + timedelta(days=1))) for day in days],
        "workspaces": list(access.roles),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [row[0] for row in cursor.fetchall()]
