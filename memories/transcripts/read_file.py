"""Opens a file, finds out what is in it, and hands over its conversations."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from memories.transcripts import (
    beam,
    chat_messages,
    chatgpt,
    claude,
    json_stream,
    jsonl,
    locomo_format,
    markdown,
    plain_text,
    realmem_format,
)
from memories.transcripts.file_layout import layout
from memories.transcripts.normalise import finished
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    Malformed,
    SourceFile,
    Transcript,
    Unreadable,
)


class FormatReader(Protocol):
    def recognises(self, data: Json) -> bool: ...
    def read(self, value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]: ...


# In the order in which they are asked; the one that takes nearly everything comes last.
READERS: dict[str, FormatReader] = {
    "chatgpt": chatgpt,
    "claude": claude,
    "locomo": locomo_format,
    "beam": beam,
    "realmem": realmem_format,
    "messages": chat_messages,
}
SAME = {"openai": "messages", "anthropic": "messages"}
LAYOUTS = {"text": plain_text.read, "markdown": markdown.read}
VALUES = {"jsonl": jsonl.values, "json": json_stream.values}
FORMATS = (*LAYOUTS, *VALUES, *READERS, *SAME)


def read(path: Path, format: str | None = None) -> Iterator[Transcript | BadLine]:  # noqa: A002
    """The conversations of a file and what could not be read of it, in the file's order.

    `format` is one of FORMATS and overrules what the content looks like. The same file gives the
    same message ids each time. Raises Unreadable at once where the file is no text, is empty or
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
    for value in values:
        if isinstance(value, BadLine):
            yield value
            continue
        reader = next((r for r in readers if r.recognises(value.data)), None)
        try:
            yield from reader.read(value, source) if reader else [_unknown(value, name)]
        except Malformed as error:
            yield BadLine(value.line, str(error))


def _unknown(value: JsonValue, name: str) -> BadLine:
    expected = f"in the format {name}" if name in READERS else "a message or conversation we know"
    return BadLine(value.line, f"this is not {expected}")
