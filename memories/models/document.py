"""Documents, which a caller calls by one name, what each of them said at a time, and where in it.

A revision is immutable, as an episode is. The pieces cut out of it (chunks, passages) have no words
of their own, only places: `content` is read out of the revision's text.
"""

import uuid
from collections.abc import Collection
from typing import Any, Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Substr
from django.utils import timezone
from django.utils.functional import cached_property

from memories.models.conversation import Episode, MemorySession, Visibility
from memories.models.memory import seen_by
from memories.models.memory_state import NOW, AsOf
from memories.models.named_row import NamedQuerySet
from workspaces.models import Agent, Row, Subject, Workspace
from workspaces.scope import Scope


class Space(Row):
    """A shelf: documents that are searched together, by the caller's own tag."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    container_tag = models.CharField(max_length=100)
    name = models.CharField(max_length=200, blank=True)
    metadata = models.JSONField(default=dict)

    class Meta:
        ordering = ["container_tag"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "container_tag"], name="space_once"),
            models.CheckConstraint(condition=Q(container_tag__regex=r"^[A-Za-z0-9_:.-]{1,100}$"), name="space_tag"),
        ]

    def __str__(self) -> str:
        return self.name or self.container_tag


class Blob(Row):
    """A file as it came, on disk below the data folder; `digest` is its SHA-256. The same file in
    two workspaces is two files."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    digest = models.CharField(max_length=64)
    size = models.BigIntegerField()
    media_type = models.CharField(max_length=150, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "digest"], name="blob_once")]

    def __str__(self) -> str:
        return self.digest[:12]


# That a document stands in one of the spaces whose tags are the value of this name.
IN_SPACES = """exists (select 1 from memories_documentspace ds
  join memories_space sp on sp.id = ds.space_id
  where ds.document_id = {document} and sp.container_tag = any(%({tags})s::text[]))"""
# Over `d`, a document: as `DocumentQuerySet.visible_to`; `bound`, `team`, `default_team`,
# `subjects` and `spaces` are the scope's (`seen_values`).
DOCUMENT_SEEN_SQL = f"""(%(subjects)s::uuid[] is null or d.subject_id = any(%(subjects)s::uuid[]))
  and (%(bound)s::uuid is null or d.visibility = 'global'
       or (d.visibility = 'private' and d.agent_id = %(bound)s::uuid)
       or (d.visibility = 'team' and (d.agent_id = any(%(team)s::uuid[])
                                      or (d.agent_id is null and %(default_team)s))))
  and (%(spaces)s::text[] is null or {IN_SPACES.format(document="d.id", tags="spaces")})"""


def seen_values(scope: Scope) -> dict[str, Any]:
    """The parameters of DOCUMENT_SEEN_SQL."""
    return {
        "bound": scope.agent_id,
        "team": list(scope.team_agent_ids),
        "default_team": scope.in_default_team,
        "subjects": None if scope.subject_ids is None else list(scope.subject_ids),
        "spaces": None if scope.container_tags is None else list(scope.container_tags),
    }


