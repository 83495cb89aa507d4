"""Approximate indexes of large layers: built, used, renewed and dropped in the background."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper
from django.db import connection
from django_q.models import OrmQ
from psycopg.errors import QueryCanceled

from bench.speed.corpus import Corpus
from bench.speed.layout import Plot
from bench.speed.loading import Place, load
from bench.speed.recall import recall
from memories.belief import review
from memories.belief.review import forget
from memories.index import hnsw_segments, workspace_index
from memories.models import EmbeddingModel, Entry, LargeLayer, Layer, Memory, WorkspaceIndex
from memories.privacy.erase import workspace_removal
from memories.search import SearchRequest, candidates, filters, search
from memories.search.conditions import LayerQuery
from memories.worker.sweep import sweep
from memoryproject.postgres.database_roles import owner_connection
from workspaces.models import Agent, Workspace

CORPUS = Corpus(256)
SIZE = 400


@pytest.fixture
def place(transactional_db: None, settings: Any) -> Iterator[Place]:
    settings.VECTOR_INDEX_FROM = SIZE // 2
    yield load([Plot("grown", SIZE)], CORPUS, lambda n: None)[0]
    with connection.cursor() as cursor:
        cursor.execute("reset enable_sort; reset enable_seqscan")
        for name in indexes():
            cursor.execute(f"drop index {name}")


@pytest.fixture
def sealed(place: Place) -> Place:
    assert hnsw_segments.rebuild_indexes() == 1
    with connection.cursor() as cursor:
        # So few rows are faster sorted: a plan that is right at 400 is not the one to be tested.
        cursor.execute("set enable_sort to off; set enable_seqscan to off")
    return fresh(place)


def fresh(place: Place) -> Place:
    """As the next request sees it."""
    space = workspace_index.index_of(place.scope.workspace_id)
    values = {name: getattr(place, name) for name in ("plot", "number", "slug", "key", "scope")}
    return Place(**values, space=space, subject_id=place.subject_id)


def indexes() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "select indexname from pg_indexes where tablename = 'memories_vector'"
            " and (indexname like 'vector\\_sealed%' or indexname like 'vector\\_tail%')"
        )
        return sorted(row[0] for row in cursor.fetchall())


def found(place: Place, query: str, **wish: Any) -> list[str]:
    hits = search(place.scope, SearchRequest(query, **wish)).hits
    return [hit.memory.content for hit in hits]


def path(place: Place) -> str:
    """The plan of the nearest, as a search would have it."""
    vector = CORPUS.block(0, 0, 1).vectors[0]
    asked = LayerQuery(place.space, place.scope, Layer.MEMORIES, "", vector)
    text, values = candidates.linea_statement(asked, by_words=False)
    with connection.cursor() as cursor:
        cursor.execute(f"explain {text}", values)
        return "\n".join(row[0] for row in cursor.fetchall())


def test_a_small_layer_is_compared_one_by_one(place: Place, settings: Any) -> None:
    settings.VECTOR_INDEX_FROM = SIZE + 1
    assert not hnsw_segments.is_due()
    assert hnsw_segments.rebuild_indexes() == 0
    assert "vector_sealed" not in path(place)


def test_zero_means_never(place: Place, settings: Any) -> None:
    settings.VECTOR_INDEX_FROM = 0
    assert hnsw_segments.rebuild_indexes() == 0


def test_passages_of_documents_are_sealed_as_memories_are(place: Place) -> None:
    assert WorkspaceIndex.objects.update(live_chunks=SIZE) == 1
    large = {state.layer for state in hnsw_segments.layer_states() if state.is_large}
    assert large == {Layer.MEMORIES, Layer.CHUNKS}


def test_a_large_layer_is_searched_through_its_indexes(sealed: Place) -> None:
    plan = path(sealed)
    assert "vector_sealed" in plan
    assert "vector_tail" in plan
    assert recall(sealed, CORPUS)[sealed.plot.asked] >= 0.95


def test_sealing_again_changes_nothing(sealed: Place) -> None:
    before = indexes()
    assert not hnsw_segments.is_due()
    assert hnsw_segments.rebuild_indexes() == 0
    assert indexes() == before


def test_what_is_newer_than_the_seal_is_found(sealed: Place) -> None:
    note = review.NewMemory("Ada keeps bees on the roof")
    review.create(sealed.scope, note)
    for ranking in ("hybrid", "linea", "vector"):
        assert found(sealed, "bees on the roof", ranking=ranking)[0] == note.content


@pytest.mark.parametrize("ranking", ["hybrid", "linea", "vector"])
def test_scores_tell_the_path_through_the_index(sealed: Place, settings: Any, ranking: str) -> None:
    assert told_path(sealed, ranking=ranking) == "hnsw"
    few = filters.parse({"field": "pinned", "op": "eq", "value": True}, ("memories",))
    assert told_path(sealed, ranking=ranking, filter=few) == "hnsw_then_exact"
    settings.VECTOR_INDEX_FROM = SIZE * 4
    assert hnsw_segments.rebuild_indexes() == 1
    assert told_path(fresh(sealed), ranking=ranking) == "exact"


def told_path(place: Place, **wish: Any) -> str:
    text = Memory.objects.latest("pk").content
    answer = search(place.scope, SearchRequest(text, include=frozenset({"scores"}), **wish))
    assert answer.trace is not None
    return answer.trace.paths[Layer.MEMORIES]


def test_what_was_forgotten_is_not_found(sealed: Place) -> None:
    text = CORPUS.block(0, 0, SIZE).texts[7]
    assert found(sealed, text, ranking="hybrid")[0] == text
    forget(sealed.scope, Memory.objects.get(content=text).pk, "wrong")
    assert text not in found(sealed, text, ranking="hybrid", limit=50)


def test_a_long_tail_is_sealed_anew(sealed: Place, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = indexes()
    monkeypatch.setattr(hnsw_segments, "TAIL", 0.0)
    settings.VECTOR_INDEX_FROM = 8
    for word in ("honey", "wax", "smoke"):
        review.create(sealed.scope, review.NewMemory(f"Ada sells {word} at the gate"))
    assert hnsw_segments.rebuild_indexes() == 1
    assert len(indexes()) == 2
    assert not set(indexes()) & set(before)


def test_a_layer_that_has_shrunk_loses_its_indexes(sealed: Place, settings: Any) -> None:
    settings.VECTOR_INDEX_FROM = 2 * SIZE + 2
    assert hnsw_segments.rebuild_indexes() == 1
    assert indexes() == []
    assert "vector_sealed" not in path(fresh(sealed))


@pytest.mark.parametrize("share", [0.1, 0.01])
def test_a_filter_costs_no_recall(sealed: Place, share: float) -> None:
    chosen = Memory.objects.live().order_by("id")[: int(SIZE * share)]
    Memory.objects.filter(pk__in=[m.pk for m in chosen]).update(category="policy")
    tree = filters.parse({"field": "category", "op": "eq", "value": "policy"}, ("memories",))
    for ranking in ("vector", "hybrid"):
        hits = found(sealed, "anything at all", filter=tree, ranking=ranking, limit=20)
        assert len(hits) == min(20, int(SIZE * share))


def test_an_agent_sees_its_own_and_no_more(sealed: Place) -> None:
    agent = Agent.objects.create(workspace_id=sealed.scope.workspace_id, external_id="scout")
    review.create(sealed.scope.as_agent(agent), review.NewMemory("The scout saw a fox"))
    request = SearchRequest("fox", limit=50)
    hits = search(sealed.scope.as_agent(agent), request).hits
    assert all(hit.memory.agent_id in (None, agent.pk) for hit in hits)
    assert hits[0].memory.content == "The scout saw a fox"


def test_a_lost_index_is_told_and_made_again(sealed: Place) -> None:
    with owner_connection() as owner:
        owner.execute(f"drop index {indexes()[0]}")
    with pytest.raises(CommandError, match="disagree in grown"):
        call_command("checkindex", workspace="grown", verbosity=0)
    assert hnsw_segments.rebuild_indexes() == 1
    assert len(indexes()) == 2


def test_what_a_killed_builder_left_is_taken_into_use(sealed: Place) -> None:
    before = indexes()
    LargeLayer.objects.update(sealed_upto=None, embedding_model=None)
    assert hnsw_segments.rebuild_indexes() == 1
    assert indexes() == before


def test_what_a_build_left_unfinished_is_built_anew(place: Place) -> None:
    """A database that is killed while it builds leaves an index that is not valid, by the name that
    the next build would give."""
    (state,) = hnsw_segments.layer_states()
    model = EmbeddingModel.objects.get()
    newest = Entry.objects.filter(layer=Layer.MEMORIES).latest("pk").pk
    segment = hnsw_segments.Segment(state.number, model.pk, state.layer, model.dimensions, newest)
    with owner_connection() as owner, owner_connection() as writer, writer.transaction():
        writer.execute("lock table memories_vector in row exclusive mode")
        owner.execute("set statement_timeout = '100ms'")
        for statement in (hnsw_segments.TAIL_INDEX, hnsw_segments.HNSW):
            with pytest.raises(QueryCanceled):
                owner.execute(statement.format(segment=segment, covered="", links=4, effort=16).encode())
    assert indexes() == [segment.sealed_name, segment.tail_name]
    assert hnsw_segments.rebuild_indexes() == 1
    assert not hnsw_segments.is_due()
    call_command("checkindex", workspace="grown", verbosity=0)


def test_two_do_not_build_at_once(place: Place) -> None:
    with owner_connection() as owner:
        owner.execute(f"select pg_advisory_lock({hnsw_segments.LOCK_CLASS}, 0)")
        assert hnsw_segments.rebuild_indexes() == 0
    assert indexes() == []


def test_a_command_waits_for_the_builder_that_is_at_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a `reembed`, when the worker's own turn comes first and is killed or slow."""
    with owner_connection() as owner:
        owner.execute(f"select pg_advisory_lock({hnsw_segments.LOCK_CLASS}, 0)")

        def let_go(line: str) -> None:
            if line.startswith("Another process"):
                owner.execute(f"select pg_advisory_unlock({hnsw_segments.LOCK_CLASS}, 0)")

        monkeypatch.setattr(OutputWrapper, "write", lambda self, line="", *_, **__: let_go(line))
        call_command("sweep")
    assert len(indexes()) == 2


def test_the_sweep_rings_for_the_builder(place: Place) -> None:
    sweep()
    assert [task.name() for task in OrmQ.objects.all()] == ["seal"]


def test_indexes_of_a_removed_workspace_are_dropped(sealed: Place) -> None:
    assert len(indexes()) == 2
    workspace = Workspace.objects.get(pk=sealed.scope.workspace_id)
    asked = workspace_removal.request(workspace, "test")
    done = workspace_removal.run(asked.pk)
    assert done is not None
    assert done.state == "done"
    assert hnsw_segments.is_due()
    hnsw_segments.rebuild_indexes()
    assert indexes() == []
