"""Conversations of LoCoMo: two people over many sessions; each conversation is one subject."""

import re
from collections.abc import Iterator

from memories.transcripts.json_values import fields, first, instant, items, mapping, string, written
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript, TranscriptMessage

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
