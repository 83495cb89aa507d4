"""Telegram Desktop's export as JSON: one chat, or a whole account."""

from collections.abc import Iterator

from memories.transcripts.chat_message import SYSTEM, Chat, LogMessage
from memories.transcripts.json_values import first, instant, items, mapping, string
from memories.transcripts.rich_text import quoted
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript

LISTS = ("chats", "left_chats")
FILES = ("file_name", "file", "photo", "media_type", "location_information", "contact_information", "poll")


def is_telegram(data: Json) -> bool:
    """Tell whether `data` is a chat of Telegram, or an account with its chats."""
    chats = [chat for name in LISTS for chat in items(mapping(data, name), "list")]
    return any(map(_is_chat, chats)) or _is_chat(data)


def _is_chat(data: Json) -> bool:
    known = items(data, "messages")[:20]
    return first(data, "type") is not None and any(
        string(each, "type") in ("message", "service") and first(each, "date_unixtime", "date") for each in known
    )


def read_telegram(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    chats = [chat for name in LISTS for chat in items(mapping(value.data, name), "list")]
    for data in chats or [value.data]:
        title = string(data, "name") or string(data, "type").replace("_", " ")
        chat = Chat(source, value.line, f"telegram-{string(data, 'id') or source.name}", title)
        for raw in items(data, "messages"):
            if not isinstance(raw, dict):
                yield BadLine(value.line, f"{title}: no message")
            elif string(raw, "type") == "message":
                yield from chat.hand_over(_said(raw))
            else:
                chat.leave_out(SYSTEM)


def _said(raw: Json) -> LogMessage:
    author = string(raw, "from") or string(raw, "from_id")
    text = _plain(first(raw, "text"))
    origin = string(raw, "forwarded_from", "saved_from")
    metadata: dict[str, Json] = {"edited": string(raw, "edited")}
    if text and (origin or "forwarded_from" in (raw if isinstance(raw, dict) else {})):
        text = quoted(text, origin)
        metadata["forwardedFrom"] = origin or "somebody"
    return LogMessage(
        id=string(raw, "id"),
        author=author,
        at=instant(string(raw, "date_unixtime")) or instant(first(raw, "date")),
        text=text,
        files=[name for key in FILES if (name := string(raw, key) or ("poll" if mapping(raw, key) else ""))],
        reply_to=string(raw, "reply_to_message_id"),
        is_bot=bool(string(raw, "via_bot")),
        metadata=metadata,
    )


def _plain(text: Json) -> str:
    """Return a text that may come in formatted parts: they follow each other as they stand."""
    if isinstance(text, list):
        return "".join(part if isinstance(part, str) else _raw(part) for part in text)
    return text if isinstance(text, str) else ""


def _raw(part: Json) -> str:
    words = part.get("text") if isinstance(part, dict) else ""
    return words if isinstance(words, str) else ""
