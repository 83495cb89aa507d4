"""Conversations of data sets: LoCoMo's (two people over many sessions; each conversation is one
subject), BEAM's chat.json (batches of turns, each batch with its day) and RealMem's (one person and
an assistant over many dated sessions)."""

import re
from collections.abc import Iterator
from datetime import datetime

from memories.transcripts.json_and_text_files import (
    fields,
    first,
    instant,
    items,
    mapping,
    string,
    written,
)
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    SourceFile,
    Transcript,
    TranscriptMessage,
)

SAID_AT = "%I:%M %p on %d %B, %Y"


def is_locomo(data: Json) -> bool:
    return bool(_sessions(_talk(data)))


def read_locomo(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    talk = _talk(value.data)
    subject = string(value.data, "sample_id") or source.name
    for number in _sessions(talk):
        at = string(talk, f"session_{number}_date_time")
        said_at = written(at, SAID_AT) or instant(at)
        if at and not said_at:
            yield BadLine(value.line, f"session_{number}_date_time is no time: {at!r}")
        messages = []
        for n, turn in enumerate(items(talk, f"session_{number}"), 1):
            if not _text(turn):
                yield BadLine(value.line, f"session_{number}, message {n} has no text")
                continue
            messages.append(
                TranscriptMessage(
                    id=string(turn, "dia_id"),
                    role="user",
                    content=_text(turn),
                    name=string(turn, "speaker"),
                    created_at=said_at,
                    metadata={"sessionNo": number},
                    kind="user",
                )
            )
        thread = f"{subject}-{number}"
        yield Transcript(thread, thread, subject, tuple(messages), value.line)


def _talk(data: Json) -> dict[str, Json]:
    return mapping(data, "conversation") or fields(data)


def _sessions(talk: dict[str, Json]) -> list[int]:
    lists = [key for key, turns in talk.items() if isinstance(turns, list)]
    numbers = [re.fullmatch(r"session_([0-9]{1,9})", key) for key in lists]
    return sorted(int(number[1]) for number in numbers if number)


def _text(turn: Json) -> str:
    caption = first(turn, "blip_caption")
    captions = caption if isinstance(caption, list) else [caption]
    seen = "; ".join(words for words in captions if isinstance(words, str) and words)
    photo = f"[shared a photo: {seen}]" if seen else ""
    return " ".join(words for words in (string(turn, "text"), photo) if words)


DAY = "%B-%d-%Y"
# The data set's own marks at the end of a question, which nobody said.
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


def is_realmem(data: Json) -> bool:
    return any(items(dialogue, "dialogue_turns") for dialogue in items(data, "dialogues"))


def read_realmem(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    subject = string(mapping(value.data, "_metadata"), "person_name") or source.name
    for n, dialogue in enumerate(items(value.data, "dialogues")):
        said_at = instant(string(dialogue, "current_time")[:10])
        messages = []
        for i, turn in enumerate(items(dialogue, "dialogue_turns"), 1):
            speaker, content = string(turn, "speaker"), string(turn, "content")
            if not content:
                yield BadLine(value.line, f"dialogue {n}, message {i} has no content")
                continue
            role = "assistant" if speaker.lower() == "assistant" else "user"
            messages.append(
                TranscriptMessage(
                    id=f"{n}:{i}",
                    role=role,
                    content=content,
                    created_at=said_at,
                    metadata={"sessionNo": n},
                    kind=role,
                )
            )
        title = string(dialogue, "session_identifier")
        thread = f"{subject}-{n}"
        yield Transcript(thread, title or thread, subject, tuple(messages), value.line)
