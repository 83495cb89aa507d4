"""Cases that wait for a person: one subject and one attribute, with all that was said of it; and
the marks that people put on what failed."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from django.db import connection, models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone

from memories.models.conversation import MemorySession
from memories.models.document import Document
from memories.models.fact import Fact
from memories.models.golden_question import GoldenQuestion
from memories.models.long_job import LongJob
from memories.models.memory import Memory
from workspaces.models import Membership, Row, Subject, Workspace
from workspaces.scope import Scope

AGEING = 30 * 86_400.0  # seconds in which waiting lifts a case as far as the highest risk does
SERVED_MOST, SERVED_HALF = (
    0.4,
    10,
)  # how far being served lifts a case; so often lifts it half as far
ADD_SERVED = f"""
with counted as (
  select i.case_id, max(t.often) as often
  from unnest(%(memories)s::uuid[], %(often)s::int4[]) as t(memory_id, often)
  join memories_caseitem i on i.memory_id = t.memory_id
  join memories_case c on c.id = i.case_id and c.state in ('open', 'snoozed')
  group by i.case_id
), taken as (
  select c.id, c.served, counted.often from memories_case c join counted on counted.case_id = c.id
  order by c.id for update of c
)
update memories_case c set served = t.served + t.often, rank = c.rank + {SERVED_MOST}
    * ((t.served + t.often) / (t.served + t.often + {SERVED_HALF}.0)
       - t.served / (t.served + {SERVED_HALF}.0))
from taken t where t.id = c.id
"""


class CaseQuerySet(models.QuerySet["Case"]):
    def visible_to(self, scope: Scope) -> Self:
        """Cases of which every item is seen; what somebody told the memory is for people and
        unbound keys alone."""
        rows = self.filter(workspace_id=scope.workspace_id)
        if scope.subject_ids is not None:
            rows = rows.filter(subject_id__in=scope.subject_ids)
        if not scope.is_bound and scope.container_tags is None:
            return rows
        memories, facts = Memory.objects.visible_to(scope), Fact.objects.visible_to(scope)
        seen = Exists(memories.filter(pk=OuterRef("memory_id"))) | Exists(facts.filter(pk=OuterRef("fact_id")))
        return rows.exclude(Exists(CaseItem.objects.filter(~seen, case=OuterRef("pk"))))

    def undecided(self) -> Self:
        return self.filter(state__in=Case.UNDECIDED)

    def with_work(self) -> Self:
        """Add how far a decision is that is being carried out: since when, of how many texts the
        words are gone, and of how many they go; None where none is."""
        own = LongJob.objects.filter(kind=LongJob.Kind.MASKING, item=OuterRef("pk"))
        since, done, total = (Subquery(own.values(name)[:1]) for name in ("created_at", "done", "total"))
        return self.annotate(work_since=since, work_done=done, work_total=total)

    def wake(self, now: datetime) -> int:
        """Open the cases again that were put off until now."""
        due = self.filter(state=Case.State.SNOOZED, snoozed_until__lte=now)
        return due.update(state=Case.State.OPEN, snoozed_until=None)


class Case(Row):
    """A case: all that waits to be decided about one attribute of one subject, decided together.

    `attribute` is the name of a single-valued attribute, or the category of the memories; `topic`
    tells two of one name apart (the home of the user, of her sister) and holds no words. `rank`
    orders cases by risk, raised the more they are served and the longer they wait. `served` counts
    the answers with one of its memories since it was opened. `steps` is what a decision did, by
    ids, so that it can be taken back. `version` grows whenever the case changes.
    """

    class Kind(models.TextChoices):
        CONTRADICTION = "contradiction"
        HELD = "held"
        QUARANTINE = "quarantine"
        UNCERTAIN = "uncertain"
        INTENT = "intent"

    class State(models.TextChoices):
        OPEN = "open"
        DECIDED = "decided"
        SNOOZED = "snoozed"

    UNDECIDED = (State.OPEN, State.SNOOZED)

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    attribute = models.CharField(max_length=60)
    topic = models.UUIDField()
    kind = models.CharField(max_length=13, choices=Kind)
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    risk = models.FloatField(default=0.0)
    rank = models.FloatField()
    served = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    assignee = models.ForeignKey(Membership, models.SET_NULL, null=True, related_name="+")
    snoozed_until = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True)
    note = models.TextField(blank=True)
    steps = models.JSONField(default=list)

    objects = CaseQuerySet.as_manager()

    class Meta:
        ordering = ["-rank", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "subject", "attribute", "topic"],
                name="case_once",
                condition=Q(state__in=["open", "snoozed"]),
                nulls_distinct=False,
            ),
            models.CheckConstraint(condition=Q(state="decided") ^ Q(decided_at=None), name="case_decided_when"),
            models.CheckConstraint(condition=Q(state="snoozed") ^ Q(snoozed_until=None), name="case_snoozed_until"),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "-rank", "-id"],
                name="case_waiting",
                condition=Q(state__in=["open", "snoozed"]),
            ),
            models.Index(fields=["workspace", "-id"], name="case_newest"),
        ]

    def __str__(self) -> str:
        of = f" of {self.attribute}" if self.attribute != self.kind else ""
        return f"{self.kind}{of} ({self.state})"

    @property
    def is_decided(self) -> bool:
        return self.state == self.State.DECIDED

    @property
    def risk_now(self) -> float:
        """The risk now, from 0 to 1: its own risk, how often it was served, and how long it has
        waited."""
        until = self.decided_at or timezone.now()
        waited = max((until - self.created_at).total_seconds(), 0.0)
        return round(min(self.risk + served_share(self.served) + waited / AGEING, 1.0), 3)


def served_share(served: int) -> float:
    """Return what being served so often adds to a case's risk: from 0 to SERVED_MOST."""
    return SERVED_MOST * served / (served + SERVED_HALF)


