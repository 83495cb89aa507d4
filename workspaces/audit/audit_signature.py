"""The seal of an audit log: its newest place and mark, signed with SECRET_KEY. Any check finds a
log that was emptied, cut or begun anew, even if the person who checks kept nothing.

The seal lies in a table that the serving role can only move forward, by a function that asks for a
voucher; every machine and every backup has that table. A copy lies in the data folder of each
machine that sealed: putting older tables back by hand does not reach it. The higher number counts.
"""

import json
import os
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils.crypto import constant_time_compare, salted_hmac

from memoryproject.postgres import administrators, crossings, visible
from workspaces.models.audit import AuditMark, AuditSeal

SALT = "memoryproject.audit_seals"
COPIES = "audit_seals"  # a folder in the data folder
UNSIGNED = "the seal of place {} was not made with this server's SECRET_KEY"
# No log grows so long: a mark above it was written by hand, and is ignored.
LAST_PLACE = 2**62
AT_ONCE = 10  # seals that others may write between a look and our own write


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal. `number` counts the seals of a workspace. Place 0 with an empty mark means that no
    line had a place."""

    workspace_id: uuid.UUID
    number: int
    position: int
    mark: bytes
    is_ended: bool = False
    signature: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        numbers = (str(self.number), str(self.position))
        return (str(self.workspace_id), *numbers, self.mark.hex(), "ft"[self.is_ended])

    @property
    def is_ours(self) -> bool:
        return constant_time_compare(self.signature, _signature(self.texts))


@dataclass(frozen=True, slots=True)
class KnownSeals:
    """The seal in the table, and the copy on this machine."""

    table: Seal | None
    copy: Seal | None

    @property
    def all(self) -> list[Seal]:
        return [each for each in (self.table, self.copy) if each is not None]

    @property
    def newest(self) -> Seal | None:
        """The seal with the highest number among those that this server signed."""
        ours = (each for each in self.all if each.is_ours)
        return max(ours, key=lambda each: each.number, default=None)

    @property
    def unsigned(self) -> list[Seal]:
        """The seals that this server did not sign. A copy older than the table's own seal is
        ignored: it is of the former SECRET_KEY, on a machine that has not sealed since."""
        table, copy = self.table, self.copy
        if table and copy and table.is_ours and copy.number < table.number:
            return []
        return [each for each in self.all if not each.is_ours]

    def held_against(self, expected: Sequence[tuple[int, str]]) -> tuple[dict[int, set[str]], list[str]]:
        """Return the marks that the log must have at its places, and faults. Unsigned seals count
        as this key's where a new SECRET_KEY explains them: none is signed, and somebody kept a mark
        that lies as far. Beside a seal of this key, an unsigned one was written by hand."""
        furthest = max((position for position, _ in expected), default=-1)
        is_proof = self.newest is None and not any(each.is_ended or each.position > furthest for each in self.unsigned)
        held = self.unsigned if is_proof else [each for each in self.all if each == self.newest]
        marks: dict[int, set[str]] = defaultdict(set)
        for position, mark in (*expected, *((each.position, each.mark.hex()) for each in held)):
            if position:
                marks[position].add(mark)
        faults = [UNSIGNED.format(seal.position) for seal in self.unsigned]
        return marks, [] if is_proof else faults


def known(workspace_id: uuid.UUID) -> KnownSeals:
    path, copy = _copy_of(workspace_id), None
    if path.is_file():
        told = json.loads(path.read_text())
        copy = Seal(workspace_id, **{**told, "mark": bytes.fromhex(told["mark"])})
    return KnownSeals(_of_table(workspace_id), copy)


def last_mark(workspace_id: uuid.UUID) -> AuditMark | None:
    """The mark with the highest place."""
    marks = AuditMark.objects.filter(workspace_id=workspace_id, position__lt=LAST_PLACE)
    return marks.order_by("position").last()


def renew(workspace_id: uuid.UUID, *, over: KnownSeals | None = None) -> bool:
    """Seal the last place, where the log still holds what was sealed before; with `over`, whatever
    it holds: after an import, a restore, or a proof by a mark that was kept. Return whether it was
    sealed. A seal made in the meantime stays."""
    seen = over or known(workspace_id)
    position, mark = _last(workspace_id)
    if over is None:
        seal = seen.newest
        if seen.unsigned or not position or (seal is not None and not _goes_on(seal, position)):
            return False
    made = _made(seen, Seal(workspace_id, 0, position, mark))
    if made is None:
        return False
    _keep_copy(made)
    return True


def end(workspace_id: uuid.UUID) -> None:
    """Allow removing the lines from now on, in the caller's transaction: the workspace goes."""
    for _ in range(AT_ONCE):
        last = Seal(workspace_id, 0, *_last(workspace_id), is_ended=True)
        if _made(known(workspace_id), last) is not None:
            return


