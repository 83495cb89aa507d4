"""Make vectors that are missing, or all of them under another embedding model."""

from argparse import ArgumentParser, BooleanOptionalAction
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from memories.errors import Conflict, ProviderError
from memories.index import configured_embedder, due_vectors, reembedding
from memories.management.command_options import (
    CommandWithExamples,
    add_workspace,
    chosen_spaces,
    one_workspace,
)
from memories.management.progress import Interruption, interruptible, shown_job
from memories.models import DueVector, EmbeddingModel, LongJob, WorkspaceIndex
from memories.quality import golden_gate
from memories.queue.long_jobs import NewJob, Stopped
from workspaces.scope import worker_scope


class Command(CommandWithExamples):
    help = (
        "Make the vectors that are missing. Where the settings name another embedding model\n"
        "than a workspace speaks: make all its vectors under that one, then change over; search\n"
        "goes on with the old ones until then. What was interrupted goes on where it was."
    )
    examples = (
        "  manage.py reembed                        the only workspace\n"
        "  manage.py reembed --all                  after a change of EMBEDDING_PROVIDER"
        " or _MODEL\n"
        "  manage.py reembed --workspace demo --no-drop-old"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "the only one")
        parser.add_argument("--all", action="store_true", help="all workspaces")
        parser.add_argument(
            "--drop-old",
            action=BooleanOptionalAction,
            default=True,
            help="delete the vectors of other models, when the workspace speaks the new one",
        )
        parser.add_argument(
            "--anyway",
            action="store_true",
            help="change over though golden questions would be answered worse",
        )

    def handle(self, **options: Any) -> None:
        if options["all"] and options["workspace"]:
            raise CommandError("Give either --workspace or --all.")
        slug = None if options["all"] else one_workspace(options["workspace"]).slug
        with interruptible() as asked:
            try:
                target = configured_embedder.configured_model()
                for space in chosen_spaces(slug):
                    self.bring(space, target, asked, drop_old=options["drop_old"], anyway=options["anyway"])
            except ProviderError as error:
                raise CommandError(
                    f"The embedding model failed: {error}\nWhat is done stays; the same command goes on from here."
                ) from error
            except Conflict as error:
                raise CommandError(f"{error}\nThe vectors stay: --anyway changes over.") from error
            except Stopped:
                raise CommandError("Stopped. The same command goes on from here.", returncode=130) from None

    def bring(
        self,
        space: WorkspaceIndex,
        target: EmbeddingModel | None,
        asked: Interruption,
        *,
        drop_old: bool,
        anyway: bool,
    ) -> None:
        """Bring a workspace under `target`, and fill what is missing."""
        name = space.workspace.slug
        future = reembedding.under(space, target)
        total = reembedding.missing(future)
        new = NewJob(LongJob.Kind.EMBEDDING, space.workspace_id, total, "entries")
        with shown_job(asked, new) as advance:
            if target != space.embedding_model:
                self.stdout.write(f"{name}: from {_named(space.embedding_model)} to {_named(target)}")
                settings = space.workspace.settings
                check = partial(
                    golden_gate.check,
                    worker_scope(space.workspace_id, "reembed"),
                    settings,
                    golden_gate.ProposedChange(model=target),
                    anyway=anyway,
                )
                reembedding.change(space, target, advance, check)
                self.stdout.write(f"{name}: speaks {_named(target)} now")
                # Rows that came in while the model changed.
                rows = DueVector.objects.filter(workspace=space.number)
                due_vectors.fill_entries(space, list(rows.values_list("entry_id", flat=True)))
            else:
                reembedding.fill(space, advance)
            dropped = reembedding.drop_others(space) if drop_old else 0
            advance.job.tell({"entries": advance.done, "vectors of other models dropped": dropped})
        waiting = DueVector.objects.filter(workspace=space.number).count()
        self.stdout.write(
            f"{name}: {advance.done} entries embedded, {dropped} vectors of other models dropped,"
            f" {waiting} entries still due"
        )


def _named(model: EmbeddingModel | None) -> str:
    return str(model) if model else "no embedding model"
