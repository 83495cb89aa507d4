"""Syncs: asking sources what changed. A run is a row that is due; a worker claims it and goes on
from the cursor that was kept last. The items that a source lists are written down."""

import logging
import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connections, transaction
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from memories import metrics
from memories.documents.document_store import allowed_in, clean_name, put_in_spaces, queued
from memories.documents.fetch_document import (
    MISSES,
    connector_of,
    keep_renewed,
    pause_of,
    why_paused,
)
from memories.documents.hidden_words import keep_hidden, name_without_secrets, without_secrets
from memories.errors import Conflict
from memories.models import Connection, ConnectionItem, Document, Erasure, LongJob, SyncRun
from memories.models.source_connection import digest_of
from memories.privacy import erase
from memories.providers.web_fetch import FetchError
from memories.queue import leases, long_jobs, outbox
from memories.queue.due_rows import DIED, Queue
from memories.queue.leases import TakenOver
from memories.queue.long_jobs import JobRecorder, NewJob
from memories.reading.guard.masked_text import is_masked
from memories.sources.connectors import CONNECTORS
from memories.sources.connectors.connector import Changes, CursorExpired, SourceItem, Unlisted
from memoryproject.postgres import crossings, visible
from workspaces.models import AuditEntry
from workspaces.scope import Scope, worker_scope

# The items of a source, written down: documents that are due, in the transaction that keeps the
# cursor.

BATCH = 200  # items of one transaction
LONGEST_VERSION, LONGEST_TITLE = 200, 500


LONGEST = 200.0  # seconds of one turn
MAX_ATTEMPTS = 5
MOST_EXPIRED = 3  # cursors in one run
SCHEDULE = "schedule"  # by which a run is requested whose time has come
KEPT_RUNS = 100  # of each connection
# A source that has lost more than so many of its items, and more than half, may be one that was not
# mounted: nothing goes before a person says so.
FEW = 20
QUEUE = Queue(SyncRun, timedelta(seconds=30), most_attempts=MAX_ATTEMPTS, states=SyncRun.OPEN, time="next_attempt_at")
due = QUEUE.due
# Erased items stay away when the same source is connected again.
KEEP_AWAY = """
update memories_connectionitem
set digest = encode(sha256(convert_to(%(source)s || digest, 'UTF8')), 'hex'), connection_id = null
where connection_id = %(connection)s::uuid and document_id is null
"""


@dataclass(frozen=True, slots=True)
class Applied:
    """Counts of the items that are new, changed or unchanged; new and changed ones are due."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0


def batches(items: Sequence[SourceItem]) -> Iterator[tuple[Sequence[SourceItem], bool]]:
    """Yield batches of items, each with whether it is the last; one empty batch where there are no
    items."""
    known: dict[str, SourceItem] = {each.id: each for each in items}  # the last word on each
    left = list(known.values())
    for at in range(0, max(1, len(left)), BATCH):
        yield left[at : at + BATCH], at + BATCH >= len(left)


def origin_of(connection: Connection, name: str) -> str:
    """Return the name that an item has once its connection is removed: made of its external id for
    a document that stays, of the item's digest for a document that was erased."""
    source = connection.source_of(CONNECTORS[connection.provider].named_by)
    return digest_of(source + name)


def write(connection: Connection, items: Sequence[SourceItem]) -> Applied:
    """Write down a page of items, in the caller's transaction, which has locked the connection's
    row."""
    allowed = allowed_in(connection.workspace_id)
    digests = {digest_of(each.id): each for each in items}
    rows = ConnectionItem.objects.filter(connection=connection, digest__in=digests)
    known = {row.digest: row for row in rows.select_related("document")}
    present = {d: each for d, each in digests.items() if not each.is_deleted}
    rows.filter(digest__in=present).update(listing=connection.listing)
    unknown = [(d, each) for d, each in present.items() if d not in known]
    away = _keep_away(connection, unknown)
    new = [(d, each) for d, each in unknown if d not in away]
    again = _take_up(connection, [each for _, each in new], allowed)
    _add(connection, [(d, each) for d, each in new if d not in again], allowed)
    changed = [known[d] for d, each in present.items() if d in known and is_due(known[d], each)]
    for row in changed:
        _queue_again(row, digests[row.digest], allowed)
    same = len(present) - len(new) - len(changed)
    return Applied(len(new) - len(again), len(changed) + len(again), same)


