"""The web processes, without their front."""

import gc
from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.urls import get_resolver

from memories.management.command_options import PrintableCommand
from memoryproject.server.web_processes import Parent, lanes_of_web, serve_lane


class Command(PrintableCommand):
    help = "Run the web processes until SIGTERM, behind the front that `up` starts beside them."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--front", required=True, help="socket where the front waits for them")
        parser.add_argument("--processes", type=int, default=1, help="so many that read, and as many that write")

    def handle(self, *, front: str, processes: int, **_: Any) -> None:
        # Only here: its import starts this process's timer and fills its caches.
        from memoryproject.wsgi import application

        get_resolver().url_patterns  # noqa: B018  every view is loaded once, for all
        gc.collect()
        gc.freeze()  # what is shared stays shared
        # Rings are few here: to look for them at every few hundred objects took a twentieth of the
        # time of a search.
        gc.set_threshold(10_000)
        serve = partial(serve_lane, application=application)
        Parent(front, lanes_of_web(processes), serve).run()
