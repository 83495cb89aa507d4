"""Messages as OpenAI's, Anthropic's and our own clients write them, alone or as conversations."""

from collections.abc import Iterator

from memories.transcripts import anthropic_messages, openai_messages
from memories.transcripts.content_parts import spoken
from memories.transcripts.json_access import fields, first, items, mapping, string
from memories.transcripts.message_ids import numbered
from memories.transcripts.timestamps import instant
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    Malformed,
    SourceFile,
    Transcript,
    TranscriptMessage,
)

LISTS = ("messages", "conversation", "conversations")
ROLES = ("role", "from", "sender", "speaker")
CONTENTS = ("content", "text", "value")
THREADS = ("thread_id", "threadId", "conversation_id", "conversationId", "session_id", "sessionId")
TIMES = ("created_at", "createdAt", "timestamp", "create_time", "time", "date")
USERS = ("user_id", "userId", "user")
ROLE_OF = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}


def recognises(data: Json) -> bool:
    if isinstance(data, list):
        return bool(data) and recognises(data[0])
    return bool(items(data, *LISTS) or mapping(data, "message") or _is_message(data))


def read(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    data = value.data
    talk = data if isinstance(data, list) else items(data, *LISTS)
    if not talk:
        yield from _alone(value, source)
        return
    messages: list[TranscriptMessage] = []
    # Anthropic's requests keep the system prompt beside the messages.
    system = spoken(first(data, "system"))
    instructions: list[Json] = [{"role": "system", "content": system}] if system else []
    for n, raw in enumerate([*instructions, *talk], 1):
        try:
            messages += messages_of(raw)
        except Malformed as error:
            yield BadLine(value.line, f"message {n} {error}")
    thread = string(data, "id", "uuid", *THREADS) or f"{source.name}-{value.position}"
    title = string(data, "title", "name") or thread
    yield Transcript(thread, title, _subject(data), tuple(messages), value.line)


def messages_of(raw: Json) -> list[TranscriptMessage]:
    """One message of a client as messages of ours: text and tool calls apart. Raises Malformed."""
    # Agents' logs put the message into an envelope, which then holds its id, time and thread.
    if not isinstance(raw, dict):
        raise Malformed("is no JSON object")
    inner = mapping(raw, "message")
    raw = {**inner, **raw, "role": first(inner, "role")} if inner else raw
    written = string(raw, *ROLES)
    role = ROLE_OF.get(written.lower(), "user" if written else "")
    # A role we do not know is a speaker's name.
    name = string(raw, "name") or ("" if written.lower() in ROLE_OF else written)
    head = TranscriptMessage(
        id=string(raw, "uuid", "id", "message_id"),
        role=role,
        content="",
        name=name,
        created_at=instant(first(raw, *TIMES)),
        metadata=mapping(raw, "metadata"),
        kind=role,
    )
    item = openai_messages.item(head, raw)
    if item:
        return [item]
    if not head.role:
        raise Malformed("has no role")
    if head.role == "tool":
        return [openai_messages.tool_result(head, raw)]
    if string(raw, "toolName", "toolUseId"):
        return [_own_tool_use(head, raw)]
    said = anthropic_messages.messages_from_blocks(head, first(raw, *CONTENTS))
    said += openai_messages.tool_calls(head, raw)
    if not said:
        raise Malformed("has no content")
    return numbered(said)


def _alone(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    try:
        messages = tuple(messages_of(value.data))
    except Malformed as error:
        yield BadLine(value.line, f"the message {error}")
        return
    thread = string(value.data, *THREADS) or source.name
    yield Transcript(thread, thread, _subject(value.data), messages, value.line)


def _is_message(data: Json) -> bool:
    if string(data, "type") in openai_messages.CALLS | openai_messages.OUTPUTS:
        return True
    return bool(string(data, *ROLES)) and not items(data, "turns")


def _own_tool_use(head: TranscriptMessage, raw: Json) -> TranscriptMessage:
    return TranscriptMessage(
        id=head.id,
        role=head.role,
        content=spoken(first(raw, *CONTENTS)),
        name=head.name,
        created_at=head.created_at,
        metadata=head.metadata,
        kind="tool_use",
        tool_name=string(raw, "toolName"),
        tool_use_id=string(raw, "toolUseId"),
        input=first(raw, "input"),
    )


def _subject(data: Json) -> str | None:
    return string(data, *USERS) or string(fields(first(data, "metadata")), "user_id") or None
