"""Sessions of coding agents: Claude Code, Codex and Gemini CLI (Cursor's are lists of messages).

Of a message in the person's role, only what was typed is the person's: reminders, hooks, skills,
summaries, the output of commands and what a sub-agent was told are the program's.
"""

from collections.abc import Iterator
from dataclasses import replace

from memories.transcripts.json_values import fields, first, instant, items, mapping, string
from memories.transcripts.message_blocks import item_of_responses, messages_from_blocks, spoken
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    SourceFile,
    Transcript,
    TranscriptMessage,
    numbered,
)
from memories.transcripts.typed_words import PROGRAM, SUB_AGENT, SUMMARY, message_in_line, typed

CLAUDE_LINES = frozenset({"user", "assistant", "system", "summary", "attachment", "progress"})
CODEX_LINES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
GEMINI_LINES = frozenset({"user", "gemini", "info", "error", "warning"})


def without_programs(turns: list[TranscriptMessage]) -> list[TranscriptMessage]:
    """Return messages with only what was typed in those of a person."""
    kept = [replace(m, content=typed(m.content)) if m.kind == "user" else m for m in turns]
    return [m for m in kept if m.content or m.kind != "user"]


def is_claude_code(data: Json) -> bool:
    """Tell whether `data` is a line of a session's file of Claude Code."""
    keys = fields(data).keys()
    kind = string(data, "type")
    is_line = kind in CLAUDE_LINES and bool({"sessionId", "parentUuid", "leafUuid", "isSidechain"} & keys)
    return is_line or (kind in ("file-history-snapshot", "queue-operation") and "message" not in keys)


def read_claude_code(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    row, kind = value.data, string(value.data, "type")
    source.known["session"] = session = string(row, "sessionId") or source.known.get("session", "")
    thread = f"claude-code-{session or source.name}"
    if kind == "summary":
        source.known["title"] = string(row, "summary")
    message = message_in_line(fields(row))
    if isinstance(message, str):
        source.left_out.add(value.line, message)
        return
    role = "assistant" if string(message, "role") == "assistant" else "user"
    head = TranscriptMessage(
        id=string(row, "uuid"), role=role, content="", created_at=instant(first(row, "timestamp")), kind=role
    )
    turns = numbered(without_programs(messages_from_blocks(head, first(message, "content"))))
    if not turns:
        source.left_out.add(value.line, PROGRAM)
        return
    yield Transcript(thread, source.known.get("title") or source.name, None, tuple(turns), value.line)


def is_codex(data: Json) -> bool:
    return string(data, "type") in CODEX_LINES and "payload" in fields(data)


def read_codex(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    kind, payload = string(value.data, "type"), mapping(value.data, "payload")
    if kind == "session_meta":
        source.known["session"] = string(payload, "id")
        if mapping(payload, "source") or string(payload, "thread_source") == "subagent":
            source.known["of"] = SUB_AGENT
        return
    if source.known.get("of") or kind == "compacted":
        source.left_out.add(value.line, source.known.get("of") or SUMMARY)
        return
    if kind != "response_item":
        return  # events say once more what the items say
    made = instant(first(value.data, "timestamp"))
    role = string(payload, "role")
    head = TranscriptMessage(string(payload, "id"), role, "", created_at=made, kind=role)
    turns: list[TranscriptMessage] = []
    if item := item_of_responses(head, payload):
        turns = [item]
    elif string(payload, "type") == "message" and role in ("user", "assistant"):
        words = [typed(spoken(block)) if role == "user" else spoken(block) for block in items(payload, "content")]
        turns = messages_from_blocks(head, "\n".join(filter(None, words)))
    if turns:
        thread = f"codex-{source.known.get('session') or source.name}"
        yield Transcript(thread, source.name, None, tuple(numbered(turns)), value.line)
    else:
        source.left_out.add(value.line, PROGRAM)


def is_gemini_cli(data: Json) -> bool:
    """Tell whether `data` is a session of Gemini CLI, a line of one, or of its log of prompts."""
    keys = fields(data).keys()
    is_session = {"sessionId", "messages"} <= keys or {"sessionId", "projectHash", "startTime"} <= keys
    is_log = {"sessionId", "messageId", "message", "timestamp"} <= keys
    return is_session or is_log or "$set" in keys or "$rewindTo" in keys or _is_gemini_line(data)


def _is_gemini_line(data: Json) -> bool:
    keys = fields(data).keys()
    return string(data, "type") in GEMINI_LINES and {"id", "timestamp", "content"} <= keys


def read_gemini_cli(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    data = value.data
    source.known["session"] = session = string(data, "sessionId") or source.known.get("session", "")
    if string(data, "kind") == "subagent":
        source.known["of"] = SUB_AGENT
    thread = f"gemini-{session or source.name}"
    rows = items(data, "messages")
    if string(data, "message"):  # of the log of prompts
        rows = [{**fields(data), "id": string(data, "messageId"), "content": first(data, "message")}]
    elif _is_gemini_line(data):
        rows = [data]
    turns = [message for row in rows for message in _of_gemini(row, value.line, source)]
    if turns:
        yield Transcript(thread, source.name, None, tuple(turns), value.line)


def _of_gemini(row: Json, line: int, source: SourceFile) -> list[TranscriptMessage]:
    kind = string(row, "type")
    role = {"user": "user", "gemini": "assistant"}.get(kind, "")
    if source.known.get("of") or not role:
        source.left_out.add(line, source.known.get("of") or PROGRAM)
        return []
    made = instant(first(row, "timestamp"))
    head = TranscriptMessage(string(row, "id"), role, "", created_at=made, kind=role)
    # What the person saw in the line, before files were put in its place
    shown = first(row, "displayContent") if role == "user" else None
    turns = without_programs(messages_from_blocks(head, shown or first(row, "content")))
    for call in items(row, "toolCalls"):
        event = replace(head, kind="tool_use", tool_name=string(call, "name"), tool_use_id=string(call, "id"))
        turns.append(replace(event, input=first(call, "args")))
        answer = first(call, "resultDisplay")
        output = answer if isinstance(answer, str) else spoken(first(call, "result"))
        turns.append(replace(event, role="tool", kind="tool_result", content=output))
    if not turns:
        source.left_out.add(line, PROGRAM)
    return numbered(turns)
