"""A workspace comes in from its export: kept line by line, then loaded as a whole.

What was kept stays when the work is stopped; nobody sees any of it before all of it is loaded,
in one transaction that the database alone works on."""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from memories.errors import Invalid
from memories.models import ImportedRow, WorkspaceImport
from memories.summaries import talk_summaries
from memories.transfer.export_workspace import (
    EXPORTED,
    FORMAT,
    VERSION,
    exported_tables,
    migrations,
)
from memoryproject.postgres import visible
from workspaces.models import AuditEntry, Workspace

BATCH = 1_000  # lines of one transaction
LOAD = """
insert into {table} ({columns})
select {values} from memories_importedrow i
cross join lateral jsonb_populate_record(null::{table}, i.row) r
where i.workspace = %(workspace)s and i.model = %(model)s order by i.id
"""
COUNTS = """
select model, count(*) from memories_importedrow where workspace = %s group by model
"""


def planned(first_line: str, slug: str = "") -> WorkspaceImport:
    """The import of the file that begins so, as far as it has come, or a new one that is not saved;
    `slug`: another one than the file's. Raises Invalid where this server cannot take it."""
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
            # What changed in between is in neither: to say that it is here would lose it unseen.
            raise Invalid(
                "file",
                f"The workspace {known.header['workspace']['slug']!r} came here out of another"
                " export, and an import adds nothing to it: remove it first, or leave it.",
            )
        return known
    if Workspace.objects.filter(pk=named["id"]).exists():
        raise Invalid("file", f"The workspace {named['slug']!r} is on this server already.")
    wanted = slug or named["slug"]
    if Workspace.objects.filter(slug=wanted).exists():
        raise Invalid("slug", f"There is another workspace {wanted!r} here: give another slug.")
    head["workspace"]["slug"] = wanted
    if known is None or str(known.export) != head["export"]:
        return WorkspaceImport(workspace=named["id"], export=head["export"], header=head)
    known.header = head
    return known


def begin(first_line: str, slug: str = "") -> WorkspaceImport:
    """As planned, and written down. Of another export of the workspace nothing is kept."""
    row = planned(first_line, slug)
    if row._state.adding:
        for other in WorkspaceImport.objects.filter(workspace=row.workspace):
            abandon(other)
    row.save()
    return row


def read_head(first_line: str) -> dict[str, Any]:
    """What the first line of an export says. Raises Invalid where it is none, or a later one's."""
    try:
        head = json.loads(first_line)
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise Invalid("file", "This is no export of a workspace: `exportworkspace` writes them.")
    if head["version"] != VERSION:
        raise Invalid(
            "file",
            f"It is written in version {head['version']} of the format; this server reads"
            f" {VERSION}: upgrade it.",
        )
    return head


@transaction.atomic(durable=True)
def abandon(row: WorkspaceImport) -> None:
    """Let go of what was kept of a file that was never loaded."""
    ImportedRow.objects.filter(workspace=row.workspace).delete()
    row.delete()


def keep(row: WorkspaceImport, lines: Iterator[str], advance: Callable[[int], object]) -> None:
    """Keep the file's lines after its head, from where it was left. Raises Invalid where the file
    is broken or has no end."""
    for _ in islice(lines, row.lines):
        pass
    advance(row.lines)
    labels = frozenset(EXPORTED)
    while batch := list(islice(lines, BATCH)):
        rows, end = [], None
        for at, line in enumerate(batch, row.lines + 2):  # as an editor counts them
            each = _parsed(line, at)
            if "end" in each:
                end = each
            elif end is not None or each.get("table") not in labels:
                raise Invalid("file", f"Line {at} is not what an export holds.")
            else:
                rows.append(ImportedRow(
                    workspace=row.workspace, model=each["table"], row=each["row"]
                ))  # fmt: skip
        with transaction.atomic(durable=True):
            ImportedRow.objects.bulk_create(rows)
            row.lines += len(rows)
            row.save(update_fields=["lines", "updated_at"])
        advance(len(rows))
        if end is not None:
            check_counts(row, end["counts"])
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


def check_counts(row: WorkspaceImport, told: Mapping[str, int]) -> None:
    """Raises Invalid where other rows came than the file's end counts."""
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [row.workspace])
        kept = dict(cursor.fetchall())
    if kept != dict(told):
        names = [name for name in told.keys() | kept.keys() if told.get(name) != kept.get(name)]
        raise Invalid("file", f"It has not the rows that its end counts: {', '.join(names)}.")


@transaction.atomic(durable=True)
def load(row: WorkspaceImport, actor: str) -> Counter[str]:
    """Make the workspace of the rows that are kept; how many of each table. Raises Invalid where
    this server has some of them already."""
    done: Counter[str] = Counter()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for table in exported_tables():
                values = ", ".join(
                    "%(slug)s"
                    if (table.label, column) == ("workspaces.Workspace", "slug")
                    else f'r."{column}"'
                    for column in table.columns
                )
                text = LOAD.format(table=table.name, columns=table.listed, values=values)
                cursor.execute(text, {
                    "workspace": row.workspace, "model": table.label,
                    "slug": row.header["workspace"]["slug"],
                })  # fmt: skip
                done[table.label] += cursor.rowcount
            cursor.execute("set constraints all immediate")
    except IntegrityError as error:
        first = str(error).splitlines()[0]
        raise Invalid("file", f"Rows of it do not fit this server: {first}") from None
    ImportedRow.objects.filter(workspace=row.workspace).delete()
    row.loaded_at = timezone.now()
    row.save(update_fields=["loaded_at", "updated_at"])
    workspace = Workspace.objects.get(pk=row.workspace)
    AuditEntry.line(
        workspace.pk, actor, "import_workspace", workspace, after={"rows": sum(done.values())}
    ).save()
    return done


def finish(row: WorkspaceImport) -> None:
    """Its index is there, too; the summaries that search finds are made by the worker."""
    talk_summaries.all_due(row.workspace)
    row.finished_at = timezone.now()
    row.save(update_fields=["finished_at", "updated_at"])
