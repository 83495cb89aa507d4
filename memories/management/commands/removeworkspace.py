"""Remove a workspace and every row of it."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories.errors import Conflict
from memories.management.command_options import CommandWithExamples, one_workspace
from memories.management.progress import see_through
from memories.privacy.erase import workspace_removal
from workspaces.models import WorkspaceRemoval


class Command(CommandWithExamples):
    help = (
        "Remove a workspace with every row of it. Nobody is let in from the first moment on;\n"
        "what was interrupted goes on. There is no way back but a backup."
    )
    examples = (
        "  manage.py removeworkspace acme --dry-run     what would go\n"
        "  manage.py removeworkspace acme --yes\n"
        "  manage.py removeworkspace acme --yes --json  the rows, and the certificate's id"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--dry-run", action="store_true", help="only show the plan")
        parser.add_argument("--yes", action="store_true", help="do it; there is no way back")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        workspace = one_workspace(options["slug"])
        plan = workspace_removal.plan(workspace)
        if not options["json"]:
            self.stdout.write(", ".join(f"{n} {what}" for what, n in plan.items()))
        elif options["dry_run"]:
            self.stdout.write(json.dumps({"dryRun": True, "rows": plan}))
        if options["dry_run"]:
            return
        if not options["yes"]:
            raise CommandError("Nothing was removed. There is no way back: say it with --yes.")
        try:
            row = workspace_removal.request(workspace, "shell")
        except Conflict as error:
            raise CommandError(error.message) from None
        see_through(row, sum(plan.values()), workspace_removal.run)
        if row.state != WorkspaceRemoval.State.DONE:
            raise CommandError(f"It failed: {row.error}.")
        if options["json"]:
            self.stdout.write(json.dumps({"rows": plan, "certificate": str(row.pk)}))
            return
        self.stdout.write(f"removed; certificate {row.pk}")
