"""JSON values, one on each line: nothing but the current line is held in memory."""

import json
from collections.abc import Iterator
from pathlib import Path

from memories.transcripts.clean import clean
from memories.transcripts.lines import TextLine, lines
from memories.transcripts.transcript import BadLine, JsonValue


def values(path: Path) -> Iterator[JsonValue | BadLine]:
    position = 0
    for line in lines(path):
        if isinstance(line, BadLine):
            yield line
        elif line.text.strip():
            position += 1
            yield _value(line, position)


def _value(line: TextLine, position: int) -> JsonValue | BadLine:
    try:
        return JsonValue(line.number, position, clean(json.loads(line.text, strict=False)))
    except json.JSONDecodeError as error:
        return BadLine(line.number, f"not JSON: {error.msg} (column {error.colno})")
    except (ValueError, RecursionError) as error:
        return BadLine(line.number, f"not usable JSON: {error}")
