"""Word, PowerPoint, Excel and OpenDocument: the contents of their XML, in its order."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from memories.file_formats.archive_files import inside, local, opened, own, xml_of
from memories.file_formats.assembly import Assembly, FileText, headings_of

_HEADING_STYLE = re.compile(r"(?:heading|title|berschrift|titre)\s*(\d?)$", re.IGNORECASE)
MOST_CELLS = 2_000_000


def read_docx(data: bytes) -> FileText:
    with opened(data) as archive:
        root = xml_of(inside(archive, "word/document.xml"))
        made = Assembly()
        for block in _blocks(root):
            made.add(_table_text(block) if local(block) == "tbl" else _paragraph_text(block))
        for name in sorted(archive.namelist()):
            if re.fullmatch(r"word/(?:footnotes|endnotes)\.xml", name):
                made.add("\n".join(_text_of(p) for p in _all(xml_of(inside(archive, name)), "p")))
        made.parts = headings_of(made.text)
        return made.done(extractor="docx", **_core(archive))


def _blocks(root: Any) -> Iterator[Any]:
    """Yield paragraphs and tables of the body, including those inside frames and content
    controls."""
    for node in root:
        if local(node) in ("p", "tbl"):
            yield node
        elif local(node) in ("body", "sdt", "sdtContent", "smartTag", "ins", "customXml"):
            yield from _blocks(node)


def _paragraph_text(node: Any) -> str:
    text = _text_of(node)
    style = next((own(each, "val") for each in _all(node, "pStyle")), "")
    mark = _HEADING_STYLE.search(style)
    if mark and text.strip():
        return f"{'#' * min(6, int(mark[1] or 1))} {' '.join(text.split())}"
    is_listed = any(True for _ in _all(node, "numPr"))
    return f"- {text}" if is_listed and text.strip() else text


def _table_text(node: Any) -> str:
    rows = []
    for row in _all(node, "tr"):
        cells = [" ".join(_text_of(cell).split()) for cell in row if local(cell) == "tc"]
        rows.append(" | ".join(cells))
    return "\n".join(rows)


def _text_of(node: Any) -> str:
    """Return the words of an element; deleted ones are left out."""
    said = []
    for each in node.iter():
        match local(each):
            case "t":
                said.append(each.text or "")
            case "tab":
                said.append("\t")
            case "br" | "cr":
                said.append("\n")
            case "p" if said and each is not node:
                said.append("\n")
    return "".join(said)


def _all(node: Any, name: str) -> Iterator[Any]:
    return (each for each in node.iter() if local(each) == name)


def _core(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return title, author and date from the file's properties."""
    try:
        root = xml_of(inside(archive, "docProps/core.xml"))
    except KeyError:
        return {}
    names = {"title": "title", "creator": "author", "created": "published_at"}
    found = {names[local(n)]: (n.text or "").strip() for n in root if local(n) in names}
    return {name: value for name, value in found.items() if value}


def read_pptx(data: bytes) -> FileText:
    with opened(data) as archive:
        made = Assembly()
        slides = _related(archive, "ppt/presentation.xml", "slide", "sldId")
        for number, name in enumerate(slides, 1):
            said = [_slide_text(archive, name)]
            for notes in _related(archive, name, "notesSlide"):
                if text := _slide_text(archive, notes, without=("sldNum", "sldImg")):
                    said.append(f"Notes: {text}")
            made.add_part("slide", f"slide {number}", "\n\n".join(said))
        return made.done(extractor="pptx", pages=len(slides), **_core(archive))


def _slide_text(archive: zipfile.ZipFile, name: str, without: tuple[str, ...] = ()) -> str:
    root, said = xml_of(inside(archive, name)), []
    for shape in root.iter():
        if local(shape) not in ("sp", "graphicFrame"):
            continue
        if any(own(holder, "type") in without for holder in _all(shape, "ph")):
            continue
        said += [text for p in _all(shape, "p") if (text := _text_of(p).strip())]
    return "\n".join(said)


def _related(archive: zipfile.ZipFile, name: str, kind: str, order: str = "") -> list[str]:
    """Return the related files of a kind, in the order in which the `order` elements name them."""
    folder, base = posixpath.split(name)
    try:
        links = xml_of(inside(archive, f"{folder}/_rels/{base}.rels"))
    except KeyError:
        return []
    targets = {
        own(link, "Id"): posixpath.normpath(posixpath.join(folder, own(link, "Target"))).lstrip("/")
        if not own(link, "Target").startswith("/")
        else own(link, "Target").lstrip("/")
        for link in links
        if own(link, "Type").endswith(f"/{kind}") and own(link, "TargetMode") != "External"
    }
    names = set(archive.namelist())
    if order:
        root = xml_of(inside(archive, name))
        ids = [value for node in _all(root, order) for key, value in node.attrib.items() if key.endswith("}id")]
        return [targets[each] for each in ids if targets.get(each) in names]
    return [target for target in targets.values() if target in names]


def read_xlsx(data: bytes) -> FileText:
    with opened(data) as archive:
        shared: list[str] = []
        if "xl/sharedStrings.xml" in archive.namelist():
            texts = xml_of(inside(archive, "xl/sharedStrings.xml"))
            shared = [" ".join(_text_of(node).split()) for node in texts if local(node) == "si"]
        sheets = _related(archive, "xl/workbook.xml", "worksheet", "sheet")
        root = xml_of(inside(archive, "xl/workbook.xml"))
        labels = [own(node, "name") for node in _all(root, "sheet")]
        made, cells = Assembly(), 0
        for number, name in enumerate(sheets):
            lines = []
            for row in _all(xml_of(inside(archive, name)), "row"):
                values = [_cell_text(cell, shared) for cell in row if local(cell) == "c"]
                cells += len(values)
                if any(values):
                    lines.append(" | ".join(values))
                if cells > MOST_CELLS:
                    break
            label = labels[number] if number < len(labels) else ""
            made.add_part("sheet", label, "\n".join(lines))
        warnings = [{"code": "too_large", "part": "cells"}] if cells > MOST_CELLS else []
        return made.done(extractor="xlsx", pages=len(sheets), warnings=warnings, **_core(archive))


def _cell_text(cell: Any, shared: list[str]) -> str:
    kind = own(cell, "t")
    if kind == "inlineStr":
        return " ".join(_text_of(cell).split())
    value = next((node.text or "" for node in cell if local(node) == "v"), "")
    if kind == "s":
        return shared[int(value)] if value.isdigit() and int(value) < len(shared) else ""
    return {"1": "TRUE", "0": "FALSE"}.get(value, value) if kind == "b" else value


def read_odt(data: bytes) -> FileText:
    with opened(data) as archive:
        root, made = xml_of(inside(archive, "content.xml")), Assembly()
        for node in root.iter():
            if local(node) == "h":
                level = own(node, "outline-level")
                words = " ".join("".join(node.itertext()).split())
                made.add(f"{'#' * min(6, int(level) if level.isdigit() else 1)} {words}")
            elif local(node) == "p":
                made.add("".join(node.itertext()))
        made.parts = headings_of(made.text)
        return made.done(extractor="odt")
