"""`/metrics`: what several processes counted adds up, and names nobody."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from memories import metrics
from memories.meters import stored_metrics
from memories.metrics import BOUNDS
from memories.models import Figure
from tests.api_fixtures import caller
from tests.factories import SessionFactory, SupersessionFactory
from tests.people import Person
from workspaces.models import Workspace


@pytest.fixture(autouse=True)
def _nothing_counted_before() -> Iterator[None]:
    metrics.clear()
    yield
    metrics.clear()


def scraped(**headers: str) -> dict[str, float]:
    """The samples by name with labels."""
    answer = Client().get("/metrics", headers=headers)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in answer.content.decode().splitlines() if line[:1] != "#"]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_a_request_is_counted_by_its_route(alice: Person) -> None:
    caller(alice).call("GET", "/memories")
    name = 'memory_requests_seconds_count{method="GET",route="api/v1/workspaces/<str:workspace>/memories",status="200"}'

    assert scraped()[name] == 1


def test_a_search_is_counted_with_its_time(alice: Person) -> None:
    alice.note("Prefers tea")
    alice.ask("tea")
    found = scraped()

    assert found['memory_searches_seconds_count{ranking="hybrid"}'] == 1
    assert found['memory_searches_seconds_sum{ranking="hybrid"}'] > 0
    assert found['memory_searches_seconds_bucket{le="+Inf",ranking="hybrid"}'] == 1


def test_counts_of_two_processes_add_up(workspace: Workspace) -> None:
    for seconds in (0.001, 0.2):  # each flush is what another process would do
        metrics.count("searches", seconds, ranking="linea", workspace=str(workspace.pk))
        stored_metrics.flush()
    found = scraped()

    assert found['memory_searches_seconds_count{ranking="linea"}'] == 2
    assert found['memory_searches_seconds_bucket{le="0.001",ranking="linea"}'] == 1
    assert found['memory_searches_seconds_bucket{le="0.25",ranking="linea"}'] == 2


@pytest.mark.django_db(transaction=True)
def test_threads_that_flush_at_once_lose_nothing() -> None:
    def work() -> None:
        for _ in range(10):
            metrics.count("reranks", outcome="ok")
            metrics.count("reranks", outcome="failed")
            stored_metrics._flush_aside()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [row.count for row in stored_metrics.totals()] == [40, 40]


def test_no_workspace_and_no_content_is_named(alice: Person) -> None:
    alice.note("Prefers tea")
    alice.ask("tea")
    caller(alice).call("GET", "/memories")
    text = Client().get("/metrics").content.decode()

    for secret in (str(alice.workspace.pk), alice.workspace.slug, "tea"):
        assert secret not in text


def test_what_waits_is_read_from_the_rows(workspace: Workspace) -> None:
    SessionFactory(workspace=workspace, state="dead")
    SessionFactory(workspace=workspace, state="received")
    SupersessionFactory(workspace=workspace)
    found = scraped()

    assert found['memory_sessions{state="dead"}'] == 1
    assert found['memory_sessions{state="received"}'] == 1
    assert found["memory_supersessions_pending"] == 1
    assert found["memory_queue_tasks"] == 0


def test_a_token_closes_it(db: None, settings: Settings) -> None:
    settings.METRICS_TOKEN = "a long token"

    assert Client().get("/metrics").status_code == 401
    assert Client().get("/metrics", headers={"authorization": "Bearer no"}).status_code == 401
    assert scraped(authorization="Bearer a long token")
    shown = {"authorization": "Bearer a long token"}
    elsewhere = Client().get("/metrics", headers=shown, REMOTE_ADDR="203.0.113.7")
    assert elsewhere.status_code == 200


def test_unknown_methods_and_paths_make_no_new_labels(db: None) -> None:
    client = Client()
    client.generic("EVIL", "/api/v1/somewhere")
    client.get("/api/v1/elsewhere")
    counted = [dict(one.labels) for one in metrics.snapshot()]

    assert [(one["method"], one["route"]) for one in counted] == [
        ("GET", "api/<path:rest>"),
        ("other", "api/<path:rest>"),
    ]


def test_series_tell_one_workspace_from_another(workspace: Workspace) -> None:
    metrics.count("searches", 0.003, ranking="hybrid", workspace=str(workspace.pk))
    metrics.count("searches", 2.0, ranking="hybrid", workspace=str(Workspace().pk))
    stored_metrics.flush()
    since = timezone.now() - timedelta(hours=1)
    found = stored_metrics.series("searches", since, timedelta(minutes=10), workspaces=[workspace.pk], label="ranking")

    [point] = found["hybrid"]
    assert point.count == 1
    assert point.quantile(0.95) == pytest.approx(0.003, abs=0.001)


def test_quantiles_lie_within_their_bucket() -> None:
    buckets = [0] * (len(BOUNDS) + 1)
    buckets[3], buckets[-1] = 99, 1

    assert 0.002 < (stored_metrics.quantile(buckets, 0.5) or 0) <= 0.003
    assert stored_metrics.quantile(buckets, 0.999) == BOUNDS[-1]
    assert stored_metrics.quantile([], 0.5) is None


def test_old_figures_go_and_the_sums_since_ever_stay(db: None) -> None:
    metrics.count("reranks", outcome="ok")
    stored_metrics.flush()
    Figure.objects.exclude(span=Figure.Span.EVER).update(at=timezone.now() - timedelta(days=91))

    assert stored_metrics.prune() == 2
    assert [row.count for row in stored_metrics.totals()] == [1]


def test_what_cannot_be_written_is_counted_later(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(rows: object) -> None:
        raise DatabaseError("away")

    metrics.count("reranks", outcome="ok")
    with monkeypatch.context() as patched:
        patched.setattr(stored_metrics, "add_figures", away)
        with pytest.raises(DatabaseError):
            stored_metrics.flush()
    stored_metrics.flush()

    assert [row.count for row in stored_metrics.totals()] == [1]


def test_the_bell_rings_after_something_was_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rung = threading.Event()
    monkeypatch.setattr(metrics, "PAUSE", 0.01)
    monkeypatch.setattr(metrics, "_bell", rung.set)
    metrics.count("reranks", outcome="ok")

    assert rung.wait(60)


@pytest.mark.parametrize(
    "meta",
    [
        {"REMOTE_ADDR": "203.0.113.7"},
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"REMOTE_ADDR": "::ffff:203.0.113.7"},
        {"REMOTE_ADDR": ""},
    ],
)
def test_without_a_token_other_machines_are_refused(db: None, meta: dict[str, str]) -> None:
    answer = Client().get("/metrics", **meta)

    assert answer.status_code == 403
    assert "METRICS_TOKEN" in answer.json()["detail"]


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_without_a_token_this_machine_reads(db: None, address: str) -> None:
    assert Client().get("/metrics", REMOTE_ADDR=address).status_code == 200
