"""Ids for messages: the file's own where it has them, else made of the content.

Made of content and occurrence, not of the place in the file: so the same file gives the same ids
again, and so does a longer or a mended one.
"""

import hashlib
import json
from dataclasses import replace

from memories.transcripts.transcript import TranscriptMessage

LONGEST = 200


def numbered(messages: list[TranscriptMessage]) -> list[TranscriptMessage]:
    """Messages that came out of one: the first keeps its id, the others get it with a number."""
    return [
        replace(message, id=f"{message.id}#{n}") if n > 1 and message.id else message
        for n, message in enumerate(messages, 1)
    ]


def digest(*parts: object) -> str:
    """16 hex digits that are the same for the same parts, in any process."""
    text = json.dumps(parts, ensure_ascii=False, default=str, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


class Identities:
    """Which ids a file has used so far; one per file, some hundred bytes per message."""

    def __init__(self) -> None:
        self._content: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def identified(self, thread: str, message: TranscriptMessage) -> TranscriptMessage | None:
        """The message with an id that is its own within the thread.

        None where the file has the same id with the same content a second time.
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
        return self._kept(thread, message, content)

    def _kept(
        self, thread: str, message: TranscriptMessage, content: str
    ) -> TranscriptMessage | None:
        own = message.id if len(message.id) <= LONGEST else digest(message.id)
        for name in (own, f"{own}~{content}"):
            key = digest(thread, name)
            if key not in self._content:
                self._content[key] = content
                return replace(message, id=name)
            if self._content[key] == content:
                return None
        return None