class DocumentQuerySet(NamedQuerySet["Document"]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to documents that `scope` sees. For a key that is limited to spaces, each shows
        these spaces alone."""
        rows = self.filter(seen_by(scope))
        if scope.container_tags is None:
            return rows
        own = DocumentSpace.objects.filter(space__container_tag__in=scope.container_tags)
        rows = rows.filter(pk__in=own.values("document"))
        return rows.prefetch_related(models.Prefetch("shelves", own))

    def with_all(self, at: AsOf = NOW) -> Self:
        """Add what an answer shows of a document: names, spaces, and the newest revision, or the
        one that was the newest `at` a time, without its text."""
        newest = Revision.objects.filter(Revision.open_at(at)).defer("text")
        shown = models.Prefetch("revisions", newest, to_attr="open_revisions")
        return self.with_names().prefetch_related("shelves__space", shown)

    def known(self, at: AsOf) -> Self:
        """Narrow to documents that were there then."""
        return self if at.known_at is None else self.filter(created_at__lte=at.known_at)

    def in_spaces(self, tags: Collection[str]) -> Self:
        rows = DocumentSpace.objects.filter(space__container_tag__in=tags)
        return self.filter(pk__in=rows.values("document"))


class Document(Row):
    """A document, which a caller calls by one name. Its row is the queue: due at `next_attempt_at`,
    claimed by a worker until `lease_until`; `claims` numbers the claims.

    `blob` is what is to be read next, or was read last; a document that is still to be fetched from
    its `url` has none. `steps` are {step, startedAt, endedAt, counts, error}, `warnings`
    {code, part}.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        EXTRACTING = "extracting"
        CHUNKING = "chunking"
        EMBEDDING = "embedding"
        INDEXING = "indexing"
        DONE = "done"
        FAILED = "failed"

    class Type(models.TextChoices):
        TEXT = "text"
        PDF = "pdf"
        TWEET = "tweet"
        GOOGLE_DOC = "google_doc"
        GOOGLE_SLIDE = "google_slide"
        GOOGLE_SHEET = "google_sheet"
        IMAGE = "image"
        VIDEO = "video"
        NOTION_DOC = "notion_doc"
        WEBPAGE = "webpage"
        ONEDRIVE = "onedrive"
        REPOSITORY = "repository"
        DOCUMENT = "document"  # of a word processor
        SPREADSHEET = "spreadsheet"
        PRESENTATION = "presentation"
        EMAIL = "email"
        EBOOK = "ebook"
        ARCHIVE = "archive"

    class Extract(models.TextChoices):
        AUTO = "auto"
        PATTERNS = "patterns"
        LLM = "llm"
        NONE = "none"

    FINAL = (State.DONE, State.FAILED)
    WORKING = (State.EXTRACTING, State.CHUNKING, State.EMBEDDING, State.INDEXING)
    STATUS = {
        State.QUEUED: "pending",
        State.EXTRACTING: "processing",
        State.CHUNKING: "chunking",
        State.EMBEDDING: "embedding",
        State.INDEXING: "embedding",
        State.DONE: "completed",
        State.FAILED: "failed",
    }

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    visibility = models.CharField(max_length=7, choices=Visibility)
    custom_id = models.CharField(max_length=255, null=True)  # noqa: DJ001 - unique where given
    type = models.CharField(max_length=12, choices=Type, default=Type.TEXT)
    source = models.CharField(max_length=20, blank=True)
    url = models.TextField(blank=True)
    filename = models.CharField(max_length=255, blank=True)
    title = models.CharField(max_length=500, blank=True)
    given_title = models.CharField(max_length=500, blank=True)
    summary = models.TextField(blank=True)
    metadata = models.JSONField(default=dict)
    published_at = models.DateTimeField(null=True)
    extract = models.CharField(max_length=8, choices=Extract, default=Extract.AUTO)
    requested_by = models.CharField(max_length=200, blank=True)
    # What a program keeps here for itself: only a search that names it, or its space, finds it, and
    # nothing is learned from it.
    is_apart = models.BooleanField(default=False, db_default=False)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    steps = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    error_code = models.CharField(max_length=30, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now)
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    # By which a source that is connected anew knows it; empty while a connection has it.
    origin = models.CharField(max_length=64, blank=True)
    blob = models.ForeignKey(Blob, models.SET_NULL, null=True, related_name="documents")
    # The message that it is the text of, of one that was too long to be a memory.
    episode = models.OneToOneField(Episode, models.SET_NULL, null=True, related_name="document")
    # Without a key of the database: revisions point here, and both go together.
    current_revision = models.UUIDField(null=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "custom_id"],
                name="document_custom_id_once",
                condition=Q(custom_id__isnull=False),
            ),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(error_code=""), name="document_failed_says_why"),
            models.CheckConstraint(
                condition=~Q(state="done") | Q(current_revision__isnull=False),
                name="document_done_has_revision",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="document_newest"),
            models.Index(
                fields=["next_attempt_at"],
                name="document_due",
                condition=~Q(state__in=["done", "failed"]),
            ),
            models.Index(
                fields=["workspace", "next_attempt_at"],
                name="document_turn",
                condition=~Q(state__in=["done", "failed"]),
            ),
            models.Index(
                fields=["workspace"],
                name="document_at_work",
                condition=Q(lease_until__isnull=False),
            ),
            models.Index(fields=["workspace", "origin"], name="document_origin", condition=~Q(origin="")),
        ]

    def __str__(self) -> str:
        return self.title or self.filename or self.url or str(self.pk)

    @property
    def is_final(self) -> bool:
        return self.state in self.FINAL

    @property
    def status(self) -> str:
        """The state in the seed's six words."""
        return self.STATUS[self.State(self.state)]

    @cached_property
    def revision(self) -> "Revision | None":
        """The newest revision that was read, or after `with_all(at)` the newest at that time."""
        known: list[Revision] | None = vars(self).get("open_revisions")
        if known is not None:
            return known[0] if known else None
        return self.revisions.filter(superseded_at=None).first()

    @property
    def container_tags(self) -> list[str]:
        return sorted(each.space.container_tag for each in self.shelves.all())


