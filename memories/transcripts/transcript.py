"""Results of every reader: conversations with their messages, and the lines it could not use; and
the last step of every reader: ids, the tools' names, and a thread's messages in one piece.

Ids are the file's own if it has them, else made of content and occurrence, not of the place in the
file. So the same file gives the same ids again, and so does a longer or a mended one.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

# A name that says nothing about its file: such files are named after their folders.
NAMELESS = frozenset(
    {
        *("chat", "chats", "conversation", "conversations", "dialogues", "messages", "transcript"),
        *("data", "export", "index", "log", "readme", "main", "result", "_chat"),
    }
)
NUMBERED = re.compile(r"(?:message|conversations)[-_]\d{1,4}")  # pieces of one export


LONGEST_NAME = 200
LONGEST_TITLE = 400
# So many messages are held before they are handed over.
GATHERED = 500


class Unreadable(Exception):
    """An error: the file as a whole cannot be read; the message says why and names no path."""


class Malformed(ValueError):
    """An error: one value or message cannot be used; the message says why, for a BadLine."""


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

    `subject` is the subject that the file names, None if it names none.
    """

    thread: str
    title: str
    subject: str | None
    messages: tuple[TranscriptMessage, ...]
    line: int = 1

    @property
    def stands_for_itself(self) -> bool:
        """Tell whether these are texts, and nobody's talk."""
        return all(message.kind == "text" for message in self.messages)

    @property
    def size(self) -> int:
        """The bytes of all messages."""
        return sum(len(message.content.encode(errors="replace")) for message in self.messages)


@dataclass(frozen=True, slots=True)
class BadLine:
    """Something that was left out (or kept in part), with its line in the file, counted from 1."""

    line: int
    reason: str


@dataclass(slots=True)
class LeftOut:
    """Parts that a reader leaves out knowingly: counted by reason, told once with the first line. What
    it does not understand is a BadLine of its own."""

    counts: dict[str, int] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)

    def add(self, line: int, reason: str) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.begun.setdefault(reason, line)

    def lines(self) -> Iterator[BadLine]:
        for reason, count in self.counts.items():
            times = f", {count} times" if count > 1 else ""
            yield BadLine(self.begun[reason], f"left out{times}: {reason}")


@dataclass(frozen=True, slots=True)
class JsonValue:
    """One JSON value of a file: a line of JSONL, an element of the outer list, or all of it."""

    line: int
    position: int
    data: Json


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file that is read; `name` stands in if a conversation has no name of its own."""

    path: Path
    name: str
    left_out: LeftOut = field(default_factory=LeftOut)
    # What lines before told of the ones behind: names of people, the session of an agent.
    known: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> "SourceFile":
        if path.stem.lower() not in NAMELESS and not NUMBERED.fullmatch(path.stem):
            return cls(path, path.stem)
        folders = [part.name for part in path.resolve().parents[:2] if part.name]
        return cls(path, "-".join(reversed(folders)) or path.stem)


LONGEST_ID = 200


def numbered(messages: list[TranscriptMessage]) -> list[TranscriptMessage]:
    """Number messages that were made from one: the first keeps its id, the others get it with a
    number."""
    return [
        replace(message, id=f"{message.id}#{n}") if n > 1 and message.id else message
        for n, message in enumerate(messages, 1)
    ]


def digest(*parts: object) -> str:
    """Return 16 hex digits that are the same for the same parts, in any process."""
    text = json.dumps(parts, ensure_ascii=False, default=str, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


class Identities:
    """The ids that a file has used so far; one object per file, some hundred bytes per message."""

    def __init__(self) -> None:
        self._content: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def identified(self, thread: str, message: TranscriptMessage) -> TranscriptMessage | None:
        """Return the message with an id that is unique within the thread.

        None if the file has the same id with the same content a second time.
        """
        content = digest(
            message.role,
            message.name,
            message.content,
            message.created_at,
            [message.kind, message.tool_name, message.tool_use_id, message.input, message.output],
        )
        if not message.id:
            key = digest(thread, content)
            self._count[key] = self._count.get(key, 0) + 1
            made = content if self._count[key] == 1 else f"{content}-{self._count[key]}"
            return replace(message, id=made)
        own = message.id if len(message.id) <= LONGEST_ID else digest(message.id)
        for name in (own, f"{own}~{content}"):
            key = digest(thread, name)
            if key not in self._content:
                self._content[key] = content
                return replace(message, id=name)
            if self._content[key] == content:
                return None
        return None


def finished(found: Iterable[Transcript | BadLine]) -> Iterator[Transcript | BadLine]:
    """Give ids, name the tools of results, and gather what belongs to one thread."""
    identities, gathering = Identities(), Gathering({})
    tools: dict[tuple[str, str], str] = {}  # by thread and the call's id
    for part in found:
        if isinstance(part, BadLine):
            yield part
            continue
        # Names of a length that every table takes; a thread's must stay its own.
        thread, subject = part.thread, part.subject
        thread = thread if len(thread) <= LONGEST_NAME else digest(thread)
        if subject and len(subject) > LONGEST_NAME:
            subject = digest(subject)
        kept = []
        for message in part.messages:
            named = replace(message, name=message.name[:LONGEST_NAME])
            own = identities.identified(thread, named)
            if own is None:
                yield BadLine(part.line, f"message {message.id!r} stands here twice")
                continue
            # A result rarely tells its tool's name, the call with the same id does.
            key = (thread, own.tool_use_id)
            if own.kind == "tool_use" and own.tool_use_id:
                tools[key] = own.tool_name
            if own.kind == "tool_result" and not own.tool_name:
                own = replace(own, tool_name=tools.get(key, ""))
            kept.append(own)
        title = part.title[:LONGEST_TITLE]
        gathering.add(Transcript(thread, title, subject, tuple(kept), part.line))
        if gathering.size >= GATHERED:
            yield from gathering.flush()
    yield from gathering.flush()


@dataclass(slots=True)
class Gathering:
    """Messages of threads that may alternate in the file, kept together up to a bound."""

    open: dict[str, list[Transcript]]
    size: int = 0

    def add(self, transcript: Transcript) -> None:
        self.open.setdefault(transcript.thread, []).append(transcript)
        self.size += len(transcript.messages)

    def flush(self) -> Iterator[Transcript]:
        for parts in self.open.values():
            joined = tuple(message for part in parts for message in part.messages)
            subject = next((part.subject for part in parts if part.subject), None)
            if joined:
                yield replace(parts[0], subject=subject, messages=joined)
        self.open, self.size = {}, 0
