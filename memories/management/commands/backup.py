"""Back up the whole server into a folder, while it runs."""

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connection

from memories.management.command_options import CommandWithExamples, whole_number
from memories.management.progress import interruptible, shown_job
from memories.models import LongJob
from memories.privacy import irrevocable
from memories.queue.long_jobs import NewJob, Stopped
from memoryproject.postgres import backups
from memoryproject.postgres.backups import BackupFault


class Command(CommandWithExamples):
    copies_tables = True
    help = (
        "Back up the whole server while it runs: all workspaces, accounts and settings, as they\n"
        "are at one moment. Each backup is a folder of its own, memory-<time>, with the dump, the\n"
        "secrets of the data folder and a manifest of versions and counts. `restore` reads it."
    )
    examples = (
        "  manage.py backup /srv/backups\n"
        "  manage.py backup /srv/backups --keep 7        drop all but the newest seven\n"
        "  manage.py backup /srv/backups --keep 7 --dry-run"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="where the backups are")
        parser.add_argument("--keep", type=whole_number(1), metavar="N", help="drop older backups than the newest N")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        parent, keep = options["folder"].expanduser(), options["keep"]
        began = time.monotonic()
        try:
            with connection.cursor() as cursor:
                rows = sum(backups.counts_of(cursor).values())
            done: dict[str, Any] = {"rows": rows, "dryRun": options["dry_run"]}
            if not options["dry_run"]:
                new = NewJob(LongJob.Kind.BACKUP, None, rows)
                with interruptible() as asked, shown_job(asked, new) as steps:
                    folder, manifest = backups.take(parent, steps)
                    irrevocable.keep(irrevocable.known(parent), parent)
                    paths = [path for path in folder.rglob("*") if path.is_file()]
                    size = sum(path.stat().st_size for path in paths)
                    told = {"folder": folder.name, "in": str(parent.resolve())}
                    steps.job.tell({**told, "rows": manifest.rows, "bytes": size})
                done |= {"folder": str(folder), "rows": manifest.rows, "bytes": size}
            # One that is still to come counts, too.
            left = (keep - 1 if options["dry_run"] else keep) if keep else None
            old = [] if left is None else backups.old_ones(parent, left)
            if not options["dry_run"]:
                for each in old:
                    backups.drop(each)
        except BackupFault as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{parent} cannot be written: {error.strerror}.") from None
        except Stopped:
            raise CommandError("Stopped; there is no backup.", returncode=130) from None
        done |= {"dropped": [each.name for each in old]}
        done["seconds"] = round(time.monotonic() - began, 1)
        if options["json"]:
            self.stdout.write(json.dumps(done))
            return
        where = "would be backed up"
        if "folder" in done:
            where = f"in {done['folder']}, {done['bytes']:,} bytes, {done['seconds']:g} s"
        self.stdout.write(f"{done['rows']:,} rows {where}")
        for each in old:
            self.stdout.write(f"{'would drop' if options['dry_run'] else 'dropped'} {each.name}")
