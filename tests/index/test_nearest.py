"""The conflict check finds the same pairs on each of its ways."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction
from django.utils import timezone

from bench.speed.corpus import Corpus
from bench.speed.layout import Plot
from bench.speed.loading import load
from memories.index import entries, hnsw_segments, nearest, workspace_index
from memories.index.nearest import Pair, Placement, Reach
from memories.models import Layer, WorkspaceIndex
from workspaces.models.workspace import uuid7

CORPUS = Corpus(256)
SIZE, REACH = 300, Reach(0.5, 4)
NOW = timezone.now()


@pytest.fixture
def placement(transactional_db: None, settings: Any) -> Iterator[Placement]:
    settings.VECTOR_INDEX_FROM = 0
    place = load([Plot("full", SIZE)], CORPUS, lambda n: None)[0]
    workspace = place.scope.workspace_id
    yield Placement(workspace, place.subject_id, None, (), True, "user", None, "")
    settings.VECTOR_INDEX_FROM = 0
    hnsw_segments.rebuild_indexes()


def pairs(placement: Placement, size: int, visibility: str = "private") -> list[Pair]:
    vectors = CORPUS.near(CORPUS.block(0, 0, SIZE).vectors, 40)[:size]
    with transaction.atomic():
        return nearest.nearest(space(placement), placement, [*vectors], [visibility] * size, REACH)


def space(placement: Placement) -> WorkspaceIndex:
    return workspace_index.index_of(placement.workspace_id)


def alike(ones: list[Pair], others: list[Pair]) -> bool:
    def key(pair: Pair) -> tuple[int, str]:
        return pair.index, str(pair.memory_id)

    ones, others = sorted(ones, key=key), sorted(others, key=key)
    cosines = [[pair.similarity or 0.0 for pair in found] for found in (ones, others)]
    same = [key(pair) for pair in ones] == [key(pair) for pair in others]
    return same and np.allclose(*cosines, atol=1e-3)


@pytest.fixture
def by_join(placement: Placement, monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    with monkeypatch.context() as patch:
        patch.setattr(nearest, "MANY", 1000)
        return pairs(placement, 40)


def test_there_is_something_to_compare(by_join: list[Pair]) -> None:
    assert len({pair.index for pair in by_join}) > 20


def test_a_product_of_matrices_finds_what_a_join_finds(placement: Placement, by_join: list[Pair]) -> None:
    assert alike(pairs(placement, 40), by_join)


def test_one_statement_finds_what_many_find(placement: Placement, by_join: list[Pair]) -> None:
    assert alike(pairs(placement, 1), [pair for pair in by_join if pair.index == 0])


@pytest.mark.parametrize("size", [1, 10, 40])
def test_a_sealed_layer_shows_the_same(placement: Placement, by_join: list[Pair], settings: Any, size: int) -> None:
    settings.VECTOR_INDEX_FROM = SIZE // 2
    assert hnsw_segments.rebuild_indexes() == 1
    with connection.cursor() as cursor:
        cursor.execute("set enable_sort to off; set enable_seqscan to off")
        found = pairs(placement, size)
        cursor.execute("reset enable_sort; reset enable_seqscan")
    assert alike(found, [pair for pair in by_join if pair.index < size])


@pytest.mark.parametrize("size", [1, 40])
def test_what_came_after_the_seal_is_found_beside_what_came_before(
    placement: Placement, settings: Any, size: int
) -> None:
    settings.VECTOR_INDEX_FROM = SIZE // 2
    hnsw_segments.rebuild_indexes()
    sealed = space(placement)
    with transaction.atomic():
        write_more(placement, CORPUS.block(0, 0, 60).vectors)
    found = pairs(placement, size)
    sealed.segments = ()
    with transaction.atomic():
        vectors = CORPUS.near(CORPUS.block(0, 0, SIZE).vectors, 40)[:size]
        exact = nearest.nearest(sealed, placement, [*vectors], ["private"] * size, REACH)
    assert alike(found, exact)
    assert found != []


def write_more(placement: Placement, vectors: Any) -> None:
    items = [entries.Item(uuid7(), Layer.MEMORIES, "more", {}, NOW, subject=placement.subject_id) for _ in vectors]
    entries.write(space(placement), items, [(vector,) for vector in vectors])


@pytest.mark.parametrize("size", [1, 10, 40])
def test_what_is_seen_by_others_is_another_matter(placement: Placement, size: int) -> None:
    assert pairs(placement, size, "global") == []
