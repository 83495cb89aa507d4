"""What OpenAI's clients write beside text: tool_calls, role tool, and the Responses API's items."""

import json
from dataclasses import replace

from memories.transcripts.content_parts import spoken
from memories.transcripts.json_access import first, items, mapping, string
from memories.transcripts.transcript import Json, TranscriptMessage

CALLS = frozenset({"function_call", "custom_tool_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


def tool_calls(head: TranscriptMessage, raw: Json) -> list[TranscriptMessage]:
    """The calls that an assistant's message asks for, the old `function_call` too."""
    calls = list(items(raw, "tool_calls"))
    if mapping(raw, "function_call"):
        calls.append({"function": mapping(raw, "function_call")})
    return [_call(head, call) for call in calls]


def tool_result(head: TranscriptMessage, raw: Json) -> TranscriptMessage:
    """A message of role tool or function."""
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


def item(head: TranscriptMessage, raw: Json) -> TranscriptMessage | None:
    """A call or its output as an item of the Responses API; None where it is something else."""
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
    return replace(
        head,
        kind="tool_use",
        content="",
        tool_name=string(function, "name"),
        tool_use_id=string(call, "call_id", "id"),
        input=_arguments(first(function, "arguments", "input")),
    )


def _arguments(raw: Json) -> Json:
    """Arguments come as JSON in a string; a model may write what is none, then they stay text."""
    if not isinstance(raw, str):
        return raw
    try:
        parsed: Json = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return parsed
