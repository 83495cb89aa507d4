"""What a long conversation comes to, for whoever hears all of it or for one agent."""

from django.db import models

from memories.models.conversation import Conversation
from workspaces.models import Agent, Row, Workspace


class ConversationSummary(Row):
    """What was said in a conversation up to a point, as far as its audience hears it.

    `agent` is the audience: only that agent's episodes went in; empty: all went in. `upto_at` and
    `upto_position` are those of the last episode that went in, `seen` is the highest position by
    then: what came late, with an earlier time, has a higher one. `lines` are spans of episodes
    (`{"episode", "start", "end", "score"}`), which copy nothing, or, of a model, texts with the
    episodes they cite (`{"text", "episodes"}`).
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
            models.UniqueConstraint(
                fields=["conversation", "agent"], name="summary_once", nulls_distinct=False
            )
        ]
        indexes = [
            models.Index(
                fields=["due_at"], name="summary_due", condition=models.Q(due_at__isnull=False)
            )
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id} ({self.method})"
