"""A file of conversations as somebody uploads it: read through, its authors mapped, and kept; the worker
learns from it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from memories.errors import Forbidden, Invalid
from memories.exchange.file_survey import Survey, survey
from memories.exchange.import_batches import thread_of
from memories.exchange.import_without_repeats import ImportedBatch, ImportOptions, import_transcript
from memories.models import MemorySession
from memories.transcripts import Transcript, read
from workspaces.scope import Scope

MOST_BYTES = 32 << 20  # of a file that is read while its sender waits
MOST_MESSAGES = 5_000
BATCH = 500  # messages of one session


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file whose parts come one after the other; `format` is told by its content where it is empty."""

    name: str
    parts: Iterator[bytes]
    format: str = ""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """Outcome of an import: what was read of a file, and what was kept of it: nothing of a trial."""

    survey: Survey
    batches: tuple[ImportedBatch, ...] = field(default=())


def import_file(
    scope: Scope, file: UploadedFile, options: ImportOptions, batch: str, *, is_trial: bool
) -> ImportedFile:
    """Read a file and keep its messages, under the name `batch`, if that is given. Raises Invalid for
    a file that cannot be read or is too large, Conflict as `import_transcript` does."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / (Path(file.name.replace("\\", "/")).name[-100:] or "upload")
        _write(path, file.parts)
        found = survey(path, file.format or None)
        if found.refused or not found.is_usable:
            raise Invalid("file", f"Not read: {found.refused or 'there is no message in it'}.")
        if options.thread_id and len(found.threads) > 1:
            raise Invalid("threadId", f"It is for one conversation, and here are {len(found.threads)}.")
        if options.who.users and scope.subject_ids is not None:
            raise Forbidden("This key writes of its own users only.", "authors")
        options.who.check(author.name for author in found.authors.by_name.values())
        if is_trial:
            return ImportedFile(found)
        if found.messages > MOST_MESSAGES:
            told = f"It holds {found.messages:,} messages; more than {MOST_MESSAGES:,} are imported by `ingestfile`."
            raise Invalid("file", told)
        own = replace(options, mode=MemorySession.Mode.ASYNC, batch=BATCH)
        kept: list[ImportedBatch] = []
        for part in read(path, file.format or None):
            if isinstance(part, Transcript):
                thread = options.thread_id or part.thread
                named = replace(own, thread_id=thread_of(batch, thread) if batch else thread)
                kept += import_transcript(scope, part, named)
    return ImportedFile(found, tuple(kept))


def _write(path: Path, parts: Iterator[bytes]) -> None:
    size = 0
    with path.open("wb") as out:
        for part in parts:
            size += len(part)
            if size > MOST_BYTES:
                raise Invalid("file", f"It is larger than {MOST_BYTES:,} bytes: import it by `ingestfile`.")
            out.write(part)
