"""Rehearsals of the judge: what it makes of the messages of a week, for thresholds to be tried on."""

from django.db import models
from django.db.models import Q

from memories.models.named_row import AllOrNoneQuerySet
from workspaces.models import Row, Workspace


class JudgeRehearsalQuerySet(AllOrNoneQuerySet["JudgeRehearsal"]):
    pass


class JudgeRehearsal(Row):
    """The judge's probabilities for the newest `total` messages since `since`, of which `done` are looked through, the
    last of them `after`; while it waits, the request for them.

    `scores` are ids and places, and no words: what a message says is read from it. `model` is the judge's name.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        FAILED = "failed"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    requested_by = models.CharField(max_length=200)
    model = models.CharField(max_length=100, blank=True)
    since = models.DateTimeField()
    after = models.UUIDField(null=True)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    scores = models.JSONField(default=list)
    due_at = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)

    objects = JudgeRehearsalQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace"], name="judge_rehearsal_waits_once", condition=Q(state="waiting")
            )
        ]
        indexes = [models.Index(fields=["workspace", "-id"], name="judge_rehearsal_newest")]

    def __str__(self) -> str:
        return f"{self.done} of {self.total} ({self.state})"
