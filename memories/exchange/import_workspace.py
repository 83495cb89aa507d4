"""Rows of an export kept aside, until `load_workspace.py` makes a workspace of them."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db import DataError, connection, transaction

from memories.errors import Invalid
from memories.exchange.export_workspace import FORMAT, VERSION, migrations
from memories.exchange.exported_tables import EXPORTED
from memories.models import ImportedRow, WorkspaceImport
from memoryproject.postgres import visible
from workspaces.models import Workspace
from workspaces.new_workspace import fault_of_slug

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
            f"It is written in version {head.get('version')} of the format; this server reads {VERSION}: upgrade it.",
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
                rows.append(ImportedRow(workspace=row.workspace, model=each["table"], row=each["row"]))
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
