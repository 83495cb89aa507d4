"""A backup of the whole server is taken while it runs, and put back into an empty database."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.utils import ProgrammingError
from django.test import Client
from django.utils import timezone
from psycopg import sql

from memories.belief import review
from memories.documents import blobs
from memories.index import workspace_index
from memories.models import Document, Episode, Erasure, MaskedSpan, Memory, Rejection, Revision
from memories.privacy import erase, irrevocable, legal_holds, masks
from memories.privacy.erase import workspace_removal
from memories.privacy.masks import MaskReason
from memories.worker import sweep
from memoryproject.postgres import backups
from memoryproject.postgres.backups import BackupFault
from tests.handed_in import PUMPS, hand_in
from tests.management.test_commands import run
from tests.ordinary_role import ordinary_role
from tests.people import Person, backend_of, bound_to_agent
from tests.privacy.test_masks import mask_words, unmask
from workspaces.audit import audit_chain, audit_signature
from workspaces.models import AuditEntry, Subject, Workspace, WorkspaceRemoval


@contextmanager
def of_database(name: str) -> Iterator[None]:
    own = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = own


def another_connection() -> psycopg.Connection[Any]:
    return psycopg.connect(**connection.get_connection_params(), autocommit=True)


@pytest.fixture
def empty_database(transactional_db: None) -> Iterator[str]:
    """Beside that of the test."""
    name = f"{connection.settings_dict['NAME']}_drill"
    quoted = sql.Identifier(name)
    with another_connection() as owner:
        owner.execute(sql.SQL("drop database if exists {}").format(quoted))
        owner.execute(sql.SQL("create database {} template template0").format(quoted))
        yield name
        owner.execute(sql.SQL("drop database {} with (force)").format(quoted))


@pytest.fixture
def data(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    settings.BLOB_DIR = tmp_path / "elsewhere"
    (settings.DATA_DIR).mkdir(parents=True)
    (settings.DATA_DIR / "secret_key").write_text(settings.SECRET_KEY)
    return tmp_path / "data"


@pytest.fixture
def backup(transactional_db: None, alice: Person, data: Path, tmp_path: Path) -> Path:
    alice.say("I live in Lisbon.", user_id="u1")
    told = json.loads(run("backup", str(tmp_path / "all"), "--json"))
    return Path(told["folder"])


def test_what_was_backed_up_is_there_again(backup: Path, alice: Person, data: Path, empty_database: str) -> None:
    manifest = backups.check(backup)
    assert backup.stat().st_mode & 0o777 == 0o700
    assert (backup / "database.dump").stat().st_mode & 0o777 == 0o600
    assert manifest.counts["memories_memory"] == Memory.objects.count() == 1
    assert {"database.dump", "secret_key"} <= set(manifest.files)
    (data / "secret_key").write_text("second")
    with of_database(empty_database):
        told = json.loads(run("restore", str(backup), "--check", "--json"))
        assert (told["rows"], told["tables"]) == (manifest.rows, len(manifest.counts))
        assert alice.finds("where does she live") == ["User lives in Lisbon"]
        # Now it is not empty any more.
        with pytest.raises(CommandError, match=r"not empty \(.*1 rows of memories_memory"):
            run("restore", str(backup))
        with pytest.raises(CommandError, match="This would go for good"):
            run("restore", str(backup), "--replace")
        assert "in the place of" in run("restore", str(backup), "--dry-run")
        alice.say("I live in Rome now.", user_id="u1")
        assert "are back" in run("restore", str(backup), "--replace", "--yes")
        assert Memory.objects.count() == 1
    assert (data / "secret_key").read_text() == settings.SECRET_KEY


def drill_of_the_documents(parent: Path) -> list[list[str]]:
    """The two commands of docs/guides/operating.md, with folders of this machine."""
    text = Path(__file__).parents[2].joinpath("docs", "guides", "operating.md").read_text()
    section = text.partition("## Backup, and a drill")[2].partition("\n## ")[0]
    commands = re.findall(r"manage\.py ((?:backup|restore) .*)", section)
    assert len(commands) == 2
    named = [re.sub(r"/srv/backups/memory-\w+", "{folder}", command) for command in commands]
    return [command.replace("/srv/backups", str(parent)).split() for command in named]


def test_a_restored_server_serves_the_file_of_a_document(
    transactional_db: None,
    alice: Person,
    settings: Any,
    data: Path,
    tmp_path: Path,
    empty_database: str,
    client: Client,
) -> None:
    document = hand_in(alice, filename="pumps.md")
    assert document.blob is not None
    lost = hand_in(alice, "What is lost.", filename="lost.md")
    assert lost.blob is not None
    blobs.path_of(alice.workspace.pk, lost.blob.digest).unlink()
    (settings.BLOB_DIR / "new-upload").write_text("of a request under way")
    taking, drill = drill_of_the_documents(tmp_path / "all")
    folder = Path(json.loads(run(*taking, "--json"))["folder"])
    name = f"blobs/{alice.workspace.pk}/{document.blob.digest[:2]}/{document.blob.digest}"
    digests = backups.check(folder).files
    assert digests[name] == document.blob.digest
    assert [each for each in digests if each.startswith("blobs/")] == [name]
    shutil.rmtree(settings.BLOB_DIR)
    with of_database(empty_database):
        told = json.loads(run(*(word.format(folder=folder) for word in drill), "--json"))
        assert told["checked"]
        assert (told["files"], told["missingFiles"]) == (2, 1)
        path = f"/api/v1/workspaces/{alice.workspace.slug}/documents/{document.pk}/file"
        answer = client.get(path, headers={"Authorization": f"Bearer {alice.key}"})
        assert b"".join(answer.streaming_content) == PUMPS.encode()  # type: ignore[attr-defined]
    (folder / name).write_text("changed")
    with pytest.raises(CommandError, match="not as it was written"):
        run("restore", str(folder), "--dry-run")


def test_a_server_that_runs_is_not_restored_into(backup: Path, empty_database: str) -> None:
    with of_database(empty_database), another_connection():
        with pytest.raises(CommandError, match="1 other connections use the database"):
            run("restore", str(backup))
        assert "into an empty database" in run("restore", str(backup), "--dry-run")


def test_a_backup_that_was_changed_is_refused(backup: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="holds no backup"):
        run("restore", str(tmp_path), "--dry-run")
    manifest = json.loads((backup / backups.MANIFEST).read_text())
    changed = {
        "a later version, or another one": {"migrations": {"memories": "9999_later"}},
        "memories 0010_revision_sha256": {"migrations": {"memories": "0010_revision_sha256"}},
        "written by a later version": {"version": 2},
        "holds no backup of this server": {"format": "another"},
    }
    for said, values in changed.items():
        (backup / backups.MANIFEST).write_text(json.dumps(manifest | values))
        with pytest.raises(CommandError, match=said):
            run("restore", str(backup), "--dry-run")
    (backup / backups.MANIFEST).write_text(json.dumps(manifest))
    with (backup / "database.dump").open("ab") as dump:
        dump.write(b"x")
    with pytest.raises(CommandError, match="not as it was written"):
        run("restore", str(backup))


def test_a_backup_with_the_last_of_the_steps_that_a_migration_replaces_is_taken(
    backup: Path,
) -> None:
    manifest = json.loads((backup / backups.MANIFEST).read_text())
    manifest["migrations"] |= {
        "memories": "0004_summaries_by_models",
        "workspaces": "0007_spaces_of_a_key",
    }
    (backup / backups.MANIFEST).write_text(json.dumps(manifest))
    assert "would come" in run("restore", str(backup), "--dry-run")


def test_a_count_that_differs_is_told(backup: Path, empty_database: str) -> None:
    manifest = json.loads((backup / backups.MANIFEST).read_text())
    manifest["counts"]["memories_memory"] += 1
    (backup / backups.MANIFEST).write_text(json.dumps(manifest))
    with (
        of_database(empty_database),
        pytest.raises(CommandError, match="Not all rows are there: memories_memory: 1 of 2"),
    ):
        run("restore", str(backup))


def test_old_backups_go_and_what_is_no_backup_stays(backup: Path) -> None:
    parent = backup.parent
    for name in ("memory-20200101T000000Z", "memory-20210101T000000Z"):
        (parent / name).mkdir()
        (parent / name / backups.MANIFEST).write_text("{}")
    (parent / "memory-20190101T000000Z").mkdir()  # without a manifest
    told = run("backup", str(parent), "--keep", "2", "--dry-run")
    assert "would drop memory-20200101T000000Z" in told
    assert len(list(parent.glob("memory-*"))) == 4
    run("backup", str(parent), "--keep", "1")
    left = sorted(each.name for each in parent.glob("memory-*"))
    assert left[0] == "memory-20190101T000000Z"
    assert len(left) == 2


@pytest.mark.django_db(transaction=True)
def test_what_pg_dump_says_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BackupFault, match=r"pg_dump failed: .*error"):
        backups.run("pg_dump", ["--table=nothing", "--strict-names"], {}, lambda rows: None)
    with pytest.raises(CommandError, match="no number from 1 on"):
        run("backup", "/tmp", "--keep", "0")


def erased(person: Person, user_id: str) -> str:
    """Erase a subject; the id of the certificate."""
    subject = Subject.objects.get(workspace=person.workspace, external_id=user_id)
    target = erase.target_of(person.scope, Erasure.Kind.SUBJECT, subject.pk)
    asked = erase.request(person.scope, target)
    done = erase.run(asked.pk)
    assert done is not None
    assert done.state == Erasure.State.DONE
    return str(asked.pk)


def stands_somewhere(words: str) -> list[str]:
    """The tables that say it, of all there are."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute(backups.TABLES)
        for (table,) in cursor.fetchall():
            text = f'select count(*) from "{table}" t where t::text like %s'
            cursor.execute(text, [f"%{words}%"])
            if cursor.fetchone()[0]:
                found.append(table)
    return found