def _keep_away(connection: Connection, new: Sequence[tuple[str, SourceItem]]) -> set[str]:
    """Keep out what somebody erased of an earlier connection to the same source. Return the digests
    of these items."""
    origins = {origin_of(connection, name): digest for digest, each in new for name in (each.id, digest)}
    rows = ConnectionItem.objects.filter(workspace_id=connection.workspace_id, connection=None, digest__in=origins)
    away = {origins[origin] for origin in rows.values_list("digest", flat=True)}
    ConnectionItem.objects.bulk_create(
        ConnectionItem(
            workspace_id=connection.workspace_id,
            connection=connection,
            digest=digest,
            listing=connection.listing,
        )
        for digest in sorted(away)
    )
    rows.delete()
    return away


def _take_up(connection: Connection, new: Sequence[SourceItem], allowed: Collection[str]) -> set[str]:
    """Let documents that an earlier connection of the same source left here be of this one, where
    they are about and for the same as its own would be; the digests of their items."""
    origins = {origin_of(connection, each.id): each for each in new}
    same: dict[str, Any] = {name: getattr(connection, name) for name in ("subject_id", "agent_id", "visibility")}
    kept = Document.objects.select_for_update(of=("self",)).filter(
        workspace_id=connection.workspace_id, origin__in=origins, item=None, **same
    )
    newest = {row.origin: row for row in kept.order_by("pk")}
    for origin, document in newest.items():
        item = origins[origin]
        row = ConnectionItem(
            workspace_id=connection.workspace_id,
            connection=connection,
            document=document,
            digest=digest_of(item.id),
            external_id=item.id,
            listing=connection.listing,
        )
        row.save(force_insert=True)
        put_in_spaces(document, connection.container_tags)
        _queue_again(row, item, allowed)
    Document.objects.filter(pk__in=[row.pk for row in newest.values()]).update(origin="")
    return {digest_of(origins[origin].id) for origin in newest}


def is_due(row: ConnectionItem, item: SourceItem) -> bool:
    """Tell whether it is to be fetched. Erased items stay away."""
    if row.document is None:
        return False
    return not item.version or row.version != item.version[:LONGEST_VERSION]


def _add(connection: Connection, new: Sequence[tuple[str, SourceItem]], allowed: Collection[str]) -> None:
    names = [_names_of(item) for _, item in new]
    documents = [
        Document(
            workspace_id=connection.workspace_id,
            subject_id=connection.subject_id,
            agent_id=connection.agent_id,
            visibility=connection.visibility,
            type=item.type or Document.Type.TEXT,
            source=connection.provider,
            url=item.url[:2000],
            filename=name_without_secrets(said["filename"], allowed),
            given_title=without_secrets(said["given_title"], allowed),
            title=without_secrets(said["title"], allowed),
            extract=connection.extract,
            requested_by=connection.requested_by,
        )
        for (_, item), said in zip(new, names, strict=True)
    ]
    Document.objects.bulk_create(documents)
    for document, said in zip(documents, names, strict=True):
        if is_masked(document.title + document.filename):
            keep_hidden(document, said)
    ConnectionItem.objects.bulk_create(
        ConnectionItem(
            workspace_id=connection.workspace_id,
            connection=connection,
            document=document,
            digest=digest,
            external_id=item.id,
            version=item.version[:LONGEST_VERSION],
            listing=connection.listing,
        )
        for (digest, item), document in zip(new, documents, strict=True)
    )
    for document in documents:
        if connection.container_tags:
            put_in_spaces(document, connection.container_tags)
        outbox.post("run_document", document.pk)


def _names_of(item: SourceItem) -> dict[str, str]:
    """Return the names and titles of its document, by column."""
    name, title = clean_name(item.filename), item.title[:LONGEST_TITLE]
    return {"filename": name, "given_title": title, "title": (title or name or item.url)[:LONGEST_TITLE]}


