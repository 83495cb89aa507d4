"""Conversations out of a Claude export."""

from collections.abc import Iterator

from memories.transcripts.json_values import fields, first, instant, items, string
from memories.transcripts.message_blocks import messages_from_blocks
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    SourceFile,
    Transcript,
    TranscriptMessage,
    digest,
    numbered,
)

EXPORTED_ROLE_OF = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}


def is_claude_export(data: Json) -> bool:
    return isinstance(fields(data).get("chat_messages"), list)


def read_claude(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    talk = fields(value.data)
    thread = string(talk, "uuid") or digest(first(talk, "name"), first(talk, "created_at"))
    title = string(talk, "name") or thread
    messages = []
    for raw in items(talk, "chat_messages"):
        role = EXPORTED_ROLE_OF.get(string(raw, "sender", "role"), "")
        if not role:
            continue
        files = items(raw, "attachments") + items(raw, "files")
        names: list[Json] = [string(file, "file_name") for file in files if isinstance(file, dict) and file]
        head = TranscriptMessage(
            id=string(raw, "uuid"),
            role=role,
            content="",
            created_at=instant(first(raw, "created_at")),
            metadata={"attachments": names} if any(names) else {},
            kind=role,
        )
        # Old exports have only `text`, in new ones it may be empty or lack what tools did.
        said = messages_from_blocks(head, items(raw, "content"))
        messages += numbered(said or messages_from_blocks(head, string(raw, "text")))
    if messages:
        yield Transcript(thread, title, None, tuple(messages), value.line)
    else:
        yield BadLine(value.line, f"conversation {title!r} has no messages")