def audit_of(workspace: Workspace, action: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(workspace=workspace, action=action).order_by("id"))


def test_what_was_erased_after_a_backup_is_erased_again_by_its_restore(
    backup: Path, alice: Person, mallory: Person, data: Path, empty_database: str
) -> None:
    alice.say("I keep quokkas in the greenhouse.", user_id="u2")
    mallory.say("I keep figs in the attic.", user_id="u1")
    held = Subject.objects.get(workspace=alice.workspace, external_id="u2")
    hold = legal_holds.place(alice.scope, held, "Case 13")
    audit_chain.extend(alice.workspace.pk)
    older = Path(json.loads(run("backup", str(backup.parent), "--json"))["folder"])
    with of_database(empty_database):
        run("restore", str(older))
        legal_holds.lift(alice.scope, hold.pk)
        certificate = erased(alice, "u2")
        issued = Erasure.objects.get(pk=certificate)
        sweep.sweep()  # the log goes on
        # Over what is there: its own tables know it.
        (data / irrevocable.NAME).unlink()
        told = json.loads(run("restore", str(older), "--replace", "--yes", "--check", "--json"))
        assert told["again"] == {"erased": 1}
        assert stands_somewhere("quokkas") == []
        assert alice.finds("where does she live") == ["User lives in Lisbon"]
        assert mallory.finds("figs") == ["User keeps figs in the attic"]
        again = Erasure.objects.get(pk=certificate)
        assert (again.state, again.finished_at, again.removed, again.proof) == (
            "done",
            issued.finished_at,
            issued.removed,
            issued.proof,
        )
        second = Erasure.objects.exclude(pk=certificate).get(workspace=alice.workspace)
        assert (second.requested_by, second.state) == ("restore", "done")
        # The log says so, and is whole.
        [line] = audit_of(alice.workspace, "restore")
        assert line.after["placesBefore"] > line.after["places"] > 0
        call_command("checkaudit")
        # Onto an empty machine, by what lies in the data folder, and by what lies beside backups.
        backups.empty()
        assert json.loads(run("restore", str(older), "--json"))["again"] == {"erased": 1}
        assert stands_somewhere("quokkas") == []
        run("backup", str(older.parent))
        backups.empty()
        (data / irrevocable.NAME).unlink()
        assert json.loads(run("restore", str(older), "--json"))["again"] == {"erased": 1}
        assert stands_somewhere("quokkas") == []
        assert Erasure.objects.filter(pk=certificate, state="done").exists()
    assert older.parent.joinpath(irrevocable.NAME).stat().st_mode & 0o777 == 0o600
    assert "quokkas" not in older.parent.joinpath(irrevocable.NAME).read_text()


