"""Folders of files handed in as documents, from the shell: what was handed in before is known by
its path, so the same command goes on where it was stopped."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.conf import settings

from memories.connectors.contract import is_readable
from memories.documents import document_store
from memories.documents.document_store import NewDocument
from memories.errors import Conflict, Forbidden, Invalid
from memories.long_jobs import Stopped
from workspaces.scope import Scope

PART = 1 << 20
LONGEST_ID = 255


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """`name` is its path from the folder on that was named."""

    path: Path
    name: str

    @property
    def custom_id(self) -> str:
        if len(self.name) <= LONGEST_ID:
            return self.name
        return hashlib.sha256(self.name.encode()).hexdigest()

    def parts(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            while part := file.read(PART):
                yield part


@dataclass(slots=True)
class HandedIn:
    """How many files came to what; `refused` are lines for people."""

    new: int = 0
    unchanged: int = 0
    refused: list[str] = field(default_factory=list)
    is_stopped: bool = False


def document_files(paths: Sequence[Path]) -> list[DocumentFile]:
    """The files themselves, and of folders all that can be read, in a steady order; hidden ones
    are left alone."""
    files = []
    for path in paths:
        if not path.is_dir():
            files.append(DocumentFile(path, path.name))
            continue
        root = path.resolve()
        for inner in sorted(root.rglob("*")):
            parts = inner.relative_to(root).parts
            is_hidden = any(part.startswith(".") for part in parts)
            if not is_hidden and inner.is_file() and is_readable(inner.name):
                files.append(DocumentFile(inner, "/".join((root.name, *parts))))
    return files


def hand_in_files(
    scope: Scope, files: Sequence[DocumentFile], like: NewDocument, step: Callable[[int], object]
) -> HandedIn:
    """Keep each file as a document `like` the given one; the worker reads them. `step` is called
    after each, and may raise Stopped."""
    tally = HandedIn()
    for file in files:
        try:
            size = file.path.stat().st_size
            if size > settings.MAX_UPLOAD_BYTES:
                raise Invalid("file", f"It is larger than {settings.MAX_UPLOAD_BYTES:,} bytes.")
            new = replace(
                like, parts=file.parts(), filename=file.path.name, custom_id=file.custom_id
            )
            received = document_store.receive(scope, new)
        except (Conflict, Forbidden, Invalid) as error:
            tally.refused.append(f"{file.name}: {error.message}")
        except OSError as error:
            tally.refused.append(f"{file.name}: {error.strerror}")
        else:
            tally.unchanged += received.is_unchanged
            tally.new += not received.is_unchanged
        try:
            step(1)
        except Stopped:
            tally.is_stopped = True
            break
    return tally
