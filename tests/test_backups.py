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
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from psycopg import sql

from memories.documents import blobs
from memories.models import Memory
from memoryproject import backups
from memoryproject.backups import BackupFault
from tests.documents import PUMPS, hand_in
from tests.people import Person
from tests.test_commands import run


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
    (settings.DATA_DIR / "secret_key").write_text("first")
    return tmp_path / "data"


@pytest.fixture
def backup(transactional_db: None, alice: Person, data: Path, tmp_path: Path) -> Path:
    alice.say("I live in Lisbon.", user_id="u1")
    told = json.loads(run("backup", str(tmp_path / "all"), "--json"))
    return Path(told["folder"])


def test_what_was_backed_up_is_there_again(
    backup: Path, alice: Person, data: Path, empty_database: str
) -> None:
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
    assert (data / "secret_key").read_text() == "first"


def drill_of_the_documents(parent: Path) -> list[list[str]]:
    """The two commands of docs/operating.md, with folders of this machine."""
    text = Path(__file__).parent.parent.joinpath("docs", "operating.md").read_text()
    section = text.partition("## Backup, and a drill")[2].partition("\n## ")[0]
    commands = re.findall(r"manage\.py ((?:backup|restore) .*)", section)
    assert len(commands) == 2
    named = [re.sub(r"/srv/backups/memory-\w+", "{folder}", command) for command in commands]
    return [command.replace("/srv/backups", str(parent)).split() for command in named]


def test_a_restored_server_serves_the_file_of_a_document(
    transactional_db: None, alice: Person, settings: Any, data: Path, tmp_path: Path,
    empty_database: str, client: Client,
) -> None:  # fmt: skip
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
    assert len(list(parent.iterdir())) == 4
    run("backup", str(parent), "--keep", "1")
    left = sorted(each.name for each in parent.iterdir())
    assert left[0] == "memory-20190101T000000Z"
    assert len(left) == 2


@pytest.mark.django_db(transaction=True)
def test_what_pg_dump_says_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BackupFault, match=r"pg_dump failed: .*error"):
        backups.run("pg_dump", ["--table=nothing", "--strict-names"], {}, lambda rows: None)
    with pytest.raises(CommandError, match="no number from 1 on"):
        run("backup", "/tmp", "--keep", "0")
