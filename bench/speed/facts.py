"""Writes without HTTP and without embedding: claims through the resolver, and what the vectors'
indexes add to the writing of the index."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median

import numpy as np
from django.db import connection, transaction
from django.utils import timezone

from bench.speed.corpus import Block, Corpus
from bench.speed.loading import Place, memory
from bench.speed.timing import Act
from memories.belief import resolve
from memories.belief.resolve import Claim
from memories.index import entries
from memories.index.nearest import Placement
from memories.models import (
    Category,
    Fact,
    FactType,
    MemoryScope,
    Source,
    Visibility,
    WorkspaceIndex,
)

BATCH = 1_000
BATCHES, WARM_UP = 4, 1
ONE, MANY = "1 fact, verb", "1,000 facts, verb"
BEYOND = 1_000_000  # numbers of blocks that no workspace is filled with
COMPARED = 5


def batches(place: Place, corpus: Corpus) -> Act:
    """A thousand claims at once; those before are known by then."""
    numbers = range(BEYOND + place.told, BEYOND + place.told + BATCHES + WARM_UP)
    blocks = [corpus.block(place.number, number, BATCH) for number in numbers]

    def run(n: int) -> object:
        return _apply(place, blocks[n].texts, blocks[n].vectors)

    return Act(MANY, place.plot.asked, place.plot.live, run)


def singles(place: Place, corpus: Corpus) -> Act:
    block = corpus.block(place.number, 2 * BEYOND + place.told, BATCH)

    def run(n: int) -> object:
        at = n % BATCH
        return _apply(place, block.texts[at : at + 1], block.vectors[at : at + 1])

    return Act(ONE, place.plot.asked, place.plot.live, run)


def cost_of_indexes(place: Place, corpus: Corpus) -> float:
    """The factor by which a thousand entries with their vectors take to write than without the
    indexes of the vectors; nothing of it is kept."""
    block = corpus.block(place.number, 3 * BEYOND, BATCH)
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(COMPARED):
        for is_indexed, taken in times.items():
            with _undone():
                if not is_indexed:
                    # As who writes does: the workspace's row first, the table after it.
                    WorkspaceIndex.objects.select_for_update().get(workspace=place.scope.workspace_id)
                    _drop_indexes()
                taken.append(_written(place, block))
    return round(median(times[True]) / median(times[False]), 3)


def _apply(place: Place, texts: Sequence[str], vectors: np.ndarray) -> object:
    claims = [_claim(text) for text in texts]
    with transaction.atomic():
        return resolve.apply(
            place.space,
            _placement(place),
            claims,
            [(vector,) for vector in vectors],
            actor="benchmark",
        )


def _claim(text: str) -> Claim:
    return Claim(
        statement=text,
        category=Category.OTHER,
        fact_type=FactType.FACT,
        visibility=Visibility.PRIVATE,  # as the memories are that it shall meet
        method=Fact.Method.WHOLE,
        rule="benchmark",
        source=Source.EXTRACTED,
        occurred_at=timezone.now(),
    )


def _placement(place: Place) -> Placement:
    return Placement(place.scope.workspace_id, place.subject_id, None, (), True, MemoryScope.USER, None, "")


@contextmanager
def _undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _drop_indexes() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select string_agg(format('%I', indexname), ', ') from pg_indexes"
            " where tablename = 'memories_vector' and indexname like 'vector%'"
        )
        cursor.execute(f"drop index {cursor.fetchone()[0]}")


def _written(place: Place, block: Block) -> float:
    now = timezone.now()
    items = [entries.memory_item(memory(place, text, now)) for text in block.texts]
    started = time.perf_counter()
    entries.write(place.space, items, [(vector,) for vector in block.vectors])
    return time.perf_counter() - started
