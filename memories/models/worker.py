"""Who does the background work, and when each was last seen."""

import uuid

from django.db import models


class WorkerBeat(models.Model):
    """A process that runs tasks or sweeps. It writes `seen_at` every few seconds, by the database's
    clock, and takes its row away when it ends in order."""

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
