"""Heads: small corrections of the judge, each learned from what people of one workspace decided."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from memories.models.named_row import AllOrNoneQuerySet
from workspaces.models import Row, Workspace


class JudgeHeadQuerySet(AllOrNoneQuerySet["JudgeHead"]):
    pass


class JudgeHead(Row):
    """A correction of the judge's answers about changes in one workspace; while it waits, the request to learn one.

    `base` is the name of the judge that it corrects and `version` the hash of its `weights`; both stand on each
    decision. `touches` are the decided touches that it learned from; once one of their rows is erased its weights are
    gone. `figures` compare it with the judge as it is shipped; `fell` names what it is worse in: it serves only where
    that is empty. `takes_over`: it serves as soon as it is learned, if nothing fell.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        READY = "ready"
        REFUSED = "refused"
        FAILED = "failed"
        SERVING = "serving"
        ENDED = "ended"
        ERASED = "erased"

    LEARNED: ClassVar = (State.READY, State.REFUSED, State.SERVING, State.ENDED)

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    base = models.CharField(max_length=80, blank=True)
    version = models.CharField(max_length=16, blank=True)
    weights = models.BinaryField(null=True)
    touches = ArrayField(models.BigIntegerField(), default=list)
    people = models.PositiveIntegerField(default=0)
    figures = models.JSONField(default=dict)
    fell = ArrayField(models.CharField(max_length=40), default=list)
    takes_over = models.BooleanField(default=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    requested_by = models.CharField(max_length=200)
    served_at = models.DateTimeField(null=True)

    objects = JudgeHeadQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace"], name="judge_head_waits_once", condition=Q(state="waiting")),
            models.UniqueConstraint(fields=["workspace"], name="judge_head_serves_once", condition=Q(state="serving")),
            models.CheckConstraint(
                condition=~Q(state="serving") | Q(weights__isnull=False, fell=[]),
                name="judge_head_serves_if_nothing_fell",
            ),
        ]

    @property
    def name(self) -> str:
        """The name that stands on its decisions."""
        return f"{self.base}+{self.version}"

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"
