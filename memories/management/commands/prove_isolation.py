"""Proof, on the server as it stands, that one workspace reaches nothing of another."""

import json
import logging
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories.management import isolation_doors, isolation_tables, isolation_tenants
from memories.management.command_options import CommandWithExamples
from memories.management.isolation_doors import ProofTally
from memories.management.progress import progress
from memories.worker.sweep import sweep
from memoryproject.postgres import database_roles

STEPS = 5
SETTLED_WITHIN = 60.0  # seconds


class Command(CommandWithExamples):
    help = (
        "Make two workspaces with teams, subjects, keys and members, try every route, page, action"
        " and table of one from the other, and remove both. Exit 1 where anything leaks."
    )
    examples = "  manage.py prove_isolation\n  manage.py prove_isolation --json | jq .leaks"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="the report as JSON")

    def execute(self, *args: Any, **options: Any) -> Any:
        database_roles.serve()
        return super().execute(*args, **options)

    def handle(self, **options: Any) -> None:
        logging.disable(logging.WARNING)  # a refusal is a line, and there are thousands
        try:
            with progress(STEPS, "steps", sys.stderr) as shown:
                tally = prove(shown.update)
        except isolation_tenants.NotFurnished as error:
            raise CommandError(
                f"Nothing is proven: a workspace to try could not be made ({error}). Are all"
                " migrations applied, and what does /health/ready say?"
            ) from None
        finally:
            logging.disable(logging.NOTSET)
        if options["json"]:
            self.stdout.write(json.dumps({"tried": tally.counts, "leaks": tally.leaks}, indent=2))
        else:
            tried = ", ".join(f"{number:,} {what}" for what, number in tally.counts.items())
            self.stdout.write(f"tried {tried}")
            for leak in tally.leaks:
                self.stdout.write(f"LEAK {leak}")
        if tally.leaks:
            raise CommandError(f"{len(tally.leaks)} leaks.")
        self.stderr.write("Nothing of one workspace was reached from the other.")


def prove(advance: Any = lambda steps: None) -> ProofTally:
    """Try everything. What is made for it is removed, whatever happens."""
    tally, made = ProofTally(), []
    try:
        made = [isolation_tenants.make("a")]
        made.append(isolation_tenants.make("b"))
        owner, other = made
        sweep(seconds=SETTLED_WITHIN)  # or the worker would do it while rows are compared
        before = isolation_tables.fingerprint(owner)
        advance(1)
        isolation_doors.try_routes(owner, other, tally)
        isolation_doors.try_tools(owner, other, tally)
        advance(1)
        isolation_doors.try_pages(owner, other, tally)
        advance(1)
        isolation_tables.compare(before, isolation_tables.fingerprint(owner), tally)
        isolation_tables.try_tables(owner, other, tally)
        advance(1)
    finally:
        isolation_tenants.remove(made)
        advance(1)
    return tally