def test_a_workspace_that_was_removed_after_a_backup_is_removed_again(
    backup: Path, alice: Person, mallory: Person, data: Path, empty_database: str
) -> None:
    mallory.tell("Figs are kept in the attic.")
    older = Path(json.loads(run("backup", str(backup.parent), "--json"))["folder"])
    gone, stays = alice.workspace, mallory.workspace
    with of_database(empty_database):
        run("restore", str(older))
        asked = workspace_removal.request(gone, "test")
        workspace_removal.run(asked.pk)
        issued = WorkspaceRemoval.objects.get(workspace_id=gone.pk)
        assert issued.state == "done"
        backups.empty()
        assert json.loads(run("restore", str(older), "--json"))["again"] == {"removed": 1}
        assert [each.pk for each in Workspace.objects.all()] == [stays.pk]
        again = WorkspaceRemoval.objects.get(workspace_id=gone.pk)
        assert (again.pk, again.removed, again.finished_at) == (issued.pk, issued.removed, issued.finished_at)
        assert stands_somewhere("Lisbon") == []
        call_command("checkaudit")


def mask_text(document: Document, words: str) -> None:
    revision = Revision.objects.get(document=document.pk)
    start, space = revision.text.index(words), workspace_index.index_of(document.workspace_id)
    with transaction.atomic():
        workspace_index.lock(space)
        why = MaskReason(MaskedSpan.Kind.SECRET, "a person")
        masks.mask_documents(space, {revision.pk: [(start, start + len(words))]}, why)


