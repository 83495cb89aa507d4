"""The audit log is a chain: what is changed, removed or put in by hand is found."""

import json
import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction
from django.db.utils import ProgrammingError
from django.utils import timezone

from memories.models import Memory
from memories.privacy.masks import blank
from memories.worker.sweep import sweep
from memoryproject.postgres import administrators, crossings, visible
from memoryproject.server.first_run import first_run
from tests.factories import AuditEntryFactory
from tests.live_server import PATIENCE
from tests.ordinary_role import ordinary_role
from tests.people import Person
from workspaces.audit import audit_chain, audit_signature
from workspaces.models import (
    AuditEntry,
    AuditMark,
    AuditSeal,
    Workspace,
    WorkspaceRemoval,
    erasing_audit,
)
from workspaces.models.workspace import first_uuid7, uuid7
from workspaces.new_workspace import NewWorkspace, create_workspace

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
def test_what_was_changed_or_removed_is_told(chained: Workspace, act: Callable[[AuditEntry], object], fault: str):
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


def test_what_was_cut_off_at_the_end_is_told_to_who_kept_nothing(chained: Workspace):
    report = audit_chain.check(chained.pk)
    last = line(chained, report.position)
    with erasing_audit():
        AuditMark.objects.filter(line_id=last.pk).delete()
        last.delete()
    assert faults(chained) == [f"place {report.position}: was cut off"]
    assert faults(chained, (report.position, report.mark)) == faults(chained)
    AuditEntryFactory(workspace=chained)
    audit_chain.extend(chained.pk)
    [fault] = faults(chained)
    assert "is not the line that had this place" in fault
    AuditEntryFactory.create_batch(3, workspace=chained)
    audit_chain.extend(chained.pk)  # what has grown over it is not signed either
    assert faults(chained) == [fault]


def removed_by_hand(workspace: Workspace) -> None:
    """As whoever owns the database removes all of a log."""
    with erasing_audit():
        AuditMark.objects.filter(workspace=workspace).delete()
        AuditEntry.objects.filter(workspace=workspace).delete()


def test_a_log_that_was_emptied_or_begun_anew_is_told(chained: Workspace):
    report = audit_chain.check(chained.pk)
    removed_by_hand(chained)
    cut = f"place {report.position}: was cut off"
    assert faults(chained) == ["there is no line with a place: not even that of its creation", cut]
    AuditEntry.line(chained.pk, "user:forged", "create_workspace", chained).save()
    audit_chain.extend(chained.pk)
    assert faults(chained) == [cut]
    AuditSeal.objects.filter(workspace_id=chained.pk).delete()  # its copy lies outside of the tables
    audit_chain.extend(chained.pk)
    assert faults(chained) == [cut]
    with pytest.raises(CommandError, match="faults"):
        call_command("checkaudit", "--workspace", chained.slug)


def test_a_seal_that_was_written_by_hand_is_told(chained: Workspace):
    AuditSeal.objects.filter(workspace_id=chained.pk).update(position=1, number=99)
    [fault] = faults(chained)
    assert fault == "the seal of place 1 was not made with this server's SECRET_KEY"


def test_a_log_that_does_not_begin_with_its_workspace_is_told(workspace: Workspace):
    Workspace.objects.filter(pk=workspace.pk).update(created_at=timezone.now() - timedelta(hours=1))
    assert faults(workspace) == ["there is no line with a place: not even that of its creation"]
    AuditEntryFactory(workspace=workspace)
    audit_chain.extend(workspace.pk)
    assert faults(workspace) == ["the first line is not that of its creation"]


def test_every_way_to_a_workspace_writes_that_it_was_created(db: None):
    made = create_workspace(NewWorkspace("meadow", "Meadow"), actor="test").workspace
    first = first_run()
    assert first is not None
    for workspace in (made, Workspace.objects.get(slug=first.workspace)):
        actions = AuditEntry.objects.filter(workspace=workspace).order_by("id")
        assert actions.values_list("action", flat=True)[0] == "create_workspace"


