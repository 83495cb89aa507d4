"""JSON read piece by piece: of a list of conversations, or of values one on each line, only one is
held in memory at a time."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from memories.transcripts.json_values import clean
from memories.transcripts.text_files import LONGEST, lines
from memories.transcripts.transcript import BadLine, Json, JsonValue, Malformed

PIECE = 1024 * 1024
PART = 1_000  # messages of one object that are handed over together
CHATS = frozenset({"chats", "left_chats"})  # objects of an export that hold all chats of an account
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
            for position, line, data in _outer(scanner):
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
        if len(rest) > LONGEST:
            raise Malformed(f"a value of more than {LONGEST:,} characters")
        more = "" if self._is_ended else self._file.read(max(PIECE, len(rest)))
        self._is_ended = not more
        self._window, self._at = rest + more, 0
        return bool(more)


def _outer(scanner: Scanner) -> Iterator[tuple[int, int, Json]]:
    """Yield the outer values: their place in the file, their line, what they hold."""
    position = 0
    if scanner.peek() == "[":
        for position, _ in enumerate(_elements(scanner, "]"), 1):
            yield position, scanner.line, scanner.value()
    while scanner.peek():
        position += 1
        if scanner.peek() == "{":
            yield from ((position, line, data) for line, data in _object(scanner))
        else:
            yield position, scanner.line, scanner.value()


def _elements(scanner: Scanner, end: str) -> Iterator[None]:
    """Stop where each element of a list or an object begins; the caller reads it."""
    scanner.step()
    while scanner.peek() != end:
        yield
        if scanner.peek() == ",":
            scanner.step()
        elif scanner.peek() != end:
            raise Malformed("the list is not closed" if not scanner.peek() else "missing comma")
    scanner.step()


def _object(scanner: Scanner, *, of_chats: bool = False) -> Iterator[tuple[int, Json]]:
    """Yield an object; one with a long list of messages in parts, each with what stands before the
    list. `of_chats`: it holds chats in its `list`, each of which is yielded by itself."""
    line, data, is_in_parts = scanner.line, dict[str, Json](), False
    for _ in _elements(scanner, "}"):
        key = scanner.value()
        if not isinstance(key, str) or scanner.peek() != ":":
            raise Malformed("a name and a colon are missing")
        scanner.step()
        opening = scanner.peek()
        if key in CHATS and opening == "{":
            is_in_parts = True
            yield from _object(scanner, of_chats=True)
        elif of_chats and key == "list" and opening == "[":
            is_in_parts = True
            for _ in _elements(scanner, "]"):
                yield from _object(scanner) if scanner.peek() == "{" else [(scanner.line, scanner.value())]
        elif key == "messages" and opening == "[":
            part = list[Json]()
            for _ in _elements(scanner, "]"):
                part.append(scanner.value())
                if len(part) == PART:
                    is_in_parts = True
                    yield line, {**data, key: part}
                    part = []
            data[key] = part
        else:
            data[key] = scanner.value()
    if not is_in_parts or data.get("messages"):
        yield line, data


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
