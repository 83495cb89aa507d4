"""The audit log is a chain: what is changed, removed or put in by hand is found."""

import json
import threading
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction
from django.db.utils import ProgrammingError
from django.utils import timezone

from memories.masks import blank
from memories.sweep import sweep
from memoryproject.postgres import visible
from tests.factories import AuditEntryFactory
from tests.live_server import PATIENCE
from tests.ordinary_role import ordinary_role
from tests.people import Person
from workspaces import audit_chain
from workspaces.models import AuditEntry, AuditMark, Workspace, erasing_audit
from workspaces.models.workspace import first_uuid7

pytestmark = pytest.mark.django_db


@pytest.fixture
def chained(workspace: Workspace) -> Workspace:
    """Five lines, each with its place."""
    for number in range(5):
        AuditEntryFactory(workspace=workspace, reason=f"reason {number}", after={"n": number})
    audit_chain.extend(workspace.pk)
    return workspace


def faults(workspace: Workspace, *expected: tuple[int, str]) -> list[str]:
    return audit_chain.check(workspace.pk, expected).faults


def line(workspace: Workspace, place: int) -> AuditEntry:
    mark = AuditMark.objects.get(workspace=workspace, position=place)
    return AuditEntry.objects.get(pk=mark.line_id)


def test_a_line_gets_its_place_by_the_sweep_and_keeps_it(workspace: Workspace):
    AuditEntryFactory.create_batch(3, workspace=workspace)
    assert sweep().marks == 1
    first = list(AuditMark.objects.order_by("position").values_list("position", "line_id"))
    AuditEntryFactory(workspace=workspace)
    assert sweep().marks == 1
    assert sweep().marks == 0
    places = list(AuditMark.objects.order_by("position").values_list("position", "line_id"))
    assert places[: len(first)] == first
    assert [place for place, _ in places] == list(range(1, len(places) + 1))
    assert faults(workspace) == []


@pytest.mark.parametrize(
    ("act", "fault"),
    [
        (lambda row: AuditEntry.objects.filter(pk=row.pk).update(after={"n": 9}), "were changed"),
        (lambda row: AuditEntry.objects.filter(pk=row.pk).update(actor="x"), "does not follow"),
        (lambda row: AuditEntry.objects.filter(pk=row.pk).delete(), "was removed"),
        (lambda row: AuditEntry.objects.filter(pk=row.pk).update(salt=None), "were changed"),
        (lambda row: AuditMark.objects.filter(line_id=row.pk).delete(), "3 to 3 are missing"),
        (lambda row: AuditMark.objects.filter(line_id=row.pk).update(mark=b"x"), "does not follow"),
        (
            lambda row: AuditEntry.objects.filter(pk=row.pk).update(after=None, reason=""),
            "were changed",
        ),
    ],
    ids=["values", "actor", "line", "salt", "mark gone", "mark", "blanked but for the salt"],
)
def test_what_was_changed_or_removed_is_told(
    chained: Workspace, act: Callable[[AuditEntry], object], fault: str
):
    with erasing_audit():
        act(line(chained, 3))
    assert any(fault in each for each in faults(chained)), faults(chained)


def test_a_line_that_was_put_in_is_told(chained: Workspace):
    past = first_uuid7(timezone.now() - timedelta(days=1))
    AuditEntryFactory(workspace=chained, id=past)
    assert audit_chain.extend(chained.pk) == 0
    assert faults(chained) == [f"line {past} was put in: it has no place"]


def test_a_line_of_a_slow_transaction_finds_its_place(chained: Workspace):
    AuditEntryFactory(workspace=chained, id=first_uuid7(timezone.now() - timedelta(minutes=5)))
    assert audit_chain.due_workspaces() == [chained.pk]
    assert audit_chain.extend(chained.pk) == 1
    assert faults(chained) == []


