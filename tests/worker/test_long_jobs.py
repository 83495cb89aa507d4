"""Long work shows itself: how far it is, an end where it is safe, what came of it; and what is left
of it where its process is killed."""

import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.utils import ProgrammingError
from django.utils import timezone
from pytest_django import Settings

from memories.errors import Conflict
from memories.index import due_vectors, repair
from memories.models import Entry, Erasure, LongJob, SyncRun, Vector, WorkspaceIndex
from memories.privacy import erase
from memories.queue import long_jobs
from memories.queue.long_jobs import NewJob, Stopped
from memories.sources.connections import connection_store, sync
from memories.sources.connections.connection_store import NewConnection
from memories.worker import sweep
from memoryproject.postgres import crossings, visible
from tests.live_server import PATIENCE, wait_for
from tests.ordinary_role import ordinary_role
from tests.people import Person
from workspaces.models import Subject
from workspaces.scope import owner_scope

pytestmark = pytest.mark.django_db(transaction=True)
Kind, State = LongJob.Kind, LongJob.State
HOLDING = """
from memories.queue.long_jobs import NewJob, recorded
from memories.models import LongJob
import time, uuid
with recorded(NewJob(LongJob.Kind.IMPORT, uuid.UUID("{workspace}"), 10)) as job:
    job.advance(4)
    print("begun", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def quick_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_jobs, "EVERY", 0.05)


def run(command: str, *args: str, **options: object) -> str:
    out = StringIO()
    call_command(command, *args, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def the_job() -> LongJob:
    return LongJob.objects.get()


def test_work_tells_how_far_it_is_while_it_goes_on(alice: Person) -> None:
    new = NewJob(Kind.IMPORT, alice.workspace.pk, 200, "messages", "shell")
    with long_jobs.recorded(new) as work:
        work.advance(50)
        assert wait_for(lambda: the_job().done == 50)
        row = the_job()
        assert (row.state, row.share, row.requested_by) == (State.RUNNING, 25, "shell")
        assert row.rate > 0
        assert row.seconds_left == pytest.approx(150 / row.rate)
        work.tell({"stored": 48})
    row = the_job()
    assert (row.state, row.done, row.result) == (State.DONE, 50, {"stored": 48})
    assert row.finished_at is not None


def test_it_is_written_although_the_work_s_own_transaction_is_rolled_back(alice: Person) -> None:
    new = NewJob(Kind.IMPORT, alice.workspace.pk, 10)
    with long_jobs.recorded(new) as work, transaction.atomic():
        work.advance(7)
        assert wait_for(lambda: work.row.pk is not None and _seen_elsewhere() == 7)
        transaction.set_rollback(True)
    assert the_job().done == 7


def _seen_elsewhere() -> int:
    """In another transaction than the work's."""
    seen: list[int] = []

    def look() -> None:
        with crossings.everywhere():
            seen.append(the_job().done)
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return seen[0]


def test_an_error_is_kept_without_the_words_of_others(alice: Person) -> None:
    with (
        pytest.raises(ValueError, match="locker"),
        long_jobs.recorded(NewJob(Kind.IMPORT, alice.workspace.pk, 10)),
    ):
        raise ValueError("My locker's number is 1234")
    assert the_job().state == State.FAILED
    assert "ValueError" in the_job().error
    assert "locker" not in the_job().error


def test_more_than_was_counted_is_no_more_than_all(alice: Person) -> None:
    with long_jobs.recorded(NewJob(Kind.IMPORT, alice.workspace.pk, 10)) as work:
        work.advance(15)
    assert (the_job().total, the_job().share) == (15, 100)


def test_of_an_unknown_number_no_share_is_told(alice: Person) -> None:
    with long_jobs.recorded(NewJob(Kind.REPAIR, alice.workspace.pk, None)) as work:
        work.advance(15)
    assert (the_job().share, the_job().seconds_left) == (None, None)


# ---- an end ---------------------------------------------------------------------------------


