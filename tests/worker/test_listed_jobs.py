"""No row of the database names code: the worker runs jobs of one list, sweeps once a minute by its
own clock, and nobody reads what a table holds as a pickle."""

import base64
import pickle
import queue
import re
import threading
from collections.abc import Callable
from datetime import timedelta
from multiprocessing import Value
from pathlib import Path
from typing import Any

import pytest
from django.db import close_old_connections, connection, transaction
from django.db.utils import ProgrammingError
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ, Schedule, Task
from django_q.signing import BadSignature, SignedPackage
from django_q.tasks import async_task
from django_q.worker import worker

from memories.management.commands import work
from memories.meters import stored_metrics
from memories.models import PostedJob
from memories.queue import outbox
from memories.worker import sweep, tasks
from tests.api_fixtures import caller
from tests.desk import list_of, superuser
from tests.ordinary_role import ordinary_role
from tests.people import Person
from workspaces.models import Subject

ROOT = Path(__file__).parents[2]


class Planted:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return Path.mkdir, (self.folder,)  # type: ignore[return-value]  # a path for a str


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    return tmp_path / "it ran"


def ran(task: dict[str, Any]) -> dict[str, Any]:
    """What a process of the pool makes of a task that it was handed."""
    handed: queue.Queue[Any] = queue.Queue()
    results: queue.Queue[Any] = queue.Queue()
    for each in (task, "STOP"):
        handed.put(each)
    worker(work.ListedTasks(handed), results, Value("f", -1), 60)  # type: ignore[arg-type]
    result: dict[str, Any] = results.get_nowait()
    return result


def posted() -> dict[str, Any]:
    """The one task of the queue, as the pusher hands it on."""
    row = OrmQ.objects.get()
    return {**SignedPackage.loads(row.payload), "ack_id": row.pk, "cluster": "memoryproject"}


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["django_q_schedule", "django_q_task"])
@pytest.mark.parametrize(
    "text",
    [
        "insert into {} (name, func) values ('x', 'os.system')",
        "update {} set func = 'os.system'",
        "select 1 from {}",
        "delete from {}",
    ],
)
def test_the_role_that_serves_has_no_right_to_rows_that_name_code(table: str, text: str) -> None:
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with ordinary_role(), refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(text.format(table))


@pytest.mark.django_db
def test_a_schedule_in_the_table_runs_nothing(flag: Path) -> None:
    Schedule.objects.create(func="os.mkdir", args=repr(str(flag)), schedule_type=Schedule.ONCE)
    with ordinary_role():
        work.tend_queue()
    assert posted()["func"] == "memories.worker.tasks.sweep"
    assert not flag.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["os.mkdir", "memories.worker.tasks.uuid.uuid4", "memories.worker.sweep.sweep"])
def test_a_task_that_names_no_listed_job_is_not_run(flag: Path, name: str) -> None:
    async_task(name, str(flag), hook="os.mkdir")
    done = ran(posted())
    assert not done["success"]
    assert f"'{name}' is no job of this server's" in done["result"]
    assert not flag.exists()


@pytest.mark.django_db
def test_a_task_that_brings_its_code_along_is_not_run(flag: Path) -> None:
    async_task(Path.mkdir, flag)
    assert not ran(posted())["success"]
    assert not flag.exists()


@pytest.mark.django_db
def test_of_a_finished_task_nothing_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    outbox.post("sweep")
    results: queue.Queue[Any] = queue.Queue()
    for each in ({**posted(), "success": False, "result": "it broke"}, "STOP"):
        results.put(each)
    with ordinary_role():
        work.acknowledge(results)
    assert (OrmQ.objects.count(), Task.objects.count()) == (0, 0)
    assert "Failed 'sweep' - it broke" in caplog.text


def test_every_job_that_is_posted_is_listed() -> None:
    places = [*ROOT.glob("memories/**/*.py"), *ROOT.glob("memoryproject/**/*.py")]
    text = "\n".join(path.read_text() for path in places)
    named = set(re.findall(r"""\bpost(?:_each_minute)?\(\s*"(\w+)\"""", text))
    assert len(named) > 8
    assert {f"memories.worker.tasks.{name}" for name in named} <= tasks.JOBS.keys()


@pytest.mark.django_db
def test_a_planted_pickle_is_unpickled_by_nobody(alice: Person, flag: Path) -> None:
    alice.tell("I keep bees.", user_id="ada")
    words = base64.b64encode(pickle.dumps(Planted(flag))).decode()
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into django_q_task (id, name, func, args, kwargs, result, started, stopped,"
            " success, attempt_count)"
            " values ('a', 'a', 'a', %(w)s, %(w)s, %(w)s, now(), now(), false, 1)",
            {"w": words},
        )
        # The queue the role may write: what it puts there lacks the server's signature.
        cursor.execute(
            "insert into django_q_ormq (key, payload, lock) values ('memoryproject', %s, now())",
            [f"{words}:{words}"],
        )
    planted = OrmQ.objects.get()
    subject = Subject.objects.get(external_id="ada")
    assert caller(alice).delete(f"/subjects/{subject.pk}").status == 200
    desk = superuser()
    desk.sees(list_of(OrmQ))
    assert "BadSignature" in desk.sees(reverse("admin:django_q_ormq_change", args=[planted.pk]))
    for gone in ("failure", "success", "schedule"):
        assert desk.status(f"/admin/django_q/{gone}/") == 404
    outbox.waiting()
    stored_metrics.gauges()
    sweep.sweep()
    with pytest.raises(BadSignature):
        SignedPackage.loads(planted.payload)
    assert not flag.exists()
    pickle.loads(base64.b64decode(words))
    assert flag.exists()  # it would have shown


@pytest.mark.django_db
def test_a_sweep_is_posted_once_a_minute() -> None:
    with ordinary_role():
        assert [outbox.post_each_minute("sweep") for _ in range(3)] == [True, False, False]
        assert OrmQ.objects.count() == 1
        PostedJob.objects.update(posted_at=timezone.now() - timedelta(minutes=1))
        assert [outbox.post_each_minute("sweep") for _ in range(2)] == [True, False]
    assert OrmQ.objects.count() == 2
    assert posted_names() == {"memories.worker.tasks.sweep"}


def posted_names() -> set[str]:
    return {row.task["func"] for row in OrmQ.objects.all()}


@pytest.mark.django_db(transaction=True)
def test_of_many_processes_one_posts_the_sweep() -> None:
    at_once = threading.Barrier(6)
    told: list[bool] = []

    def post() -> None:
        at_once.wait(30)
        try:
            told.append(outbox.post_each_minute("sweep"))
        finally:
            connection.close()

    threads = [threading.Thread(target=post) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    close_old_connections()
    assert sorted(told) == [*[False] * 5, True]
    assert OrmQ.objects.count() == 1
