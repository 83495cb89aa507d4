"""Long work in the browser: whose it is, who may end it, what the corner of every page hears."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse, reverse_lazy
from django.utils import timezone

from memories.admin.server.long_job_admin import pace
from memories.meters.stored_metrics import gauges
from memories.models import Erasure, LongJob
from tests.desk import Desk, list_of, member, messages_of, page_of, superuser
from workspaces.models import Role, Workspace

Kind, State = LongJob.Kind, LongJob.State


def job_of(workspace: Workspace | None, kind: str = Kind.IMPORT, **values: Any) -> LongJob:
    about = {"unit": "messages", "total": 200, "done": 50, "seconds": 10.0, "requested_by": "shell"}
    return LongJob.objects.create(workspace=workspace, kind=kind, **(about | values))


def over(workspace: Workspace | None, state: str = State.DONE, **values: Any) -> LongJob:
    return job_of(workspace, state=state, finished_at=timezone.now(), **values)


def running(desk: Desk) -> list[dict[str, Any]]:
    answer = desk.client.get(reverse("admin:memories_running"))
    assert answer.status_code == 200
    return list(answer.json()["jobs"])


@pytest.fixture
def mallory(db: None) -> Desk:
    return member(Workspace.objects.create(slug="swamp", name="Swamp"))


def test_the_list_tells_how_far_work_is_and_how_long_it_takes_yet(workspace: Workspace) -> None:
    job = job_of(workspace)
    html = member(workspace).sees(list_of(LongJob))
    assert pace(job) == "50 of 200 messages, 5 a second, 30 s left"
    assert pace(job) in html
    assert 'value="25"' in html


def test_what_came_of_it_stays(workspace: Workspace) -> None:
    over(workspace, result={"stored": 48, "known": 2})
    over(workspace, State.FAILED, error="No space left on device")
    html = member(workspace).sees(list_of(LongJob))
    assert "2 known, 48 stored" in html
    assert "No space left on device" in html


def test_an_empty_list_says_what_will_stand_there(workspace: Workspace) -> None:
    assert "Nothing long was done yet" in member(workspace).sees(list_of(LongJob))


def test_an_owner_sees_the_work_of_the_own_workspace_and_an_outsider_none(workspace: Workspace, mallory: Desk) -> None:
    job, alice = job_of(workspace), member(workspace)
    assert [each["id"] for each in running(alice)] == [str(job.pk)]
    assert running(mallory) == []
    assert mallory.status(page_of(job)) == 404
    assert mallory.does(job, "cancel").status_code == 404
    assert "Import" in alice.sees(page_of(job))


def test_the_server_s_work_is_for_who_sees_everywhere(workspace: Workspace) -> None:
    job, alice, root = job_of(None, Kind.BACKUP), member(workspace), superuser()
    assert running(alice) == []
    assert alice.status(page_of(job)) == 404
    assert [each["title"] for each in running(root)] == ["Backup"]
    assert "the whole server" in root.sees(page_of(job))
    root.does(job, "cancel")
    job.refresh_from_db()
    assert job.cancelled_by == f"user:{root.user.pk}"


def test_an_owner_cancels_and_the_audit_says_so(workspace: Workspace) -> None:
    job, alice = job_of(workspace), member(workspace)
    assert "ends after what it is at" in messages_of(alice.does(job, "cancel"))
    job.refresh_from_db()
    assert (job.state, job.cancelled_by) == (State.RUNNING, f"user:{alice.user.pk}")
    assert workspace.audit_entries.get().action == "cancel"
    html = alice.sees(page_of(job))
    assert "has stopped it" in html
    assert "/do/cancel/" not in html
    assert running(alice)[0]["state"] == "ending"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_who_does_not_administer_looks_on_and_cancels_nothing(workspace: Workspace, role: str) -> None:
    job, victor = job_of(workspace), member(workspace, role)
    assert "/do/" not in victor.sees(page_of(job))
    assert victor.does(job, "cancel").status_code == 403
    assert len(running(victor)) == 1


def test_erasures_are_for_who_administers(workspace: Workspace) -> None:
    certificate = Erasure.objects.create(workspace=workspace, kind="subject", target_id=workspace.pk, requested_by="x")
    job = job_of(workspace, Kind.ERASURE, item=certificate.pk)
    victor = member(workspace, Role.VIEWER)
    assert running(victor) == []
    assert victor.status(page_of(job)) == 404
    html = member(workspace).sees(page_of(job))
    assert page_of(certificate) in html
    assert "cannot be stopped" in html
    assert "/do/cancel/" not in html


def test_what_is_over_or_silent_is_not_cancelled(workspace: Workspace) -> None:
    alice, silent = member(workspace), job_of(workspace)
    LongJob.objects.update(updated_at=timezone.now() - LongJob.SILENT)
    for job in (silent, over(workspace)):
        assert "/do/cancel/" not in alice.sees(page_of(job))
        assert "over, or cannot be stopped" in messages_of(alice.does(job, "cancel"))
    assert "not heard of for minutes" in alice.sees(page_of(silent))
    assert [each["running"] for each in running(alice)] == [False]


def test_every_page_says_whether_something_runs_without_a_query_more(workspace: Workspace) -> None:
    alice, home = member(workspace), reverse("admin:index")
    assert 'data-running="0"' in alice.sees(home)
    with CaptureQueriesContext(connection) as before:
        alice.sees(home)
    for _ in range(3):
        job_of(workspace)
    with CaptureQueriesContext(connection) as after:
        assert 'data-running="3"' in alice.sees(home)
    assert len(after) == len(before)
    assert sum("memories_longjob" in each["sql"] for each in after.captured_queries) == 1


def test_list_and_page_take_few_queries(workspace: Workspace) -> None:
    jobs, alice = [job_of(workspace) for _ in range(50)], member(workspace)
    for page in (list_of(LongJob), page_of(jobs[0]), reverse("admin:memories_running")):
        with CaptureQueriesContext(connection) as asked:
            alice.sees(page)
        assert len(asked) < 20, page


BACKUPS = reverse_lazy("admin:memories_backups")


def test_who_administers_the_server_sees_when_it_was_backed_up(workspace: Workspace) -> None:
    root = superuser()
    told = {"in": "/mnt/nightly", "folder": "memory-20260101T000000Z", "bytes": 2048}
    first = root.sees(BACKUPS)
    assert "No backup is remembered here." in first
    assert f"MEMORY_DATA_DIR={settings.DATA_DIR} python3 {settings.BASE_DIR}/manage.py backup /srv/backups" in first
    job = over(None, kind=Kind.BACKUP, unit="rows", result=told)
    html = root.sees(BACKUPS)
    assert "2.0\xa0KB" in html
    assert "restore /mnt/nightly/memory-20260101T000000Z --check" in html
    assert "restore /mnt/nightly/memory-20260101T000000Z --replace --yes" in html
    assert "Take one at least" not in html
    LongJob.objects.update(created_at=timezone.now() - timedelta(days=9))
    assert "Take one at least" in root.sees(BACKUPS)
    LongJob.objects.filter(pk=job.pk).update(state=State.FAILED, error="No space left on device")
    assert "No backup is remembered here." in root.sees(BACKUPS)
    assert "No space left on device" in root.sees(BACKUPS)


def test_backups_are_nobody_else_s(workspace: Workspace, mallory: Desk) -> None:
    for desk in (member(workspace), mallory):
        assert desk.client.get(BACKUPS).status_code == 403


def test_the_age_of_the_newest_backup_is_a_figure_to_be_alerted_by(workspace: Workspace) -> None:
    def ages() -> list[float]:
        return [each.value for each in gauges() if each.name == "backup_age_seconds"]

    over(None, State.FAILED, kind=Kind.BACKUP, unit="rows", error="No space left on device")
    assert ages() == []
    over(None, kind=Kind.BACKUP, unit="rows")
    LongJob.objects.update(created_at=timezone.now() - timedelta(days=3))
    assert ages() == [pytest.approx(3 * 86400, abs=60)]
