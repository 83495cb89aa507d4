"""How a file is laid out, told by its first bytes: text, markdown, jsonl or json."""

import json
import re
from pathlib import Path

from memories.transcripts.lines import BOM, LONGEST
from memories.transcripts.transcript import Unreadable

HEAD = 64 * 1024
LINE_ENDINGS = frozenset({".jsonl", ".ndjson"})
MARKDOWN_ENDINGS = frozenset({".md", ".markdown", ".mdown"})
MARKDOWN = re.compile(r"^(#{1,6} \S|```|~~~)", re.MULTILINE)
CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
KNOWN_BINARIES = (
    (b"PK\x03\x04", "a zip archive: unpack it and give the file inside"),
    (b"\x1f\x8b", "compressed with gzip: unpack it first"),
    (b"%PDF-", "a PDF"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
    (b"SQLite format 3\x00", "an SQLite database"),
)


def layout(path: Path) -> str:
    """`text`, `markdown`, `jsonl` or `json`. Raises Unreadable for what is no text at all."""
    head = _head(path)
    _refuse_binary(head)
    opening = head.removeprefix(BOM).lstrip()[:1]
    if not opening:
        raise Unreadable("there is nothing in it")
    if opening == b"{" and (path.suffix.lower() in LINE_ENDINGS or _first_line_is_json(path)):
        return "jsonl"
    if opening == b"{" or (opening == b"[" and _is_list(path, head)):
        return "json"
    if path.suffix.lower() in MARKDOWN_ENDINGS:
        return "markdown"
    is_marked = path.suffix == "" and MARKDOWN.search(head.decode("utf-8", "replace"))
    return "markdown" if is_marked else "text"


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error


def _refuse_binary(head: bytes) -> None:
    for opening, name in KNOWN_BINARIES:
        if head.startswith(opening):
            raise Unreadable(f"it is {name}")
    # A stray NUL is cleaned away later; in a binary file every tenth byte is a control character.
    if len(head) - len(head.translate(None, CONTROL)) > len(head) * 0.02:
        raise Unreadable("it is a binary file")


def _first_line_is_json(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(LONGEST).removeprefix(BOM)
        while not line.strip():
            line = file.readline(LONGEST)
    try:
        json.loads(line, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _is_list(path: Path, head: bytes) -> bool:
    """A `[` opens many a text too ([1] ...); a list of conversations opens an object or a list."""
    second = head.removeprefix(BOM).lstrip()[1:].lstrip()[:1]
    return second in (b"{", b"[", b"]") or path.suffix.lower() == ".json"
