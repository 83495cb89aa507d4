import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, models, transaction
from django.utils import timezone

from workspaces.models.workspace import Row, Workspace


class AuditEntry(Row):
    """One line per act: who did what to which row, before and after. Written by the verbs.

    A trigger of the database keeps lines as they are; `erasing_audit` is the one way around it.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="audit_entries")
    actor = models.CharField(max_length=200)
    action = models.CharField(max_length=60)
    target_kind = models.CharField(max_length=40)
    target_id = models.UUIDField()
    subject_id = models.UUIDField(null=True)
    reason = models.TextField(blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    # Thanks to it, a digest tells nobody the line's values once they and the salt are erased.
    salt = models.UUIDField(null=True, default=uuid.uuid4, editable=False)

    class Meta:
        verbose_name_plural = "audit entries"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="audit_newest"),
            models.Index(fields=["target_id"], name="audit_target"),
            # Decisions of people and programs, without the many lines of ingested data.
            models.Index(
                fields=["workspace", "action", "-id"],
                name="audit_acts",
                condition=~models.Q(action="ingest"),
            ),
            models.Index(
                fields=["subject_id"],
                name="audit_subject",
                condition=models.Q(subject_id__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.target_kind}"

    @staticmethod
    def line(workspace_id: uuid.UUID, actor: str, action: str, target: models.Model, **details: Any) -> "AuditEntry":
        """An unsaved line about `target`; details are subject_id, reason, before, after."""
        return AuditEntry(
            workspace_id=workspace_id,
            actor=actor,
            action=action,
            target_kind=target._meta.model_name or "",
            target_id=target.pk,
            **details,
        )


class AuditMark(models.Model):
    """The place of a line in its workspace's chain. It outlives the line's values: `values_hash` is
    over them and their salt, `mark` over the mark before, that hash and what is never erased."""

    line_id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    position = models.BigIntegerField()
    values_hash = models.BinaryField()
    mark = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "position"], name="audit_mark_once")]

    def __str__(self) -> str:
        return f"{self.position} {self.line_id}"


class AuditSeal(models.Model):
    """The newest place of a workspace's chain that the server signed. It has no foreign key, for it
    outlives the workspace.

    The serving role reads it, and renews it only by a function of the database, with a voucher and
    a higher `number`. With `is_ended` the lines may go: the workspace is being removed.
    """

    workspace_id = models.UUIDField(primary_key=True)
    number = models.BigIntegerField()
    position = models.BigIntegerField()
    mark = models.BinaryField()
    is_ended = models.BooleanField()
    signature = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.workspace_id}:{self.position}"


@contextmanager
def erasing_audit() -> Iterator[None]:
    """Allow changing and deleting lines within one transaction, where content is erased."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("set local memoryproject.erasing = 'on'")
        yield
        cursor.execute("set local memoryproject.erasing = 'off'")
