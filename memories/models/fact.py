"""What we read out of episodes: facts, and the words each stands on."""

import uuid
from collections.abc import Iterable
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Window
from django.db.models.functions import RowNumber

from memories.models.conversation import Episode, MemorySession, Visibility, recorded_for
from memories.models.memory import Category, FactType, Memory
from memories.models.names import NamedQuerySet
from workspaces.models import Agent, Row, Subject, Workspace
from workspaces.scope import Scope


class FactQuerySet(NamedQuerySet["Fact"]):
    def visible_to(self, scope: Scope) -> Self:
        """Facts follow their episodes: all that a fact cites must be seen."""
        rows = self.filter(recorded_for(scope))
        if not scope.is_bound and scope.subject_ids is None:
            return rows
        heard = Episode.objects.visible_to(scope)
        beyond = Citation.objects.filter(fact=OuterRef("pk")).exclude(
            Exists(heard.filter(pk=OuterRef("episode_id")))
        )
        return rows.exclude(Exists(beyond))

    def newest_of(self, memories: Iterable[uuid.UUID], most: int) -> Self:
        """Up to `most` facts under each of the memories, the newest first."""
        place = Window(RowNumber(), partition_by=F("memory_id"), order_by=F("pk").desc())
        rows = self.filter(memory__in=list(memories)).alias(place=place)
        return rows.filter(place__lte=most).order_by("-pk")


class Fact(Row):
    """One claim as extracted. Without a memory it is in quarantine or was rejected before."""

    class Method(models.TextChoices):
        PATTERN = "pattern"
        LLM = "llm"
        WHOLE = "whole"
        MANUAL = "manual"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(MemorySession, models.CASCADE, null=True, related_name="facts")
    memory = models.ForeignKey(Memory, models.CASCADE, null=True, related_name="facts")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    statement = models.TextField()
    category = models.CharField(max_length=12, choices=Category, default=Category.OTHER)
    fact_type = models.CharField(max_length=10, choices=FactType, blank=True)
    confidence = models.FloatField(default=1.0)
    method = models.CharField(max_length=8, choices=Method)
    rule = models.CharField(max_length=200, blank=True)
    entities = ArrayField(models.CharField(max_length=255), default=list)
    visibility = models.CharField(max_length=7, choices=Visibility)
    event_date = models.DateTimeField(null=True)
    quarantined_at = models.DateTimeField(null=True)
    quarantine_reason = models.TextField(blank=True)

    objects = FactQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="fact_confidence_range"
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="fact_newest"),
            models.Index(
                fields=["workspace"],
                name="fact_quarantined",
                condition=Q(quarantined_at__isnull=False),
            ),
            GinIndex(fields=["entities"], name="fact_entities"),
        ]

    def __str__(self) -> str:
        return self.statement[:80]


class Citation(models.Model):
    """The span a fact stands on: `quote` is `episode.content[start:end]`, checked when written."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    fact = models.ForeignKey(Fact, models.CASCADE, related_name="citations", db_index=False)
    episode = models.ForeignKey(Episode, models.CASCADE, related_name="citations")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="citation_span_forward"),
            models.UniqueConstraint(
                fields=["fact", "episode", "start", "end"], name="citation_once"
            ),
        ]

    def __str__(self) -> str:
        return self.quote[:80]


class Miss(Row):
    """A message in which no pattern fired, and the statements that stand in it all the same.

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
