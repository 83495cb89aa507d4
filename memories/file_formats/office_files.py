"""Word, PowerPoint, Excel and OpenDocument: the contents of their XML, in its order."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from memories.file_formats.archive_files import inside, local, opened, own, xml_of
from memories.file_formats.assembly import Assembly, FileText, headings_of, table_text
from memories.file_formats.cell_formats import BUILT_IN, shown

_HEADING_STYLE = re.compile(r"(?:heading|title|berschrift|titre)\s*(\d?)$", re.IGNORECASE)
MOST_CELLS = 2_000_000
# What holds paragraphs, rows or cells, and is none of them.
HOLDERS = ("body", "sdt", "sdtContent", "smartTag", "ins", "moveTo", "customXml")
# What tracked changes took away, and what is there for readers of an older format.
GONE = ("del", "moveFrom", "Fallback")
# Of the files that python-docx and python-pptx begin with.
DATES_OF_TEMPLATES = ("2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z")


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
        elif local(node) in HOLDERS:
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
    """Return a table with a line for each row; a table in a cell is words of that cell."""
    rows = []
    for row in _within(node, "tr"):
        if any(local(mark) in GONE for marks in row if local(marks) == "trPr" for mark in marks):
            continue
        rows.append([" ".join(_text_of(cell).split()) for cell in _within(row, "tc")])
    return table_text(rows)


def _within(node: Any, name: str) -> Iterator[Any]:
    """Yield the rows of a table, or the cells of a row, but none of a table within a cell."""
    for each in node:
        if local(each) == name:
            yield each
        elif local(each) in HOLDERS:
            yield from _within(each, name)


def _text_of(node: Any) -> str:
    """Return the words of an element, as they are when all changes are accepted: what is deleted or
    moved away is left out."""
    said: list[str] = []
    for each in _shown(node):
        match local(each):
            case "t":
                said.append(each.text or "")
            case "tab":
                said.append("\t")
            case "br" | "cr":
                said.append("\n")
            case "noBreakHyphen":
                said.append("-")
            case "p" if said and each is not node:
                said.append("\n")
    return "".join(said)


def _shown(node: Any) -> Iterator[Any]:
    yield node
    for each in node:
        if local(each) not in GONE:
            yield from _shown(each)


def _all(node: Any, name: str) -> Iterator[Any]:
    return (each for each in node.iter() if local(each) == name)


def _core(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return title, author and date from the file's properties."""
    try:
        root = xml_of(inside(archive, "docProps/core.xml"))
    except KeyError:
        return {}
    told = {local(n): (n.text or "").strip() for n in root}
    # When it was saved last is when it said this; a template's own date says nothing of what was
    # written into it.
    dates = [told[name] for name in ("modified", "created") if told.get(name) and told[name] not in DATES_OF_TEMPLATES]
    found = {"title": told.get("title"), "author": told.get("creator"), "published_at": next(iter(dates), "")}
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
    root, said = xml_of(inside(archive, name)), list[str]()
    for shape in _shown(root):
        if local(shape) not in ("sp", "graphicFrame"):
            continue
        if any(own(holder, "type") in without for holder in _all(shape, "ph")):
            continue
        if tables := [*_all(shape, "tbl")]:
            said += map(_table_text, tables)
        else:
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


