"""The plans of the hot statements, as they are made once for all values, on a mixed table.

A statement that reads a whole table, or the whole of a workspace where it need not, fails here.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from bench.speed.corpus import Corpus
from bench.speed.layout import Plot
from bench.speed.loading import Place, load
from memories.belief.resolve import memories_to_compare as resolving
from memories.belief.resolve import rejections, state_changes
from memories.belief.touches import judged
from memories.index import entries, hnsw_segments, nearest, prepared_sql, workspace_index
from memories.index.nearest import Placement, Reach
from memories.ingest import judged_messages
from memories.models import DueVector, Entry, Layer
from memories.models.supersession import MEMBERS
from memories.search import candidates, conditions, filters
from memories.search.conditions import LayerQuery, RowCondition
from memories.search.hits import MEMORY_ROWS
from tests.many_rows import analyze, fill_entries_of_episodes, fill_said
from tests.statements_sent import generic_plan
from workspaces.keys import NOTHING

CORPUS, NOW = Corpus(256), timezone.now()
PLOTS = [Plot("large", 4_000), *(Plot(f"small-{n}", 200) for n in range(20))]
WHOLE_TABLE = re.compile(r"Seq Scan on memories_(entry|vector|memory|episode)\b")


@pytest.fixture
def place(transactional_db: None, settings: Any) -> Iterator[Place]:
    settings.VECTOR_INDEX_FROM = 0
    place = load(PLOTS, CORPUS, lambda n: None)[0]
    fill_said()
    fill_entries_of_episodes()
    analyze()
    yield place
    settings.VECTOR_INDEX_FROM = 0
    hnsw_segments.rebuild_indexes()


def asked(place: Place, **more: Any) -> LayerQuery:
    vector = CORPUS.block(0, 0, 1).vectors[0]
    return LayerQuery(place.space, place.scope, Layer.MEMORIES, "bonumi takuzu", vector, **more)


def wanted() -> dict[str, Any]:
    values: dict[str, Any] = {}
    tree = filters.parse({"field": "category", "op": "eq", "value": "plan"}, ("memories",))
    return {
        "wanted": RowCondition(filters.sql_of(tree, "memories", values)),
        "wanted_values": values,
    }


def placement(place: Place) -> Placement:
    return Placement(place.scope.workspace_id, place.subject_id, None, (), True, "user", None, "")


def texts_of_nearest(place: Place, size: int) -> tuple[str, dict[str, Any]]:
    """With what the conflict check of `size` statements looks for the nearest."""
    return all_texts_of_nearest(place, size)[-1]


def all_texts_of_nearest(place: Place, size: int) -> list[tuple[str, dict[str, Any]]]:
    """Those of many: the HNSW's, then what is copied out of the tail."""
    sent: list[tuple[str, dict[str, Any]]] = []
    vectors = [*CORPUS.block(0, 0, size).vectors]

    def note(text: str, values: dict[str, Any], *_: Any, **__: Any) -> list[Any]:
        sent.append((text, values))
        return []

    def note_each(asked: Iterable[Statement]) -> list[list[Any]]:
        return [note(*each) for each in asked]

    with pytest.MonkeyPatch.context() as patch, transaction.atomic():
        patch.setattr(prepared_sql, "rows_of_each", note_each)
        patch.setattr(nearest, "best_pairs", note)
        where = placement(place)
        nearest.nearest(place.space, where, vectors, ["global"] * size, Reach(0.8, 10))
    return [(text, values) for text, values in sent if values.get("ids") != []]


