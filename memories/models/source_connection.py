"""Connections: sources of documents that are kept in sync, what they have, and when they were
asked."""

import hashlib
import json
from collections.abc import Sequence
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memories.models.conversation import Visibility
from memories.models.document import Document
from memories.models.named_row import AllOrNoneQuerySet, NamedQuerySet
from workspaces.models import Agent, Row, Subject, Workspace
from workspaces.scope import Scope

USUAL_MINUTES, MOST_MINUTES = 60, 7 * 24 * 60  # between two syncs, see `sources/connections/sync.py`


class ConnectionQuerySet(AllOrNoneQuerySet["Connection"]):
    pass


class Connection(Row):
    """A source, and the settings of the documents that come from it.

    `credentials` are sealed. `cursor` is the connector's own; `listing` is the number of the latest
    listing of all that the source has. Until `paused_until` the source wants to be left alone, or
    its files have no room (`error`, without a code). It is asked again at `next_sync_at`, or by
    hand where that is null.
    """

    class Provider(models.TextChoices):
        FOLDER = "folder"
        WEB = "web"
        GITHUB = "github"
        S3 = "s3"
        NOTION = "notion"
        GOOGLE_DRIVE = "google_drive"
        ONEDRIVE = "onedrive"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    provider = models.CharField(max_length=20, choices=Provider)
    name = models.CharField(max_length=200)
    options = models.JSONField(default=dict)
    credentials = models.BinaryField(default=b"")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, models.SET_NULL, null=True, related_name="+")
    visibility = models.CharField(max_length=7, choices=Visibility)
    container_tags = ArrayField(models.CharField(max_length=100), default=list)
    extract = models.CharField(max_length=8, choices=Document.Extract, default=Document.Extract.AUTO)
    minutes = models.PositiveIntegerField(default=USUAL_MINUTES)
    cursor = models.JSONField(default=dict)
    listing = models.PositiveIntegerField(default=0)
    next_sync_at = models.DateTimeField(null=True, default=timezone.now)
    paused_until = models.DateTimeField(null=True)
    last_synced_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=30, blank=True)
    error = models.TextField(blank=True)
    requested_by = models.CharField(max_length=200, blank=True)

    objects = ConnectionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["next_sync_at"], name="connection_due")]

    def __str__(self) -> str:
        return self.name

    @property
    def has_credentials(self) -> bool:
        return bool(self.credentials)

    def source_of(self, names: Sequence[str]) -> str:
        """Name the source in the words of these options: another connection that says the same has
        the same items."""
        said = {name: str(self.options.get(name) or "").rstrip("/") for name in names}
        return json.dumps([self.provider, said], sort_keys=True)


class ConnectionItem(Row):
    """An item of a source, and the document that it became. Where that was erased there is none,
    and it does not come again. `misses` counts how often it was looked for and not there; `marks`
    are the connector's, of what it fetched last. An item without a connection was erased from one
    that went; its `digest` is an `origin_of` it."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    connection = models.ForeignKey(Connection, models.CASCADE, null=True, related_name="items", db_index=False)
    document = models.OneToOneField(Document, models.SET_NULL, null=True, related_name="item")
    digest = models.CharField(max_length=64)
    external_id = models.TextField()
    version = models.CharField(max_length=200, blank=True)
    marks = models.JSONField(default=dict)
    listing = models.PositiveIntegerField()
    misses = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["connection", "digest"], name="connection_item_once"),
            models.CheckConstraint(
                condition=Q(connection__isnull=False) | Q(document=None),
                name="connection_item_has_connection",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id


def digest_of(external_id: str) -> str:
    """Return the digest by which an item is known, also when its own words are erased."""
    return hashlib.sha256(external_id.encode()).hexdigest()


class SyncRunQuerySet(NamedQuerySet["SyncRun"]):
    def visible_to(self, scope: Scope) -> Self:
        return self.filter(connection__in=Connection.objects.visible_to(scope).values("pk"))


class SyncRun(Row):
    """One sync of a source. Its row is the queue, as a document's is: due at `next_attempt_at`,
    claimed until `lease_until`; `claims` numbers the claims. `counts` are numbers by name.
    `is_confirmed`: many documents may go, where the source has lost them."""

    class Kind(models.TextChoices):
        SYNC = "sync"
        FULL = "full"  # from nothing: all is listed again and compared
        TEST = "test"
        REMOVE = "remove"  # its documents are erased, then the connection goes

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    OPEN = (State.WAITING, State.RUNNING)

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    connection = models.ForeignKey(Connection, models.CASCADE, related_name="runs", db_index=False)
    kind = models.CharField(max_length=6, choices=Kind)
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    is_confirmed = models.BooleanField(default=False)
    counts = models.JSONField(default=dict)
    answer = models.CharField(max_length=500, blank=True)
    error_code = models.CharField(max_length=30, blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now)
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    requested_by = models.CharField(max_length=200)

    objects = SyncRunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["connection"],
                name="sync_run_one_open",
                condition=Q(state__in=["waiting", "running"]) & ~Q(kind="test"),
            ),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(error_code=""), name="sync_run_failed_says_why"),
        ]
        indexes = [
            models.Index(fields=["connection", "-id"], name="sync_run_newest"),
            models.Index(
                fields=["next_attempt_at"],
                name="sync_run_due",
                condition=Q(state__in=["waiting", "running"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.connection_id}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN
