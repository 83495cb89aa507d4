"""A workspace and every row of it."""

import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories.erase import workspace_removal
from memories.management.command_options import CommandWithExamples, one_workspace
from memories.management.progress import interruptible, progress
from workspaces.models import WorkspaceRemoval

STEP = 5.0  # seconds between two looks at whether to stop


class Command(CommandWithExamples):
    help = (
        "Remove a workspace with every row of it. Nobody is let in from the first moment on;\n"
        "what was interrupted goes on. There is no way back but a backup."
    )
    examples = (
        "  manage.py removeworkspace acme --dry-run     what would go\n"
        "  manage.py removeworkspace acme --yes"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--dry-run", action="store_true", help="only show the plan")
        parser.add_argument("--yes", action="store_true", help="do it; there is no way back")

    def handle(self, **options: Any) -> None:
        workspace = one_workspace(options["slug"])
        plan = workspace_removal.plan(workspace)
        self.stdout.write(", ".join(f"{n} {what}" for what, n in plan.items()))
        if options["dry_run"]:
            return
        if not options["yes"]:
            raise CommandError("Nothing was removed. There is no way back: say it with --yes.")
        asked = workspace_removal.request(workspace, "shell")
        with interruptible() as wish, progress(sum(plan.values()), "rows", sys.stderr) as shown:
            while (row := WorkspaceRemoval.objects.get(pk=asked.pk)).is_open:
                if wish.is_asked:
                    raise CommandError("Stopped. The worker goes on with it.", returncode=130)
                if workspace_removal.run(asked.pk, STEP, shown.update) is None:
                    time.sleep(0.5)  # the worker has it
        if row.state != WorkspaceRemoval.State.DONE:
            raise CommandError(f"It failed: {row.error}.")
        self.stdout.write(f"removed; certificate {row.pk}")
