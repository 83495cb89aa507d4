"""Google Chat's messages.json of Takeout."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from memories.transcripts.chat_message import DELETED, Chat, LogMessage
from memories.transcripts.json_values import first, instant, items, mapping, string, written
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript

FORMS = ("%A, %B %d, %Y at %I:%M:%S %p UTC", "%A, %d %B %Y at %H:%M:%S UTC", "%A, %B %d, %Y at %H:%M:%S UTC")


def is_google_chat(data: Json) -> bool:
    known = items(data, "messages")[:20]
    return any(mapping(each, "creator") and string(each, "created_date", "topic_id") for each in known)


def read_google_chat(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    space = re.sub(r"\W+", "-", source.path.resolve().parent.name).strip("-") or source.name
    chat = Chat(source, value.line, f"google-chat-{space}", source.path.resolve().parent.name)
    for raw in items(value.data, "messages"):
        creator = mapping(raw, "creator")
        if string(raw, "message_state") == "DELETED" or mapping(raw, "deletion_metadata"):
            chat.leave_out(DELETED)
        elif not creator:
            yield BadLine(value.line, "a message that names nobody")
        else:
            quote = mapping(raw, "quoted_message_metadata")
            yield from chat.hand_over(
                LogMessage(
                    id=string(raw, "message_id"),
                    author=string(creator, "name", "email"),
                    at=_moment(string(raw, "created_date")) or instant(first(raw, "created_date")),
                    text=string(raw, "text"),
                    files=[string(file, "original_name", "export_name") for file in items(raw, "attached_files")],
                    reply_to=string(quote, "message_id"),
                    thread=string(raw, "topic_id"),
                    is_bot=string(creator, "user_type") == "Bot",
                )
            )


def _moment(text: str) -> datetime | None:
    plain = " ".join(text.replace("\u202f", " ").split())
    found = next(filter(None, (written(plain, form) for form in FORMS)), None)
    return found.astimezone(UTC) if found else None
