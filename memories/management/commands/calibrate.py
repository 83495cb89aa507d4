"""Thresholds of embedding models, measured."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from memories import calibration
from memories.calibration import Calibration
from memories.errors import ProviderError
from memories.index import workspace_index
from memories.management.command_options import CommandWithExamples
from memories.management.progress import progress
from memories.models import EmbeddingModel


class Command(CommandWithExamples):
    help = (
        "Find for each embedding model in use the smallest cosine from which two statements count\n"
        "as near: at most one merge among 10,000 random pairs of statements about one subject\n"
        "(the stored ones, and the shipped ones), and a precision of .9 on the shipped pairs."
    )
    examples = (
        "  manage.py calibrate --dry-run            what it would be, writing nothing\n"
        "  manage.py calibrate --json > thresholds.json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="measure, and write nothing")
        parser.add_argument("--json", action="store_true", help="the figures as JSON")

    def handle(self, *, dry_run: bool, **options: Any) -> None:
        found = []
        for model in calibration.models_in_use():
            measured = self.measured(model)
            is_stored = not dry_run and calibration.store(measured, model, "command:calibrate")
            found.append(asdict(measured) | {"stored": is_stored})
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

    def measured(self, model: EmbeddingModel) -> Calibration:
        try:
            with progress(calibration.steps(), "statements", sys.stderr) as shown:
                return calibration.calibrate(
                    model, workspace_index.embedder_for(model), shown.update
                )
        except ProviderError as error:
            raise CommandError(f"{model}: {error}") from error
