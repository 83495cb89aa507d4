"""Conversations of RealMem: one person and an assistant over many dated sessions."""

from collections.abc import Iterator

from memories.transcripts.json_values import instant, items, mapping, string
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript, TranscriptMessage


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
