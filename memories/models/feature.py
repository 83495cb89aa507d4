"""Sets of features, into which conversations are folded, and the history of every value."""

import uuid
from collections import Counter
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from memories.language.english import lexical
from memories.models.conversation import Conversation, Episode, Visibility
from memories.models.fact import Fact
from memories.models.index import EmbeddingModel
from memories.models.memory import NamedSQL, seen_by
from memories.models.memory_state import BELIEVED, KNOWN_AT, VALID_AT, AsOf
from memories.models.named_row import NamedQuerySet
from workspaces.models import Agent, Row, Subject, Workspace
from workspaces.scope import Scope

KEY = 300
NAME = 100
# The rule of a value that was over, or was still to come, when it was taken in: it never was the
# one that is so now.
OF_ITS_TIME = "of its time"
SAYS = "- array['visibility', 'metadata', 'method']"  # of a snapshot, what it says
# The changes that stood at an instant, of those in `among`. What was read out of a memory holds as
# long as the memory, or what was made of its words, does and is about the same subject; all else
# from the day it was said. What was undone, taken back or merged away stood at no day.
STANDING = f"""
select c.id from memories_featurechange c cross join lateral (
  select c.after is not null and c.action <> 'undo' and c.after ->> 'method' <> 'manual'
    and exists (
      select 1 from memories_featurecitation fc join memories_fact f on f.id = fc.fact_id
      where fc.change_id = c.id and f.memory_id is not null) as by_memory) what
where c.id = any(%(among)s::uuid[]) and (c.undone_at is null or c.undone_at > {KNOWN_AT})
and not exists (
  select 1 from memories_featurechange e
  where e.feature_id = c.feature_id and e.id > c.id and e.after is null
    and e.created_at <= {KNOWN_AT} and (e.undone_at is null or e.undone_at > {KNOWN_AT})
    and e.rule <> '{OF_ITS_TIME}' and e.before {SAYS} = c.after {SAYS}
    and (e.action = 'merge' or e.occurred_at = (
      select p.occurred_at from memories_featurechange p
      where p.feature_id = e.feature_id and p.id < e.id order by p.id desc limit 1)))
and case
  when by_memory then exists (
    with recursive line (id, subject_id) as (
      select f.memory_id, coalesce(own.subject_id, said.subject_id)
      from memories_featurecitation fc
      join memories_fact f on f.id = fc.fact_id
      join memories_feature own on own.id = fc.feature_id
      join memories_episode said on said.id = fc.episode_id
      where fc.change_id = c.id and fc.created_at <= {KNOWN_AT} and f.memory_id is not null
      union
      select s.new_id, line.subject_id from line join memories_supersession s on s.old_id = line.id
      where s.state = 'applied' and s.rule in ('edit', 'richer'))
    select 1 from line join memories_memory row on row.id = line.id
    where row.subject_id is not distinct from line.subject_id and {BELIEVED})
  else c.occurred_at <= {VALID_AT} and c.rule <> '{OF_ITS_TIME}' end
"""


