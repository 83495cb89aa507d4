"""Words in pictures and scanned pages, and files in a tar."""

import io
import tarfile
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from memories.documents.read_in_child import read_in_child
from memories.file_formats.assembly import FileRefused
from memories.file_formats.child import read_file

SAID = "The heron comes at noon"


def drawn(kind: str, words: str = SAID) -> bytes:
    picture = Image.new("RGB", (900, 200), "white")
    ImageDraw.Draw(picture).text((40, 60), words, "black", ImageFont.load_default(size=56))
    data = io.BytesIO()
    picture.save(data, kind)
    return data.getvalue()


def tarred(files: dict[str, bytes], *, folder: str = "birds") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        archive.addfile(_of_type(folder, tarfile.DIRTYPE))
        for name, content in files.items():
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def _of_type(name: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    return info


def test_a_picture_is_read_and_says_how_sure_that_is():
    read = read_file(drawn("PNG"), "note.png")
    assert SAID in read.text
    assert (read.type, read.parts[0].label) == ("image", "page 1")
    assert read.parts[0].confidence is not None
    assert read.parts[0].confidence > 0.5


def test_a_scanned_page_is_read_as_a_picture():
    read = read_file(drawn("PDF"), "scan.pdf")
    assert SAID in read.text
    assert (read.type, read.pages, read.parts[0].label) == ("pdf", 1, "page 1")


def test_a_picture_without_words_has_no_text():
    assert read_file(drawn("PNG", ""), "empty.png").text == ""


def test_the_child_reads_pictures_within_its_bounds(tmp_path: Path):
    file = tmp_path / "note.png"
    file.write_bytes(drawn("PNG"))
    assert SAID in read_in_child(file, "note.png").text


def test_the_files_of_a_tar_are_its_parts():
    read = read_file(tarred({"a.txt": SAID.encode(), "b.txt": b"And at dusk."}), "birds.tar.gz")
    assert SAID in read.text
    assert "birds/b.txt" in [part.label for part in read.parts]


def test_a_tar_that_ends_too_early_is_damaged():
    with pytest.raises(FileRefused) as refused:
        read_file(tarred({"a.bin": bytes(range(256)) * 400})[:200], "birds.tar.gz")
    assert refused.value.code in ("damaged", "unsupported_type")


def test_a_tar_that_unpacks_to_very_much_is_refused():
    with pytest.raises(FileRefused) as refused:
        read_file(tarred({"a.txt": b" " * 60_000_000}), "birds.tar.gz")
    assert refused.value.code == "bomb"
