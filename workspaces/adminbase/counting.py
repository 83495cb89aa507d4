"""Counting without reading a whole table."""

from typing import Any

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.utils.functional import cached_property

MOST = 10_000


def bounded_count(rows: QuerySet[Any], most: int = MOST) -> int:
    """How many rows there are, but never more than `most` + 1."""
    return rows.order_by().values("pk")[: most + 1].count()


def bounded_counts(*queries: QuerySet[Any], most: int = MOST) -> list[int]:
    """The same of several lists, in one statement."""
    parts: list[str] = []
    values: list[Any] = []
    for rows in queries:
        text, given = rows.order_by().values("pk")[: most + 1].query.sql_with_params()
        parts.append(f"(select count(*) from ({text}) as counted)")
        values += given
    with connection.cursor() as cursor:
        cursor.execute(f"select {', '.join(parts)}", values)
        return list(cursor.fetchone())


def count_text(count: int, most: int = MOST) -> str:
    """A bounded count in words: `1,234`, or `10,000+`."""
    return f"{most:,}+" if count > most else f"{count:,}"


class BoundedPaginator(Paginator):
    """Pages through the first 10,000 rows; what lies beyond is found by filter and search."""

    template_name = "admin/bounded_pagination.html"

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        return bounded_count(rows) if isinstance(rows, QuerySet) else len(rows)

    @property
    def is_cut(self) -> bool:
        return self.count > MOST

    @property
    def count_text(self) -> str:
        return count_text(self.count)
