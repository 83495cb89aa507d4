"""Thresholds of embedding models, measured."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from memories import calibration
from memories.calibration import Calibration, LabelledQuestion
from memories.errors import ProviderError
from memories.evaluation import labelled_conversations
from memories.index import configured_embedder
from memories.management.command_options import CommandWithExamples
from memories.management.progress import progress
from memories.models import EmbeddingModel
from memories.transcripts import Unreadable


class Command(CommandWithExamples):
    help = (
        "Find for each embedding model in use the smallest cosine from which two statements count\n"
        "as near: at most one merge among 10,000 random pairs of statements about one subject\n"
        "(the stored ones, and the shipped ones), and a precision of .9 on the shipped pairs.\n"
        "With --dataset, the cosine at which a hit is as good as chance, on labelled questions:\n"
        "the half of the scale of `similarity`."
    )
    examples = (
        "  manage.py calibrate --dry-run            what it would be, writing nothing\n"
        "  manage.py calibrate --json > thresholds.json\n"
        "  manage.py calibrate --dataset locomo.json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="measure, and write nothing")
        parser.add_argument("--json", action="store_true", help="the figures as JSON")
        parser.add_argument(
            "--dataset",
            type=Path,
            metavar="FILE",
            help="LoCoMo's format: talks with questions and evidence",
        )

    def handle(self, *, dry_run: bool, **options: Any) -> None:
        found = []
        for model in calibration.models_in_use():
            measured = self.measured(model)
            is_stored = not dry_run and calibration.store(measured, model, "command:calibrate")
            own = asdict(measured) | {"stored": is_stored}
            if options["dataset"]:
                own |= self.floor(model, options["dataset"], dry_run=dry_run, quiet=options["json"])
            found.append(own)
            if not options["json"]:
                threshold, before = measured.threshold, measured.before
                told = f"{threshold} stays"
                if threshold is None:
                    told = f"no threshold is good enough, {before} stays"
                elif is_stored or dry_run:
                    verb = "would become" if dry_run else "is now"
                    told = f"{verb} {threshold}, was {before}"
                self.stdout.write(
                    f"{measured.model}: {told} ({measured.merges} merges among"
                    f" {measured.random_pairs} random pairs, precision {measured.precision:.2f}"
                    f" and recall {measured.recall:.2f} on the shipped pairs)"
                )
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=2))
        if not found:
            raise CommandError("No embedding model is in use: EMBEDDING_PROVIDER is none.")

    def floor(
        self, model: EmbeddingModel, dataset: Path, *, dry_run: bool, quiet: bool
    ) -> dict[str, Any]:
        try:
            measured = calibration.calibrate_floor(
                model, configured_embedder.embedder_for(model), _talks(dataset)
            )
        except (OSError, Unreadable, ProviderError) as error:
            raise CommandError(f"{dataset}: {error}") from error
        is_stored = not dry_run and calibration.store(measured, model, "command:calibrate")
        if not quiet:
            now = measured.floor_before if measured.floor is None else measured.floor
            self.stdout.write(
                f"{model}: a hit is as good as chance at {now}, was {measured.floor_before}"
                f" ({measured.questions} questions)"
            )
        return asdict(measured) | {"floor_stored": is_stored}

    def measured(self, model: EmbeddingModel) -> Calibration:
        try:
            with progress(calibration.steps(), "statements", sys.stderr) as shown:
                return calibration.calibrate(
                    model, configured_embedder.embedder_for(model), shown.update
                )
        except ProviderError as error:
            raise CommandError(f"{model}: {error}") from error


def _talks(dataset: Path) -> Iterator[tuple[Sequence[str], Sequence[LabelledQuestion]]]:
    for case in labelled_conversations.locomo_cases(dataset):
        place = {message.id: number for number, message in enumerate(case.messages)}
        yield (
            [message.content for message in case.messages],
            [
                LabelledQuestion(asked.text, frozenset(place[gold] for gold in asked.gold))
                for asked in case.questions
            ],
        )