def _queue_again(row: ConnectionItem, item: SourceItem, allowed: Collection[str] = ()) -> None:
    version = item.version[:LONGEST_VERSION]
    ConnectionItem.objects.filter(pk=row.pk).update(version=version, external_id=item.id)
    said = _names_of(item)["given_title"]
    named = {"url": item.url[:2000], "given_title": without_secrets(said, allowed)}
    values = {name: value for name, value in named.items() if value}
    rows = Document.objects.filter(item=row)
    rows.update(**queued(), **values, blob=None)
    if said and row.document:
        row.document.given_title = values["given_title"]
        keep_hidden(row.document, {"given_title": said})
    outbox.post("run_document", row.document_id)


def unlisted(connection: Connection) -> list[ConnectionItem]:
    """Items that the listing under way has not named, up to a batch."""
    rows = connection.items.filter(listing__lt=connection.listing, document__isnull=False)
    return list(rows.select_related("document").order_by("pk")[:BATCH])


def check_again(connection: Connection) -> int:
    """Make items that were not named due, in the caller's transaction: those that the source no
    longer has are found missing. Return how many."""
    rows = unlisted(connection)
    for row in rows:
        _queue_again(row, SourceItem(row.external_id, row.version))
    known = [row.pk for row in rows]
    ConnectionItem.objects.filter(pk__in=known).update(listing=connection.listing)
    return len(rows)


State, Kind = SyncRun.State, SyncRun.Kind
log = logging.getLogger(__name__)


def next_sync(minutes: int) -> datetime | None:
    """Return the time of the next sync in so many minutes; None where a connection is synced by
    hand alone. The default is `USUAL_MINUTES`."""
    return timezone.now() + timedelta(minutes=minutes) if minutes else None


def schedule() -> int:
    """Make a run for each connection whose time has come; how many."""
    with crossings.everywhere():
        rows = Connection.objects.filter(next_sync_at__lte=timezone.now())
        found = list(rows.values_list("workspace_id", "pk", "minutes"))
    made = 0
    for workspace_id, pk, minutes in found:
        with visible.only(workspace_id), transaction.atomic():
            rows = Connection.objects.select_for_update().filter(pk=pk)
            known = SyncRun.objects.filter(connection=pk, state__in=SyncRun.OPEN)
            if rows.update(next_sync_at=next_sync(minutes)) and not known.exists():
                run = SyncRun.objects.create(
                    workspace_id=workspace_id,
                    connection_id=pk,
                    kind=Kind.SYNC,
                    requested_by=SCHEDULE,
                )
                outbox.post("run_sync", run.pk)
                made += 1
    return made


def run(run_id: uuid.UUID, seconds: float = LONGEST) -> SyncRun | None:
    """Go on with a run for about so many seconds; None where another worker has it, or it is
    over."""
    row = QUEUE.claim(run_id, state=State.RUNNING, started_at=Coalesce("started_at", Now()))
    if row is None:
        return None
    # Shown as long work where it may be much: the first time, and whenever somebody asked for it.
    is_first = row.connection.last_synced_at is None
    is_long = row.kind != Kind.TEST and (is_first or row.requested_by != SCHEDULE)
    new = NewJob(LongJob.Kind.IMPORT, row.workspace_id, None, "documents", by=row.requested_by, item=row.pk)
    with long_jobs.recorded(new) if is_long else nullcontext(JobRecorder(LongJob())) as job:
        turn = Turn(row, worker_scope(row.workspace_id, f"connection:{row.connection_id}"), job)
        try:
            with QUEUE.renewed(row) as lease:
                turn.work(time.monotonic() + seconds, lease)
        except FetchError as error:
            turn.refused(error)
        except TakenOver:
            job.leave()
            return None
    return SyncRun.objects.filter(pk=run_id).first()