Statement = tuple[str, dict[str, Any]]
STEMS = ["bonumi", "takuzu", "zobizo"]
# Each with an index that its plan must name.
HOT: dict[str, tuple[Callable[[Place], Statement], str]] = {
    "linea": (lambda p: candidates.linea_statement(asked(p)), "vector_scan"),
    "linea by words": (lambda p: candidates.linea_statement(asked(p)), "entry_trigrams"),
    "hybrid": (lambda p: candidates.pool_statement(asked(p), STEMS), "vector_scan"),
    "hybrid of a date": (
        lambda p: candidates.pool_statement(asked(p), STEMS, depth=candidates.DATED),
        "vector_scan",
    ),
    "the days that are asked for": (
        lambda p: candidates.pool_statement(asked(p), STEMS, depth=candidates.DATED),
        "entry_dated ",
    ),
    "the days of a subject": (
        lambda p: candidates.pool_statement(asked(p, subject=p.subject_id), STEMS, depth=candidates.DATED),
        "entry_dated_subject",
    ),
    "the days of a subject, by words": (
        lambda p: candidates.pool_statement(
            replace(asked(p, subject=p.subject_id), vector=None),
            STEMS,
            depth=candidates.DATED,
        ),
        "entry_dated_subject",
    ),
    "what was learned from, of the days": (
        lambda p: candidates.pool_statement(
            replace(asked(p, subject=p.subject_id), layer=Layer.EPISODES),
            STEMS,
            depth=candidates.DATED._replace(taught=True),
        ),
        "entry_dated_subject",
    ),
    "hybrid by words": (
        lambda p: candidates.pool_statement(asked(p), STEMS),
        "entry_terms",
    ),
    "hybrid of a subject": (
        lambda p: candidates.pool_statement(asked(p, subject=p.subject_id), STEMS),
        "vector_scan",
    ),
    "rows of the best": (
        lambda p: (MEMORY_ROWS, {"ids": [], "workspace": p.scope.workspace_id, "history": False}),
        "_pkey",
    ),
    "the space": (lambda p: (workspace_index.INDEX_ROW, {"workspace": p.scope.workspace_id}), ""),
    "the key": (lambda p: (NOTHING.statement, {"prefix": "a", "digest": b"a"}), "prefix"),
    "the key, with the space": (
        lambda p: (workspace_index.BESIDE_KEY.statement, {"prefix": "a", "digest": b"a"}),
        "prefix",
    ),
    "conflicts of one": (lambda p: texts_of_nearest(p, 1), "vector_scan"),
    "conflicts of some": (lambda p: texts_of_nearest(p, 5), "vector_scan"),
    "conflicts of many": (lambda p: texts_of_nearest(p, 40), "vector_scan"),
}


def of_words(place: Place) -> Statement:
    return candidates.pool_statement(replace(asked(place), vector=None), STEMS)


def of_many(place: Place) -> Statement:
    top = candidates.DEEP.top
    return candidates.linea_statement(asked(place), by_words=False, top=top)


def of_known(place: Place) -> Statement:
    own = {"fingerprints": [b"a"], "ids": [], "slots": [1], "now": NOW}
    values = resolving.mine(placement(place)) | own
    return resolving.KNOWN.format(by_slot=resolving.BY_SLOT, in_spaces=""), values


def of_negated(place: Place) -> Statement:
    asks = {"at": [0], "terms": [1], "subject": place.subject_id, "most": 24}
    return resolving.NEGATED, asks


def of_rejected(place: Place) -> Statement:
    asks = {"workspace": place.scope.workspace_id, "subject": place.subject_id, "layer": 1}
    asks |= {"fingerprints": [], "model": 1, "most": 10, "agents": []}
    return rejections.OF_SUBJECT, asks


def of_replaced(place: Place) -> Statement:
    return state_changes.SUPERSEDE, {"olds": [], "news": [], "since": [], "at": timezone.now()}


def of_judged(place: Place) -> Statement:
    asks = {"ids": [], "number": place.space.number, "model": place.space.embedding_model_id}
    return judged.MET.format(subject=judged.OWN, **judged.ONCE), asks


def of_said_before(place: Place) -> Statement:
    asks = {"ids": [], "number": place.space.number, "model": place.space.embedding_model_id}
    asks |= {"open": judged.OPEN, "read": ["auto"]}
    return judged.SAID_BEFORE.format(subject=judged.OWN), asks


