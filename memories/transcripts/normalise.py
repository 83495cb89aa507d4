"""The last step of every reader: ids, the tools' names, and a thread's messages in one piece."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from memories.transcripts.message_ids import Identities, digest
from memories.transcripts.transcript import BadLine, Transcript, TranscriptMessage

LONGEST_NAME = 200
LONGEST_TITLE = 400
# So many messages are held before they are handed over.
GATHERED = 500

Tools: TypeAlias = dict[tuple[str, str], str]


def finished(found: Iterable[Transcript | BadLine]) -> Iterator[Transcript | BadLine]:
    """Gives ids, names the tools of results, and gathers what belongs to one thread."""
    identities, gathering = Identities(), Gathering({})
    tools: Tools = {}
    for part in found:
        if isinstance(part, BadLine):
            yield part
            continue
        # Names of a length that every table takes; a thread's must stay its own.
        thread, subject = part.thread, part.subject
        part = replace(
            part,
            thread=thread if len(thread) <= LONGEST_NAME else digest(thread),
            subject=subject if not subject or len(subject) <= LONGEST_NAME else digest(subject),
            title=part.title[:LONGEST_TITLE],
            messages=tuple(
                replace(message, name=message.name[:LONGEST_NAME]) if message.name else message
                for message in part.messages
            ),
        )
        kept, repeats = _identified(part, identities)
        yield from repeats
        gathering.add(replace(part, messages=tuple(_named(m, part.thread, tools) for m in kept)))
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


def _identified(
    part: Transcript, identities: Identities
) -> tuple[list[TranscriptMessage], list[BadLine]]:
    kept, repeats = [], []
    for message in part.messages:
        identified = identities.identified(part.thread, message)
        if identified:
            kept.append(identified)
        else:
            repeats.append(BadLine(part.line, f"message {message.id!r} stands here twice"))
    return kept, repeats


def _named(message: TranscriptMessage, thread: str, tools: Tools) -> TranscriptMessage:
    """A result rarely tells its tool's name, the call with the same id does."""
    key = (thread, message.tool_use_id)
    if message.kind == "tool_use" and message.tool_use_id:
        tools[key] = message.tool_name
    if message.kind == "tool_result" and not message.tool_name and key in tools:
        return replace(message, tool_name=tools[key])
    return message
