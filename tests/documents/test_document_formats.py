"""Files of every kind, read as the child process reads them; and what is no file to be read."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pypdfium2 as pdfium
import pytest
from PIL import Image, ImageDraw

from memories.documents.read_in_child import read_in_child
from memories.file_formats.assembly import FileRefused, FileText
from memories.file_formats.child import read_file
from tests.handed_in import zipped

SAID = "The heron comes at noon"


def place_of(found: FileText, kind: str) -> str:
    """The label of the part of that kind in which the sentence stands."""
    at = found.text.index(SAID)
    return next(p.label for p in found.parts if p.kind == kind and p.start <= at < p.end)


def saved(made: Any) -> bytes:
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def word() -> bytes:
    made = docx.Document()
    made.add_heading("Birds", 1)
    made.add_paragraph(f"{SAID}.")
    made.add_table(1, 2).cell(0, 1).text = "a cell"
    made.add_paragraph("in a list", style="List Bullet")
    return saved(made)


def slides() -> bytes:
    made = pptx.Presentation()
    for text in ("First", SAID):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = text
        slide.notes_slide.notes_text_frame.text = "said aside"
    return saved(made)


def sheets() -> bytes:
    made = openpyxl.Workbook()
    made.active.title = "Prices"
    made.active.append(["item", 12.5, True])
    made.create_sheet("Birds").append([SAID, "x"])
    return saved(made)


def pdf(pages: list[str]) -> bytes:
    """Each page with its text, drawn by the library's own font."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for text in pages:
        stream = f"BT /F1 18 Tf 50 700 Td ({text}) Tj ET" if text else ""
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
            f" /Contents {len(objects)} 0 R /Resources << /Font << /F1 << /Type /Font"
            " /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    body, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


