"""Recorded decisions: which memory took the place of which, why, and who said so."""

from typing import Self

from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from memories.models.case import Case
from memories.models.memory import Memory
from workspaces.models import Row, Workspace
from workspaces.scope import Scope


class SupersessionQuerySet(models.QuerySet["Supersession"]):
    def visible_to(self, scope: Scope) -> Self:
        """Decisions of which both memories are seen."""
        rows = self.filter(workspace_id=scope.workspace_id)
        if not scope.is_bound and scope.subject_ids is None:
            return rows
        seen = Memory.objects.visible_to(scope)
        return rows.filter(
            Exists(seen.filter(pk=OuterRef("old_id"))), Exists(seen.filter(pk=OuterRef("new_id")))
        )

    def with_memories(self) -> Self:
        """With both memories, and the callers' own ids of these."""
        named = Memory.objects.with_names()
        return self.prefetch_related(
            models.Prefetch("old", queryset=named), models.Prefetch("new", queryset=named)
        )


class Supersession(Row):
    """The recorded decision that one memory replaces another.

    `waited`: a person was asked, and decided it. `case`: where it waits, or was decided.
    """

    class State(models.TextChoices):
        APPLIED = "applied"
        PENDING = "pending"
        REJECTED = "rejected"
        UNDONE = "undone"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    old = models.ForeignKey(Memory, models.CASCADE, related_name="replaced_through")
    new = models.ForeignKey(Memory, models.CASCADE, related_name="replaces_through")
    similarity = models.FloatField(null=True)
    # Of whose vectors `similarity` is the cosine.
    model = models.CharField(max_length=250, blank=True, default="", db_default="")
    rule = models.CharField(max_length=40)
    method = models.CharField(max_length=20, blank=True)
    state = models.CharField(max_length=8, choices=State)
    decided_by = models.CharField(max_length=200)
    decided_at = models.DateTimeField(default=timezone.now)
    note = models.TextField(blank=True)
    waited = models.BooleanField(default=False, db_default=False)
    case = models.ForeignKey(Case, models.SET_NULL, null=True, related_name="pairs")

    KEPT_BOTH = "kept both"  # the note of a rejection that left both memories live

    objects = SupersessionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=~Q(old=F("new")), name="supersession_of_another"),
            models.UniqueConstraint(
                fields=["old"],
                name="supersession_applied_once",
                condition=Q(state="applied"),
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "-id"],
                name="supersession_pending",
                condition=Q(state="pending"),
            ),
            models.Index(
                fields=["workspace", "-decided_at"],
                name="supersession_decided",
                condition=~Q(state="pending"),
            ),
        ]

    @property
    def is_kept_both(self) -> bool:
        return self.state == self.State.REJECTED and self.note == self.KEPT_BOTH

    @property
    def outcome(self) -> str:
        """The state as people read it: keeping both says no to neither."""
        return self.KEPT_BOTH if self.is_kept_both else self.state

    @property
    def by_session(self) -> str:
        """The id of the session whose ingest came to it, "" where somebody else decided."""
        kind, _, session = self.decided_by.partition(":")
        return session if kind == "session" else ""

    def __str__(self) -> str:
        return f"{self.rule} ({self.state})"