def has_ended(workspace_id: uuid.UUID) -> bool:
    seal = _of_table(workspace_id)
    return seal is not None and seal.is_ended and seal.is_ours


def keep_copies() -> None:
    """Copy the seals of all workspaces before a restore; nothing where there is no table."""
    with connection.cursor() as cursor:
        cursor.execute("select to_regclass('workspaces_auditseal') is not null")
        if not cursor.fetchone()[0]:
            return
    with crossings.everywhere():
        ids = list(AuditSeal.objects.values_list("workspace_id", flat=True))
    for workspace_id in ids:
        if (seal := known(workspace_id).newest) is not None:
            _keep_copy(seal)


def drop_copy(workspace_id: uuid.UUID) -> None:
    _copy_of(workspace_id).unlink(missing_ok=True)


def _last(workspace_id: uuid.UUID) -> tuple[int, bytes]:
    last = last_mark(workspace_id)
    return (last.position, bytes(last.mark)) if last else (0, b"")


def _goes_on(seal: Seal, position: int) -> bool:
    """Tell whether the log still has what was sealed, and more after it."""
    if seal.is_ended or seal.position >= position:
        return False
    if not seal.position:
        return True
    marks = AuditMark.objects.filter(workspace_id=seal.workspace_id, position=seal.position)
    return marks.values_list("mark", flat=True).first() == seal.mark


def _made(seen: KnownSeals, wanted: Seal) -> Seal | None:
    """Write the next seal after those in `seen` to the table; return None where the table has
    another one by now, from a writer who knew more."""
    # The clock puts it above the number of a machine whose copy is not here.
    number = max(max((each.number for each in seen.all), default=0) + 1, int(time.time()))
    bare = replace(wanted, number=number)
    made = replace(bare, signature=_signature(bare.texts))
    before = seen.table.signature if seen.table else ""
    voucher = administrators.voucher_for("audit seal", *made.texts, made.signature, before)
    values = (made.number, made.position, made.mark, made.is_ended)
    is_written = crossings.seal_audit(made.workspace_id, values, made.signature, before=before, voucher=voucher)
    return made if is_written else None


def _signature(texts: tuple[str, ...]) -> str:
    return salted_hmac(SALT, " ".join(texts), algorithm="sha256").hexdigest()


def _of_table(workspace_id: uuid.UUID) -> Seal | None:
    with visible.only(workspace_id):
        row = AuditSeal.objects.filter(workspace_id=workspace_id).first()
    if row is None:
        return None
    mark = bytes(row.mark)
    return Seal(workspace_id, row.number, row.position, mark, row.is_ended, row.signature)


def _keep_copy(seal: Seal) -> None:
    path = _copy_of(seal.workspace_id)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    told = asdict(seal) | {"mark": seal.mark.hex()}
    del told["workspace_id"]
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix="new-", delete=False) as file:
        json.dump(told, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, path)


def _copy_of(workspace_id: uuid.UUID) -> Path:
    return Path(settings.DATA_DIR) / COPIES / f"{workspace_id}.json"