def test_another_secret_key_is_told_and_a_mark_that_was_kept_proves_the_log(chained: Workspace, settings: Any):
    report = audit_chain.check(chained.pk)
    settings.SECRET_KEY = "another one"
    with connection.cursor() as cursor:
        administrators.make_keys(cursor)  # as the next start does
    AuditEntryFactory(workspace=chained)
    audit_chain.extend(chained.pk)
    assert set(faults(chained)) == {f"the seal of place {report.position} was not made with this server's SECRET_KEY"}
    assert faults(chained, (report.position, "0" * 64)) != []
    assert faults(chained) != []
    earlier = AuditMark.objects.get(workspace=chained, position=report.position - 1)
    # It proves nothing of what was sealed after it.
    assert faults(chained, (earlier.position, bytes(earlier.mark).hex())) != []
    assert faults(chained) != []
    assert faults(chained, (report.position, report.mark)) == []
    assert faults(chained) == []


@pytest.mark.parametrize("place", [1, 3])
def test_a_mark_that_was_kept_seals_nothing_over_a_seal_that_was_written_by_hand(chained: Workspace, place: int):
    report = audit_chain.check(chained.pk)
    mark = AuditMark.objects.get(workspace=chained, position=place).mark
    AuditSeal.objects.filter(workspace_id=chained.pk).update(position=place, mark=mark, number=99)
    [fault] = faults(chained, (report.position, report.mark))
    assert fault == f"the seal of place {place} was not made with this server's SECRET_KEY"
    assert AuditSeal.objects.get(workspace_id=chained.pk).number == 99
    assert faults(chained) == [fault]


@pytest.mark.parametrize(
    "act",
    [
        "delete from workspaces_auditseal",
        "update workspaces_auditseal set is_ended = true",
        "insert into workspaces_auditseal values (gen_random_uuid(), 1, 0, '', true, '')",
    ],
)
def test_the_role_that_serves_writes_no_seal(chained: Workspace, act: str):
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with (
        ordinary_role(),
        connection.cursor() as cursor,
        visible.only(chained.pk),
        refused,
        transaction.atomic(),
    ):
        cursor.execute(act)


def test_a_seal_takes_a_voucher_and_goes_forward_only(chained: Workspace):
    first = AuditSeal.objects.get(workspace_id=chained.pk)
    old = (first.number, first.position, bytes(first.mark), False)
    seal = audit_signature.Seal(chained.pk, *old)
    own = first.signature
    voucher = administrators.voucher_for("audit seal", *seal.texts, own, own)
    with ordinary_role(), visible.only(chained.pk):
        AuditEntryFactory(workspace=chained)
        assert audit_chain.extend(chained.pk) == 1
        ended = (first.number + 5, 0, b"", True)
        for values in (ended, old):
            assert not crossings.seal_audit(chained.pk, values, own, before=own, voucher=voucher)
    after = AuditSeal.objects.get(workspace_id=chained.pk)
    assert (after.number, after.position) == (first.number + 1, first.position + 1)
    assert faults(chained) == []


def test_a_seal_that_goes_on_does_not_undo_an_end_that_came_meanwhile(chained: Workspace):
    with ordinary_role(), visible.only(chained.pk):
        seen = audit_signature.known(chained.pk)
        audit_signature.end(chained.pk)
        assert audit_signature.has_ended(chained.pk)
        assert not audit_signature.renew(chained.pk, over=seen)
        assert audit_signature.has_ended(chained.pk)
        # Of a workspace that was brought back the end is known, and over.
        assert audit_signature.renew(chained.pk, over=audit_signature.known(chained.pk))
        assert not audit_signature.has_ended(chained.pk)


FOR_EVER = uuid.UUID(int=2**128 - 1)


