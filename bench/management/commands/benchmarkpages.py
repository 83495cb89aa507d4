"""Measure how long the server takes for the pages of the admin."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError
from django.test.utils import override_settings

from bench.scratch import scratch_database
from bench.speed import layout, pages
from bench.speed.corpus import Corpus
from bench.speed.loading import load
from memories.index import configured_embedder
from memories.management.command_options import CommandWithExamples
from memories.management.progress import progress


class Command(CommandWithExamples):
    help = (
        "Time each page of the admin over many memories, and count its queries: the server's own\n"
        "time, without browser and network. The data is made up, in a database that is removed."
    )
    examples = (
        "  manage.py benchmarkpages                 at 100,000 memories, a few minutes\n"
        "  manage.py benchmarkpages --size 1k --rounds 20"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--size", type=_size, default="100k", help="live memories")
        parser.add_argument("--rounds", type=int, default=5, help="how often each is timed")
        parser.add_argument("--most-ms", type=float, default=300.0, help="the limit for the median")
        parser.add_argument("--most-queries", type=int, default=19)

    def handle(self, *, size: int, rounds: int, **options: Any) -> None:
        with scratch_database(), override_settings(ALLOWED_HOSTS=["testserver"]):
            found = self.measure(size, rounds)
        for line in pages.lines(found, options["most_ms"], options["most_queries"]):
            self.stdout.write(line)
        slow = [page.name for page in found if page.p50 > options["most_ms"] or page.queries > options["most_queries"]]
        if slow:
            raise CommandError(f"Over the limit: {', '.join(slow)}")

    def measure(self, size: int, rounds: int) -> list[pages.Page]:
        model = configured_embedder.configured_model()
        corpus = Corpus(model.dimensions if model else 256)
        with progress(size, "memories", sys.stderr) as shown:
            [place] = load(layout.plots("one", size), corpus, shown.update)
        client = pages.furnish(place)
        return list(pages.served(client, rounds))


def _size(text: str) -> int:
    try:
        return layout.size_of(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
