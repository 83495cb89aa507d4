"""Import memories from another memory server: over its API, or from what it exports."""

import json
import re
import tempfile
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from memories.errors import Conflict, ProviderError
from memories.exchange.file_survey import Survey, survey
from memories.exchange.import_batches import (
    BATCH_NAME,
    batch_name_of,
    batches,
    conversations_of,
    targets_of,
    thread_of,
)
from memories.exchange.import_without_repeats import ImportOptions
from memories.management.command_options import (
    CommandWithExamples,
    add_authors,
    add_workspace,
    one_workspace,
    who_is_who,
)
from memories.management.commands.ingestfile import Run, files_in
from memories.management.import_report import Tally, author_lines, cost_of
from memories.management.progress import interruptible, see_through, shown_job
from memories.models import Erasure, LongJob, MemorySession
from memories.privacy import erase
from memories.providers.memory_pull import HOMES, PullSource, pull
from memories.queue.long_jobs import NewJob
from memories.reading.extraction.cost_ahead import CostAhead
from memories.transcripts import Transcript, read
from memories.transcripts.read_file import layout
from memories.transcripts.transcript import Unreadable
from workspaces.scope import Scope, worker_scope

BATCH = 100  # messages of one ingest
TEXTS = ("text", "markdown")


class Command(CommandWithExamples):
    help = (
        "Bring in what another memory holds: pulled from mem0's or supermemory's API, or read out\n"
        "of files: their exports, ChatGPT's and Claude's exports and memory texts, CLAUDE.md and\n"
        "its like. Each memory is kept word for word and compared with what is believed; the same\n"
        "again adds nothing, and what was stopped goes on. All of a batch is taken back at once."
    )
    examples = (
        "  manage.py importmemories --from mem0 --key m0-... --dry-run\n"
        "  manage.py importmemories --from supermemory --url http://127.0.0.1:8787 --key sm_...\n"
        "  manage.py importmemories conversations.json --user ada --batch chatgpt\n"
        "  manage.py importmemories '_chat.txt' --user ada --me 'Ada L.' --batch family\n"
        "  manage.py importmemories ~/.claude/CLAUDE.md memory/ --user ada --batch claude-code\n"
        "  manage.py importmemories --batches\n"
        "  manage.py importmemories --take-back chatgpt --yes"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", type=Path, help="files, or folders of files")
        parser.add_argument("--from", dest="kind", choices=sorted(HOMES), help="pull over its API")
        parser.add_argument("--url", default="", help="of that server (default: the vendor's own)")
        parser.add_argument("--key", default="", help="for that server")
        parser.add_argument("--only", default="", metavar="USER", help="of one user over there")
        parser.add_argument("--batch", type=batch_name, help="its name (default: told)")
        add_workspace(parser, "the only one")
        parser.add_argument("--user", default="", help="whom all of it is about here")
        add_authors(parser)
        parser.add_argument("--agent", default="", help="whose memories it becomes")
        parser.add_argument("--dry-run", action="store_true", help="read only, store nothing")
        parser.add_argument("--batches", action="store_true", help="what was imported so far")
        parser.add_argument("--take-back", default="", metavar="BATCH", help="erase all of a batch")
        parser.add_argument("--yes", action="store_true", help="there is no way back; or it may cost so much")
        parser.add_argument("--json", action="store_true", help="the report as JSON")

    def handle(self, **options: Any) -> None:
        scope = worker_scope(one_workspace(options["workspace"]).pk, "importmemories")
        if options["batches"]:
            self._show_batches(scope, as_json=options["json"])
        elif options["take_back"]:
            self._take_back(scope, options["take_back"], options)
        elif bool(options["kind"]) == bool(options["paths"]):
            raise CommandError("Name files, or a server with --from.")
        elif options["kind"]:
            self._pull(scope, options)
        else:
            files = list(files_in(options["paths"]))
            if not files:
                raise CommandError("There was nothing that could be read.")
            self._import(scope, files, options["batch"] or batch_name_of(files[0].stem), options)

    def _pull(self, scope: Scope, options: dict[str, Any]) -> None:
        """Pull them into a file that is deleted when all of it is imported: the readers are those
        of an export."""
        kind = options["kind"]
        source = PullSource(kind, options["url"], options["key"], options["only"])
        with tempfile.TemporaryDirectory() as folder:
            file, count = Path(folder) / f"{kind}.jsonl", 0
            with file.open("w", encoding="utf-8") as out:
                try:
                    for page in pull(source):
                        out.writelines(f"{json.dumps(row)}\n" for row in page)
                        count += len(page)
                        self.stderr.write(f"{count} memories fetched from {source.address}")
                except ProviderError as error:
                    raise CommandError(f"{error} Nothing was stored; start it again.") from None
            if not count:
                raise CommandError(f"{source.address} has no memories that this key sees.")
            self._import(scope, [file], options["batch"] or kind, options)

    def _import(self, scope: Scope, files: list[Path], batch: str, options: dict[str, Any]) -> None:
        surveys = {path: survey(path, format_of(path)) for path in files}
        options["who"] = who_is_who(options, (n for each in surveys.values() for n in each.authors.by_name))
        tally = None
        talks = [talk for each in surveys.values() for talk in each.talks]
        ahead = cost_of(scope.workspace_id, talks, BATCH, said=options["yes"] or options["dry_run"])
        if not options["json"]:
            self.stderr.write(str(ahead))
        if not options["dry_run"]:
            tally = self._store(scope, surveys, batch, options)
        told = (batch, ahead)
        self._report(list(surveys.values()), tally, told, as_json=options["json"])
        if tally and tally.is_stopped:
            raise CommandError("Stopped. The same command goes on from here.", returncode=130)
        if tally and tally.refused:
            raise CommandError(f"{len(tally.refused)} conversations were not stored.")
        if not any(each.is_usable for each in surveys.values()):
            raise CommandError("There was nothing that could be read.")

    def _store(self, scope: Scope, surveys: dict[Path, Survey], batch: str, options: dict[str, Any]) -> Tally:
        usable = {path: each for path, each in surveys.items() if each.is_usable}
        total = sum(each.messages for each in usable.values())
        new = NewJob(LongJob.Kind.IMPORT, scope.workspace_id, total, "memories")
        with interruptible() as asked, shown_job(asked, new) as steps:
            run = Run(scope, steps)
            for path in usable:
                wish = ImportOptions(
                    user_id=options["user"],
                    agent_id=options["agent"],
                    batch=BATCH,
                    occurred_at=datetime.fromtimestamp(path.stat().st_mtime, UTC),
                    metadata={"file": path.name, "import": batch},
                    who=options["who"],
                )
                for part in read(path, format_of(path)):
                    if isinstance(part, Transcript) and not run.tally.is_stopped:
                        thread = thread_of(batch, part.thread)
                        own = replace(wish, thread_id=thread, extract=extract_of(part))
                        run.store(part, own)
            run.keep_result()
        return run.tally

    def _report(
        self, surveys: list[Survey], tally: Tally | None, told: tuple[str, CostAhead], *, as_json: bool
    ) -> None:
        batch, ahead = told
        if as_json:
            report = {"batch": batch, "files": [each.as_json() for each in surveys], "ahead": ahead.as_json()}
            self.stdout.write(json.dumps(report | (tally.as_json() if tally else {}), indent=2))
            return
        messages = sum(each.messages for each in surveys)
        subjects = {name for each in surveys for name in each.subjects}
        bad = sum(each.bad for each in surveys)
        self.stdout.write(
            f"{messages} memories and messages of {len(subjects)} users read, {bad} lines not understood."
        )
        for line in tally.lines() if tally else author_lines(surveys):
            self.stdout.write(line)
        for each in surveys:
            for line in each.lines():
                self.stderr.write(line)
        if tally:
            self.stdout.write(f"Taken back by: importmemories --take-back {batch} --yes")

    def _show_batches(self, scope: Scope, *, as_json: bool) -> None:
        counts = batches(scope)
        if as_json:
            self.stdout.write(json.dumps(counts))
            return
        for batch, count in counts.items():
            self.stdout.write(f"{batch:24}{count:>8} memories and messages")
        if not counts:
            self.stdout.write("Nothing was imported.")

    def _take_back(self, scope: Scope, batch: str, options: dict[str, Any]) -> None:
        targets = targets_of(scope, batch)
        if not targets:
            raise CommandError(f"There is no batch {batch!r} here: --batches names them.")
        plans = [erase.plan(target) for target in targets]
        counts = sum(map(Counter, plans), Counter[str]())
        if options["dry_run"] or not options["yes"]:
            shown = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
            self.stdout.write(json.dumps(counts) if options["json"] else shown)
            if not options["dry_run"]:
                raise CommandError("Nothing was erased. There is no way back: say it with --yes.")
            return
        for target, plan in zip(targets, plans, strict=True):
            try:
                row = erase.request(scope, target)
            except Conflict as error:
                raise CommandError(error.message) from None
            total = sum(plan.get(each, 0) for each in ("episodes", "facts", "memories"))
            see_through(row, total, erase.run)
            if row.state != Erasure.State.DONE:
                raise CommandError(f"It failed: {row.error}. The same command goes on.")
        conversations_of(scope, batch).delete()
        text = f"{batch}: taken back, with {counts['episodes']} words of it"
        self.stdout.write(json.dumps(counts) if options["json"] else text)


def format_of(path: Path) -> str | None:
    """Return "statements" for texts, which are read statement by statement; else None: the readers
    detect the format of JSON."""
    try:
        return "statements" if layout(path) in TEXTS else None
    except Unreadable:
        return None


def extract_of(part: Transcript) -> str:
    """Return the extract mode: texts that stand for themselves are kept word for word,
    conversations are read as usual."""
    return MemorySession.Extract.NONE if part.stands_for_itself else MemorySession.Extract.AUTO


def batch_name(text: str) -> str:
    if not re.fullmatch(BATCH_NAME, text):
        raise ArgumentTypeError("lower-case letters, digits and hyphens, 40 at most")
    return text
