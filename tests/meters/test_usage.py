"""Searches are counted by user and day without a statement of their own, and people see it."""

import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from memories import metrics
from memories.index import workspace_index
from memories.meters import search_counts, stored_metrics
from memories.models import Memory, MemoryUse, SearchUse
from memories.search import SearchRequest, query_vectors, search
from memories.worker import sweep
from tests.api_fixtures import caller
from tests.desk import member, superuser
from tests.factories import MemoryFactory
from tests.handed_in import hand_in, look_for
from tests.meters.test_metrics import scraped
from tests.people import Person, bound_to_agent
from workspaces.models import Role, Subject, Workspace
from workspaces.scope import worker_scope

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "admin:memories_usage"


@pytest.fixture(autouse=True)
def nothing_counted_before() -> Iterator[None]:
    for _ in range(2):
        metrics.clear()
        query_vectors.forget_vectors()
        if _ == 0:
            yield


def counted(workspace: Workspace) -> dict[str, tuple[int, int, int]]:
    stored_metrics.flush()
    rows = SearchUse.objects.filter(workspace=workspace).order_by("subject__external_id")
    values = rows.values_list("subject__external_id", "searches", "results", "empty")
    return {name or "": (searches, results, empty) for name, searches, results, empty in values}


def used(workspace: Workspace, searches: int, days_ago: int = 0, **values: int) -> None:
    day = timezone.now().date() - timedelta(days=days_ago)
    SearchUse.objects.create(workspace=workspace, day=day, searches=searches, **values)


@pytest.mark.usefixtures("still_clock")  # no day ends in it
def test_searches_are_counted_by_user_and_day(alice: Person) -> None:
    alice.note("Prefers tea", user_id="ana")
    for query in ("tea", "tea again"):
        alice.finds(query, user_id="ana")
    alice.finds("tea", user_id="nobody we know")
    alice.finds("tea", ranking="linea", fact_types=("event",))
    assert counted(alice.workspace) == {"ana": (2, 2, 0), "": (2, 0, 2)}
    alice.finds("tea", user_id="ana")
    assert counted(alice.workspace)["ana"] == (3, 3, 0)
    found = scraped()
    assert found["memory_search_results_total"] == 3
    assert found["memory_searches_empty_total"] == 2
    assert found["memory_search_users_today"] == 1
    assert found["memory_searches_per_user_today"] == 3


def test_searches_of_documents_are_counted(alice: Person) -> None:
    hand_in(alice)
    look_for(alice, "How often does the copper pump need oil?")
    assert counted(alice.workspace) == {"": (1, 1, 0)}


def test_counting_is_no_statement_of_the_search(alice: Person) -> None:
    with CaptureQueriesContext(connection) as sent:
        search_counts.count(alice.workspace.pk, None, 3)
    assert len(sent) == 0


