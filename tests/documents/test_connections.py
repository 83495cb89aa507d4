"""Sources are kept in step: what is new comes, what changed is read again, what went is erased."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from memories.documents import document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.errors import Conflict, Forbidden, Invalid, NotFound
from memories.models import Connection, ConnectionItem, Document, Erasure, SyncRun
from memories.privacy import erase
from memories.providers.web_fetch import FetchError
from memories.sources.connections import connection_store, sync
from memories.sources.connections.connection_store import NewConnection
from memories.sources.connectors.connector import Changes, Cursor
from memories.sources.connectors.server_folder import FolderConnector
from tests.handed_in import look_for
from tests.people import Person
from workspaces.models import AuditEntry, Capability

Kind = SyncRun.Kind
pytestmark = pytest.mark.django_db(transaction=True)
KEY = "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"
TOKEN = f"ghp_{KEY}"


def ask(connection: Connection) -> SyncRun:
    """Its newest run, as far as it goes now."""
    run = connection.runs.order_by("-id")[0]
    while (now := sync.run(run.pk)) is not None and now.is_open:
        if now.next_attempt_at and now.next_attempt_at > timezone.now():
            break
    run.refresh_from_db()
    return run


def again(person: Person, connection: Connection, kind: str = Kind.SYNC) -> SyncRun:
    connection_store.request_run(person.scope, connection.pk, kind)
    return ask(connection)


def read_all() -> None:
    for document in pipeline.due():
        pipeline.run(document)


def erase_all() -> None:
    for erasure in erase.due():
        erase.run(erasure)


def names() -> list[str]:
    return sorted(Document.objects.values_list("filename", flat=True))


def texts(person: Person) -> dict[str, str]:
    rows = Document.objects.visible_to(person.scope).filter(state="done")
    return {row.filename: row.revision.text for row in rows if row.revision}


def counts(run: SyncRun) -> dict[str, int]:
    assert run.state == SyncRun.State.DONE, (run.error_code, run.error)
    return dict(run.counts)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.CONNECTION_FOLDERS = [str(tmp_path)]
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Pumps\n\nThe copper pump needs oil.")
    (folder / "inner").mkdir()
    (folder / "inner" / "b.txt").write_text("A valve of brass.")
    return folder


@pytest.fixture
def connection(alice: Person, folder: Path) -> Connection:
    new = NewConnection("folder", options={"path": str(folder)}, container_tags=("shelf",), minutes=5)
    return connection_store.create(alice.scope, new)


def test_files_of_a_folder_become_documents_of_its_spaces(alice: Person, connection: Connection) -> None:
    assert counts(ask(connection)) == {"added": 2}
    read_all()
    assert texts(alice)["b.txt"] == "A valve of brass."
    [hit, *_] = look_for(alice, "copper pump", container_tags=("shelf",)).hits
    assert (hit.document.filename, hit.document.source) == ("a.md", "folder")
    connection.refresh_from_db()
    assert connection.last_synced_at is not None
    assert connection.next_sync_at is not None


def test_only_what_changed_is_read_again(alice: Person, folder: Path, connection: Connection) -> None:
    ask(connection)
    read_all()
    before = Document.objects.get(filename="b.txt").revisions.get().pk
    (folder / "a.md").write_text("# Pumps\n\nThe copper pump needs water.")
    (folder / "c.md").write_text("A third one.")
    assert counts(again(alice, connection)) == {"added": 1, "changed": 1, "unchanged": 1}
    read_all()
    changed = Document.objects.get(filename="a.md")
    assert changed.revisions.count() == 2
    assert "water" in texts(alice)["a.md"]
    assert Document.objects.get(filename="b.txt").revisions.get().pk == before


def test_a_file_that_went_is_erased(alice: Person, folder: Path, connection: Connection) -> None:
    ask(connection)
    read_all()
    (folder / "a.md").unlink()
    assert counts(again(alice, connection)) == {"deleted": 1, "unchanged": 1}
    erase_all()
    assert names() == ["b.txt"]
    assert look_for(alice, "copper pump").hits == []
    assert Erasure.objects.get().proof["clean"]


def test_what_a_person_erased_does_not_come_again(alice: Person, folder: Path, connection: Connection) -> None:
    ask(connection)
    document = Document.objects.get(filename="a.md")
    erase.request(alice.scope, erase.target_of(alice.scope, "document", document.pk))
    erase_all()
    (folder / "a.md").write_text("It changed, and stays away.")
    assert counts(again(alice, connection)) == {"unchanged": 2}
    assert names() == ["b.txt"]
    item = ConnectionItem.objects.get(document=None)
    assert (item.external_id, item.version) == ("", "")


def test_a_folder_that_lost_most_of_its_files_waits_for_a_person(
    alice: Person, folder: Path, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "FEW", 1)
    (folder / "c.txt").write_text("A third note.")
    ask(connection)
    (folder / "a.md").unlink()
    (folder / "c.txt").unlink()
    run = again(alice, connection)
    assert (run.state, run.error_code) == ("failed", "many_deletions")
    assert len(names()) == 3
    connection_store.request_run(alice.scope, connection.pk, Kind.SYNC, is_confirmed=True)
    assert counts(ask(connection))["deleted"] == 2
    erase_all()
    assert names() == ["b.txt"]


def test_a_folder_that_is_not_there_erases_nothing(alice: Person, folder: Path, connection: Connection) -> None:
    ask(connection)
    folder.rename(folder.with_name("elsewhere"))
    run = again(alice, connection)
    assert (run.state, run.error_code) == ("failed", "source_gone")
    connection.refresh_from_db()
    assert connection.error_code == "source_gone"
    assert len(names()) == 2


def test_only_folders_that_the_operator_allows_are_read(
    alice: Person, folder: Path, tmp_path: Path, settings: Any
) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("A secret.")
    os.symlink(outside, folder / "link.txt")
    (folder / ".hidden.txt").write_text("Hidden.")
    (folder / "picture.xyz").write_text("Not asked for.")
    made = connection_store.create(alice.scope, NewConnection("folder", options={"path": str(folder)}))
    assert counts(ask(made)) == {"added": 2}
    settings.CONNECTION_FOLDERS = [str(tmp_path / "other")]
    assert again(alice, made).error_code == "fetch_refused"


def test_endings_say_which_files_count(alice: Person, folder: Path) -> None:
    options = {"path": str(folder), "endings": ["TXT"]}
    made = connection_store.create(alice.scope, NewConnection("folder", options=options))
    assert counts(ask(made)) == {"added": 1}


def test_a_sync_that_was_stopped_between_pages_misses_nothing(
    alice: Person, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.sources.connections.sync.BATCH", 1)
    written = sync.write
    calls: list[int] = []

    def dies(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise SystemExit
        return written(*given)

    monkeypatch.setattr(sync, "write", dies)
    run = connection.runs.get()
    with pytest.raises(SystemExit):
        sync.run(run.pk)
    assert Document.objects.count() == 1
    SyncRun.objects.update(lease_until=timezone.now())
    assert run.pk in sync.due()
    ask(connection)
    assert names() == ["a.md", "b.txt"]


def test_a_page_that_was_kept_lets_earlier_failures_count_no_more(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = FolderConnector.changes

    def fails_after_one(folder: FolderConnector, cursor: Cursor) -> Changes:
        if cursor:
            raise FetchError("fetch_failed", "It does not answer.", is_passing=True)
        return replace(listed(folder, cursor), cursor={"after": "b.txt"}, is_last=False)

    monkeypatch.setattr(FolderConnector, "changes", fails_after_one)
    SyncRun.objects.update(attempts=sync.MAX_ATTEMPTS - 1)
    run = ask(connection)
    assert (run.state, run.attempts, run.error) == ("waiting", 1, "It does not answer.")


def test_a_run_whose_worker_dies_again_and_again_is_given_up(connection: Connection) -> None:
    run = connection.runs.get()
    SyncRun.objects.update(attempts=sync.MAX_ATTEMPTS)
    sync.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error_code) == ("failed", "attempts")


def test_it_is_asked_when_the_time_has_come(alice: Person, connection: Connection) -> None:
    ask(connection)
    assert sync.schedule() == 0
    Connection.objects.update(next_sync_at=timezone.now())
    assert sync.schedule() == 1
    assert connection.runs.latest("id").requested_by == "schedule"
    assert connection.runs.count() == 2


def test_two_askings_are_one_run(alice: Person, connection: Connection) -> None:
    one = connection_store.request_run(alice.scope, connection.pk, Kind.SYNC)
    two = connection_store.request_run(alice.scope, connection.pk, Kind.FULL)
    assert one.pk == two.pk == connection.runs.get().pk
    assert connection.runs.get().kind == "full"


def test_a_test_asks_the_source_and_changes_nothing(alice: Person, connection: Connection) -> None:
    run = connection_store.request_run(alice.scope, connection.pk, Kind.TEST)
    sync.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.answer) == ("done", "2 files.")
    assert Document.objects.count() == 0
    assert connection_store.request_run(alice.scope, connection.pk, Kind.TEST).pk != run.pk


def test_a_connection_goes_and_its_documents_stay(alice: Person, connection: Connection) -> None:
    ask(connection)
    connection_store.remove(alice.scope, connection.pk, erase_documents=False)
    assert not Connection.objects.exists()
    assert len(names()) == 2


def test_a_source_that_is_connected_anew_goes_on_with_the_documents_that_stayed(
    alice: Person, folder: Path, connection: Connection
) -> None:
    ask(connection)
    read_all()
    before = dict(Document.objects.values_list("filename", "pk"))
    connection_store.remove(alice.scope, connection.pk, erase_documents=False)
    (folder / "a.md").write_text("The copper pump needs water.")
    (folder / "c.md").write_text("A third one.")
    options = {"path": f"{folder}/"}
    second = connection_store.create(alice.scope, NewConnection("folder", options=options))
    assert counts(ask(second)) == {"added": 1, "changed": 2}
    read_all()
    after = dict(Document.objects.values_list("filename", "pk"))
    assert {name: after[name] for name in before} == before
    assert texts(alice)["a.md"] == "The copper pump needs water."
    assert Document.objects.get(filename="b.txt").revisions.count() == 1
    (folder / "inner" / "b.txt").unlink()
    assert counts(again(alice, second)) == {"deleted": 1, "unchanged": 2}


@pytest.mark.parametrize("is_first_removed", [False, True])
def test_what_was_erased_stays_away_when_its_source_is_connected_anew(
    alice: Person, folder: Path, connection: Connection, *, is_first_removed: bool
) -> None:
    def remove(one: Connection) -> None:
        connection_store.remove(alice.scope, one.pk, erase_documents=False)

    ask(connection)
    document = Document.objects.get(filename="a.md")
    if is_first_removed:
        remove(connection)
    erase.request(alice.scope, erase.target_of(alice.scope, "document", document.pk))
    erase_all()
    if not is_first_removed:
        remove(connection)
    assert ConnectionItem.objects.get().external_id == ""
    new = NewConnection("folder", options={"path": str(folder)})
    for _ in range(2):
        second = connection_store.create(alice.scope, new)
        assert counts(ask(second)) in ({"changed": 1, "unchanged": 1}, {"added": 1, "unchanged": 1})
        assert names() == ["b.txt"]
        remove(second)


def test_an_admin_brings_back_what_was_erased(alice: Person, bob: Person, connection: Connection) -> None:
    ask(connection)
    document = Document.objects.get(filename="a.md")
    erase.request(alice.scope, erase.target_of(alice.scope, "document", document.pk))
    erase_all()
    curator = replace(alice.scope, capabilities=alice.scope.capabilities - {Capability.ADMIN})
    for scope, refusal in ((curator, Forbidden), (bob.scope, NotFound)):
        with pytest.raises(refusal):
            connection_store.request_run(scope, connection.pk, Kind.SYNC, with_erased=True)
    connection_store.request_run(alice.scope, connection.pk, Kind.SYNC, with_erased=True)
    assert counts(ask(connection)) == {"added": 1, "unchanged": 1}
    assert names() == ["a.md", "b.txt"]
    assert AuditEntry.objects.get(action="bring_back_connection").after == {"items": 1}


@pytest.mark.parametrize("other", [{"user_id": "ada"}, {"visibility": "global"}])
def test_a_connection_for_others_takes_up_nothing(
    alice: Person, folder: Path, connection: Connection, other: dict[str, str]
) -> None:
    ask(connection)
    connection_store.remove(alice.scope, connection.pk, erase_documents=False)
    new = NewConnection("folder", options={"path": str(folder)}, **other)  # type: ignore[arg-type]
    assert counts(ask(connection_store.create(alice.scope, new))) == {"added": 2}


def test_a_connection_of_another_folder_takes_up_nothing(alice: Person, tmp_path: Path, connection: Connection) -> None:
    ask(connection)
    connection_store.remove(alice.scope, connection.pk, erase_documents=False)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.md").write_text("Another one.")
    new = NewConnection("folder", options={"path": str(tmp_path / "more")})
    assert counts(ask(connection_store.create(alice.scope, new))) == {"added": 1}


def test_a_connection_goes_with_all_that_came_by_it(alice: Person, connection: Connection) -> None:
    ask(connection)
    document_store.receive(alice.scope, NewDocument(parts=[b"Its own."], filename="own.txt"))
    connection_store.remove(alice.scope, connection.pk, erase_documents=True)
    with pytest.raises(Conflict):
        connection_store.request_run(alice.scope, connection.pk, Kind.SYNC)
    sync.run(connection.runs.get(kind=Kind.REMOVE).pk)
    erase_all()
    assert not Connection.objects.exists()
    assert names() == ["own.txt"]


def test_connections_are_for_who_sees_all_of_the_workspace(
    alice: Person, bob: Person, mallory: Person, connection: Connection
) -> None:
    for person in (bob, mallory):
        with pytest.raises(NotFound):
            connection_store.request_run(person.scope, connection.pk, Kind.SYNC)
    with pytest.raises(Forbidden):
        connection_store.create(bob.scope, NewConnection("web", options={"url": "https://a.org/"}))
    assert connection_store.connection_of(alice.scope, connection.pk) == connection


@pytest.mark.parametrize(
    ("new", "field"),
    [
        (NewConnection("folder"), "options.path"),
        (NewConnection("folder", options={"path": "/a", "more": 1}), "options.more"),
        (NewConnection("folder", options={"path": "/a"}, credentials={"t": "x"}), "credentials"),
        (NewConnection("web", options={"url": "http://127.0.0.1/"}), "options.url"),
        (NewConnection("github", options={"owner": "a/b", "repository": "c"}), "options.owner"),
        (NewConnection("folder", options={"path": f"/a/{TOKEN}"}), "options.path"),
        (
            NewConnection("github", options={"owner": "a", "repository": TOKEN}),
            "options.repository",
        ),
        (NewConnection("web", options={"url": f"https://a.org/?api_key={KEY}"}), "options.url"),
        (NewConnection("web", options={"url": f"https://ada:{KEY}@a.org/"}), "options.url"),
    ],
)
def test_wrong_options_are_refused(alice: Person, new: NewConnection, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        connection_store.create(alice.scope, new)
    assert refusal.value.field == field


def test_a_secret_in_changed_options_is_refused_and_one_that_is_allowed_stands(
    alice: Person, folder: Path, connection: Connection
) -> None:
    changes = {"options": {"path": f"{folder}/{TOKEN}"}}
    with pytest.raises(Invalid, match="belongs into `credentials`"):
        connection_store.change(alice.scope, connection.pk, changes)
    alice.workspace.settings = {"guard": {"allowed": ["key"]}}
    alice.workspace.save()
    changed = connection_store.change(alice.scope, connection.pk, changes)
    assert changed.options["path"].endswith(TOKEN)


def test_changed_options_list_the_source_anew(alice: Person, folder: Path, connection: Connection) -> None:
    ask(connection)
    changes = {"options": {"path": str(folder / "inner")}, "minutes": 0, "container_tags": ["x"]}
    changed = connection_store.change(alice.scope, connection.pk, changes)
    assert (changed.next_sync_at, changed.container_tags) == (None, ["x"])
    assert counts(again(alice, connection)) == {"added": 1, "deleted": 2}
