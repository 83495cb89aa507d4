"""A workspace's share of kept files: one tenant does not fill the disk of all."""

import threading
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from memories.documents import blobs, document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.errors import WorkspaceFull
from memories.models import Blob, Connection, Document, SyncRun
from memories.privacy import erase
from memories.sources.connections import connection_store, sync
from memories.sources.connections.connection_store import NewConnection
from tests.api_fixtures import Answer, Caller, caller
from tests.desk import member
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)
MB = 2**20
FORM = "multipart/form-data; boundary=b"


@pytest.fixture(autouse=True)
def one_megabyte(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"
    settings.WORKSPACE_FILES_MAX_MB = 1


def words(letter: str, size: int = 400_000) -> str:
    return (letter * 9 + " ") * (size // 10)


def send(http: Caller, content: str, **more: Any) -> Answer:
    return http.post("/documents", {"content": content, "mode": "async", **more})


def files_on_the_disk(person: Person) -> int:
    folder = blobs.folder_of(person.workspace.pk)
    return sum(each.is_file() for each in folder.rglob("*"))


def bring(person: Person, content: str, **more: Any) -> Document:
    new = NewDocument(parts=[content.encode()], **more)
    return document_store.receive(person.scope, new).document


def erase_all(person: Person, document: Document) -> None:
    erase.request(person.scope, erase.target_of(person.scope, "document", document.pk))
    for erasure in erase.due():
        erase.run(erasure)


def test_a_file_beyond_the_share_is_refused_with_what_is_used_and_not_kept(alice: Person, mallory: Person) -> None:
    http = caller(alice)
    for letter in "ab":
        assert send(http, words(letter)).status == 202
    form = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="c.txt"\r\n\r\n'
        + words("c").encode()
        + b"\r\n--b--\r\n"
    )
    known = Document.objects.filter(workspace=alice.workspace)[0].pk
    for answer in (
        send(http, words("c")),
        http.call("POST", "/documents", form, content_type=FORM),
        http.patch(f"/documents/{known}", {"content": words("c")}),
    ):
        assert (answer.status, answer.is_problem) == (507, True)
        assert answer.body["code"] == "workspace_full"
        assert "may keep 1 MB of files (WORKSPACE_FILES_MAX_MB)" in answer.body["detail"]
        assert "keeps 0.8 MB already" in answer.body["detail"]
        assert "Delete documents" in answer.body["detail"]
        assert "Retry-After" not in answer.headers
    [item] = http.post("/documents/batch", {"documents": [{"content": words("c")}]}).body["results"]
    assert item["status"] == 507
    assert (Blob.objects.count(), files_on_the_disk(alice)) == (2, 2)
    assert send(http, "A short one.").status == 202  # has room
    assert send(caller(mallory), words("c")).status == 202  # another workspace has its own share


def test_a_file_that_is_there_takes_no_more_room(alice: Person) -> None:
    http = caller(alice)
    for letter in "ab":
        send(http, words(letter), customId=letter)
    assert send(http, words("a"), customId="a").status == 200  # says what it said
    assert send(http, words("a"), customId="another").status == 202
    used = http.get("/usage").body["keptFiles"]
    assert used == {"count": 2, "bytes": 800_000, "limitBytes": MB}


def test_a_narrow_key_learns_neither_how_much_nor_whether_a_file_is_there(alice: Person, bob: Person) -> None:
    for letter in "ab":
        bring(alice, words(letter))
    theirs, new = (send(caller(bob), words(letter)) for letter in "ac")
    assert theirs.status == new.status == 507
    assert theirs.body["detail"] == new.body["detail"]
    assert "0.8" not in new.body["detail"]


def test_what_is_erased_gives_its_room_back(alice: Person) -> None:
    first, _ = (bring(alice, words(letter)) for letter in "ab")
    with pytest.raises(WorkspaceFull):
        bring(alice, words("c"))
    erase_all(alice, first)
    bring(alice, words("c"))
    assert blobs.share_of(alice.workspace.pk).bytes == 800_000


def test_two_that_come_at_once_do_not_share_the_room_of_one(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=60)
    before = blobs.KeptFile.refuse_more
    told: list[str] = []

    def looked(file: blobs.KeptFile) -> None:
        before(file)
        both.wait()  # both have seen that there is room

    monkeypatch.setattr(blobs.KeptFile, "refuse_more", looked)

    def run(letter: str) -> None:
        try:
            bring(alice, words(letter, 700_000))
            told.append("kept")
        except WorkspaceFull:
            told.append("full")
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[letter]) for letter in "ab"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(told) == ["full", "kept"]
    assert blobs.share_of(alice.workspace.pk).bytes == 700_000
    assert files_on_the_disk(alice) == 1


