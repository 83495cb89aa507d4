"""Removal of a workspace, with every row of it in every table; its certificate stays.

`request` shuts its doors at once and writes down that it is to go, `run` takes the rows away in
short transactions, each whole in itself: whatever interrupts it, it goes on from what is left.
Which tables hold rows of a workspace is read off the models, so that a new one cannot be forgotten.
"""

import secrets
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from django.apps import apps
from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

from memories.documents import blobs
from memories.index import workspace_index
from memories.models import (
    ConversationSummary,
    Document,
    Entry,
    Erasure,
    FeatureSet,
    Memory,
    MemorySession,
    SyncRun,
    Vector,
    WorkspaceIndex,
)
from memories.privacy import irrevocable
from memories.privacy.erase.removal_queue import RemovalQueue
from memories.privacy.legal_holds import refuse_workspace
from memories.queue import outbox
from memories.queue.due_rows import DIED
from memories.queue.leases import TakenOver
from memoryproject.postgres import crossings
from workspaces.audit import audit_signature
from workspaces.auth import as_uuid
from workspaces.models import (
    REMOVED,
    ApiKey,
    AuditEntry,
    AuditMark,
    Invitation,
    Membership,
    Workspace,
    WorkspaceRemoval,
)

State = WorkspaceRemoval.State
BATCH = 1_000  # rows of one transaction
LONGEST = 240.0  # seconds
QUEUE = RemovalQueue(WorkspaceRemoval, timedelta(seconds=15), most_attempts=10, states=WorkspaceRemoval.OPEN)
due = QUEUE.due
HAVE_TASKS = (
    MemorySession,
    FeatureSet,
    ConversationSummary,
    Erasure,
    Document,
    SyncRun,
)  # ids that tasks are about

BY_FUNCTION: dict[type[models.Model], Callable[[uuid.UUID, int], int]] = {
    AuditEntry: crossings.remove_audit,
    AuditMark: crossings.remove_marks,
}

SOME = "{table}.ctid = any(array(select ctid from {table} where {rows} limit {batch}))"
# A successor that is gone may have no predecessor that names it.
UNLINK = f"update memories_memory set superseded_by_id = null where {SOME}"
DELETE = f"delete from {{table}} where {SOME}"


@dataclass(frozen=True, slots=True)
class WorkspaceTable:
    """A table with rows of a workspace. `rows` is the SQL condition, by the workspace's id or
    number."""

    model: type[models.Model]
    rows: str

    @property
    def name(self) -> str:
        return self.model._meta.db_table

    @property
    def label(self) -> str:
        return str(self.model._meta.verbose_name_plural)


@cache
def tables() -> tuple[WorkspaceTable, ...]:
    """Every table that holds rows of workspaces; what points at others stands before them."""
    every = [*apps.get_app_config("memories").get_models(include_auto_created=True)]
    every += apps.get_app_config("workspaces").get_models(include_auto_created=True)
    found: dict[type[models.Model], WorkspaceTable] = {}

    def visit(model: type[models.Model]) -> None:
        if model in found or not (rows := _rows_of(model)):
            return
        for pointing in every:
            others = {field.related_model for field in pointing._meta.concrete_fields}
            if pointing is Vector:  # its key to the entry is the database's alone
                others = {Entry}
            if pointing is not model and model in others:
                visit(pointing)
        found[model] = WorkspaceTable(model, rows)

    for model in every:
        visit(model)
    return tuple(found.values())


def _rows_of(model: type[models.Model]) -> str:
    """The condition for the rows of a workspace; empty where the table is the server's."""
    if model in (Workspace, WorkspaceRemoval):
        return ""
    for field in model._meta.concrete_fields:
        if field.related_model is Workspace:
            return f"{field.column} = %(id)s::uuid"
        if field.related_model is WorkspaceIndex:
            return f"{field.column} = %(number)s::int4"
        if field.name == "workspace":
            is_number = isinstance(field, models.IntegerField)
            return "workspace = %(number)s::int4" if is_number else "workspace = %(id)s::uuid"
    for field in model._meta.concrete_fields:
        owner: Any = field.related_model
        if owner and not field.null and (rows := _rows_of(owner)):
            return f"{field.column} in (select id from {owner._meta.db_table} where {rows})"
    return ""


def plan(workspace: Workspace) -> dict[str, int]:
    """Count the rows that would go, by kind. Nothing is changed."""
    found = Counter({"workspaces": 1})
    number = WorkspaceIndex.objects.filter(workspace=workspace).values_list("number", flat=True)
    values = {"id": workspace.pk, "number": number.first()}
    for table in tables():
        if table.model is not WorkspaceIndex:  # a part of the workspace
            found[table.label] += _count(table, values)
    return {told: rows for told, rows in found.items() if rows}


