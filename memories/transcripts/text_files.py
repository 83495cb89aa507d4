"""Text and Markdown: each paragraph is one message, of Markdown each paragraph, list or fenced
block, which knows its headings; the file is one thread. Lines are decoded one by one: a bad one
costs one line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memories.transcripts.json_access import clean_text
from memories.transcripts.transcript import BadLine, Json, SourceFile, Transcript, TranscriptMessage

BOM = b"\xef\xbb\xbf"
LONGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TextLine:
    number: int
    text: str


def lines(path: Path, longest: int = LONGEST) -> Iterator[TextLine | BadLine]:
    """Every line without its end. Lines over `longest` bytes are reported, not held in memory."""
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


LONGEST_PIECE = 4000
CUTS = ("\n", ". ", "! ", "? ", " ")  # the best place first
_not_blank = re.compile(r"\S")


def pieces(text: str, longest: int = LONGEST_PIECE) -> Iterator[str]:
    """The text in parts of at most `longest` characters: cut at a line, a sentence or a space."""
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
    """The gathered lines as messages of kind text; nothing where they are empty."""
    metadata: dict[str, Json] = {"file": source.path.name}
    if heading:
        metadata["heading"] = heading
    messages = tuple(
        TranscriptMessage(id="", role="user", content=piece, kind="text", metadata=metadata)
        for piece in pieces("\n".join(gathered))
    )
    if messages:
        yield Transcript(source.name, title or source.name, None, messages, line)


HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(slots=True)
class MarkdownPlace:
    """Where in the document we are."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    fence: str = ""
    title: str = ""
    gathered: list[str] = field(default_factory=list)
    size: int = 0
    begun: int = 1

    @property
    def heading(self) -> str:
        return " > ".join(text for _, text in self.headings)

    def enter(self, level: int, text: str) -> None:
        self.headings = [(n, t) for n, t in self.headings if n < level] + [(level, text)]
        self.title = self.title or text

    def add(self, line: TextLine, text: str) -> None:
        mark = FENCE.match(text)
        if mark and not self.fence:
            self.fence = mark[1]
        elif mark and mark[1].startswith(self.fence):
            self.fence = ""
        self.begun = self.begun if self.gathered else line.number
        self.gathered.append(text)
        self.size += len(text) + 1


def read_markdown(source: SourceFile) -> Iterator[Transcript | BadLine]:
    place = MarkdownPlace()
    for line in lines(source.path):
        if isinstance(line, BadLine):
            yield line
            continue
        text = clean_text(line.text)
        heading = None if place.fence else HEADING.match(text)
        is_break = not text.strip() and not place.fence
        if heading or is_break or place.size + len(text) > LONGEST_PIECE:
            yield from _flushed(source, place)
        if heading:
            place.enter(len(heading[1]), heading[2])
        elif not is_break:
            place.add(line, text)
    yield from _flushed(source, place)


def _flushed(source: SourceFile, place: MarkdownPlace) -> Iterator[Transcript]:
    yield from paragraph(
        source, place.begun, place.gathered, title=place.title, heading=place.heading
    )
    place.gathered, place.size = [], 0
