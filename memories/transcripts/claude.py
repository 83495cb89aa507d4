"""Claude's export (conversations.json): conversations with their chat_messages."""

from collections.abc import Iterator

from memories.transcripts import anthropic_messages
from memories.transcripts.json_access import fields, first, items, mapping, string
from memories.transcripts.message_ids import digest, numbered
from memories.transcripts.timestamps import instant
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    SourceFile,
    Transcript,
    TranscriptMessage,
)

ROLE_OF = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}


def recognises(data: Json) -> bool:
    return isinstance(fields(data).get("chat_messages"), list)


def read(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    talk = fields(value.data)
    thread = string(talk, "uuid") or digest(first(talk, "name"), first(talk, "created_at"))
    title = string(talk, "name") or thread
    messages = [m for raw in items(talk, "chat_messages") for m in _messages(raw)]
    if messages:
        yield Transcript(thread, title, None, tuple(messages), value.line)
    else:
        yield BadLine(value.line, f"conversation {title!r} has no messages")


def _messages(raw: Json) -> list[TranscriptMessage]:
    role = ROLE_OF.get(string(raw, "sender", "role"), "")
    if not role:
        return []
    files = items(raw, "attachments") + items(raw, "files")
    names: list[Json] = [string(file, "file_name") for file in files if mapping({"f": file}, "f")]
    attachments: dict[str, Json] = {"attachments": names} if any(names) else {}
    head = TranscriptMessage(
        id=string(raw, "uuid"),
        role=role,
        content="",
        created_at=instant(first(raw, "created_at")),
        metadata=attachments,
        kind=role,
    )
    # Old exports have only `text`, in new ones it may be empty or lack what tools did.
    said = anthropic_messages.messages_from_blocks(head, items(raw, "content"))
    return numbered(said or anthropic_messages.messages_from_blocks(head, string(raw, "text")))
