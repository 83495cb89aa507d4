"""What people said of something that failed: whose it is, until when it rests, that it may stay."""

from django.db import models
from django.db.models import Q

from memories.models.conversation import MemorySession
from memories.models.document import Document
from memories.models.golden import GoldenQuestion
from workspaces.models import Membership, Row, Workspace


class FailureMark(Row):
    """Of a session or document that failed, or a golden question that got worse; exactly one.

    `left_as` is the failure that somebody left as it is: of a session or document the number of its
    claim, of a question its rank (0: not found). Where it fails anew the numbers differ, and it
    waits again.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    session = models.OneToOneField(
        MemorySession, models.CASCADE, null=True, related_name="failure_mark"
    )
    document = models.OneToOneField(
        Document, models.CASCADE, null=True, related_name="failure_mark"
    )
    question = models.OneToOneField(
        GoldenQuestion, models.CASCADE, null=True, related_name="failure_mark"
    )
    assignee = models.ForeignKey(Membership, models.SET_NULL, null=True, related_name="+")
    snoozed_until = models.DateTimeField(null=True)
    left_as = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(session__isnull=False, document=None, question=None)
                | Q(session=None, document__isnull=False, question=None)
                | Q(session=None, document=None, question__isnull=False),
                name="failuremark_of_one_thing",
            )
        ]

    def __str__(self) -> str:
        return f"mark of {self.session_id or self.document_id or self.question_id}"
