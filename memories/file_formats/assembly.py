"""The text of a file while it is put together, with the places of its parts."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memories.language.english import lexical

# pdfium marks the end of a line inside of a word with U+FFFE.
_BROKEN_WORD = re.compile("\ufffe[ \t]*\r?\n?")
_LINE_END = re.compile("\r\n?|\u2028|\u2029|\v")
_UNSTORABLE = re.compile("[\0\ufffe\uffff\ud800-\udfff]")
_BLANKS = re.compile(r"(?<![ \t])[ \t]+\n")  # begun once a stretch of blanks, not at each
_HOLES = re.compile(r"\n{3,}")
LONGEST = 20_000_000  # characters of one file's text


class FileRefused(Exception):
    """An error: the file cannot be read; `code` is one of the codes of a failed document."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(slots=True)
class TextPlace:
    """The place of a page, sheet or heading in the text; `confidence` is that of OCR, 0 to 1."""

    kind: str
    ordinal: int
    label: str
    start: int
    end: int
    seconds: float | None = None
    seconds_end: float | None = None
    confidence: float | None = None


@dataclass(slots=True)
class FileText:
    """The text read from a file. `warnings` are {code, part}; `type` is the document's."""

    text: str
    parts: list[TextPlace] = field(default_factory=list)
    type: str = "text"
    media_type: str = ""
    extractor: str = ""
    title: str = ""
    author: str = ""
    published_at: str = ""
    language: str = ""
    pages: int = 0
    warnings: list[dict[str, Any]] = field(default_factory=list)


class Assembly:
    """Pieces of text one after the other, each cleaned before its place is counted."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.length = 0
        self.parts: list[TextPlace] = []
        self._numbers: dict[str, int] = {}

    def add(self, text: str, between: str = "\n\n", *, tidy: bool = True) -> tuple[int, int]:
        """Append the text and return its place; blank text is left out, at an empty place. If not
        `tidy`, blanks stay where the author put them."""
        clean = tidied(storable(text)) if tidy else storable(text)
        if not clean.strip():
            return self.length, self.length
        if self.length:
            self._pieces.append(between)
            self.length += len(between)
        start = self.length
        self._pieces.append(clean)
        self.length += len(clean)
        if self.length > LONGEST:
            raise FileRefused("too_large", f"The text has more than {LONGEST:,} characters.")
        return start, self.length

    def add_part(self, kind: str, label: str, text: str, **more: Any) -> TextPlace:
        """Append a text that is a part by itself; a blank one is counted but has an empty place."""
        start, end = self.add(text)
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        label = storable(label[:300]).strip() or f"{kind} {number}"
        place = TextPlace(kind, number, label[:300], start, end)
        for name, value in more.items():
            setattr(place, name, value)
        if end > start:
            self.parts.append(place)
        return place

    def put(self, parts: list[TextPlace], offset: int) -> None:
        """Add the parts of an inner file, which stands at `offset`, with the next numbers."""
        for part in parts:
            number = self._numbers[part.kind] = self._numbers.get(part.kind, 0) + 1
            part.ordinal, part.start, part.end = number, part.start + offset, part.end + offset
            self.parts.append(part)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def done(self, **more: Any) -> FileText:
        return FileText(self.text, self.parts, **more)


def storable(text: str) -> str:
    """Return the text in NFC, with LF alone, without what a database does not store."""
    text = _LINE_END.sub("\n", _BROKEN_WORD.sub("", text))
    text = _UNSTORABLE.sub("", text)
    return lexical.normal("NFC", text)


def tidied(text: str) -> str:
    """Return the text without blanks at the ends of lines and of the whole, and with at most one
    empty line in a row."""
    return _HOLES.sub("\n\n", _BLANKS.sub("\n", text)).strip("\n \t\f")


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a line for each row; rows without a word are left out."""
    return "\n".join(" | ".join(row) for row in rows if any(row))


_HEADING = re.compile(r"^(#{1,6})[ \t]+(\S[^\n]{0,300})$", re.MULTILINE)


def headings_of(text: str) -> list[TextPlace]:
    """Return each heading of a Markdown text, and what stands below it up to the next."""
    marks = list(_HEADING.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    return [
        TextPlace("heading", n, mark[2].strip(" #")[:300], mark.start(), end)
        for n, (mark, end) in enumerate(zip(marks, ends, strict=True), 1)
    ]
