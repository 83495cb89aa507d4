"""Proof that truth and index agree."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from memories.errors import ProviderError
from memories.index import check, configured_embedder, rebuild
from memories.index.check import Agreement
from memories.management.command_options import CommandWithExamples, add_workspace, chosen_spaces
from memories.management.progress import interruptible, shown_job
from memories.models import LongJob, WorkspaceIndex
from memories.providers import embedder_from
from memories.queue.long_jobs import NewJob, Stopped


class Command(CommandWithExamples):
    help = (
        "Compare every memory and episode with its entry and vectors in the index, and check\n"
        "chains, periods, citations and counts. Reads only, from one state of the database.\n"
        "Exit code 1 when anything disagrees."
    )
    examples = (
        "  manage.py checkindex                     all workspaces\n  manage.py checkindex --workspace demo --json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "all")
        parser.add_argument("--json", action="store_true")

    def handle(self, *, workspace: str | None, **options: Any) -> None:
        found = {}
        try:
            for space in chosen_spaces(workspace):
                new = NewJob(LongJob.Kind.CHECK, space.workspace_id, rebuild.size(space))
                with interruptible() as asked, shown_job(asked, new) as steps:
                    agreement = check.check_index(space, steps)
                    wrong = sum(broken.number for broken in agreement.broken.values())
                    steps.job.tell({"disagreements": wrong})
                found[space.workspace.slug] = (space, agreement)
        except ProviderError as error:
            raise CommandError(f"The embedding model failed: {error}") from error
        except Stopped:
            raise CommandError("Stopped; nothing was changed.", returncode=130) from None
        if options["json"]:
            told = {slug: as_json(agreed) for slug, (_, agreed) in found.items()}
            self.stdout.write(json.dumps(told, indent=2, ensure_ascii=False))
        else:
            self.tell(found)
        broken = [slug for slug, (_, agreed) in found.items() if not agreed.holds]
        if broken:
            raise CommandError(
                f"Truth and index disagree in {', '.join(broken)}. What is wrong in the index is"
                " made right by `reindex`; what is wrong in the truth is not."
            )

    def tell(self, found: dict[str, tuple[WorkspaceIndex, Agreement]]) -> None:
        for slug, (space, agreed) in found.items():
            for line in lines(slug, space, agreed):
                self.stdout.write(line)


def lines(slug: str, space: WorkspaceIndex, found: Agreement) -> Iterator[str]:
    model = space.embedding_model
    yield (
        f"{slug}: {found.memories} memories and {found.episodes} episodes, {found.entries} entries,"
        f" {found.vectors} vectors under {model or 'no model'}, {found.due} entries due"
    )
    if found.other_vectors:
        yield f"  note: {found.other_vectors} vectors are of other models; `reembed` drops them"
    wanted = embedder_from(configured_embedder.configured_config())
    is_configured = not wanted.dimensions
    if model is not None:
        known = (model.provider, model.name, model.dimensions)
        is_configured = known == (wanted.provider, wanted.name, wanted.dimensions)
    if not is_configured:
        yield "  note: the settings name another embedding model; `reembed` changes over to it"
    for broken in found.broken.values():
        yield f"  {broken.number} {broken.rule}:"
        yield from (f"    {identity}" for identity in broken.ids)
        if broken.number > len(broken.ids):
            yield f"    and {broken.number - len(broken.ids)} more"
    if found.holds:
        yield "  truth and index agree"


def as_json(found: Agreement) -> dict[str, Any]:
    return {
        "agrees": found.holds,
        "memories": found.memories,
        "episodes": found.episodes,
        "entries": found.entries,
        "vectors": found.vectors,
        "due": found.due,
        "vectorsOfOtherModels": found.other_vectors,
        "disagreements": [
            {"rule": broken.rule, "number": broken.number, "ids": broken.ids} for broken in found.broken.values()
        ],
    }
