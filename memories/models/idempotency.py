from django.db import models
from django.db.models import Q

from workspaces.models import Row, Workspace


class IdempotentAnswer(Row):
    """What a POST with an `Idempotency-Key` answered. Without a status it is not answered yet: the
    request runs until `lease_until`, which it renews; `claims` numbers those that ran."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    asker = models.CharField(max_length=200)
    key = models.CharField(max_length=255)
    request_digest = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    expires_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "asker", "key"], name="idempotent_once"),
            models.CheckConstraint(
                condition=Q(status=None) | Q(body__isnull=False), name="idempotent_answer_whole"
            ),
        ]
        indexes = [models.Index(fields=["expires_at"], name="idempotent_expiry")]
