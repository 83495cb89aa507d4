"""Two subjects that became one, and what has to go back when that was a mistake."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from workspaces.models import Row, Subject, Workspace


class SubjectMerge(Row):
    """`source` was merged into `target`; `undone_at` says that they are two again.

    `batch` is the act by which the features of the source's own set ended.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    source = models.ForeignKey(Subject, models.CASCADE, related_name="+")
    target = models.ForeignKey(Subject, models.CASCADE, related_name="+")
    merged_by = models.CharField(max_length=200)
    batch = models.UUIDField()
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(source=models.F("target")), name="merge_of_two"
            )
        ]

    def __str__(self) -> str:
        return f"{self.source} merged into {self.target}"

    def ids(self, kind: str) -> list[uuid.UUID]:
        """The rows of that kind which went over."""
        found = self.moved.filter(kind=kind).values_list("ids", flat=True).first()
        return list(found or [])


class MergedRows(models.Model):
    """Which rows of one kind went over in a merge."""

    pk = models.CompositePrimaryKey("merge", "kind")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    merge = models.ForeignKey(SubjectMerge, models.CASCADE, related_name="moved", db_index=False)
    kind = models.CharField(max_length=40)
    ids = ArrayField(models.UUIDField())
