"""Conversations, their episodes, and the sessions that brought them in; and whether what is said
belongs to a team where nobody says so."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from memories.errors import Conflict
from memories.models.named_row import NamedQuerySet
from workspaces.models import Agent, Audience, Row, Subject, Team, Workspace
from workspaces.scope import Scope
from workspaces.time_zones import by_clock

Recorded = TypeVar("Recorded", "Episode", "MemorySession")
# A time further ahead than that is in the future: clocks and their zones differ by less.
AHEAD = timedelta(days=1)
# As `Episode.believed_at`, of the episode `e` of a statement.
BELIEVED_AT = f"""case when e.occurred_at - e.created_at > interval '{AHEAD.days} day'
  then e.created_at else e.occurred_at end"""

TAKEN = "This id is taken."
JUDGE_ATTEMPTS = 3  # with a judge that fails or dies; then all stays as the rules had it
# Rows whose workspace has switched the judge off.
WITHOUT_JUDGE = Q(workspace__settings__contains={"judge": {"enabled": False}})


class MemoryScope(models.TextChoices):
    USER = "user"
    THREAD = "thread"
    WORKFLOW = "workflow"


class Visibility(models.TextChoices):
    PRIVATE = "private"
    TEAM = "team"
    GLOBAL = "global"


def of_subjects(scope: Scope) -> Q:
    """Return the condition for rows of the workspace, about the subjects that `scope` is limited
    to, if any."""
    own = Q(workspace_id=scope.workspace_id)
    return own if scope.subject_ids is None else own & Q(subject_id__in=scope.subject_ids)


def recorded_for(scope: Scope) -> Q:
    """Return the condition for rows that the asking agent recorded; for askers not bound to an
    agent, for all rows."""
    own = of_subjects(scope)
    return own & Q(agent_id=scope.agent_id) if scope.is_bound else own


def check_thread(scope: Scope, thread: "Conversation") -> None:
    """Refuse a thread of others, without telling whose it is. Raises Conflict for a key that is
    limited to other subjects, since what it says there would be served as theirs, and for an
    agent's key that does not see the thread, since by saying something there it would."""
    is_of_others = scope.subject_ids is not None and thread.subject_id not in scope.subject_ids
    if not is_of_others and scope.is_bound and thread.agent_id != scope.agent_id:
        seen = Conversation.objects.visible_to(scope).filter(pk=thread.pk)
        is_of_others = not seen.exists()
    if is_of_others:
        raise Conflict(TAKEN, field="threadId")


