"""What every reader hands over: conversations with their messages, and the lines it could not use."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

# A name that says nothing about its file: such files are named after their folders.
NAMELESS = frozenset(
    {
        *("chat", "chats", "conversation", "conversations", "dialogues", "messages", "transcript"),
        *("data", "export", "index", "log", "readme"),
    }
)


class Unreadable(Exception):
    """The file as a whole cannot be read; the message says why and names no path."""


class Malformed(ValueError):
    """One value or message cannot be used; the message says why, for a BadLine."""


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One message or event. `role` is user, assistant, system or tool; `kind` is an episode's kind
    (user, assistant, system, tool_use, tool_result, text). Times are aware UTC. Readers leave `id`
    empty where the file has none; what `read` yields always has one."""

    id: str
    role: str
    content: str
    name: str = ""
    created_at: datetime | None = None
    metadata: dict[str, Json] = field(default_factory=dict)
    kind: str = ""
    tool_name: str = ""
    tool_use_id: str = ""
    input: Json = None
    output: Json = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    """Messages of one thread in their order. A long thread comes in several of these.

    `subject` is whom the file says it is about, None where it does not say.
    """

    thread: str
    title: str
    subject: str | None
    messages: tuple[TranscriptMessage, ...]
    line: int = 1


@dataclass(frozen=True, slots=True)
class BadLine:
    """Something that was left out (or kept in part), with its line in the file, counted from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class JsonValue:
    """One JSON value of a file: a line of JSONL, an element of the outer list, or all of it."""

    line: int
    position: int
    data: Json


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file that is read; `name` stands in where a conversation has no name of its own."""

    path: Path
    name: str

    @classmethod
    def of(cls, path: Path) -> "SourceFile":
        if path.stem.lower() not in NAMELESS:
            return cls(path, path.stem)
        folders = [part.name for part in path.resolve().parents[:2] if part.name]
        return cls(path, "-".join(reversed(folders)) or path.stem)
