"""Words that were taken out of a row, kept aside."""

import uuid

from django.db import models
from django.db.models import F, Q

from memories.models.conversation import Episode
from memories.models.document import Document, Revision
from memories.models.fact import Fact
from memories.models.memory import Memory
from workspaces.models import Row, Workspace

# Words that were taken out of a row, so that no reader of it has to know; kept here to be put
# back.


class MaskedSpan(Row):
    """A masked span: in `place` of a row blocks stand from `start` to `end`, instead of `words`.

    `place` is a column with text, or one with JSON and a JSON pointer into it ("payload/output").
    Several masks may overlap: the words of a later one are then blocks where an older one lies.
    `cause` is the intent, the quarantined fact or the forgotten memory that it is for. Reading
    `words` writes an audit line.
    """

    class Kind(models.TextChoices):
        FORGOTTEN = "forgotten"
        SECRET = "secret"

    TARGETS = ("episode", "memory", "fact", "revision", "document")

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    episode = models.ForeignKey(Episode, models.CASCADE, null=True, related_name="masks")
    memory = models.ForeignKey(Memory, models.CASCADE, null=True, related_name="masks")
    fact = models.ForeignKey(Fact, models.CASCADE, null=True, related_name="masks")
    revision = models.ForeignKey(Revision, models.CASCADE, null=True, related_name="masks")
    document = models.ForeignKey(Document, models.CASCADE, null=True, related_name="masks")
    place = models.TextField(default="content")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    words = models.TextField()
    kind = models.CharField(max_length=9, choices=Kind)
    reason = models.CharField(max_length=200, blank=True)
    cause = models.UUIDField(null=True)

    class Meta:
        verbose_name = "masked span"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="mask_forward"),
            models.CheckConstraint(
                condition=Q(episode__isnull=False, memory=None, fact=None, revision=None, document=None)
                | Q(episode=None, memory__isnull=False, fact=None, revision=None, document=None)
                | Q(episode=None, memory=None, fact__isnull=False, revision=None, document=None)
                | Q(episode=None, memory=None, fact=None, revision__isnull=False, document=None)
                | Q(episode=None, memory=None, fact=None, revision=None, document__isnull=False),
                name="mask_of_one_row",
            ),
        ]
        indexes = [models.Index(fields=["workspace", "cause"], name="mask_cause")]

    def __str__(self) -> str:
        return f"{self.kind} {self.start}-{self.end}"

    @property
    def target_id(self) -> uuid.UUID:
        return next(pk for name in self.TARGETS if (pk := getattr(self, f"{name}_id")))

    @property
    def column(self) -> str:
        return self.place.split("/", 1)[0]

    @property
    def pointer(self) -> str:
        """The JSON pointer into the column; "" for a column of text."""
        return self.place[len(self.column) :]
