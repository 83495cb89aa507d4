"""How often models were asked, for their daily caps."""

import uuid
from datetime import date

from django.db import connection, models

from workspaces.models import Workspace

# Counting and the check are one statement: two workers cannot both take the last call.
TAKE = """
insert into memories_extractoruse (workspace_id, extractor, day, calls)
values (%(workspace)s, %(extractor)s, %(day)s, 1)
on conflict (workspace_id, extractor, day) do update
set calls = memories_extractoruse.calls + 1
where %(cap)s::int8 is null or memories_extractoruse.calls < %(cap)s::int8
"""


class ExtractorUseQuerySet(models.QuerySet["ExtractorUse"]):
    def take(self, workspace_id: uuid.UUID, extractor: str, day: date, cap: int | None) -> bool:
        """Count one more call of that day; False, and nothing counted, where `cap` is reached."""
        if cap is not None and cap <= 0:
            return False
        with connection.cursor() as cursor:
            cursor.execute(
                TAKE, {"workspace": workspace_id, "extractor": extractor, "day": day, "cap": cap}
            )
            return cursor.rowcount == 1


class ExtractorUse(models.Model):
    """Calls of one extractor by one workspace on one day, in UTC."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    extractor = models.CharField(max_length=300)
    day = models.DateField()
    calls = models.PositiveIntegerField(default=0)

    objects = ExtractorUseQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "extractor use"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "extractor", "day"], name="extractor_use_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.extractor} {self.day}: {self.calls}"
