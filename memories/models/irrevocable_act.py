"""Acts of erasing, forgetting and masking that no backup takes back."""

from django.db import models


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
