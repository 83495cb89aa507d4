"""Discord's channels as DiscordChatExporter writes them in JSON."""

from collections.abc import Iterator

from memories.transcripts.chat_message import SYSTEM, Chat, LogMessage
from memories.transcripts.json_values import first, instant, items, mapping, string
from memories.transcripts.rich_text import quoted
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript

SPOKEN = ("Default", "Reply", "0", "19")  # the others tell of joins, pins and calls


def is_discord(data: Json) -> bool:
    is_named = isinstance(data, dict) and "guild" in data and bool(mapping(data, "channel"))
    return is_named and isinstance(first(data, "messages"), list)


def read_discord(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    channel = mapping(value.data, "channel")
    names = (string(mapping(value.data, "guild"), "name"), string(channel, "category"), string(channel, "name"))
    title = " / ".join(name for name in names if name)
    chat = Chat(source, value.line, f"discord-{string(channel, 'id') or source.name}", title)
    for raw in items(value.data, "messages"):
        if not mapping(raw, "author"):
            yield BadLine(value.line, f"{title}: no message")
        elif string(raw, "type") not in SPOKEN:
            chat.leave_out(SYSTEM)
        else:
            yield from chat.hand_over(_said(raw))


def _said(raw: Json) -> LogMessage:
    author = mapping(raw, "author")
    text = string(raw, "content")
    forwarded = string(mapping(raw, "forwardedMessage"), "content")
    if forwarded:
        text = f"{text}\n{quoted(forwarded, '')}".strip()
    return LogMessage(
        id=string(raw, "id"),
        author=string(author, "nickname", "name"),
        at=instant(first(raw, "timestamp")),
        text=text,
        files=[string(file, "fileName", "url") for file in items(raw, "attachments") + items(raw, "stickers")],
        reply_to=string(mapping(raw, "reference"), "messageId"),
        is_bot=first(author, "isBot") is True,
        metadata={"edited": string(raw, "timestampEdited")},
    )
