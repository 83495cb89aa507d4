"""Sources in the browser: connected by a form, asked by buttons, with what came of it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from memories.documents import fetch_document
from memories.models import Connection, Document, SyncRun
from memories.sources.connections import sync
from tests.desk import list_of, member, messages_of, page_of
from tests.people import Person

ADD = "/admin/memories/connection/add/"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.BLOB_DIR = tmp_path / "blobs"
    settings.CONNECTION_FOLDERS = [str(tmp_path)]
    (tmp_path / "a.md").write_text("The heron fishes at noon.")
    return tmp_path


@pytest.fixture
def connection(alice: Person, folder: Path) -> Connection:
    desk = member(alice.workspace, "admin")
    given = {
        "workspace": alice.workspace.pk,
        "option_path": str(folder),
        "option_endings": "md, txt",
        "name": "Notes",
        "spaces": "north, house",
        "minutes": 60,
    }
    desk.client.post(f"{ADD}?provider=folder", given)
    return Connection.objects.get()


def run_all() -> None:
    for run in sync.due():
        sync.run(run)


def test_a_source_is_connected_by_a_form(alice: Person, connection: Connection) -> None:
    assert connection.options["endings"] == ["md", "txt"]
    assert connection.container_tags == ["north", "house"]
    desk = member(alice.workspace, "admin")
    shown = desk.sees(ADD)
    for label in ("Folder", "Web site", "GitHub", "S3", "Notion", "Google Drive", "OneDrive"):
        assert label in shown
    refused = desk.client.post(
        f"{ADD}?provider=web",
        {
            "workspace": alice.workspace.pk,
            "option_url": "http://127.0.0.1/",
            "minutes": 60,
            "option_depth": 1,
            "option_max_pages": 5,
        },
    )
    assert "This server does not read that address." in refused.content.decode()


def test_its_page_shows_runs_and_errors(
    alice: Person, mallory: Person, connection: Connection, folder: Path, settings: Any
) -> None:
    desk = member(alice.workspace, "admin")
    run_all()
    shown = desk.sees(page_of(connection))
    assert "1 added" in shown
    assert str(folder) in shown
    settings.CONNECTION_FOLDERS = []
    desk.does(connection, "sync")
    run_all()
    assert "fetch_refused" in desk.sees(page_of(connection))
    assert "Notes" in desk.sees(list_of(Connection), state="failed")
    assert "Notes" not in desk.sees(list_of(Connection), state="fine")
    Connection.objects.update(error_code="", paused_until=timezone.now() + timedelta(days=1))
    assert "Notes" in desk.sees(list_of(Connection), state="paused")
    assert "Left alone until" in desk.sees(page_of(connection))
    assert member(mallory.workspace, "admin").status(page_of(connection)) == 404


def test_buttons_ask_it(alice: Person, connection: Connection) -> None:
    desk = member(alice.workspace, "editor")
    assert "The worker asks" in messages_of(desk.does(connection, "test"))
    desk.does(connection, "full")
    run_all()
    kinds = {run.kind: run.answer for run in SyncRun.objects.all()}
    assert kinds == {"test": "1 files.", "full": ""}
    assert "1 files." in desk.sees(page_of(connection))
    SyncRun.objects.create(
        workspace=alice.workspace,
        connection=connection,
        kind="sync",
        state="failed",
        error_code="many_deletions",
        requested_by="x",
    )
    Connection.objects.update(error_code="many_deletions")
    desk.does(connection, "allow")
    assert SyncRun.objects.get(state="waiting").is_confirmed
    assert "/do/remove/" not in desk.sees(page_of(connection))


def test_what_was_erased_is_counted_and_brought_back_by_an_admin(alice: Person, connection: Connection) -> None:
    run_all()
    admin, editor = member(alice.workspace, "admin"), member(alice.workspace, "editor")
    assert "/do/back/" not in admin.sees(page_of(connection))
    Document.objects.all().delete()
    assert "1 erased here, which stay away" in editor.sees(page_of(connection))
    assert "/do/back/" not in editor.sees(page_of(connection))
    assert "The worker asks" in messages_of(admin.does(connection, "back"))
    run_all()
    assert Document.objects.get().filename == "a.md"


def test_what_is_missing_is_named(alice: Person, connection: Connection) -> None:
    run_all()
    connection.items.update(misses=1)
    Document.objects.update(title="Herons")
    shown = member(alice.workspace).sees(page_of(connection))
    assert "Not there any more" in shown
    assert "Herons" in shown


def test_secrets_are_typed_and_never_shown(alice: Person) -> None:
    desk = member(alice.workspace, "admin")
    desk.client.post(
        f"{ADD}?provider=github",
        {
            "workspace": alice.workspace.pk,
            "option_owner": "ada",
            "option_repository": "pumps",
            "secret_token": "ghp_secret",
            "minutes": 0,
        },
    )
    connection = Connection.objects.get()
    assert fetch_document.unseal(connection) == {"token": "ghp_secret"}
    assert "ghp_secret" not in desk.sees(page_of(connection))
    desk.does(connection, "secrets", secret_token="ghp_other")
    connection.refresh_from_db()
    assert fetch_document.unseal(connection) == {"token": "ghp_other"}


@pytest.mark.parametrize(("documents", "left"), [("keep", 0), ("erase", 1)])
def test_it_is_removed(alice: Person, connection: Connection, documents: str, left: int) -> None:
    desk = member(alice.workspace, "admin")
    desk.does(connection, "remove", documents=documents)
    assert Connection.objects.count() == left
    assert SyncRun.objects.filter(kind="remove").count() == left
