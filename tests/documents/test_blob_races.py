"""A file is brought and removed by several at once: a row never names a file that is not there."""

import fcntl
import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from memories.documents import blobs, document_store
from memories.documents.blobs import KeptFile
from memories.documents.document_store import NewDocument
from memories.errors import Forbidden
from memories.models import Blob, Document
from tests.live_server import wait_for
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = b"The same file of everybody."
DIGEST = hashlib.sha256(WORDS).hexdigest()
OURS = Blob.objects.filter(digest=DIGEST)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def beside(act: Callable[[], object]) -> threading.Thread:
    """In a thread with a connection of its own."""

    def run() -> None:
        try:
            act()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def removed(person: Person) -> None:
    with transaction.atomic(durable=True):
        blobs.drop_unused(person.workspace.pk, [DIGEST])


def is_there(person: Person) -> bool:
    return blobs.path_of(person.workspace.pk, DIGEST).is_file()


def bring(person: Person, **options: Any) -> Document:
    return document_store.receive(person.scope, NewDocument(parts=[WORDS], **options)).document


def test_a_file_that_comes_again_while_it_is_removed_stays(alice: Person) -> None:
    bring(alice).delete()
    with blobs.locked(blobs.folder_of(alice.workspace.pk), fcntl.LOCK_SH):
        remover = beside(lambda: removed(alice))
        assert wait_for(lambda: not OURS.exists())
        # Another request has put the same file there, and commits its row now.
        with transaction.atomic():
            KeptFile(alice.workspace.pk, DIGEST, len(WORDS)).row()
    remover.join()
    assert is_there(alice)


def test_a_file_whose_row_is_removed_before_a_document_names_it_gets_it_again(
    alice: Person,
) -> None:
    bring(alice).delete()
    known = document_store.receive(alice.scope, NewDocument(parts=[b"Old."], custom_id="a"))
    with transaction.atomic():
        list(Document.objects.select_for_update().filter(pk=known.document.pk))
        bringer = beside(lambda: bring(alice, custom_id="a"))
        remover = beside(lambda: removed(alice))
        assert wait_for(lambda: not OURS.exists())
    bringer.join()
    remover.join()
    document = Document.objects.select_related("blob").get()
    assert document.blob is not None
    assert (document.blob.digest, is_there(alice)) == (DIGEST, True)


def test_what_is_refused_leaves_no_row(bob: Person) -> None:
    with pytest.raises(Forbidden):
        bring(bob, agent_id="carol")
    assert not Blob.objects.exists()


def test_many_who_bring_and_remove_the_same_file_leave_no_row_without_it(alice: Person) -> None:
    faults: list[BaseException] = []

    def bring_often() -> None:
        for _ in range(12):
            try:
                document = bring(alice)
                if not is_there(alice):
                    raise AssertionError("a document names a file that is not there")
                Document.objects.filter(pk=document.pk).delete()
            except BaseException as error:
                faults.append(error)

    def remove() -> None:
        while any(each.is_alive() for each in bringing):
            removed(alice)
            blobs.unlink_unnamed(alice.workspace.pk, [DIGEST])

    bringing = [beside(bring_often) for _ in range(2)]
    removing = beside(remove)
    for each in [*bringing, removing]:
        each.join()
    assert faults == []
    assert Blob.objects.exists() == is_there(alice)


def test_a_file_whose_words_were_replaced_before_they_were_read_is_swept(alice: Person) -> None:
    for words in (WORDS, b"Other words, sent at once."):
        document_store.receive(alice.scope, NewDocument(parts=[words], custom_id="note"))
    path = blobs.path_of(alice.workspace.pk, DIGEST)
    assert path.is_file()
    assert blobs.sweep() == 1
    assert (path.exists(), OURS.exists(), Blob.objects.count()) == (False, False, 1)


def test_a_sweep_passes_over_what_is_no_workspace(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(alice)
    other = blobs.folder_of(alice.workspace.pk).parent / "lost+found"
    other.mkdir()
    (other / "piece").write_text("not ours")
    monkeypatch.setattr(blobs, "YOUNG", -1.0)
    assert blobs.sweep(blobs.ALL) == 0
    Document.objects.all().delete()
    Blob.objects.all().delete()
    assert blobs.sweep(blobs.ALL) == 1
    assert not is_there(alice)
    assert (other / "piece").exists()


def test_a_sweep_looks_through_one_folder_in_many_and_through_all_in_turn(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = blobs.folder_of(alice.workspace.pk)
    for digest in ("00" * 32, "7f" * 32, "ff" * 32):
        path = blobs.path_of(alice.workspace.pk, digest)
        path.parent.mkdir(parents=True)
        path.write_text("of no row")
    (folder / "new-stray").write_text("left by a request that died")
    monkeypatch.setattr(blobs, "YOUNG", -1.0)
    looked: list[Path] = []
    own = blobs.names_of_old_files
    monkeypatch.setattr(blobs, "names_of_old_files", lambda place: (looked.append(place), own(place))[1])
    found = []
    for part in blobs.ALL:
        looked.clear()
        found.append(blobs.sweep([part]))
        assert len(looked) == (2 if part == 0 else 1)
    assert {at: gone for at, gone in enumerate(found) if gone} == {0: 2, 0x7F: 1, 0xFF: 1}
    looked.clear()
    blobs.sweep()
    assert len(looked) <= 2