# What an ingest asks and writes, and what the rankings ask alone.
BESIDE: dict[str, tuple[Callable[[Place], Statement], str]] = {
    "keyword": (of_words, "entry_terms"),
    "vector, a hundred": (of_many, "vector_scan"),
    "what a claim meets, by text": (of_known, "fingerprint"),
    "what a claim meets, by slot": (of_known, "slots"),
    "what a claim ends": (of_negated, "entry_terms"),
    "what was rejected": (of_rejected, "rejection"),
    "the end of a version": (of_replaced, "memories_memory_pkey"),
    "the life of a version": (of_replaced, "memoryperiod"),
    "support": (
        lambda p: (state_changes.SUPPORT, {"ids": [], "facts": [], "at": NOW}),
        "memory_pkey",
    ),
    "a chain": (lambda p: (MEMBERS, {"id": p.subject_id}), "superseded_by"),
    "messages that wait for the judge": (
        lambda p: (judged_messages.CLAIM, {"workspace": p.scope.workspace_id, "open": judged.OPEN}),
        "episode_to_judge",
    ),
    "what the judge compares a message with": (of_judged, "entry_dated_subject"),
    "what was said before, of which nothing is believed": (of_said_before, "entry_dated_subject"),
    "a change of the index": (
        lambda p: (entries.SET_ENTRIES_LIVE, {"layer": 1, "items": [], "live": False}),
        "entry_once",
    ),
}


def faults(place: Place, hot: dict[str, tuple[Callable[[Place], Statement], str]]) -> list[str]:
    found = []
    for name, (statement, index) in hot.items():
        told = generic_plan(*statement(place))
        if WHOLE_TABLE.search(told) or index not in told:
            found.append(f"{name}: {index} is not used, or a table is read whole\n{told}")
    return found


def test_hot_statements_are_answered_by_their_indexes(place: Place) -> None:
    assert not faults(place, HOT)


def test_writes_and_side_statements_are_answered_by_their_indexes(place: Place) -> None:
    assert not faults(place, BESIDE)


def test_by_words_alone_a_large_layer_is_neither_counted_nor_read_from_its_end(
    place: Place,
) -> None:
    place.space.live_memories = conditions.COUNTED + 1
    assert "entry_workspace" not in generic_plan(*of_words(place))


def test_what_an_agent_sees_is_counted_without_reading_the_entries(place: Place) -> None:
    scope = replace(place.scope, agent_id=place.subject_id)
    told = generic_plan(*candidates.pool_statement(asked(replace(place, scope=scope)), STEMS))
    counted, _, _ = told.partition("CTE nearest")
    assert "Index Only Scan using vector_scan" in counted
    assert "entry_workspace" not in counted


def test_a_small_workspace_is_filtered_without_reading_others_rows(place: Place) -> None:
    told = generic_plan(*candidates.linea_statement(asked(place, **wanted())))
    assert not WHOLE_TABLE.search(told)
    assert "memories_memory_pkey" in told


def test_vectors_that_are_due_are_read_in_their_order(place: Place) -> None:
    later = timezone.now() + timedelta(hours=1)
    ids = Entry.objects.values_list("pk", "workspace")
    DueVector.objects.bulk_create(DueVector(entry_id=pk, workspace=number, next_attempt_at=later) for pk, number in ids)
    with connection.cursor() as cursor:
        cursor.execute("analyze memories_duevector")
    waiting = DueVector.objects.filter(next_attempt_at__lte=NOW).order_by("next_attempt_at")
    assert "due_vector_next" in waiting.explain()


def test_of_a_sealed_layer_the_nearest_come_out_of_its_indexes(place: Place, settings: Any) -> None:
    settings.VECTOR_INDEX_FROM = 2_000
    assert hnsw_segments.rebuild_indexes() == 1
    place.space.segments = workspace_index.index_of(place.scope.workspace_id).segments
    filtered = asked(place, **wanted())
    sealed = {
        "linea": (lambda p: candidates.linea_statement(asked(p)), "vector_sealed"),
        "tail": (lambda p: candidates.linea_statement(asked(p)), "vector_tail"),
        "hybrid": (lambda p: candidates.pool_statement(asked(p), STEMS), "vector_sealed"),
        "filter": (lambda p: candidates.linea_statement(filtered), "vector_sealed"),
        "conflicts": (lambda p: texts_of_nearest(p, 1), "vector_sealed"),
        "conflicts of many": (lambda p: all_texts_of_nearest(p, 40)[-2], "vector_sealed"),
        "tail for many": (lambda p: all_texts_of_nearest(p, 40)[-1], "vector_tail"),
    }
    assert not faults(place, sealed)


def test_the_nearest_are_taken_without_sorting_all_that_is_known(place: Place) -> None:
    told = generic_plan(*candidates.pool_statement(asked(place), STEMS))
    assert "Sort Key: v" not in told
    assert "Limit" in told
