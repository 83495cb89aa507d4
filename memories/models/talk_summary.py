"""Summaries of conversations and subjects as a layer of search, and those that are due."""

from typing import Any

from django.db import models
from django.db.models.expressions import RawSQL
from django.utils import timezone

from memories.models.conversation import Conversation
from workspaces.models import Agent, Row, Subject, Workspace

# What talks come to, searched as a layer of its own: summaries of conversations, of stretches of
# them, and of what a subject says about a topic.

# The words of a row are those of the messages that it names. A message that is no more adds none.
CONTENT = """(select coalesce(string_agg(coalesce(l.line ->> 'text',
    substr(e.content, (l.line ->> 'start')::int + 1,
           (l.line ->> 'end')::int - (l.line ->> 'start')::int)), E'\\n' order by l.place), '')
  from jsonb_array_elements({table}.lines) with ordinality l(line, place)
  left join memories_episode e on e.id = (l.line ->> 'episode')::uuid)"""


class TalkSummaryManager(models.Manager[Any]):
    """Summaries with their `content`."""

    def get_queryset(self) -> models.QuerySet[Any]:
        words: Any = RawSQL(CONTENT.format(table="memories_talksummary"), [], models.TextField())
        return super().get_queryset().annotate(content=words)


class TalkSummary(Row):
    """The summary of a talk of one agent with one subject.

    `lines` are spans of episodes (`{"episode", "start", "end"}`), which copy nothing, or, by a
    model, texts with the episodes that they cite (`{"text", "episodes"}`), for subjects and topics
    with their spans (`{"text", "cites": [{"episode", "start", "end"}]}`). `stands_on` is a digest
    of what a model read: while that is the same, it is not asked again. `name` is the topic's;
    `ordinal` counts the stretches of a conversation, from 0. `first_at` and `last_at` are when the
    first and the last of what went in was said. Summaries of a topic or a subject have no
    conversation.
    """

    class Kind(models.TextChoices):
        CONVERSATION = "conversation"
        STRETCH = "stretch"
        TOPIC = "topic"
        SUBJECT = "subject"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.CASCADE, null=True, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=12, choices=Kind)
    name = models.CharField(max_length=200, blank=True)
    ordinal = models.PositiveIntegerField(default=0)
    lines = models.JSONField(default=list)
    rule = models.CharField(max_length=200)
    stands_on = models.CharField(max_length=64, blank=True, db_default="")
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    objects = TalkSummaryManager()

    class Meta:
        verbose_name = "summary of a talk"
        verbose_name_plural = "summaries of talks"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "subject", "agent", "conversation", "kind", "name", "ordinal"],
                name="talk_summary_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


class DueSummary(Row):
    """A conversation whose summaries are to be made anew, with those of its subjects, or a subject
    alone: the row is the queue. `claims` numbers the claims and whatever voids them: a worker that
    ends with another number writes nothing. If `due_at` differs from that at its claim, something
    came meanwhile."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    conversation = models.OneToOneField(Conversation, models.CASCADE, null=True, related_name="+")
    subject = models.OneToOneField(Subject, models.CASCADE, null=True, related_name="+")
    due_at = models.DateTimeField(default=timezone.now, db_index=True)
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.conversation_id or self.subject_id)
