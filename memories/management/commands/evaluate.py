"""Evaluate retrieval, extraction and the judgement of conflicts on files with labels."""

import json
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from memories.errors import ProviderError
from memories.evaluation import (
    answer_report,
    answer_sets,
    answers,
    change_stories,
    conflicts,
    dated_stories,
    evaluation_report,
    evidence_stories,
    extraction,
    guard_stories,
    intent_stories,
    kept_answers,
    labelled_conversations,
    long_runs,
    retrieval,
    worth_stories,
)
from memories.evaluation.labelled_conversations import LabelledConversation
from memories.index import configured_embedder
from memories.management import command_options
from memories.management.command_options import CommandWithExamples, add_result_file, whole_number
from memories.management.progress import progress
from memories.providers import embedder_from
from memories.search.context import LEAST, MOST
from memories.transcripts import Unreadable

Story = TypeVar("Story")
Result = TypeVar("Result")
Cases = Callable[[Path, int], list[LabelledConversation]]
FORMATS: dict[str, Cases] = {
    "locomo": labelled_conversations.locomo_cases,
    "realmem": labelled_conversations.realmem_cases,
}
DATASETS = {
    "changes": change_stories.CHANGES,
    "dated": dated_stories.DATED,
    "intents": intent_stories.OWN,
    "longrun": long_runs.LONG_RUNS,
    "worth": worth_stories.WORTH,
} | {what: guard_stories.own_stories(what) for what in guard_stories.KEYS}
NAME = 200  # as long as a run's name may be


