"""Questions with known answers, and how searches did with them."""

from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from memories.models.conversation import Conversation
from memories.models.named_row import AllOrNoneQuerySet
from workspaces.models import Agent, Row, Subject, Workspace


class GoldenQuestionQuerySet(AllOrNoneQuerySet["GoldenQuestion"]):
    def with_names(self) -> Self:
        return self.select_related("subject", "agent", "conversation")


class GoldenQuestion(Row):
    """A search, and what has to stand among its first hits: one of these memories (or the version
    that replaced it) or episodes, or a text with all of these words.

    `rank` is the place of the answer when it was looked for last, from 1; None: not among them.
    `in_context` is whether a context of the usual length held it; None: nobody looked. If the
    question got worse and has not recovered, `worse_since` tells when, and `rank_before` and
    `in_context_before` how it had done.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.CASCADE, null=True, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")
    query = models.TextField()
    layers = ArrayField(models.CharField(max_length=20), default=list)
    memory_ids = ArrayField(models.UUIDField(), default=list)
    episode_ids = ArrayField(models.UUIDField(), default=list)
    answer = models.CharField(max_length=500, blank=True)
    created_by = models.CharField(max_length=200)
    rank = models.PositiveSmallIntegerField(null=True)
    checked_at = models.DateTimeField(null=True)
    in_context = models.BooleanField(null=True)
    rank_before = models.PositiveSmallIntegerField(null=True)
    in_context_before = models.BooleanField(null=True)
    worse_since = models.DateTimeField(null=True)

    objects = GoldenQuestionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["workspace"], name="golden_question_workspace")]
        constraints = [
            models.CheckConstraint(
                condition=~Q(memory_ids=[]) | ~Q(episode_ids=[]) | ~Q(answer=""),
                name="golden_question_expects",
            )
        ]

    def __str__(self) -> str:
        return self.query[:80]


class GoldenRunQuerySet(AllOrNoneQuerySet["GoldenRun"]):
    pass


class GoldenRun(Row):
    """A run of a workspace's golden questions: how they did under what held before and under
    `changed`, or, for a run without a change, when they were looked at last and now.

    `results` are `{"question", "before", "after", "kept_before", "kept_after"}`: ranks from 1 or
    null, and whether the context held the answer. The means are of the share that is found and of
    1 / rank.
    """

    class Cause(models.TextChoices):
        HAND = "hand"
        SCHEDULE = "schedule"
        SETTINGS = "settings"
        MODEL = "model"
        JUDGE = "judge"

    class Outcome(models.TextChoices):
        FINE = "fine"
        WORSE = "worse"
        REFUSED = "refused"
        ANYWAY = "anyway"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    cause = models.CharField(max_length=10, choices=Cause)
    outcome = models.CharField(max_length=10, choices=Outcome)
    changed = ArrayField(models.CharField(max_length=200), default=list)
    requested_by = models.CharField(max_length=200)
    results = models.JSONField(default=list)
    found_before = models.FloatField()
    found_after = models.FloatField()
    mean_before = models.FloatField()
    mean_after = models.FloatField()

    objects = GoldenRunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["workspace", "created_at"], name="golden_run_by_time")]

    def __str__(self) -> str:
        return f"{self.cause}: {self.outcome}"

    def count(self, which: str) -> int:
        """Count the questions that became `better` or `worse`, or stayed the `same`."""
        return sum(change_of(each) == which for each in self.results)

    @property
    def better(self) -> int:
        return self.count("better")

    @property
    def worse(self) -> int:
        return self.count("worse")


NOWHERE = 1000  # a rank behind all others


def is_lost(result: dict[str, Any]) -> bool:
    """Tell whether a context held the answer, and holds it no more."""
    return bool(result.get("kept_before")) and not result.get("kept_after")


def change_of(result: dict[str, Any]) -> str:
    """Return better, worse or same for a line of `results`: what a context lost is worse, whatever
    its place among the hits."""
    before, after = (result[name] or NOWHERE for name in ("before", "after"))
    if is_lost(result):
        return "worse"
    if before == after:
        is_gained = result.get("kept_before") is False and bool(result.get("kept_after"))
        return "better" if is_gained else "same"
    return "better" if after < before else "worse"
