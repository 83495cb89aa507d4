"""One message of a chat export, as all readers of chats hand it over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memories.transcripts.transcript import Json, SourceFile, Transcript, TranscriptMessage

MEDIA, SYSTEM = "a picture or file without words", "a line of the program itself"
DELETED, EMPTY = "a deleted message", "a message without words"


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation in an export: the file, its line, the thread's name and title."""

    source: SourceFile
    line: int
    thread: str
    title: str

    def leave_out(self, reason: str) -> None:
        self.source.left_out.add(self.line, reason)

    def hand_over(self, said: "LogMessage") -> Iterator[Transcript]:
        """Yield what somebody said; what has no words is counted as left out."""
        if not said.text.strip():
            self.leave_out(MEDIA if said.files else EMPTY)
            return
        kept: dict[str, Json] = {"attachments": list(said.files), "replyTo": said.reply_to, "thread": said.thread}
        # A bot's words are kept and nobody's: they are not learned from.
        role = "assistant" if said.is_bot else "user"
        message = TranscriptMessage(
            id=said.id,
            role=role,
            content=said.text.strip(),
            name=said.author,
            created_at=said.at,
            metadata={key: value for key, value in {**kept, **said.metadata}.items() if value},
            kind=role,
        )
        yield Transcript(self.thread, self.title or self.thread, None, (message,), self.line)


@dataclass(frozen=True, slots=True)
class LogMessage:
    """Words of somebody, with the export's own ids of the message answered and of the thread in the chat."""

    id: str
    author: str
    at: datetime | None
    text: str
    files: Sequence[str] = ()
    reply_to: str = ""
    thread: str = ""
    is_bot: bool = False
    metadata: dict[str, Json] = field(default_factory=dict)
