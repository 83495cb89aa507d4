"""Word, PowerPoint, Excel and OpenDocument: what stands in their XML, in its order; and
archives."""

import io
import posixpath
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from lxml import etree

from memories.file_formats.assembly import Assembly, FileRefused, FileText, headings_of

# Archives: each file inside is read as if it came alone, bounded before anything is unpacked.

MOST_ENTRIES = 20_000
LARGEST = 300_000_000  # bytes of all files unpacked
SMALL, RATIO = 20_000_000, 100  # what is larger than this unpacks to so many times its size at most


def opened(data: bytes) -> zipfile.ZipFile:
    """Raises FileRefused: `damaged`, `encrypted`, `bomb`."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise FileRefused("damaged", "The archive cannot be opened.") from error
    infos = archive.infolist()
    size = sum(info.file_size for info in infos)
    if len(infos) > MOST_ENTRIES or size > LARGEST or (size > SMALL and size > RATIO * len(data)):
        raise FileRefused("bomb", f"{len(data):,} bytes would unpack to {size:,}.")
    if any(info.flag_bits & 1 for info in infos):
        raise FileRefused("encrypted", "The file is locked with a password.")
    return archive


def inside(archive: zipfile.ZipFile, name: str) -> bytes:
    """A file of the archive. Raises FileRefused where it is damaged, KeyError where it is not
    there."""
    try:
        return archive.read(name)
    except KeyError:
        raise
    except Exception as error:  # zlib's, lzma's and zipfile's own
        raise FileRefused("damaged", f"{name} cannot be unpacked.") from error


def xml_of(data: bytes) -> Any:
    """The root of an XML file, no entity of which is read. Raises FileRefused."""
    head = data[:4096].lower()
    if b"<!entity" in head or (
        b"<!doctype" in head and b"[" in head.partition(b"<!doctype")[2][:400]
    ):
        raise FileRefused("damaged", "The XML declares entities of its own, which are not read.")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise FileRefused("damaged", "The XML inside is not well formed.") from error


def local(node: Any) -> str:
    """An element's name without its namespace; empty for a comment."""
    tag = node.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def own(node: Any, name: str) -> str:
    """An attribute by its name, whatever its namespace."""
    return next((v for k, v in node.attrib.items() if k.rpartition("}")[2] == name), "")


MOST_FILES = 2_000
LARGEST_FILE = 20_000_000  # bytes
# What a repository or an export has beside what people wrote.
PASSED_OVER = (".git/", "node_modules/", "__MACOSX/", "__pycache__/", ".venv/", "vendor/")


def read_archive(data: bytes, kind: str, read: Callable[[bytes, str], FileText]) -> FileText:
    """`read` is called with each file and its name. Raises FileRefused: `bomb`, `damaged`."""
    made, warnings, number = Assembly(), [], 0
    for name, content in _of_zip(data) if kind == "zip" else _of_tar(data):
        if name.endswith("/") or any(part in f"/{name}" for part in PASSED_OVER):
            continue
        number += 1
        if number > MOST_FILES:
            warnings.append({"code": "too_large", "part": name})
            break
        try:
            found = read(content, name)
        except FileRefused as refusal:
            warnings.append({"code": refusal.code, "part": name})
            continue
        place = made.add_part("file", name, found.text)
        if place.end > place.start:
            made.put(found.parts, place.start)
        warnings += [each | {"part": f"{name}, {each.get('part', '')}"} for each in found.warnings]
    return made.done(type="repository", extractor="archive", pages=number, warnings=warnings[:200])


def _of_zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    with opened(data) as archive:
        for info in archive.infolist():
            if not info.is_dir() and info.file_size <= LARGEST_FILE:
                yield info.filename, inside(archive, info.filename)


def _of_tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    """In the order of the archive, which is never unpacked as a whole."""
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r|*") as archive:
            for info in archive:
                size += info.size
                if size > LARGEST or (size > SMALL and size > RATIO * len(data)):
                    raise FileRefused("bomb", f"{len(data):,} bytes unpack to more than {size:,}.")
                file = archive.extractfile(info) if info.isreg() else None
                if file is not None and info.size <= LARGEST_FILE:
                    yield info.name, file.read()
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise FileRefused("damaged", "The archive cannot be unpacked.") from error


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
    """Paragraphs and tables of the body, those inside of frames and content controls as well."""
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
    """The words of an element; deleted ones are left out."""
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
    """Title, author and date as the file's properties say them."""
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
    """The files that one names as related of a kind, in the order in which its `order` elements
    name them."""
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
        ids = [
            value
            for node in _all(root, order)
            for key, value in node.attrib.items()
            if key.endswith("}id")
        ]
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
