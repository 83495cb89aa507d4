"""A workspace with all its history as lines of JSON, out of one snapshot, batch by batch: what it
holds of each table, and what it does not, with the reason; and what is kept of a file that comes
in, until `load_workspace.py` makes a workspace of it."""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from django.apps import apps
from django.db import DataError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from memories.errors import Conflict, Invalid
from memories.index import workspace_index
from memories.models import ImportedRow, WorkspaceImport
from memoryproject.postgres import visible
from workspaces.models import AuditEntry, Workspace
from workspaces.new_workspace import fault_of_slug

# Referenced before those that refer to it.
EXPORTED = (
    "workspaces.Workspace", "workspaces.Team", "workspaces.Agent", "workspaces.Subject",
    "memories.WorkspacePattern", "memories.WorkspaceSlot", "memories.WorkspaceChange",
    "memories.Conversation", "memories.MemorySession", "memories.Episode",
    "memories.Space", "memories.Document", "memories.DocumentSpace", "memories.Revision",
    "memories.DocumentPart", "memories.Chunk", "memories.Passage",
    "memories.Memory", "memories.MemoryPeriod", "memories.Ground", "memories.Rejection",
    "memories.Fact", "memories.Citation", "memories.Miss",
    "memories.Case", "memories.Supersession", "memories.CaseItem", "memories.Intent",
    "memories.MaskedSpan", "memories.ConversationSummary",
    "memories.FeatureSet", "memories.SetDiscovery", "memories.Feature", "memories.FeatureChange",
    "memories.FeatureCitation", "memories.FeatureMark", "memories.FeatureRefusal",
    "memories.SubjectMerge", "memories.MergedRows", "memories.ExtractorUse", "memories.Erasure",
    "memories.LegalHold", "memories.GoldenQuestion", "memories.GoldenRun", "memories.ModelUse",
    "workspaces.AuditEntry", "workspaces.AuditMark",
)  # fmt: skip

OF_THE_INDEX = "derived: made anew from what is exported, by the rules and models of the server"
FILES_STAY = "files stay behind, what was read of them goes: a backup has both"
SOURCES_STAY = "a source is opened by credentials that this server sealed: connect it anew there"
OF_THE_SERVER = "the server's own, and of no workspace"
NOT_EXPORTED = {
    "memories.WorkspaceIndex": OF_THE_INDEX,
    "memories.Entry": OF_THE_INDEX,
    "memories.Vector": OF_THE_INDEX,
    "memories.DueVector": OF_THE_INDEX,
    "memories.TalkSummary": "derived: made anew of what is exported",
    "memories.DueSummary": "what waits to be made; all is due where it comes to",
    "memories.Speaker": OF_THE_INDEX,
    "memories.CommonTerm": OF_THE_INDEX,
    "memories.LargeLayer": OF_THE_INDEX,
    "memories.IndexRepair": OF_THE_INDEX,
    "memories.EmbeddingModel": OF_THE_SERVER,
    "memories.EvaluationRun": OF_THE_SERVER,
    "memories.SearchUse": "counts of what this server did",
    "memories.MemoryUse": "counts of what this server did",
    "memories.ModelPrice": OF_THE_SERVER,
    "memories.Blob": FILES_STAY,
    "memories.Connection": SOURCES_STAY,
    "memories.ConnectionItem": SOURCES_STAY,
    "memories.SyncRun": SOURCES_STAY,
    "memories.Breaker": OF_THE_SERVER,
    "memories.PostedJob": OF_THE_SERVER,
    "memories.IrrevocableAct": "what this server did, signed with its key",
    "memories.WorkerBeat": OF_THE_SERVER,
    "memories.ChangeEvent": "what changed here within a day, for who listens here",
    "memories.Webhook": "its secret is made of this server's: make others there",
    "memories.WebhookDelivery": "what this server sent",
    "memories.FailureMark": "what members said of failures, and members stay behind",
    "memories.LongJob": "how far work of this server was",
    "memories.Figure": "counts of what this server did",
    "memories.IdempotentAnswer": "answers to repeated requests of this server, kept for a day",
    "memories.WorkspaceImport": "how far an import has come",
    "memories.ImportedRow": "how far an import has come",
    "workspaces.User": OF_THE_SERVER,
    "workspaces.User_groups": OF_THE_SERVER,
    "workspaces.User_user_permissions": OF_THE_SERVER,
    "workspaces.Membership": "people have accounts of each server: invite them there",
    "workspaces.Invitation": "people have accounts of each server: invite them there",
    "workspaces.ApiKey": "a key opens the server that issued it: issue others there",
    "workspaces.ApiKey_subjects": "a key opens the server that issued it: issue others there",
    "workspaces.ServerKey": OF_THE_SERVER,
    "workspaces.LoginAttempt": OF_THE_SERVER,
    "workspaces.LoginPause": OF_THE_SERVER,
    "workspaces.RecoveryCode": OF_THE_SERVER,
    "workspaces.SecondFactor": OF_THE_SERVER,
    "workspaces.AuditSeal": "signed with this server's key: that of an import is made anew",
    "workspaces.WorkspaceRemoval": "the certificate of a workspace that is no more",
}

