"""Memories, the periods in which we believed them, and what was rejected."""

import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Least

from memories.models.conversation import Conversation, MemoryScope, Visibility
from memories.models.memory_state import (
    BELIEVED_IDS,
    IS_HEAD,
    QUESTIONED_SQL,
    STANDING_SQL,
    UNCERTAIN_SQL,
    AsOf,
    MemoryState,
    Standing,
    expired_memories,
    has_expired,
    held_memories,
    unexpired_memories,
)
from memories.models.named_row import NamedQuerySet
from workspaces.models import Agent, Row, Subject, Workspace
from workspaces.scope import Scope

# The ids of memories that were read out of documents alone, of which none stands in `spaces`. A
# version that a person wrote cites nothing: it is what the version before it is.
OF_OTHER_SPACES = """
with recursive elsewhere (id) as (
  select f.memory_id
  from memories_fact f join memories_citation ci on ci.fact_id = f.id
  left join memories_revision r on r.id = ci.revision_id
  left join memories_documentspace ds on ds.document_id = r.document_id
  left join memories_space sp on sp.id = ds.space_id
  where f.workspace_id = %(tenant)s::uuid and f.memory_id is not null
  group by f.memory_id
  having bool_and(ci.revision_id is not null
                  and coalesce(sp.container_tag <> all(%(spaces)s::text[]), true))
  union
  select m.superseded_by_id from elsewhere e join memories_memory m on m.id = e.id
  where m.superseded_by_id is not null and not exists (
    select 1 from memories_fact f join memories_citation ci on ci.fact_id = f.id
    where f.memory_id = m.superseded_by_id))
select id from elsewhere"""


class FactType(models.TextChoices):
    FACT = "fact"
    PREFERENCE = "preference"
    EVENT = "event"
    PROFILE = "profile"
    SYSTEM = "system"


class Category(models.TextChoices):
    PREFERENCE = "preference"
    IDENTITY = "identity"
    RELATIONSHIP = "relationship"
    POSSESSION = "possession"
    PLAN = "plan"
    TEMPORAL = "temporal"
    POLICY = "policy"
    TECHNOLOGY = "technology"
    DECISION = "decision"
    INSTRUCTION = "instruction"
    OTHER = "other"


def is_wish(fact_type: str, category: str) -> bool:
    """Tell whether a memory is what somebody asks of an assistant once and for all."""
    return fact_type == FactType.SYSTEM or category == Category.INSTRUCTION


class Source(models.TextChoices):
    MANUAL = "manual"
    EXTRACTED = "extracted"
    INGESTED = "ingested"


def seen_by(scope: Scope) -> Q:
    """Return the condition for rows of a visible kind that `scope` sees: agent and visibility,
    subjects, workspace."""
    allowed = Q(workspace_id=scope.workspace_id)
    if scope.subject_ids is not None:
        allowed &= Q(subject_id__in=scope.subject_ids)
    if scope.is_bound:
        team = Q(agent_id__in=scope.team_agent_ids)
        if scope.in_default_team:
            team |= Q(agent_id=None)
        allowed &= (
            Q(visibility=Visibility.GLOBAL)
            | Q(visibility=Visibility.TEAM) & team
            | Q(visibility=Visibility.PRIVATE, agent_id=scope.agent_id)
        )
    return allowed


def about_nobody(scope: Scope) -> Q:
    """Return the condition for rows that go beside those about a subject: they are about nobody in
    particular, and no agent keeps them to itself. For those bound to an agent `seen_by` says so
    already."""
    nobody = Q(subject=None)
    return nobody if scope.is_bound else nobody & (~Q(visibility=Visibility.PRIVATE) | Q(agent=None))


class NamedSQL(RawSQL):
    """A text with parameters by name: each is passed as often as the text names it."""

    def __init__(self, sql: str, values: Mapping[str, object]) -> None:
        names = re.findall(r"%\((\w+)\)s", sql)
        super().__init__(re.sub(r"%\(\w+\)s", "%s", sql), [values[name] for name in names])


