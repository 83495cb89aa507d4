"""JSON, text and Markdown, read piece by piece: of a list of conversations, or of values one on
each line, only one is held in memory at a time."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    Malformed,
    SourceFile,
    Transcript,
    TranscriptMessage,
)

# Taking typed pieces out of JSON whose shape nobody promised, times as aware UTC, and what does
# not fit for a database made to fit: Postgres takes no NUL, UTF-8 no lone surrogate, JSON no NaN.


def fields(data: Json) -> dict[str, Json]:
    return data if isinstance(data, dict) else {}


def string(data: Json, *keys: str) -> str:
    """Return the first of `keys` that holds words or a number, as stripped text; else ""."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, str) and found.strip():
            return found.strip()
        if isinstance(found, int | float) and not isinstance(found, bool):
            return str(found)
    return ""


def mapping(data: Json, *keys: str) -> dict[str, Json]:
    """Return the first of `keys` that holds an object; else an empty one."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, dict):
            return found
    return {}


def items(data: Json, *keys: str) -> list[Json]:
    """Return the first of `keys` that holds a list; else an empty one."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, list):
            return found
    return []


def first(data: Json, *keys: str) -> Json:
    """Return the first of `keys` that is there and not null."""
    found = (fields(data).get(key) for key in keys)
    return next((value for value in found if value is not None), None)


# Seconds since 1970 stay below this until the year 5138; bigger numbers are milliseconds.
MILLISECONDS_FROM = 1e11


def instant(raw: Json) -> datetime | None:
    """Read ISO 8601, or seconds or milliseconds since 1970 as number or text; else return None."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return None
    moment = None
    try:
        if isinstance(raw, str):
            with suppress(ValueError):
                moment = datetime.fromisoformat(raw.strip())
        if moment is None:
            number = float(raw)
            seconds = number / 1000 if abs(number) >= MILLISECONDS_FROM else number
            return datetime.fromtimestamp(seconds, UTC)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def written(raw: str, pattern: str) -> datetime | None:
    """Read a time in the given strptime pattern; return None if it does not fit."""
    try:
        return datetime.strptime(raw.strip(), pattern).replace(tzinfo=UTC)
    except ValueError:
        return None


SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Drop NULs, and turn lone halves of surrogate pairs into the replacement character."""
    if text.isascii():
        return text.replace("\x00", "")
    return SURROGATES.sub("\ufffd", text).replace("\x00", "")


def clean(data: Json) -> Json:
    """Clean all strings of a JSON value likewise, keys too; infinite numbers become null."""
    if isinstance(data, str):
        return clean_text(data)
    if isinstance(data, list):
        return [clean(item) for item in data]
    if isinstance(data, dict):
        return {clean_text(key): clean(item) for key, item in data.items()}
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


# Text and Markdown: each paragraph is one message, of Markdown each paragraph, list or fenced
# block, which knows its headings; the file is one thread. Lines are decoded one by one: a bad one
# costs one line.

BOM = b"\xef\xbb\xbf"
LONGEST = 64 * 1024 * 1024


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


LONGEST_PIECE = 4000
CUTS = ("\n", ". ", "! ", "? ", " ")  # the best place first
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


HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(slots=True)
class MarkdownPlace:
    """The current position in the document."""

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


PIECE = 1024 * 1024
SPACE = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder(strict=False)
# The decoder tells of a mistake at most so many characters before the end of what it was given
# when the only mistake is that there was no more of it.
CUT_SHORT = 16


def values_of_json(path: Path) -> Iterator[JsonValue | BadLine]:
    """Yield the elements of the outer list, or the one value that is there.

    Reading ends at the first mistake, because nobody can tell where the next element begins.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        scanner = Scanner(file)
        try:
            for position, (line, data) in enumerate(_outer(scanner), 1):
                yield JsonValue(line, position, clean(data))
        except UnicodeDecodeError as error:
            yield _stopped(scanner, f"not UTF-8: byte 0x{error.object[error.start]:02x}")
        except (ValueError, RecursionError) as error:
            yield _stopped(scanner, f"not usable JSON: {error}")


class Scanner:
    """A window on the file that grows until the next value fits and lets go of what was read."""

    def __init__(self, file: TextIO) -> None:
        self.line = 1
        self._file = file
        self._window = ""
        self._at = 0
        self._is_ended = False

    def peek(self) -> str:
        """Return the next character that is not a space; empty at the end."""
        while True:
            match = SPACE.match(self._window, self._at)
            self._go_to(match.end() if match else self._at)
            if self._at < len(self._window):
                return self._window[self._at]
            if not self._grow():
                return ""

    def step(self) -> None:
        self._go_to(self._at + 1)

    def value(self) -> Json:
        """Return the value that begins here. Raises ValueError with the line of the mistake."""
        while True:
            try:
                data, end = DECODER.raw_decode(self._window, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.pos >= len(self._window) - CUT_SHORT
                if (is_cut or error.msg.startswith("Unterminated")) and self._grow():
                    continue
                self._go_to(min(error.pos, len(self._window)))
                raise Malformed(error.msg) from error
            # A number at the window's edge may go on behind it.
            if end < len(self._window) or not self._grow():
                self._go_to(end)
                return data

    def _go_to(self, at: int) -> None:
        self.line += self._window.count("\n", self._at, at)
        self._at = at

    def _grow(self) -> bool:
        # Doubling keeps the work linear although a long value is tried again each time.
        rest = self._window[self._at :]
        more = "" if self._is_ended else self._file.read(max(PIECE, len(rest)))
        self._is_ended = not more
        self._window, self._at = rest + more, 0
        return bool(more)


def _outer(scanner: Scanner) -> Iterator[tuple[int, Json]]:
    if scanner.peek() == "[":
        scanner.step()
        while scanner.peek() != "]":
            yield scanner.line, scanner.value()
            if scanner.peek() == ",":
                scanner.step()
            elif scanner.peek() != "]":
                raise Malformed("the list is not closed" if not scanner.peek() else "missing comma")
        scanner.step()
    while scanner.peek():
        yield scanner.line, scanner.value()


def _stopped(scanner: Scanner, reason: str) -> BadLine:
    return BadLine(scanner.line, f"{reason}; nothing after this was read")


def values_of_lines(path: Path) -> Iterator[JsonValue | BadLine]:
    position = 0
    for line in lines(path):
        if isinstance(line, BadLine):
            yield line
            continue
        if not line.text.strip():
            continue
        position += 1
        value: JsonValue | BadLine
        try:
            value = JsonValue(line.number, position, clean(json.loads(line.text, strict=False)))
        except json.JSONDecodeError as error:
            value = BadLine(line.number, f"not JSON: {error.msg} (column {error.colno})")
        except (ValueError, RecursionError) as error:
            value = BadLine(line.number, f"not usable JSON: {error}")
        yield value