def test_another_model_s_vectors_are_cancelled_and_gone_on_with(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a thread of its own, as a second process would; what was made until then stays."""
    for number in range(6):
        alice.tell(f"The barn number {number} is painted green.", user_id="u")
    Vector.objects.all().delete()
    total = Entry.objects.count()
    monkeypatch.setattr("memories.index.reembedding.BATCH", 1)
    held, embed = threading.Event(), due_vectors.embed

    def slowly(*given: object) -> object:
        if Vector.objects.exists():
            held.wait(PATIENCE)
        return embed(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(due_vectors, "embed", slowly)
    ended: list[str] = []

    def work() -> None:
        try:
            # Signals are for the first thread alone.
            monkeypatch.setattr("memories.management.progress.SIGNALS", ())
            run("reembed")
        except CommandError as error:
            ended.append(str(error))
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    assert wait_for(lambda: LongJob.objects.running().filter(done__gt=0).exists())
    long_jobs.cancel(owner_scope(alice.workspace.pk, "test"), the_job())
    # The work hears of it when its row is written next.
    assert _writes(2)
    held.set()
    thread.join(PATIENCE)
    row = the_job()
    assert ended == ["Stopped. The same command goes on from here."]
    assert (row.state, row.cancelled_by, row.error) == (State.CANCELLED, "test", "")
    assert 0 < row.done < total
    assert Vector.objects.values("entry_id").distinct().count() == row.done
    line = alice.workspace.audit_entries.get(action="cancel")
    assert (line.actor, line.target_id) == ("test", row.pk)

    run("reembed")
    run("checkindex")
    newest = LongJob.objects.filter(kind=Kind.EMBEDDING).first()
    assert newest is not None
    assert (newest.state, newest.done) == (State.DONE, total - row.done)


def _writes(number: int) -> bool:
    """So many writes of the row from now on."""
    for _ in range(number):
        before = the_job().updated_at
        if not wait_for(lambda before=before: the_job().updated_at > before):  # type: ignore[misc]
            return False
    return True


def test_a_cancelled_import_keeps_what_was_stored(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("\n\n".join(f"The barn number {n} is painted green." for n in range(5)))
    advance = long_jobs.JobRecorder.advance

    def cancelled_at_once(job: long_jobs.JobRecorder, number: int) -> None:
        long_jobs.cancel(owner_scope(alice.workspace.pk, "test"), job.row)
        assert wait_for(lambda: job.is_cancel_asked)
        advance(job, number)

    with monkeypatch.context() as patched:
        patched.setattr(long_jobs.JobRecorder, "advance", cancelled_at_once)
        with pytest.raises(CommandError, match="goes on from here"):
            run("ingestfile", str(file), user="u", batch=1)
    row = the_job()
    assert (row.state, row.done) == (State.CANCELLED, row.result["stored"])
    assert row.done > 0
    run("ingestfile", str(file), user="u")
    newest = LongJob.objects.first()
    assert newest is not None
    assert (newest.state, newest.result["known"]) == (State.DONE, row.done)


def test_what_must_not_be_left_half_done_is_not_cancelled(alice: Person) -> None:
    scope = owner_scope(alice.workspace.pk, "test")
    for kind in LongJob.SEEN_THROUGH:
        with long_jobs.recorded(NewJob(kind, alice.workspace.pk, 1)) as work:
            with pytest.raises(Conflict, match="cannot be stopped"):
                long_jobs.cancel(scope, work.row)
            work.advance(1)


def test_what_is_over_is_not_cancelled_nor_another_workspace_s(alice: Person, mallory: Person) -> None:
    with (
        long_jobs.recorded(NewJob(Kind.BACKUP, alice.workspace.pk, 1)) as work,
        pytest.raises(Conflict),
    ):
        long_jobs.cancel(owner_scope(mallory.workspace.pk, "test"), work.row)
    with pytest.raises(Conflict):
        long_jobs.cancel(owner_scope(alice.workspace.pk, "test"), work.row)
    assert the_job().state == State.DONE


# ---- a dead process -------------------------------------------------------------------------


def test_the_work_of_a_killed_process_is_given_up_and_says_why(alice: Person) -> None:
    name = connection.settings_dict["NAME"]
    start = (
        "import django; from django.conf import settings;"
        f" settings.DATABASES['default']['NAME'] = {name!r}; django.setup()\n"
    )
    text = start + HOLDING.format(workspace=alice.workspace.pk)
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        assert wait_for(lambda: the_job().done == 4)
        os.kill(process.pid, signal.SIGKILL)
    assert the_job().state == State.RUNNING
    sweep.sweep()
    assert the_job().state == State.RUNNING  # for some minutes it may only be slow
    LongJob.objects.update(updated_at=timezone.now() - LongJob.SILENT - timedelta(seconds=1))
    assert not LongJob.objects.running().exists()
    sweep.sweep()
    row = the_job()
    assert (row.state, row.error, row.done) == (State.FAILED, long_jobs.GONE, 4)
    assert row.finished_at == row.updated_at


def test_what_ended_long_ago_is_forgotten(alice: Person) -> None:
    with long_jobs.recorded(NewJob(Kind.IMPORT, alice.workspace.pk, 1)):
        pass
    LongJob.objects.update(finished_at=timezone.now() - long_jobs.KEPT - timedelta(days=1))
    sweep.sweep()
    assert not LongJob.objects.exists()


# ---- who shows itself -----------------------------------------------------------------------


def test_an_erasure_in_several_turns_is_one_work(alice: Person) -> None:
    for number in range(3):
        alice.tell(f"The barn number {number} is painted green.", user_id="u")
    scope = owner_scope(alice.workspace.pk, "user:x")
    target = erase.target_of(scope, Erasure.Kind.SUBJECT, Subject.objects.get().pk)
    row = erase.request(scope, target)
    erase.run(row.pk, 0.0)
    assert (the_job().state, the_job().item) == (State.RUNNING, row.pk)
    erase.run(row.pk)
    job = the_job()
    assert (job.kind, job.state, job.requested_by) == (Kind.ERASURE, State.DONE, "user:x")
    assert job.done >= job.result["episodes"] == 3


def test_an_erasure_that_is_over_at_once_is_no_long_work(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_jobs, "EVERY", 60.0)
    alice.tell("The barn is painted green.", user_id="u")
    scope = owner_scope(alice.workspace.pk, "user:x")
    row = erase.request(scope, erase.target_of(scope, "subject", Subject.objects.get().pk))
    erase.run(row.pk)
    assert not LongJob.objects.exists()


def test_a_source_that_is_asked_is_shown_and_stopped_between_two_pages(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.CONNECTION_FOLDERS, settings.BLOB_DIR = [str(tmp_path)], tmp_path / "blobs"
    (tmp_path / "notes").mkdir()
    for number in range(5):
        file = tmp_path / "notes" / f"{number}.txt"
        file.write_text(f"The barn number {number} is painted green.")
    new = NewConnection("folder", options={"path": str(tmp_path / "notes")}, minutes=5)
    source, page = connection_store.create(alice.scope, new), sync.Turn.page

    def stopped_after_it(turn: sync.Turn) -> bool:
        page(turn)
        long_jobs.cancel(owner_scope(alice.workspace.pk, "test"), turn.job.row)
        return not wait_for(lambda: turn.job.is_cancel_asked)

    with monkeypatch.context() as patched:
        patched.setattr(sync.Turn, "page", stopped_after_it)
        sync.run(source.runs.get().pk)
    job = the_job()
    assert (job.kind, job.state, job.done) == (Kind.IMPORT, State.CANCELLED, 5)
    assert job.result == {"added": 5}
    assert SyncRun.objects.get().error_code == "stopped"


def test_a_repair_in_slices_is_one_work(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    alice.say("I live in Porto.", user_id="mira")
    monkeypatch.setattr("memories.index.rebuild.BATCH", 1)
    Entry.objects.update(rules=0)
    WorkspaceIndex.objects.update(rules=0)
    repair.begin()
    while repair.run(alice.workspace.pk, 0.0):
        assert the_job().kind == Kind.REPAIR
    job = the_job()
    assert (job.state, job.done) == (State.DONE, job.total)


@pytest.mark.parametrize(
    ("command", "args", "kind"),
    [
        ("reindex", (), Kind.REINDEX),
        ("checkindex", (), Kind.CHECK),
        ("exportworkspace", ("{folder}/orchard.jsonl",), Kind.EXPORT),
        ("backup", ("{folder}",), Kind.BACKUP),
    ],
)
def test_commands_show_themselves(
    alice: Person, tmp_path: Path, command: str, args: tuple[str, ...], kind: str
) -> None:
    alice.tell("The orchard gate is painted green.", user_id="u")
    run(command, *(each.format(folder=tmp_path) for each in args))
    job = the_job()
    assert (job.kind, job.state, job.requested_by) == (kind, State.DONE, "shell")
    assert job.workspace_id == (None if kind == Kind.BACKUP else alice.workspace.pk)
    assert job.done > 0
    assert job.result


def test_a_failed_backup_says_why(alice: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memoryproject.postgres.backups.run", broken)
    with pytest.raises(CommandError, match="No space left"):
        run("backup", str(tmp_path / "backup"))
    assert (the_job().state, the_job().error) == (State.FAILED, "No space left on device")


# ---- walls ----------------------------------------------------------------------------------


def test_the_database_shows_the_server_s_work_to_who_sees_everywhere_alone(alice: Person, mallory: Person) -> None:
    for workspace_id in (alice.workspace.pk, mallory.workspace.pk, None):
        with long_jobs.recorded(NewJob(Kind.EXPORT, workspace_id, 1)):
            pass
    with ordinary_role():
        with visible.only(alice.workspace.pk):
            assert [job.workspace_id for job in LongJob.objects.all()] == [alice.workspace.pk]
            with pytest.raises(ProgrammingError, match="row-level security"):
                LongJob.objects.create(kind=Kind.BACKUP, unit="rows", requested_by="x")
        with visible.only():
            assert not LongJob.objects.exists()
        with crossings.everywhere():
            assert LongJob.objects.count() == 3


def test_stopping_by_the_work_itself_is_a_cancelling(alice: Person) -> None:
    with pytest.raises(Stopped), long_jobs.recorded(NewJob(Kind.IMPORT, alice.workspace.pk, 1)):
        raise Stopped
    assert the_job().state == State.CANCELLED