def book() -> bytes:
    spine = (
        "<package><metadata><title>Birds</title></metadata>"
        '<manifest><item id="a" href="one.xhtml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    container = '<container><rootfiles><rootfile full-path="O/c.opf"/></rootfiles></container>'
    page = f"<html><body><h1>Chapter</h1><p>{SAID}.</p></body></html>"
    return zipped({"META-INF/container.xml": container, "O/c.opf": spine, "O/one.xhtml": page})


MAIL = f"""From: Ada <ada@example.org>
Subject: Birds
Date: Mon, 2 Nov 2026 10:00:00 +0000
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html; charset=latin-1

<p>{SAID}, caf\xe9.</p>
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename=list.pdf

x
--b--
"""
ODT = (
    '<o:d xmlns:o="urn:o" xmlns:text="urn:t"><text:h text:outline-level="2">Birds</text:h>'
    f"<text:p>{SAID}.</text:p></o:d>"
)
NOTEBOOK = {
    "nbformat": 4,
    "cells": [
        {"source": ["# Birds\n"]},
        {"source": SAID, "outputs": [{"text": ["1\n"]}, {"data": {"text/plain": "2"}}]},
    ],
}
RTF = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}The heron\~" + r"x\par " + SAID + r" \u8212? \'e9.}"
FILES: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "a.docx": (word, "heading", "Birds"),
    "a.pptx": (slides, "slide", "slide 2"),
    "a.xlsx": (sheets, "sheet", "Birds"),
    "a.pdf": (lambda: pdf(["First page", SAID]), "page", "page 2"),
    "a.epub": (book, "file", "Chapter"),
    "a.eml": (lambda: MAIL.encode("latin-1"), "message", "Birds"),
    "a.odt": (lambda: zipped({"mimetype": "x", "content.xml": ODT}), "heading", "Birds"),
    "a.ipynb": (lambda: json.dumps(NOTEBOOK).encode(), "cell", "cell 2"),
    "a.md": (lambda: f"---\ntitle: Nests\n---\n# Birds\n\n{SAID}.".encode(), "heading", "Birds"),
    "a.html": (
        lambda: (
            f"<html><body><article><h1>Birds</h1><p>{SAID}, and stays until two.</p></article></body></html>".encode()
        ),
        "heading",
        "Birds",
    ),
    "a.py": (
        lambda: f"import os\n\n\ndef birds():\n    '{SAID}.'\n".encode(),
        "definition",
        "birds",
    ),
    "a.zip": (lambda: zipped({"in/b.txt": SAID, ".git/x": "no"}), "file", "in/b.txt"),
}
PLAIN = {
    "a.txt": SAID.encode(),
    "b.txt": SAID.encode("utf-16"),
    "c.txt": f"{SAID}, caf\xe9".encode("latin-1"),
    "a.csv": f"name,says\nada,{SAID}\n".encode(),
    "b.csv": f"1;2\n3;{SAID}\n".encode(),
    "a.json": json.dumps({"says": SAID}).encode(),
    "a.xml": f"<a><b>{SAID}</b></a>".encode(),
    "a.rtf": RTF.encode("latin-1"),
    "unnamed": f"<html><body><p>{SAID}</p></body></html>".encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_a_known_sentence_stands_in_its_place(name: str) -> None:
    make, kind, label = FILES[name]
    found = read_file(make(), name)
    assert place_of(found, kind) == label
    assert all(0 <= part.start <= part.end <= len(found.text) for part in found.parts)


@pytest.mark.parametrize("name", PLAIN)
def test_a_text_is_read_whatever_its_encoding(name: str) -> None:
    found = read_file(PLAIN[name], name)
    assert SAID in found.text
    assert "\ufffd" not in found.text


def test_files_say_their_title_author_and_what_was_left_out() -> None:
    mail = read_file(MAIL.encode("latin-1"), "a.eml")
    assert (mail.title, mail.author) == ("Birds", "Ada <ada@example.org>")
    assert mail.published_at.startswith("2026-11-02")
    assert "café" in mail.text
    assert mail.warnings == [{"code": "unsupported_type", "part": "list.pdf"}]
    assert read_file(FILES["a.md"][0](), "a.md").title == "Nests"
    assert "said aside" in read_file(slides(), "a.pptx").text


def picture(text: str = "") -> bytes:
    made = Image.new("RGB", (400, 120), "white")
    ImageDraw.Draw(made).text((20, 40), text, fill="black")
    data = io.BytesIO()
    made.save(data, "PNG")
    return data.getvalue()


def bomb() -> bytes:
    return zipped({"word/document.xml": b"<a>" + b" " * 40_000_000 + b"</a>"})


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><l>&b;</l>'
LEAK = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
REFUSED = {
    "bomb.docx": (bomb, "bomb"),
    "laughs.xml": (lambda: LAUGHS, "damaged"),
    "leak.docx": (lambda: zipped({"word/document.xml": LEAK}), "damaged"),
    "broken.pdf": (lambda: b"%PDF-1.7\nnothing", "damaged"),
    "cut.zip": (lambda: zipped({"a": "b"})[:-30], "damaged"),
    "old.doc": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "unsupported_type"),
    "locked.docx": (
        lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
        "encrypted",
    ),
    "noise.bin": (lambda: b"\0\1\2\3" * 300, "unsupported_type"),
    "sound.mp3": (lambda: b"ID3\x03\0\0\0\0\0\0" + b"\0" * 600, "no_transcriber"),
    "broken.png": (lambda: b"\x89PNG\r\n\x1a\n" + b"\0" * 60, "damaged"),
    "broken.ipynb": (lambda: b'{"cells": 3}', "damaged"),
    "broken.epub": (lambda: zipped({"META-INF/container.xml": "<a/>"}), "damaged"),
    "inner.zip": (lambda: b"PK\x03\x04" + b"\0" * 80, "damaged"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_says_why(name: str) -> None:
    make, code = REFUSED[name]
    with pytest.raises(FileRefused) as refusal:
        read_file(make(), name)
    assert refusal.value.code == code


def test_a_page_without_text_is_counted() -> None:
    found = read_file(pdf(["", SAID]), "a.pdf")
    assert (found.pages, place_of(found, "page")) == (2, "page 2")


def test_a_locked_pdf_says_so(tmp_path: Path) -> None:
    made = pdfium.PdfDocument.new()
    made.new_page(100, 100)
    data = io.BytesIO()
    made.save(data)
    assert read_file(data.getvalue(), "empty.pdf").text == ""


def test_the_child_reads_answers_and_is_ended_where_it_takes_too_long(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(word())
    monkeypatch.setenv("OPENAI_API_KEY", "a secret of the server")
    assert SAID in read_in_child(file, "a.docx").text
    file.write_bytes(b"%PDF-1.7\nnothing")
    with pytest.raises(FileRefused, match="damaged"):
        read_in_child(file, "a.pdf")
    settings.DOCUMENT_SECONDS = 0
    with pytest.raises(FileRefused, match="timeout"):
        read_in_child(file, "a.pdf")


def test_an_archive_that_lies_about_its_files_is_damaged() -> None:
    data = bytearray(zipped({"a.txt": SAID * 50}))
    data[60] ^= 0xFF
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        assert archive.namelist() == ["a.txt"]
    with pytest.raises(FileRefused, match="damaged"):
        read_file(bytes(data), "a.zip")