def written_by_hand(workspace: Workspace, kind: str) -> None:
    """As the role that serves may write it, by SQL of its own."""
    line = AuditEntryFactory(workspace=workspace, id=FOR_EVER if kind == "id" else uuid7())
    if kind == "time":
        with erasing_audit(), connection.cursor() as cursor:
            cursor.execute("update workspaces_auditentry set created_at = 'infinity' where id = %s", [line.pk])
    elif kind in ("place", "no place", "zero"):
        AuditMark.objects.create(
            line_id=uuid.UUID(int=0) if kind == "zero" else line.pk,
            workspace=workspace,
            position={"place": 2**63 - 1, "no place": -7, "zero": 50}[kind],
            values_hash=b"x",
            mark=b"x",
        )


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("id", f"line {FOR_EVER}: its id is of a time that has not come"),
        ("place", f"to {2**63 - 2} are missing"),
        ("no place", "there is no such place"),
        ("zero", "line 00000000-0000-0000-0000-000000000000: the line was removed"),
        ("time", ""),
    ],
)
def test_what_one_workspace_writes_stops_the_upkeep_of_none(
    chained: Workspace, mallory: Person, capsys: pytest.CaptureFixture[str], kind: str, fault: str
):
    other = mallory.workspace
    audit_chain.extend(other.pk)
    written_by_hand(other, kind)
    for _ in range(2):
        for workspace in (chained, other):
            AuditEntryFactory(workspace=workspace)
        done = sweep()
        assert (done.marks, done.failed) == (2, 0)
        assert audit_chain.due_workspaces() == []
    assert faults(chained) == []
    told = faults(other)
    assert any(fault in each for each in told) or (not fault and told == []), told
    if kind == "no place":
        assert all(each.startswith("place -7,") for each in told), told
    if fault:
        with pytest.raises(CommandError, match="faults"):
            call_command("checkaudit")
    shown = capsys.readouterr().out
    assert not fault or (f"{chained.slug}:" in shown and f"{other.slug}:" in shown)


def test_a_memory_that_cannot_be_read_keeps_no_other_from_its_end(chained: Workspace, alice: Person, mallory: Person):
    for person in (alice, mallory):
        person.say("I live in Oslo.")
        Memory.objects.filter(workspace=person.workspace).update(forget_after=timezone.now() - timedelta(hours=1))
    with connection.cursor() as cursor:
        cursor.execute(
            "update memories_memory set forget_after = '-infinity' where workspace_id = %s",
            [mallory.workspace.pk],
        )
    AuditEntryFactory(workspace=alice.workspace)
    done = sweep()
    assert (done.expired, done.failed) == (1, 1)
    assert done.marks >= 1


def test_the_role_that_serves_removes_no_log_of_a_workspace_that_lives(chained: Workspace):
    lines = AuditEntry.objects.filter(workspace=chained).count()
    with ordinary_role(), visible.only(chained.pk):
        row = WorkspaceRemoval.objects.create(workspace_id=chained.pk, number=1, requested_by="x", state="running")
        with transaction.atomic():
            assert crossings.remove_audit(chained.pk, 1000) == 0
            assert crossings.remove_marks(chained.pk, 1000) == 0
            with connection.cursor() as cursor:  # nor while its row is gone for a moment
                cursor.execute("set constraints all deferred")
                cursor.execute("delete from workspaces_workspace where id = %s", [chained.pk])
            assert crossings.remove_audit(chained.pk, 1000) == 0
            transaction.set_rollback(True)
        WorkspaceRemoval.objects.filter(pk=row.pk).update(state="waiting", due_at=timezone.now() - timedelta(minutes=1))
    assert sweep().removals == 1  # the worker looks at it, and takes nothing
    row.refresh_from_db()
    assert (row.state, row.error) == ("failed", "nobody asked this server for it: ask for it again")
    assert AuditEntry.objects.filter(workspace=chained).count() == lines
    assert faults(chained) == []


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
