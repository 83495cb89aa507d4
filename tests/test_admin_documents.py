"""Documents in the browser: what was read, what failed and why, and another try."""

from pathlib import Path
from typing import Any

import pytest

from memories.documents import pipeline
from memories.models import Document
from tests.desk import list_of, member, messages_of, page_of
from tests.documents import hand_in, zipped
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def test_the_page_shows_text_chunks_places_and_what_was_left_out(
    alice: Person, mallory: Person
) -> None:
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
