"""What a file is, by what stands in it; its name only tells texts apart."""

import io
import re

import puremagic

from memories.file_formats.archive_files import opened
from memories.file_formats.assembly import FileRefused

SOURCE = frozenset(
    "c cc cpp cs css cxx dart ex exs go h hpp hs java jl js jsx kt kts lua m ml php pl pm ps1 py"
    " pyi r rb rs scala sh sql svelte swift tf toml ts tsx vue yaml yml zig".split()
)
BY_NAME = {
    "md": "markdown", "markdown": "markdown", "mdx": "markdown", "htm": "html", "html": "html",
    "xhtml": "html", "csv": "csv", "tsv": "csv", "json": "json", "jsonl": "json", "ipynb": "ipynb",
    "eml": "eml", "xml": "xml", "svg": "xml", "rtf": "rtf",
}  # fmt: skip
STARTS = (
    (b"%PDF-", "pdf"),
    (b"{\\rtf", "rtf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"\x89PNG\r\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"II*\0", "image"),
    (b"MM\0*", "image"),
    (b"BM", "bitmap"),
    (b"\x1f\x8b", "tar"),
    (b"BZh", "tar"),
    (b"\xfd7zXZ", "tar"),
)
# Of a zip archive, a file that only this kind has.
INSIDE = {
    "word/document.xml": "docx",
    "xl/workbook.xml": "xlsx",
    "ppt/presentation.xml": "pptx",
    "META-INF/container.xml": "epub",
}
# A PDF may begin behind what a printer or a server put before it.
_PDF_HEAD, _PDF_END = re.compile(rb"%PDF|%!PS-Adobe-[\d.]+ PDF"), b"\nstartxref"
PDF_WITHIN = 1024  # bytes: of its head, and of its end
# Headings with a blank line below them: a comment of a script has none.
_HEADINGS = re.compile(rb"^#{1,6} [^\n]{1,300}\n\s*\n", re.MULTILINE)
TYPES = {"pdf": "pdf", "image": "image", "html": "webpage"}
MEDIA = {
    "pdf": "application/pdf", "html": "text/html", "markdown": "text/markdown",
    "text": "text/plain", "csv": "text/csv", "json": "application/json",
    "ipynb": "application/x-ipynb+json", "eml": "message/rfc822", "xml": "application/xml",
    "rtf": "application/rtf", "msg": "application/vnd.ms-outlook", "source": "text/x-source",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text", "epub": "application/epub+zip",
    "zip": "application/zip", "tar": "application/x-tar", "image": "image/*",
    "media": "application/octet-stream",
}  # fmt: skip


def kind_of(data: bytes, name: str) -> str:
    """One of MEDIA. Raises FileRefused with `unsupported_type`, or as `opened` does."""
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    for start, kind in STARTS:
        if data.startswith(start):
            return _of_signature(kind, data)
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        with opened(data) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and "content.xml" in names:
                return "odt"
            return next((kind for inside, kind in INSIDE.items() if inside in names), "zip")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image"
    if data[257:262] == b"ustar":
        return "tar"
    has_head = _PDF_HEAD.search(data, 0, PDF_WITHIN)
    if has_head and (suffix == "pdf" or _PDF_END in data[-PDF_WITHIN:]):
        return "pdf"
    if _is_binary(data):
        return _of_magic(data, name)
    if suffix in SOURCE:
        return "source"
    return BY_NAME.get(suffix) or _of_text(data)


def _of_signature(kind: str, data: bytes) -> str:
    if kind == "ole":
        if "__substg1.0_".encode("utf-16-le") in data:
            return "msg"
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise FileRefused("encrypted", "The file is locked with a password.")
        raise FileRefused(
            "unsupported_type", "Old Office files (doc, xls, ppt) are not read: save it anew."
        )
    if kind == "bitmap":
        return "image" if _is_binary(data) else _of_text(data)
    return kind


def _is_binary(data: bytes) -> bool:
    head = data[:4096]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False  # UTF-16 by its mark
    return b"\0" in head


def _of_magic(data: bytes, name: str) -> str:
    try:
        media = puremagic.from_stream(io.BytesIO(data[: 1 << 20]), mime=True, filename=name)
    except (puremagic.PureError, ValueError):
        media = ""
    if media.startswith(("audio/", "video/")):
        return "media"
    raise FileRefused("unsupported_type", f"Files of this kind are not read ({media or name}).")


def _of_text(data: bytes) -> str:
    head = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html")) or (b"<body" in head and head[:1] == b"<"):
        return "html"
    if head.startswith(b"<?xml"):
        return "xml"
    if head.startswith((b"from:", b"received:", b"return-path:", b"mime-version:")):
        return "eml"
    if head.startswith(b"{") and b'"nbformat"' in data[-4096:]:
        return "ipynb"
    return "markdown" if _HEADINGS.search(head) else "text"
