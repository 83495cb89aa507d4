"""Restore the whole server from a backup."""

import json
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils.dateparse import parse_datetime

from memories.documents import blobs
from memories.exchange.acts_again import do_again
from memories.management.command_options import CommandWithExamples
from memories.management.progress import progress
from memories.models import Blob
from memories.privacy import irrevocable
from memoryproject.postgres import backups, crossings, database_roles, visible
from memoryproject.postgres.backups import BackupFault
from workspaces.audit import audit_chain, audit_signature
from workspaces.models import AuditEntry, Workspace

MOST_LISTED = 20  # of unsigned acts


class Command(CommandWithExamples):
    copies_tables = True
    help = (
        "Put a backup of `backup` into this installation's database, which has to be empty, or is\n"
        "emptied with --replace. The server has to be stopped. Afterwards every table's rows are\n"
        "counted and compared with the manifest, and older data is migrated. What was erased or\n"
        "masked since the backup is erased or masked again, where this server has signed it;\n"
        "--dry-run lists the rest."
    )
    examples = (
        "  manage.py restore /srv/backups/memory-20260131T020000Z --dry-run   what it holds\n"
        "  MEMORY_DATA_DIR=/srv/new manage.py restore /srv/backups/memory-20260131T020000Z\n"
        "  manage.py restore /srv/backups/memory-20260131T020000Z --replace --yes\n"
        "  MEMORY_DATA_DIR=/tmp/drill manage.py restore FOLDER --check        a drill"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="one backup: memory-<time>")
        parser.add_argument("--dry-run", action="store_true", help="only show the plan")
        parser.add_argument("--replace", action="store_true", help="let go of what is in the database")
        parser.add_argument("--yes", action="store_true", help="with --replace: do it")
        parser.add_argument(
            "--also-unsigned",
            action="store_true",
            help="do again what rows alone say was erased, removed or masked, too",
        )
        parser.add_argument("--check", action="store_true", help="prove the index, too")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        folder, began = options["folder"].expanduser(), time.monotonic()
        try:
            manifest = backups.check(folder)
            here = backups.what_is_there()
            plan = listed(here)
            # A first machine's lists are signed with its key, which lies in its backups.
            kept = folder / "secret_key"
            secrets = (kept.read_text().strip(),) if kept.is_file() else ()
            acts = irrevocable.known(folder.parent, secrets)
            if options["also_unsigned"]:
                acts.trust()
            if options["dry_run"]:
                self._tell(
                    options,
                    {
                        "dryRun": True,
                        "takenAt": manifest.taken_at,
                        "rows": manifest.rows,
                        "replaces": here,
                        "acts": acts.counts,
                        "unsigned": acts.unsigned_told,
                    },
                )
                return
            if here and not options["replace"]:
                raise CommandError(
                    f"The database is not empty ({plan}): give another MEMORY_DATA_DIR or"
                    " DATABASE_URL, or say --replace."
                )
            if here and not options["yes"]:
                raise CommandError(f"This would go for good: {plan}. Say it with --yes.")
            if others := backups.others():
                raise CommandError(f"{others} other connections use the database: stop the server first.")
            # Whatever ends this: the next try knows it, with the key that it will have.
            irrevocable.keep(acts, secret=secrets[0] if secrets else "")
            irrevocable.unfinished().write_text(f"{folder}\n")
            audit_signature.keep_copies()
            with progress(manifest.rows, "rows", sys.stderr) as shown:
                backups.put_back(folder, manifest, shown.update)
            wrong = backups.differences(manifest)
        except BackupFault as error:
            raise CommandError(str(error)) from None
        if wrong:
            told = ", ".join(f"{name}: {own} of {due}" for name, (due, own) in wrong.items())
            raise CommandError(f"Not all rows are there: {told}.")
        with backups.secret_of_folder():
            call_command("migrate", interactive=False, verbosity=0)
            database_roles.prepare(connection)
            irrevocable.add_stored(acts)
            again = do_again(acts, "restore", since=parse_datetime(manifest.taken_at))
            irrevocable.keep_in_table(acts)
            irrevocable.keep(acts)
            tell_the_logs(manifest.taken_at)
        if again.failures:
            raise CommandError(
                "The rows are back, but not all that was erased since is gone again, and so the"
                f" server does not start: {'; '.join(again.failures)}. Run it again."
            )
        irrevocable.unfinished().unlink()
        if options["check"]:
            call_command("checkindex", stdout=self.stderr)
        self._tell(
            options,
            {
                "rows": manifest.rows,
                "tables": len(manifest.counts),
                "takenAt": manifest.taken_at,
                "seconds": round(time.monotonic() - began, 1),
                "checked": options["check"],
                "again": dict(again.counts),
                **_files(),
                "unsigned": acts.unsigned_told,
            },
        )

    def _tell(self, options: dict[str, Any], done: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(done))
        elif "dryRun" in done:
            here = ", ".join(f"{count:,} rows of {name}" for name, count in done["replaces"].items())
            self.stdout.write(
                f"{done['rows']:,} rows, taken {done['takenAt']}, would come"
                f" {f'in the place of {here}' if here else 'into an empty database'}"
            )
            for act, count in done["acts"].items():
                self.stdout.write(f"{count:,} times {act}, signed: again where the backup has it")
        else:
            checked = "; truth and index agree" if done["checked"] else ""
            self.stdout.write(
                f"{done['rows']:,} rows in {done['tables']} tables are back, as they were at"
                f" {done['takenAt']}, in {done['seconds']:g} s; all counts are as the manifest"
                f" says{checked}; {done['files']:,} files of documents, {done['missingFiles']:,}"
                " of them missing"
            )
            for act, count in done["again"].items():
                self.stdout.write(f"{count:,} times {act} again: it was done after the backup")
        if not options["json"] and (unsigned := done["unsigned"]):
            self.stdout.write(
                f"{len(unsigned):,} acts are not signed by this server, and are not done again without --also-unsigned:"
            )
            for act in unsigned[:MOST_LISTED]:
                self.stdout.write(f"  {act}")
            if len(unsigned) > MOST_LISTED:
                self.stdout.write("  and more: --json lists all")


def tell_the_logs(taken_at: str) -> None:
    """Add a line to the audit log of each workspace, with the places that it had since, and seal
    what it has now."""
    with crossings.everywhere():
        here = list(Workspace.objects.order_by("pk"))
    for workspace in here:
        with visible.only(workspace.pk):
            last = audit_signature.last_mark(workspace.pk)
            seal = audit_signature.known(workspace.pk).newest
            places = last.position if last else 0
            before = max(places, seal.position if seal else 0)
            told = {"takenAt": taken_at, "places": places, "placesBefore": before}
            AuditEntry.line(workspace.pk, "restore", "restore", workspace, after=told).save()
            audit_chain.extend(workspace.pk)
            audit_signature.renew(workspace.pk, over=audit_signature.known(workspace.pk))


def _files() -> dict[str, int]:
    """Count the files that documents name and those of them that are missing: they were lost
    before."""
    rows = Blob.objects.values_list("workspace_id", "digest").iterator()
    there = [blobs.path_of(*row).is_file() for row in rows]
    return {"files": len(there), "missingFiles": there.count(False)}


def listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} rows of {name}" for name, count in counts.items())
