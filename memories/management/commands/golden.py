"""Golden questions of a workspace from the shell: asked, imported, tried under other settings."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from memories.errors import Invalid
from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memories.models import GoldenQuestion, GoldenRun, change_of, is_lost
from memories.quality import golden_questions, golden_runs
from memories.quality.golden_questions import NewQuestion
from memories.settings.workspace_settings import try_settings
from memories.settings_objects import checked
from memoryproject.log_lines import printable
from workspaces.scope import Scope, worker_scope


class Command(CommandWithExamples):
    help = (
        "Ask the golden questions of a workspace, and tell what is answered better and worse than\n"
        "the last time; or than as things are, with --try, which changes nothing. Ends with\n"
        "1 where it became worse. --import reads one question per line, as POST\n"
        "/golden-questions takes it."
    )
    examples = (
        "  manage.py golden\n"
        "  manage.py golden --import questions.jsonl\n"
        '  manage.py golden --try \'{"ranking": {"recency": 0.2}}\' --json'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "the only one")
        parser.add_argument("--import", dest="file", type=Path, metavar="FILE")
        parser.add_argument("--try", dest="tried", metavar="JSON", help="try these; nothing is changed")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        scope = worker_scope(one_workspace(options["workspace"]).pk, "golden")
        try:
            if options["file"]:
                self.load(scope, options["file"])
                return
            made = try_settings(scope, json.loads(options["tried"])) if options["tried"] else golden_runs.run(scope)
        except (Invalid, OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        self.tell(made, as_json=options["json"])
        if made.outcome == GoldenRun.Outcome.WORSE:
            raise CommandError("It became worse.", returncode=1)

    def load(self, scope: Scope, path: Path) -> None:
        rows = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            try:
                rows.append(checked(NewQuestion, json.loads(line)))
            except Invalid as error:
                raise CommandError(f"{path}, line {number}: {error}") from error
        if not rows:
            raise CommandError(f"{path}: no question stands there.")
        made = golden_questions.import_questions(scope, rows)
        self.stdout.write(f"{len(made)} golden questions added")

    def tell(self, made: GoldenRun, *, as_json: bool) -> None:
        ids = [each["question"] for each in made.results]
        queries = dict(GoldenQuestion.objects.filter(pk__in=ids).values_list("pk", "query"))
        named = {str(pk): query for pk, query in queries.items()}
        if as_json:
            lines = [each | {"query": named[each["question"]], "change": change_of(each)} for each in made.results]
            self.stdout.write(json.dumps({"run": str(made.pk), "results": lines}))
            return
        for each in made.results:
            if (change := change_of(each)) != "same":
                places = " to ".join(str(each[name] or "none") for name in ("before", "after"))
                lost = ", lost in the context" if is_lost(each) else ""
                self.stdout.write(f"{change}: {places}{lost}: {printable(named[each['question']])}")
        self.stdout.write(
            f"{len(made.results)} questions: {made.found_after:.0%} found"
            f" (before {made.found_before:.0%}), mean of 1 / rank {made.mean_after:.3f}"
            f" (before {made.mean_before:.3f})"
        )
