"""Signal's chats: Signal Desktop's own export (main.jsonl), signal-export's data.json and sigtop's."""

from collections.abc import Iterator

from memories.transcripts.chat_message import DELETED, SYSTEM, Chat, LogMessage
from memories.transcripts.json_values import first, instant, items, mapping, string
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript

FRAMES = ("account", "recipient", "chat", "chatItem", "adHocCall", "stickerPack", "chatFolder", "notificationProfile")


def is_signal(data: Json) -> bool:
    """Tell whether `data` is a frame of Signal's own export, or a message of signal-export's."""
    if not isinstance(data, dict):
        return False
    is_frame = len(data) == 1 and any(mapping(data, name) for name in FRAMES)
    is_head = {"backupTimeMs", "version"} <= data.keys()
    return is_frame or is_head or {"date", "sender", "body", "quote", "reactions"} <= data.keys()


def read_signal(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    data = value.data
    if string(data, "sender") or "body" in (data if isinstance(data, dict) else {}):
        yield from _read_exported(value, source)
    elif item := mapping(data, "chatItem"):
        yield from _read_item(item, value.line, source)
    elif recipient := mapping(data, "recipient"):
        source.known[f"who:{string(recipient, 'id')}"] = _name_of(recipient)
    elif chat := mapping(data, "chat"):
        source.known[f"chat:{string(chat, 'id')}"] = source.known.get(f"who:{string(chat, 'recipientId')}", "")


def _name_of(recipient: Json) -> str:
    """Return a person's or group's name; "Me" is whoever exported."""
    if isinstance(recipient, dict) and "self" in recipient:
        return "Me"
    contact = mapping(recipient, "contact")
    nickname = mapping(contact, "nickname")
    for holder, given, family in (
        (nickname, "given", "family"),
        (contact, "systemGivenName", "systemFamilyName"),
        (contact, "profileGivenName", "profileFamilyName"),
    ):
        if name := " ".join(part for part in (string(holder, given), string(holder, family)) if part):
            return name
    title = string(mapping(mapping(mapping(recipient, "group"), "snapshot"), "title"), "title")
    return title or string(contact, "username", "e164", "aci")


def _read_item(item: Json, line: int, source: SourceFile) -> Iterator[Transcript]:
    number, author = string(item, "chatId"), string(item, "authorId")
    chat = Chat(source, line, f"signal-{number}", source.known.get(f"chat:{number}") or f"chat {number}")
    message = mapping(item, "standardMessage")
    if not message:
        chat.leave_out(DELETED if "remoteDeletedMessage" in (item if isinstance(item, dict) else {}) else SYSTEM)
        return
    name = source.known.get(f"who:{author}") or f"person {author}"
    sent = string(item, "dateSent")
    yield from chat.hand_over(
        LogMessage(
            id=f"{sent}-{author}",
            author="" if name == "Me" else name,
            at=instant(sent),
            text=string(mapping(message, "text"), "body"),
            files=[
                string(mapping(each, "pointer"), "fileName", "contentType") or "file"
                for each in items(message, "attachments")
            ],
            reply_to=string(mapping(message, "quote"), "targetSentTimestamp"),
        )
    )


def _read_exported(value: JsonValue, source: SourceFile) -> Iterator[Transcript]:
    sender = string(value.data, "sender")
    said = LogMessage(
        id="",
        author="" if sender == "Me" else sender,
        at=instant(first(value.data, "date")),
        text=string(value.data, "body"),
        files=[string(each, "name", "path") or "file" for each in items(value.data, "attachments")],
    )
    yield from Chat(source, value.line, source.name, source.name).hand_over(said)
