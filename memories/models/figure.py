"""What all processes counted, added up: by minute, by hour and since ever."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from psycopg.types.json import Jsonb

from memories.metrics import Measure

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Sorted, so that two processes never wait for each other in a circle.
ADD = """
insert into memories_figure as f (span, name, at, workspace, labels, count, seconds, buckets)
select t.span, t.name, t.at, t.workspace, t.labels, t.count, t.seconds, t.buckets::int8[]
from unnest(%(span)s::int2[], %(name)s::text[], %(at)s::timestamptz[], %(workspace)s::uuid[],
            %(labels)s::jsonb[], %(count)s::int8[], %(seconds)s::float8[], %(buckets)s::text[])
  as t(span, name, at, workspace, labels, count, seconds, buckets)
order by t.span, t.name, t.at, t.workspace, t.labels
on conflict (span, name, at, workspace, labels) do update
set count = f.count + excluded.count, seconds = f.seconds + excluded.seconds,
    buckets = array(select coalesce(old, 0) + coalesce(new, 0)
                    from unnest(f.buckets, excluded.buckets) with ordinality as b(old, new, place)
                    order by place)
"""


class Figure(models.Model):
    """How often something happened in a span of time, how long it took, and how many took how long.

    `workspace` has no foreign key: a count may come in after its workspace went.
    """

    class Span(models.IntegerChoices):
        EVER = 0
        MINUTE = 1
        HOUR = 60

    id = models.BigAutoField(primary_key=True)
    span = models.SmallIntegerField(choices=Span)
    name = models.CharField(max_length=40)
    at = models.DateTimeField()
    workspace = models.UUIDField(null=True)
    labels = models.JSONField(default=dict)
    count = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    buckets = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["span", "name", "at", "workspace", "labels"],
                name="figure_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.at:%Y-%m-%d %H:%M}: {self.count}"

    def add(self, one: Measure) -> None:
        sums = Measure(one.name, one.labels, self.count, self.seconds, self.buckets)
        sums.add(one.count, one.seconds, one.buckets)
        self.count, self.seconds, self.buckets = sums.count, sums.seconds, sums.buckets


def add_figures(figures: Sequence[Figure]) -> None:
    """Add to the rows that are there, in one statement; no two of `figures` are of one row."""
    values: dict[str, list[Any]] = {
        name: [getattr(figure, name) for figure in figures]
        for name in ("span", "name", "at", "workspace", "count", "seconds")
    }
    values["labels"] = [Jsonb(figure.labels) for figure in figures]
    values["buckets"] = ["{%s}" % ",".join(map(str, f.buckets)) for f in figures]  # noqa: UP031
    with connection.cursor() as cursor:
        cursor.execute(ADD, values)


def workspace_in(labels: dict[str, str]) -> uuid.UUID | None:
    """The workspace among the labels of a count, taken out of them."""
    named = labels.pop("workspace", "")
    return uuid.UUID(named) if named else None