def _of_table(sql: str) -> str:
    """Return a condition over `m` as one over the table of a queryset."""
    return re.sub(r"\bm\.", "memories_memory.", sql)


def memories_seen_by(scope: Scope) -> Q:
    """Return `seen_by`; for a key that is limited to spaces, without what other documents alone
    say."""
    if scope.container_tags is None:
        return seen_by(scope)
    values = {"tenant": scope.workspace_id, "spaces": list(scope.container_tags)}
    return seen_by(scope) & ~Q(pk__in=NamedSQL(OF_OTHER_SPACES, values))


class MemoryQuerySet(NamedQuerySet["Memory"]):
    def visible_to(self, scope: Scope) -> Self:
        return self.filter(memories_seen_by(scope))

    def with_names(self) -> Self:
        """Add names as other rows do, `standing`, and `is_uncertain`: whether something that it rests
        on has ended."""
        uncertain = RawSQL(_of_table(UNCERTAIN_SQL), (), models.BooleanField())
        standing = RawSQL(_of_table(STANDING_SQL), (), models.CharField())
        return super().with_names().annotate(is_uncertain=uncertain, standing=standing)

    def in_standing(self, standing: Standing) -> Self:
        """Narrow to memories of a standing; see memories.models.memory_state."""
        if standing is Standing.PAST:
            return self.ended()
        questioned = RawSQL(_of_table(QUESTIONED_SQL), (), models.BooleanField())
        return self.live().alias(questioned=questioned).filter(questioned=standing is Standing.QUESTIONED)

    def as_known(self, at: AsOf) -> Self:
        """Add what was known then: known_valid_until and others; see
        memories.models.memory_state."""
        columns = {
            f"known_{name}": NamedSQL(sql.replace("row.", "memories_memory."), at.values)
            for name, sql in at.columns.items()
        }
        return self.annotate(**columns)

    def live(self) -> Self:
        """Narrow to heads that have not expired; see memories.models.memory_state."""
        return self.filter(unexpired_memories(), is_head=True)

    def in_state(self, state: MemoryState) -> Self:
        """Narrow to memories in a state; one that was superseded and then forgotten is in both."""
        match state:
            case MemoryState.LIVE:
                return self.live()
            case MemoryState.SUPERSEDED:
                return self.filter(superseded_by__isnull=False)
            case MemoryState.FORGOTTEN:
                return self.filter(forgotten_at__isnull=False)
            case MemoryState.HELD:
                return self.filter(held_memories())
            case MemoryState.EXPIRED:
                return self.filter(expired_memories(), is_head=True)

    def unsupported(self) -> Self:
        """Narrow to heads that stand on nothing but what a document does not say any more."""
        lost = self.filter(is_head=True, source_count=0, facts__withdrawn_at__isnull=False)
        return lost.distinct()

    def ended(self) -> Self:
        """Narrow to memories that are not live."""
        return self.filter(Q(is_head=False) | expired_memories())

    def believed(self, workspace_id: uuid.UUID, at: AsOf) -> Self:
        """Narrow to memories that were believed, and true, at an instant; see
        memories.models.memory_state."""
        if at.is_now:
            return self.live()
        return self.filter(
            pk__in=NamedSQL(BELIEVED_IDS.format(believed=at.believed), {"workspace": workspace_id, **at.values})
        )


