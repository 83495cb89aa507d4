"""After a restore or an import of what is older: what was erased, removed, masked or unmasked since
is done again, so that a certificate stays true and masks are as they are now.

Each act has its own short transactions; twice is once. Certificates come back as they were issued;
beside each is that of the second time, with a proof of its own.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, TypeVar

from django.db import models, transaction
from django.utils.dateparse import parse_datetime

from memories.belief import review
from memories.belief.review.forget import KEEP
from memories.index import workspace_index
from memories.models import (
    Conversation,
    Document,
    Episode,
    Erasure,
    MaskedSpan,
    Memory,
    Rejection,
    Revision,
    WorkspaceIndex,
)
from memories.privacy import masks
from memories.privacy.erase import erasure_run, workspace_removal
from memories.privacy.erase.erasure_plan import ErasureTarget
from memories.privacy.irrevocable import ERASED, FORGOTTEN, MASKED, REMOVED, UNMASKED, Acts, Row, place_of
from memories.privacy.masks import MaskReason
from memories.reading.guard.masked_text import BLOCK, Span
from memoryproject.postgres import crossings, visible
from workspaces.models import Agent, Subject, Workspace, WorkspaceRemoval
from workspaces.scope import Scope, worker_scope

# The longest time from the moment of a dump to the end of a removal that is in it.
LATE = timedelta(minutes=15)
BATCH = 100  # masks of one transaction
T = TypeVar("T")
TARGETS: Mapping[str, type[models.Model]] = {
    Erasure.Kind.SUBJECT: Subject,
    Erasure.Kind.CONVERSATION: Conversation,
    Erasure.Kind.EPISODE: Episode,
    Erasure.Kind.DOCUMENT: Document,
}
MASKS_OF: Mapping[str, type[models.Model]] = {
    "episode": Episode,
    "revision": Revision,
    "memory": Memory,
}


@dataclass(slots=True)
class DoneAgain:
    """Counts of acts by kind; `failures` are in words, for whoever restores."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def do_again(acts: Acts, actor: str, *, since: datetime | None = None) -> DoneAgain:
    """Do the acts again in all existing workspaces; `since` is the moment of the backup: what was
    removed before it and is in it had come back."""
    done = DoneAgain()
    with crossings.everywhere():
        here = {str(pk) for pk in Workspace.objects.values_list("pk", flat=True)}
    for row in acts.rows(REMOVED):
        with visible.only(uuid.UUID(row["workspace_id"])):
            if _remove(row, actor, since, done):
                here.discard(row["workspace_id"])
    for workspace, rows in sorted(_by_workspace(acts).items()):
        if workspace in here:
            in_workspace(uuid.UUID(workspace), rows, actor, done)
    return done


def in_workspace(workspace_id: uuid.UUID, rows: Mapping[str, Sequence[Row]], actor: str, done: DoneAgain) -> None:
    """Do the acts again in one workspace."""
    with visible.only(workspace_id):
        for row in rows[ERASED]:
            _erase(row, actor, done)
        space, scope = workspace_index.index_of(workspace_id), worker_scope(workspace_id, actor)
        _unmask(scope, space, rows[UNMASKED], done)
        _mask(space, rows[MASKED], done)
        for row in rows[FORGOTTEN]:
            for memory in Memory.objects.filter(workspace_id=workspace_id, pk=row["id"]):
                done.counts[FORGOTTEN] += _forget(scope, memory, row)


def _forget(scope: Scope, memory: Memory, row: Row) -> bool:
    """Forget a memory for whom it was forgotten: for everybody, or as each of these agents, which
    it binds alone. It is for everybody where the backup has no such agent, or that one did not see
    it then. Return whether it was to do."""
    rows = Agent.objects.filter(workspace_id=scope.workspace_id, pk__in=row.get("agents", ()))
    of_memory = Memory.objects.filter(pk=memory.pk)
    bound = [scope.as_agent(agent) for agent in rows.order_by("pk")]
    askers = [each for each in bound if of_memory.visible_to(each).exists()] or [scope]
    said = Rejection.objects.of(memory.workspace_id, memory.subject_id, bytes(memory.fingerprint))
    is_to_do = memory.forgotten_at is None
    for asker in askers:
        is_free = row["reason"] and not said.filter(agent=asker.agent_id).exists()
        if is_to_do or (asker.is_bound and is_free and not said.filter(agent=None).exists()):
            review.forget(asker, memory.pk, row["reason"], row.get("messages") or KEEP)
            is_to_do = True
    return is_to_do


def of_workspace(acts: Acts, workspace_id: uuid.UUID) -> dict[str, list[Row]]:
    return _by_workspace(acts)[str(workspace_id)]


def _by_workspace(acts: Acts) -> dict[str, dict[str, list[Row]]]:
    found: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for each in acts.signed.values():
        found[each.row["workspace_id"]][each.act].append(each.row)
    return found


# ---- erased and removed ---------------------------------------------------------------------