class DocumentSpace(models.Model):
    """The place of a document in a space of its workspace."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, models.CASCADE, related_name="shelves", db_index=False)
    space = models.ForeignKey(Space, models.CASCADE, related_name="shelves")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["document", "space"], name="document_space_once")]

    def __str__(self) -> str:
        return f"{self.document_id} in {self.space_id}"


class Revision(Row):
    """The content of a document at a time: `text` in NFC, with LF alone and without NUL and U+FFFE.
    `title` is what the document was called by then; `session` reads memories out of it, where any
    are wanted.

    While its entries are made or taken away in steps it has a `stage`, and search leaves its
    passages out; the step is done for the first `indexed` of them. One that is COMING counts as
    replaced at the moment it was made, so that nobody takes it for what is said now."""

    class Stage(models.TextChoices):
        """The stages of a revision; `indexed` begins anew with each."""

        COMING = "coming"  # its entries are written; then it is what the document says
        REFILL = "refill"  # its entries are written anew
        RECUT = "recut"  # its entries and chunks go; then the text is read and cut anew
        CUT = "cut"  # as REFILL, after RECUT
        GOING = "going"  # its successor is there: its entries leave the hot path
        GONE = "gone"  # nobody sees it any more: it goes with its entries

    WRITING = (Stage.COMING, Stage.REFILL, Stage.CUT)
    LEAVING = (Stage.RECUT, Stage.GOING, Stage.GONE)

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, models.CASCADE, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField()
    blob = models.ForeignKey(Blob, models.SET_NULL, null=True, related_name="revisions")
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=150)
    extractor = models.CharField(max_length=60)
    language = models.CharField(max_length=20, blank=True)
    title = models.CharField(max_length=500, blank=True)
    author = models.CharField(max_length=255, blank=True)
    published_at = models.DateTimeField(null=True)
    pages = models.PositiveIntegerField(default=0)
    superseded_at = models.DateTimeField(null=True)
    stage = models.CharField(max_length=6, blank=True, choices=Stage, default="")
    indexed = models.PositiveIntegerField(default=0)
    session = models.OneToOneField(MemorySession, models.SET_NULL, null=True, related_name="revision")

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="revision_number"),
            models.UniqueConstraint(fields=["document"], name="revision_one_open", condition=Q(superseded_at=None)),
            models.UniqueConstraint(fields=["document"], name="revision_one_coming", condition=Q(stage="coming")),
        ]
        indexes = [models.Index(fields=["workspace"], name="revision_in_steps", condition=~Q(stage=""))]

    def __str__(self) -> str:
        return f"{self.title or self.document_id}, {self.number}"

    @property
    def is_live(self) -> bool:
        """Tell whether its entries are on the hot path, also while search leaves them out."""
        return self.superseded_at is None or self.stage == self.Stage.COMING

    @staticmethod
    def open_at(at: AsOf) -> Q:
        """Return the condition that a revision is what its document said then; times as in
        SAID_BY_DOCUMENT of search."""
        if at.known_at is None:
            return Q(superseded_at=None)
        until = Q(superseded_at=None) | Q(superseded_at__gt=at.known_at)
        return until & Q(created_at__lte=at.known_at)


class DocumentPart(models.Model):
    """The place in the file of a stretch of a revision's text: page 12, a sheet, 00:03:41.

    Ordinals count from 1; parts of one kind do not overlap.
    """

    class Kind(models.TextChoices):
        PAGE = "page"
        SLIDE = "slide"
        SHEET = "sheet"
        HEADING = "heading"
        SEGMENT = "segment"
        FILE = "file"
        MESSAGE = "message"
        CELL = "cell"
        DEFINITION = "definition"

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    revision = models.ForeignKey(Revision, models.CASCADE, related_name="parts", db_index=False)
    kind = models.CharField(max_length=10, choices=Kind)
    ordinal = models.PositiveIntegerField()
    label = models.CharField(max_length=300)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    seconds = models.FloatField(null=True)
    seconds_end = models.FloatField(null=True)
    confidence = models.FloatField(null=True)

    class Meta:
        verbose_name = "part"
        ordering = ["start", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gte=F("start")), name="part_forward"),
            models.UniqueConstraint(fields=["revision", "kind", "ordinal"], name="part_once"),
        ]

    def __str__(self) -> str:
        return self.label


class CutManager(models.Manager[Any]):
    """The pieces cut out of a revision, with their `content`."""

    def get_queryset(self) -> models.QuerySet[Any]:
        length: Any = F("end") - F("start")
        words = Substr("revision__text", F("start") + 1, length)
        return super().get_queryset().annotate(content=words)


class Chunk(Row):
    """A piece of a revision as it is counted and shown: about as many tokens as the workspace's
    settings say, with an overlap between neighbours."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    revision = models.ForeignKey(Revision, models.CASCADE, related_name="chunks", db_index=False)
    ordinal = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    heading = models.CharField(max_length=300, blank=True)
    tokens = models.PositiveIntegerField()

    objects = models.Manager()
    cut = CutManager()

    class Meta:
        ordering = ["revision", "ordinal"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="chunk_forward"),
            models.UniqueConstraint(fields=["revision", "ordinal"], name="chunk_once"),
        ]

    def __str__(self) -> str:
        return f"{self.revision_id}, {self.ordinal}"


