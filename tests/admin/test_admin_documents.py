"""Documents in the browser: what was read, what failed and why, and another try."""

from pathlib import Path
from typing import Any

import pytest

from memories import ingest
from memories.documents import pipeline
from memories.models import Document, Memory, Revision
from tests.desk import list_of, member, messages_of, page_of
from tests.handed_in import hand_in, zipped
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def test_the_page_shows_text_chunks_places_and_what_was_left_out(alice: Person, mallory: Person) -> None:
    data = zipped({"birds.txt": "The heron fishes at noon.", "noise.bin": b"\0\1\2" * 900})
    document = hand_in(alice, data, filename="birds.zip", container_tags=["north"])
    desk = member(alice.workspace)
    shown = desk.sees(page_of(document))
    for words in ("The heron fishes at noon.", "birds.txt", "noise.bin", "north", "indexing"):
        assert words in shown
    assert "birds" in desk.sees(list_of(Document), state="done")
    assert "birds" not in desk.sees(list_of(Document), state="working")
    assert member(mallory.workspace).status(page_of(document)) == 404


def test_what_failed_is_told_and_tried_again_by_a_button(alice: Person) -> None:
    document = hand_in(alice, " \n ", filename="blank.txt")
    desk = member(alice.workspace)
    assert "There is no text in it." in desk.sees(list_of(Document), state="failed")
    assert "Nothing was read of it yet." in desk.sees(page_of(document))
    desk.does(document, "retry")
    assert pipeline.due() == [document.pk]
    assert "is failed" not in messages_of(desk.does(document, "reprocess"))


def test_what_was_read_is_read_anew_by_a_button(alice: Person) -> None:
    document = hand_in(alice, "The heron fishes.")
    member(alice.workspace).does(document, "reprocess")
    assert pipeline.due() == [document.pk]
    viewer = member(alice.workspace, "viewer")
    assert "/do/reprocess/" not in viewer.sees(page_of(document))


def test_what_was_learned_from_a_document_is_one_click_away_to_be_forgotten(alice: Person, mallory: Person) -> None:
    said = "Every deployment must pass the smoke test."
    document = hand_in(alice, said, filename="rules.md", user_id="mara")
    revision = Revision.objects.get(document=document)
    assert revision.session_id is not None
    ingest.run(revision.session_id)
    alice.tell("Figs are kept in the attic.", user_id="mara")
    desk = member(alice.workspace)
    address = f"{list_of(Memory)}?document={document.pk}"
    assert address in desk.sees(page_of(document))
    listed = desk.sees(address)
    assert "smoke test" in listed
    assert "attic" not in listed
    assert "smoke test" not in member(mallory.workspace).sees(address)
    assert "attic" in desk.sees(f"{list_of(Memory)}?document=none")
