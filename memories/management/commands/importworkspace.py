"""Import a workspace with all its history from a file of `exportworkspace`."""

import gzip
import json
import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import IO, Any

from django.core.management import call_command
from django.core.management.base import CommandError

from memories.errors import Conflict, Invalid
from memories.exchange import import_workspace, load_workspace
from memories.management.command_options import CommandWithExamples
from memories.management.progress import interruptible, shown_job
from memories.models import LongJob, WorkspaceImport
from memories.queue.long_jobs import NewJob, Stopped
from memoryproject.postgres import visible


class Command(CommandWithExamples):
    help = (
        "Read a workspace out of a file of `exportworkspace`, with all its history, and make its\n"
        "index anew. What was stopped goes on where it was; a file that is here already changes\n"
        "nothing. Nobody sees any of it before all of it is here. Keys and members are made\n"
        "afterwards: `createkey`, `members`."
    )
    examples = (
        "  manage.py importworkspace acme.jsonl\n"
        "  manage.py importworkspace acme.jsonl.gz --slug acme-2\n"
        "  manage.py importworkspace acme.jsonl --dry-run    whether this server would take it\n"
        "  manage.py importworkspace acme.jsonl --abandon    let go of what a stopped one kept"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--slug", default="", help="another name in addresses than it had")
        parser.add_argument("--dry-run", action="store_true", help="read the file, keep nothing")
        parser.add_argument("--abandon", action="store_true", help="forget a stopped import")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        path = Path(options["file"]).expanduser()
        try:
            with opened(path) as lines:
                total = max(sum(1 for _ in lines) - 2, 0)  # without its head and its end
            with opened(path) as lines:
                first = lines.readline()
                if options["abandon"]:
                    done = self._abandon(first)
                elif options["dry_run"]:
                    done = self._plan(first, total, options)
                else:
                    done = self._import(first, lines, total, options)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror or error}.") from None
        except (Conflict, Invalid) as error:
            raise CommandError(error.message) from None
        except Stopped:
            raise CommandError(
                "Stopped. The same command goes on with it; --abandon lets go of it.",
                returncode=130,
            ) from None
        if options["json"]:
            self.stdout.write(json.dumps(done))
            return
        self.stdout.write(f"{done['workspace']}: {done['rows']:,} rows, {done['state']}")

    @staticmethod
    def _abandon(first: str) -> dict[str, Any]:
        named = import_workspace.read_head(first)["workspace"]
        visible.narrow(uuid.UUID(named["id"]))
        row = WorkspaceImport.objects.filter(workspace=named["id"], loaded_at=None).first()
        if row is None:
            raise CommandError("Nothing of this file waits here.")
        import_workspace.abandon(row)
        return {"workspace": named["slug"], "rows": row.lines, "state": "let go of"}

    @staticmethod
    def _plan(first: str, total: int, options: dict[str, Any]) -> dict[str, Any]:
        row = import_workspace.planned(first, options["slug"])
        state = "would be read"
        if row.loaded_at:
            state = "here already"
        elif row.lines:
            state = f"would be read; {row.lines:,} of them were kept by an import that was stopped"
        return {"workspace": row.header["workspace"]["slug"], "rows": total, "state": state}

    def _import(self, first: str, lines: IO[str], total: int, options: dict[str, Any]) -> dict[str, Any]:
        row = import_workspace.begin(first, options["slug"])
        slug, state = row.header["workspace"]["slug"], "here already"
        if row.loaded_at is None:
            # It is of no workspace: there is none before all of it is here.
            new = NewJob(LongJob.Kind.IMPORT, None, total)
            with interruptible() as asked, shown_job(asked, new) as steps:
                import_workspace.keep(row, lines, steps)
                loaded = load_workspace.load(row, "importworkspace")
                steps.job.tell({"workspace": slug, "rows": sum(loaded.values())})
            state = "read"
        if row.finished_at is None:
            call_command("reindex", workspace=slug, stdout=self.stderr)
            load_workspace.finish(row)
            state = "read; its index is made"
        return {"workspace": slug, "rows": total, "state": state}


def opened(path: Path) -> IO[str]:
    """Yield its lines; the file is packed where its name says so."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")