class Passage(Row):
    """A piece of a revision as it is searched: a stretch of one chunk that shares nothing with
    others."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    revision = models.ForeignKey(Revision, models.CASCADE, related_name="passages", db_index=False)
    chunk = models.ForeignKey(Chunk, models.CASCADE, related_name="passages")
    ordinal = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    objects = CutManager()
    places = models.Manager()

    class Meta:
        ordering = ["revision", "ordinal"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="passage_forward"),
            models.UniqueConstraint(fields=["revision", "ordinal"], name="passage_once"),
        ]
        indexes = [models.Index(fields=["workspace", "id"], name="passage_newest")]

    def __str__(self) -> str:
        return f"{self.revision_id}, {self.ordinal}"


def words_of_passages(ids: Collection[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Return the words of these passages. Each text is read once: the database would go through all
    that stands before a passage, for each of them."""
    rows = Passage.places.filter(pk__in=ids).values_list("pk", "revision_id", "start", "end")
    places = list(rows)
    revisions = Revision.objects.filter(pk__in={revision for _, revision, _, _ in places})
    texts = dict(revisions.values_list("pk", "text"))
    return {pk: texts[revision][start:end] for pk, revision, start, end in places}


def passages_of(revisions: Collection[uuid.UUID]) -> list[uuid.UUID]:
    """Return the ids of the passages of these revisions."""
    rows = Passage.places.filter(revision__in=revisions)
    return list(rows.values_list("pk", flat=True))
