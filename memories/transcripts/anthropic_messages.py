"""Content as Anthropic's clients write it: blocks of text, tool_use, tool_result, image, document."""

from dataclasses import replace

from memories.transcripts.content_parts import spoken
from memories.transcripts.json_access import first, string
from memories.transcripts.transcript import Json, TranscriptMessage


def messages_from_blocks(head: TranscriptMessage, content: Json) -> list[TranscriptMessage]:
    """The messages that this content stands for, in order: text is joined up to the next tool."""
    messages: list[TranscriptMessage] = []
    words: list[Json] = []
    for block in content if isinstance(content, list) else [content]:
        event = _tool(head, block)
        if event is None:
            words.append(block)
            continue
        messages += [*_text(head, words), event]
        words = []
    return messages + _text(head, words)


def _text(head: TranscriptMessage, words: list[Json]) -> list[TranscriptMessage]:
    content = spoken(words)
    return [replace(head, content=content)] if content else []


def _tool(head: TranscriptMessage, block: Json) -> TranscriptMessage | None:
    kind = string(block, "type")
    if kind.endswith("tool_use"):
        return replace(
            head,
            kind="tool_use",
            content="",
            tool_name=string(block, "name"),
            tool_use_id=string(block, "id"),
            input=first(block, "input"),
        )
    return _result(head, block) if kind.endswith("tool_result") else None


def _result(head: TranscriptMessage, block: Json) -> TranscriptMessage:
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
