"""Let the judge learn from what people of a workspace decided, or go back."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from memories import teaching
from memories.errors import Conflict
from memories.judge.judge import shipped
from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memories.settings.workspace_settings import settings_of
from memories.teaching.compared_figures import compared_figures
from memories.teaching.decided_pairs import decided_pairs
from memories.teaching.learn_head import LearnedHead
from workspaces.scope import Scope, worker_scope


class Command(CommandWithExamples):
    help = (
        "Learn a head for the judge from the pairs of belief and message that people of a workspace\n"
        "decided, and compare it with the judge as it came: on fixed pairs, on the decided pairs\n"
        "(each by a head that did not learn from it), and by the golden questions. It takes over\n"
        "if it is worse in none of them, and serves no other workspace. Ends with 1 where it is."
    )
    examples = (
        "  manage.py teach --dry-run         the figures; nothing is written\n"
        "  manage.py teach --examples        the decided pairs that it would learn from\n"
        "  manage.py teach --workspace demo\n"
        "  manage.py teach --back            the head before it, or the judge as it came"
    )
    judge = shipped

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "the only one")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--dry-run", action="store_true", help="compare, and write nothing")
        what.add_argument("--examples", action="store_true", help="only list the decided pairs")
        what.add_argument("--back", action="store_true", help="go back to what served before")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        scope = worker_scope(one_workspace(options["workspace"]).pk, "command:teach")
        try:
            if options["back"]:
                before = teaching.go_back(scope)
                self.tell({"serves": before.name if before else None}, as_json=options["json"])
            elif options["examples"]:
                self.list_examples(scope, as_json=options["json"])
            else:
                self.learn(scope, is_dry=options["dry_run"], as_json=options["json"])
        except Conflict as error:
            raise CommandError(error.message) from None

    def learn(self, scope: Scope, *, is_dry: bool, as_json: bool) -> None:
        if not is_dry and not settings_of(scope).judge.learn:
            raise CommandError("The workspace's setting judge.learn is off: no head serves it.")
        learned = teaching.try_workspace(scope, self.judge)
        if not is_dry:
            teaching.keep(scope, learned)
        found = {"name": learned.head.name, "pairs": len(learned.pairs), "people": learned.people}
        serves = not is_dry and not learned.fell
        self.tell(
            found | {"figures": learned.figures, "worse": learned.fell, "serves": serves}
            if as_json
            else self.words(learned, is_dry=is_dry),
            as_json=as_json,
        )
        if learned.fell:
            raise CommandError(f"It is worse in {', '.join(learned.fell)}, and does not take over.", returncode=1)

    def words(self, learned: LearnedHead, *, is_dry: bool) -> str:
        lines = [f"{one.what}: {one.before}, {one.after}" for one in compared_figures(learned.figures)]
        verb = "would take over" if is_dry else "serves from now on"
        end = [] if learned.fell else [f"{learned.head.name} {verb}"]
        return "\n".join([f"{len(learned.pairs)} decided pairs, by {learned.people}", *lines, *end])

    def list_examples(self, scope: Scope, *, as_json: bool) -> None:
        for one in decided_pairs(scope.workspace_id):
            if as_json:
                self.stdout.write(json.dumps({**one.pair._asdict(), **asdict(one.lesson)}))
            else:
                label = "over" if one.lesson.is_over else "holds"
                self.stdout.write(f"{label}: {one.pair.belief or one.pair.said} | {one.pair.message}")

    def tell(self, found: Any, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(found))
        elif isinstance(found, str):
            self.stdout.write(found)
        else:
            self.stdout.write(f"{found['serves'] or 'The judge as it came'} serves from now on")
