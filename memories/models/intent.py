"""Orders that people gave to the memory, and what was done about them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from memories.models.conversation import Episode, MemorySession, RecordedQuerySet
from memories.models.supersession import Supersession
from workspaces.models import Agent, Row, Subject, Workspace


class Intent(Row):
    """An order to the memory: the words of `episode` from `start` to `end`, said by its author.

    `topic_start` and `topic_end` are the words for what is meant; without them it is what was said
    last. `memory_ids` are what was forgotten, changed or kept, or, in a case, what it may be about.
    `supersession` is a correction's. `reason` tells why a person has to decide.
    """

    class Kind(models.TextChoices):
        FORGET = "forget"
        CORRECT = "correct"
        RETRACT = "retract"
        NEVER = "never"
        REMEMBER = "remember"

    class State(models.TextChoices):
        HEARD = "heard"
        DONE = "done"
        CASE = "case"
        NOTHING_FOUND = "nothing_found"
        UNDONE = "undone"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(MemorySession, models.CASCADE, related_name="intents")
    episode = models.ForeignKey(Episode, models.CASCADE, related_name="+")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind)
    state = models.CharField(max_length=13, choices=State, default=State.HEARD)
    message_index = models.PositiveIntegerField(default=0)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    topic_start = models.PositiveIntegerField(null=True)
    topic_end = models.PositiveIntegerField(null=True)
    memory_ids = ArrayField(models.UUIDField(), default=list)
    supersession = models.ForeignKey(Supersession, models.SET_NULL, null=True, related_name="+", db_index=False)
    case_id = models.UUIDField(null=True)
    reason = models.CharField(max_length=200, blank=True)
    decided_by = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True)

    objects = RecordedQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="intent_forward"),
            models.UniqueConstraint(fields=["episode", "kind", "start"], name="intent_once"),
        ]
        indexes = [models.Index(fields=["workspace", "-id"], name="intent_newest")]

    def __str__(self) -> str:
        return f"{self.kind} ({self.state})"

    @property
    def quote(self) -> str:
        """Its words as the message has them now: what was masked since is masked here."""
        return self.episode.content[self.start : self.end]

    @property
    def external_id(self) -> str | None:
        return self.episode.external_id
