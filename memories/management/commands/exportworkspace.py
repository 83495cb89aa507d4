"""Export a workspace with all its history into a file."""

import gzip
import json
import os
from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from memories.exchange import export_workspace
from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memories.management.progress import interruptible, shown_job
from memories.models import LongJob
from memories.queue.long_jobs import NewJob, Stopped


class Command(CommandWithExamples):
    help = (
        "Write a workspace with all its history into a file of JSON lines: messages, facts,\n"
        "quotes, memories and their chains, decisions, cases, features, settings, patterns,\n"
        "masked words and the audit log. Not in it: keys, members and the index. All of it is\n"
        "one moment, while the server runs. Whoever has the file has it all."
    )
    examples = (
        "  manage.py exportworkspace acme.jsonl --workspace acme\n"
        "  manage.py exportworkspace acme.jsonl.gz            packed\n"
        "  manage.py exportworkspace acme.jsonl --dry-run     how many rows it would hold"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="where to write; packed where it ends in .gz")
        add_workspace(parser, "the only one")
        parser.add_argument("--force", action="store_true", help="write over a file that is there")
        parser.add_argument("--dry-run", action="store_true", help="only count the rows")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        workspace = one_workspace(options["workspace"])
        total = export_workspace.size(workspace)
        done = {"workspace": workspace.slug, "rows": total, "dryRun": options["dry_run"]}
        path = Path(options["file"]).expanduser()
        if not options["dry_run"]:
            if path.exists() and not options["force"]:
                raise CommandError(f"{path} is there already: name another, or say --force.")
            if not path.parent.is_dir():
                raise CommandError(f"There is no folder {path.parent}: make it, or name another.")
            draft = path.with_name(f"{path.name}.part")
            try:
                done["rows"] = self._write(workspace, draft, path.suffix == ".gz", total)
                draft.replace(path)
            except Stopped:
                raise CommandError("Stopped; nothing was written.", returncode=130) from None
            except OSError as error:
                raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
            finally:
                draft.unlink(missing_ok=True)
            done |= {"file": str(path), "bytes": path.stat().st_size}
        if options["json"]:
            self.stdout.write(json.dumps(done))
            return
        where = f" in {path}, {done['bytes']:,} bytes" if "bytes" in done else " would be written"
        self.stdout.write(f"{workspace.slug}: {done['rows']:,} rows{where}")

    @staticmethod
    def _write(workspace: Any, draft: Path, packed: bool, total: int) -> int:
        opener = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        new = NewJob(LongJob.Kind.EXPORT, workspace.pk, total)
        with interruptible() as asked, shown_job(asked, new) as steps:
            with os.fdopen(opener, "wb") as raw:
                with gzip.GzipFile(fileobj=raw, mode="wb") if packed else nullcontext(raw) as out:
                    for line in export_workspace.export_workspace(workspace, steps):
                        out.write(line.encode() + b"\n")
                raw.flush()
                os.fsync(raw.fileno())
            steps.job.tell({"rows": steps.done})
            return steps.done
