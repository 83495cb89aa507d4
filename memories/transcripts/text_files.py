"""Text read line by line and piece by piece."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memories.transcripts.json_values import clean_text
from memories.transcripts.transcript import BadLine, Json, SourceFile, Transcript, TranscriptMessage

# Text and Markdown: each paragraph is one message, of Markdown each paragraph, list or fenced
# block, which knows its headings; the file is one thread. Lines are decoded one by one: a bad one
# costs one line.

BOM = b"\xef\xbb\xbf"
LONGEST = 64 * 1024 * 1024


LONGEST_PIECE = 4000
CUTS = ("\n", ". ", "! ", "? ", " ")  # the best place first


@dataclass(frozen=True, slots=True)
class TextLine:
    number: int
    text: str


def lines(path: Path, longest: int = LONGEST) -> Iterator[TextLine | BadLine]:
    """Yield every line without its end. Lines over `longest` bytes are reported, not held in
    memory."""
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(longest + 1):
            number += 1
            if len(raw) > longest:
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(1024 * 1024)
                yield BadLine(number, f"longer than {longest} bytes")
                continue
            raw = raw.removeprefix(BOM) if number == 1 else raw
            line: TextLine | BadLine
            try:
                line = TextLine(number, raw.decode("utf-8").rstrip("\r\n"))
            except UnicodeDecodeError as error:
                at = error.start
                line = BadLine(number, f"not UTF-8: byte 0x{raw[at]:02x} at {at + 1}")
            yield line


_not_blank = re.compile(r"\S")


def pieces(text: str, longest: int = LONGEST_PIECE) -> Iterator[str]:
    """Yield the text in parts of at most `longest` characters: cut at a line, a sentence or a
    space."""
    text, start = text.strip(), 0
    while len(text) - start > longest:
        window = text[start : start + longest]
        ends = [window.rfind(mark) + len(mark) for mark in CUTS]
        fitting = (e for e, mark in zip(ends, CUTS, strict=True) if e - len(mark) >= longest // 2)
        end = start + next(fitting, longest)
        yield text[start:end].rstrip()
        start = _not_blank.search(text, end).start()  # type: ignore[union-attr]  # it is stripped
    if start < len(text):
        yield text[start:]


def read_text(source: SourceFile) -> Iterator[Transcript | BadLine]:
    gathered: list[str] = []
    begun, size = 1, 0
    for line in lines(source.path):
        if isinstance(line, BadLine):
            yield line
            continue
        text = clean_text(line.text)
        # A file without empty lines must not pile up in memory.
        if not text.strip() or size + len(text) > LONGEST_PIECE:
            yield from paragraph(source, begun, gathered)
            gathered, size = [], 0
        if text.strip():
            begun = begun if gathered else line.number
            gathered.append(text)
            size += len(text) + 1
    yield from paragraph(source, begun, gathered)


def paragraph(
    source: SourceFile, line: int, gathered: list[str], *, title: str = "", heading: str = ""
) -> Iterator[Transcript]:
    """Yield the gathered lines as messages of kind text; nothing if they are empty."""
    metadata: dict[str, Json] = {"file": source.path.name}
    if heading:
        metadata["heading"] = heading
    messages = tuple(
        TranscriptMessage(id="", role="user", content=piece, kind="text", metadata=metadata)
        for piece in pieces("\n".join(gathered))
    )
    if messages:
        yield Transcript(source.name, title or source.name, None, messages, line)