def test_masks_are_after_a_restore_as_they_are_now(
    backup: Path, alice: Person, data: Path, empty_database: str
) -> None:
    alice.say("My cat is called Behemoth. I like tea.", user_id="u2", thread_id="t1")
    alice.say("My dog is called Argos. I like rye.", user_id="u2", thread_id="t1")
    was_masked = mask_words(alice, "My dog is called Argos.")
    document = hand_in(alice, "# Notes\n\nThe vault opens with quokka seven.", filename="v.md")
    older = Path(json.loads(run("backup", str(backup.parent), "--json"))["folder"])
    with of_database(empty_database):
        run("restore", str(older))
        assert alice.finds("what is the cat called?")[0] == "User's cat is called Behemoth"
        mask_words(alice, "My cat is called Behemoth.")
        unmask(alice, was_masked)
        mask_text(document, "quokka seven")
        now = set(Episode.objects.values_list("content", flat=True))
        assert any("Argos" in said for said in now)
        assert not any("Behemoth" in said for said in now)
        for is_empty in (False, True):
            if is_empty:
                backups.empty()
            more = [] if is_empty else ["--replace", "--yes"]
            told = json.loads(run("restore", str(older), *more, "--json"))["again"]
            assert told["masked"] > 0
            assert told["unmasked"] > 0
            assert set(Episode.objects.values_list("content", flat=True)) == now
            for query in ("Behemoth", "what is the cat called?"):
                assert not any("Behemoth" in said for said in alice.finds(query))
            for words in ("Behemoth", "quokka seven"):
                assert stands_somewhere(words) == ["memories_maskedspan"]
        call_command("checkindex")


def test_an_import_of_an_older_export_brings_nothing_back_that_was_erased(
    transactional_db: None, alice: Person, tmp_path: Path
) -> None:
    alice.say("I live in Lisbon.", "My cat is called Behemoth.", user_id="u1")
    alice.say("I keep quokkas in the greenhouse.", user_id="u2")
    path = tmp_path / "orchard.jsonl"
    run("exportworkspace", str(path))
    certificate = erased(alice, "u2")
    mask_words(alice, "My cat is called Behemoth.")
    asked = workspace_removal.request(alice.workspace, "test")
    workspace_removal.run(asked.pk)
    run("importworkspace", str(path))
    person = backend_of(Workspace.objects.get(pk=alice.workspace.pk))
    assert person.finds("where does she live") == ["User lives in Lisbon"]
    assert stands_somewhere("quokkas") == []
    assert stands_somewhere("Behemoth") == ["memories_maskedspan"]
    assert Erasure.objects.filter(pk=certificate, state="done").exists()
    call_command("checkaudit")


