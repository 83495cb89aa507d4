"""PDFs as no program should write them: each is text or a failure that says why. `trypdfs` has
more of them."""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench.pdfs import broken, strange
from bench.pdfs.odd_pdfs import MAKING, odd_pdfs
from bench.pdfs.pdf_writer import with_pages
from bench.pdfs.trial import CODES
from memories.documents.read_in_child import read_in_child
from memories.file_formats.assembly import FileRefused
from memories.file_formats.child import read_file
from memories.models import Document
from tests.handed_in import hand_in
from tests.people import Person

# Of the quick ones, which say what the slow ones do by other means.
KINDS = (
    "truncated",
    "flipped",
    "shuffled",
    "noise",
    "wrong_table",
    "table_ring",
    "packed_objects",
    "page_ring",
    "deep_tree",
    "odd_filter",
    "deep_nesting",
    "odd_map",
    "locked",
    "script",
)


def end_of(path: Path) -> str:
    """Its code, or none."""
    try:
        read_in_child(path, path.name)
    except FileRefused as refusal:
        return refusal.code
    return ""


def test_every_odd_pdf_ends_as_text_or_as_a_code(tmp_path: Path) -> None:
    paths = []
    for name, data in odd_pdfs(len(MAKING), seed=5):
        if name.rpartition("-")[0] in KINDS:
            paths.append(tmp_path / name)
            paths[-1].write_bytes(data)
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(end_of, paths))
    assert len(ends) == len(KINDS)
    assert {"", "damaged", "encrypted"} <= set(ends) <= CODES | {""}


@pytest.mark.django_db(transaction=True)
def test_one_without_text_is_no_finished_document(alice: Person, tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"
    chance = random.Random(1)
    empty = hand_in(alice, strange.no_text(chance), filename="empty.pdf")
    locked = hand_in(alice, strange.locked(chance), filename="locked.pdf")
    assert (empty.state, empty.error_code) == (Document.State.FAILED, "no_text")
    assert (locked.state, locked.error_code) == (Document.State.FAILED, "encrypted")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("title", [rb"A\000B", b"\xfe\xff\xd8\x00\x00"])
def test_name_that_no_database_keeps_holds_no_document_back(
    alice: Person, tmp_path: Path, settings: Any, title: bytes
) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"
    made = with_pages(random.Random(1))
    made.trailer = b"/Info %d 0 R" % made.add(b"<</Title(%s)/Author(%s)>>" % (title, title))
    document = hand_in(alice, made.written(), filename="odd.pdf")
    assert (document.state, document.title in ("AB", "odd.pdf")) == (Document.State.DONE, True)


def test_pdf_behind_what_a_server_put_before_it_is_read() -> None:
    found = read_file(broken.junk_before(random.Random(3)), "page.pdf")
    assert found.type == "pdf"
    assert found.text.startswith("The ")


def test_text_about_pdfs_is_text() -> None:
    assert read_file(b"A file begins with %PDF-1.7 and a line.", "note.txt").type == "text"


def test_pdf_whose_pages_are_all_damaged_is_damaged() -> None:
    made = with_pages(random.Random(1), 0, count=b"7").written()
    with pytest.raises(FileRefused) as refused:
        read_file(made, "seven.pdf")
    assert refused.value.code == "damaged"


def test_the_seed_decides_the_files() -> None:
    assert list(odd_pdfs(5, seed=1)) == list(odd_pdfs(5, seed=1))
    one, other = (dict(itertools.islice(odd_pdfs(5, seed), 5)) for seed in (1, 2))
    assert one != other
