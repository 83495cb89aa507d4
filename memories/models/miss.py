"""Statements that no pattern found."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef

from memories.models.conversation import Episode, MemorySession
from memories.models.memory import Category
from workspaces.models import Row, Workspace
from workspaces.scope import Scope


class MissQuerySet(models.QuerySet["Miss"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to misses in episodes that `scope` sees."""
        heard = Episode.objects.visible_to(scope).filter(pk=OuterRef("episode_id"))
        return self.filter(Exists(heard), workspace_id=scope.workspace_id)


class Miss(Row):
    """A message in which no pattern fired, and the statements that it makes all the same.

    `category` is the likely one of a pattern that would find them, `shape` the frame of its
    sentence: misses that share both would be found by one pattern.
    """

    class FoundBy(models.TextChoices):
        LLM = "llm", "model"
        PERSON = "person"

    class State(models.TextChoices):
        OPEN = "open"
        DONE = "done"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    session = models.ForeignKey(MemorySession, models.SET_NULL, null=True, related_name="+")
    episode = models.ForeignKey(Episode, models.CASCADE, related_name="+")
    text = models.TextField()
    found_by = models.CharField(max_length=6, choices=FoundBy)
    statements = ArrayField(models.TextField())
    category = models.CharField(max_length=12, choices=Category, default=Category.OTHER)
    shape = models.CharField(max_length=120, blank=True, default="")
    state = models.CharField(max_length=4, choices=State, default=State.OPEN)
    note = models.TextField(blank=True)

    objects = MissQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "misses"
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["episode", "found_by"], name="miss_once")]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="miss_newest"),
            models.Index(fields=["workspace", "state", "category", "shape"], name="miss_likely"),
        ]

    def __str__(self) -> str:
        return self.text[:80]