def test_a_restore_that_was_killed_is_run_again_before_anything_is_served(
    backup: Path, alice: Person, data: Path, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with of_database(empty_database):
        run("restore", str(backup))
        certificate = erased(alice, "u1")
        with monkeypatch.context() as patch:
            patch.setattr(backups, "differences", killed)
            with pytest.raises(KeyboardInterrupt):
                run("restore", str(backup), "--replace", "--yes")
        assert Subject.objects.filter(external_id="u1").exists()  # it is there again
        with pytest.raises(CommandError, match="A restore was not finished"):
            call_command("work")
        told = json.loads(run("restore", str(backup), "--replace", "--yes", "--json"))
        assert told["again"] == {"erased": 1}
        assert stands_somewhere("Lisbon") == []
        assert Erasure.objects.filter(pk=certificate, state="done").exists()
        assert not irrevocable.unfinished().exists()


def restored(folder: Path, *more: str) -> dict[str, Any]:
    told = run("restore", str(folder), "--replace", "--yes", *more, "--json")
    return dict(json.loads(told))


def test_what_rows_alone_say_is_listed_and_done_again_only_where_it_is_asked_for(
    backup: Path, alice: Person, mallory: Person, data: Path, empty_database: str
) -> None:
    alice.say("I keep quokkas in the greenhouse.", user_id="u2")
    mallory.tell("Figs are kept in the attic.")
    older = Path(json.loads(run("backup", str(backup.parent), "--json"))["folder"])
    there = stands_somewhere("quokkas")
    with of_database(empty_database):
        run("restore", str(older))
        # All of it as whoever has the serving role's login can write it.
        person = Subject.objects.get(workspace=alice.workspace, external_id="u2")
        forged = Erasure.objects.create(
            workspace=alice.workspace,
            kind="subject",
            target_id=person.pk,
            state="done",
            requested_by="nobody",
            finished_at=timezone.now(),
            proof={"clean": True},
        )
        figs = mallory.workspace
        WorkspaceRemoval.objects.create(
            workspace_id=figs.pk,
            number=workspace_index.index_of(figs.pk).pk,
            requested_by="nobody",
            due_at=timezone.now(),
        )
        lisbon = Memory.objects.get(content__contains="Lisbon")
        Memory.objects.filter(pk=lisbon.pk).update(forgotten_at=timezone.now(), forget_reason="wrong")
        unsigned = [
            f"erased: subject {person.pk} of workspace {alice.workspace.pk}",
            f"forgotten: memory {lisbon.pk} of workspace {alice.workspace.pk}",
            f"removed: all of workspace {figs.pk} (waiting)",
        ]
        plan = json.loads(run("restore", str(older), "--dry-run", "--json"))
        assert (plan["acts"], plan["unsigned"]) == ({}, unsigned)
        assert unsigned[0] in run("restore", str(older), "--dry-run")

        told = restored(older)
        assert (told["again"], told["unsigned"]) == ({}, unsigned)
        assert stands_somewhere("quokkas") == there
        assert alice.finds("where does she live")[0] == "User lives in Lisbon"
        assert Workspace.objects.filter(pk=figs.pk).exists()
        assert not Erasure.objects.exists()
        call_command("checkaudit")

        told = restored(older, "--also-unsigned")
        assert told["again"] == {"erased": 1, "forgotten": 1, "removed": 1}
        assert told["unsigned"] == []
        assert stands_somewhere("quokkas") == []
        assert Erasure.objects.filter(pk=forged.pk).exists()
        assert not Workspace.objects.filter(pk=figs.pk).exists()


def test_a_removal_that_began_counts_by_the_signed_end_of_its_log(
    backup: Path, alice: Person, data: Path, empty_database: str
) -> None:
    with of_database(empty_database):
        run("restore", str(backup))
        gone = alice.workspace
        workspace_removal.request(gone, "test")
        audit_signature.end(gone.pk)
        assert restored(backup)["again"] == {"removed": 1}
        assert not Workspace.objects.filter(pk=gone.pk).exists()


def test_what_was_forgotten_is_forgotten_again_on_an_empty_machine_with_its_messages_as_they_were(
    backup: Path, alice: Person, data: Path, empty_database: str
) -> None:
    words = {"u2": "I keep quokkas in the greenhouse.", "u3": "I collect barometers."}
    for user, said in words.items():
        alice.say(said, user_id=user)
    alice.say("My cat is called Behemoth.", user_id="u4")
    older = Path(json.loads(run("backup", str(backup.parent), "--json"))["folder"])
    with of_database(empty_database):
        run("restore", str(older))
        kept, taken, back = (Memory.objects.get(subject__external_id=user) for user in ("u2", "u3", "u4"))
        review.forget(alice.scope, kept.pk, "wrong", "keep")
        review.forget(alice.scope, taken.pk, "private")
        review.forget(alice.scope, back.pk, "wrong")
        review.restore(alice.scope, back.pk)
        backups.empty()
        told = json.loads(run("restore", str(older), "--json"))
        assert told["again"]["forgotten"] == 2
        forgotten = Memory.objects.exclude(forgotten_at=None)
        assert set(forgotten.values_list("pk", flat=True)) == {kept.pk, taken.pk}
        assert Rejection.objects.count() == 2
        said = Episode.objects.values_list("subject__external_id", "content")
        assert dict(said)["u2"] == words["u2"]
        assert "barometers" not in dict(said)["u3"]
        assert alice.finds("what is the cat called?")[0] == "User's cat is called Behemoth"


def test_what_an_agent_had_forgotten_is_forgotten_again_for_that_agent_alone(
    backup: Path, alice: Person, bob: Person, data: Path, empty_database: str
) -> None:
    words = "I keep quokkas in the greenhouse."
    mate = bound_to_agent(alice.workspace, "mate")
    for each in (alice, bob, mate):
        each.say(words, user_id="u2", thread_id=each.key[-8:])
    older = Path(json.loads(run("backup", str(backup.parent), "--json"))["folder"])

    def of(person: Person, rows: QuerySet[Any]) -> Any:
        return rows.filter(agent=person.scope.agent_id, subject__external_id="u2").order_by("pk")

    def told() -> list[bool]:
        episodes = Episode.objects.all()
        return [words in of(each, episodes)[0].content for each in (alice, bob, mate)]

    with of_database(empty_database):
        run("restore", str(older))
        for each in (bob, mate):
            review.forget(each.scope, of(each, Memory.objects.live()).get().pk, "wrong")
            agents = Rejection.objects.order_by("pk").values_list("agent__external_id", flat=True)
            backups.empty()
            again = json.loads(run("restore", str(older), "--json"))["again"]
            assert again["forgotten"] == len(agents)
        assert list(agents) == ["bob", "mate"]
        assert told() == [True, False, False]
        assert of(alice, Memory.objects.live()).exists()

        # What a person says as well binds everybody, in the newest record.
        own = of(bob, Memory.objects.all()).get()
        review.forget(alice.scope, own.pk, "private")
        backups.empty()
        run("restore", str(older))
        assert Rejection.objects.filter(agent=None).count() == 1
        assert told() == [False, False, False]


def test_an_order_to_forget_is_done_again_on_an_empty_machine(
    backup: Path, alice: Person, data: Path, empty_database: str
) -> None:
    with of_database(empty_database):
        run("restore", str(backup))
        alice.say("Forget that I live in Lisbon.", user_id="u1")
        [memory] = Memory.objects.exclude(forgotten_at=None)
        backups.empty()
        assert json.loads(run("restore", str(backup), "--json"))["again"]["forgotten"] == 1
        assert Memory.objects.exclude(forgotten_at=None).get().pk == memory.pk


def test_no_restore_takes_the_list_back_and_every_machine_of_the_installation_reads_it(
    backup: Path, alice: Person, data: Path, empty_database: str, settings: Any, tmp_path: Path
) -> None:
    with of_database(empty_database):
        run("restore", str(backup))
        erased(alice, "u1")
        for machine in ("second", "third"):  # each has a data folder of its own
            settings.DATA_DIR = tmp_path / machine
            settings.DATA_DIR.mkdir()
            assert restored(backup)["again"] == {"erased": 1}
            assert stands_somewhere("Lisbon") == []
        # With the key that its backup has, and another in the environment.
        settings.SECRET_KEY = "another-key-of-a-new-machine-" + "x" * 30
        settings.DATA_DIR = tmp_path / "fourth"
        settings.DATA_DIR.mkdir()
        assert restored(backup)["again"] == {"erased": 1}


@pytest.mark.django_db
def test_the_role_that_serves_adds_to_the_list_and_changes_nothing_there(alice: Person) -> None:
    irrevocable.note(irrevocable.RETURNED, [{"id": "1", "workspace_id": str(alice.workspace.pk)}])
    for text in ("update memories_irrevocableact set act = 'erased'", "delete from memories_irrevocableact"):
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            ordinary_role(),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(text)
