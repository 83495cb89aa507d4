"""Files are dropped on a page, sent with their progress, and followed until they are read."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from memories.documents import pipeline
from memories.models import Document, Episode, Erasure
from memories.privacy import erase


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


@pytest.mark.parametrize("width", [1280, 390])
def test_files_are_handed_in_and_followed_until_they_are_read(visit: Any, width: int, settings: Any) -> None:
    ada = visit(viewport={"width": width, "height": 844})
    ada.opens("memories/document/upload/")
    page = ada.page
    page.locator("#id_tags").fill("north, house")
    files = [
        {"name": "pumps.md", "mimeType": "text/markdown", "buffer": b"# Pumps\n\nThe pump hums."},
        {"name": "blank.txt", "mimeType": "text/plain", "buffer": b" \n "},
    ]
    page.locator("#files").set_input_files(files)
    expect(page.locator("#sum")).to_contain_text("2 of 2 handed in")
    for document_id in pipeline.due():
        pipeline.run(document_id)
    expect(page.locator("#sum")).to_have_text("2 of 2 handed in, 1 read, 1 failed")
    expect(page.locator("#sent")).to_contain_text("no_text: There is no text in it.")
    assert ada.fits()
    document = Document.objects.get(state="done")
    assert document.container_tags == ["house", "north"]
    ada.follows(page.get_by_role("link", name="pumps.md"))
    assert "The pump hums." in ada.reads()
    assert ada.fits()


def test_what_is_too_large_or_wrongly_said_is_told_beside_the_file(visit: Any, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 2**20
    ada = visit()
    ada.opens("memories/document/upload/")
    page = ada.page
    large = {"name": "large.txt", "mimeType": "text/plain", "buffer": b"x" * (2**20 + 1)}
    page.locator("#files").set_input_files([large])
    expect(page.locator("#sent")).to_contain_text("too large")
    page.locator("#id_tags").fill("a tag with blanks")
    page.locator("#files").set_input_files([large | {"name": "small.txt", "buffer": b"x"}])
    expect(page.locator("#sum")).to_contain_text("2 failed")
    assert not Document.objects.exists()


LOG = (
    "14/10/2026, 15:34 - Greta: I moved to Umeå last week\n"
    "14/10/2026, 15:35 - Milo: I work as a baker\n"
    "14/10/2026, 15:36 - Milo: <Media omitted>\n"
)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_chat_is_tried_its_authors_mapped_kept_and_taken_back(visit: Any, width: int) -> None:
    ada = visit(viewport={"width": width, "height": 844})
    ada.opens("memories/document/upload/")
    page = ada.page
    page.locator("#id_kind").select_option("chats")
    page.locator("#id_user").fill("greta-1")
    page.locator("#files").set_input_files([{"name": "Family.txt", "mimeType": "text/plain", "buffer": LOG.encode()}])
    expect(page.locator("#sent")).to_contain_text("2 messages in 1 conversation")
    expect(page.locator("#sent")).to_contain_text("line 3: left out: a picture or file without words")
    kept = Episode.objects.filter(subject__external_id="greta-1")
    assert not kept.exists()
    page.get_by_label("Greta: 1 message").fill("greta-1")
    assert ada.fits()
    page.get_by_role("button", name="Keep these messages").click()
    expect(page.locator("#sent")).to_contain_text("2 kept, 0 were here already")
    assert set(kept.values_list("author", flat=True)) == {"", "Milo"}
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Take them back").click()
    expect(page.locator("#sent")).to_contain_text("taken back")
    for row in Erasure.objects.all():
        erase.run(row.pk)
    assert not kept.exists()


def test_a_log_that_nobody_knows_is_refused_beside_its_name(visit: Any) -> None:
    ada = visit()
    ada.opens("memories/document/upload/")
    page = ada.page
    page.locator("#id_kind").select_option("chats")
    log = "2026-03-09 10:00:01 [INFO] Greta: I moved\n" * 4
    page.locator("#files").set_input_files([{"name": "log.txt", "mimeType": "text/plain", "buffer": log.encode()}])
    expect(page.locator("#sent")).to_contain_text("it looks like a log")
