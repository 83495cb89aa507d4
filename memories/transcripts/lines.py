"""Lines of a text file, decoded one by one, so that one bad line costs one line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from memories.transcripts.transcript import BadLine

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
                _skip_line(file, raw)
                yield BadLine(number, f"longer than {longest} bytes")
            else:
                yield _decoded(number, raw.removeprefix(BOM) if number == 1 else raw)


def _decoded(number: int, raw: bytes) -> TextLine | BadLine:
    try:
        return TextLine(number, raw.decode("utf-8").rstrip("\r\n"))
    except UnicodeDecodeError as error:
        return BadLine(number, f"not UTF-8: byte 0x{raw[error.start]:02x} at {error.start + 1}")


def _skip_line(file: BinaryIO, raw: bytes) -> None:
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(1024 * 1024)