class Command(CommandWithExamples):
    help = (
        "Measure quality on labelled files: answers with language models, all else without one. Answers,"
        " retrieval and stories work in workspaces of their own, which they remove; extraction and"
        " conflicts read no database."
    )
    requires_system_checks = ()  # they would ask the database
    examples = (
        "  manage.py evaluate retrieval --dataset locomo.json\n"
        "  manage.py evaluate retrieval --dataset locomo.json --limit 1 --json result.json\n"
        "  manage.py evaluate extraction --dataset locomo.json\n"
        "  manage.py evaluate extraction --dataset dialogues.json --format realmem\n"
        "  manage.py evaluate conflicts --dataset pairs.jsonl\n"
        "  manage.py evaluate conflicts --dataset pairs.jsonl --half held\n"
        "  manage.py evaluate intents\n"
        "  manage.py evaluate changes\n"
        "  manage.py evaluate dated\n"
        "  manage.py evaluate worth\n"
        "  manage.py evaluate evidence --dataset stories.jsonl\n"
        "  manage.py evaluate longrun\n"
        "  manage.py evaluate longrun --half held --json result.json\n"
        "  manage.py evaluate guard\n"
        "  manage.py evaluate answers --dataset locomo10.json --reader gpt-5-mini --grader gpt-5-mini\n"
        "  manage.py evaluate answers --dataset locomo10.json --reader openai:llama3.2 --questions 150\n"
        "\nResults are kept in this installation, for its page of runs.\n"
        "Answers read LoCoMo's and LongMemEval's files and folders of BEAM's chats; what a model\n"
        "answered is kept by its prompt in the data folder, so that a run goes on where it ended.\n"
        "Retrieval and extraction read LoCoMo's format: qa with evidence, observations;\n"
        "extraction reads RealMem's, too: extracted_memory with source_turn.\n"
        "Conflicts read one {old, new, label} per line; label is same, update or different;\n"
        "intents one {id, kind, messages, gone, becomes, here} per line;\n"
        "worth one {id, kind, messages, keep, ended, not} per line; evidence one\n"
        "{id, kind, messages: [{role, content, at}], question, now, not}; changes one\n"
        "{id, kind, messages, old, new, past, marked, keep} per line; dated one {id, now,\n"
        "messages, questions, checks}; longrun, guard, visibility and\n"
        "rejected as their own files have them, beside the code."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=(*DATASETS, "answers", "retrieval", "extraction", "conflicts", "evidence"))
        parser.add_argument(
            "--dataset",
            type=Path,
            metavar="FILE",
            help="needed by answers, retrieval, extraction, conflicts and evidence; the others have"
            " stories of their own",
        )
        parser.add_argument("--half", default="", help="of stories and pairs: those of this half alone")
        parser.add_argument("--format", choices=tuple(FORMATS), default="locomo")
        parser.add_argument(
            "--limit",
            type=whole_number(1),
            default=0,
            metavar="N",
            help="the first N conversations, or pairs",
        )
        add_result_file(parser)
        own = parser.add_argument_group("answers")
        own.add_argument(
            "--reader", default="", metavar="MODEL", help="answers the questions; a name, or provider:name"
        )
        own.add_argument(
            "--grader", default="", metavar="MODEL", help="compares the answers; without it, token F1 alone"
        )
        own.add_argument(
            "--contexts", nargs="+", choices=answers.CONTEXTS, default=answers.CONTEXTS, help="default: all"
        )
        own.add_argument(
            "--tokens",
            nargs="+",
            type=whole_number(LEAST, MOST),
            default=(1_000, 4_000),
            metavar="N",
            help="of a context; default: 1000 4000",
        )
        own.add_argument(
            "--questions", type=whole_number(1), default=0, metavar="N", help="so many of them, evenly out of all"
        )
        own.add_argument("--parallel", type=whole_number(1, 64), default=1, metavar="N", help="calls at once")
        add_result_file(parser, "--svg", "draw the result there")

    def handle(self, *, what: str, dataset: Path | None, limit: int, **options: Any) -> None:
        if dataset is None:
            if what not in DATASETS:
                raise CommandError("Give --dataset.")
            dataset = DATASETS[what]
        measure: dict[str, Callable[[Path, int, Cases], dict[str, Any]]] = {
            "answers": partial(self.answers, options),
            "retrieval": self.retrieval,
            "extraction": self.extraction,
            "conflicts": partial(self.conflicts, options["half"]),
            "intents": partial(self.intents, options["half"]),
            "changes": partial(self.changes, options["half"]),
            "dated": partial(self.dated, options["half"]),
            "worth": self.worth,
            "evidence": self.evidence,
            "longrun": partial(self.longrun, options["half"]),
        }
        measure |= {each: partial(self.guarded, each, options["half"]) for each in guard_stories.KEYS}
        started = timezone.now()
        try:
            with _ending_in_order():
                found = measure[what](dataset, limit, FORMATS[options["format"]])
        except (OSError, Unreadable, ProviderError, ValueError) as error:
            raise CommandError(f"{dataset}: {error}") from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted.", returncode=130) from None
        command_options.keep(what, dataset.name[:NAME], started, evaluation_report.figures(found), found)
        if options["json"]:
            options["json"].write_text(json.dumps(found, indent=2) + "\n")

    def answers(self, options: dict[str, Any], dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        if not options["reader"]:
            raise CommandError("Give --reader.")
        wish = answers.AnswerWish(
            options["reader"],
            options["grader"],
            tuple(options["contexts"]),
            tuple(options["tokens"]),
            options["parallel"],
        )
        chosen = answers.spread(_labelled(answer_sets.answer_cases(dataset, limit), "questions"), options["questions"])
        kept = kept_answers.KeptAnswers(settings.DATA_DIR / kept_answers.KEPT)
        with progress(answers.count(chosen, wish), "answers", sys.stderr) as shown:
            found = answers.evaluate(chosen, wish, kept, shown.update)
        self.tell(answer_report.answer_lines(found))
        if options["svg"]:
            options["svg"].write_text(answer_report.answer_picture(found))
        return answer_report.answer_json(found)

    def retrieval(self, dataset: Path, limit: int, cases: Cases) -> dict[str, Any]:
        chosen = _labelled(cases(dataset, limit), "questions")
        with progress(retrieval.steps(chosen), "messages and searches", sys.stderr) as shown:
            found = retrieval.evaluate(chosen, shown.update)
        self.tell(evaluation_report.retrieval_lines(found))
        return evaluation_report.retrieval_json(found)

    def extraction(self, dataset: Path, limit: int, cases: Cases) -> dict[str, Any]:
        chosen = _labelled(cases(dataset, limit), "facts")
        turns = sum(len(case.messages) for case in chosen)
        with progress(turns, "turns", sys.stderr) as shown:
            found = extraction.evaluate(chosen, shown.update)
        self.tell(evaluation_report.extraction_lines(found))
        return evaluation_report.extraction_json(found)

    def conflicts(self, half: str, dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        labelled = conflicts.pairs(dataset, half)[: limit or None]
        embedder = embedder_from(configured_embedder.configured_config())
        with progress(len(labelled), "pairs", sys.stderr) as shown:
            found = conflicts.evaluate(labelled, embedder, shown.update)
        self.tell(evaluation_report.conflict_lines(found))
        return evaluation_report.conflict_json(found)

    def intents(self, half: str, dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        chosen = intent_stories.stories(dataset, half)[: limit or None]
        return self.stories(
            chosen, intent_stories.evaluate, evaluation_report.intent_lines, evaluation_report.intent_json
        )

    def changes(self, half: str, dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        chosen = change_stories.stories(dataset, half)[: limit or None]
        return self.stories(
            chosen, change_stories.evaluate, evaluation_report.change_lines, evaluation_report.change_json
        )

    def dated(self, half: str, dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        chosen = dated_stories.stories(dataset, half)[: limit or None]
        return self.stories(chosen, dated_stories.evaluate, evaluation_report.story_lines, evaluation_report.story_json)

    def worth(self, dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        chosen = worth_stories.worth_stories(dataset)[: limit or None]
        return self.stories(chosen, worth_stories.evaluate, evaluation_report.worth_lines, evaluation_report.worth_json)

    def evidence(self, dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        chosen = evidence_stories.stories(dataset)[: limit or None]
        return self.stories(
            chosen, evidence_stories.evaluate, evaluation_report.evidence_lines, evaluation_report.evidence_json
        )

    def longrun(self, half: str, dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        chosen = long_runs.long_runs(dataset, half)[: limit or None]
        with progress(sum(len(run.messages) for run in chosen), "messages", sys.stderr) as shown:
            found = long_runs.evaluate(chosen, shown.update)
        self.tell(evaluation_report.longrun_lines(found))
        return evaluation_report.longrun_json(found)

    def guarded(self, what: str, half: str, dataset: Path, limit: int, _: Cases) -> dict[str, Any]:
        chosen = guard_stories.stories(what, dataset, half)[: limit or None]
        measure = partial(guard_stories.evaluate, what)
        return self.stories(chosen, measure, evaluation_report.story_lines, evaluation_report.story_json)

    def stories(
        self,
        chosen: Sequence[Story],
        measure: Callable[[Sequence[Story], Callable[[int], object]], Result],
        lines: Callable[[Result], Iterable[str]],
        values: Callable[[Result], dict[str, Any]],
    ) -> dict[str, Any]:
        with progress(len(chosen), "stories", sys.stderr) as shown:
            result = measure(chosen, shown.update)
        self.tell(lines(result))
        return values(result)

    def tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """A SIGTERM ends the command as Ctrl-C does: the scratch workspace is removed first."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _labelled(found: list[LabelledConversation], labels: str) -> list[LabelledConversation]:
    """Return the conversations that have labels at all. Raises Unreadable where none has."""
    kept = [case for case in found if getattr(case, labels)]
    if not kept:
        raise Unreadable(f"it has no conversation with {labels}")
    return kept
