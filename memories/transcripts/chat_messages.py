"""Messages as OpenAI's, Anthropic's and our own clients write them, alone or as conversations:
words as text or as a list of typed parts, blocks of tools, tool_calls, and items of the Responses
API."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from memories.transcripts.json_and_text_files import fields, first, instant, items, mapping, string
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    Malformed,
    SourceFile,
    Transcript,
    TranscriptMessage,
    digest,
    numbered,
)

SPOKEN = frozenset({"", "text", "input_text", "output_text", "summary_text", "refusal"})
UNSAID = frozenset({"thinking", "redacted_thinking", "reasoning", "token_budget"})
PICTURES = frozenset({"image", "image_url", "input_image", "image_asset_pointer"})
SOUNDS = frozenset({"audio", "input_audio", "voice_note", "audio_transcription"})


def spoken(content: Json) -> str:
    """Return the words of text, of a part or of a list of parts; pictures and files as [image],
    [file]."""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, list):
        return "\n".join(words for words in map(spoken, content) if words)
    if not isinstance(content, dict):
        return ""
    kind = string(content, "type", "content_type")
    if kind in UNSAID:
        return ""
    if kind in SPOKEN:
        return string(content, "text", "refusal")
    if kind in PICTURES:
        return "[image]"
    if kind in SOUNDS:
        return string(content, "text", "transcript") or (
            string(mapping(content, "input_audio", "audio"), "transcript") or "[audio]"
        )
    named = string(content, "title", "name", "filename", "file_name")
    named = named or string(fields(first(content, "file", "source")), "filename", "title")
    return string(content, "text") or (f"[{kind}: {named}]" if named else f"[{kind}]")


def messages_from_blocks(head: TranscriptMessage, content: Json) -> list[TranscriptMessage]:
    """Return the messages that this content stands for, in order: text is joined up to the next
    tool."""
    messages: list[TranscriptMessage] = []
    words: list[Json] = []
    for block in content if isinstance(content, list) else [content]:
        kind = string(block, "type")
        if kind.endswith("tool_use"):
            event = replace(
                head,
                kind="tool_use",
                content="",
                tool_name=string(block, "name"),
                tool_use_id=string(block, "id"),
                input=first(block, "input"),
            )
        elif kind.endswith("tool_result"):
            event = replace(
                head,
                role="tool",
                kind="tool_result",
                content=spoken(first(block, "content")),
                tool_name=string(block, "name"),
                tool_use_id=string(block, "tool_use_id"),
                is_error=bool(first(block, "is_error")),
            )
        else:
            words.append(block)
            continue
        messages += [*_text_of_blocks(head, words), event]
        words = []
    return messages + _text_of_blocks(head, words)


def _text_of_blocks(head: TranscriptMessage, words: list[Json]) -> list[TranscriptMessage]:
    content = spoken(words)
    return [replace(head, content=content)] if content else []


CALLS = frozenset({"function_call", "custom_tool_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


def tool_calls(head: TranscriptMessage, raw: Json) -> list[TranscriptMessage]:
    """Return the calls that an assistant's message asks for, including the old `function_call`."""
    calls = list(items(raw, "tool_calls"))
    if mapping(raw, "function_call"):
        calls.append({"function": mapping(raw, "function_call")})
    return [_call(head, call) for call in calls]


def tool_result(head: TranscriptMessage, raw: Json) -> TranscriptMessage:
    """Return a message of role tool or function."""
    return replace(
        head,
        role="tool",
        kind="tool_result",
        name="",
        content=spoken(first(raw, "content", "output")),
        tool_name=string(raw, "name", "tool_name", "toolName"),
        tool_use_id=string(raw, "tool_call_id", "tool_use_id", "toolUseId"),
        is_error=first(raw, "is_error", "isError") is True,
    )


def item_of_responses(head: TranscriptMessage, raw: Json) -> TranscriptMessage | None:
    """Return a call or its output as an item of the Responses API; None if it is something else."""
    kind = string(raw, "type")
    if kind in CALLS:
        return _call(replace(head, role="assistant"), raw)
    if kind in OUTPUTS:
        return replace(
            head,
            role="tool",
            kind="tool_result",
            content=spoken(first(raw, "output")),
            tool_use_id=string(raw, "call_id"),
        )
    return None


