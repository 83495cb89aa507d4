"""Events that something changed: which row came into which state, and nothing of what it says.

Triggers write these rows with the change itself, in its transaction, whichever code makes it
(the migration change_events). Event streams and webhooks read them.
"""

from django.db import models
from django.utils import timezone

from workspaces.models import Workspace


class ChangeEvent(models.Model):
    """A change event. `item` is the id of a document, session, case or memory, by `kind`; `state`
    is its new state. `xid` is the transaction that wrote it: ids are given before a transaction
    commits, so an event with a lower id may become visible after one with a higher."""

    class Kind(models.TextChoices):
        DOCUMENT_STEP = "document.step"
        DOCUMENT_DONE = "document.done"
        DOCUMENT_FAILED = "document.failed"
        SESSION_DONE = "session.done"
        SESSION_FAILED = "session.failed"
        CASE_OPENED = "case.opened"
        CASE_DECIDED = "case.decided"
        CASE_SNOOZED = "case.snoozed"
        MEMORY_CHANGED = "memory.changed"

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    xid = models.BigIntegerField()
    kind = models.CharField(max_length=20, choices=Kind)
    item = models.UUIDField()
    state = models.CharField(max_length=12)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["workspace", "xid"], name="change_event_new")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.state}"

    @property
    def subject(self) -> str:
        """The kind of row that `item` is."""
        return self.kind.partition(".")[0]