def test_what_the_database_does_not_take_is_kept(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    search_counts.count(workspace.pk, None, 3)
    with monkeypatch.context() as broken:
        broken.setattr(search_counts, "ADD", "insert into nowhere values (%s)")
        with pytest.raises(DatabaseError):
            search_counts.flush()
    assert counted(workspace) == {"": (1, 3, 0)}


def test_what_was_served_is_kept_where_the_database_takes_nothing(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.note("Prefers tea")
    alice.finds("tea")
    with monkeypatch.context() as broken:
        broken.setattr(search_counts, "ADD_SERVED", "insert into nowhere values (%s, %s, %s, %s)")
        with pytest.raises(DatabaseError):
            search_counts.flush()
    alice.finds("tea")
    search_counts.flush()
    assert MemoryUse.objects.get().times == 2


def test_counts_of_what_went_meanwhile_are_dropped(alice: Person) -> None:
    ana = Subject.objects.create(workspace=alice.workspace, external_id="ana")
    search_counts.count(alice.workspace.pk, ana.pk, 1)
    ana.delete()
    search_counts.count(uuid.uuid4(), None, 1)
    assert counted(alice.workspace) == {"": (1, 1, 0)}
    assert SearchUse.objects.count() == 1


@pytest.mark.usefixtures("still_clock")  # no day ends in it
def test_each_memory_is_counted_by_whom_it_was_served_to(alice: Person, mallory: Person) -> None:
    tea = alice.note("Prefers tea", user_id="ana")
    alice.note("Rust is the language")
    mallory.note("Prefers tea", user_id="ana")
    for _ in range(2):
        alice.finds("tea", user_id="ana")
        stored_metrics.flush()
    mallory.finds("tea")
    stored_metrics.flush()
    row = MemoryUse.objects.get(memory=tea)

    assert (row.memory_id, row.actor, row.times) == (tea.pk, alice.scope.actor, 2)
    assert row.day == timezone.now().date()
    ours = MemoryUse.objects.filter(memory__workspace=alice.workspace)
    assert {each.workspace_id for each in ours} == {alice.workspace.pk}


def test_what_the_server_looks_for_itself_is_served_to_nobody(alice: Person) -> None:
    alice.note("Prefers tea")
    search(worker_scope(alice.workspace.pk), SearchRequest("tea"))
    stored_metrics.flush()

    assert SearchUse.objects.get().results == 1
    assert not MemoryUse.objects.exists()


def test_what_was_served_and_then_erased_is_not_counted(alice: Person) -> None:
    tea = alice.note("Prefers tea")
    alice.finds("tea")
    Memory.objects.filter(pk=tea.pk).delete()
    stored_metrics.flush()

    assert SearchUse.objects.count() == 1
    assert not MemoryUse.objects.exists()


def test_what_waits_to_be_counted_has_an_end(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_counts, "MOST_SERVED", 1)
    served = [alice.note(words).pk for words in ("Prefers tea", "Rust is the language")]
    for memory in served:
        search_counts.count(alice.workspace.pk, None, 1, served=[memory])
    stored_metrics.flush()

    assert [row.memory_id for row in MemoryUse.objects.all()] == served[:1]


def test_old_counts_go_with_the_sweep(workspace: Workspace) -> None:
    used(workspace, 1, days_ago=36)
    used(workspace, 2, days_ago=34)
    memory = MemoryFactory(workspace=workspace)
    for days_ago in (36, 34):
        day = timezone.now().date() - timedelta(days=days_ago)
        MemoryUse.objects.create(workspace=workspace, memory=memory, day=day, times=days_ago)
    sweep.sweep()
    assert SearchUse.objects.get().searches == 2
    assert MemoryUse.objects.get().times == 34


def test_a_query_of_the_local_embedder_is_embedded_once(alice: Person, settings: Settings) -> None:
    index = workspace_index.index_of(alice.workspace.pk)
    settings.QUERY_CACHE_SECONDS = 1000
    for query in ("gate", "gate", "other"):
        query_vectors.vector_of(index, query)
    counts = [one for one in metrics.snapshot() if one.name == "query_vectors"]
    kept = {dict(one.labels)["outcome"]: one.count for one in counts}
    assert kept == {"hit": 1, "miss": 2}
    settings.QUERY_CACHE_SECONDS = 0
    metrics.clear()
    assert query_vectors.vector_of(index, "gate") is not None
    assert metrics.snapshot() == []


def test_no_more_vectors_are_kept_in_a_process_than_are_meant(
    alice: Person, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.QUERY_CACHE_SECONDS = 1000
    monkeypatch.setattr(query_vectors, "PER_PROCESS", 2)
    index = workspace_index.index_of(alice.workspace.pk)
    for query in ("one", "two", "three"):
        query_vectors.vector_of(index, query)
    assert len(query_vectors._local) <= 2


@pytest.mark.usefixtures("still_clock")  # no day ends in it
def test_usage_is_told_by_day_to_admins(alice: Person, mallory: Person) -> None:
    used(alice.workspace, 4, results=8, empty=1)
    used(alice.workspace, 2, days_ago=1)
    used(mallory.workspace, 50)
    metrics.count("query_vectors", outcome="hit", workspace=str(alice.workspace.pk))
    stored_metrics.flush()
    told = caller(alice).get("/usage").body
    assert [row["searches"] for row in told["results"]] == [2, 4]
    assert told["results"][1]["resultsPerSearch"] == 2.0
    assert told["results"][1]["searchesPerUser"] == 0.0
    assert told["queryVectors"] == {"hit": 1}
    today = f"{timezone.now().date().isoformat()}T00:00:00Z"
    assert len(caller(alice).get("/usage", since=today).body["results"]) == 1
    assert len(caller(alice).get("/usage", until=today).body["results"]) == 1
    assert caller(bound_to_agent(alice.workspace, "bot")).get("/usage").status == 403
    theirs = f"//api/v1/workspaces/{alice.workspace.slug}/usage"
    assert caller(mallory).get(theirs).status == 404


@pytest.mark.usefixtures("still_clock")  # no day ends in it
def test_the_page_draws_usage_and_tells_tables_to_the_operator_alone(alice: Person, mallory: Person) -> None:
    owner, page = member(alice.workspace), reverse(PAGE)
    assert "No search in the last 30 days" in owner.sees(page)
    ana = Subject.objects.create(workspace=alice.workspace, external_id="ana")
    day = timezone.now().date()
    SearchUse.objects.create(workspace=alice.workspace, day=day, subject=ana, searches=4, results=8, empty=1)
    used(mallory.workspace, 50)
    html = owner.sees(page)
    assert "<strong>4</strong>a user and day" in html
    assert "<strong>25%</strong>empty answers" in html
    assert "<strong>2</strong>results per search" in html
    assert "Tables of the server" not in html
    assert "memories_memory" in superuser().sees(page)
    assert member(alice.workspace, Role.EDITOR).status(f"{page}?workspace=orchard") == 403
    assert member(mallory.workspace).status(f"{page}?workspace=orchard") == 404
