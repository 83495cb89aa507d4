"""Long texts: whether the work of learning one grows with it and no faster."""

import time
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from bench import long_documents
from bench.bounds import Bound, table
from bench.long_texts import PIECES, text_of
from bench.server import ServerFailed, TrialServer
from bench.trial_command import TrialCommand, folder_of, server_in, some_of

SMALLEST, LARGEST = 148_437, 9_500_000  # characters: twice the one, six times over, is the other
MOST = 3.0  # times the work for twice the text; a square would be four times
TRIFLE = 0.5  # seconds: less says nothing about growth
TRIES = 3
PATIENCE = 1_800.0  # seconds for one text


class Command(TrialCommand):
    help = (
        "Make a server of its own in a spare folder and let it learn from texts of 0.15 to 9.5"
        " million\n"
        "characters, each twice as long as the one before: processor time of its workers for each."
        " Exit\n"
        "code 1 where twice the text takes more than three times the work.\n"
        "Then documents of 2 and 4 MB: the time of each, and what others feel meanwhile, an ingest"
        " of the\n"
        "same workspace under a second, another one's document under five. Linux only."
    )
    examples = (
        "  manage.py trylongtexts --data /tmp/spare\n"
        "  manage.py trylongtexts --kinds prose,x --largest 1000000 --json result.json\n"
        "  manage.py trylongtexts --only-documents"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--kinds", type=some_of(tuple(PIECES)), default=tuple(PIECES))
        parser.add_argument("--largest", type=int, default=LARGEST, help="characters")
        parser.add_argument("--only-documents", action="store_true", help="no texts to learn from")

    def attempt(self, options: dict[str, Any]) -> tuple[list[Bound], dict[str, Any]]:
        sizes = [SMALLEST]
        while 2 * sizes[-1] <= options["largest"] + 8:
            sizes.append(2 * sizes[-1])
        work: dict[str, list[float]] = {}
        with folder_of(options) as folder, server_in(folder, options) as server:
            server.start()
            _learned(server, text_of("prose", 200_000))  # what is made on first use is made
            felt = long_documents.felt_while(server, options["seed"])
            for each in felt:
                self.stdout.write(
                    f"document of {each.size:,} characters: {each.whole:.1f} s,"
                    f" {each.worked:.1f} s of processor time; meanwhile"
                    f" {len(each.ingests)} ingests, the longest {max(each.ingests):.2f} s, and as"
                    f" many documents of another workspace, {max(each.documents):.2f} s"
                )
            for kind in () if options["only_documents"] else options["kinds"]:
                work[kind] = [_least(server, kind, size) for size in sizes]
                self.stdout.write(f"{kind}: {', '.join(f'{each:.1f} s' for each in work[kind])}")
        head = ("characters", *work)
        rows = [(f"{size:,}", *(f"{work[kind][at]:.2f}" for kind in work)) for at, size in enumerate(sizes)]
        for line in table(head, rows):
            self.stdout.write(line)
        held = [_bound(kind, sizes, seconds) for kind, seconds in work.items()]
        told = {"seconds": work, "documents": [asdict(each) for each in felt]}
        return [*held, *long_documents.bounds(felt)], told


def _bound(kind: str, sizes: list[int], seconds: list[float]) -> Bound:
    ratios = [
        (after / before if after > TRIFLE else 0.0, size)
        for size, before, after in zip(sizes[1:], seconds, seconds[1:], strict=False)
    ]
    worst, size = max(ratios)
    return Bound(f"{kind}: work for twice the text", worst, MOST, note=f"at {size:,} characters")


def _least(server: TrialServer, kind: str, size: int) -> float:
    """The best of some tries for a short text, which other work of the server would hide."""
    tries = TRIES if size < 1_000_000 else 1
    return min(_learned(server, text_of(kind, size)) for _ in range(tries))


def _learned(server: TrialServer, text: str) -> float:
    """Seconds of processor time of all workers, until the text is learned and searched by
    meaning."""
    before = server.worked()
    with server.client(120.0) as client:
        body = {"content": f"{time.time_ns()} {text}", "mode": "async"}
        answer = client.ask("POST", f"{server.path}/memories/ingest", body)
        if answer.status != 202:
            raise ServerFailed(f"The text was answered {answer.status}: {answer.body[:300]!r}")
    end = time.monotonic() + PATIENCE
    while server.rows(LEFT) != [(0,)]:
        if time.monotonic() > end:
            raise ServerFailed(f"The text was not learned in {PATIENCE:.0f} s.")
        time.sleep(0.2)
    return server.worked() - before


LEFT = """
select (select count(*) from memories_memorysession where state <> 'done')
       + (select count(*) from memories_duevector)
"""
