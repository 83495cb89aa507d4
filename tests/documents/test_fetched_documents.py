"""Documents by their address: the worker fetches them, and says why where it cannot."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Response

from memories.documents import document_store, fetch_document, pipeline
from memories.documents.document_store import NewDocument
from memories.errors import Invalid
from memories.models import Connection, ConnectionItem, Document, SyncRun
from memories.providers.web_fetch import FetchError
from memories.sources.connections import connection_store, sync
from memories.sources.connections.connection_store import NewConnection
from tests.documents.test_connector_github import REPO, Repository
from tests.people import Person
from tests.source_stubs import Stub, says

PAGE = "<html><head><title>Herons</title></head><body><p>{}</p></body></html>"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def by_address(person: Person, httpserver: HTTPServer, path: str, **named: Any) -> Document:
    url = f"http://localhost:{httpserver.port}{path}"
    return document_store.receive(person.scope, NewDocument(None, url=url, **named)).document


def read(document: Document) -> Document:
    return pipeline.run(document.pk) or Document.objects.get(pk=document.pk)


def due_now(document: Document) -> None:
    Document.objects.filter(pk=document.pk).update(next_attempt_at=timezone.now())


def test_a_page_is_fetched_by_the_worker_and_read(alice: Person, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/birds.html").respond_with_data(
        PAGE.format("The heron fishes at noon."), content_type="text/html"
    )
    document = by_address(alice, httpserver, "/birds.html", custom_id="birds")
    assert httpserver.log == []
    done = read(document)
    assert (done.status, done.type, done.filename) == ("completed", "webpage", "birds.html")
    assert done.revision is not None
    assert "The heron fishes at noon." in done.revision.text
    assert [step["step"] for step in done.steps][:2] == ["fetching", "extracting"]


def test_the_same_id_fetches_it_again(alice: Person, httpserver: HTTPServer) -> None:
    for words in ("It fishes at noon.", "It sleeps at noon."):
        httpserver.expect_oneshot_request("/").respond_with_data(PAGE.format(words))
        done = read(by_address(alice, httpserver, "/", custom_id="birds"))
    assert done.revisions.count() == 2
    assert done.revision is not None
    assert "sleeps" in done.revision.text
    assert Document.objects.count() == 1


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Response("no", 404), "source_gone"),
        (Response("no", 403), "login_required"),
        (Response("no", 418), "fetch_status"),
        (Response("", 302, {"Location": "http://127.0.0.1/"}), "fetch_refused"),
        (Response("  "), "no_text"),
    ],
)
def test_what_cannot_be_fetched_says_why(alice: Person, httpserver: HTTPServer, answer: Response, code: str) -> None:
    httpserver.expect_request("/").respond_with_response(answer)
    done = read(by_address(alice, httpserver, "/"))
    assert (done.state, done.error_code) == ("failed", code)


def test_a_fault_that_may_pass_is_tried_again_and_told_in_the_end(alice: Person, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("no", status=500)
    document = by_address(alice, httpserver, "/")
    for _ in range(pipeline.MAX_ATTEMPTS):
        due_now(document)
        document = read(document)
    assert (document.state, document.error_code) == ("failed", "fetch_status")
    assert "500" in document.reason
    assert len(httpserver.log) == pipeline.MAX_ATTEMPTS


def test_a_server_that_wants_a_pause_gets_it_and_it_is_no_attempt(alice: Person, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("slow down", status=429, headers={"Retry-After": "600"})
    document = read(by_address(alice, httpserver, "/"))
    assert (document.status, document.attempts) == ("pending", 0)
    assert document.next_attempt_at is not None
    pause = document.next_attempt_at - timezone.now()
    assert timedelta(seconds=500) < pause < timedelta(seconds=601)


def test_an_address_of_the_inside_is_refused_at_once(alice: Person) -> None:
    for url in ("http://127.0.0.1/", "file:///etc/passwd", "nonsense"):
        with pytest.raises(Invalid) as refusal:
            document_store.receive(alice.scope, NewDocument(None, url=url))
        assert refusal.value.field == "url"
    assert not Document.objects.exists()


# ---- by a connection


@pytest.fixture
def repository() -> Repository:
    made = Repository()
    made.commit(a_md="Alpha is first.", b_md="Beta is second.")
    return made


@pytest.fixture
def stub(httpserver: HTTPServer, repository: Repository, settings: Any) -> Stub:
    made = Stub(httpserver, repository.answer)
    settings.CONNECTION_ADDRESSES = [f"github={made.url}"]
    settings.FETCH_ALLOWED_HOSTS = []
    return made


@pytest.fixture
def connection(alice: Person, stub: Stub) -> Connection:
    options = {"owner": "ada", "repository": "pumps"}
    new = NewConnection("github", options=options, credentials={"token": "secret"})
    return connection_store.create(alice.scope, new)


def ask(person: Person, connection: Connection, kind: str = "sync") -> SyncRun:
    run = connection_store.request_run(person.scope, connection.pk, kind)
    sync.run(run.pk)
    run.refresh_from_db()
    return run


def read_due() -> None:
    for document in pipeline.due():
        pipeline.run(document)


def test_only_what_changed_is_fetched(
    alice: Person, stub: Stub, repository: Repository, connection: Connection
) -> None:
    ask(alice, connection)
    read_due()
    assert sorted(d.status for d in Document.objects.all()) == ["completed"] * 2
    repository.commit(a_md="Alpha is last.", b_md="Beta is second.")
    stub.asked.clear()
    assert ask(alice, connection).counts == {"changed": 1}
    read_due()
    fetched = [path for path in stub.asked if "/contents/" in path]
    assert fetched == [f"{REPO}/contents/a.md"]
    assert Document.objects.get(filename="a.md").revisions.count() == 2


def test_a_full_sync_fetches_nothing_that_is_the_same(alice: Person, stub: Stub, connection: Connection) -> None:
    ask(alice, connection)
    read_due()
    assert ask(alice, connection, "full").counts == {"unchanged": 2}
    assert pipeline.due() == []


def test_a_limit_stops_all_documents_of_the_source_until_it_is_over(
    alice: Person, stub: Stub, connection: Connection
) -> None:
    ask(alice, connection)
    stub.asked.clear()
    stub.faults = [Response("", 429, {"Retry-After": "300"})]
    read_due()
    assert len(stub.asked) == 1
    assert {(d.status, d.attempts) for d in Document.objects.all()} == {("pending", 0)}
    run = ask(alice, connection)
    assert (run.state, run.error) == ("waiting", "Its source wants a pause.")
    Connection.objects.update(paused_until=timezone.now())
    Document.objects.update(next_attempt_at=timezone.now())
    SyncRun.objects.update(next_attempt_at=timezone.now())
    read_due()
    assert {d.status for d in Document.objects.all()} == {"completed"}


def test_a_sync_that_hits_the_limit_goes_on_where_it_was(alice: Person, stub: Stub, connection: Connection) -> None:
    stub.faults = [says({"default_branch": "main"}), Response("", 429, {"Retry-After": "300"})]
    run = ask(alice, connection)
    assert (run.state, run.attempts) == ("waiting", 0)
    assert run.next_attempt_at is not None
    assert run.next_attempt_at > timezone.now()
    SyncRun.objects.update(next_attempt_at=timezone.now())
    Connection.objects.update(paused_until=None)
    sync.run(run.pk)
    assert Document.objects.count() == 2


def test_a_fault_of_the_source_is_tried_again_and_told_in_the_end(
    alice: Person, stub: Stub, connection: Connection
) -> None:
    stub.faults = [Response("", 500) for _ in range(sync.MAX_ATTEMPTS)]
    for _ in range(sync.MAX_ATTEMPTS):
        SyncRun.objects.update(next_attempt_at=timezone.now())
        run = ask(alice, connection)
    assert (run.state, run.error_code) == ("failed", "fetch_status")
    connection.refresh_from_db()
    assert connection.error_code == "fetch_status"
    assert ask(alice, connection).state == "done"
    connection.refresh_from_db()
    assert connection.error_code == ""


def test_what_is_missing_once_stays_and_missing_again_goes(
    alice: Person, stub: Stub, repository: Repository, connection: Connection
) -> None:
    ask(alice, connection)
    read_due()
    item = ConnectionItem.objects.get(external_id="a.md")
    del repository.commits[-1]["a.md"]
    for misses in (1, 2):
        Document.objects.filter(pk=item.document_id).update(blob=None, state="queued", next_attempt_at=timezone.now())
        read_due()
        item.refresh_from_db()
        document = Document.objects.get(pk=item.document_id)
        assert (item.misses, document.status) == (misses, "completed")
        assert document.blob is not None
    assert ask(alice, connection).counts["deleted"] == 1


def test_credentials_are_sealed_for_their_row_and_never_kept_plain(connection: Connection, settings: Any) -> None:
    sealed = bytes(Connection.objects.get().credentials)
    assert b"secret" not in sealed
    assert fetch_document.unseal(connection) == {"token": "secret"}
    other = Connection(provider="github", credentials=sealed)
    settings_key = settings.CONNECTION_KEY
    with pytest.raises(FetchError):
        fetch_document.unseal(other)
    settings.CONNECTION_KEY = f"not {settings_key}"
    run = connection.runs.get()
    sync.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error_code) == ("failed", "login_required")


def test_new_credentials_take_the_place_of_old_ones(alice: Person, connection: Connection) -> None:
    change = {"credentials": {"token": "wrong"}}
    connection_store.change(alice.scope, connection.pk, change)
    assert ask(alice, connection).error_code == "login_required"
    connection_store.change(alice.scope, connection.pk, {"credentials": {}})
    assert not Connection.objects.get().has_credentials


def test_options_of_an_older_version_fail_the_run(alice: Person, connection: Connection) -> None:
    Connection.objects.update(options={"owner": "ada"})
    assert ask(alice, connection).error_code == "fetch_refused"
