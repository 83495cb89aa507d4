"""Lists of messages as OpenAI's, Anthropic's and our own clients write them, alone or as
conversations."""

from collections.abc import Iterator
from dataclasses import replace

from memories.transcripts.coding_agents import without_programs
from memories.transcripts.json_values import fields, first, instant, items, mapping, string
from memories.transcripts.message_blocks import (
    CALLS,
    OUTPUTS,
    item_of_responses,
    messages_from_blocks,
    spoken,
    tool_calls,
    tool_result,
)
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    Malformed,
    SourceFile,
    Transcript,
    TranscriptMessage,
    numbered,
)

LISTS = ("messages", "conversation", "conversations")
ROLES = ("role", "from", "sender", "speaker")
CONTENTS = ("content", "text", "value", "parts")
THREADS = ("thread_id", "threadId", "conversation_id", "conversationId", "session_id", "sessionId")
TIMES = (
    "occurredAt",
    "occurred_at",
    "created_at",
    "createdAt",
    "timestamp",
    "create_time",
    "time",
    "date",
)
USERS = ("user_id", "userId", "user")
ROLE_OF = {
    "user": "user",
    "human": "user",
    "humanmessage": "user",
    "humanmessagechunk": "user",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "systemmessage": "system",
    "toolmessage": "tool",
    "functionmessage": "tool",
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


# LangChain's kinds of messages, which stand in `type`; a dump names its class.
LANGCHAIN = frozenset({"human", "ai", "system", "tool", "function", "HumanMessageChunk", "AIMessageChunk"})


def of_langchain(raw: Json) -> Json:
    """Return a message that LangChain dumped as other clients write it; any other as it is."""
    kwargs, path = mapping(raw, "kwargs"), items(raw, "id")
    if first(raw, "lc") is not None and kwargs and path:
        return {**kwargs, "role": str(path[-1])}
    kind = string(raw, "type")
    inner = mapping(raw, "data") or fields(raw)
    if kind in LANGCHAIN and "content" in inner and not string(raw, *ROLES):
        return {**inner, "role": kind.removesuffix("Chunk")}
    return raw


def is_messages(data: Json) -> bool:
    if isinstance(data, list):
        return bool(data) and is_messages(data[0])
    data = of_langchain(data)
    is_message = bool(string(data, *ROLES)) and not items(data, "turns")
    is_message = is_message or string(data, "type") in CALLS | OUTPUTS
    return bool(items(data, *LISTS) or mapping(data, "message") or is_message)


def read_messages(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    data = value.data
    talk = data if isinstance(data, list) else items(data, *LISTS)
    if not talk:
        try:
            alone = tuple(messages_of(data))
        except Malformed as error:
            yield BadLine(value.line, f"the message {error}")
            return
        thread = string(data, *THREADS) or source.name
        yield Transcript(thread, thread, _subject(data), alone, value.line)
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
    """Return a client's message as messages of ours: text and tool calls apart. Raises
    Malformed."""
    # Agents' logs put the message into an envelope, which then holds its id, time and thread.
    raw = of_langchain(raw)
    if not isinstance(raw, dict):
        raise Malformed("is no JSON object")
    inner = mapping(raw, "message")
    raw = {**inner, **raw, "role": first(inner, "role") or first(raw, "role")} if inner else raw
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
    item = item_of_responses(head, raw)
    if item:
        return [item]
    if not head.role:
        raise Malformed("has no role")
    if head.role == "tool":
        return [tool_result(head, raw)]
    if string(raw, "toolName", "toolUseId"):
        return [
            replace(
                head,
                kind="tool_use",
                content=spoken(first(raw, *CONTENTS)),
                tool_name=string(raw, "toolName"),
                tool_use_id=string(raw, "toolUseId"),
                input=first(raw, "input"),
            )
        ]
    spoken_parts = messages_from_blocks(head, first(raw, *CONTENTS))
    said = without_programs(spoken_parts) + tool_calls(head, raw)
    if not said:
        raise Malformed("was written by a program" if spoken_parts else "has no content")
    return numbered(said)


def _subject(data: Json) -> str | None:
    return string(data, *USERS) or string(fields(first(data, "metadata")), "user_id") or None
