"""Asking sources what changed: a run is a row that is due, claimed by a worker, and goes on from
the cursor that was kept last."""

import logging
import time
import uuid
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories import erase, leases, long_jobs, metrics, outbox
from memories.connections import apply_changes
from memories.connections.apply_changes import batches, check_again, unlisted
from memories.connectors.connector import Changes, CursorExpired, Unlisted
from memories.connectors.connector_registry import CONNECTORS
from memories.documents.fetch_document import MISSES, pause_of
from memories.documents.open_connection import connector_of, keep_renewed
from memories.errors import Conflict
from memories.index import prepared_sql
from memories.leases import TakenOver
from memories.long_jobs import JobRecorder, NewJob
from memories.models import Connection, ConnectionItem, Erasure, LongJob, SyncRun
from memories.models.source_connection import digest_of
from memories.providers.web_fetch import FetchError
from memoryproject import crossings
from memoryproject.postgres import visible
from workspaces.models import AuditEntry
from workspaces.scope import Scope, worker_scope

State, Kind = SyncRun.State, SyncRun.Kind
LONGEST = 200.0  # seconds of one turn
MAX_ATTEMPTS = 5
AGAIN = timedelta(seconds=30)
MOST_EXPIRED = 3  # cursors in one run
SCHEDULE = "schedule"  # by which a run is requested whose time has come
KEPT_RUNS = 100  # of each connection
# A source that has lost more than so many of its items, and more than half, may be one that was not
# mounted: nothing goes before a person says so.
FEW = 20
log = logging.getLogger(__name__)

CLAIM = f"""
update memories_syncrun
set state = 'running', attempts = attempts + 1, claims = claims + 1, updated_at = %(now)s,
    started_at = coalesce(started_at, %(now)s), lease_until = %(until)s
where id = %(id)s and ((state = 'waiting' and next_attempt_at <= %(now)s)
                       or (state = 'running' and {leases.FREE}))
returning id
"""
# What was erased of it stays away when the same source is connected anew.
KEEP_AWAY = """
update memories_connectionitem
set digest = encode(sha256(convert_to(%(source)s || digest, 'UTF8')), 'hex'), connection_id = null
where connection_id = %(connection)s::uuid and document_id is null
"""


def next_sync(minutes: int) -> datetime | None:
    """Of a connection that is asked every so many minutes; None where it is asked by hand alone.
    How many there are where nobody says: `USUAL_MINUTES`."""
    return timezone.now() + timedelta(minutes=minutes) if minutes else None


def due() -> list[uuid.UUID]:
    """Runs whose turn it is, and those whose worker died."""
    now = timezone.now()
    abandoned = Q(state=State.RUNNING) & leases.free(now)
    rows = SyncRun.objects.filter(Q(state=State.WAITING, next_attempt_at__lte=now) | abandoned)
    return list(rows.order_by("next_attempt_at").values_list("pk", flat=True))


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
                    workspace_id=workspace_id, connection_id=pk, kind=Kind.SYNC,
                    requested_by=SCHEDULE,
                )  # fmt: skip
                outbox.post("run_sync", run.pk)
                made += 1
    return made


def run(run_id: uuid.UUID, seconds: float = LONGEST) -> SyncRun | None:
    """Go on with a run for about so many seconds; None where another worker has it, or it is
    over."""
    values = {"id": run_id, "now": timezone.now(), "until": leases.end()}
    if not prepared_sql.rows(CLAIM, values):
        return None
    row = SyncRun.objects.select_related("connection").get(pk=run_id)
    # As long work where it may be much: the first time, and whenever somebody asked for it.
    is_first = row.connection.last_synced_at is None
    is_long = row.kind != Kind.TEST and (is_first or row.requested_by != SCHEDULE)
    new = NewJob(
        LongJob.Kind.IMPORT, row.workspace_id, None, "documents", by=row.requested_by, item=row.pk
    )
    with long_jobs.recorded(new) if is_long else nullcontext(JobRecorder(LongJob())) as job:
        turn = Turn(row, worker_scope(row.workspace_id, f"connection:{row.connection_id}"), job)
        try:
            with leases.renewed(partial(held, row)) as lease:
                turn.work(time.monotonic() + seconds, lease)
        except FetchError as error:
            turn.refused(error)
        except TakenOver:
            job.leave()
            return None
    return SyncRun.objects.filter(pk=run_id).first()


def held(row: SyncRun) -> QuerySet[SyncRun]:
    """The run, as long as this claim of it stands."""
    return SyncRun.objects.filter(pk=row.pk, claims=row.claims, state=State.RUNNING)


