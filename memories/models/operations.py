"""Rows about how the server itself runs: counts, breakers, workers, calls of models, answers that
may be asked for again, and what `benchmark` and `evaluate` measured."""

import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Q
from django.utils import timezone
from psycopg.types.json import Jsonb

from memories.metrics import Measure
from workspaces.models import Row, Workspace

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Sorted, so that two processes never wait for each other in a circle.
ADD_FIGURES = """
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


# Counting and the check are one statement: two workers cannot both take the last call.
TAKE_CALL = """
insert into memories_extractoruse (workspace_id, extractor, day, calls)
values (%(workspace)s, %(extractor)s, %(day)s, 1)
on conflict (workspace_id, extractor, day) do update
set calls = memories_extractoruse.calls + 1
where %(cap)s::int8 is null or memories_extractoruse.calls < %(cap)s::int8
"""


class Figure(models.Model):
    """A count of something in a span of time: how often it happened, how long it took, and how many
    took how long.

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
        sums.add(one)
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
        cursor.execute(ADD_FIGURES, values)


def workspace_in(labels: dict[str, str]) -> uuid.UUID | None:
    """Take the workspace out of the labels of a count, and return it."""
    named = labels.pop("workspace", "")
    return uuid.UUID(named) if named else None


class Breaker(models.Model):
    """The state of one way to a model, for all processes; a row from its first failure on.

    `failures` and `timeouts` are those in a row since its last answer. While it is open nobody
    waits for it, and after `next_try_at` one process tries again. `since` is when it came into this
    state.
    """

    class State(models.TextChoices):
        CLOSED = "closed"
        OPEN = "open"

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=300, unique=True)
    purpose = models.CharField(max_length=20)
    state = models.CharField(max_length=10, choices=State, default=State.CLOSED)
    failures = models.PositiveIntegerField(default=0)
    timeouts = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(default=timezone.now)
    next_try_at = models.DateTimeField(null=True, blank=True)
    detail = models.CharField(max_length=200, blank=True)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="closed") | models.Q(next_try_at__isnull=False),
                name="breaker_open_tried_again",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN


class WorkerBeat(models.Model):
    """A process that runs tasks or sweeps. It writes `seen_at` every few seconds, by the database's
    clock, and deletes its row when it ends in order."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    kind = models.CharField(max_length=10, help_text="worker, or sweep")
    host = models.CharField(max_length=255)
    pid = models.IntegerField()
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-seen_at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pid} on {self.host}"


class PostedJob(models.Model):
    """A job that is posted once a minute, and when it last was, by the database's clock: the
    process that writes `posted_at` in a minute posts it. The schedule itself is in the worker's own
    code."""

    job = models.CharField(max_length=20, primary_key=True)
    posted_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.job}, {self.posted_at:%Y-%m-%d %H:%M}"


class ExtractorUseQuerySet(models.QuerySet["ExtractorUse"]):
    def take(self, workspace_id: uuid.UUID, extractor: str, day: date, cap: int | None) -> bool:
        """Count one more call of that day; False, and nothing counted, where `cap` is reached."""
        if cap is not None and cap <= 0:
            return False
        with connection.cursor() as cursor:
            cursor.execute(
                TAKE_CALL,
                {"workspace": workspace_id, "extractor": extractor, "day": day, "cap": cap},
            )
            return cursor.rowcount == 1


class ExtractorUse(models.Model):
    """Calls of one extractor by one workspace on one day, in UTC."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    extractor = models.CharField(max_length=300)
    day = models.DateField()
    calls = models.PositiveIntegerField(default=0)

    objects = ExtractorUseQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "extractor use"
        constraints = [models.UniqueConstraint(fields=["workspace", "extractor", "day"], name="extractor_use_once")]

    def __str__(self) -> str:
        return f"{self.extractor} {self.day}: {self.calls}"


class IdempotentAnswer(Row):
    """The answer to a POST with an `Idempotency-Key`. Without a status it is not answered yet: the
    request runs until `lease_until`, which it renews; `claims` numbers those that ran."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    asker = models.CharField(max_length=200)
    key = models.CharField(max_length=255)
    request_digest = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    expires_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "asker", "key"], name="idempotent_once"),
            models.CheckConstraint(condition=Q(status=None) | Q(body__isnull=False), name="idempotent_answer_whole"),
        ]
        indexes = [models.Index(fields=["expires_at"], name="idempotent_expiry")]


class EvaluationRun(models.Model):
    """One finished run of `benchmark` or `evaluate`, of this installation and of no workspace.

    `figures` is flat, for plotting: the figure's name to its value, like
    `{"hybrid, HTTP, 10k: p50 ms": 6.9, "hybrid, all: recall@10": 0.83}`. Names end in their unit or
    measure after the last ": ", and are the same from run to run; a run may lack some.
    `details` is what `--json` writes, in that command's own shape.
    """

    class Kind(models.TextChoices):
        BENCHMARK = "benchmark"
        RETRIEVAL = "retrieval"
        EXTRACTION = "extraction"
        CONFLICTS = "conflicts"

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=200, help_text="What was measured: sizes, or the file.")
    started_at = models.DateTimeField(default=timezone.now)
    seconds = models.FloatField(help_text="How long the run took.")
    figures = models.JSONField(default=dict)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [models.Index(fields=["kind", "started_at"], name="evaluation_run_by_time")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


class WorkspaceImport(Row):
    """An import of a workspace. `header` is the file's first line; `lines` is how many of the next
    ones are here. `loaded_at` is since when the workspace is there, `finished_at` since when its
    index is, too.

    There is no foreign key: until it is loaded there is no workspace.
    """

    workspace = models.UUIDField(unique=True)
    export = models.UUIDField(help_text="Of the file: another one is another export.")
    header = models.JSONField()
    lines = models.BigIntegerField(default=0)
    loaded_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"import of {self.workspace}"


class ImportedRow(models.Model):
    """A row as its file has it, until it is loaded."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.UUIDField()
    model = models.CharField(max_length=80)
    row = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["workspace", "model", "id"], name="importedrow_order")]
