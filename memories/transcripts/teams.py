"""Chats of Microsoft Teams: the personal export (messages.json, which Skype wrote as well), and the
messages that Graph answers and its export tools keep."""

import re
from collections.abc import Iterator

from memories.transcripts.chat_message import DELETED, MEDIA, SYSTEM, Chat, LogMessage
from memories.transcripts.json_values import fields, first, instant, items, mapping, string
from memories.transcripts.rich_text import words_of_html
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript

WRITTEN = ("RichText", "RichText/Html", "Text")


def is_teams(data: Json) -> bool:
    """Tell whether `data` is a personal export, a message of Graph, or a page of them."""
    conversations = items(data, "conversations")[:20]
    return (
        any(isinstance(first(each, "MessageList"), list) for each in conversations)
        or _is_graph(data)
        or any(map(_is_graph, items(data, "value", "messages")[:20]))
    )


def _is_graph(data: Json) -> bool:
    return "contentType" in mapping(data, "body") and "createdDateTime" in fields(data)


def read_teams(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    if items(value.data, "conversations"):
        yield from _read_personal(value, source)
        return
    for raw in [value.data] if _is_graph(value.data) else items(value.data, "value", "messages"):
        place = string(raw, "chatId") or string(mapping(raw, "channelIdentity"), "channelId") or source.name
        yield from _read_graph(raw, Chat(source, value.line, f"teams-{place}", source.name))


def _read_graph(raw: Json, chat: Chat) -> Iterator[Transcript | BadLine]:
    if not _is_graph(raw):
        yield BadLine(chat.line, "this is no message of a chat")
        return
    user, app = mapping(mapping(raw, "from"), "user"), mapping(mapping(raw, "from"), "application")
    if first(raw, "deletedDateTime") is not None:
        chat.leave_out(DELETED)
    elif string(raw, "messageType") not in ("", "message") or not (user or app):
        chat.leave_out(SYSTEM)
    else:
        body = mapping(raw, "body")
        text = string(body, "content")
        yield from chat.hand_over(
            LogMessage(
                id=string(raw, "id"),
                author=string(user or app, "displayName", "id"),
                at=instant(first(raw, "createdDateTime")),
                text=words_of_html(text) if string(body, "contentType").lower() == "html" else text,
                files=[string(file, "name", "contentType") for file in items(raw, "attachments")],
                reply_to=string(raw, "replyToId"),
                thread=string(raw, "replyToId"),
                is_bot=not user,
            )
        )


def _read_personal(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    me = string(value.data, "userId")
    for talk in items(value.data, "conversations"):
        name = string(talk, "id")
        topic = string(mapping(talk, "threadProperties"), "topic")
        chat = Chat(source, value.line, f"teams-{name}", topic or string(talk, "displayName") or name)
        for raw in reversed(items(talk, "MessageList")):  # the newest stands first
            kind, sender = string(raw, "messagetype"), string(raw, "from")
            if not sender:
                yield BadLine(value.line, f"{chat.title}: no message")
            elif kind not in WRITTEN:
                chat.leave_out(MEDIA if "Media" in kind or "Uri" in kind else SYSTEM)
            elif not string(raw, "content"):
                chat.leave_out(DELETED)
            else:
                content = string(raw, "content")
                shown = string(raw, "displayName") or re.sub(r"^(?:\d{1,2}:)?(?:live:|orgid:)?\.?", "", sender)
                yield from chat.hand_over(
                    LogMessage(
                        id=string(raw, "id"),
                        author="" if sender == me else shown,
                        at=instant(first(raw, "originalarrivaltime")),
                        text=content if kind == "Text" else words_of_html(content),
                    )
                )
