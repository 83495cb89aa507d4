"""/health/ready and /metrics tell the truth: of the database, the disk, workers and repairs."""

import os
import signal
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings as real
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from memories.meters import health_parts
from memories.models import Document, IndexRepair, MemorySession, WorkerBeat
from memories.queue import workers_seen
from memoryproject.server import machine_health
from tests.desk import list_of, member, page_of, superuser
from tests.factories import SessionFactory
from tests.live_server import wait_for
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _a_server_that_has_run_for_long(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DATA_DIR = tmp_path
    settings.DISK_FREE_MIN_MB = 0
    monkeypatch.setattr(health_parts, "_started", -1e9)
    machine_health._last.clear()


@pytest.fixture
def worker() -> WorkerBeat:
    return beat()


def beat(**given: Any) -> WorkerBeat:
    now = timezone.now()
    values = {"kind": "worker", "host": "here", "pid": 1, "started_at": now, "seen_at": now}
    return WorkerBeat.objects.create(**{**values, **given})


@pytest.fixture
def served_by_the_ordinary_role() -> None:
    """Not here: these tests break, freeze and hide the connection whose role it would be."""


def ready() -> tuple[int, dict[str, dict[str, Any]]]:
    """The status, and the parts by name."""
    answer = Client().get("/health/ready")
    return answer.status_code, {part["name"]: part for part in answer.json()["parts"]}


def metric(name: str) -> float:
    lines = Client().get("/metrics").content.decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"memory_{name}"))


def test_all_is_well_with_a_worker(worker: WorkerBeat) -> None:
    status, found = ready()
    assert status == 200
    assert {name: part["state"] for name, part in found.items()} == dict.fromkeys(
        ("database", "disk", "migrations", "workers", "sessions", "documents", "repair"), "ok"
    )
    assert (metric("workers_alive"), metric("database_up")) == (1, 1)
    assert metric("disk_free_bytes") > 0


def test_without_a_worker_it_is_not_ready() -> None:
    status, found = ready()
    assert (status, found["workers"]["state"]) == (503, "failed")
    assert metric("workers_alive") == 0


@pytest.mark.parametrize("away", [timedelta(minutes=-2), timedelta(days=400)])
def test_a_worker_that_is_not_seen_is_lost(worker: WorkerBeat, away: timedelta) -> None:
    """Also one whose clock was wrong when it was seen last."""
    seen = timezone.now() + away
    WorkerBeat.objects.update(seen_at=seen)
    assert ready()[0] == 503
    beat()
    status, found = ready()
    assert (status, found["workers"]["state"]) == (200, "degraded")


@pytest.mark.parametrize("kind", ["pusher", "guard"])
def test_what_hands_tasks_out_and_hangs_is_told(worker: WorkerBeat, kind: str) -> None:
    beat(kind=kind)
    assert ready()[1]["workers"]["state"] == "ok"
    WorkerBeat.objects.filter(kind=kind).update(seen_at=timezone.now() - timedelta(minutes=3))
    status, found = ready()
    assert (status, found["workers"]["state"]) == (200, "degraded")
    assert found["workers"]["detail"] == f"1 seen, 0 lost; not seen: {kind}"
    assert metric("workers_alive") == 1


def test_since_is_when_the_last_worker_was_seen(worker: WorkerBeat) -> None:
    ready()
    seen = timezone.now() + timedelta(minutes=5)
    WorkerBeat.objects.update(seen_at=seen)
    assert datetime.fromisoformat(ready()[1]["workers"]["since"]) == seen


def test_a_state_that_lasts_keeps_its_time_and_outlives_the_process(worker: WorkerBeat) -> None:
    before = ready()[1]["disk"]["since"]
    machine_health._last.clear()  # as another process would begin
    assert ready()[1]["disk"]["since"] == before


def test_a_process_that_works_is_seen_and_takes_its_row_away() -> None:
    with workers_seen.beating("worker"):
        assert wait_for(lambda: WorkerBeat.objects.filter(pid=os.getpid()).exists())
        assert ready()[0] == 200
    assert not WorkerBeat.objects.exists()


def test_rows_of_processes_that_are_gone_are_cleared() -> None:
    here = os.uname().nodename
    beat(host=here, pid=2**22 + 1), beat(host=here, pid=os.getpid()), beat(host="elsewhere")
    beat(host="elsewhere", seen_at=timezone.now() - timedelta(days=2))
    workers_seen.forget_the_dead()
    assert sorted(WorkerBeat.objects.values_list("host", "pid")) == sorted([(here, os.getpid()), ("elsewhere", 1)])