class Memory(Row):
    """A memory is what we believe: one version of one atomic statement. Its content never changes
    in place.

    `held_at` is set while a person has to say whether it may become live.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="memories", db_index=False)
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")
    workflow = models.CharField(max_length=255, blank=True)
    scope = models.CharField(max_length=8, choices=MemoryScope, default=MemoryScope.USER)
    content = models.TextField()
    fingerprint = models.BinaryField(max_length=16, editable=False)
    slots = ArrayField(
        models.BigIntegerField(),
        default=list,
        editable=False,
        help_text="Keys of the single-valued attributes that it tells; see index.slots.",
    )
    entities = ArrayField(models.CharField(max_length=255), default=list, blank=True)
    fact_type = models.CharField(max_length=10, choices=FactType, blank=True)
    category = models.CharField(max_length=12, choices=Category, default=Category.OTHER)
    source = models.CharField(max_length=9, choices=Source, default=Source.MANUAL)
    confidence = models.FloatField(default=1.0)
    visibility = models.CharField(max_length=7, choices=Visibility, default=Visibility.PRIVATE)
    event_date = models.DateTimeField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)
    valid_until_at = models.DateTimeField(
        null=True, editable=False, help_text="When its end became known, if it was not at once."
    )
    ended_by = models.UUIDField(null=True, editable=False, help_text="The memory that tells its end: a plan, for one.")
    superseded_by = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        related_name="supersedes",
        editable=False,
        db_index=False,
    )
    superseded_at = models.DateTimeField(null=True, editable=False)
    version = models.PositiveIntegerField(default=1)
    is_inference = models.BooleanField(default=False)
    source_count = models.PositiveIntegerField(default=0)
    pinned = models.BooleanField(default=False)
    held_at = models.DateTimeField(null=True, editable=False)
    forgotten_at = models.DateTimeField(null=True, editable=False)
    forget_after = models.DateTimeField(null=True, blank=True)
    forget_reason = models.TextField(blank=True)
    is_head = models.GeneratedField(
        expression=models.ExpressionWrapper(IS_HEAD, models.BooleanField()),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    metadata = models.JSONField(default=dict)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(confidence__gte=0, confidence__lte=1), name="memory_confidence_range"),
            models.CheckConstraint(
                condition=~Q(scope=MemoryScope.THREAD) | Q(conversation__isnull=False),
                name="memory_thread_has_conversation",
            ),
            models.CheckConstraint(
                condition=~Q(scope=MemoryScope.WORKFLOW) | ~Q(workflow=""),
                name="memory_workflow_is_named",
            ),
            models.CheckConstraint(condition=~Q(superseded_by=F("id")), name="memory_not_its_own_successor"),
            models.CheckConstraint(condition=~Q(content=""), name="memory_says_something"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="memory_newest"),
            models.Index(fields=["subject", "-id"], name="memory_subject"),
            models.Index(fields=["workspace", "category"], name="memory_category"),
            models.Index(
                fields=["workspace", "fingerprint"],
                name="memory_same_text",
                condition=Q(is_head=True),
            ),
            models.Index(
                fields=["superseded_by"],
                name="memory_chain",
                condition=Q(superseded_by__isnull=False),
            ),
            models.Index(
                fields=["ended_by"],
                name="memory_to_be_over",
                condition=Q(ended_by__isnull=False),
            ),
            models.Index(
                fields=["forget_after"],
                name="memory_expiring",
                condition=Q(forget_after__isnull=False, forgotten_at=None),
            ),
            models.Index(
                fields=["workspace"],
                name="memory_held",
                condition=Q(held_at__isnull=False),
            ),
            GinIndex(fields=["entities"], name="memory_entities"),
            # What is looked up is what is live; a short pending list keeps writing cheap.
            GinIndex(
                fields=["slots"],
                name="memory_slots",
                fastupdate=True,
                gin_pending_list_limit=256,
                condition=Q(is_head=True),
            ),
        ]

    def __str__(self) -> str:
        return self.content[:80]

    @property
    def is_wish(self) -> bool:
        return is_wish(self.fact_type, self.category)

    @property
    def state(self) -> MemoryState:
        if self.forgotten_at is not None:
            return MemoryState.FORGOTTEN
        if self.superseded_by_id is not None:
            return MemoryState.SUPERSEDED
        if self.held_at is not None:
            return MemoryState.HELD
        if has_expired(self.forget_after):
            return MemoryState.EXPIRED
        return MemoryState.LIVE

    @property
    def is_live(self) -> bool:
        return self.state is MemoryState.LIVE

    @property
    def may_return(self) -> bool:
        """Tell whether it was forgotten, and no other stands in its place."""
        return self.forgotten_at is not None and self.superseded_by_id is None


class MemoryPeriodQuerySet(models.QuerySet["MemoryPeriod"]):
    def end(self, at: datetime, by: str) -> int:
        """End the open periods. A period that a wrong clock began later than now is left with no
        length."""
        began = Least(F("from_at"), Value(at))
        return self.filter(until_at=None).update(from_at=began, until_at=at, ended_by=by)


class MemoryPeriod(models.Model):
    """A period in which we believed a memory. Append-only but for the end of the one open
    period."""

    class Cause(models.TextChoices):
        CREATED = "created"
        APPROVED = "approved"
        RESTORED = "restored"
        UNDONE = "undone"

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="periods", db_index=False)
    from_at = models.DateTimeField()
    until_at = models.DateTimeField(null=True)
    cause = models.CharField(max_length=10, choices=Cause)
    ended_by = models.CharField(max_length=20, blank=True)

    objects = MemoryPeriodQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["memory"], name="memoryperiod_one_open", condition=Q(until_at=None)),
            models.CheckConstraint(
                condition=Q(until_at=None) | Q(until_at__gte=F("from_at")),
                name="memoryperiod_runs_forward",
            ),
        ]
        indexes = [models.Index(fields=["memory", "from_at"], name="memoryperiod_history")]


class RejectionQuerySet(NamedQuerySet["Rejection"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to rejections about the asker's own subjects. An agent, and a key that is limited
        to spaces, see those of which they see the memory, an agent those that bind it. They may
        take the same ones back."""
        rows = self.filter(workspace_id=scope.workspace_id)
        if scope.subject_ids is not None:
            rows = rows.filter(subject_id__in=scope.subject_ids)
        if not scope.is_bound and scope.container_tags is None:
            return rows
        seen = Memory.objects.visible_to(scope).filter(pk=OuterRef("memory_id"))
        rows = rows.filter(Exists(seen))
        return rows.filter(Q(agent=None) | Q(agent=scope.agent_id)) if scope.is_bound else rows

    def of(self, workspace_id: uuid.UUID, subject_id: uuid.UUID | None, fingerprint: bytes) -> Self:
        """Narrow to rejections of this text about this subject, or about nobody."""
        about = Q(subject_id=subject_id) if subject_id else Q(subject=None)
        return self.filter(about, workspace_id=workspace_id, fingerprint=fingerprint)

    def also_of(self, subject: Subject) -> Self:
        """Narrow to rejections whose words were rejected about this subject, too, and bind the same
        agent."""
        same = Rejection.objects.filter(subject=subject, fingerprint=OuterRef("fingerprint"))
        of_agent = Exists(same.filter(agent=OuterRef("agent")))
        return self.filter(of_agent | Q(Exists(same.filter(agent=None)), agent=None))


class Rejection(Row):
    """A statement that a person said must not be learned again; one that came by an agent's key
    binds that `agent` alone. The vector of `memory` is its own."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.CASCADE, null=True, related_name="+")
    memory = models.ForeignKey(Memory, models.SET_NULL, null=True, related_name="+")
    content = models.TextField()
    fingerprint = models.BinaryField(max_length=16)
    reason = models.TextField(blank=True)
    rejected_by = models.CharField(max_length=200)

    objects = RejectionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "subject", "fingerprint", "agent"],
                name="rejection_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return self.content[:80]

    @property
    def mark(self) -> tuple[bytes, uuid.UUID | None]:
        """The text and whom it binds; a subject has one rejection of each mark."""
        return bytes(self.fingerprint), self.agent_id


def place_of(scope: str, conversation_id: uuid.UUID | None, workflow: str) -> uuid.UUID | None:
    """Return where a thread's or workflow's own memory belongs; None for the user's."""
    if scope == MemoryScope.THREAD:
        return conversation_id
    return workflow_place(workflow) if scope == MemoryScope.WORKFLOW else None


def workflow_place(workflow: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"workflow:{workflow}")
