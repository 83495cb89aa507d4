"""Conversations out of a ChatGPT export."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from memories.transcripts.json_values import fields, first, instant, items, mapping, string
from memories.transcripts.message_blocks import spoken
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript, TranscriptMessage, digest

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
        made = {name: instant(first(mapping(nodes[name], "message"), "create_time")) for name in leaves}
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
    head = TranscriptMessage(string(raw, "id"), role, "", created_at=made, metadata=metadata, kind=role)
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
