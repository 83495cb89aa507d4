"""Files as they came: below the data folder, by workspace and digest. A file is whole and on the
disk before its row is, and goes after it; one without a row is swept.

Whoever brings a file holds its workspace's folder shared until the rows that name it are
committed; whoever removes one holds it alone while it looks that no row names it.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Q, Sum

from memories.errors import NoRoom, WorkspaceFull
from memories.models import Blob
from memoryproject.postgres import crossings, visible

PART = 1 << 20
LOOKED_UP = 1_000  # files, while nobody can bring one
ALL = range(256)  # the first two signs of a digest, by which files lie in folders
YOUNG = 3600.0  # seconds: a file without a row may be that of a request under way


def folder_of(workspace_id: uuid.UUID) -> Path:
    return Path(settings.BLOB_DIR) / str(workspace_id)


def path_of(workspace_id: uuid.UUID, digest: str) -> Path:
    return folder_of(workspace_id) / digest[:2] / digest


@contextmanager
def locked(folder: Path, operation: int) -> Iterator[None]:
    """While it lasts, others hold the folder as `operation` (of flock) allows. Never waited for
    with rows of the database locked."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, operation)
        yield
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True)
class FileShare:
    """The files that a workspace keeps: how many, their bytes, and the most bytes that it may keep;
    None: no limit. `is_known`: the file that was asked about is one of them."""

    files: int
    bytes: int
    most: int | None
    is_known: bool = False


def share_of(workspace_id: uuid.UUID, digest: str = "") -> FileShare:
    """Sum up a workspace's files. The same file twice is one, as it is on the disk."""
    sums = Blob.objects.filter(workspace_id=workspace_id).aggregate(
        files=Count("*"), bytes=Sum("size"), known=Count("pk", filter=Q(digest=digest))
    )
    most = settings.WORKSPACE_FILES_MAX_MB * 2**20
    return FileShare(sums["files"], int(sums["bytes"] or 0), most or None, bool(sums["known"]))


def refuse_when_full(workspace_id: uuid.UUID) -> None:
    """Raise WorkspaceFull where no file at all can come any more."""
    if settings.WORKSPACE_FILES_MAX_MB:
        share = share_of(workspace_id)
        if share.most is not None and share.bytes >= share.most:
            raise full(share)


def full(share: FileShare, *, is_narrow: bool = False) -> WorkspaceFull:
    """The refusal of another file. Who may not see all of the workspace is not told how much there
    is."""
    most = (share.most or 0) // 2**20
    used = "" if is_narrow else f" and keeps {share.bytes / 2**20:,.1f} MB already"
    return WorkspaceFull(
        f"The workspace may keep {most:,} MB of files (WORKSPACE_FILES_MAX_MB){used}: with this one"
        " it would be more. Delete documents, or ask the server's operator for a larger share."
    )


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that is on the disk, of `size` bytes, and may have no row yet. `is_narrow`: it comes
    from somebody who may not know whether it is there already."""

    workspace_id: uuid.UUID
    digest: str
    size: int
    is_narrow: bool = False

    def row(self) -> Blob:
        """Its row, new or known, in the caller's transaction, until whose end nobody drops it.
        Raises WorkspaceFull where others that came at the same time took the room for it."""
        rows = Blob.objects.select_for_update(no_key=True)
        while True:
            made = Blob(workspace_id=self.workspace_id, digest=self.digest, size=self.size)
            Blob.objects.bulk_create([made], ignore_conflicts=True)
            row = rows.filter(workspace_id=self.workspace_id, digest=self.digest).first()
            if row is not None:  # else one that was known was dropped in between
                if row.pk == made.pk and settings.WORKSPACE_FILES_MAX_MB:
                    self._take_share()
                return row

    def _take_share(self) -> None:
        """Count the new row among those that others have committed, one after the other."""
        with connection.cursor() as cursor:
            text = "select pg_advisory_xact_lock(hashtextextended(%s, 0))"
            cursor.execute(text, [f"files of {self.workspace_id}"])
        share = share_of(self.workspace_id)
        if share.most is not None and share.bytes > share.most:
            raise full(replace(share, bytes=share.bytes - self.size), is_narrow=self.is_narrow)

    def refuse_more(self) -> None:
        """Raise WorkspaceFull where there is no room for it. One that is there already needs none,
        which only those are told who may see all of the workspace."""
        if not settings.WORKSPACE_FILES_MAX_MB:
            return
        share = share_of(self.workspace_id, self.digest)
        needs_room = self.is_narrow or not share.is_known
        if share.most is not None and needs_room and share.bytes + self.size > share.most:
            raise full(share, is_narrow=self.is_narrow)


@contextmanager
def kept(workspace_id: uuid.UUID, parts: Iterable[bytes], *, is_narrow: bool = False) -> Iterator[KeptFile]:
    """A file, written through to the disk. Inside, nobody removes it: until then a row has to name
    it. Raises NoRoom, before the disk is full: the database may lie there, too; WorkspaceFull where
    it is more than its workspace's share."""
    folder, least = folder_of(workspace_id), settings.DISK_FREE_MIN_MB * 2**20
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    disk = os.statvfs(folder)
    if least and disk.f_bavail * disk.f_frsize < least:
        raise NoRoom
    digest, size = hashlib.sha256(), 0
    with tempfile.NamedTemporaryFile(dir=folder, prefix="new-", delete=False) as file:
        try:
            for part in parts:
                digest.update(part)
                size += len(part)
                file.write(part)
            made = KeptFile(workspace_id, digest.hexdigest(), size, is_narrow)
            made.refuse_more()
            file.flush()
            os.fsync(file.fileno())
        except BaseException as error:
            os.unlink(file.name)
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoRoom from error
            raise
    path = path_of(workspace_id, made.digest)
    try:
        with locked(folder, fcntl.LOCK_SH):
            path.parent.mkdir(mode=0o700, exist_ok=True)
            os.replace(file.name, path)
            handle = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
            yield made
    except WorkspaceFull:
        unlink_unnamed(workspace_id, [made.digest])
        raise


