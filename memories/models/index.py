"""The rows that search needs: derived from the truth, narrow, and rebuilt at any time (`reindex`).

An entry is one searchable thing; a vector is one embedding of it, or of a passage of it, under
one embedding model. Rows here count in small integers; the truth has UUIDs.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan
from django.utils import timezone
from pgvector.django import HalfVectorField, SparseVectorField

from memories.language.english.calendar import DateOrder
from memories.ranking import WISHES
from workspaces.models import Workspace

# A btree tuple holds 2,704 bytes: a half-precision vector of more dimensions does not fit the
# covering index beside the scope columns.
WIDEST_COVERED = 1200


class Layer(models.IntegerChoices):
    MEMORIES = 1, "memories"
    EPISODES = 2, "episodes"
    FEATURES = 3, "features"
    CHUNKS = 4, "chunks"
    SUMMARIES = 5, "summaries"


VISIBILITY_CODE = {"private": 0, "team": 1, "global": 2}
SCOPE_CODE = {"user": 0, "thread": 1, "workflow": 2}
# Of a document that stands apart: no search looks at it that does not name it, or its space.
APART = 3


class EmbeddingModel(models.Model):
    """An embedder whose vectors may be compared with each other, and only with each other."""

    class State(models.TextChoices):
        ACTIVE = "active"
        RETIRED = "retired"

    id = models.SmallAutoField(primary_key=True)
    provider = models.CharField(max_length=20)
    name = models.CharField(max_length=200)
    dimensions = models.PositiveSmallIntegerField()
    duplicate_threshold = models.FloatField(
        help_text="Cosine from which two statements count as the same, or as a newer version."
    )
    search_floor = models.FloatField(default=0.0)
    confidence = models.JSONField(null=True, help_text="Weights that `calibrate` measured; empty: the shipped ones.")
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "name", "dimensions"], name="embedding_model_once")]

    def __str__(self) -> str:
        return f"{self.provider}:{self.name} ({self.dimensions})"


class WorkspaceIndex(models.Model):
    """A workspace as the index knows it. `stamp` grows with every change of the workspace."""

    number = models.AutoField(primary_key=True)
    workspace = models.OneToOneField(Workspace, models.CASCADE, related_name="+")
    embedding_model = models.ForeignKey(EmbeddingModel, models.PROTECT, null=True)
    live_memories = models.BigIntegerField(default=0)
    live_episodes = models.BigIntegerField(default=0)
    live_features = models.BigIntegerField(default=0)
    live_chunks = models.BigIntegerField(default=0, db_default=0, help_text="Passages of chunks.")
    live_summaries = models.BigIntegerField(default=0, db_default=0, help_text="Summaries of talks.")
    stamp = models.BigIntegerField(default=0)
    rules = models.SmallIntegerField(
        default=0,
        db_default=0,
        help_text="All rows have marks of this version; see memories.index.row_marks.",
    )

    # What `index_of` reads beside the row, because every ingest or search asks for it.
    extractors: Any = None
    has_patterns: bool = True
    conflict_rule: str = ""
    ranking: Any = None
    review: Any = None
    guard: Mapping[str, Any] = MappingProxyType({})
    instructions: Any = None
    has_own_words: bool = True
    llm: str = ""
    date_order: DateOrder = "auto"
    time_zone: str = ""
    patterns_off: frozenset[str] = frozenset()
    decisions_off: frozenset[str] = frozenset()
    segments: Sequence[dict[str, Any]] = ()

    def live(self, layer: int) -> int:
        """Return how many entries of the layer are live."""
        live: int = getattr(self, f"live_{Layer(layer).label}")
        return live


class CommonTerm(models.Model):
    """A word that many entries of a large layer hold, and their share when it was last counted.

    `key` names workspace, layer and word, as in an entry's `terms`.
    """

    key = models.BigIntegerField(primary_key=True)
    workspace = models.ForeignKey(WorkspaceIndex, models.CASCADE, related_name="+")
    layer = models.SmallIntegerField(choices=Layer)
    share = models.FloatField(help_text="0 to 1")


class LargeLayer(models.Model):
    """The way to search a layer that has grown large; without a row, all of it is compared.

    Its common terms were counted at `counted_live` live entries. Where `sealed_upto` is set, an
    approximate index holds the vectors of `embedding_model` of entries up to that id, and the
    rest, its tail, is compared one by one.
    """

    workspace = models.ForeignKey(WorkspaceIndex, models.CASCADE, related_name="large_layers")
    layer = models.SmallIntegerField(choices=Layer)
    counted_live = models.BigIntegerField(default=0)
    embedding_model = models.ForeignKey(EmbeddingModel, models.PROTECT, null=True)
    sealed_upto = models.BigIntegerField(null=True)
    sealed_live = models.BigIntegerField(default=0)
    large_subjects = ArrayField(models.UUIDField(), default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "layer"], name="large_layer_once")]


class Entry(models.Model):
    """One searchable memory, episode, feature or chunk, with the scope that may see it."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.IntegerField(help_text="The number of the workspace in the index.")
    layer = models.SmallIntegerField(choices=Layer)
    item = models.UUIDField()
    subject = models.UUIDField(null=True)
    agent = models.UUIDField(null=True)
    visibility = models.SmallIntegerField()
    scope = models.SmallIntegerField()
    place = models.UUIDField(null=True)
    conversation = models.UUIDField(null=True)
    occurred_at = models.DateTimeField(help_text="When it was said, or became true.")
    event_at = models.DateTimeField(null=True, help_text="When what a memory tells happens.")
    role = models.CharField(max_length=20)
    author = models.CharField(max_length=255)
    position = models.IntegerField(default=0)
    marks = models.SmallIntegerField(default=0, help_text="See memories.ranking.Mark.")
    live = models.BooleanField(default=True)
    length = models.IntegerField()
    terms = ArrayField(models.BigIntegerField())
    trigrams = ArrayField(models.BigIntegerField())
    weights = SparseVectorField(null=True)
    rules = models.SmallIntegerField(
        default=0,
        db_default=0,
        help_text="Version of the rules that made the marks, the memory's slots too.",
    )

    class Meta:
        verbose_name_plural = "entries"
        constraints = [models.UniqueConstraint(fields=["layer", "item"], name="entry_once")]
        indexes = [
            # A short pending list makes a write ten times cheaper and a search hardly dearer.
            GinIndex(
                fields=["terms"],
                name="entry_terms",
                fastupdate=True,
                gin_pending_list_limit=256,
                condition=Q(live=True),
            ),
            GinIndex(
                fields=["trigrams"],
                name="entry_trigrams",
                fastupdate=True,
                gin_pending_list_limit=256,
                condition=Q(live=True),
            ),
            models.Index(fields=["workspace", "layer", "id"], name="entry_workspace"),
            # Standing wishes and preferences of people: few rows.
            models.Index(
                fields=["workspace", "layer", "subject", "id"],
                name="entry_wishes",
                condition=Q(GreaterThan(F("marks").bitand(int(WISHES)), 0), live=True),
            ),
            # When what is told happens, or was said: for searches that ask for days.
            models.Index(
                "workspace",
                "layer",
                "subject",
                Coalesce("event_at", "occurred_at"),
                name="entry_dated_subject",
                condition=Q(live=True),
            ),
            models.Index(
                "workspace",
                "layer",
                Coalesce("event_at", "occurred_at"),
                name="entry_dated",
                condition=Q(live=True),
            ),
            models.Index(
                fields=["conversation", "occurred_at", "id"],
                name="entry_conversation",
                condition=Q(conversation__isnull=False),
            ),
        ]


