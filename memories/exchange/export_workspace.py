"""Export of a workspace with all its history as lines of JSON, out of one snapshot, batch by
batch."""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from memories.errors import Conflict
from memories.exchange.exported_tables import exported_tables
from memories.index import workspace_index
from memoryproject.postgres import visible
from workspaces.models import AuditEntry, Workspace

FORMAT = "memoryproject workspace"
VERSION = 1
EXPORTED_AT_ONCE = 500  # rows held at a time
MOST_OVER_HTTP = 100_000  # rows: about twenty seconds of a process that serves

ROWS = """
select to_jsonb(t)::text from (select {columns} from {table} where {owner} = %s order by {order}) t
"""
COUNT = "select count(*) from {table} where {owner} = %s"


def migrations() -> dict[str, str]:
    """The newest migration of each of our apps, which says what the columns mean."""
    leaves = MigrationLoader(None).graph.leaf_nodes()
    return {app: name for app, name in leaves if app in ("memories", "workspaces")}


def size(workspace: Workspace) -> int:
    """Count the rows that an export would hold."""
    rows = 0
    with connection.cursor() as cursor:
        for table in exported_tables():
            cursor.execute(COUNT.format(table=table.name, owner=table.owner), [workspace.pk])
            rows += int(cursor.fetchone()[0])
    return rows


def export_workspace(workspace: Workspace, advance: Callable[[int], object] = lambda rows: None) -> Iterator[str]:
    """Yield the lines of the file, without line ends: a head, each row, and an end that counts
    them.

    All of it is one moment of the database, whatever is written meanwhile. `advance` hears how many
    rows each step took.
    """
    model = workspace_index.index_of(workspace.pk).embedding_model
    head = {
        "format": FORMAT,
        "version": VERSION,
        "export": str(uuid.uuid4()),
        "migrations": migrations(),
        "workspace": {"id": str(workspace.pk), "slug": workspace.slug, "name": workspace.name},
        "embeddingModel": str(model) if model else None,
        "exportedAt": timezone.now().isoformat(),
    }
    counts: Counter[str] = Counter()
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("set transaction isolation level repeatable read, read only")
        yield json.dumps(head, ensure_ascii=False)
        for table in exported_tables():
            text = ROWS.format(columns=table.listed, table=table.name, owner=table.owner, order=table.order)
            start = f'{{"table": "{table.label}", "row": '
            for rows in _batches(text, workspace.pk):
                yield from (f"{start}{row}}}" for row in rows)
                counts[table.label] += len(rows)
                advance(len(rows))
    yield json.dumps({"end": True, "counts": counts})


def export_over_http(workspace: Workspace, actor: str) -> Iterator[bytes]:
    """Return the export as parts of an answer, with a line in the audit. Raises Conflict where it
    is more than one request should send."""
    rows = size(workspace)
    if rows > MOST_OVER_HTTP:
        raise Conflict(
            f"{rows:,} rows are more than one request sends ({MOST_OVER_HTTP:,}): let the operator"
            f" run the command exportworkspace FILE --workspace {workspace.slug}",
            code="too_large",
        )
    AuditEntry.line(workspace.pk, actor, "export", workspace, after={"rows": rows}).save()
    return _parts(workspace, visible.setting())


def _parts(workspace: Workspace, setting: str) -> Iterator[bytes]:
    """Yield the export in parts. Each is made with the request's visibility."""
    lines = export_workspace(workspace)
    while True:
        with visible.as_set(setting):
            some = list(islice(lines, EXPORTED_AT_ONCE))
        if not some:
            return
        yield "".join(f"{line}\n" for line in some).encode()


def _batches(text: str, workspace_id: uuid.UUID) -> Iterator[list[str]]:
    """Read rows by a server-side cursor, so that no table is held in memory."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(text, [workspace_id])
        while rows := cursor.fetchmany(EXPORTED_AT_ONCE):
            yield [row for (row,) in rows]
