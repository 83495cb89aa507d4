"""Documents from the file to what is found, and away again."""

import math
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from memories.documents import blobs, document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.errors import Conflict, Forbidden, Invalid, NotFound
from memories.models import (
    AsOf,
    Blob,
    Chunk,
    Document,
    DocumentPart,
    Entry,
    Layer,
    Passage,
    Revision,
    WorkspaceIndex,
)
from memories.privacy import erase as erasing
from memories.worker import sweep
from tests.handed_in import PUMPS, hand_in, look_for, titles, zipped
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def agrees() -> bool:
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())
    return True


def test_a_text_is_read_cut_and_found(alice: Person) -> None:
    document = hand_in(alice, filename="pumps.md")
    assert (document.state, document.title) == ("done", "Pumps of the north")
    assert [step["step"] for step in document.steps] == [
        "extracting",
        "chunking",
        "indexing",
        "embedding",
    ]
    [hit] = look_for(alice, "How often does the copper pump need oil?").hits
    first = hit.passages[0]
    assert "every ninth day" in first.row.content
    assert document.revision is not None
    assert first.row.content == document.revision.text[first.row.start : first.row.end]
    assert first.row.parts[0]["label"] == "Pumps of the north"
    assert document.summary
    assert agrees()


def test_every_piece_is_a_place_in_the_text_and_each_passage_is_of_one_chunk(alice: Person) -> None:
    text = "\n\n".join(f"# Chapter {n}\n\n" + f"The keeper {n} counts pumps. " * 90 for n in range(6))
    document = hand_in(alice, text, filename="long.md")
    revision = document.revision
    assert revision is not None
    for piece in [*Chunk.cut.filter(revision=revision), *Passage.objects.filter(revision=revision)]:
        assert piece.content == revision.text[piece.start : piece.end]
    covered = sum(each.end - each.start for each in Passage.objects.filter(revision=revision))
    assert covered > 0.98 * len(revision.text)
    for passage in Passage.objects.select_related("chunk"):
        assert passage.chunk.start <= passage.start
        assert passage.end <= passage.chunk.end
    sizes = list(Chunk.objects.values_list("tokens", flat=True))
    assert max(sizes) <= 800 * 1.2
    assert len(sizes) > 3


def test_a_new_revision_takes_the_place_of_the_old_one_which_is_found_as_known_then(
    alice: Person,
) -> None:
    first = hand_in(alice, "The gate is painted green.", custom_id="gate")
    then = timezone.now()
    second = hand_in(alice, "The gate is painted violet.", custom_id="gate")
    assert first.pk == second.pk
    assert second.revision is not None
    assert second.revision.number == 2
    query = "What colour is the gate painted?"
    assert [h.passages[0].row.content for h in look_for(alice, query).hits] == ["The gate is painted violet."]
    past = look_for(alice, query, at=AsOf(known_at=then)).hits
    assert [h.passages[0].row.content for h in past] == ["The gate is painted green."]
    assert WorkspaceIndex.objects.get().live_chunks == 1
    assert agrees()


def test_the_same_words_again_change_nothing(alice: Person) -> None:
    hand_in(alice, custom_id="pumps")
    new = NewDocument(parts=[PUMPS.encode()], custom_id="pumps")
    assert document_store.receive(alice.scope, new).is_unchanged
    assert Revision.objects.count() == 1


def test_what_is_nothing_is_refused_and_what_has_no_text_fails(alice: Person) -> None:
    with pytest.raises(Invalid):
        hand_in(alice, "")
    document = hand_in(alice, " \n\t \n")
    assert (document.state, document.error_code) == ("failed", "no_text")
    with pytest.raises(Conflict):
        document_store.retry(alice.scope, hand_in(alice).pk)
    assert document_store.retry(alice.scope, document.pk).status == "pending"


def test_an_archive_is_read_file_by_file_and_a_bomb_is_refused(alice: Person) -> None:
    document = hand_in(alice, zipped({"a/one.txt": "The heron fishes.", "b.md": "# Otters\n\nSwim."}))
    labels = DocumentPart.objects.filter(kind="file").values_list("label", flat=True)
    assert (document.type, list(labels)) == ("archive", ["a/one.txt", "b.md"])
    bomb = hand_in(alice, zipped({"x.txt": b"0" * 60_000_000}))
    assert (bomb.state, bomb.error_code) == ("failed", "bomb")


def test_spaces_documents_and_types_narrow_a_search(alice: Person) -> None:
    north = hand_in(alice, "The north pump is red.", container_tags=["north"], title="N")
    hand_in(alice, "The south pump is red.", container_tags=["south"], title="S")
    assert set(titles(alice, "red pump")) == {"N", "S"}
    assert titles(alice, "red pump", container_tags=("north",)) == ["N"]
    assert titles(alice, "red pump", document_ids=(north.pk,)) == ["N"]
    assert titles(alice, "red pump", types=("pdf",)) == []
    answer = look_for(alice, "quokka", container_tags=("none",), fallback="recent")
    assert (answer.hits, answer.search_path) == ([], "recent")
    again = look_for(alice, "zzz", types=("pdf",), fallback="recent")
    assert again.search_path == "recent"
    document_store.change(alice.scope, north.pk, {"container_tags": ["west"], "title": "W"})
    assert titles(alice, "red pump", container_tags=("west",)) == ["W"]