@dataclass(slots=True)
class Turn:
    """One worker's turn with a run."""

    row: SyncRun
    scope: Scope
    job: JobRecorder
    counts: dict[str, int] = field(default_factory=dict)

    def work(self, until: float, lease: leases.Work) -> None:
        self.counts = dict(self.row.counts)
        if QUEUE.died_too_often(self.row):
            raise FetchError("attempts", DIED)
        if self.row.kind == Kind.REMOVE:
            return self.remove(lease)
        connection = self.row.connection
        if connection.paused_until and connection.paused_until > timezone.now():
            wait = (connection.paused_until - timezone.now()).total_seconds()
            raise FetchError("rate_limited", why_paused(connection), is_passing=True, retry_after=wait)
        if self.row.kind == Kind.TEST:
            connector = connector_of(connection)
            answer = connector.test()
            keep_renewed(connection, connector)
            return self.finish(answer=answer)
        self.drop_missing()
        while not self.page():
            lease.advance()
            if self.job.is_cancel_asked:
                raise FetchError("stopped", "Somebody stopped it. The next one goes on from here.")
            if time.monotonic() >= until:
                return self.put_off(timezone.now())
        self.finish()

    def page(self) -> bool:
        """Ask for one page of changes and write it down. Return whether it was the last."""
        connection = Connection.objects.get(pk=self.row.connection_id)
        connector = connector_of(connection)
        if not connection.cursor:
            connection.listing += 1
        try:
            changes = connector.changes(connection.cursor)
        except CursorExpired:
            if self.counts.get("expired", 0) >= MOST_EXPIRED:
                raise FetchError("fetch_failed", "The source knows no cursor of its own.") from None
            with transaction.atomic(durable=True):
                self.lock(connection)
                Connection.objects.filter(pk=connection.pk).update(cursor={})
            self.count(expired=1)
            return False
        keep_renewed(connection, connector)
        self.drop([digest_of(each.id) for each in changes.items if each.is_deleted], connection)
        for items, is_last in batches(changes.items):
            with transaction.atomic(durable=True):
                self.lock(connection)
                applied = write(connection, items)
                values: dict[str, Any] = {"listing": connection.listing}
                if is_last and not changes.is_last:
                    values["cursor"] = changes.cursor
                    QUEUE.keep(self.row)
                Connection.objects.filter(pk=connection.pk).update(**values)
                self.count(added=applied.added, changed=applied.changed, unchanged=applied.unchanged)
        if changes.is_last:
            self.end_listing(connection, changes)
        return changes.is_last

    def end_listing(self, connection: Connection, changes: Changes) -> None:
        """Erase or check the items that the source has not named; then keep the cursor."""
        if changes.unlisted == Unlisted.GONE:
            self.refuse_many(connection)
            while rows := unlisted(connection):
                known = [row.digest for row in rows]
                if not self.drop(known, connection):
                    break  # all of them are held
        while changes.unlisted == Unlisted.CHECKED:
            with transaction.atomic(durable=True):
                self.lock(connection)
                checked = check_again(connection)
                self.count(checked=checked)
            if not checked:
                break
        with transaction.atomic(durable=True):
            self.lock(connection)
            Connection.objects.filter(pk=connection.pk).update(
                cursor=changes.cursor, listing=connection.listing, last_synced_at=timezone.now()
            )

    def refuse_many(self, connection: Connection) -> None:
        items = connection.items.filter(document__isnull=False)
        gone = items.filter(listing__lt=connection.listing).count()
        if gone > FEW and 2 * gone > items.count() and not self.row.is_confirmed:
            raise FetchError(
                "many_deletions",
                f"{gone} of its documents would be erased. Sync it with confirmDeletions where that is meant.",
            )

    def drop_missing(self) -> None:
        """Erase documents that were missing often enough."""
        connection = self.row.connection
        rows = connection.items.filter(misses__gte=MISSES, document__isnull=False)
        self.drop(list(rows.values_list("digest", flat=True)), connection)

    def drop(self, digests: list[str], connection: Connection) -> int:
        """Erase the documents of these items, and forget the items. Return how many. Items on hold
        stay."""
        gone = held_back = 0
        rows = ConnectionItem.objects.filter(connection=connection, digest__in=digests)
        for row in rows:
            if row.document_id is not None:
                try:
                    target = erase.target_of(self.scope, Erasure.Kind.DOCUMENT, row.document_id)
                    erase.request(self.scope, target)
                except Conflict:
                    held_back += 1
                    continue
            ConnectionItem.objects.filter(pk=row.pk).delete()
            gone += 1
        if gone or held_back:
            self.count(deleted=gone, held=held_back)
        return gone

    def remove(self, lease: leases.Work) -> None:
        """Erase all that came by the connection, then the connection itself with its runs."""
        connection = self.row.connection
        items = connection.items.filter(document__isnull=False)
        while rows := list(items.values_list("digest", flat=True)[:BATCH]):
            if not self.drop(rows, connection):
                raise FetchError("held", "Some of its documents are under a legal hold.")
            QUEUE.keep(self.row)
            lease.advance()
        with transaction.atomic(durable=True):
            self.lock(connection)
            delete(connection)

    def lock(self, connection: Connection) -> None:
        """Lock the connection in the caller's transaction; raises TakenOver where the claim is
        lost."""
        Connection.objects.select_for_update().filter(pk=connection.pk).first()
        if not QUEUE.held(self.row).exists():
            raise TakenOver

    def count(self, **more: int) -> None:
        for name, number in more.items():
            if number:
                self.counts[name] = self.counts.get(name, 0) + number
                self.job.done += number
        QUEUE.held(self.row).update(counts=self.counts)

    def finish(self, answer: str = "") -> None:
        row = self.row
        self.job.tell(self.counts)
        with transaction.atomic():
            QUEUE.leave(
                row,
                None,
                state=State.DONE,
                counts=self.counts,
                answer=answer[:500],
                finished_at=timezone.now(),
                error_code="",
                error="",
            )
            if row.kind != Kind.TEST:
                Connection.objects.filter(pk=row.connection_id).update(
                    next_sync_at=next_sync(row.connection.minutes),
                    error_code="",
                    error="",
                    paused_until=None,
                )
            old = SyncRun.objects.filter(connection=row.connection_id).order_by("-id")
            last = list(old.values_list("pk", flat=True)[:KEPT_RUNS])
            old.exclude(pk__in=last).exclude(state__in=SyncRun.OPEN).delete()
            if any(self.counts.get(name) for name in ("added", "changed", "deleted")):
                AuditEntry.line(
                    row.workspace_id,
                    self.scope.actor,
                    "synced_connection",
                    row.connection,
                    after=self.counts,
                ).save()
        metrics.count("connections_synced", outcome="done", provider=row.connection.provider)

    def put_off(self, until: datetime, attempts: int = 0, **values: object) -> None:
        self.job.leave()
        QUEUE.leave(self.row, until, state=State.WAITING, attempts=attempts, **values)
        outbox.post("run_sync", self.row.pk)

    def refused(self, error: FetchError) -> None:
        """Make the run due again where the error passes by itself; else fail it, and note that on
        the connection."""
        row = self.row
        connection = Connection.objects.filter(pk=row.connection_id)
        if error.code == "rate_limited":
            until = pause_of(error)
            connection.update(paused_until=until)
            return self.put_off(until, error=error.message)
        if error.is_passing and (again_at := QUEUE.retry_at(row)) is not None:
            return self.put_off(again_at, row.attempts, error=error.message)
        self.job.tell(self.counts)
        self.job.stop() if self.job.is_cancel_asked else self.job.fail(error.message)
        QUEUE.leave(
            row,
            None,
            state=State.FAILED,
            error_code=error.code,
            error=error.message,
            finished_at=timezone.now(),
        )
        if row.kind != Kind.TEST:
            connection.update(error_code=error.code, error=error.message)
        log.info(
            "workspace %s: sync of connection %s failed: %s",
            row.workspace_id,
            row.connection_id,
            error.code,
        )
        metrics.count("connections_synced", outcome=error.code, provider=row.connection.provider)


def delete(connection: Connection) -> None:
    """Delete the connection in the caller's transaction; what was erased of it stays known."""
    source = connection.source_of(CONNECTORS[connection.provider].named_by)
    with connections["default"].cursor() as cursor:
        cursor.execute(KEEP_AWAY, {"connection": connection.pk, "source": source})
    connection.delete()