class FeatureSetQuerySet(NamedQuerySet["FeatureSet"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to sets of the workspace; for an agent those that took in something it recorded,
        or that hold a feature it sees."""
        own = Q(workspace_id=scope.workspace_id, deleted_at=None)
        if scope.subject_ids is not None:
            own &= Q(subject_id__in=scope.subject_ids)
        if not scope.is_bound:
            return self.filter(own)
        held = Feature.objects.visible_to(scope).filter(set=OuterRef("pk"))
        heard = FeatureMark.objects.filter(set=OuterRef("pk"), episode__agent=scope.agent_id)
        return self.filter(own, Exists(held) | Exists(heard))


class FeatureSet(Row):
    """A set of features that are known of a subject, a conversation or whatever a caller names.

    It takes in the episodes that fit all of subject, conversation, role and metadata; a set that
    names none of them is written by hand only. `waiting` is how many are still to be taken in;
    `cursor`: all episodes up to this id are taken in; `claims` counts the workers that took it.
    One with a `deleted_at` is gone for everybody, and its rows go in steps.
    `embedding_model` is the one beside the workspace's whose vectors all its features have, made
    for the setting `embedder`.
    """

    OWN = "user:"  # how the keys of the sets begin that every subject has

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    key = models.CharField(max_length=KEY)
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")
    role = models.CharField(max_length=20, blank=True)
    metadata = models.JSONField(default=dict)
    config = models.JSONField(default=dict)
    waiting = models.PositiveIntegerField(default=0)
    waiting_since = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    rung_at = models.DateTimeField(null=True)
    cursor = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)
    folded_at = models.DateTimeField(null=True)
    stamp = models.PositiveBigIntegerField(default=0)
    embedder = models.JSONField(null=True)
    embedding_model = models.ForeignKey(EmbeddingModel, models.PROTECT, null=True, related_name="sets")
    embedding_due_at = models.DateTimeField(null=True)
    embedding_lease_until = models.DateTimeField(null=True)
    embedding_error = models.TextField(blank=True)
    deleted_at = models.DateTimeField(null=True)

    objects = FeatureSetQuerySet.as_manager()

    class Meta:
        verbose_name = "feature set"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "key"], name="set_key_once"),
            models.CheckConstraint(condition=~Q(key=""), name="set_is_named"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="set_newest"),
            models.Index(
                fields=["conversation"],
                name="set_conversation",
                condition=Q(conversation__isnull=False),
            ),
            models.Index(fields=["due_at"], name="set_due", condition=Q(due_at__isnull=False)),
            models.Index(
                fields=["embedding_due_at"],
                name="set_embedding_due",
                condition=Q(embedding_due_at__isnull=False),
            ),
            models.Index(
                fields=["workspace", "embedding_model"],
                name="set_embedding",
                condition=Q(embedding_model__isnull=False),
            ),
            models.Index(fields=["deleted_at"], name="set_deleted", condition=Q(deleted_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.key

    @classmethod
    def own_key(cls, external_id: str) -> str:
        """Return the key of the set that every subject has."""
        return f"{cls.OWN}{external_id}"

    @property
    def takes_in(self) -> bool:
        """Tell whether any episode can fit."""
        return not self.deleted_at and bool(self.subject_id or self.conversation_id or self.role or self.metadata)


class FeatureQuerySet(NamedQuerySet["Feature"]):
    def visible_to(self, scope: Scope) -> Self:
        return self.filter(seen_by(scope))

    def live(self) -> Self:
        return self.filter(ended_at=None)

    def as_of(self, at: AsOf, newest: int | None = None) -> "list[tuple[Feature, FeatureChange]]":
        """Return what these features said at an instant, as far as was known then, with the change
        by which they did; of each category the `newest` at most. The features hold what they said;
        those that were not there are left out."""
        changes = FeatureChange.objects.filter(feature__in=self)
        if at.is_now:
            changes = changes.filter(is_current=True)
            if newest is not None:
                place = Window(RowNumber(), partition_by=F("feature__category"), order_by="-pk")
                changes = changes.annotate(place=place).filter(place__lte=newest)
        else:
            if at.known_at is not None:
                changes = changes.filter(created_at__lte=at.known_at)
            if at.said_before is not None:
                changes = changes.filter(occurred_at__lte=at.said_before)
            if at.valid_at is not None:
                among = list(changes.values_list("pk", flat=True))
                standing = NamedSQL(STANDING, {"among": among, **at.values})
                changes = FeatureChange.objects.filter(pk__in=standing)
            changes = changes.order_by("feature_id", "-pk").distinct("feature_id")
        rows: list[tuple[Feature, FeatureChange]] = []
        in_category: Counter[str] = Counter()
        for change in sorted(changes.select_related("feature"), key=attrgetter("pk"), reverse=True):
            if change.after is None:
                continue
            change.feature.set_to(change.after)
            if not at.is_now:
                change.feature.updated_at = change.created_at
            in_category[change.feature.category] += 1
            if newest is None or in_category[change.feature.category] <= newest:
                rows.append((change.feature, change))
        return rows


class Feature(Row):
    """One thing known: category / tag / feature = value. Its changes hold what it was before.

    `about` is whose feature it is where several speak; `slot` names the attribute where there is
    one value at a time. It is private to the agent whose episodes it stands on, unless a person
    says otherwise.
    """

    class Method(models.TextChoices):
        RULE = "rule"
        LLM = "llm", "model"
        MANUAL = "manual"

    # What it says: its columns as its history keeps them.
    SNAPSHOT = (
        "category",
        "tag",
        "feature",
        "value",
        "about",
        "slot",
        "method",
        "visibility",
        "metadata",
    )

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    set = models.ForeignKey(FeatureSet, models.CASCADE, related_name="features")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")
    visibility = models.CharField(max_length=7, choices=Visibility, default=Visibility.PRIVATE)
    category = models.CharField(max_length=NAME)
    tag = models.CharField(max_length=NAME)
    feature = models.CharField(max_length=NAME)
    value = models.TextField()
    content = models.TextField(help_text="What is embedded, and searched by words.")
    about = models.CharField(max_length=255, blank=True)
    slot = models.CharField(max_length=255, blank=True)
    method = models.CharField(max_length=6, choices=Method)
    metadata = models.JSONField(default=dict)
    fingerprint = models.BinaryField(max_length=16, editable=False)
    ended_at = models.DateTimeField(null=True)

    objects = FeatureQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["set", "agent", "fingerprint"],
                name="feature_once",
                condition=Q(ended_at=None),
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=~Q(category="") & ~Q(tag="") & ~Q(feature="") & ~Q(value=""),
                name="feature_says_something",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="feature_newest"),
            models.Index(fields=["set", "category", "tag"], name="feature_section"),
            models.Index(
                fields=["conversation"],
                name="feature_conversation",
                condition=Q(conversation__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.feature}: {self.value}"[:80]

    @staticmethod
    def text_of(tag: str, feature: str, value: str, about: str = "") -> str:
        """Return the text of a feature that is embedded, and searched by words."""
        whose = f"{about} " if about else ""
        return f"{whose}{feature.replace('_', ' ')} ({tag}): {value}"

    @staticmethod
    def fingerprint_of(values: Mapping[str, Any]) -> bytes:
        """Return the fingerprint of a feature's columns: two live features of a set with the same
        one would say the same."""
        parts = ("category", "tag", "feature", "about", "value")
        return lexical.fingerprint(" | ".join(str(values[part]) for part in parts))

    def snapshot(self) -> dict[str, Any]:
        """Return what it says, as its history keeps it."""
        return {name: getattr(self, name) for name in self.SNAPSHOT}

    def set_to(self, values: Mapping[str, Any]) -> None:
        """Let it say what these columns of a snapshot say; it is not saved."""
        for name, value in values.items():
            setattr(self, name, value)
        self.fingerprint = self.fingerprint_of(self.snapshot())
        self.content = self.text_of(self.tag, self.feature, self.value, self.about)


class FeatureChange(Row):
    """One step in the history of a feature: before, after, who or what, from which words.

    The changes of one act (a batch taken in, a merge) share their `batch`. `is_current` marks the
    one by which the feature says what it says; its citations are what the value stands on.
    `occurred_at` is when it was said, of what takes a value back when that was. `after` None: it
    ended.
    """

    class Action(models.TextChoices):
        ADD = "add"
        UPDATE = "update"
        DELETE = "delete"
        MERGE = "merge"
        UNDO = "undo"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    set = models.ForeignKey(FeatureSet, models.CASCADE, related_name="changes")
    feature = models.ForeignKey(Feature, models.CASCADE, related_name="changes")
    batch = models.UUIDField()
    action = models.CharField(max_length=6, choices=Action)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    by = models.CharField(max_length=200)
    rule = models.CharField(max_length=200, blank=True)
    reason = models.TextField(blank=True)
    occurred_at = models.DateTimeField()
    is_current = models.BooleanField(default=True)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "change of a feature"
        verbose_name_plural = "changes of features"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["feature"], name="change_one_current", condition=Q(is_current=True)),
            models.CheckConstraint(
                condition=Q(before__isnull=False) | Q(after__isnull=False),
                name="change_of_something",
            ),
        ]
        indexes = [
            models.Index(fields=["feature", "id"], name="change_history"),
            models.Index(fields=["set", "-id"], name="change_newest"),
            models.Index(fields=["batch"], name="change_batch"),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.by}"


class FeatureCitation(models.Model):
    """The words a value stands on: `quote` is `episode.content[start:end]`, checked when
    written."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    feature = models.ForeignKey(Feature, models.CASCADE, related_name="citations")
    change = models.ForeignKey(FeatureChange, models.CASCADE, related_name="citations")
    episode = models.ForeignKey(Episode, models.CASCADE, related_name="feature_citations")
    fact = models.ForeignKey(Fact, models.SET_NULL, null=True, related_name="feature_citations")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="feature_citation_span_forward"),
            models.UniqueConstraint(fields=["change", "episode", "start", "end"], name="feature_citation_once"),
        ]

    def __str__(self) -> str:
        return self.quote[:80]


