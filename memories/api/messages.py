"""One message as callers send it."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from memories.errors import Invalid
from memories.ingest import NewMessage
from memories.models import Episode
from memories.transcripts import activities
from workspaces.request_fields import (
    AnyText,
    ExternalId,
    Flag,
    Free,
    Moment,
    NullIs,
    Number,
    OneOf,
    declared,
)

Kind = Episode.Kind
ROLES = ("user", "assistant", "system", "tool", "tool_use", "tool_result", "error", "activity")
KIND_OF = {"tool": Kind.TOOL_RESULT}
TOOLS = (Kind.TOOL_USE, Kind.TOOL_RESULT)
Line = Annotated[AnyText, Field(max_length=255)]
PAYLOAD = {
    "tool_name": "toolName",
    "tool_use_id": "toolUseId",
    "input": "input",
    "output": "output",
    "is_error": "isError",
    "duration_ms": "durationMs",
    "error_message": "errorMessage",
}


@declared
@dataclass(frozen=True, slots=True)
class MessageBody:
    role: Annotated[str, OneOf(ROLES)]
    content: AnyText | None = None
    name: Annotated[Line, NullIs("")] = ""
    created_at: Moment | None = None
    id: Annotated[
        ExternalId, Field(description="The caller's own: the same id is the same episode.")
    ] = ""
    metadata: Annotated[Free, NullIs({})] = field(default_factory=dict)
    tool_name: Annotated[Line, Field(min_length=1)] | None = None
    tool_use_id: Annotated[Line, Field(min_length=1)] | None = None
    input: Any = None
    output: Any = None
    is_error: Flag | None = None
    duration_ms: Annotated[Number, Field(ge=0)] | None = None
    error_message: AnyText | None = None
    payload: Annotated[
        Free,
        NullIs({}),
        Field(
            description="Of an activity: app, action, object, duration (seconds); told as a"
            " sentence."
        ),
    ] = field(default_factory=dict)


def new_message(body: MessageBody, index: int) -> NewMessage:
    """A read MessageBody as ingest takes it. Invalid without content.

    An activity is told in a sentence, before words of its own: that is what is kept, read and
    cited. Invalid where its fields are not what they are to be. An empty content is kept, and nothing is learned from it: transcripts have such messages.
    """
    kind = kind_of(body)
    content, payload = body.content, body.payload
    if kind == Kind.ACTIVITY:
        content = _activity(content, payload, f"messages[{index}]")
    if not content and kind in TOOLS:
        content = written(body) or content
    if content is None:
        raise Invalid(f"messages[{index}].content", "A message must say something.", "blank")
    kept = {spoken: getattr(body, name) for name, spoken in PAYLOAD.items()}
    return NewMessage(
        content=content,
        role=body.role,
        name=body.name,
        created_at=body.created_at,
        id=body.id,
        kind=kind,
        metadata=body.metadata,
        payload={**payload, **{name: value for name, value in kept.items() if value is not None}},
    )


def _activity(content: str | None, payload: dict[str, Any], path: str) -> str | None:
    for name, fault in activities.faults_of(payload).items():
        raise Invalid(f"{path}.payload.{name}", fault)
    refuse_written_out(content, f"{path}.content")
    told = activities.sentence_of(payload)
    if not told or content == told:
        return content
    return f"{told} {content}" if content else told


def refuse_written_out(content: str | None, field: str) -> None:
    """Raise Invalid where an activity's fields stand in the content."""
    if content and activities.is_written_out(content):
        raise Invalid(field, "Give app, action, object and duration as messages[].payload.")


def kind_of(body: MessageBody) -> str:
    """A tool's call by its input, its result by its output, what somebody did by its payload,
    else what the role says."""
    role = body.role
    if role == "user" and activities.is_activity(body.payload):
        return Kind.ACTIVITY
    if role in ("assistant", "tool") and body.input is not None:
        return Kind.TOOL_USE
    return str(KIND_OF.get(role, role))


def written(body: MessageBody) -> str:
    """A tool's call or result as one would write it, where it has no words of its own."""
    name, given = body.tool_name or "", body.input
    if given is None:
        given = body.output
    if given is None:
        return name
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return f"{name}: {text}" if name else text