def drop_unused(workspace_id: uuid.UUID, digests: Collection[str]) -> int:
    """Rows of these digests that no document and no revision names, in the caller's transaction;
    their files go with the commit. The number of rows."""
    rows = Blob.objects.filter(workspace_id=workspace_id, digest__in=digests).order_by("pk")
    known = [blob.pk for blob in rows.select_for_update()]  # whoever brings it waits, or was first
    unused = list(Blob.objects.filter(pk__in=known, documents=None, revisions=None))
    Blob.objects.filter(pk__in=[blob.pk for blob in unused]).delete()
    gone = [blob.digest for blob in unused]
    transaction.on_commit(lambda: unlink_unnamed(workspace_id, gone))
    return len(unused)


def unlink_unnamed(workspace_id: uuid.UUID, names: Collection[str]) -> int:
    """Remove the files of these names that no row names; how many."""
    folder = folder_of(workspace_id)
    if not names or not folder.is_dir():
        return 0
    # Whatever the caller sees: a row that is out of sight would leave its file without a name.
    with locked(folder, fcntl.LOCK_EX), visible.only(workspace_id):
        rows = Blob.objects.filter(workspace_id=workspace_id, digest__in=names)
        unnamed = set(names) - set(rows.values_list("digest", flat=True))
        gone = [file for name in unnamed for file in (path_of(workspace_id, name), folder / name) if file.is_file()]
        for file in gone:
            file.unlink()
    return len(gone)


def left_of(workspace_id: uuid.UUID, digests: Collection[str]) -> int:
    """Count those of these files that still exist without a row."""
    rows = Blob.objects.filter(workspace_id=workspace_id, digest__in=digests)
    known = set(rows.values_list("digest", flat=True))
    return sum(path_of(workspace_id, each).exists() for each in set(digests) - known)


def drop_workspace(workspace_id: uuid.UUID) -> None:
    shutil.rmtree(folder_of(workspace_id), ignore_errors=True)


def sweep(parts: Collection[int] = ()) -> int:
    """Remove files whose rows nothing names (a document had other words before these were read),
    and those without a row that are older than an hour; how many. Of the files on the disk these
    of ALL parts are looked through; else one of them, in each minute the next one. What is no
    folder of a workspace is left alone."""
    with crossings.everywhere():
        rows = Blob.objects.filter(documents=None, revisions=None)
        unnamed = list(rows.values_list("workspace_id", "digest")[:LOOKED_UP])
    gone, root = 0, Path(settings.BLOB_DIR)
    for workspace_id, digest in unnamed:
        with visible.only(workspace_id), transaction.atomic():
            gone += drop_unused(workspace_id, [digest])
    chosen = [f"{part:02x}" for part in parts or [int(time.time() // 60) % len(ALL)]]
    for folder in root.iterdir() if root.is_dir() else ():
        try:
            workspace_id = uuid.UUID(folder.name)
        except ValueError:
            continue
        # The folder itself holds files that a request was writing when it ended.
        for place in (*([folder] if "00" in chosen else []), *(folder / part for part in chosen)):
            old = names_of_old_files(place)
            for at in range(0, len(old), LOOKED_UP):
                gone += unlink_unnamed(workspace_id, old[at : at + LOOKED_UP])
    return gone


def names_of_old_files(folder: Path) -> list[str]:
    until = time.time() - YOUNG
    try:
        with os.scandir(folder) as files:
            return [f.name for f in files if f.is_file() and f.stat().st_mtime < until]
    except FileNotFoundError:  # nothing has come there yet, or one went meanwhile
        return []
