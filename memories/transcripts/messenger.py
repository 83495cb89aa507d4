"""Messenger's and Instagram's downloads: message_1.json of each thread, and the newer form of chats
that were encrypted end to end."""

from collections.abc import Iterator

from memories.transcripts.chat_message import DELETED, SYSTEM, Chat, LogMessage
from memories.transcripts.json_values import first, instant, items, mapping, string
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript

FILES = ("photos", "videos", "audio_files", "gifs", "files", "media")


def is_messenger(data: Json) -> bool:
    known = items(data, "messages")[:20]
    return isinstance(first(data, "participants"), list) and any(
        ("sender_name" in each and "timestamp_ms" in each) or ("senderName" in each and "timestamp" in each)
        for each in known
        if isinstance(each, dict)
    )


def read_messenger(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    people = items(value.data, "participants")
    names = ", ".join(string(each, "name") if isinstance(each, dict) else str(each) for each in people)
    title = unbroken(names)  # the title stands behind the messages, of which a long chat comes in parts
    chat = Chat(source, value.line, f"messenger-{source.name}", title)
    # The newest stands first.
    for raw in reversed(items(value.data, "messages")):
        author = unbroken(string(raw, "sender_name", "senderName"))
        if not author:
            yield BadLine(value.line, f"{title}: no message")
        elif first(raw, "is_unsent", "isUnsent") is True:
            chat.leave_out(DELETED)
        elif string(raw, "type") in ("Subscribe", "Unsubscribe", "Call", "call", "placeholder"):
            chat.leave_out(SYSTEM)
        else:
            files = [unbroken(string(file, "uri")) for key in FILES for file in items(raw, key)]
            link = string(mapping(raw, "share"), "link")
            yield from chat.hand_over(
                LogMessage(
                    id="",
                    author=author,
                    at=instant(first(raw, "timestamp_ms", "timestamp")),
                    text=unbroken(string(raw, "content", "text")),
                    files=[*files, *([link] if link else ())],
                )
            )


def unbroken(text: str) -> str:
    """Return a text whose bytes of UTF-8 were each written as a character, as this export does."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
