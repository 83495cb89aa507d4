"""LoCoMo's format: two people over many sessions; each conversation is one subject."""

from collections.abc import Iterator

from memories.transcripts.json_access import fields, first, items, mapping, string
from memories.transcripts.timestamps import instant, written
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    SourceFile,
    Transcript,
    TranscriptMessage,
)

SAID_AT = "%I:%M %p on %d %B, %Y"


def recognises(data: Json) -> bool:
    return bool(_sessions(_talk(data)))


def read(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
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
    numbers = [key.removeprefix("session_") for key, turns in talk.items() if _is_turns(key, turns)]
    return sorted(int(number) for number in numbers)


def _is_turns(key: str, turns: Json) -> bool:
    number = key.removeprefix("session_")
    is_numbered = key.startswith("session_") and number.isascii() and number.isdigit()
    return is_numbered and len(number) < 10 and isinstance(turns, list)


def _text(turn: Json) -> str:
    caption = first(turn, "blip_caption")
    captions = caption if isinstance(caption, list) else [caption]
    seen = "; ".join(words for words in captions if isinstance(words, str) and words)
    photo = f"[shared a photo: {seen}]" if seen else ""
    return " ".join(words for words in (string(turn, "text"), photo) if words)