def test_without_a_limit_all_is_kept_and_counted(alice: Person, settings: Any) -> None:
    settings.WORKSPACE_FILES_MAX_MB = 0
    for letter in "abc":
        bring(alice, words(letter))
    told = caller(alice).get("/usage").body["keptFiles"]
    assert told == {"count": 3, "bytes": 1_200_000, "limitBytes": None}
    assert "no limit" in member(alice.workspace).sees(reverse("admin:memories_usage"))


def test_the_page_of_usage_tells_what_is_kept(alice: Person) -> None:
    bring(alice, "x" * MB)
    html = member(alice.workspace).sees(reverse("admin:memories_usage"))
    assert "<strong>1</strong>file of documents" in html
    assert "<strong>1.0\xa0MB</strong>of them, of 1.0\xa0MB" in html


def test_what_is_kept_is_summed_by_one_statement_and_an_index(alice: Person) -> None:
    bring(alice, "One.")
    with connection.cursor() as cursor:
        cursor.execute("set enable_seqscan = off")
        rows = Blob.objects.filter(workspace_id=alice.workspace.pk)
        assert "blob_once" in rows.explain()
        cursor.execute("reset enable_seqscan")
    assert blobs.share_of(alice.workspace.pk) == blobs.FileShare(1, 4, MB)


def test_a_command_names_the_files_that_were_refused(
    alice: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for letter in "abc":
        (tmp_path / f"{letter}.txt").write_text(words(letter))
    slug = alice.workspace.slug
    with pytest.raises(CommandError):
        call_command("ingestfile", str(tmp_path), "--documents", "--workspace", slug)
    told = capsys.readouterr()
    assert "c.txt: The workspace may keep 1 MB of files" in told.out + told.err


@pytest.fixture
def source(alice: Person, tmp_path: Path, settings: Any) -> Connection:
    settings.CONNECTION_FOLDERS = [str(tmp_path)]
    folder = tmp_path / "notes"
    folder.mkdir()
    for letter in "ab":
        (folder / f"{letter}.txt").write_text(words(letter))
    new = NewConnection("folder", options={"path": str(folder)})
    return connection_store.create(alice.scope, new)


def synced(source: Connection) -> SyncRun:
    sync.run(source.runs.order_by("-id")[0].pk)
    return source.runs.order_by("-id")[0]


def due_now() -> None:
    Document.objects.exclude(next_attempt_at=None).update(next_attempt_at=timezone.now())
    for document in pipeline.due():
        pipeline.run(document)


def test_a_connection_pauses_with_its_reason_and_goes_on_when_there_is_room(
    alice: Person, source: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    filling = bring(alice, "x" * MB, extract="none")
    pipeline.run(filling.pk)
    synced(source)
    due_now()
    states = Document.objects.exclude(pk=filling.pk).values_list("state", "attempts", "reason")
    assert [(state, attempts) for state, attempts, _ in states] == [("queued", 0)] * 2
    assert all("may keep 1 MB of files" in reason for *_, reason in states)
    told = caller(alice).get(f"/connections/{source.pk}").body
    assert told["pausedUntil"] is not None
    assert (told["errorCode"], "may keep 1 MB" in told["error"]) == (None, True)
    page = member(alice.workspace).sees(reverse("admin:memories_connection_change", args=[source.pk]))
    assert "may keep 1 MB of files" in page
    assert ">paused<" in page
    connection_store.request_run(alice.scope, source.pk, SyncRun.Kind.SYNC)
    run = synced(source)
    assert (run.state, "may keep 1 MB" in run.error) == ("waiting", True)

    erase_all(alice, filling)
    Connection.objects.update(paused_until=timezone.now())
    due_now()
    assert set(Document.objects.values_list("state", flat=True)) == {"done"}
    source.refresh_from_db()
    assert (source.error, source.paused_until) == ("", None)


def test_no_source_is_asked_for_what_could_not_be_kept(
    alice: Person, source: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(alice, "x" * MB)
    synced(source)
    monkeypatch.setattr(
        "memories.sources.connectors.server_folder.FolderConnector.fetch",
        lambda *given: pytest.fail("it was asked"),
    )
    due_now()


def test_a_fetched_file_that_is_too_large_for_the_room_leaves_smaller_ones_their_turn(
    alice: Person, source: Connection, tmp_path: Path
) -> None:
    (tmp_path / "notes" / "a.txt").write_text(words("a", 900_000))
    filling = bring(alice, words("f", 300_000))
    pipeline.run(filling.pk)
    synced(source)
    due_now()
    states = dict(Document.objects.values_list("filename", "state"))
    assert (states["a.txt"], states["b.txt"]) == ("queued", "done")
    assert "may keep 1 MB" in Document.objects.get(filename="a.txt").reason
    source.refresh_from_db()
    assert source.paused_until is None
