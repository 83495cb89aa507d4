"""ChatGPT's export (conversations.json): each conversation is a tree of messages with its branches.

What counts is the branch that was on the screen last: from `current_node` up to the root.
"""

from collections.abc import Iterator
from dataclasses import replace

from memories.transcripts.content_parts import spoken
from memories.transcripts.json_access import fields, first, items, mapping, string
from memories.transcripts.message_ids import digest
from memories.transcripts.timestamps import instant
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    SourceFile,
    Transcript,
    TranscriptMessage,
)

# The model thinking aloud was not said to anybody.
UNSAID = frozenset({"thoughts", "reasoning_recap"})
TEXTS = ("text", "result", "summary", "user_profile", "model_set_context")


def recognises(data: Json) -> bool:
    return bool(mapping(data, "mapping"))


def read(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    talk = fields(value.data)
    thread = string(talk, "conversation_id", "id") or digest(first(talk, "title", "create_time"))
    title = string(talk, "title") or thread
    messages = [m for node in _branch(talk) for m in _messages(mapping(node, "message"))]
    if messages:
        yield Transcript(thread, title, None, tuple(messages), value.line)
    else:
        yield BadLine(value.line, f"conversation {title!r} has no messages")


def _branch(talk: Json) -> list[Json]:
    """The nodes from the root down to the current one."""
    nodes = mapping(talk, "mapping")
    at = string(talk, "current_node")
    at = at if at in nodes else _newest_leaf(nodes)
    branch: dict[str, Json] = {}
    while at in nodes and at not in branch:
        branch[at] = nodes[at]
        at = string(nodes[at], "parent")
    return list(branch.values())[::-1]


def _newest_leaf(nodes: dict[str, Json]) -> str:
    leaves = [name for name, node in nodes.items() if not items(node, "children")]
    return max(leaves, key=lambda name: _seconds(nodes[name]), default="")


def _seconds(node: Json) -> float:
    made = instant(first(mapping(node, "message"), "create_time"))
    return made.timestamp() if made else 0.0


def _messages(raw: dict[str, Json]) -> list[TranscriptMessage]:
    author, content = mapping(raw, "author"), mapping(raw, "content")
    role = string(author, "role")
    kind = string(content, "content_type")
    if role not in ("user", "assistant", "system", "tool") or kind in UNSAID:
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
    words = _words(content)
    recipient = string(raw, "recipient") or "all"
    if role == "assistant" and recipient != "all":
        return [replace(head, kind="tool_use", tool_name=recipient, input=words)]
    if role == "tool":
        name = string(author, "name")
        return [replace(head, kind="tool_result", tool_name=name, content=words)]
    if not words or (_is_hidden(raw) and not kind.endswith("editable_context")):
        return []
    if kind.endswith("editable_context"):
        return [replace(head, role="system", kind="system", content=words)]
    return [replace(head, content=words)]


def _words(content: dict[str, Json]) -> str:
    if items(content, "parts"):
        return spoken(items(content, "parts"))
    found = [string(content, key) for key in (*TEXTS, "user_instructions")]
    return "\n".join(dict.fromkeys(words for words in found if words))


def _is_hidden(raw: dict[str, Json]) -> bool:
    return mapping(raw, "metadata").get("is_visually_hidden_from_conversation") is True
