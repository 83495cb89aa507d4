"""Resources that the server takes, minute by minute: memory, connections of the database, open files."""

import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import psycopg

from bench import processes
from bench.server import TrialServer

CONNECTIONS = "select count(*) from pg_stat_activity where datname = current_database()"


@dataclass(frozen=True, slots=True)
class Sample:
    """`seconds` since the load began; -1 where the database did not say its connections."""

    seconds: float
    megabytes: float
    processes: int
    connections: int
    files: int
    by_kind: dict[str, float]


@dataclass(slots=True)
class Samples:
    server: TrialServer
    began: float = field(default_factory=time.monotonic)
    taken: list[Sample] = field(default_factory=list)

    def take(self) -> Sample:
        found = self.server.processes()
        kinds = sorted({each.kind for each in found})
        by_kind = {kind: processes.megabytes([each for each in found if each.kind == kind]) for kind in kinds}
        connections = -1
        with suppress(psycopg.Error):
            connections = int(self.server.rows(CONNECTIONS)[0][0]) - 1  # without our own
        sample = Sample(
            seconds=round(time.monotonic() - self.began, 1),
            megabytes=round(sum(by_kind.values()), 1),
            processes=len(found),
            connections=connections,
            files=processes.open_files(found),
            by_kind=by_kind,
        )
        self.taken.append(sample)
        return sample

    def growth(self, settled: float) -> float:
        """Megabytes at the end over those `settled` seconds after the beginning; of a few samples
        each, for memory goes up and down."""
        late = [each.megabytes for each in self.taken if each.seconds >= settled]
        few = max(1, len(late) // 6)
        first, last = late[:few], late[-few:]
        return sum(last) / len(last) - sum(first) / len(first) if late else 0.0

    def as_json(self) -> list[dict[str, Any]]:
        return [asdict(sample) for sample in self.taken]
