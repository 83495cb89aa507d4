"""Facts read out of episodes and documents, the words each stands on, and what a memory rests on:
where that ends, nobody knows whether the memory holds."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Exists, F, OuterRef, Prefetch, Q, Subquery, Window
from django.db.models.functions import JSONObject, RowNumber
from django.utils import timezone

from memories.models.conversation import Episode, MemorySession, Visibility, of_subjects, recorded_for
from memories.models.document import Chunk, Document, DocumentPart, Revision
from memories.models.memory import Category, FactType, Memory
from memories.models.memory_state import expired_memories
from memories.models.named_row import NamedQuerySet
from workspaces.models import Agent, Row, Subject, Workspace
from workspaces.scope import Scope


class GroundQuerySet(models.QuerySet["Ground"]):
    def ended(self) -> "GroundQuerySet":
        """Narrow to grounds that are no longer live, where nobody has said that this does not
        matter."""
        over = Q(on__is_head=False) | expired_memories("on__")
        return self.filter(over, kept_at=None)


class Ground(models.Model):
    """A ground: `memory` rests on another one. `words` are the words in which it says so
    ("because", "near: flat"), from a list of ours. `kept_at` is when a person said that it holds
    whatever becomes of the other."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="grounds", db_index=False)
    on = models.ForeignKey(Memory, models.CASCADE, related_name="dependants", db_index=False)
    words = models.CharField(max_length=40)
    made_at = models.DateTimeField(default=timezone.now)
    kept_at = models.DateTimeField(null=True)

    objects = GroundQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(memory=F("on")), name="ground_is_another")]
        indexes = [
            models.Index(fields=["memory"], name="ground_memory"),
            models.Index(fields=["on"], name="ground_on"),
        ]

    def __str__(self) -> str:
        return f"{self.words}: {self.memory_id} rests on {self.on_id}"


class FactQuerySet(NamedQuerySet["Fact"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to facts that `scope` sees: they follow the episodes and documents they cite, and
        all of these must be seen."""
        if not scope.is_narrow:
            return self.filter(recorded_for(scope))
        heard = Episode.objects.visible_to(scope)
        read = Revision.objects.filter(document__in=Document.objects.visible_to(scope))
        cited = Citation.objects.filter(fact=OuterRef("pk"))
        beyond = cited.exclude(Exists(heard.filter(pk=OuterRef("episode_id")))).exclude(
            Exists(read.filter(pk=OuterRef("revision_id")))
        )
        # Whoever sees a document sees what was read out of it, whichever agent handed it in.
        of_documents = of_subjects(scope) & Q(Exists(cited.exclude(revision=None)))
        return self.filter(recorded_for(scope) | of_documents).exclude(Exists(beyond))

    def standing(self) -> Self:
        """Narrow to facts that count as support: those that no document has withdrawn."""
        return self.filter(withdrawn_at=None)

    def with_citations(self) -> Self:
        """Add what an answer shows of the words each stands on."""
        return self.prefetch_related(Prefetch("citations", Citation.objects.with_places()))

    def newest_of(self, memories: Iterable[uuid.UUID], most: int) -> Self:
        """Narrow to up to `most` facts under each of the memories, the newest first."""
        place = Window(RowNumber(), partition_by=F("memory_id"), order_by=F("pk").desc())
        rows = self.filter(memory__in=list(memories)).alias(place=place)
        return rows.filter(place__lte=most).order_by("-pk")


class Fact(Row):
    """One claim as extracted. Without a memory it is in quarantine or was rejected before.

    `withdrawn_at` is since when the document that it was read out of says something else, or says
    it in another fact; it no longer counts as support.
    """

    class Method(models.TextChoices):
        PATTERN = "pattern"
        LLM = "llm"
        WHOLE = "whole"
        MANUAL = "manual"
        JUDGE = "judge"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(MemorySession, models.CASCADE, null=True, related_name="facts")
    memory = models.ForeignKey(Memory, models.CASCADE, null=True, related_name="facts")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    statement = models.TextField()
    category = models.CharField(max_length=12, choices=Category, default=Category.OTHER)
    fact_type = models.CharField(max_length=10, choices=FactType, blank=True)
    confidence = models.FloatField(default=1.0)
    method = models.CharField(max_length=8, choices=Method)
    rule = models.CharField(max_length=200, blank=True)
    entities = ArrayField(models.CharField(max_length=255), default=list)
    visibility = models.CharField(max_length=7, choices=Visibility)
    event_date = models.DateTimeField(null=True)
    quarantined_at = models.DateTimeField(null=True)
    quarantine_reason = models.TextField(blank=True)
    withdrawn_at = models.DateTimeField(null=True)

    objects = FactQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(confidence__gte=0, confidence__lte=1), name="fact_confidence_range")
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="fact_newest"),
            models.Index(
                fields=["workspace"],
                name="fact_quarantined",
                condition=Q(quarantined_at__isnull=False),
            ),
            models.Index(
                fields=["memory"],
                name="fact_withdrawn",
                condition=Q(withdrawn_at__isnull=False),
            ),
            GinIndex(fields=["entities"], name="fact_entities"),
        ]

    def __str__(self) -> str:
        return self.statement[:80]


class CitationQuerySet(models.QuerySet["Citation"]):
    def with_places(self) -> Self:
        """Add the episode or the document that is cited, the latter without its text: `chunk`, the
        id of a chunk that covers the span, and `part`, the page or the like in which it begins."""
        covering = Chunk.objects.filter(
            revision=OuterRef("revision_id"), start__lte=OuterRef("start"), end__gte=OuterRef("end")
        )
        here = {"start__lte": OuterRef("start"), "end__gt": OuterRef("start")}
        parts = DocumentPart.objects.filter(revision=OuterRef("revision_id"), **here)
        # A page says more of where it stands than the heading above it.
        narrow = parts.annotate(is_heading=Q(kind=DocumentPart.Kind.HEADING))
        part = JSONObject(kind=F("kind"), ordinal=F("ordinal"), label=F("label"), start=F("start"), end=F("end"))
        return (
            self.select_related("episode", "revision__document")
            .defer("revision__text")
            .annotate(
                chunk=Subquery(covering.order_by("ordinal").values("pk")[:1]),
                part=Subquery(narrow.order_by("is_heading", "-start").values_list(part)[:1]),
            )
            .order_by("pk")
        )


class Citation(models.Model):
    """The span a fact stands on: `quote` is `episode.content[start:end]`, or `revision.text` of the
    same place, checked when written."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    fact = models.ForeignKey(Fact, models.CASCADE, related_name="citations", db_index=False)
    episode = models.ForeignKey(Episode, models.CASCADE, null=True, related_name="citations")
    revision = models.ForeignKey(Revision, models.CASCADE, null=True, related_name="citations", db_index=False)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()

    objects = CitationQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="citation_span_forward"),
            models.CheckConstraint(
                condition=Q(episode__isnull=False, revision=None) | Q(episode=None, revision__isnull=False),
                name="citation_of_one_text",
            ),
            models.UniqueConstraint(fields=["fact", "episode", "start", "end"], name="citation_once"),
        ]
        indexes = [
            models.Index(
                fields=["revision", "start"],
                name="citation_of_revision",
                condition=Q(revision__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.quote[:80]


def said_by(citation: Citation) -> tuple[str, str, datetime]:
    """Return in what role, by whom and when it was said; for a document its title, and its date."""
    if citation.episode is not None:
        return citation.episode.role, citation.episode.author, citation.episode.occurred_at
    assert citation.revision is not None
    document = citation.revision.document
    return "document", str(document), citation.revision.published_at or document.created_at
