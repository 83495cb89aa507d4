"""Reading a file: recognise its layout by its first bytes (text, markdown, jsonl or json), find out
what is in it, and hand over its conversations."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from memories.transcripts import (
    beam,
    chatgpt,
    claude,
    json_files,
    locomo,
    markdown_files,
    memory_exports,
    message_lists,
    realmem,
    text_files,
)
from memories.transcripts.text_files import BOM, LONGEST
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    Malformed,
    SourceFile,
    Transcript,
    Unreadable,
    finished,
)

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


SAME = {"openai": "messages", "anthropic": "messages"}
LAYOUTS = {
    "text": text_files.read_text,
    "markdown": markdown_files.read_markdown,
    "statements": memory_exports.read_statements,
}
VALUES = {"jsonl": json_files.values_of_lines, "json": json_files.values_of_json}


def layout(path: Path) -> str:
    """Return `text`, `markdown`, `jsonl` or `json`. Raises Unreadable if the file is not text at
    all."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    for magic, name in KNOWN_BINARIES:
        if head.startswith(magic):
            raise Unreadable(f"it is {name}")
    # A stray NUL is cleaned away later; in a binary file every tenth byte is a control character.
    if len(head) - len(head.translate(None, CONTROL)) > len(head) * 0.02:
        raise Unreadable("it is a binary file")
    words = head.removeprefix(BOM).lstrip()
    opening = words[:1]
    if not opening:
        raise Unreadable("there is nothing in it")
    if opening == b"{" and (path.suffix.lower() in LINE_ENDINGS or _first_line_is_json(path)):
        return "jsonl"
    # A `[` opens many a text too ([1] ...); a list of conversations opens an object or a list.
    second = words[1:].lstrip()[:1]
    is_list = second in (b"{", b"[", b"]") or path.suffix.lower() == ".json"
    if opening == b"{" or (opening == b"[" and is_list):
        return "json"
    if path.suffix.lower() in MARKDOWN_ENDINGS:
        return "markdown"
    is_marked = path.suffix == "" and MARKDOWN.search(head.decode("utf-8", "replace"))
    return "markdown" if is_marked else "text"


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


class FormatReader(NamedTuple):
    recognises: Callable[[Json], bool]
    read: Callable[[JsonValue, SourceFile], Iterator[Transcript | BadLine]]


# In the order in which they are tried; the one that takes nearly everything comes last.
READERS = {
    "chatgpt": FormatReader(chatgpt.is_chatgpt_export, chatgpt.read_chatgpt),
    "claude": FormatReader(claude.is_claude_export, claude.read_claude),
    "locomo": FormatReader(locomo.is_locomo, locomo.read_locomo),
    "beam": FormatReader(beam.is_beam, beam.read_beam),
    "realmem": FormatReader(realmem.is_realmem, realmem.read_realmem),
    "claude-memory": FormatReader(memory_exports.is_claude_memory, memory_exports.read_claude_memory),
    "supermemory": FormatReader(memory_exports.is_supermemory, memory_exports.read_supermemory),
    "mem0": FormatReader(memory_exports.is_mem0, memory_exports.read_mem0),
    "messages": FormatReader(message_lists.is_messages, message_lists.read_messages),
}
FORMATS = (*LAYOUTS, *VALUES, *READERS, *SAME)


def read(path: Path, format: str | None = None) -> Iterator[Transcript | BadLine]:  # noqa: A002
    """Return the conversations of a file and what could not be read of it, in the file's order.

    `format` is one of FORMATS and overrules what the content looks like. The same file gives the
    same message ids each time. Raises Unreadable at once if the file is not text, is empty or
    cannot be opened; ValueError for an unknown format.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: one of {', '.join(FORMATS)}")
    found = layout(path)
    source = SourceFile.of(path)
    if format in LAYOUTS or (format is None and found in LAYOUTS):
        return finished(LAYOUTS[format or found](source))
    if found in LAYOUTS and format not in VALUES:
        raise Unreadable(f"it is {found}, not {format}")
    values = VALUES[format if format in VALUES else found](path)
    return finished(_conversations(values, source, SAME.get(format or "", format or "")))


def _conversations(
    values: Iterable[JsonValue | BadLine], source: SourceFile, name: str
) -> Iterator[Transcript | BadLine]:
    readers = [READERS[name]] if name in READERS else list(READERS.values())
    expected = f"in the format {name}" if name in READERS else "a message or conversation we know"
    for value in values:
        if isinstance(value, BadLine):
            yield value
            continue
        reader = next((r for r in readers if r.recognises(value.data)), None)
        if reader is None:
            yield BadLine(value.line, f"this is not {expected}")
            continue
        try:
            yield from reader.read(value, source)
        except Malformed as error:
            yield BadLine(value.line, str(error))