CLAIMED = "a worker's claim: nobody works on it there"
COUNTED_HERE = "numbered by the database that it comes to"
# Columns of exported tables that are not; each is null or the database's own there.
LEFT_OUT = {
    "memories.MemorySession.lease_until": CLAIMED,
    "memories.MemorySession.answer": "kept answers stay behind",
    "memories.Document.blob": FILES_STAY,
    "memories.Document.lease_until": CLAIMED,
    "memories.Revision.blob": FILES_STAY,
    "memories.FeatureSet.lease_until": CLAIMED,
    "memories.FeatureSet.rung_at": CLAIMED,
    "memories.FeatureSet.embedding_lease_until": CLAIMED,
    "memories.FeatureSet.embedder": OF_THE_INDEX,
    "memories.FeatureSet.embedding_model": OF_THE_INDEX,
    "memories.FeatureSet.embedding_due_at": OF_THE_INDEX,
    "memories.ConversationSummary.lease_until": CLAIMED,
    "memories.Erasure.lease_until": CLAIMED,
    "memories.Case.assignee": "a member, and members stay behind",
    "memories.Memory.is_head": "derived: the database makes it of other columns",
    **{
        f"memories.{name}.id": COUNTED_HERE
        for name in (
            "MemoryPeriod", "Ground", "Citation", "CaseItem", "FeatureCitation", "ExtractorUse",
            "ModelUse",
            "DocumentPart", "DocumentSpace",
        )
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """`owner` is the column with the workspace's id; `order` are columns that give the order in
    which rows came."""

    label: str
    name: str
    columns: tuple[str, ...]
    owner: str
    order: str

    @property
    def listed(self) -> str:
        return ", ".join(f'"{column}"' for column in self.columns)


@cache
def exported_tables() -> tuple[ExportedTable, ...]:
    """Return the tables in the order in which they are read and written."""
    tables = []
    for label in EXPORTED:
        meta = apps.get_model(label)._meta
        columns = tuple(
            str(f.column) for f in meta.concrete_fields if f"{label}.{f.name}" not in LEFT_OUT
        )
        parts = [*getattr(meta.pk, "columns", ())] or [meta.pk.column]
        owner = "id" if label == "workspaces.Workspace" else "workspace_id"
        tables.append(ExportedTable(label, meta.db_table, columns, owner, ", ".join(parts)))
    return tuple(tables)


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


def export_workspace(
    workspace: Workspace, advance: Callable[[int], object] = lambda rows: None
) -> Iterator[str]:
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
            text = ROWS.format(
                columns=table.listed, table=table.name, owner=table.owner, order=table.order
            )
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
            f" run manage.py exportworkspace FILE --workspace {workspace.slug}",
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


# A workspace comes in from its export: kept line by line, then loaded as a whole.
#
# Kept lines stay when the work is stopped; nobody sees any of them before all are loaded,
# in one transaction that the database alone works on.

IMPORTED_AT_ONCE = 1_000  # lines of one transaction
COUNTS = """
select model, count(*) from memories_importedrow where workspace = %s group by model
"""


def planned(first_line: str, slug: str = "") -> WorkspaceImport:
    """Return the import of the file that begins so, as far as it has come, or a new one that is not
    saved; `slug`: another one than the file's. Raises Invalid where this server cannot take it."""
    head = read_head(first_line)
    ours = migrations()
    if head["migrations"] != ours:
        theirs = ", ".join(f"{app} {name}" for app, name in sorted(head["migrations"].items()))
        here = ", ".join(f"{app} {name}" for app, name in sorted(ours.items()))
        raise Invalid(
            "file",
            f"It was written by another version: its data is of {theirs}; this server's of {here}."
            " Import it into a server of that version, and upgrade that one.",
        )
    named = head["workspace"]
    visible.add(uuid.UUID(named["id"]))
    known = WorkspaceImport.objects.filter(workspace=named["id"]).first()
    if known is not None and known.loaded_at is not None:
        if str(known.export) != head["export"]:
            # Changes in between are in neither: to say that it is here would lose them unseen.
            raise Invalid(
                "file",
                f"The workspace {known.header['workspace']['slug']!r} came here out of another"
                " export, and an import adds nothing to it: remove it first, or leave it.",
            )
        return known
    if Workspace.objects.filter(pk=named["id"]).exists():
        raise Invalid("file", f"The workspace {named['slug']!r} is on this server already.")
    wanted = slug or named["slug"]
    if fault := fault_of_slug(wanted):
        raise Invalid("slug", f"{wanted!r} can be no slug here: {fault} Give another.")
    if Workspace.objects.filter(slug=wanted).exists():
        raise Invalid("slug", f"There is another workspace {wanted!r} here: give another slug.")
    head["workspace"]["slug"] = wanted
    if known is None or str(known.export) != head["export"]:
        return WorkspaceImport(workspace=named["id"], export=head["export"], header=head)
    known.header = head
    return known


def begin(first_line: str, slug: str = "") -> WorkspaceImport:
    """Save the import as `planned`. Nothing of another export of the workspace is kept."""
    row = planned(first_line, slug)
    if row._state.adding:
        for other in WorkspaceImport.objects.filter(workspace=row.workspace):
            abandon(other)
    row.save()
    return row


def read_head(first_line: str) -> dict[str, Any]:
    """Read the first line of an export. Raises Invalid where it is none, or a later version's."""
    try:
        head = json.loads(first_line)
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise Invalid("file", "This is no export of a workspace: `exportworkspace` writes them.")
    if head.get("version") != VERSION:
        raise Invalid(
            "file",
            f"It is written in version {head.get('version')} of the format; this server reads"
            f" {VERSION}: upgrade it.",
        )
    try:
        named = head["workspace"]
        ids = [named["id"], head["export"]]
        is_whole = ids == [str(uuid.UUID(each)) for each in ids]
        is_whole = is_whole and isinstance(named["slug"], str) and bool(dict(head["migrations"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise Invalid("file", "Line 1 is not what an export begins with.")
    return head


@transaction.atomic(durable=True)
def abandon(row: WorkspaceImport) -> None:
    """Delete what was kept of a file that was never loaded."""
    ImportedRow.objects.filter(workspace=row.workspace).delete()
    row.delete()


def keep(row: WorkspaceImport, lines: Iterator[str], advance: Callable[[int], object]) -> None:
    """Keep the file's lines after its head, from where it was left. Raises Invalid where the file
    is broken or has no end."""
    for _ in islice(lines, row.lines):
        pass
    advance(row.lines)
    labels = frozenset(EXPORTED)
    while batch := list(islice(lines, IMPORTED_AT_ONCE)):
        rows, end = [], None
        for at, line in enumerate(batch, row.lines + 2):  # as an editor counts them
            each = _parsed(line, at)
            if "end" in each:
                end = each
            elif end is not None or each.get("table") not in labels or "row" not in each:
                raise Invalid("file", f"Line {at} is not what an export holds.")
            else:
                rows.append(ImportedRow(
                    workspace=row.workspace, model=each["table"], row=each["row"]
                ))  # fmt: skip
        try:
            with transaction.atomic(durable=True):
                ImportedRow.objects.bulk_create(rows)
                known = row.lines + len(rows)
                WorkspaceImport.objects.filter(pk=row.pk).update(lines=known)
        except DataError:  # the database knows no character with the number 0
            told = f"Between line {row.lines + 2} and line {row.lines + len(rows) + 1}"
            raise Invalid("file", f"{told} is a character that no export holds.") from None
        row.lines = known
        advance(len(rows))
        if end is not None:
            check_counts(row, end.get("counts"))
            return
    raise Invalid("file", "It has no end: it was cut off. Export it again.")


def _parsed(line: str, at: int) -> Mapping[str, Any]:
    try:
        each = json.loads(line)
    except ValueError:
        raise Invalid("file", f"Line {at} is broken: the file was cut off or changed.") from None
    if not isinstance(each, dict):
        raise Invalid("file", f"Line {at} is not what an export holds.")
    return each


def check_counts(row: WorkspaceImport, told: Any) -> None:
    """Raise Invalid where the rows are not as many as the file's end counts."""
    if not isinstance(told, dict):
        raise Invalid("file", "Its last line is not what an export ends with.")
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [row.workspace])
        kept = dict(cursor.fetchall())
    if kept != told:
        names = [name for name in told.keys() | kept.keys() if told.get(name) != kept.get(name)]
        raise Invalid("file", f"It has not the rows that its end counts: {', '.join(names)}.")
