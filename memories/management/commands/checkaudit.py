"""Check whether the audit log is as it was written."""

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections import defaultdict
from typing import Any

from django.core.management.base import CommandError
from django.db import DataError

from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memoryproject.postgres import visible
from workspaces.audit import audit_chain
from workspaces.audit.audit_chain import ChainReport
from workspaces.models import Workspace

PLACE = re.compile(r"([a-z0-9-]{1,63}):([0-9]{1,18}):([0-9a-f]{64})")


class Command(CommandWithExamples):
    help = (
        "Follow the chain of each workspace's audit log: a line that was changed, removed or put\n"
        "in by hand is told, a log that was emptied, cut or begun anew, too, and the exit code is\n"
        "1. Lines whose values were erased keep their place and their mark. Keep what it prints\n"
        "elsewhere, and give it to `--expect` later: that holds against whoever has SECRET_KEY.\n"
        "Where the key was changed meanwhile, and it is of the last sealed place or a later one,\n"
        "the log is sealed anew; a seal that was written by hand stays a fault."
    )
    examples = (
        "  manage.py checkaudit\n"
        "  manage.py checkaudit --workspace acme --json\n"
        "  manage.py checkaudit --expect acme:1204:9f2c...   a line that it printed"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "all")
        parser.add_argument(
            "--expect",
            action="append",
            type=_place,
            default=[],
            metavar="SLUG:PLACE:MARK",
            help="a place of an earlier report; may be given several times",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        slug = options["workspace"]
        chosen = [one_workspace(slug)] if slug else list(Workspace.objects.order_by("slug"))
        expected: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for name, position, mark in options["expect"]:
            expected[name].append((position, mark))
        if unknown := expected.keys() - {workspace.slug for workspace in chosen}:
            raise CommandError(f"There is no workspace {sorted(unknown)[0]!r} here.")
        reports = {}
        for workspace in chosen:
            with visible.only(workspace.pk):
                try:
                    audit_chain.extend(workspace.pk)
                    report = audit_chain.check(workspace.pk, expected[workspace.slug])
                except (DataError, ValueError) as error:
                    # Written past the server: the others are looked at all the same.
                    fault = f"it cannot be followed: {str(error).partition(chr(10))[0]}"
                    report = ChainReport(0, "", 0, [fault])
                reports[workspace.slug] = report
        faults = sum(len(report.faults) for report in reports.values())
        if options["json"]:
            told = {
                name: {
                    "lines": report.position,
                    "mark": report.mark,
                    "emptied": report.emptied,
                    "faults": report.faults,
                }
                for name, report in reports.items()
            }
            self.stdout.write(json.dumps({"workspaces": told}, indent=2))
        else:
            for name, report in reports.items():
                emptied = f", {report.emptied:,} of them emptied" if report.emptied else ""
                self.stdout.write(f"{name}: {report.position:,} lines{emptied}")
                if report.mark:
                    self.stdout.write(f"  {name}:{report.position}:{report.mark}")
                for fault in report.faults:
                    self.stdout.write(f"  FAULT {fault}")
        if faults:
            raise CommandError(f"{faults} faults: the audit log is not as it was written.")


def _place(text: str) -> tuple[str, int, str]:
    parts = PLACE.fullmatch(text)
    if parts is None:
        raise ArgumentTypeError("must be a line that this command printed: slug:place:mark")
    return parts[1], int(parts[2]), parts[3]
