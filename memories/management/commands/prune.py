"""Remove old rows that nothing stands on from the workspaces whose settings say so."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memories.management.progress import interruptible, shown_job
from memories.models import LongJob
from memories.privacy import retention
from memories.queue.long_jobs import NewJob, Stopped
from memoryproject.postgres import visible
from workspaces.models import Workspace
from workspaces.scope import worker_scope


class Command(CommandWithExamples):
    help = (
        "Remove messages and misses that are older than the workspace setting `retention` says,\n"
        "and empty old lines of the audit. Without that setting nothing goes. Never what a fact,\n"
        "a feature, an order or a mask stands on, nor what is under a legal hold."
    )
    examples = (
        "  manage.py prune                             the plan\n"
        "  manage.py prune --workspace acme --yes\n"
        "  manage.py prune --dry-run --json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "all")
        parser.add_argument("--dry-run", action="store_true", help="only show the plan")
        parser.add_argument("--yes", action="store_true", help="do it; there is no way back")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        slug = options["workspace"]
        chosen = [one_workspace(slug)] if slug else list(Workspace.objects.order_by("slug"))
        done: dict[str, Any] = {}
        for workspace in chosen:
            visible.narrow(workspace.pk)
            scope = worker_scope(workspace.pk, "prune")
            rows = retention.plan(scope)
            if options["yes"] and not options["dry_run"]:
                try:
                    new = NewJob(LongJob.Kind.PRUNE, workspace.pk, sum(rows.values()))
                    with interruptible() as asked, shown_job(asked, new) as steps:
                        rows = dict.fromkeys(rows, 0) | dict(retention.prune(scope, steps))
                        steps.job.tell(rows)
                except Stopped:
                    raise CommandError("Stopped; the rest is still there.", 130) from None
            done[workspace.slug] = rows
        is_done = options["yes"] and not options["dry_run"]
        if options["json"]:
            self.stdout.write(json.dumps({"done": is_done, "workspaces": done}))
            return
        for name, counts in done.items():
            told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
            nothing = "nothing" if counts else "nothing, its setting `retention` is empty"
            self.stdout.write(f"{name}: {told or nothing}")
        if not is_done and any(sum(counts.values()) for counts in done.values()):
            self.stderr.write("Nothing was removed: say it with --yes.")
