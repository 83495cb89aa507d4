"""Conversations of BEAM's chat.json: batches of turns, each batch with its day."""

import re
from collections.abc import Iterator
from datetime import datetime

from memories.transcripts.json_values import first, items, string, written
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript, TranscriptMessage

DAY = "%B-%d-%Y"
# The data set's marks at the end of a question, which nobody said.
MARKS = re.compile(r"\s*->->\s*[\d,\s]+$")


def is_beam(data: Json) -> bool:
    return bool(items(data, "turns")) and first(data, "batch_number") is not None


def read_beam(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    number = first(value.data, "batch_number")
    messages: list[TranscriptMessage] = []
    day: datetime | None = None
    groups = items(value.data, "turns")
    turns = [turn for group in groups for turn in (group if isinstance(group, list) else [group])]
    for n, turn in enumerate(turns, 1):
        day = written(string(turn, "time_anchor"), DAY) or day
        role = "assistant" if string(turn, "role") == "assistant" else "user"
        content = MARKS.sub("", string(turn, "content")).strip()
        if not content:
            yield BadLine(value.line, f"batch {number}, message {n} has no content")
            continue
        messages.append(
            TranscriptMessage(
                id=string(turn, "id"),
                role=role,
                content=content,
                created_at=day,
                metadata={"sessionNo": number},
                kind=role,
            )
        )
    thread = f"{source.name}-{number}"
    yield Transcript(thread, thread, source.name, tuple(messages), value.line)