class ConversationQuerySet(NamedQuerySet["Conversation"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to conversations that the asking agent began, or said something in."""
        if not scope.is_bound:
            return self.filter(of_subjects(scope))
        heard = Episode.objects.visible_to(scope).filter(conversation=OuterRef("pk"))
        return self.filter(of_subjects(scope), Q(agent_id=scope.agent_id) | Exists(heard))


class RecordedQuerySet(NamedQuerySet[Recorded]):
    """Episodes and sessions: seen by the agent that recorded them, unbound keys and members."""

    def visible_to(self, scope: Scope) -> Self:
        return self.filter(recorded_for(scope))


class SessionQuerySet(RecordedQuerySet["MemorySession"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to sessions that `scope` sees: those that read a document only where it sees the
        document."""
        rows = super().visible_to(scope)
        if scope.container_tags is None:
            return rows
        own = Q(revision__document__shelves__space__container_tag__in=scope.container_tags)
        seen = MemorySession.objects.filter(own).values("pk")
        return rows.filter(~Q(pathway=MemorySession.Pathway.DOCUMENT) | Q(pk__in=seen))

    def start_again(self) -> int:
        """Make these sessions due now, as if nothing of them had been learned; return how many."""
        own = {"attempts": 0, "failures": 0, "learned": 0, "error": ""}
        return self.update(**own, state=MemorySession.State.RECEIVED, next_attempt_at=timezone.now())

    def postponed(self) -> Self:
        """Return those that wait because a model failed."""
        return self.filter(state=MemorySession.State.RECEIVED).exclude(error="")

    def stop(self, why: str) -> int:
        """End those that are under way; a worker finds its claim gone. Return how many."""
        own = {"state": MemorySession.State.FAILED, "error": why, "learned": 0, "finished_at": timezone.now()}
        rows = self.exclude(state__in=MemorySession.FINAL)
        return rows.update(**own, next_attempt_at=None, lease_until=None)


class Conversation(Row):
    """A thread, by the caller's own id (`threadId` in the API)."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    external_id = models.CharField(max_length=255)
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    workflow = models.CharField(max_length=255, blank=True)
    title = models.CharField(max_length=500, blank=True)
    metadata = models.JSONField(default=dict)
    audience = models.CharField(max_length=6, choices=Audience, blank=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "external_id"], name="conversation_once")]

    def __str__(self) -> str:
        return self.title or self.external_id


class MemorySession(Row):
    """One ingest, its state and its outcome. Its raw content is its episodes; for the pathway
    document the passages of its `revision`.

    `lease_until` says until when a worker's claim holds; a claim that ran out is due again.
    `claims` numbers the claims. `attempts` are those since it last made progress, `failures` are a
    model's; the first `learned` of its episodes are done. `answer` is the kept answer to the
    request that brought it, where that had an Idempotency-Key.
    """

    class State(models.TextChoices):
        RECEIVED = "received"
        EXTRACTING = "extracting"
        RESOLVING = "resolving"
        DONE = "done"
        FAILED = "failed"
        DEAD = "dead"

    class Mode(models.TextChoices):
        SYNC = "sync"
        ASYNC = "async"

    class Pathway(models.TextChoices):
        CONVERSATION = "conversation"
        ACTIVITY = "activity"
        DOCUMENT = "document"

    SENT = (Pathway.CONVERSATION, Pathway.ACTIVITY)  # what a caller may say

    class Extract(models.TextChoices):
        AUTO = "auto"
        PATTERNS = "patterns"
        LLM = "llm"
        NONE = "none"

    STUCK = (State.FAILED, State.DEAD)
    FINAL = (State.DONE, *STUCK)
    BY_RULES = (Extract.AUTO, Extract.PATTERNS)  # the sessions from which rules read

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    mode = models.CharField(max_length=5, choices=Mode, default=Mode.SYNC)
    pathway = models.CharField(max_length=12, choices=Pathway, default=Pathway.CONVERSATION)
    extract = models.CharField(max_length=8, choices=Extract, default=Extract.AUTO)
    is_whole_text = models.BooleanField(default=False, help_text="The caller sent `content`, not messages.")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")
    workflow = models.CharField(max_length=255, blank=True)
    scope = models.CharField(max_length=8, choices=MemoryScope, default=MemoryScope.USER)
    visibility = models.CharField(max_length=7, choices=Visibility, blank=True)
    metadata = models.JSONField(default=dict)
    instructions = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    requested_by = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0)
    learned = models.PositiveIntegerField(default=0)
    answer = models.UUIDField(null=True)
    episode_ids = ArrayField(models.UUIDField(), default=list)
    created_ids = ArrayField(models.UUIDField(), default=list)
    updated_ids = ArrayField(models.UUIDField(), default=list)
    reinforced_ids = ArrayField(models.UUIDField(), default=list)
    counts = models.JSONField(default=dict)
    timings = models.JSONField(default=dict)
    steps = models.JSONField(default=list)
    finished_at = models.DateTimeField(null=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = "session"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(scope=MemoryScope.THREAD) | models.Q(conversation__isnull=False),
                name="session_thread_has_conversation",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="session_newest"),
            models.Index(
                fields=["next_attempt_at"],
                name="session_due",
                condition=models.Q(state__in=["received", "extracting", "resolving"]),
            ),
            models.Index(
                fields=["workspace", "next_attempt_at"],
                name="session_turn",
                condition=models.Q(state="received"),
            ),
            models.Index(
                fields=["workspace"],
                name="session_stuck",
                condition=models.Q(state__in=["failed", "dead"]),
            ),
            models.Index(
                fields=["answer"],
                name="session_answer",
                condition=models.Q(answer__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.created_at:%Y-%m-%d %H:%M}"

    def told_intents(self) -> list[Any]:
        """Return what people asked of the memory in it, as far as something was done; most sessions
        have nothing."""
        if not self.counts.get("intents"):
            return []
        rows = self.intents.exclude(state="heard").select_related("episode")
        return list(rows.order_by("message_index", "start"))

    @property
    def is_final(self) -> bool:
        return self.state in self.FINAL

    @property
    def tried(self) -> int:
        """The number of tries since it last made progress."""
        return self.attempts + self.failures

    @property
    def is_postponed(self) -> bool:
        """Tell whether a model failed, and is asked again later."""
        return self.state == self.State.RECEIVED and self.error != ""

    @classmethod
    def words_of(cls, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
        """Return labels of the sessions with these ids: by whom, when and how much."""
        rows = cls.objects.filter(pk__in=ids).select_related("agent")
        return {row.pk: row.label for row in rows}

    @property
    def label(self) -> str:
        messages, facts = (int(self.counts.get(name, 0)) for name in ("messages", "facts"))
        number = f"{messages} message{'' if messages == 1 else 's'}"
        if self.pathway == self.Pathway.DOCUMENT:
            number = "a document"
        found = f"{facts} fact{'' if facts == 1 else 's'}"
        whose = f"{self.agent}, " if self.agent else ""
        return f"{whose}{self.created_at:%Y-%m-%d %H:%M}: {number}, {found}"


class Episode(Row):
    """One message or event, raw and immutable, kept before anything can fail."""

    class Kind(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SYSTEM = "system"
        TOOL_USE = "tool_use"
        TOOL_RESULT = "tool_result"
        ERROR = "error"
        ACTIVITY = "activity"
        TEXT = "text"

    OF_PEOPLE = (Kind.USER, Kind.TEXT, Kind.ACTIVITY)  # a person's own words
    OF_MACHINES = (Kind.ASSISTANT, Kind.TOOL_USE, Kind.TOOL_RESULT, Kind.ERROR)

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(MemorySession, models.SET_NULL, null=True, related_name="episodes")
    conversation = models.ForeignKey(
        Conversation,
        models.CASCADE,
        null=True,
        related_name="episodes",
        db_index=False,
    )
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    kind = models.CharField(max_length=11, choices=Kind)
    role = models.CharField(max_length=20, blank=True)
    author = models.CharField(max_length=255, blank=True)
    content = models.TextField()
    payload = models.JSONField(default=dict)
    metadata = models.JSONField(default=dict)
    occurred_at = models.DateTimeField()
    utc_offset = models.SmallIntegerField(default=0, db_default=0, help_text="Minutes that their clock is ahead.")
    position = models.PositiveIntegerField()
    scope = models.CharField(max_length=8, choices=MemoryScope, default=MemoryScope.USER)
    workflow = models.CharField(max_length=255, blank=True)
    external_id = models.CharField(max_length=255, null=True)  # noqa: DJ001 - unique where known
    judge_attempts = models.PositiveSmallIntegerField(
        null=True, help_text="How often the judge was asked what it changes; empty once that is known."
    )

    objects = RecordedQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "conversation", "external_id"],
                name="episode_external_id_once",
                condition=models.Q(external_id__isnull=False),
                nulls_distinct=False,
            )
        ]
        indexes = [
            models.Index(fields=["conversation", "occurred_at", "position"], name="episode_order"),
            models.Index(fields=["conversation", "position"], name="episode_position"),
            models.Index(fields=["workspace", "-id"], name="episode_newest"),
            models.Index(fields=["subject", "id"], name="episode_subject"),
            models.Index(
                fields=["workspace", "judge_attempts", "id"],
                name="episode_to_judge",
                condition=models.Q(judge_attempts__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.content[:60]

    @property
    def said_at(self) -> datetime:
        """The time at which it was said by the speaker's own clock."""
        return by_clock(self.occurred_at, self.utc_offset)

    @property
    def is_ahead(self) -> bool:
        """Tell whether its time lies in the future, by a caller's clock or on purpose; or by ours,
        which was wrong."""
        return self.occurred_at - self.created_at > AHEAD

    @property
    def believed_at(self) -> datetime:
        """The time from which it counts: its own, or, where that lies in the future, when it came.
        So what is said later is newer."""
        return self.created_at if self.is_ahead else self.occurred_at


def is_shared_by_default(
    subject_id: uuid.UUID | None,
    agent: Agent | None,
    conversation: Conversation | None,
    default: str = "",
) -> bool:
    """Tell whether decisions, policies and technology are the team's; else all is private.

    The nearest setting counts: the conversation's, the agent's, its team's; for the default team
    that is `default`, from the workspace's settings. Where none is set, what a named person
    says is private, unless the agent belongs to a team with a name.
    """
    said = (conversation.audience if conversation else "") or (agent.audience if agent else "")
    if not said and agent and agent.team:
        rows = Team.objects.filter(workspace_id=agent.workspace_id, name=agent.team)
        said = rows.values_list("audience", flat=True).first() or ""
    if not said and not (agent and agent.team):
        said = default
    if said:
        return said == Audience.TEAM
    return subject_id is None or bool(agent and agent.team)


class ConversationSummary(Row):
    """The summary of a conversation up to a point, as far as its audience hears it.

    `agent` is the audience: only that agent's episodes went in; empty: all went in. `upto_at` and
    `upto_position` are those of the last episode that went in, `seen` is the highest position by
    then: an episode that came late, with an earlier time, has a higher one. `lines` are spans of
    episodes (`{"episode", "start", "end", "score"}`), which copy nothing, or, by a model, texts
    with the episodes they cite (`{"text", "episodes"}`).
    """

    class Method(models.TextChoices):
        EXTRACTIVE = "extractive"
        LLM = "llm", "model"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="summaries")
    agent = models.ForeignKey(Agent, models.CASCADE, null=True, related_name="+")
    method = models.CharField(max_length=10, choices=Method, default=Method.EXTRACTIVE)
    rule = models.CharField(max_length=200, blank=True)
    lines = models.JSONField(default=list)
    tokens = models.PositiveIntegerField(default=0)
    episodes = models.PositiveIntegerField(default=0)
    upto_at = models.DateTimeField(null=True)
    upto_position = models.PositiveIntegerField(default=0)
    seen = models.IntegerField(default=-1)
    due_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        verbose_name = "summary of a conversation"
        verbose_name_plural = "summaries of conversations"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "agent"], name="summary_once", nulls_distinct=False)
        ]
        indexes = [models.Index(fields=["due_at"], name="summary_due", condition=models.Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.conversation_id} ({self.method})"
