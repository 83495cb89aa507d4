"""Content as Anthropic's clients write it: blocks of text, tool_use, tool_result, image, document."""

from dataclasses import replace

from memories.transcripts.content_parts import spoken
from memories.transcripts.json_access import first, string
from memories.transcripts.transcript import Json, Message


def said(head: Message, content: Json) -> list[Message]:
    """The messages that this content stands for, in order: text is joined up to the next tool."""
    messages: list[Message] = []
    words: list[Json] = []
    for block in content if isinstance(content, list) else [content]:
        event = _tool(head, block)
        if event is None:
            words.append(block)
            continue
        messages += [*_text(head, words), event]
        words = []
    return messages + _text(head, words)


def _text(head: Message, words: list[Json]) -> list[Message]:
    content = spoken(words)
    return [replace(head, content=content)] if content else []


def _tool(head: Message, block: Json) -> Message | None:
    kind = string(block, "type")
    if kind.endswith("tool_use"):
        return _use(head, block)
    return _result(head, block) if kind.endswith("tool_result") else None


def _use(head: Message, block: Json) -> Message:
    return replace(
        head,
        kind="tool_use",
        content="",
        tool_name=string(block, "name"),
        tool_use_id=string(block, "id"),
        input=first(block, "input"),
    )


def _result(head: Message, block: Json) -> Message:
    content = first(block, "content")
    return replace(
        head,
        role="tool",
        kind="tool_result",
        content=spoken(content),
        tool_name=string(block, "name"),
        tool_use_id=string(block, "tool_use_id"),
        is_error=bool(first(block, "is_error")),
    )
