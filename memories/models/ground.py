"""What a memory rests on: where that ends, nobody knows whether the memory holds."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from memories.models.memory import Memory
from workspaces.models import Workspace


class GroundQuerySet(models.QuerySet["Ground"]):
    def ended(self) -> "GroundQuerySet":
        """Those whose ground is live no more, and of which nobody has said that this is no
        matter."""
        over = Q(on__is_head=False) | Q(on__forget_after__lte=Now())
        return self.filter(over, kept_at=None)


class Ground(models.Model):
    """`memory` rests on another one. `words` is how it says so ("because", "near: flat"), of a list
    of ours. `kept_at`: since when a person says that it holds whatever becomes of that."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="grounds", db_index=False)
    on = models.ForeignKey(Memory, models.CASCADE, related_name="dependants", db_index=False)
    words = models.CharField(max_length=40)
    made_at = models.DateTimeField(default=timezone.now)
    kept_at = models.DateTimeField(null=True)

    objects = GroundQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(memory=F("on")), name="ground_is_another")
        ]
        indexes = [
            models.Index(fields=["memory"], name="ground_memory"),
            models.Index(fields=["on"], name="ground_on"),
        ]

    def __str__(self) -> str:
        return f"{self.words}: {self.memory_id} rests on {self.on_id}"
