"""Measure thresholds of embedding models."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from memories.errors import ProviderError
from memories.evaluation import labelled_conversations
from memories.evaluation.story_files import read_lines
from memories.index import configured_embedder, workspace_index
from memories.language.bounds import LONGEST_ID, LONGEST_QUERY
from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memories.management.progress import progress
from memories.models import EmbeddingModel
from memories.quality import calibrate_confidence, calibrate_thresholds
from memories.quality.calibrate_confidence import ConfidenceFit, JudgedQuestion
from memories.quality.calibrate_thresholds import Calibration, LabelledQuestion
from memories.transcripts import Unreadable
from memoryproject.postgres import visible
from workspaces.scope import Scope, worker_scope


class Command(CommandWithExamples):
    help = (
        "Find for each embedding model in use the smallest cosine from which two statements count\n"
        "as near: at most one merge among 10,000 random pairs of statements about one subject\n"
        "(the stored ones, and the shipped ones), and a precision of .9 on the shipped pairs.\n"
        "With --dataset, the cosine at which a hit is as good as chance, on labelled questions:\n"
        "the half of the scale of `similarity`.\n"
        "With --questions, the weights of `confidence` for the model of a workspace, where these\n"
        "are searched: one half is fitted on, the other one judges, and weights that are no\n"
        "better there are not stored."
    )
    examples = (
        "  manage.py calibrate --dry-run            what it would be, writing nothing\n"
        "  manage.py calibrate --json > thresholds.json\n"
        "  manage.py calibrate --dataset locomo.json\n"
        "  manage.py calibrate --workspace demo --questions questions.jsonl --dry-run\n"
        "a line of questions.jsonl:\n"
        '  {"query": "Where does Ada live?", "userId": "ada", "answerable": true}'
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
        parser.add_argument(
            "--questions",
            type=Path,
            metavar="FILE",
            help="JSONL: query, answerable (true or false), and userId where it is about somebody",
        )
        add_workspace(parser, "the only one; where --questions are searched")

    def handle(self, *, dry_run: bool, **options: Any) -> None:
        questions = _questions(options["questions"]) if options["questions"] else []
        # A wrong name is told before minutes of measuring; thresholds are of all workspaces.
        visible_before = visible.setting()
        searched = one_workspace(options["workspace"]) if questions else None
        visible.narrow_to(visible_before)
        found = []
        for model in calibrate_thresholds.models_in_use():
            measured = self.measured(model)
            is_stored = not dry_run and calibrate_thresholds.store(measured, model, "command:calibrate")
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
        if searched is not None:
            visible.narrow(searched.pk)
            space, fitted = self.fitted(questions, worker_scope(searched.pk))
            visible.narrow_to(visible_before)  # what is stored is told to all of them
            is_stored = not dry_run and calibrate_confidence.store_fit(fitted, space, "command:calibrate")
            found.append({"confidence": asdict(fitted), "stored": is_stored})
            if not options["json"]:
                self.stdout.write(_told(fitted, is_stored=is_stored))
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=2))
        if not found:
            raise CommandError("No embedding model is in use: EMBEDDING_PROVIDER is none.")

    def floor(self, model: EmbeddingModel, dataset: Path, *, dry_run: bool, quiet: bool) -> dict[str, Any]:
        try:
            measured = calibrate_thresholds.calibrate_floor(
                model, configured_embedder.embedder_for(model), _talks(dataset)
            )
        except (OSError, Unreadable, ProviderError) as error:
            raise CommandError(f"{dataset}: {error}") from error
        is_stored = not dry_run and calibrate_thresholds.store(measured, model, "command:calibrate")
        if not quiet:
            now = measured.floor_before if measured.floor is None else measured.floor
            self.stdout.write(
                f"{model}: a hit is as good as chance at {now}, was {measured.floor_before}"
                f" ({measured.questions} questions)"
            )
        return asdict(measured) | {"floor_stored": is_stored}

    def fitted(self, questions: Sequence[JudgedQuestion], scope: Scope) -> tuple[EmbeddingModel, ConfidenceFit]:
        model = workspace_index.index_of(scope.workspace_id).embedding_model
        if model is None:
            raise CommandError("The workspace speaks no embedding model: nothing is measured of it.")
        try:
            with progress(len(questions), "questions", sys.stderr) as shown:
                learned, judged = calibrate_confidence.see(scope, questions, shown.update)
        except ProviderError as error:
            raise CommandError(f"Nothing is measured: {error}") from error
        return model, calibrate_confidence.fit(model, learned, judged)

    def measured(self, model: EmbeddingModel) -> Calibration:
        try:
            with progress(calibrate_thresholds.steps(), "statements", sys.stderr) as shown:
                return calibrate_thresholds.calibrate(model, configured_embedder.embedder_for(model), shown.update)
        except ProviderError as error:
            raise CommandError(f"{model}: {error}") from error


def _questions(path: Path) -> list[JudgedQuestion]:
    """Read the questions of a file, without duplicates. Raises CommandError."""
    try:
        found = list(dict.fromkeys(read_lines(path, _question, "question")))
    except (OSError, UnicodeDecodeError, Unreadable) as error:
        raise CommandError(f"{path}: {error}") from error
    for kind, is_answered in (("answerable", True), ("not answerable", False)):
        number = sum(each.is_answered == is_answered for each in found)
        if number < calibrate_confidence.FEWEST:
            raise CommandError(
                f"{path}: {number} questions are {kind}; at least {calibrate_confidence.FEWEST} of"
                " each kind tell something."
            )
    return found


def _question(row: dict[str, Any]) -> JudgedQuestion:
    if unknown := sorted(row.keys() - {"query", "userId", "answerable"}):
        raise ValueError(f"it has {', '.join(unknown)}; known are query, userId, answerable")
    query, user_id, is_answered = row.get("query"), row.get("userId", ""), row.get("answerable")
    if not isinstance(query, str) or not query.strip() or len(query) > LONGEST_QUERY:
        raise ValueError(f"query is a text of 1 to {LONGEST_QUERY} characters")
    if not isinstance(user_id, str) or len(user_id) > LONGEST_ID:
        raise ValueError(f"userId is a text of at most {LONGEST_ID} characters")
    if not isinstance(is_answered, bool):
        raise ValueError("answerable is true or false")
    return JudgedQuestion(query, user_id, is_answered)


def _told(fitted: ConfidenceFit, *, is_stored: bool) -> str:
    was, now = fitted.before, fitted.after
    verdict = "is stored" if is_stored else "would be stored"
    if not fitted.is_better:
        verdict = "is not better on what it was not fitted on: the weights stay"
    return (
        f"{fitted.model}: fitted on {fitted.fitted_on} questions and judged by {fitted.judged_on}"
        f" others, confidence has an AUROC of {now.auroc:.3f}, was {was.auroc:.3f}, and a loss of"
        f" {now.loss:.3f}, was {was.loss:.3f}; {now.answered_empty:.1%} of the answerable are below"
        f" the floor of a context, were {was.answered_empty:.1%}, and {now.others_empty:.1%} of the"
        f" others, were {was.others_empty:.1%}; it {verdict}"
    )


def _talks(dataset: Path) -> Iterator[tuple[Sequence[str], Sequence[LabelledQuestion]]]:
    for case in labelled_conversations.locomo_cases(dataset):
        place = {message.id: number for number, message in enumerate(case.messages)}
        yield (
            [message.content for message in case.messages],
            [LabelledQuestion(asked.text, frozenset(place[gold] for gold in asked.gold)) for asked in case.questions],
        )
