"""Touches: that a later message speaks about what a memory says, and what it says of it."""

from typing import Self

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Prefetch, Q, Value, When, Window
from django.db.models.functions import RowNumber, Substr
from django.utils import timezone

from memories.models.conversation import Episode
from memories.models.memory import Memory, MemoryQuerySet
from memories.models.memory_state import DOUBTS, NOW, AsOf
from workspaces.models import Workspace
from workspaces.scope import Scope

SAMPLED = 0.01  # share of what the judge decides that a person is asked about, however sure it is
MOST_SAID = 5  # later messages that are told beside a memory
QUOTE = Substr("episode__content", F("start") + 1, F("end") - F("start"))


class TouchQuerySet(models.QuerySet["Touch"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to touches by messages that `scope` sees; whoever asks has the memories already."""
        heard = Episode.objects.visible_to(scope).filter(pk=OuterRef("episode_id"))
        return self.filter(Exists(heard), workspace_id=scope.workspace_id)

    def newest(self, most: int = MOST_SAID) -> Self:
        """Narrow to up to `most` touches of each memory, the newest first, each with its `quote`. What
        questions or limits a memory is told before what only adds to it."""
        weighs = Case(When(relation__in=[*DOUBTS, Touch.Relation.EXCEPTION], then=Value(0)), default=Value(1))
        place = Window(RowNumber(), partition_by=F("memory_id"), order_by=[weighs, F("said_at").desc()])
        rows = self.alias(place=place).filter(place__lte=most)
        named = rows.annotate(quote=QUOTE, external_id=F("episode__external_id"), occurred_at=F("episode__occurred_at"))
        return named.order_by("-said_at", "-pk")


def with_later_said(rows: MemoryQuerySet, scope: Scope, at: AsOf = NOW) -> MemoryQuerySet:
    """Add `later_said` to memories: the touches that `scope` sees, by one more statement."""
    seen = Touch.objects.visible_to(scope)
    if at.known_at is not None:
        seen = seen.filter(made_at__lte=at.known_at)
    if at.said_before is not None:
        seen = seen.filter(episode__occurred_at__lte=at.said_before)
    return rows.prefetch_related(Prefetch("touches", seen.newest(), to_attr="later_said"))


class Touch(models.Model):
    """A touch: from `start` to `end` of its content `episode` speaks about what `memory` says, and was
    said after it. No words are copied: a quote is cut out of the episode when it is read.

    `said_at` is the episode's time that counts (`Episode.believed_at`). `probability` is that of the
    relation, by whoever decided it: `by`, of a `model` where it is one. Undecided (`decided_at` null)
    it waits for the judge, `attempts` times at most. An exception holds until `until`, if that is known.
    `draw` is a random number from 0 to 1 that the judge's decision was given: below SAMPLED a person is
    asked about it, however sure the judge is.
    Of what the judge is not sure of, a language model was asked `model_attempts` times, last at `asked_at`.
    """

    class Relation(models.TextChoices):
        RESTATES = "restates"
        ADDS = "adds"
        EXCEPTION = "exception"
        REPLACES = "replaces"
        ENDS = "ends"
        UNSURE = "unsure"

    class By(models.TextChoices):
        RULE = "rule"
        JUDGE = "judge"
        MODEL = "model"
        PERSON = "person"

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="touches", db_index=False)
    episode = models.ForeignKey(Episode, models.CASCADE, related_name="touches")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    said_at = models.DateTimeField()
    relation = models.CharField(max_length=9, choices=Relation)
    probability = models.FloatField()
    by = models.CharField(max_length=6, choices=By)
    model = models.CharField(max_length=100, blank=True, default="", db_default="")
    until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    made_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=200, blank=True, default="", db_default="")
    draw = models.FloatField(null=True)
    model_attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    asked_at = models.DateTimeField(null=True)

    objects = TouchQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "touches"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["memory", "episode"], name="touch_once"),
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="touch_span_forward"),
            models.CheckConstraint(condition=Q(probability__gte=0, probability__lte=1), name="touch_probability_range"),
        ]
        indexes = [
            models.Index(
                fields=["memory", "said_at"],
                name="touch_doubt",
                condition=Q(relation__in=DOUBTS),
            ),
            models.Index(fields=["workspace", "id"], name="touch_due", condition=Q(decided_at=None)),
            models.Index(fields=["workspace", "id"], name="touch_by_person", condition=Q(by="person")),
            models.Index(fields=["workspace", "draw"], name="touch_sampled", condition=Q(draw__lt=SAMPLED, by="judge")),
            models.Index(
                fields=["workspace", "-decided_at"],
                name="touch_unsure",
                condition=Q(by="judge", relation__in=DOUBTS),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.relation} ({self.by})"