class FeatureMark(models.Model):
    """A mark that this episode has been taken into this set, in the act `batch`."""

    pk = models.CompositePrimaryKey("set", "episode")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    set = models.ForeignKey(FeatureSet, models.CASCADE, related_name="marks", db_index=False)
    episode = models.ForeignKey(Episode, models.CASCADE, related_name="+", db_index=False)
    batch = models.UUIDField()
    folded_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["episode"], name="feature_mark_episode")]


class FeatureRefusal(Row):
    """A command that was not done, and why; `episode_ids` are what it was made from."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    set = models.ForeignKey(FeatureSet, models.CASCADE, related_name="refusals")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    batch = models.UUIDField()
    command = models.JSONField()
    reason = models.TextField()
    rule = models.CharField(max_length=200, blank=True)
    episode_ids = ArrayField(models.UUIDField(), default=list)

    class Meta:
        verbose_name = "refused command"
        ordering = ["-id"]
        indexes = [models.Index(fields=["set", "-id"], name="refusal_newest")]

    def __str__(self) -> str:
        return self.reason[:80]


class SetDiscovery(models.Model):
    """The last episode of a workspace that was looked at to find the sets that it fits."""

    workspace = models.OneToOneField(Workspace, models.CASCADE, primary_key=True, related_name="+")
    seen = models.UUIDField(default=uuid.UUID(int=0))
