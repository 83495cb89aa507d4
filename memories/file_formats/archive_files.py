"""Archives: each file inside is read as if it came alone, bounded before anything is unpacked."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

from memories.file_formats.assembly import Assembly, FileRefused, FileText

MOST_ENTRIES = 20_000
LARGEST = 300_000_000  # bytes of all files unpacked
SMALL, RATIO = 20_000_000, 100  # above that many bytes, at most so many times the archive's size


MOST_FILES = 2_000
LARGEST_FILE = 20_000_000  # bytes
# Parts of a repository or an export that people did not write.
PASSED_OVER = (".git/", "node_modules/", "__MACOSX/", "__pycache__/", ".venv/", "vendor/")


def opened(data: bytes) -> zipfile.ZipFile:
    """Open a zip archive. Raises FileRefused: `damaged`, `encrypted`, `bomb`."""
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
    """Return a file of the archive. Raises FileRefused if it is damaged, KeyError if it is
    missing."""
    try:
        return archive.read(name)
    except KeyError:
        raise
    except Exception as error:  # zlib's, lzma's and zipfile's own
        raise FileRefused("damaged", f"{name} cannot be unpacked.") from error


def refuse_entities(data: bytes) -> None:
    """Raise FileRefused if an XML file declares entities."""
    head = data[:4096].lower()
    if b"<!entity" in head or (b"<!doctype" in head and b"[" in head.partition(b"<!doctype")[2][:400]):
        raise FileRefused("damaged", "The XML declares entities of its own, which are not read.")


def xml_of(data: bytes) -> Any:
    """Return the root of an XML file; its entities are not read. Raises FileRefused."""
    refuse_entities(data)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise FileRefused("damaged", "The XML inside is not well formed.") from error


def local(node: Any) -> str:
    """Return an element's name without its namespace; empty for a comment."""
    tag = node.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def own(node: Any, name: str) -> str:
    """Return an attribute by its name, whatever its namespace."""
    return next((v for k, v in node.attrib.items() if k.rpartition("}")[2] == name), "")


@dataclass(slots=True)
class UnpackingBudget:
    """The bytes and files that an archive, with all archives in it, may still unpack."""

    files: int = MOST_FILES
    size: int = LARGEST

    def spend(self, size: int) -> None:
        """Raises FileRefused: `bomb`."""
        self.files, self.size = self.files - 1, self.size - size
        if self.size < 0:
            raise FileRefused("bomb", f"All that is packed in it has more than {LARGEST:,} bytes.")


def read_archive(data: bytes, kind: str, read: Callable[[bytes, str], FileText], budget: UnpackingBudget) -> FileText:
    """Read an archive: `read` is called with each file and its name. Raises FileRefused: `bomb`,
    `damaged`."""
    made, warnings, number = Assembly(), [], 0
    for name, content in _of_zip(data) if kind == "zip" else _of_tar(data):
        if name.endswith("/") or any(part in f"/{name}" for part in PASSED_OVER):
            continue
        budget.spend(len(content))
        if budget.files < 0:
            warnings.append({"code": "too_large", "part": name})
            break
        number += 1
        try:
            found = read(content, name)
        except FileRefused as refusal:
            if refusal.code == "bomb" and budget.size < 0:
                raise
            warnings.append({"code": refusal.code, "part": name})
            continue
        place = made.add_part("file", name, found.text)
        if place.end > place.start:
            if found.extractor == "archive":
                for part in found.parts:
                    part.label = f"{name}/{part.label}"[:300] if part.kind == "file" else part.label
            made.put(found.parts, place.start)
        warnings += [each | {"part": f"{name}, {each.get('part', '')}"} for each in found.warnings]
    return made.done(type="archive", extractor="archive", pages=number, warnings=warnings[:200])


def _of_zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    with opened(data) as archive:
        for info in archive.infolist():
            if not info.is_dir() and info.file_size <= LARGEST_FILE:
                yield info.filename, inside(archive, info.filename)


def _of_tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files in the order of the archive, which is never unpacked as a whole."""
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
