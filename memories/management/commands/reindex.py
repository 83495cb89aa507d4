"""Make the index again from the truth."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories.errors import ProviderError
from memories.index import common_terms, hnsw_segments, rebuild, reembedding
from memories.management.command_options import CommandWithExamples, add_workspace, chosen_spaces
from memories.management.progress import Interruption, interruptible, shown_job
from memories.models import LongJob, WorkspaceIndex
from memories.queue.long_jobs import NewJob, Stopped


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
                hnsw_segments.rebuild_indexes(self.stdout.write, wait=hnsw_segments.OTHERS_BUILD)
            except ProviderError as error:
                raise CommandError(
                    f"The entries are rebuilt, but the embedding model failed: {error}\n"
                    "The vectors that are missing are made by `reembed`."
                ) from error
            except Stopped:
                raise CommandError("Stopped; the index is whole, a part of it rebuilt.", returncode=130) from None

    def rebuild(self, space: WorkspaceIndex, asked: Interruption) -> None:
        with shown_job(asked, NewJob(LongJob.Kind.REINDEX, space.workspace_id, rebuild.size(space))) as steps:
            done = rebuild.rebuild(space, steps)
            common_terms.count_in(space)
            steps.job.tell({"added": done.added, "changed": done.changed, "removed": done.removed})
        name = space.workspace.slug
        self.stdout.write(f"{name}: {done.added} entries added, {done.changed} changed, {done.removed} removed")
        made = reembedding.make(space, done.incomplete)
        if missing := reembedding.missing(space):
            new = NewJob(LongJob.Kind.EMBEDDING, space.workspace_id, missing, "entries")
            with shown_job(asked, new) as steps:
                made += reembedding.fill(space, steps)
                steps.job.tell({"entries": steps.done})
        self.stdout.write(f"{name}: vectors of {made} entries made")
