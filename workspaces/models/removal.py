from django.db import models

from workspaces.models.base import Row


class WorkspaceRemoval(Row):
    """A workspace that is taken away with all its rows; when it is gone, the certificate of it.

    It has no foreign key, for it outlives the workspace, and names nothing of it but its id and
    its number in the index. The row is the queue: a claim holds until `lease_until`.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    OPEN = (State.WAITING, State.RUNNING)

    workspace_id = models.UUIDField(unique=True)
    number = models.IntegerField()
    requested_by = models.CharField(max_length=200)
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    plan = models.JSONField(default=dict)
    removed = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["due_at"],
                name="removal_due",
                condition=models.Q(state__in=["waiting", "running"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.workspace_id}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN
