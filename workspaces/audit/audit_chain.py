"""The audit log as a chain: each line has a place, and a mark over its digest and the mark before.

Writers need not know of it and wait for nobody: the worker adds the marks afterwards, in the order
of the ids. The serving role can only add lines and marks. Erasing takes a line's values and salt,
by a function of the database; its digest and mark stay, tell nobody what it said, and the chain
continues over them.
"""

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from workspaces.audit import audit_signature
from workspaces.audit.audit_signature import Seal
from workspaces.models.audit import AuditMark
from workspaces.models.workspace import first_uuid7

MOST = 500  # lines of one transaction
# How much later than its id says a line may be committed and still get a place.
LATE = timedelta(minutes=15)
# How far in the future an id may be, because of a wrong clock.
AHEAD = timedelta(days=1)
# How long after a workspace its first key was made, where no line tells of its creation.
MADE_WITH = "1 minute"
# Of a line: what stays for ever, and what is erased with its subject.
# A time that is none of ours (infinity, the year 294276) was written by hand, and counts as none.
KEPT = """
sha256(convert_to(jsonb_build_array(a.id, a.actor, a.action, a.target_kind, a.target_id,
  a.subject_id, case when a.created_at between '0001-01-01' and '9999-12-31'
  then (extract(epoch from a.created_at) * 1000000)::bigint end)::text, 'UTF8'))
"""
VALUES = """
sha256(convert_to(jsonb_build_array(a.salt, a.reason, a.before, a.after)::text, 'UTF8'))
"""
LAST = """
select w.id, m.line_id from workspaces_workspace w
left join lateral (
  select line_id from workspaces_auditmark
  where workspace_id = w.id and line_id <= %s order by position desc limit 1
) m on true
"""
DUE = """
select w.id from unnest(%s::uuid[], %s::uuid[]) w(id, first)
where exists (
  select 1 from workspaces_auditentry a where a.workspace_id = w.id and a.id >= w.first
  and not exists (select 1 from workspaces_auditmark m where m.line_id = a.id)
)
"""
WITHOUT_MARK = f"""
select a.id, {KEPT}, {VALUES} from workspaces_auditentry a
where a.workspace_id = %s and a.id >= %s
and not exists (select 1 from workspaces_auditmark m where m.line_id = a.id)
order by a.id limit %s
"""
CHAIN = f"""
select m.position, m.line_id, m.values_hash, m.mark, a.id is not null, {KEPT}, {VALUES},
       a.salt is null, a.before is null and a.after is null and a.reason = ''
from workspaces_auditmark m left join workspaces_auditentry a
  on a.id = m.line_id and a.workspace_id = m.workspace_id
where m.workspace_id = %s and m.position > %s order by m.position limit %s
"""
BEGINNING = """
select (select coalesce(a.action = 'create_workspace'
                        or a.created_at < w.created_at + %s::interval, true)
        from workspaces_auditmark m left join workspaces_auditentry a on a.id = m.line_id
        where m.workspace_id = w.id order by m.position limit 1)
from workspaces_workspace w where w.id = %s
"""
STRAY = """
select a.id from workspaces_auditentry a
where a.workspace_id = %s and a.id < %s
and not exists (select 1 from workspaces_auditmark m where m.line_id = a.id)
order by a.id
"""


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The result of a check. `position` and `mark` are of the newest line: kept elsewhere, they
    prove later that nothing was cut off. `emptied` counts lines that lost their values, as erased
    ones do."""

    position: int
    mark: str
    emptied: int
    faults: list[str]


def due_workspaces() -> list[uuid.UUID]:
    """Return the visible workspaces that have lines without a mark."""
    with connection.cursor() as cursor:
        cursor.execute(LAST, [first_uuid7(timezone.now())])
        rows = cursor.fetchall()
        cursor.execute(DUE, [[row[0] for row in rows], [_first(row[1]) for row in rows]])
        return [row[0] for row in cursor.fetchall()]


def extend(workspace_id: uuid.UUID) -> int:
    """Give marks to the lines that have none; return how many. Of two processes at once only one
    goes on, so no place is given twice."""
    done = 0
    while True:
        try:
            with transaction.atomic(durable=True):
                last = audit_signature.last_mark(workspace_id)
                place, mark = (last.position, bytes(last.mark)) if last else (0, workspace_id.bytes)
                past = AuditMark.objects.filter(
                    workspace_id=workspace_id, line_id__lte=first_uuid7(timezone.now())
                ).order_by("position")
                with connection.cursor() as cursor:
                    first = _first(past.values_list("line_id", flat=True).last())
                    cursor.execute(WITHOUT_MARK, [workspace_id, first, MOST])
                    rows = cursor.fetchall()
                new = []
                for number, (line_id, kept, digest) in enumerate(rows, place + 1):
                    mark = _mark(mark, digest, kept)
                    new.append(
                        AuditMark(
                            line_id=line_id,
                            workspace_id=workspace_id,
                            position=number,
                            values_hash=bytes(digest),
                            mark=mark,
                        )
                    )
                AuditMark.objects.bulk_create(new)
        except IntegrityError:
            return done
        done += len(rows)
        if len(rows) < MOST:
            audit_signature.renew(workspace_id)
            return done


def check(workspace_id: uuid.UUID, expected: Sequence[tuple[int, str]] = ()) -> ChainReport:
    """Follow the chain and report lines that were changed, removed or put in, and a chain that was
    emptied, cut or begun anew. `expected` are places and marks of earlier reports. Where they reach
    as far, they prove a chain whose seals are of another SECRET_KEY: it is sealed anew."""
    before, mark, emptied, newest = 0, workspace_id.bytes, 0, uuid.UUID(int=0)
    known = audit_signature.known(workspace_id)
    kept_marks, faults = known.held_against(expected)
    faults += _faults_of_beginning(workspace_id, known.newest)
    for row in _chain(workspace_id):
        position, line_id, newer = row[0], row[1], bytes(row[3])
        faults += faults_of_line(row, before, mark)
        if kept_marks.pop(position, set()) - {newer.hex()}:
            faults.append(f"place {position}, line {line_id}: is not the line that had this place")
        # The values and the salt are gone; what is never erased is unchanged.
        emptied += row[4] and all(row[7:]) and _mark(mark, row[2], row[5]) == newer
        before, mark = (position, newer) if position > 0 else (before, mark)
        if line_id <= first_uuid7(timezone.now()):
            newest = max(newest, line_id)
    faults += [f"place {position}: was cut off" for position in sorted(kept_marks)]
    if newest.int:
        with connection.cursor() as cursor:
            cursor.execute(STRAY, [workspace_id, _first(newest)])
            faults += [f"line {row[0]} was put in: it has no place" for row in cursor.fetchall()]
    if known.unsigned and not faults:
        audit_signature.renew(workspace_id, over=known)
    return ChainReport(before, mark.hex() if before else "", emptied, faults)


def faults_of_line(row: Sequence[Any], before: int, mark: bytes) -> Iterator[str]:
    """Yield the faults of a row of CHAIN that follows the place `before` and its `mark`."""
    position, line_id, digest, newer, is_there, kept, values, is_bare, is_blank = row
    where = f"place {position}, line {line_id}"
    if position <= 0:
        yield f"{where}: there is no such place"
    elif position != before + 1:
        yield f"places {before + 1} to {position - 1} are missing"
    if line_id > first_uuid7(timezone.now() + AHEAD):
        yield f"{where}: its id is of a time that has not come"
    if not is_there:
        yield f"{where}: the line was removed"
    elif _mark(mark, digest, kept) != bytes(newer):
        yield f"{where}: the mark does not follow from the line and the mark before"
    elif not (is_bare and is_blank) and bytes(values) != bytes(digest):
        yield f"{where}: the values were changed"


def _faults_of_beginning(workspace_id: uuid.UUID, seal: Seal | None) -> Iterator[str]:
    """Yield the faults of the first line. It must tell of the workspace's creation or, in the first
    release, of its first key, made in the same moment."""
    if seal is not None and seal.is_ended:
        return
    with connection.cursor() as cursor:
        cursor.execute(BEGINNING, [MADE_WITH, workspace_id])
        row = cursor.fetchone()
    if row is not None and row[0] is None:
        yield "there is no line with a place: not even that of its creation"
    elif row is not None and not row[0]:
        yield "the first line is not that of its creation"


def _chain(workspace_id: uuid.UUID) -> Iterator[tuple[Any, ...]]:
    after = -(2**63)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(CHAIN, [workspace_id, after, MOST])
            rows = cursor.fetchall()
        yield from rows
        if len(rows) < MOST:
            return
        after = rows[-1][0]


def _mark(before: bytes, digest: bytes, kept: bytes) -> bytes:
    return hashlib.sha256(before + bytes(digest) + bytes(kept)).digest()


def _first(line_id: uuid.UUID | None) -> uuid.UUID:
    """Return the lowest id that a line without a mark may have once this one has its mark. Ids in
    the future are no guide: those who may add lines may give them any id."""
    made = line_id.int >> 80 if line_id else 0  # milliseconds, of any year
    return uuid.UUID(int=max(0, made - LATE // timedelta(milliseconds=1)) << 80)
