"""Erasures on demand, and the proof that the words are gone; what must not be erased for now,
because somebody may ask for it by law; words that were taken out of a row; and the acts of all
these that no backup takes back."""

import uuid
from typing import Self

from django.db import models
from django.db.models import F, Q

from memories.models.conversation_and_summaries import Episode
from memories.models.document import Document, Revision
from memories.models.fact import Fact
from memories.models.memory import Memory
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
        indexes = [
            models.Index(
                fields=["due_at"], name="erasure_due", condition=models.Q(due_at__isnull=False)
            )
        ]

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
            models.UniqueConstraint(
                fields=["subject"], name="legalhold_once", condition=Q(lifted_at=None)
            ),
            models.CheckConstraint(
                condition=Q(lifted_at=None) ^ ~Q(lifted_by=""), name="legalhold_lifted_by"
            ),
        ]

    def __str__(self) -> str:
        return f"hold on {self.subject_id}"


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
                condition=Q(
                    episode__isnull=False, memory=None, fact=None, revision=None, document=None
                )
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


class IrrevocableAct(models.Model):
    """An erasure, removal, forgetting or (un)masking, signed by the process that did it. It has no
    foreign key, because it outlives what it is about, and a restore takes no line away.

    `row` holds no words; `at` is by the database's clock. See `irrevocable.py`.
    """

    signature = models.CharField(max_length=64, primary_key=True)
    workspace_id = models.UUIDField(db_index=True)
    act = models.CharField(max_length=9)
    row = models.JSONField()
    at = models.CharField(max_length=40)

    def __str__(self) -> str:
        return f"{self.act} {self.at}"
