"""Odd and broken PDFs: each ends as text or as a failure that says why."""

import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from bench.bounds import Bound
from bench.pdfs.odd_pdfs import odd_pdfs
from bench.pdfs.trial import counted, found_pdfs, hand_in
from bench.trial_command import TrialCommand, count, folder_of, server_in
from memories.management.progress import progress


class Command(TrialCommand):
    help = (
        "Make a server of its own in a spare folder and hand it PDFs that are cut off, bent,\n"
        "locked, endless, packed to bursting or full of rings, and those of installed packages.\n"
        "None may be stuck, none may end a worker, each is text or a failure with a code. Exit\n"
        "code 1 where that does not hold. Linux only."
    )
    examples = (
        "  manage.py trypdfs --data /tmp/spare                    200 of them, some minutes\n"
        "  manage.py trypdfs --number 46 --seed 7 --json result.json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--number", type=count, default=200, help="that are made (default 200)")
        parser.add_argument("--patience", type=float, default=1_800.0, help="seconds for all (default 1800)")

    def attempt(self, options: dict[str, Any]) -> tuple[list[Bound], dict[str, Any]]:
        files = [*odd_pdfs(options["number"], options["seed"]), *found_pdfs()]
        with folder_of(options) as folder, server_in(folder, options) as server:
            server.start()
            with progress(len(files), "files", sys.stderr) as shown:
                ended, deaths = hand_in(server, files, options["patience"], shown.update)
        self.stdout.write(f"{len(ended)} files: {counted(ended)}")
        wrong = [each for each in ended if each.wrong]
        for each in wrong:
            self.stdout.write(f"  {each.name}: {each.wrong}")
        held = [
            Bound("files that were stuck", sum(each.state == "stuck" for each in ended), 0),
            Bound("ends that are none", sum(each.state != "stuck" for each in wrong), 0),
            Bound("workers that ended", deaths, 0),
        ]
        return held, {"files": [asdict(each) for each in ended]}
