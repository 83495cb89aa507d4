"""What every row of the project has: an id that sorts by time, and two times."""

from django.db import models
from django.utils import timezone

from workspaces.ids import uuid7


class Row(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True, editable=False)

    class Meta:
        abstract = True