def test_who_may_see_a_document_finds_it_and_nobody_else(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    private = hand_in(bob, "Bob hides a walnut.", visibility="private", custom_id="w")
    assert titles(bob, "walnut")
    assert titles(alice, "walnut")
    for other in (carol, mallory):
        assert titles(other, "walnut") == []
        with pytest.raises(NotFound):
            document_store.document_of(other.scope, private.pk)
    with pytest.raises(Conflict):
        hand_in(carol, "Mine.", custom_id="w")
    with pytest.raises(Forbidden):
        hand_in(bob, "As another.", agent_id="carol")
    document_store.change(bob.scope, private.pk, {"visibility": "global"})
    assert titles(carol, "walnut")
    assert titles(mallory, "walnut") == []


def test_what_is_found_in_the_search_of_memories_and_in_a_context(alice: Person) -> None:
    hand_in(alice, filename="pumps.md")
    [hit, *_] = alice.ask("How often does the copper pump need oil?", layers=("chunks",))
    assert "every ninth day" in hit.row.content


def test_an_erased_document_is_gone_with_its_file(alice: Person) -> None:
    document = hand_in(alice, "The password of the vault is Zanzibarquokka and no other.")
    files = [f for f in blobs.folder_of(alice.workspace.pk).rglob("*") if f.is_file()]
    assert len(files) == 1
    target = erasing.target_of(alice.scope, "document", document.pk)
    plan = erasing.plan(target)
    assert (plan["documents"], plan["files"], plan["revisions"]) == (1, 1, 1)
    done = erasing.run(erasing.request(alice.scope, target).pk)
    assert done is not None
    assert done.proof["clean"]
    assert done.proof["texts"] == 1
    assert not files[0].exists()
    assert not Blob.objects.exists()
    assert not Entry.objects.filter(layer=Layer.CHUNKS).exists()
    assert agrees()


def test_the_documents_of_an_erased_subject_go_with_it(alice: Person) -> None:
    mine = hand_in(alice, "Ada owns a zeppelin of copper.", user_id="ada")
    hand_in(alice, "Ben owns a zeppelin of tin.", user_id="ben")
    assert mine.subject is not None
    target = erasing.target_of(alice.scope, "subject", mine.subject.pk)
    done = erasing.run(erasing.request(alice.scope, target).pk)
    assert done is not None
    assert done.proof["clean"]
    assert Document.objects.count() == 1


def test_a_worker_that_died_loses_nothing_and_doubles_nothing(alice: Person) -> None:
    kept = document_store.receive(alice.scope, NewDocument(parts=[PUMPS.encode()])).document
    states = ("extracting", "chunking", "indexing", "embedding")
    for state in states:
        left = {"state": state, "lease_until": None, "attempts": 0, "next_attempt_at": timezone.now()}
        Document.objects.filter(pk=kept.pk).update(**left)
        assert pipeline.due() == [kept.pk]
        assert pipeline.run(kept.pk) is not None
    assert Revision.objects.count() == 1
    assert Passage.objects.count() == Entry.objects.filter(layer=Layer.CHUNKS).count()
    left |= {"state": "extracting", "attempts": pipeline.MAX_ATTEMPTS}
    Document.objects.filter(pk=kept.pk).update(**left)
    done = pipeline.run(kept.pk)
    assert done is not None
    assert done.error_code == "attempts"
    assert pipeline.run(kept.pk) is None
    assert agrees()


def test_the_sweep_reads_what_waits_and_removes_files_without_a_row(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_store.receive(alice.scope, NewDocument(parts=[PUMPS.encode()]))
    stray = blobs.folder_of(alice.workspace.pk) / "new-stray"
    stray.write_text("left by a request that died")
    monkeypatch.setattr(blobs, "YOUNG", -1.0)
    done = sweep.sweep(seconds=math.inf)
    assert (done.documents, done.blobs) == (1, 1)
    assert not stray.exists()
    assert Document.objects.get().state == "done"


def test_a_file_that_is_gone_and_sizes_that_change(alice: Person) -> None:
    document = hand_in(alice, "The pump hums. " * 900)
    before = Chunk.objects.count()
    alice.workspace.settings = {"chunks": {"size": 200, "overlap": 50, "minimum": 20}}
    alice.workspace.save()
    document_store.reprocess(alice.scope, document.pk)
    assert pipeline.run(document.pk) is not None
    assert Chunk.objects.count() > 2 * before
    assert agrees()
    for file in blobs.folder_of(alice.workspace.pk).rglob("*"):
        if file.is_file():
            file.unlink()
    document_store.reprocess(alice.scope, document.pk)
    done = pipeline.run(document.pk)
    assert done is not None
    assert done.error_code == "source_gone"


@pytest.mark.parametrize("act", ["claimed by another", "erased"])
def test_who_was_taken_over_while_it_was_cut_writes_nothing(
    act: str, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = document_store.receive(alice.scope, NewDocument(parts=[PUMPS.encode()])).document

    def overtaken(row: Document, found: Any) -> str:
        rows = Document.objects.filter(pk=kept.pk)
        rows.delete() if act == "erased" else rows.update(claims=7)
        return "A title"

    monkeypatch.setattr(pipeline, "title_of", overtaken)
    assert pipeline.run(kept.pk) is None
    assert not Revision.objects.exists()
    assert not Entry.objects.filter(layer=Layer.CHUNKS).exists()
    assert WorkspaceIndex.objects.get().live_chunks == 0
