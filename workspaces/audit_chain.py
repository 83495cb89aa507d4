"""The audit log as a chain: each line has a place, and a mark over its digest and the mark before.

Writers know nothing of it and wait for nobody: lines get their marks afterwards, by the worker, in
the order of their ids. A line and a mark are only added by the role that serves. What is erased
loses its values and its salt, by a function of the database; its digest and its mark stay, tell
nobody what it said, and the chain goes on over them.
"""

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from workspaces import audit_signature
from workspaces.audit_signature import Seal
from workspaces.models.audit import AuditMark
from workspaces.models.workspace import first_uuid7

MOST = 500  # lines of one transaction
# So much later than its id says a line may be committed, and still find a place.
LATE = timedelta(minutes=15)
# So long after a workspace its first key was made, where no line says that it was created.
MADE_WITH = "1 minute"
# Of a line: what stays for ever, and what is erased with its subject.
KEPT = """
sha256(convert_to(jsonb_build_array(a.id, a.actor, a.action, a.target_kind, a.target_id,
  a.subject_id, (extract(epoch from a.created_at) * 1000000)::bigint)::text, 'UTF8'))
"""
VALUES = """
sha256(convert_to(jsonb_build_array(a.salt, a.reason, a.before, a.after)::text, 'UTF8'))
"""
LAST = """
select w.id, m.line_id from workspaces_workspace w
left join lateral (
  select line_id from workspaces_auditmark
  where workspace_id = w.id order by position desc limit 1
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
    """`position` and `mark` are of its newest line: whoever keeps them elsewhere can prove later
    that nothing was cut off. `emptied` lines lost their values, as what is erased does."""

    position: int
    mark: str
    emptied: int
    faults: list[str]


def due_workspaces() -> list[uuid.UUID]:
    """Those with lines that have no mark yet, of all that are visible."""
    with connection.cursor() as cursor:
        cursor.execute(LAST)
        rows = cursor.fetchall()
        cursor.execute(DUE, [[row[0] for row in rows], [_first(row[1]) for row in rows]])
        return [row[0] for row in cursor.fetchall()]


def extend(workspace_id: uuid.UUID) -> int:
    """Give marks to the lines that have none; how many. Where two do it at once, one of them goes
    on: no place is given twice."""
    done = 0
    while True:
        try:
            with transaction.atomic(durable=True):
                marks = AuditMark.objects.filter(workspace_id=workspace_id)
                last = marks.order_by("position").last()
                place, mark = (last.position, bytes(last.mark)) if last else (0, workspace_id.bytes)
                with connection.cursor() as cursor:
                    first = _first(last.line_id if last else None)
                    cursor.execute(WITHOUT_MARK, [workspace_id, first, MOST])
                    rows = cursor.fetchall()
                new = []
                for number, (line_id, kept, digest) in enumerate(rows, place + 1):
                    mark = _mark(mark, digest, kept)
                    new.append(
                        AuditMark(
                            line_id=line_id, workspace_id=workspace_id, position=number,
                            values_hash=bytes(digest), mark=mark,
                        )
                    )  # fmt: skip
                AuditMark.objects.bulk_create(new)
        except IntegrityError:
            return done
        done += len(rows)
        if len(rows) < MOST:
            audit_signature.renew(workspace_id)
            return done


def check(workspace_id: uuid.UUID, expected: Sequence[tuple[int, str]] = ()) -> ChainReport:
    """Follow the chain. A line that was changed, removed or put in is told, and a chain that was
    emptied, cut or begun anew; `expected` are places and marks of earlier reports. They prove a
    chain whose seal is of another SECRET_KEY: it is sealed anew."""
    before, mark, emptied, newest = 0, workspace_id.bytes, 0, None
    seal, unsigned = audit_signature.newest(workspace_id)
    kept_marks = _sealed(seal) | dict(expected)
    faults = [*([] if expected else unsigned), *_faults_of_beginning(workspace_id, seal)]
    for position, line_id, digest, own, is_there, kept, values, is_bare, is_blank in _chain(
        workspace_id
    ):
        if position != before + 1:
            faults.append(f"places {before + 1} to {position - 1} are missing")
        where = f"place {position}, line {line_id}"
        if not is_there:
            faults.append(f"{where}: the line was removed")
        elif _mark(mark, digest, kept) != bytes(own):
            faults.append(f"{where}: the mark does not follow from the line and the mark before")
        elif is_bare and is_blank:
            emptied += 1
        elif bytes(values) != bytes(digest):
            faults.append(f"{where}: the values were changed")
        if (known := kept_marks.pop(position, "")) and known != bytes(own).hex():
            faults.append(f"{where}: is not the line that had this place")
        before, mark = position, bytes(own)
        newest = line_id if newest is None else max(newest, line_id)
    faults += [f"place {position}: was cut off" for position in sorted(kept_marks)]
    if newest is not None:
        with connection.cursor() as cursor:
            cursor.execute(STRAY, [workspace_id, _first(newest)])
            faults += [f"line {row[0]} was put in: it has no place" for row in cursor.fetchall()]
    if expected and unsigned and not faults:
        audit_signature.renew(workspace_id, anew=True)
    return ChainReport(before, mark.hex() if before else "", emptied, faults)


def _sealed(seal: Seal | None) -> dict[int, str]:
    return {seal.position: seal.mark.hex()} if seal is not None and seal.position else {}


def _faults_of_beginning(workspace_id: uuid.UUID, seal: Seal | None) -> Iterator[str]:
    """A workspace begins with a line of its creation; those of the first release with that of their
    first key, made in the same moment."""
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
    after = 0
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
    """The lowest id that a line without a mark may have, after this one has got its own."""
    if line_id is None:
        return uuid.UUID(int=0)
    made = datetime.fromtimestamp((line_id.int >> 80) / 1000, UTC)
    return first_uuid7(min(made, timezone.now()) - LATE)
