"""One message as callers send it."""

import json
from typing import Any

from rest_framework import serializers

from memories.errors import Invalid
from memories.ingest import NewMessage
from memories.models import Episode
from memories.transcripts import activities
from workspaces.api.fields import Camel, Choice, ExternalId, Flag, Free, Moment, Number, Text

Kind = Episode.Kind
ROLES = ("user", "assistant", "system", "tool", "tool_use", "tool_result", "error", "activity")
KIND_OF = {"tool": Kind.TOOL_RESULT}
TOOLS = (Kind.TOOL_USE, Kind.TOOL_RESULT)
PAYLOAD = {
    "tool_name": "toolName",
    "tool_use_id": "toolUseId",
    "input": "input",
    "output": "output",
    "is_error": "isError",
    "duration_ms": "durationMs",
    "error_message": "errorMessage",
}


class MessageBody(Camel):
    role = Choice(choices=ROLES)
    content = Text(required=False, allow_null=True, allow_blank=True)
    name = Text(required=False, allow_null=True, allow_blank=True, max_length=255)
    created_at = Moment(required=False, allow_null=True)
    id = ExternalId(help_text="The caller's own: the same id is the same episode.")
    metadata = Free(required=False, allow_null=True)
    tool_name = Text(required=False, allow_null=True, max_length=255)
    tool_use_id = Text(required=False, allow_null=True, max_length=255)
    input = serializers.JSONField(required=False, allow_null=True)
    output = serializers.JSONField(required=False, allow_null=True)
    is_error = Flag(required=False, allow_null=True)
    duration_ms = Number(required=False, allow_null=True, min_value=0)
    error_message = Text(required=False, allow_null=True, allow_blank=True)
    payload = Free(
        required=False,
        allow_null=True,
        help_text="Of an activity: app, action, object, duration (seconds); told as a sentence.",
    )


def new_message(body: dict[str, Any], index: int) -> NewMessage:
    """A read MessageBody as ingest takes it. Invalid without content.

    An activity is told in a sentence, before words of its own: that is what is kept, read and
    cited. Invalid where its fields are not what they are to be. An empty content is kept, and nothing is learned from it: transcripts have such messages.
    """
    kind = kind_of(body)
    content, payload = body.get("content"), body.get("payload") or {}
    if kind == Kind.ACTIVITY:
        content = _activity(content, payload, f"messages[{index}]")
    if not content and kind in TOOLS:
        content = written(body) or content
    if content is None:
        raise Invalid(f"messages[{index}].content", "A message must say something.", "blank")
    kept = {spoken: body.get(name) for name, spoken in PAYLOAD.items()}
    return NewMessage(
        content=content,
        role=body["role"],
        name=body.get("name") or "",
        created_at=body.get("created_at"),
        id=body.get("id") or "",
        kind=kind,
        metadata=body.get("metadata") or {},
        payload={**payload, **{name: value for name, value in kept.items() if value is not None}},
    )


def _activity(content: str | None, payload: dict[str, Any], path: str) -> str | None:
    for name, fault in activities.faults_of(payload).items():
        raise Invalid(f"{path}.payload.{name}", fault)
    refuse_written_out(content, f"{path}.content")
    told = activities.told(payload)
    if not told or content == told:
        return content
    return f"{told} {content}" if content else told


def refuse_written_out(content: str | None, field: str) -> None:
    """Raise Invalid where an activity's fields stand in the content."""
    if content and activities.is_written_out(content):
        raise Invalid(field, "Give app, action, object and duration as messages[].payload.")


def kind_of(body: dict[str, Any]) -> str:
    """A tool's call by its input, its result by its output, what somebody did by its payload,
    else what the role says."""
    role = body["role"]
    if role == "user" and activities.is_told(body.get("payload") or {}):
        return Kind.ACTIVITY
    if role in ("assistant", "tool") and body.get("input") is not None:
        return Kind.TOOL_USE
    return str(KIND_OF.get(role, role))


def written(body: dict[str, Any]) -> str:
    """A tool's call or result as one would write it, where it has no words of its own."""
    name, given = body.get("tool_name") or "", body.get("input")
    if given is None:
        given = body.get("output")
    if given is None:
        return name
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return f"{name}: {text}" if name else text