def rank_of(risk: float, since: datetime, served: int = 0) -> float:
    """Return the rank. Two cases keep their order while both grow older, so that the rank does not
    depend on the clock."""
    return risk + served_share(served) - since.timestamp() / AGEING


def add_served(often: Mapping[uuid.UUID, int]) -> None:
    """Count that memories were served so often: what waits about one of them is decided sooner."""
    with connection.cursor() as cursor:
        values: dict[str, list[Any]] = {"memories": list(often), "often": list(often.values())}
        cursor.execute(ADD_SERVED, values)


class CaseItem(models.Model):
    """A memory, a fact in quarantine or an intent that a case is about. `why` is the rule that
    brought it in; `at` is when it was said."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    case = models.ForeignKey(Case, models.CASCADE, related_name="items", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, null=True, related_name="case_items")
    fact = models.ForeignKey(Fact, models.CASCADE, null=True, related_name="case_items")
    intent = models.UUIDField(null=True)
    why = models.CharField(max_length=60, blank=True)
    at = models.DateTimeField()
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(memory__isnull=False, fact=None, intent=None)
                | Q(memory=None, fact__isnull=False, intent=None)
                | Q(memory=None, fact=None, intent__isnull=False),
                name="caseitem_of_one_thing",
            ),
            models.UniqueConstraint(
                fields=["case", "memory", "fact", "intent"],
                name="caseitem_once",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.why} in case {self.case_id}"


def topic_of(name: str) -> uuid.UUID:
    """Return the topic of a case from what tells it apart; the words cannot be read from it."""
    return uuid.uuid5(uuid.NAMESPACE_OID, name)


# What people said of something that failed: whose it is, until when it rests, that it may stay.


class FailureMark(Row):
    """A mark on a session or document that failed, or a golden question that got worse; exactly
    one.

    `left_as` is the failure that somebody left as it is: for a session or document the number of
    its claim, for a question its rank (0: not found). After a new failure the numbers differ, and
    it waits again.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    session = models.OneToOneField(MemorySession, models.CASCADE, null=True, related_name="failure_mark")
    document = models.OneToOneField(Document, models.CASCADE, null=True, related_name="failure_mark")
    question = models.OneToOneField(GoldenQuestion, models.CASCADE, null=True, related_name="failure_mark")
    assignee = models.ForeignKey(Membership, models.SET_NULL, null=True, related_name="+")
    snoozed_until = models.DateTimeField(null=True)
    left_as = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(session__isnull=False, document=None, question=None)
                | Q(session=None, document__isnull=False, question=None)
                | Q(session=None, document=None, question__isnull=False),
                name="failuremark_of_one_thing",
            )
        ]

    def __str__(self) -> str:
        return f"mark of {self.session_id or self.document_id or self.question_id}"
