"""Erase a subject, a conversation or an episode, and all that was made of it."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories.errors import Conflict, NotFound
from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memories.management.progress import see_through
from memories.models import Conversation, Erasure
from memories.privacy import erase
from workspaces.auth import as_uuid
from workspaces.models import Subject, Workspace
from workspaces.scope import Scope, worker_scope


class Command(CommandWithExamples):
    help = (
        "Erase a subject (by its userId), a conversation (by its threadId) or an episode, with\n"
        "all that was made of it, and prove that it is gone. What was interrupted goes on."
    )
    examples = (
        "  manage.py erase subject ada --dry-run     what would go\n"
        "  manage.py erase subject ada --yes\n"
        "  manage.py erase conversation tuesday --workspace demo --yes"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=Erasure.Kind.values)
        parser.add_argument("name", help="userId, threadId, or the id of the row")
        add_workspace(parser, "the only one")
        parser.add_argument("--dry-run", action="store_true", help="only show the plan")
        parser.add_argument("--yes", action="store_true", help="do it; there is no way back")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        workspace = one_workspace(options["workspace"])
        scope = worker_scope(workspace.pk, "shell")
        target = self._target(scope, workspace, options["kind"], options["name"])
        plan = erase.plan(target)
        if not options["json"]:
            shown = ", ".join(f"{n} {what}" for what, n in plan.items() if n)
            self.stdout.write(shown or "nothing")
        elif options["dry_run"]:
            self.stdout.write(json.dumps({"dryRun": True, "rows": plan}))
        if options["dry_run"]:
            return
        if not options["yes"]:
            raise CommandError("Nothing was erased. There is no way back: say it with --yes.")
        try:
            row = erase.request(scope, target)
        except Conflict as error:
            raise CommandError(error.message) from None
        total = sum(row.plan.get(each, 0) for each in ("episodes", "facts", "memories"))
        see_through(row, total, erase.run)
        if row.state != Erasure.State.DONE:
            raise CommandError(f"It failed: {row.error}. {row.proof.get('found', '')}")
        if options["json"]:
            told = {"rows": plan, "certificate": str(row.pk), "proof": row.proof}
            self.stdout.write(json.dumps(told))
            return
        self.stdout.write(
            f"erased; {row.proof['texts']} texts were looked for in {row.proof['columns']} columns"
            f" and {row.proof['searches']} searches: nothing of it was found"
        )

    def _target(self, scope: Scope, workspace: Workspace, kind: str, name: str) -> erase.ErasureTarget:
        """Return the target. Raises CommandError where there is none of this name."""
        row_id = as_uuid(name)
        models: dict[str, Any] = {"subject": Subject, "conversation": Conversation}
        if kind in models:
            rows = models[kind].objects.filter(workspace=workspace, external_id=name)
            row_id = rows.values_list("pk", flat=True).first() or row_id
        try:
            target = erase.target_of(scope, kind, row_id) if row_id else None
        except NotFound:
            target = None
        if target is None:
            raise CommandError(f"There is no {kind} {name!r}.")
        return target