def _count(table: WorkspaceTable, values: Mapping[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"select count(*) from {table.name} where {table.rows}", values)
        return int(cursor.fetchone()[0])


@transaction.atomic(durable=True)
def request(workspace: Workspace, actor: str, *, is_again: bool = False) -> WorkspaceRemoval:
    """Let nobody in any more, free its slug, and write down that it is to go; asked twice, it is
    the same removal, and one that was given up is tried again. With `is_again` a backup has brought
    back what was removed: no hold of that time keeps it."""
    space = workspace_index.index_of(workspace.pk)
    workspace_index.lock(space)
    known = WorkspaceRemoval.objects.filter(workspace_id=workspace.pk)
    if (asked := known.exclude(state=State.DONE).first()) is not None:
        audit_signature.end(workspace.pk)
        known.filter(state=State.FAILED).update(**QUEUE.fresh(), state=State.WAITING)
        asked.refresh_from_db()
        return asked
    if not is_again:
        refuse_workspace(workspace.pk)
    audit_signature.end(workspace.pk)
    # One that is done is of a workspace that an import or a backup brought back.
    made, _ = WorkspaceRemoval.objects.update_or_create(
        workspace_id=workspace.pk,
        defaults={
            "number": space.number,
            "requested_by": actor,
            "plan": plan(workspace),
            "removed": {},
            **QUEUE.fresh(),
            "state": State.WAITING,
            "finished_at": None,
        },
    )
    for doors in (ApiKey, Membership, Invitation):
        _, gone = doors._default_manager.filter(workspace=workspace).delete()
        for label, rows in gone.items():
            told = str(apps.get_model(label)._meta.verbose_name_plural)
            made.removed[told] = made.removed.get(told, 0) + rows
    made.save(update_fields=["removed"])
    # The tail is new: whoever knows the id could have given its name to another workspace.
    slug = f"{REMOVED}{workspace.pk.hex}-{secrets.token_hex(8)}"
    Workspace.objects.filter(pk=workspace.pk).update(slug=slug, name="being removed", settings={})
    MemorySession.objects.filter(workspace=workspace).stop("removed")
    tasks = outbox.waiting()
    known_ids = [one for one in map(as_uuid, {i for ids in tasks.values() for i in ids}) if one]
    own = {str(space.number)}
    for model in HAVE_TASKS:
        about = model._default_manager.filter(workspace=workspace, pk__in=known_ids)
        own |= {str(pk) for pk in about.values_list("pk", flat=True)}
    outbox.drop([task for task, ids in tasks.items() if ids & own])
    outbox.post("remove_workspace", made.pk)
    return made


def run(
    removal_id: uuid.UUID,
    seconds: float = LONGEST,
    advance: Callable[[int], object] | None = None,
) -> WorkspaceRemoval | None:
    """Go on with a removal for about `seconds`; None where another worker has it, or it is done.

    `advance` hears how many rows each step took. What is left is due again.
    """
    row = QUEUE.claim(removal_id, state=State.RUNNING)
    if row is None:
        return None
    if not audit_signature.has_ended(row.workspace_id):
        return QUEUE.leave_turn(row, None, "nobody asked this server for it: ask for it again")
    if QUEUE.died_too_often(row):
        return QUEUE.leave_turn(row, None, DIED)
    steps = (advance(rows) if advance else None for rows in _steps(row))
    return QUEUE.turn(row, steps, _finish, time.monotonic() + seconds)


def _steps(row: WorkspaceRemoval) -> Iterator[int]:
    for table in tables():
        if table.model is Memory:
            linked = f"{table.rows} and superseded_by_id is not null"
            while _batch(row, UNLINK.format(table=table.name, rows=linked, batch=BATCH)):
                yield 0
        if table.model is WorkspaceIndex:
            continue  # goes with the workspace: without it a late writer would make another
        if table.model in BY_FUNCTION:
            while taken := _batch(row, None, table):
                yield taken
            continue
        text = DELETE.format(table=table.name, rows=table.rows, batch=BATCH)
        while taken := _batch(row, text, table):
            yield taken


def _batch(row: WorkspaceRemoval, text: str | None, table: WorkspaceTable | None = None) -> int:
    """One step in one transaction, counted with what it takes away; without a text, lines of the
    audit or their marks, which only functions of the database take."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        workspace_index.lock(WorkspaceIndex(workspace_id=row.workspace_id))
        if text is None:
            assert table is not None
            taken = BY_FUNCTION[table.model](row.workspace_id, BATCH)
        else:
            cursor.execute(text, {"id": row.workspace_id, "number": row.number})
            taken = cursor.rowcount
        if table is not None and taken:
            row.removed[table.label] = row.removed.get(table.label, 0) + taken
        if taken:  # else nothing is done by which earlier attempts count no more
            QUEUE.keep(row, removed=row.removed)
    return taken


def _finish(row: WorkspaceRemoval) -> WorkspaceRemoval:
    """Take the workspace itself, once no table has a row of it left."""
    values = {"id": row.workspace_id, "number": row.number}
    with transaction.atomic(durable=True):
        workspace_index.lock(WorkspaceIndex(workspace_id=row.workspace_id))
        left = [t.name for t in tables() if t.model is not WorkspaceIndex and _count(t, values)]
        if left:
            raise IntegrityError(f"rows came into {', '.join(left)}")
        WorkspaceIndex.objects.filter(pk=row.number)._raw_delete(using="default")
        Workspace.objects.filter(pk=row.workspace_id)._raw_delete(using="default")
        row.removed["workspaces"] = 1
        if not QUEUE.leave(row, None, state=State.DONE, error="", removed=row.removed, finished_at=timezone.now()):
            raise TakenOver
        irrevocable.note_row(irrevocable.REMOVED, WorkspaceRemoval._meta.db_table, row.pk)
    blobs.drop_workspace(row.workspace_id)
    audit_signature.drop_copy(row.workspace_id)
    outbox.post("seal")  # the worker drops the approximate indexes that nobody asks any more
    row.refresh_from_db()
    return row
