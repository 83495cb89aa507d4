"""How far an index that older rules made has been made anew."""

from django.db import models
from django.db.models import Q

from workspaces.models import Workspace


class IndexRepair(models.Model):
    """The latest repair of a workspace's derived marks; see memories.index_repairs. The row is the
    queue: it goes on after `layer` and `after`, whoever takes it up.

    `rows` is how many it found to do, None until they are counted; `seconds` how long it worked.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        FAILING = "failing"
        DONE = "done"

    workspace = models.OneToOneField(Workspace, models.CASCADE, primary_key=True, related_name="+")
    version = models.SmallIntegerField(help_text="Of the rules that it makes the marks by.")
    layer = models.SmallIntegerField(default=1)
    after = models.UUIDField(null=True)
    rows = models.BigIntegerField(null=True)
    done = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Failures in a row.")
    error = models.CharField(max_length=100, blank=True, help_text="Its kind; the log has it all.")
    next_attempt_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    started_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-started_at"]
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                name="repair_next",
                condition=Q(finished_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return f"index of {self.workspace_id} to rules {self.version} ({self.state})"

    @property
    def state(self) -> str:
        if self.finished_at is not None:
            return self.State.DONE
        if self.error:
            return self.State.FAILING
        return self.State.RUNNING if self.done else self.State.WAITING

    @property
    def rest(self) -> int | None:
        """Rows still to be done; None until they are counted."""
        if self.finished_at is not None:
            return 0
        return None if self.rows is None else max(self.rows - self.done, 0)

    @property
    def rate(self) -> float:
        """Rows a second while it works."""
        return self.done / self.seconds if self.seconds else 0.0