@dataclass(slots=True)
class _Book:
    """The texts and formats that cells refer to; `bare` counts formulas whose value the file does not hold."""

    shared: list[str]
    formats: list[str]
    since_1904: bool
    cells: int = 0
    bare: int = 0

    @classmethod
    def of(cls, archive: zipfile.ZipFile, workbook: Any) -> Self:
        shared, formats, names = list[str](), list[str](), set(archive.namelist())
        if "xl/sharedStrings.xml" in names:
            texts = xml_of(inside(archive, "xl/sharedStrings.xml"))
            shared = [" ".join(_text_of(node).split()) for node in texts if local(node) == "si"]
        if "xl/styles.xml" in names:
            styles = xml_of(inside(archive, "xl/styles.xml"))
            codes = {own(each, "numFmtId"): own(each, "formatCode") for each in _all(styles, "numFmt")}
            known = {str(number): code for number, code in BUILT_IN.items()} | codes
            kept = (each for cells in _all(styles, "cellXfs") for each in cells if local(each) == "xf")
            formats = [known.get(own(each, "numFmtId"), "") for each in kept]
        since_1904 = any(own(each, "date1904") in ("1", "true") for each in _all(workbook, "workbookPr"))
        return cls(shared, formats, since_1904)

    def text_of(self, cell: Any) -> str:
        self.cells += 1
        kind, style = own(cell, "t"), own(cell, "s")
        if kind == "inlineStr":
            return " ".join(_text_of(cell).split())
        parts = {local(node): node.text or "" for node in cell}
        value = parts.get("v", "")
        if not value and "f" in parts and kind != "str":
            self.bare += 1
            return f"={parts['f']}"
        if kind == "s":
            return self.shared[int(value)] if value.isdigit() and int(value) < len(self.shared) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        code = self.formats[int(style)] if style.isdigit() and int(style) < len(self.formats) else ""
        if not value or kind not in ("", "n"):
            return value
        return shown(value, code or "General", since_1904=self.since_1904)


def read_xlsx(data: bytes) -> FileText:
    with opened(data) as archive:
        sheets = _related(archive, "xl/workbook.xml", "worksheet", "sheet")
        root = xml_of(inside(archive, "xl/workbook.xml"))
        labels = [own(node, "name") for node in _all(root, "sheet")]
        made, book, warnings = Assembly(), _Book.of(archive, root), []
        for number, name in enumerate(sheets):
            lines, book.bare = [], 0
            for row in _all(xml_of(inside(archive, name)), "row"):
                values = [book.text_of(cell) for cell in row if local(cell) == "c"]
                if any(values):
                    lines.append(" | ".join(values))
                if book.cells > MOST_CELLS:
                    break
            label = labels[number] if number < len(labels) else ""
            made.add_part("sheet", label, "\n".join(lines))
            if book.bare:
                warnings.append({"code": "formulas_without_value", "part": f"{label}: {book.bare}"})
        if book.cells > MOST_CELLS:
            warnings.append({"code": "too_large", "part": "cells"})
        return made.done(extractor="xlsx", pages=len(sheets), warnings=warnings, **_core(archive))


def read_odt(data: bytes) -> FileText:
    """Read a text, sheets or slides of OpenDocument, whose cells hold their values as they are shown."""
    with opened(data) as archive:
        made, media = Assembly(), inside(archive, "mimetype").decode(errors="replace")
        for node in _open_blocks(xml_of(inside(archive, "content.xml"))):
            words = "".join(node.itertext())
            if local(node) == "h":
                level = own(node, "outline-level")
                made.add(f"{'#' * min(6, int(level) if level.isdigit() else 1)} {' '.join(words.split())}")
            elif local(node) == "table":
                made.add(table_text(_open_cells(row) for row in _all(node, "table-row")))
            else:
                made.add(words)
        made.parts = headings_of(made.text)
        kinds = {"spreadsheet": "spreadsheet", "presentation": "presentation"}
        return made.done(extractor="odt", type=kinds.get(media.strip().rpartition(".")[2], "document"))


def _open_blocks(node: Any) -> Iterator[Any]:
    """Yield headings, paragraphs and tables; what changes took away is left out."""
    for each in node:
        if local(each) in ("h", "p", "table"):
            yield each
        elif local(each) != "tracked-changes":
            yield from _open_blocks(each)


def _open_cells(row: Any) -> list[str]:
    """Return the words of each cell of a row, without the empty ones at its end."""
    cells = [cell for cell in row if local(cell).endswith("table-cell")]
    words = [" ".join(" ".join("".join(p.itertext()) for p in _all(cell, "p")).split()) for cell in cells]
    return words[: max((at for at, said in enumerate(words, 1) if said), default=0)]
