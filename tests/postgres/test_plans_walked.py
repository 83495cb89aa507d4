"""Whatever a search, an ingest or the worker asks is answered by an index, over thousands of rows.

Nobody lists the statements: each verb is run, and the plan of all that it sends is looked at.
"""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from bench.speed.corpus import Corpus
from bench.speed.layout import Plot
from bench.speed.loading import USER, load
from memories import ingest
from memories.belief import review
from memories.ingest import IngestRequest, NewMessage
from memories.models import AsOf, DueVector, FeatureSet, Memory, Vector
from memories.profiles.features import set_embedding
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_due_sets, update_now
from memories.search import filters
from memories.worker import side_processes, sweep
from tests.many_rows import fill_beside_memories
from tests.people import Person
from tests.statements_sent import sent
from workspaces.models import Workspace

PLOTS = [Plot("large", 1_500), *(Plot(f"small-{n}", 100) for n in range(15))]
LARGE = 1_000  # rows
WHOLE_TABLE = re.compile(r"Seq Scan on (\w+)")
# Once a minute every set is compared with the settings of its workspace.
MEANT = (set_embedding.NOTICE.strip(),)
SAID = [
    NewMessage("I moved to Lisbon in May.", name="Ada", id="m1"),
    NewMessage("I prefer tea over coffee.", name="Ada", id="m2"),
]
CITED = frozenset({"citations"})
Walk = dict[str, Callable[[], object]]


@pytest.fixture
def person(transactional_db: None) -> Person:
    place = load(PLOTS, Corpus(256), lambda n: None)[0]
    fill_beside_memories()
    return Person(Workspace.objects.get(pk=place.scope.workspace_id), place.key)


def faults(walk: Walk) -> list[str]:
    large = large_tables()
    return [fault for name, act in walk.items() for fault in faults_of(name, act, large)]


def faults_of(name: str, act: Callable[[], object], large: set[str]) -> list[str]:
    with sent() as found:
        act()
    assert found, name
    return [
        f"{name}: a table is read whole\n{one.text}\n{one.plan}"
        for one in found
        if large.intersection(WHOLE_TABLE.findall(one.plan)) and one.text not in MEANT
    ]


def large_tables() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"select relname from pg_class where relkind = 'r' and reltuples >= {LARGE}")
        found = {str(name) for (name,) in cursor.fetchall()}
    assert {"memories_citation", "memories_duevector", "memories_featureset"} <= found
    return found


def make_due(person: Person) -> None:
    """A vector, the features' vectors of a set, and a session."""
    vector = DueVector.objects.latest("pk")
    Vector.objects.filter(entry_id=vector.pk).delete()
    DueVector.objects.filter(pk=vector.pk).update(next_attempt_at=timezone.now())
    sets = FeatureSet.objects.filter(subject__external_id="ada")
    sets.update(embedding_due_at=timezone.now())
    ingest.receive(person.scope, IngestRequest(messages=(NewMessage("I work as a nurse."),)))


def test_searches_read_no_table_whole(person: Person) -> None:
    def asking(**wish: Any) -> Callable[[], object]:
        return lambda: person.ask("bonumi takuzu", **wish)

    every: Walk = {
        f"{ranking} of {layer}": asking(ranking=ranking, layers=(layer,), include=CITED)
        for layer in ("memories", "episodes", "features")
        for ranking in ("linea", "hybrid", "vector", "keyword")
    }
    more: Walk = {
        "of a subject": asking(user_id=USER, include=frozenset({"chain"})),
        "with neighbours": asking(layers=("episodes",), include=frozenset({"neighbours"})),
        "with neighbours of the past": asking(
            layers=("episodes",), include=frozenset({"neighbours"}), at=AsOf(None, timezone.now())
        ),
        "at another time": asking(at=AsOf(timezone.now(), timezone.now())),
        "as it was known": asking(
            at=AsOf(known_at=timezone.now()),
            filter=filters.parse({"field": "updatedAt", "op": "exists"}, ("memories",)),
        ),
    }
    assert not faults(every | more)


def test_ingests_and_corrections_read_no_table_whole(person: Person) -> None:
    def tell() -> object:
        return person.say(*SAID, user_id="ada", thread_id="talk")

    def correct() -> object:
        memory = Memory.objects.get(subject__external_id="ada", content="Ada moved to Lisbon in May")
        return review.edit(person.scope, memory.pk, {"content": "Ada moved to Porto in May"})

    walk: Walk = {
        "ingest": tell,
        "the same again": tell,
        "to be run later": lambda: person.say(*SAID, user_id="bea", mode="async"),
        "take in": lambda: update_now(person.scope, "user:ada"),
        "edit": correct,
    }
    discover_sets()
    assert not faults(walk)


def test_the_worker_reads_no_table_whole(person: Person) -> None:
    person.say(*SAID, user_id="ada", thread_id="talk")
    discover_sets()
    make_due(person)
    embedded = FeatureSet.objects.get(subject__external_id="ada").pk
    walk: Walk = {
        "embed": lambda: set_embedding.embed(embedded),
        "judge": side_processes.judge_messages,
        "sweep": sweep.sweep,
        "fold": lambda: update_due_sets(time.monotonic() + 10),
    }
    assert not faults(walk)