def _call(head: TranscriptMessage, call: Json) -> TranscriptMessage:
    function = mapping(call, "function", "custom") or call
    given = first(function, "arguments", "input")
    # Arguments come as JSON in a string; a model may write what is none, then they stay text.
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    return replace(
        head,
        kind="tool_use",
        content="",
        tool_name=string(function, "name"),
        tool_use_id=string(call, "call_id", "id"),
        input=given,
    )


LISTS = ("messages", "conversation", "conversations")
ROLES = ("role", "from", "sender", "speaker")
CONTENTS = ("content", "text", "value")
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


def is_messages(data: Json) -> bool:
    if isinstance(data, list):
        return bool(data) and is_messages(data[0])
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
    said = messages_from_blocks(head, first(raw, *CONTENTS))
    said += tool_calls(head, raw)
    if not said:
        raise Malformed("has no content")
    return numbered(said)


def _subject(data: Json) -> str | None:
    return string(data, *USERS) or string(fields(first(data, "metadata")), "user_id") or None


# What people export of their conversations (conversations.json): ChatGPT's, where each
# conversation is a tree of messages with its branches, and Claude's with its chat_messages.
#
# In a tree, the branch that was last on the screen counts: from `current_node` up to the root.

LONG_AGO = datetime.fromtimestamp(0, UTC)  # a node without a time
# The model thinking aloud was not said to anybody.
THOUGHTS = frozenset({"thoughts", "reasoning_recap"})
TEXTS = ("text", "result", "summary", "user_profile", "model_set_context")


def is_chatgpt_export(data: Json) -> bool:
    return bool(mapping(data, "mapping"))


def read_chatgpt(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    talk = fields(value.data)
    thread = string(talk, "conversation_id", "id") or digest(first(talk, "title", "create_time"))
    title = string(talk, "title") or thread
    nodes = mapping(talk, "mapping")
    at = string(talk, "current_node")
    if at not in nodes:
        leaves = [name for name, node in nodes.items() if not items(node, "children")]
        made = {
            name: instant(first(mapping(nodes[name], "message"), "create_time")) for name in leaves
        }
        at = max(leaves, key=lambda name: made[name] or LONG_AGO, default="")  # the newest
    branch: dict[str, Json] = {}  # from the current one up to the root
    while at in nodes and at not in branch:
        branch[at] = nodes[at]
        at = string(nodes[at], "parent")
    raws = [mapping(node, "message") for node in reversed(branch.values())]
    messages = [message for raw in raws for message in _chatgpt_messages(raw)]
    if messages:
        yield Transcript(thread, title, None, tuple(messages), value.line)
    else:
        yield BadLine(value.line, f"conversation {title!r} has no messages")


def _chatgpt_messages(raw: dict[str, Json]) -> list[TranscriptMessage]:
    author, content = mapping(raw, "author"), mapping(raw, "content")
    role = string(author, "role")
    kind = string(content, "content_type")
    if role not in ("user", "assistant", "system", "tool") or kind in THOUGHTS:
        return []
    model = string(mapping(raw, "metadata"), "model_slug")
    files = [string(file, "name") for file in items(mapping(raw, "metadata"), "attachments")]
    metadata: dict[str, Json] = {}
    if model and role == "assistant":
        metadata["model"] = model
    if any(files):
        metadata["attachments"] = [name for name in files if name]
    made = instant(first(raw, "create_time"))
    head = TranscriptMessage(
        string(raw, "id"), role, "", created_at=made, metadata=metadata, kind=role
    )
    texts = [string(content, key) for key in (*TEXTS, "user_instructions")]
    words = "\n".join(dict.fromkeys(text for text in texts if text))
    if items(content, "parts"):
        words = spoken(items(content, "parts"))
    recipient = string(raw, "recipient") or "all"
    if role == "assistant" and recipient != "all":
        return [replace(head, kind="tool_use", tool_name=recipient, input=words)]
    if role == "tool":
        name = string(author, "name")
        return [replace(head, kind="tool_result", tool_name=name, content=words)]
    is_hidden = mapping(raw, "metadata").get("is_visually_hidden_from_conversation") is True
    if not words or (is_hidden and not kind.endswith("editable_context")):
        return []
    if kind.endswith("editable_context"):
        return [replace(head, role="system", kind="system", content=words)]
    return [replace(head, content=words)]


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
        names: list[Json] = [
            string(file, "file_name") for file in files if isinstance(file, dict) and file
        ]
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
        messages += numbered(said or messages_from_blocks(head, string(raw, "text")))
    if messages:
        yield Transcript(thread, title, None, tuple(messages), value.line)
    else:
        yield BadLine(value.line, f"conversation {title!r} has no messages")
