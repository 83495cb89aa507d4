"""The making of a workspace from the rows that were kept of its export, all at once. Nothing is
written elsewhere: whatever a row says, it is of this workspace, and names rows of its own file
alone."""

import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import DataError, IntegrityError, connection, transaction
from django.utils import timezone

from memories.errors import Conflict, Invalid
from memories.exchange.acts_again import DoneAgain, in_workspace, of_workspace
from memories.exchange.exported_tables import ExportedTable, exported_tables
from memories.models import ImportedRow, Revision, WorkspaceImport
from memories.privacy import irrevocable
from memories.profiles.summaries import talk_summaries
from memoryproject.postgres import crossings
from workspaces.audit import audit_signature
from workspaces.audit.audit_chain import AHEAD
from workspaces.audit.audit_signature import LAST_PLACE
from workspaces.models import AuditEntry, Workspace
from workspaces.models.workspace import first_uuid7

LOAD = """
insert into {table} ({columns})
select {values} from memories_importedrow i
cross join lateral jsonb_populate_record(null::{table}, i.row) r
where i.workspace = %(workspace)s and i.model = %(model)s order by i.id
"""
STRANGER = """
select 1 from memories_importedrow i where i.workspace = %(workspace)s and i.model = %(model)s
and i.row ->> %(column)s is distinct from %(workspace)s::text limit 1
"""
# A row that a column refers to, but that the file does not hold.
DANGLING = """
select 1 from memories_importedrow i where i.workspace = %(workspace)s and i.model = %(model)s
and i.row ->> %(column)s is not null and not exists (
  select 1 from memories_importedrow o where o.workspace = %(workspace)s and o.model = %(target)s
  and o.row ->> %(key)s = i.row ->> %(column)s) limit 1
"""
# A named row that belongs to another workspace; one that was erased is no fault.
ELSEWHERE = """
select 1 from memories_importedrow i
cross join lateral jsonb_array_elements_text(
  case jsonb_typeof(i.row -> %(column)s) when 'array' then i.row -> %(column)s
  else jsonb_build_array(i.row -> %(column)s) end) named(id)
join {target} o on o.id = named.id::uuid and o.{owner} <> %(workspace)s
where i.workspace = %(workspace)s and i.model = %(model)s limit 1
"""
# Marks and lines of the audit have ids by which their order is known, and places.
FUTURE = """
select 1 from memories_importedrow i where i.workspace = %(workspace)s and i.model = %(model)s
and ((i.row ->> %(column)s)::uuid > %(last)s or (i.row ->> 'position')::bigint >= %(places)s)
limit 1
"""
AUDIT_IDS = {"workspaces.AuditEntry": "id", "workspaces.AuditMark": "line_id"}
MERGED = (
    "memories.Conversation",
    "memories.MemorySession",
    "memories.Episode",
    "memories.Fact",
    "memories.Memory",
    "memories.Rejection",
    "memories.Intent",
    "memories.Document",
    "memories.Feature",
)
ERASED = (
    "workspaces.Subject",
    "memories.Conversation",
    "memories.Episode",
    "memories.Document",
)
# Columns with ids that no key of the database holds, and of which tables they are.
NAMING: dict[str, tuple[str, ...]] = {
    "memories.MemorySession.episode_ids": ("memories.Episode",),
    "memories.MemorySession.created_ids": ("memories.Memory",),
    "memories.MemorySession.updated_ids": ("memories.Memory",),
    "memories.MemorySession.reinforced_ids": ("memories.Memory",),
    "memories.Document.current_revision": ("memories.Revision",),
    "memories.CaseItem.intent": ("memories.Intent",),
    "memories.Intent.memory_ids": ("memories.Memory",),
    "memories.Intent.case_id": ("memories.Case",),
    "memories.FeatureRefusal.episode_ids": ("memories.Episode",),
    "memories.MergedRows.ids": MERGED,
    "memories.Erasure.target_id": ERASED,
    "memories.GoldenQuestion.memory_ids": ("memories.Memory",),
    "memories.GoldenQuestion.episode_ids": ("memories.Episode",),
}


