"""Blocks of a message as clients write them: words as text or as a list of typed parts, tools and
their results."""

import json
from contextlib import suppress
from dataclasses import replace

from memories.transcripts.json_values import fields, first, items, mapping, string
from memories.transcripts.transcript import Json, TranscriptMessage

SPOKEN = frozenset({"", "text", "input_text", "output_text", "summary_text", "refusal"})
UNSAID = frozenset({"thinking", "redacted_thinking", "reasoning", "token_budget"})
PICTURES = frozenset({"image", "image_url", "input_image", "image_asset_pointer"})
SOUNDS = frozenset({"audio", "input_audio", "voice_note", "audio_transcription"})


CALLS = frozenset({"function_call", "custom_tool_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


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
    given = first(function, "arguments", "input", "args")
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
