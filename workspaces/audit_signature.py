"""The seal of an audit log: its newest place and mark, signed with SECRET_KEY. A log that was
emptied, cut or begun anew is found by whoever asks, though he kept nothing.

It lies in a table that the role that serves only moves forward, by a function that asks for a
voucher; every machine and every backup has that. A copy lies in the data folder of each machine
that sealed: whoever puts older tables back by hand does not reach it. The higher number counts.
"""

import json
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils.crypto import constant_time_compare, salted_hmac

from memoryproject import administrators, crossings
from memoryproject.postgres import visible
from workspaces.models.audit import AuditMark, AuditSeal

SALT = "memoryproject.audit_seals"
COPIES = "audit_seals"  # of the data folder
UNSIGNED = "the seal of place {} was not made with this server's SECRET_KEY"


@dataclass(frozen=True, slots=True)
class Seal:
    """`number` counts the seals of a workspace. Place 0 with an empty mark: no line had a place."""

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


def newest(workspace_id: uuid.UUID) -> tuple[Seal | None, list[str]]:
    """The seal with the highest number that this server signed, and those that it did not."""
    known = [*_of_table(workspace_id), *_of_folder(workspace_id)]
    faults = [UNSIGNED.format(each.position) for each in known if not each.is_ours]
    ours = [each for each in known if each.is_ours]
    return max(ours, key=lambda each: each.number, default=None), faults


def renew(workspace_id: uuid.UUID, *, anew: bool = False) -> bool:
    """Seal the last place, where the log still holds what was sealed before; with `anew`, whatever
    it holds: after an import, a restore, or a proof by a mark that was kept. Whether it was."""
    position, mark = _last(workspace_id)
    if not anew:
        seal, faults = newest(workspace_id)
        if faults or not position or (seal is not None and not _goes_on(seal, position)):
            return False
    made = _made(workspace_id, position, mark)
    if made is None:
        return False
    _keep_copy(made)
    return True


def end(workspace_id: uuid.UUID) -> None:
    """From now on the lines may be removed, in the caller's transaction: the workspace goes."""
    _made(workspace_id, *_last(workspace_id), is_ended=True)


def has_ended(workspace_id: uuid.UUID) -> bool:
    return any(each.is_ended and each.is_ours for each in _of_table(workspace_id))


def keep_copies() -> None:
    """Before a restore: what is sealed now, of all workspaces; nothing where there is no table."""
    with connection.cursor() as cursor:
        cursor.execute("select to_regclass('workspaces_auditseal') is not null")
        if not cursor.fetchone()[0]:
            return
    with crossings.everywhere():
        ids = list(AuditSeal.objects.values_list("workspace_id", flat=True))
    for workspace_id in ids:
        seal, _ = newest(workspace_id)
        if seal is not None:
            _keep_copy(seal)


def drop_copy(workspace_id: uuid.UUID) -> None:
    _copy_of(workspace_id).unlink(missing_ok=True)


def _last(workspace_id: uuid.UUID) -> tuple[int, bytes]:
    last = AuditMark.objects.filter(workspace_id=workspace_id).order_by("position").last()
    return (last.position, bytes(last.mark)) if last else (0, b"")


def _goes_on(seal: Seal, position: int) -> bool:
    """Whether the log has more than what was sealed, and that still."""
    if seal.is_ended or seal.position >= position:
        return False
    if not seal.position:
        return True
    marks = AuditMark.objects.filter(workspace_id=seal.workspace_id, position=seal.position)
    return marks.values_list("mark", flat=True).first() == seal.mark


def _made(
    workspace_id: uuid.UUID, position: int, mark: bytes, *, is_ended: bool = False
) -> Seal | None:
    """The next seal, in the table; None where another process was first."""
    known = [*_of_table(workspace_id), *_of_folder(workspace_id)]
    # By the clock it lies above that of a machine whose copy is not here.
    number = max(max((each.number for each in known), default=0) + 1, int(time.time()))
    bare = Seal(workspace_id, number, position, mark, is_ended)
    signature = _signature(bare.texts)
    voucher = administrators.voucher_for("audit seal", *bare.texts, signature)
    values = (number, position, mark, is_ended)
    if not crossings.seal_audit(workspace_id, values, signature, voucher):
        return None
    return Seal(workspace_id, *values, signature)


def _signature(texts: tuple[str, ...]) -> str:
    return salted_hmac(SALT, " ".join(texts), algorithm="sha256").hexdigest()


def _of_table(workspace_id: uuid.UUID) -> Iterator[Seal]:
    with visible.only(workspace_id):
        rows = list(AuditSeal.objects.filter(workspace_id=workspace_id))
    for row in rows:
        mark = bytes(row.mark)
        yield Seal(workspace_id, row.number, row.position, mark, row.is_ended, row.signature)


def _of_folder(workspace_id: uuid.UUID) -> Iterator[Seal]:
    path = _copy_of(workspace_id)
    if path.is_file():
        told = json.loads(path.read_text())
        yield Seal(workspace_id, **{**told, "mark": bytes.fromhex(told["mark"])})


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
