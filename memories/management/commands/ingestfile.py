"""Ingest conversations and documents from files into a workspace.

A folder of files is handed in as documents. Files handed in before are known by their paths, so the
same command goes on where it was stopped.
"""

import hashlib
import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from memories.documents import document_store
from memories.documents.document_store import NewDocument
from memories.errors import Conflict, Forbidden, Invalid, ProviderError
from memories.exchange.file_survey import Survey, survey
from memories.exchange.import_without_repeats import ImportOptions, import_transcript
from memories.ingest.process import ASKING
from memories.language.bounds import LONGEST_ID, MOST_MESSAGES
from memories.management.command_options import (
    CommandWithExamples,
    add_authors,
    one_workspace,
    who_is_who,
    whole_number,
)
from memories.management.import_report import Tally, author_lines, cost_of
from memories.management.progress import Steps, interruptible, shown_job
from memories.models import LongJob, MemorySession
from memories.queue.long_jobs import NewJob, Stopped
from memories.reading.extraction.cost_ahead import CostAhead
from memories.sources.connectors.connector import is_readable
from memories.transcripts import FORMATS, Transcript, read
from workspaces.scope import Scope, worker_scope

PART = 1 << 20


# Endings of the files that are taken from a folder; a file named itself may have any name.
ENDINGS = frozenset({".json", ".jsonl", ".ndjson", ".md", ".markdown", ".txt", ".eml", ".mbox"})


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
    """Counts of the files by outcome; `refused` are lines for people."""

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
            new = replace(like, parts=file.parts(), filename=file.path.name, custom_id=file.custom_id)
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


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the command, on its way through the transcripts."""

    scope: Scope
    steps: Steps
    tally: Tally = field(default_factory=Tally)

    def store(self, transcript: Transcript, wish: ImportOptions) -> None:
        """Store what a transcript brings, up to an interruption; a refusal is noted."""
        try:
            for batch in import_transcript(self.scope, transcript, wish):
                self.tally.add(batch, transcript.thread)
                self.steps(batch.messages)
        except Stopped:
            self.tally.is_stopped = True
        except (Conflict, Invalid) as error:
            self.tally.refused.append(str(error))
        except ProviderError as error:
            raise CommandError(f"{error} The same command goes on from here.") from error

    def keep_result(self) -> None:
        self.steps.job.tell(self.tally.counts())
        if self.tally.is_stopped:
            self.steps.job.stop()


class Command(CommandWithExamples):
    help = (
        "Ingest files: text, Markdown, mail, messages as JSON or JSONL, exports of chats (WhatsApp,\n"
        "Telegram, Slack and others), of assistants and coding agents, also as they come in a zip.\n"
        "The same file again adds nothing; what was interrupted goes on."
    )
    examples = (
        "  manage.py ingestfile chat.json --user ada\n"
        "  manage.py ingestfile '_chat.txt' --dry-run\n"
        "  manage.py ingestfile '_chat.txt' --user ada --me 'Ada L.' --author Bo=bo\n"
        "  manage.py ingestfile notes/ --workspace demo --dry-run\n"
        "  manage.py ingestfile reports/ --documents --space reports"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, help="files, or folders of files")
        parser.add_argument("--workspace", help="its slug; may be left out where there is one only")
        parser.add_argument("--user", default="", help="whom it is about (default: as in the file)")
        add_authors(parser)
        parser.add_argument("--agent", default="", help="whose memories it becomes")
        parser.add_argument("--thread", default="", help="for a file of one conversation")
        parser.add_argument("--format", choices=FORMATS, help="default: told by the content")
        parser.add_argument("--mode", choices=MemorySession.Mode.values, default="sync")
        parser.add_argument("--extract", choices=MemorySession.Extract.values, default="auto")
        parser.add_argument("--batch", type=whole_number(1, MOST_MESSAGES), default=100, help="messages per ingest")
        parser.add_argument("--documents", action="store_true", help="files of any kind, each as a document")
        parser.add_argument("--space", action="append", default=[], help="of the documents; may be given again")
        parser.add_argument("--dry-run", action="store_true", help="read only, store nothing")
        parser.add_argument("--yes", action="store_true", help="it may cost as much as it says")
        parser.add_argument("--json", action="store_true", help="the report as JSON")

    def handle(self, *, paths: list[Path], dry_run: bool, **options: Any) -> None:
        scope = None
        if not dry_run:
            scope = worker_scope(one_workspace(options["workspace"]).pk, "ingestfile")
        if options["documents"]:
            self.hand_in(scope, document_files(paths), options)
            return
        surveys = [survey(path, options["format"]) for path in files_in(paths)]
        thread = options["thread"]
        count = sum(len(found.threads) for found in surveys)
        if thread and count > 1:
            raise CommandError(f"--thread is for one conversation, and here are {count}.")
        who = who_is_who(options, (name for found in surveys for name in found.authors.by_name))
        tally, ahead = Tally(), None
        if scope is not None:
            options["who"] = who
            sizes = [size for each in surveys for size in (*each.talks, *each.texts)]
            asks = options["extract"] in ASKING
            ahead = cost_of(scope.workspace_id, sizes if asks else (), options["batch"], said=options["yes"])
            if not options["json"]:
                self.stderr.write(str(ahead))
            tally = self.store(scope, [s for s in surveys if s.is_usable], options)
        self.report(surveys, tally if ahead else None, ahead, as_json=options["json"])
        if tally.is_stopped:
            raise CommandError("Stopped. The same command goes on from here.", returncode=130)
        if tally.refused:
            raise CommandError(f"{len(tally.refused)} conversations were not stored.")
        if not any(found.is_usable for found in surveys):
            raise CommandError("There was nothing that could be read.")

    def hand_in(self, scope: Scope | None, files: list[DocumentFile], options: dict[str, Any]) -> None:
        if not files:
            raise CommandError("There was nothing that could be read.")
        if scope is None:
            self.stdout.write(f"{len(files)} files would be handed in.")
            return
        unknown = NewDocument(
            None,
            container_tags=options["space"],
            user_id=options["user"],
            agent_id=options["agent"],
            extract="none" if options["extract"] == "none" else "auto",
        )
        new = NewJob(LongJob.Kind.IMPORT, scope.workspace_id, len(files), "files")
        with interruptible() as asked, shown_job(asked, new) as steps:
            tally = hand_in_files(scope, files, unknown, steps)
            steps.job.tell({"new": tally.new, "known": tally.unchanged})
            if tally.is_stopped:
                steps.job.stop()
        if options["json"]:
            self.stdout.write(json.dumps(asdict(tally)))
        else:
            self.stdout.write(f"{tally.new} files handed in, {tally.unchanged} known already.")
            for line in tally.refused:
                self.stderr.write(line)
        if tally.is_stopped:
            raise CommandError("Stopped. The same command goes on from here.", returncode=130)
        if tally.refused:
            raise CommandError(f"{len(tally.refused)} files were not handed in.")

    def store(self, scope: Scope, surveys: list[Survey], options: dict[str, Any]) -> Tally:
        total = sum(found.messages for found in surveys)
        new = NewJob(LongJob.Kind.IMPORT, scope.workspace_id, total, "messages")
        with interruptible() as asked, shown_job(asked, new) as steps:
            run = Run(scope, steps)
            for found in surveys:
                # A message without a time was said when the file was written, at the latest.
                wish = ImportOptions(
                    user_id=options["user"],
                    agent_id=options["agent"],
                    thread_id=options["thread"],
                    mode=options["mode"],
                    extract=options["extract"],
                    batch=options["batch"],
                    occurred_at=datetime.fromtimestamp(found.path.stat().st_mtime, UTC),
                    metadata={"file": found.path.name},
                    who=options["who"],
                )
                for part in read(found.path, options["format"]):
                    if isinstance(part, Transcript) and not run.tally.is_stopped:
                        run.store(part, wish)
            run.keep_result()
        return run.tally

    def report(self, surveys: list[Survey], tally: Tally | None, ahead: CostAhead | None, *, as_json: bool) -> None:
        if as_json:
            told: dict[str, Any] = {"files": [found.as_json() for found in surveys]}
            if ahead:
                told["ahead"] = ahead.as_json()
            self.stdout.write(json.dumps(told | (tally.as_json() if tally else {}), indent=2))
            return
        usable = [found for found in surveys if found.is_usable]
        self.stdout.write(
            f"{len(usable)} files with {sum(len(found.threads) for found in usable)} conversations"
            f" and {sum(found.messages for found in usable)} messages read."
        )
        for line in tally.lines() if tally else author_lines(usable):
            self.stdout.write(line)
        for found in surveys:
            for line in found.lines():
                self.stderr.write(line)


def files_in(paths: list[Path]) -> Iterator[Path]:
    """The files themselves, and of folders all that look like text, in a steady order."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for inner in sorted(path.rglob("*")):
            is_hidden = any(part.startswith(".") for part in inner.relative_to(path).parts)
            if inner.suffix.lower() in ENDINGS and inner.is_file() and not is_hidden:
                yield inner
