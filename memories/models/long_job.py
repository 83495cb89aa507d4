"""The progress of long work: imports, backups, changes of the embedding model, repairs,
erasures."""

import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Self

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from workspaces.models import Row, Workspace


class LongJobQuerySet(models.QuerySet["LongJob"]):
    def running(self) -> Self:
        """Narrow to jobs whose process has written lately: `SILENT` is the longest pause of a
        living one."""
        now, silent = timezone.now(), LongJob.SILENT
        return self.filter(state=LongJob.State.RUNNING, updated_at__gt=now - silent, updated_at__lt=now + silent)


class LongJob(Row):
    """Work that takes long, and its progress: an import, a backup, a change of model. It holds no
    content: `result` is counts by name.

    Without a workspace it is the whole server's, and only those who see everything see it. `item`
    is the row that is worked on in several turns. `seconds` is the time worked, `updated_at` is
    when its process was last heard of. `total` None: not known.
    """

    class Kind(models.TextChoices):
        IMPORT = "import", _("Import")
        EMBEDDING = "embedding", _("Making vectors")
        REINDEX = "reindex", _("Making the index anew")
        REPAIR = "repair", _("Repairing the index")
        CHECK = "check", _("Checking the index")
        ERASURE = "erasure", _("Erasure")
        PRUNE = "prune", _("Removing what is old")
        EXPORT = "export", _("Export")
        BACKUP = "backup", _("Backup")
        MASKING = "masking", _("Taking words out")
        UNMASKING = "unmasking", _("Putting words back")
        TOUCHING = "touching", _("Finding what was said later")
        REHEARSAL = "rehearsal", _("Rehearsing the judge")

    class State(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    SILENT = timedelta(minutes=5)
    # What was begun of these is gone on with in any case: half of it helps nobody.
    SEEN_THROUGH = (Kind.ERASURE, Kind.REPAIR, Kind.MASKING, Kind.UNMASKING)

    workspace = models.ForeignKey(Workspace, models.CASCADE, null=True, related_name="+", db_index=False)
    kind = models.CharField(max_length=9, choices=Kind)
    item = models.UUIDField(null=True)
    state = models.CharField(max_length=9, choices=State, default=State.RUNNING)
    unit = models.CharField(max_length=20)
    total = models.PositiveBigIntegerField(null=True)
    done = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    requested_by = models.CharField(max_length=200)
    result = models.JSONField(default=dict)
    error = models.CharField(max_length=300, blank=True)
    cancelled_by = models.CharField(max_length=200, blank=True)
    finished_at = models.DateTimeField(null=True)

    objects = LongJobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name, verbose_name_plural = "work", "pieces of work"
        constraints = [
            models.CheckConstraint(
                condition=Q(state="running") ^ Q(finished_at__isnull=False),
                name="longjob_ends_once",
            ),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(error=""), name="longjob_failed_says_why"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="longjob_newest"),
            models.Index(fields=["item", "-id"], name="longjob_of_item"),
            models.Index(fields=["updated_at"], name="longjob_running", condition=Q(state="running")),
        ]

    def __str__(self) -> str:
        return str(self.get_kind_display())

    @classmethod
    def words_of(cls, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
        return {row.pk: str(row) for row in cls.objects.filter(pk__in=ids)}

    @property
    def is_live(self) -> bool:
        """Tell whether its process was heard lately, as `running` does for many rows."""
        is_heard = abs(timezone.now() - self.updated_at) < self.SILENT
        return self.state == self.State.RUNNING and is_heard

    @property
    def may_be_cancelled(self) -> bool:
        """Tell whether it may end between two of its batches, where what is done stays whole."""
        is_open = self.state == self.State.RUNNING and not self.cancelled_by
        return is_open and self.kind not in self.SEEN_THROUGH

    @property
    def share(self) -> int | None:
        """The percentage that is done; None where the total is unknown."""
        if self.total is None:
            return None
        return 100 if self.done >= self.total else int(100 * self.done / self.total)

    @property
    def rate(self) -> float:
        """Units a second."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time left at the rate so far; None where it cannot be told yet."""
        if self.total is None or not self.rate:
            return None
        return max(self.total - self.done, 0) / self.rate