def test_a_session_that_nobody_takes_up_is_told(worker: WorkerBeat, workspace: Workspace) -> None:
    SessionFactory(workspace=workspace, state=MemorySession.State.RECEIVED)
    long_ago = timezone.now() - timedelta(minutes=10)
    MemorySession.objects.update(created_at=long_ago, next_attempt_at=long_ago)
    status, found = ready()
    assert (status, found["sessions"]["state"]) == (200, "degraded")
    assert "1 wait, the oldest for 60" in found["sessions"]["detail"]
    assert metric("oldest_session_seconds") >= 600


def test_the_oldest_document_that_waits_is_told(worker: WorkerBeat, workspace: Workspace) -> None:
    long_ago = timezone.now() - timedelta(minutes=10)
    waiting = Document(workspace=workspace, visibility="team", next_attempt_at=long_ago)
    waiting.save(force_insert=True)
    status, found = ready()
    assert (status, found["documents"]["state"]) == (200, "degraded")
    assert "1 wait, the oldest for 60" in found["documents"]["detail"]
    assert metric("oldest_document_seconds") >= 600
    Document.objects.update(state="indexing", lease_until=timezone.now() + timedelta(seconds=30))
    assert ready()[1]["documents"]["detail"] == ""


def test_a_repair_is_told_with_its_progress(worker: WorkerBeat, workspace: Workspace) -> None:
    now = timezone.now()
    IndexRepair.objects.create(
        workspace=workspace,
        version=1,
        rows=500,
        done=200,
        seconds=2.0,
        started_at=now,
        updated_at=now,
        next_attempt_at=now,
    )
    status, found = ready()
    assert (status, found["repair"]["state"]) == (200, "degraded")
    assert found["repair"]["detail"] == "1 workspaces, 300 rows to go, 100 a second"
    assert datetime.fromisoformat(found["repair"]["since"]) == now
    assert metric("repair_rows") == 300


def test_a_table_that_is_not_there_yet_is_told(worker: WorkerBeat) -> None:
    last = MigrationRecorder.Migration.objects.latest("pk")
    last.delete()
    try:
        status, found = ready()
    finally:
        last.save()
    assert (status, found["migrations"]["detail"]) == (503, "1 migrations are not applied")
    assert ready()[0] == 200


def test_a_server_that_was_started_anew_is_asked_by_a_new_connection(worker: WorkerBeat) -> None:
    ready()
    with connection.cursor() as cursor:
        cursor.execute("select pg_backend_pid()")
        pid = cursor.fetchone()[0]
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("select pg_terminate_backend(%s, 60000)", [pid])
    assert ready()[0] == 200


def test_too_little_room_is_not_ready(worker: WorkerBeat, settings: Settings) -> None:
    settings.DISK_FREE_MIN_MB = 10**9
    status, found = ready()
    assert (status, found["disk"]["state"]) == (503, "failed")
    settings.DISK_FREE_MIN_MB = 0
    assert ready()[0] == 200


@pytest.fixture
def frozen() -> Iterator[Callable[[], None]]:
    """Stops the server's process of this connection, as a machine that hangs does."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_backend_pid()")
        pid = int(cursor.fetchone()[0])
    yield lambda: os.kill(pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGCONT)


def test_a_database_that_hangs_is_told(worker: WorkerBeat, frozen: Callable[[], None]) -> None:
    assert ready()[0] == 200
    frozen()
    status, found = ready()
    assert (status, found["database"]["state"]) == (503, "failed")
    assert "not answered" in found["database"]["detail"]
    assert set(found) == {"database", "disk"}
    assert ready()[0] == 200  # by another connection: the server itself lives


def test_of_a_database_that_cannot_be_reached_metrics_tell_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", str(real.DATA_DIR / "nowhere"))
    assert (metric("database_up"), metric('part_state{part="database"}')) == (0, 0)
    assert ready()[0] == 503


def test_a_database_that_takes_no_changes_is_not_ready(worker: WorkerBeat) -> None:
    with connection.cursor() as cursor:
        cursor.execute("set default_transaction_read_only = on")
    status, found = ready()
    assert (status, found["database"]["detail"]) == (503, "It is read-only.")
    assert ready()[0] == 200


def test_only_who_runs_the_server_sees_workers_and_repairs(worker: WorkerBeat, workspace: Workspace) -> None:
    now = timezone.now()
    repair = IndexRepair.objects.create(
        workspace=workspace,
        version=1,
        rows=1_500,
        done=200,
        seconds=2.0,
        started_at=now,
        updated_at=now,
        next_attempt_at=now,
    )
    hers = superuser()
    assert "here" in hers.sees(list_of(WorkerBeat))
    told = hers.sees(list_of(IndexRepair))
    assert all(words in told for words in ("Orchard", "running", "1,300", "100"))
    assert [hers.status(page_of(row)) for row in (repair, worker)] == [200, 200]
    for page in map(list_of, (WorkerBeat, IndexRepair)):
        assert member(workspace).status(page) == 403
