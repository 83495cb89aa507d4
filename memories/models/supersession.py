"""The recorded decisions that one memory replaces another, and the chains of versions that they
make."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from django.db import connection, models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from memories.models.case import Case
from memories.models.memory import Memory, MemoryPeriod
from memories.models.memory_state import AsOf
from memories.models.touch import with_later_said
from workspaces.models import Row, Workspace
from workspaces.scope import Scope


class SupersessionQuerySet(models.QuerySet["Supersession"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to decisions of which `scope` sees both memories."""
        rows = self.filter(workspace_id=scope.workspace_id)
        if not scope.is_narrow:
            return rows
        seen = Memory.objects.visible_to(scope)
        return rows.filter(Exists(seen.filter(pk=OuterRef("old_id"))), Exists(seen.filter(pk=OuterRef("new_id"))))

    def with_memories(self, scope: Scope) -> Self:
        """Add both memories, the callers' own ids of these, and what `scope` sees of what was said later."""
        named = with_later_said(Memory.objects.with_names(), scope)
        return self.prefetch_related(models.Prefetch("old", queryset=named), models.Prefetch("new", queryset=named))


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
        """The state as people read it: keeping both rejects neither."""
        return self.KEPT_BOTH if self.is_kept_both else self.state

    @property
    def by_session(self) -> str:
        """The id of the session whose ingest decided it, "" where somebody else did."""
        kind, _, session = self.decided_by.partition(":")
        return session if kind == "session" else ""

    def __str__(self) -> str:
        return f"{self.rule} ({self.state})"


MEMBERS = """
with recursive older as (
  select %(id)s::uuid as id union
  select m.id from memories_memory m join older o on m.superseded_by_id = o.id),
newer as (
  select id from older union
  select m.superseded_by_id from memories_memory m join newer n on m.id = n.id
  where m.superseded_by_id is not null),
everything as (
  select id from newer union
  select m.id from memories_memory m join everything e on m.superseded_by_id = e.id)
select id from everything
"""


@dataclass(frozen=True, slots=True)
class Link:
    """A version, and the decision that put it in place of the one before."""

    memory: Memory
    supersession: Supersession | None


def versions_of(memory_id: uuid.UUID) -> list[uuid.UUID]:
    """Return the ids of all versions, in no order."""
    with connection.cursor() as cursor:
        cursor.execute(MEMBERS, {"id": memory_id})
        return [row[0] for row in cursor.fetchall()]


def chain(scope: Scope, memory_id: uuid.UUID, known_at: datetime | None = None) -> list[Link]:
    """Return the chain that a memory belongs to, as far as `scope` sees it, oldest version first.

    At `known_at` it ends with the version that was believed last then.
    """
    seen = Memory.objects.visible_to(scope).filter(pk__in=versions_of(memory_id))
    at = AsOf(known_at=known_at)
    seen = with_later_said(seen.with_names().as_known(at), scope, at)
    decisions = Supersession.objects.filter(state=Supersession.State.APPLIED)
    if known_at is not None:
        believed = MemoryPeriod.objects.filter(from_at__lte=known_at)
        seen = seen.filter(pk__in=believed.values("memory_id"))
        decisions = decisions.filter(decided_at__lte=known_at)
    versions = list(seen.order_by("version", "created_at", "pk"))
    by_new = {found.new_id: found for found in decisions.filter(new__in=versions).order_by("pk")}
    return [Link(memory, by_new.get(memory.pk)) for memory in versions]
