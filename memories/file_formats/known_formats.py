"""The formats of files that are read, and how a file's format is recognised: by its content; its
name only distinguishes texts."""

import io
import re
from dataclasses import dataclass

import puremagic

from memories.file_formats.archive_files import opened
from memories.file_formats.assembly import FileRefused
from memories.file_formats.encodings import MARKS, encoding_by_zeros


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of files. `reader` is a module and function of this package; formats that are read
    elsewhere have none. `endings` recognise a text of this format by its name. `starts` are its
    first bytes; in a zip archive, `inside` is a file that no other format has. `type` is a
    document's."""

    media: str
    reader: str = ""
    endings: str = ""
    starts: tuple[bytes, ...] = ()
    inside: str = ""
    type: str = ""


OPEN_XML = "application/vnd.openxmlformats-officedocument"
# All that is known of a format, beside its reader. For texts without a known ending: `_of_text`.
FORMATS = {
    "pdf": FileFormat("application/pdf", "pdf_file.read_pdf", starts=(b"%PDF-",), type="pdf"),
    "image": FileFormat(
        "image/*",
        "pictures.read_image",
        type="image",
        starts=(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*"),
    ),
    "html": FileFormat("text/html", "web_pages.read_html", "htm html xhtml", type="webpage"),
    "markdown": FileFormat("text/markdown", "plain_text_files.read_markdown", "md markdown mdx"),
    "text": FileFormat("text/plain", "plain_text_files.read_text"),
    "csv": FileFormat("text/csv", "plain_text_files.read_csv", "csv tsv"),
    "json": FileFormat("application/json", "plain_text_files.read_json", "json jsonl"),
    "ipynb": FileFormat("application/x-ipynb+json", "plain_text_files.read_notebook", "ipynb"),
    "xml": FileFormat("application/xml", "plain_text_files.read_xml", "xml svg"),
    "rtf": FileFormat("application/rtf", "plain_text_files.read_rtf", "rtf", (b"{\\rtf",), type="document"),
    "source": FileFormat(
        "text/x-source",
        "plain_text_files.read_source",
        "c cc cpp cs css cxx dart ex exs go h hpp hs java jl js jsx kt kts lua m ml php pl pm ps1"
        " py pyi r rb rs scala sh sql svelte swift tf toml ts tsx vue yaml yml zig",
    ),
    "docx": FileFormat(
        f"{OPEN_XML}.wordprocessingml.document",
        "office_files.read_docx",
        inside="word/document.xml",
        type="document",
    ),
    "xlsx": FileFormat(
        f"{OPEN_XML}.spreadsheetml.sheet",
        "office_files.read_xlsx",
        inside="xl/workbook.xml",
        type="spreadsheet",
    ),
    "pptx": FileFormat(
        f"{OPEN_XML}.presentationml.presentation",
        "office_files.read_pptx",
        inside="ppt/presentation.xml",
        type="presentation",
    ),
    "odt": FileFormat("application/vnd.oasis.opendocument.text", "office_files.read_odt"),
    "eml": FileFormat("message/rfc822", "mail_files.read_eml", "eml", type="email"),
    "msg": FileFormat("application/vnd.ms-outlook", "mail_files.read_msg", type="email"),
    "epub": FileFormat("application/epub+zip", "epub_files.read_epub", inside="META-INF/container.xml", type="ebook"),
    "zip": FileFormat("application/zip"),
    "tar": FileFormat("application/x-tar", starts=(b"\x1f\x8b", b"BZh", b"\xfd7zXZ")),
    "media": FileFormat("application/octet-stream"),
}
BY_NAME = {ending: kind for kind, each in FORMATS.items() for ending in each.endings.split()}
# Not yet a format: what else stands in it tells.
STARTS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"BM", "bitmap"),
    *((start, kind) for kind, each in FORMATS.items() for start in each.starts),
)
# Endings of files that are read for their words; others are read when somebody asks for them.
READABLE = frozenset(BY_NAME) - {"svg"} | frozenset(
    "txt text rst adoc org tex log pdf docx xlsx pptx odt epub msg".split()
)
# A PDF may begin behind what a printer or a server put before it.
_PDF_HEAD, _PDF_END = re.compile(rb"%PDF|%!PS-Adobe-[\d.]+ PDF"), b"\nstartxref"
PDF_WITHIN = 1024  # bytes: of its head, and of its end
# Headings with a blank line below them: a comment of a script has none.
_HEADINGS = re.compile(rb"^#{1,6} [^\n]{1,300}\n\s*\n", re.MULTILINE)


def kind_of(data: bytes, name: str) -> str:
    """Return the file's name in FORMATS. Raises FileRefused with `unsupported_type`, or as `opened`
    does."""
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    for start, kind in STARTS:
        if data.startswith(start):
            return _of_signature(kind, data)
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        with opened(data) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and "content.xml" in names:
                return "odt"
            by_file = {each.inside: kind for kind, each in FORMATS.items() if each.inside}
            return next((kind for inside, kind in by_file.items() if inside in names), "zip")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image"
    if data[257:262] == b"ustar":
        return "tar"
    has_head = _PDF_HEAD.search(data, 0, PDF_WITHIN)
    if has_head and (suffix == "pdf" or _PDF_END in data[-PDF_WITHIN:]):
        return "pdf"
    if _is_binary(data):
        return _of_magic(data, name)
    return BY_NAME.get(suffix) or _of_text(data)


def _of_signature(kind: str, data: bytes) -> str:
    if kind == "ole":
        if "__substg1.0_".encode("utf-16-le") in data:
            return "msg"
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise FileRefused("encrypted", "The file is locked with a password.")
        raise FileRefused("unsupported_type", "Old Office files (doc, xls, ppt) are not read: save it anew.")
    if kind == "bitmap":
        return "image" if _is_binary(data) else _of_text(data)
    return kind


def _is_binary(data: bytes) -> bool:
    return (
        b"\0" in data[:4096] and not data.startswith(tuple(mark for mark, _ in MARKS)) and not encoding_by_zeros(data)
    )


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