class Speaker(models.Model):
    """A speaker in a subject's episodes, and in how many; names in a query are compared with
    them."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.IntegerField()
    subject = models.UUIDField(null=True)
    author = models.CharField(max_length=255)
    assistant = models.BooleanField()
    episodes = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "subject", "author", "assistant"],
                name="speaker_once",
                nulls_distinct=False,
            )
        ]


class DueVector(models.Model):
    """An entry whose vectors are still to be made: the row is the queue.

    A table of its own, because updating a flag on the entry would rewrite its GIN indexes.
    """

    entry = models.OneToOneField(Entry, models.CASCADE, primary_key=True, related_name="+")
    workspace = models.IntegerField()
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    error = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["next_attempt_at"], name="due_vector_next")]


class Vector(models.Model):
    """One unit-length embedding; `part` 0 is the whole text, 1 and on are its passages.

    The covering index (see its migration) answers an exact scan without the table.
    """

    pk = models.CompositePrimaryKey("entry_id", "embedding_model_id", "part")
    entry_id = models.BigIntegerField()
    embedding_model_id = models.SmallIntegerField()
    part = models.SmallIntegerField(default=0)
    workspace = models.IntegerField()
    layer = models.SmallIntegerField(choices=Layer)
    subject = models.UUIDField(null=True)
    agent = models.UUIDField(null=True)
    visibility = models.SmallIntegerField()
    scope = models.SmallIntegerField()
    place = models.UUIDField(null=True)
    live = models.BooleanField(default=True)
    wide = models.BooleanField(default=False, help_text="Too long for the covering index; see WIDEST_COVERED.")
    embedding = HalfVectorField()


class IndexRepair(models.Model):
    """The latest repair of a workspace's derived marks; see memories.index.repair. The row is the
    queue: it goes on after `layer` and `after`, whichever process takes it up.

    `rows` is how many it found to do, None until they are counted; `seconds` how long it worked.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        FAILING = "failing"
        DONE = "done"

    workspace = models.OneToOneField(Workspace, models.CASCADE, primary_key=True, related_name="+")
    version = models.SmallIntegerField(help_text="Of the rules that it makes the marks by.")
    layer = models.SmallIntegerField(default=1)
    after = models.UUIDField(null=True)
    rows = models.BigIntegerField(null=True)
    done = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Since it last went on.")
    claims = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=100, blank=True, help_text="Its kind; the log has it all.")
    next_attempt_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    started_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-started_at"]
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                name="repair_next",
                condition=Q(finished_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return f"index of {self.workspace_id} to rules {self.version} ({self.state})"

    @property
    def state(self) -> str:
        if self.finished_at is not None:
            return self.State.DONE
        if self.error:
            return self.State.FAILING
        return self.State.RUNNING if self.done else self.State.WAITING

    @property
    def rest(self) -> int | None:
        """Rows still to be done; None until they are counted."""
        if self.finished_at is not None:
            return 0
        return None if self.rows is None else max(self.rows - self.done, 0)

    @property
    def rate(self) -> float:
        """Rows a second while it works."""
        return self.done / self.seconds if self.seconds else 0.0
