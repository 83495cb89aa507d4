"""Conversations out of a Claude export."""

from collections.abc import Iterator
from dataclasses import replace

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

LONGEST_PASTED = 20_000  # characters of an attached text
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
        said = said or messages_from_blocks(head, string(raw, "text"))
        pasted = "\n\n".join(text for file in files if (text := _pasted(file, value.line, source)))
        if pasted and said:
            said[-1] = replace(said[-1], content=f"{said[-1].content}\n\n{pasted}")
        messages += numbered(said or ([replace(head, content=pasted)] if pasted else []))
    if messages:
        yield Transcript(thread, title, None, tuple(messages), value.line)
    else:
        yield BadLine(value.line, f"conversation {title!r} has no messages")


def _pasted(file: Json, line: int, source: SourceFile) -> str:
    """Return a text that was attached, between marks of code: whose words it holds nobody tells."""
    text, name = string(file, "extracted_content"), string(file, "file_name") or "pasted text"
    if not text:
        if string(file, "file_name"):
            source.left_out.add(line, "a file that the export names and does not hold")
        return ""
    if len(text) > LONGEST_PASTED:
        source.left_out.add(line, f"what goes beyond {LONGEST_PASTED:,} characters of an attached text")
    mark = "~~~" if "```" in text else "```"
    return f"[{name}]\n{mark}\n{text[:LONGEST_PASTED]}\n{mark}"