@dataclass(slots=True)
class Turn:
    """One worker's turn with a run."""

    row: SyncRun
    scope: Scope
    job: JobRecorder
    counts: dict[str, int] = field(default_factory=dict)

    def work(self, until: float, lease: leases.Work) -> None:
        self.counts = dict(self.row.counts)
        if self.row.attempts > MAX_ATTEMPTS:
            raise FetchError("attempts", "Its worker died too often.")
        if self.row.kind == Kind.REMOVE:
            return self.remove(lease)
        connection = self.row.connection
        if connection.paused_until and connection.paused_until > timezone.now():
            wait = (connection.paused_until - timezone.now()).total_seconds()
            raise FetchError(
                "rate_limited", "Its source wants a pause.", is_passing=True, retry_after=wait
            )
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
                return self.put_off(timezone.now(), attempts=0)
        self.finish()

    def page(self) -> bool:
        """Ask for one page of changes and write it down; whether it was the last."""
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
                applied = apply_changes.write(connection, items)
                values: dict[str, Any] = {"listing": connection.listing}
                if is_last and not changes.is_last:
                    values["cursor"] = changes.cursor
                Connection.objects.filter(pk=connection.pk).update(**values)
                self.count(
                    added=applied.added, changed=applied.changed, unchanged=applied.unchanged
                )
        if changes.is_last:
            self.end_listing(connection, changes)
        return changes.is_last

    def end_listing(self, connection: Connection, changes: Changes) -> None:
        """What the source has not named goes, or is looked for; then the cursor is kept."""
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
                f"{gone} of its documents would be erased. Sync it with confirmDeletions where"
                " that is meant.",
            )

    def drop_missing(self) -> None:
        """Erase what was looked for often enough and not there."""
        connection = self.row.connection
        rows = connection.items.filter(misses__gte=MISSES, document__isnull=False)
        self.drop(list(rows.values_list("digest", flat=True)), connection)

    def drop(self, digests: list[str], connection: Connection) -> int:
        """Erase the documents of these items, and forget the items; how many. Those that are held
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
        """Erase all that came by the connection, then it goes itself, and its runs with it."""
        connection = self.row.connection
        items = connection.items.filter(document__isnull=False)
        while rows := list(items.values_list("digest", flat=True)[: apply_changes.BATCH]):
            if not self.drop(rows, connection):
                raise FetchError("held", "Some of its documents are under a legal hold.")
            lease.advance()
        with transaction.atomic(durable=True):
            self.lock(connection)
            delete(connection)

    def lock(self, connection: Connection) -> None:
        """In the caller's transaction; raises TakenOver where the claim is lost."""
        Connection.objects.select_for_update().filter(pk=connection.pk).first()
        if not held(self.row).exists():
            raise TakenOver

    def count(self, **more: int) -> None:
        for name, number in more.items():
            if number:
                self.counts[name] = self.counts.get(name, 0) + number
                self.job.done += number
        held(self.row).update(counts=self.counts)

    def finish(self, answer: str = "") -> None:
        row, now = self.row, timezone.now()
        self.job.tell(self.counts)
        with transaction.atomic():
            held(row).update(
                state=State.DONE, counts=self.counts, answer=answer[:500], next_attempt_at=None,
                lease_until=None, finished_at=now, error_code="", error="",
            )  # fmt: skip
            if row.kind != Kind.TEST:
                Connection.objects.filter(pk=row.connection_id).update(
                    next_sync_at=next_sync(row.connection.minutes), error_code="", error="",
                    paused_until=None,
                )  # fmt: skip
            old = SyncRun.objects.filter(connection=row.connection_id).order_by("-id")
            last = list(old.values_list("pk", flat=True)[:KEPT_RUNS])
            old.exclude(pk__in=last).exclude(state__in=SyncRun.OPEN).delete()
            if any(self.counts.get(name) for name in ("added", "changed", "deleted")):
                AuditEntry.line(
                    row.workspace_id, self.scope.actor, "synced_connection", row.connection,
                    after=self.counts,
                ).save()  # fmt: skip
        metrics.count("connections_synced", outcome="done", provider=row.connection.provider)

    def put_off(self, until: object, **values: object) -> None:
        self.job.leave()
        held(self.row).update(
            state=State.WAITING, next_attempt_at=until, lease_until=None, **values
        )
        outbox.post("run_sync", self.row.pk)

    def refused(self, error: FetchError) -> None:
        """Due again where it passes by itself; else failed, and the connection says so."""
        row = self.row
        connection = Connection.objects.filter(pk=row.connection_id)
        if error.code == "rate_limited":
            until = pause_of(error)
            connection.update(paused_until=until)
            return self.put_off(until, error=error.message, attempts=0)
        if error.is_passing and row.attempts < MAX_ATTEMPTS:
            again = timezone.now() + AGAIN * 2**row.attempts
            return self.put_off(again, error=error.message)
        self.job.tell(self.counts)
        self.job.stop() if self.job.is_cancel_asked else self.job.fail(error.message)
        held(row).update(
            state=State.FAILED, error_code=error.code, error=error.message, next_attempt_at=None,
            lease_until=None, finished_at=timezone.now(),
        )  # fmt: skip
        if row.kind != Kind.TEST:
            connection.update(error_code=error.code, error=error.message)
        log.info(
            "workspace %s: sync of connection %s failed: %s",
            row.workspace_id, row.connection_id, error.code,
        )  # fmt: skip
        metrics.count("connections_synced", outcome=error.code, provider=row.connection.provider)


def delete(connection: Connection) -> None:
    """In the caller's transaction: it goes, and what was erased of it stays known."""
    source = connection.source_of(CONNECTORS[connection.provider].named_by)
    prepared_sql.execute(KEEP_AWAY, {"connection": connection.pk, "source": source})
    connection.delete()