def test_what_was_cut_off_at_the_end_is_told_to_who_kept_the_last_mark(chained: Workspace):
    report = audit_chain.check(chained.pk)
    kept = (report.position, report.mark)
    assert faults(chained, kept) == []
    last = line(chained, report.position)
    with erasing_audit():
        AuditMark.objects.filter(line_id=last.pk).delete()
        last.delete()
    assert faults(chained) == []
    assert faults(chained, kept) == [f"place {report.position}: was cut off"]
    AuditEntryFactory(workspace=chained)
    audit_chain.extend(chained.pk)
    [fault] = faults(chained, kept)
    assert "is not the line that had this place" in fault


def test_what_is_erased_leaves_a_digest_that_tells_nothing_and_a_chain_that_holds(
    chained: Workspace,
):
    row = line(chained, 2)
    before = AuditMark.objects.get(line_id=row.pk)
    with ordinary_role(), visible.only(chained.pk):
        assert blank(AuditEntry.objects.filter(pk=row.pk)) == 1
    row.refresh_from_db()
    assert (row.salt, row.reason, row.before, row.after) == (None, "", None, None)
    after = AuditMark.objects.get(line_id=row.pk)
    assert (after.values_hash, after.mark) == (before.values_hash, before.mark)
    report = audit_chain.check(chained.pk)
    assert (report.emptied, report.faults) == (1, [])


@pytest.mark.parametrize("act", ["update {} set position = 1", "delete from {}"])
def test_the_role_that_serves_only_adds(chained: Workspace, act: str):
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with ordinary_role(), visible.only(chained.pk), connection.cursor() as cursor:
        with refused, transaction.atomic():
            cursor.execute(act.format("workspaces_auditmark"))
        AuditEntryFactory(workspace=chained)
        assert audit_chain.extend(chained.pk) == 1


@pytest.mark.django_db(transaction=True)
def test_writers_at_once_do_not_fork_the_chain_nor_wait_for_it(alice: Person):
    started, errors = threading.Barrier(4), []

    def write() -> None:
        try:
            started.wait(60)
            for _ in range(10):
                AuditEntryFactory(workspace=alice.workspace)
                audit_chain.extend(alice.workspace.pk)
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert errors == []
    audit_chain.extend(alice.workspace.pk)
    report = audit_chain.check(alice.workspace.pk)
    assert report.faults == []
    assert report.position == AuditEntry.objects.filter(workspace=alice.workspace).count()
    with transaction.atomic():  # one that takes long holds up nobody: there is no lock to take
        AuditEntryFactory(workspace=alice.workspace)
        thread = threading.Thread(target=lambda: (write_one(alice), connections.close_all()))
        thread.start()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def write_one(alice: Person) -> None:
    AuditEntryFactory(workspace=alice.workspace)
    audit_chain.extend(alice.workspace.pk)


def test_the_command_tells_lines_marks_and_faults(
    chained: Workspace, mallory: Person, capsys: pytest.CaptureFixture[str]
):
    call_command("checkaudit", "--workspace", chained.slug)
    shown = capsys.readouterr().out
    kept = shown.splitlines()[1].strip()
    assert kept.startswith(f"{chained.slug}:")
    assert mallory.workspace.slug not in shown
    call_command("checkaudit", "--expect", kept, "--json")
    told = json.loads(capsys.readouterr().out)["workspaces"]
    assert told[chained.slug]["faults"] == []
    assert mallory.workspace.slug in told
    with erasing_audit():
        AuditEntry.objects.filter(pk=line(chained, 1).pk).update(reason="another")
    with pytest.raises(CommandError, match="1 faults"):
        call_command("checkaudit")
    assert "FAULT place 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--expect", "acme"], "must be a line that this command printed"),
        (["--expect", f"nowhere:1:{'0' * 64}"], "There is no workspace 'nowhere'"),
    ],
)
def test_what_it_cannot_expect_is_refused(chained: Workspace, words: list[str], why: str):
    with pytest.raises(CommandError, match=why):
        call_command("checkaudit", *words)


def test_a_line_of_nobodys_workspace_is_not_seen(chained: Workspace):
    with ordinary_role(), visible.only(uuid.uuid4()):
        assert audit_chain.due_workspaces() == []
        assert audit_chain.check(chained.pk).position == 0