def _remove(row: Row, actor: str, since: datetime | None, done: DoneAgain) -> bool:
    """Remove the workspace again. Return whether it was there and is gone."""
    workspace = Workspace.objects.filter(pk=row["workspace_id"]).first()
    known = WorkspaceRemoval.objects.filter(workspace_id=row["workspace_id"])
    is_done = row["state"] == WorkspaceRemoval.State.DONE
    if workspace is None:
        if is_done and not known.exists():
            _issued(WorkspaceRemoval, row).save(force_insert=True)
        return False
    ended = parse_datetime(row["finished_at"]) if row["finished_at"] else None
    if known.filter(state=WorkspaceRemoval.State.DONE).exists():
        return False  # what came back after it is in the backup
    if since and ended and ended < since - LATE:
        return False
    asked = workspace_removal.request(workspace, actor, is_again=True)
    _see_through(asked, workspace_removal.run)
    if asked.state != WorkspaceRemoval.State.DONE:
        done.failures.append(f"workspace {asked.workspace_id}: {asked.error}")
        return False
    if is_done:
        WorkspaceRemoval.objects.filter(pk=asked.pk).delete()
        _issued(WorkspaceRemoval, row).save(force_insert=True)
    done.counts[REMOVED] += 1
    return True


def _erase(row: Row, actor: str, done: DoneAgain) -> None:
    is_done = row["state"] == Erasure.State.DONE
    known = Erasure.objects.filter(pk=row["id"])
    workspace_id, target_id = uuid.UUID(row["workspace_id"]), uuid.UUID(row["target_id"])
    rows = TARGETS[row["kind"]]._default_manager.filter(workspace_id=workspace_id, pk=target_id)
    if rows.exists():
        target = ErasureTarget(workspace_id, row["kind"], target_id)
        asked = erasure_run.request_again(target, actor)
        _see_through(asked, erasure_run.run)
        if asked.state != Erasure.State.DONE:
            done.failures.append(f"{row['kind']} {target_id}: {asked.error}")
            return
        done.counts[ERASED] += 1
    elif known.filter(state=Erasure.State.DONE).exists():
        return  # a certificate alone proves nothing: what it is about is looked for first
    if is_done:
        known.delete()
        _issued(Erasure, row).save(force_insert=True)


def _see_through(row: Any, run: Callable[[uuid.UUID], object]) -> None:
    """Run it until it is done or given up: nobody else works here."""
    while row.is_open:
        if run(row.pk) is None:
            return
        row.refresh_from_db()


def _issued(model: type[models.Model], row: Row) -> models.Model:
    """Return a certificate as it was; what a later version added to it has its default."""
    fields = [f for f in model._meta.concrete_fields if f.column in row]
    return model(**{f.attname: f.to_python(row[str(f.column)]) for f in fields})


# ---- masks ----------------------------------------------------------------------------------


def batched(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """Split rows into batches, so small that a transaction with them is short."""
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]


def _unmask(scope: Scope, space: WorkspaceIndex, rows: Sequence[Row], done: DoneAgain) -> None:
    """Unmask only what is known to have been unmasked: all else stays masked."""
    there = dict(_places_of(MaskedSpan.objects.filter(workspace_id=space.workspace_id)))
    going = [there[place] for row in rows if (place := place_of(row)) in there]
    for some in batched(going):
        with transaction.atomic(durable=True):
            workspace_index.lock(space)
            found = MaskedSpan.objects.filter(pk__in=some)
            made = list(found)
            masks.unmask(scope, space, found)
        masks.fill(space, made)
        done.counts[UNMASKED] += len(some)


def _mask(space: WorkspaceIndex, rows: Sequence[Row], done: DoneAgain) -> None:
    """Mask the words at these places again, with all that repeats them."""
    there = dict(_places_of(MaskedSpan.objects.filter(workspace_id=space.workspace_id)))
    missing = [row for row in rows if place_of(row) not in there]
    for why, of_one in groupby(sorted(missing, key=_why), key=_why):
        reason = MaskReason(why[0], why[1], uuid.UUID(why[2]) if why[2] else None)
        for some in batched(list(of_one)):
            with transaction.atomic(durable=True):
                workspace_index.lock(space)
                made = _mask_at(space, some, reason)
            masks.fill(space, made)
            done.counts[MASKED] += len(made)


def _why(row: Row) -> tuple[str, str, str]:
    return row["kind"], row["reason"], row["cause"] or ""


def _mask_at(space: WorkspaceIndex, rows: Iterable[Row], why: MaskReason) -> list[MaskedSpan]:
    spans: dict[str, dict[uuid.UUID, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for name, column in (("episode", "content"), ("revision", "text"), ("memory", "content")):
            if row.get(f"{name}_id") and row["place"] == column:
                spans[name][uuid.UUID(row[f"{name}_id"])].append((row["start"], row["end"]))
    made = masks.mask_episodes(space, _there(space, "episode", spans), why)
    made += masks.mask_documents(space, _there(space, "revision", spans), why)
    for memory in Memory.objects.filter(pk__in=_there(space, "memory", spans)).order_by("pk"):
        said = {memory.content[a:b] for a, b in spans["memory"][memory.pk]}
        is_whole = memory.content in said
        words = [] if is_whole else sorted(each for each in said if each.strip(f"{BLOCK} "))
        if is_whole or words:
            made += masks.mask_memories(space, [memory.pk], why, words)
    return made


def _there(space: WorkspaceIndex, name: str, spans: Mapping[str, Mapping[uuid.UUID, Any]]) -> dict[uuid.UUID, Any]:
    """Return the spans of the rows that the backup has: others are of what was erased, or came
    later."""
    rows = MASKS_OF[name]._default_manager.filter(pk__in=spans[name])
    known = rows.filter(workspace_id=space.workspace_id).values_list("pk", flat=True)
    return {pk: spans[name][pk] for pk in known}


def _places_of(found: models.QuerySet[MaskedSpan]) -> Iterator[tuple[str, uuid.UUID]]:
    names = [f"{name}_id" for name in MaskedSpan.TARGETS]
    for row in found.values("pk", "place", "start", "end", *names):
        yield place_of(row), row["pk"]
