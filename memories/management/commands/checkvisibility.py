"""Memories that are shown to more than they would be if they were learned today."""

from argparse import ArgumentParser
from typing import Any

from memories.belief.review.too_visible import make_private, visibility_changes
from memories.management.command_options import CommandWithExamples, add_workspace, chosen_spaces
from workspaces.scope import worker_scope

SHOWN = 200  # characters of a memory


class Command(CommandWithExamples):
    help = (
        "Show which memories of teams would be private if they were learned today, and why.\n"
        "Nothing changes without --apply; each change stands in the log and can be taken back."
    )
    examples = (
        "  manage.py checkvisibility                           all workspaces\n"
        "  manage.py checkvisibility --workspace demo --apply"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "all")
        parser.add_argument("--apply", action="store_true", help="make them private")

    def handle(self, *, workspace: str | None, apply: bool, **_: Any) -> None:
        for space in chosen_spaces(workspace):
            scope = worker_scope(space.workspace_id, "checkvisibility")
            ids = []
            for change in visibility_changes(scope):
                ids.append(change.memory.pk)
                self.stdout.write(f"{change.memory.pk}  {change.memory.content[:SHOWN]}  ({change.reason})")
            name = space.workspace.slug
            if apply:
                self.stdout.write(f"{name}: {make_private(scope, ids)} memories made private")
            else:
                self.stdout.write(f"{name}: {len(ids)} memories would be private")
