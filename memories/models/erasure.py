"""Erasures on demand with their proof, and legal holds against them."""

from typing import Self

from django.db import models
from django.db.models import Q

from workspaces.models import Row, Subject, Workspace
from workspaces.scope import Scope


class Erasure(Row):
    """One erasure: what was asked, what went, and how it was proved. It is the certificate that
    stays.

    It holds no content: `plan` and `removed` are counts by table, `proof` says what was looked
    for and where. `probes` are words of what goes, kept only until the proof has been made.
    """

    class Kind(models.TextChoices):
        SUBJECT = "subject"
        CONVERSATION = "conversation"
        EPISODE = "episode"
        DOCUMENT = "document"

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=12, choices=Kind)
    target_id = models.UUIDField()
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    requested_by = models.CharField(max_length=200)
    plan = models.JSONField(default=dict)
    removed = models.JSONField(default=dict)
    proof = models.JSONField(default=dict)
    probes = models.JSONField(default=list)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "kind", "target_id"],
                name="erasure_once_at_a_time",
                condition=models.Q(state__in=["waiting", "running"]),
            ),
            models.CheckConstraint(
                condition=~models.Q(state="done") | models.Q(probes=[]),
                name="erasure_keeps_no_words",
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="erasure_due", condition=models.Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.kind} {self.target_id} ({self.state})"

    @property
    def is_open(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING)


class LegalHoldQuerySet(models.QuerySet["LegalHold"]):
    def visible_to(self, scope: Scope) -> Self:
        return self.filter(workspace_id=scope.workspace_id)

    def in_force(self) -> Self:
        return self.filter(lifted_at=None)


class LegalHold(Row):
    """A legal hold: until it is lifted, nothing about `subject` is erased or pruned."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    subject = models.ForeignKey(Subject, models.CASCADE, related_name="holds")
    reason = models.CharField(max_length=500)
    placed_by = models.CharField(max_length=200)
    lifted_by = models.CharField(max_length=200, blank=True)
    lifted_at = models.DateTimeField(null=True)

    objects = LegalHoldQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["subject"], name="legalhold_once", condition=Q(lifted_at=None)),
            models.CheckConstraint(condition=Q(lifted_at=None) ^ ~Q(lifted_by=""), name="legalhold_lifted_by"),
        ]

    def __str__(self) -> str:
        return f"hold on {self.subject_id}"
