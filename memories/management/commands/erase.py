"""A subject, a conversation or an episode, and all that was made of it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories import erase
from memories.errors import NotFound
from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memories.management.progress import see_through
from memories.models import Conversation, Erasure
from workspaces.auth import as_uuid
from workspaces.models import Subject, Workspace
from workspaces.scope import worker_scope


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

    def handle(self, **options: Any) -> None:
        workspace = one_workspace(options["workspace"])
        scope = worker_scope(workspace.pk, "shell")
        try:
            row_id = _id_of(workspace, options["kind"], options["name"])
            target = erase.target_of(scope, options["kind"], row_id)
        except NotFound as error:
            raise CommandError(f"There is no {options['kind']} {options['name']!r}.") from error
        plan = erase.plan(target)
        self.stdout.write(", ".join(f"{n} {what}" for what, n in plan.items() if n) or "nothing")
        if options["dry_run"]:
            return
        if not options["yes"]:
            raise CommandError("Nothing was erased. There is no way back: say it with --yes.")
        row = erase.request(scope, target)
        rows = sum(row.plan.get(name, 0) for name in ("episodes", "facts", "memories"))
        see_through(row, rows, erase.run)
        if row.state != Erasure.State.DONE:
            raise CommandError(f"It failed: {row.error}. {row.proof.get('found', '')}")
        self.stdout.write(
            f"erased; {row.proof['texts']} texts were looked for in {row.proof['columns']} columns"
            f" and {row.proof['searches']} searches: nothing of it was found"
        )


def _id_of(workspace: Workspace, kind: str, name: str) -> Any:
    """The id of the row that is named as its caller names it. Raises NotFound."""
    models: dict[str, Any] = {"subject": Subject, "conversation": Conversation}
    if kind in models:
        rows = models[kind].objects.filter(workspace=workspace, external_id=name)
        if found := rows.values_list("pk", flat=True).first():
            return found
    if (row_id := as_uuid(name)) is None:
        raise NotFound(kind.capitalize())
    return row_id