@transaction.atomic(durable=True)
def load(row: WorkspaceImport, actor: str) -> Counter[str]:
    """Make the workspace from the kept rows. Return how many of each table.

    Raises Invalid, with the table and the column, where a row reaches out of it, and where this
    server has some of them already.
    """
    done: Counter[str] = Counter()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            _refuse_strangers(row.workspace)
            last = first_uuid7(timezone.now() + AHEAD)
            for label, column in AUDIT_IDS.items():
                lines = {"workspace": row.workspace, "model": label, "column": column}
                if _found(FUTURE, {**lines, "last": last, "places": LAST_PLACE}):
                    fault = f"{label}.{column} is of a time that has not come"
                    raise Invalid("file", f"Rows of it do not fit: {fault}.")
            for table in exported_tables():
                fixed = {table.owner: "%(workspace)s"}
                if table.label == "workspaces.Workspace":
                    fixed["slug"] = "%(slug)s"
                values = ", ".join(fixed.get(each, f'r."{each}"') for each in table.columns)
                text = LOAD.format(table=table.name, columns=table.listed, values=values)
                cursor.execute(
                    text,
                    {
                        "workspace": row.workspace,
                        "model": table.label,
                        "slug": row.header["workspace"]["slug"],
                    },
                )
                done[table.label] += cursor.rowcount
            cursor.execute("set constraints all immediate")
            # Index entries stay behind: what was being indexed begins anew.
            Revision.objects.filter(workspace=row.workspace).exclude(stage="").update(indexed=0)
    except (DataError, IntegrityError) as error:
        first = str(error).splitlines()[0]
        raise Invalid("file", f"Rows of it do not fit this server: {first}") from None
    # One of the same id may have been removed here.
    audit_signature.renew(row.workspace, over=audit_signature.known(row.workspace))
    ImportedRow.objects.filter(workspace=row.workspace).delete()
    row.loaded_at = timezone.now()
    row.save(update_fields=["loaded_at", "updated_at"])
    workspace = Workspace.objects.get(pk=row.workspace)
    AuditEntry.line(workspace.pk, actor, "import_workspace", workspace, after={"rows": sum(done.values())}).save()
    return done


def _refuse_strangers(workspace_id: uuid.UUID) -> None:
    kept = ImportedRow.objects.filter(workspace=workspace_id)
    if kept.filter(model="workspaces.Workspace").count() != 1:
        raise Invalid("file", "It has not one row of workspaces.Workspace: an export holds one.")
    for table in exported_tables():
        if not kept.filter(model=table.label).exists():
            continue
        own = {"workspace": workspace_id, "model": table.label}
        if _found(STRANGER, {**own, "column": table.owner}):
            raise _stranger(table, table.owner, "names another workspace than the file is of")
        for column, target, key in references(table):
            if _found(DANGLING, {**own, "column": column, "target": target, "key": key}):
                raise _stranger(table, column, "names a row that the file does not hold")
        for column in table.columns:
            for target in NAMING.get(f"{table.label}.{column}", ()):
                name = apps.get_model(target)._meta.db_table
                text = ELSEWHERE.format(target=name, owner="workspace_id")
                with crossings.everywhere():
                    is_foreign = _found(text, {**own, "column": column})
                if is_foreign:
                    raise _stranger(table, column, "names a row of another workspace")


def references(table: ExportedTable) -> Iterator[tuple[str, str, str]]:
    """Yield its columns that refer to rows, beside the workspace's, with the table and the key of
    those."""
    for field in apps.get_model(table.label)._meta.concrete_fields:
        target: Any = field.related_model
        if target and field.column in {*table.columns} - {table.owner}:
            yield str(field.column), target._meta.label, str(target._meta.pk.column)


def _stranger(table: ExportedTable, column: str, what: str) -> Invalid:
    return Invalid("file", f"Rows of it do not fit: {table.label}.{column} {what}.")


def _found(text: str, values: dict[str, Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchone() is not None


def finish(row: WorkspaceImport) -> None:
    """Finish an import whose index is there, too: erase and mask again what was erased or masked
    here after the export; the worker makes the summaries that search finds."""
    done = DoneAgain()
    acts = irrevocable.written(workspace_id=row.workspace)
    known = of_workspace(acts, row.workspace)
    in_workspace(row.workspace, known, "import", done)
    if done.failures:
        raise Conflict(f"Not all that was erased since is gone again: {'; '.join(done.failures)}.")
    talk_summaries.all_due(row.workspace)
    row.finished_at = timezone.now()
    row.save(update_fields=["finished_at", "updated_at"])
