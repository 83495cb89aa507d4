"""The index, made anew from the truth."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories.errors import ProviderError
from memories.index import common_terms, rebuild, reembedding, segments
from memories.management.command_options import CommandWithExamples, add_workspace, chosen_spaces
from memories.management.progress import Interruption, Steps, Stopped, interruptible, progress
from memories.models import WorkspaceIndex


class Command(CommandWithExamples):
    help = (
        "Make entries, speakers and counts of the index anew from memories and episodes.\n"
        "Search and ingest go on meanwhile. Vectors whose text is the same stay."
    )
    examples = (
        "  manage.py reindex                        all workspaces\n"
        "  manage.py reindex --workspace demo && manage.py checkindex --workspace demo"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "all")

    def handle(self, *, workspace: str | None, **_: Any) -> None:
        with interruptible() as asked:
            try:
                for space in chosen_spaces(workspace):
                    self.rebuild(space, asked)
                segments.build_and_drop(self.stdout.write)
            except ProviderError as error:
                raise CommandError(
                    f"The entries are rebuilt, but the embedding model failed: {error}\n"
                    "The vectors that are missing are made by `reembed`."
                ) from error
            except Stopped:
                raise CommandError(
                    "Stopped; the index is whole, a part of it rebuilt.", returncode=130
                ) from None

    def rebuild(self, space: WorkspaceIndex, asked: Interruption) -> None:
        with progress(rebuild.size(space), "rows", sys.stderr) as shown:
            done = rebuild.rebuild(space, Steps(asked, shown))
        common_terms.count_in(space)
        name = space.workspace.slug
        self.stdout.write(
            f"{name}: {done.added} entries added, {done.changed} changed, {done.removed} removed"
        )
        made = reembedding.make(space, done.incomplete)
        with progress(reembedding.missing(space), "entries", sys.stderr) as shown:
            made += reembedding.fill(space, Steps(asked, shown))
        self.stdout.write(f"{name}: vectors of {made} entries made")
