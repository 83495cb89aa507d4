"""The recorded decisions that two subjects are one."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from workspaces.models import Row, Subject, Workspace

# Two subjects that became one, or one of which a part became another's, and what has to go back
# when that was a mistake.


class SubjectMerge(Row):
    """A merge of subjects: `source` was merged into `target`; `undone_at` says that they are two
    again.

    `batch` is the act by which the features of the source's own set ended. `is_split`: only chosen
    rows of it went over, and it keeps the rest.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    source = models.ForeignKey(Subject, models.CASCADE, related_name="+")
    target = models.ForeignKey(Subject, models.CASCADE, related_name="+")
    merged_by = models.CharField(max_length=200)
    batch = models.UUIDField()
    undone_at = models.DateTimeField(null=True)
    is_split = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=~models.Q(source=models.F("target")), name="merge_of_two")]

    def __str__(self) -> str:
        did = "partly moved to" if self.is_split else "merged into"
        return f"{self.source} {did} {self.target}"

    def ids(self, kind: str) -> list[uuid.UUID]:
        """Return the rows of that kind which went over."""
        found = self.moved.filter(kind=kind).values_list("ids", flat=True).first()
        return list(found or [])


class MergedRows(models.Model):
    """The rows of one kind that went over in a merge."""

    pk = models.CompositePrimaryKey("merge", "kind")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    merge = models.ForeignKey(SubjectMerge, models.CASCADE, related_name="moved", db_index=False)
    kind = models.CharField(max_length=40)
    ids = ArrayField(models.UUIDField())
