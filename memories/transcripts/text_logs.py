"""Chat logs written as text, line by line: WhatsApp's, and those that programs write of Signal,
iMessage, Discord and Cursor.

A log is known by its first lines. What looks like a log and is none of these is refused: its words
are those of several people, and a file of text is taken for one person's.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from memories.transcripts.json_values import clean_text, written
from memories.transcripts.text_files import TextLine, lines
from memories.transcripts.transcript import BadLine, Json, SourceFile, Transcript, TranscriptMessage, Unreadable
from memories.transcripts.whatsapp import (
    MEDIA,
    SYSTEM,
    WHATSAPP_LINE,
    Typed,
    WhatsApp,
    date_order,
    typed_words,
)

LONGEST_LINE = 1 << 20  # bytes
LONGEST_MESSAGE = 100_000  # characters
LEAST = 2  # heads of messages in the first lines, by which a log is known
MOST_FOREIGN = 4  # lines before the first head, for titles
MOST_SEEN, LONGEST_SEEN = 400, 1_000  # lines by which a log is known, and characters of one
# A date and a time of day, in any order of the date, before somebody's words
STAMPED = re.compile(
    r"^[\[(<*]{0,2}(?:\w{3,9},? )?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2} \w{3,9} \d{4}|\w{3,9} \d{1,2}, \d{4})"
    r"(?:,|T| at| um| à)? ?\d{1,2}[:.h]\d\d[^\n]{0,40}?[\])>:,\t |-]{1,4}(?=\S)"
)
ME = ("Me", "You")  # how programs name whoever exported

# "[2019-05-29, 15:04] Me: How is everyone?", by signal-export
SIGNAL = re.compile(r"^\[(?P<at>\d{4}-\d\d-\d\d,? \d\d:\d\d)\] (?P<who>[^:\n]{1,60}): ?(?P<words>.*)$")
SIGNAL_FORMS = ("%Y-%m-%d, %H:%M", "%Y-%m-%d %H:%M")
PICTURE = re.compile(r"^\s*(?:!?\[[^\]]{0,200}\]\([^)]{0,400}\)\s*)+$")
# "May 17, 2022  5:29:42 PM (Read by you after 1 hour)", by imessage-exporter; the author is a line
IMESSAGE = re.compile(r"^(?P<at>[A-Z][a-z]{2} \d\d, \d{4} {1,2}\d{1,2}:\d\d:\d\d [AP]M)(?: \([^)]*\))?(?P<rest>.*)$")
IMESSAGE_MARKS = ("Tapbacks:", "This message responded to an earlier message.")
IMESSAGE_FILE = re.compile(r"^(?:/|~/|attachments/)[^\n]*\.\w{2,5}(?: \(\d[^)]*\))?$")
# "[05-Oct-26 03:35 PM] greta", by DiscordChatExporter; the words stand in the lines behind it
DISCORD = re.compile(r"^={20,}\n(?:Guild|Server): [^\n]*\nChannel: (?P<title>[^\n]*)\n", re.MULTILINE)
DISCORD_HEAD = re.compile(r"^\[(?P<at>[^\]\n]{10,30})\] (?P<who>[^\n]{1,60}?)(?: \(pinned\))?$")
DISCORD_FORMS = (
    *("%d-%b-%y %I:%M %p", "%m/%d/%Y %I:%M %p", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M"),
    *("%d-%b-%y %H:%M", "%d/%m/%Y %I:%M %p"),
)
DISCORD_MARKS = re.compile(r"^(?:\{(?:Attachments|Embed|Stickers|Reactions)\}|={20,})$")
# "_Exported on 10/5/2026 at 12:00:00 GMT+2 from Cursor (1.7.0)_", then "**User**", "**Cursor**"
CURSOR = re.compile(r"^_Exported on .{4,60} from Cursor \(.{1,20}\)_$", re.MULTILINE)


class MessageHead(NamedTuple):
    """The beginning of a message: its author, its time, the words in the same line."""

    author: str
    at: datetime | None
    words: str
    role: str = "user"


@dataclass(slots=True)
class OpenMessage:
    """The message that the lines at hand belong to."""

    head: MessageHead
    line: int
    words: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, text: str) -> bool:
        """Take words; False where the message is as long as one may be."""
        self.size += len(text) + 1
        if self.size > LONGEST_MESSAGE:
            return False
        self.words.append(text)
        return True

    def take(self, source: SourceFile, line: int, text: str) -> None:
        if not self.add(text):
            source.left_out.add(line, f"what goes beyond {LONGEST_MESSAGE:,} characters of a message")

    def closed(self, source: SourceFile, typed: Callable[[str], Typed] = Typed) -> Iterator[Transcript]:
        """Yield the message, if somebody typed it; else count it as left out."""
        found = typed("\n".join(self.words).strip()) if self.head.author else Typed("", SYSTEM)
        if found.reason or not found.words:
            source.left_out.add(self.line, found.reason or "a message without words")
            return
        metadata: dict[str, Json] = {"attachments": list(found.files)} if found.files else {}
        role = self.head.role
        name = "" if self.head.author in ME else self.head.author
        message = TranscriptMessage("", role, found.words, name, self.head.at, metadata, kind=role)
        yield Transcript(source.name, source.known.get("title", source.name), None, (message,), self.line)


def read_stamped(
    source: SourceFile, head_of: Callable[[str], MessageHead | None], typed: Callable[[str], Typed] = Typed
) -> Iterator[Transcript | BadLine]:
    """Read a log in which each message has a head; `typed` finds what somebody typed in one."""
    message: OpenMessage | None = None
    foreign = 0
    for line in lines(source.path, LONGEST_LINE):
        if isinstance(line, BadLine):
            yield line
            continue
        text = clean_text(line.text)
        if head := head_of(text):
            if message:
                yield from message.closed(source, typed)
            message = OpenMessage(head, line.number)
            message.add(head.words)
        elif message:
            message.take(source, line.number, text)
        elif text.strip():
            foreign += 1
            if foreign > MOST_FOREIGN:
                yield BadLine(line.number, "no message of this log")
    if message:
        yield from message.closed(source, typed)


def read_whatsapp(source: SourceFile) -> Iterator[Transcript | BadLine]:
    own = (clean_text(line.text) for line in lines(source.path, LONGEST_LINE) if isinstance(line, TextLine))
    order = date_order(own)
    if order.is_guessed:
        day = "day" if order.day_first else "month"
        yield BadLine(1, f"no date tells day from month: read with the {day} first")
    log = WhatsApp(order)

    def head_of(text: str) -> MessageHead | None:
        found = log.head_of(text)
        return MessageHead(found.author, found.at, found.words) if found else None

    yield from read_stamped(source, head_of, typed_words)


def signal_head(text: str) -> MessageHead | None:
    found = SIGNAL.match(text)
    at = found and next(filter(None, (written(found["at"], form) for form in SIGNAL_FORMS)), None)
    return MessageHead(found["who"].strip(), at, found["words"]) if found and at else None


def typed_in_signal(words: str) -> Typed:
    return Typed("", MEDIA) if PICTURE.fullmatch(words) else Typed(words)


def read_imessage(source: SourceFile) -> Iterator[Transcript | BadLine]:
    message: OpenMessage | None = None
    awaited: datetime | None = None  # the time of a message whose author comes next
    is_after = False  # behind the words: tapbacks, the message that was answered
    for line in lines(source.path, LONGEST_LINE):
        if isinstance(line, BadLine):
            yield line
            continue
        text = clean_text(line.text)
        found = IMESSAGE.match(text)
        if found:
            if message:
                yield from message.closed(source)
            message, is_after = None, False
            is_of_program = bool(found["rest"].strip())
            awaited = None if is_of_program else written(" ".join(found["at"].split()), "%b %d, %Y %I:%M:%S %p")
            source.left_out.add(line.number, SYSTEM) if is_of_program else None
        elif awaited:
            message, awaited = OpenMessage(MessageHead(text.strip(), awaited, ""), line.number), None
        elif text.startswith("    ") or text.startswith(IMESSAGE_MARKS):
            is_after = is_after or text.startswith("Tapbacks:")
            source.left_out.add(line.number, "a reaction, or the copy of a message in its answer")
        elif IMESSAGE_FILE.match(text):
            source.left_out.add(line.number, MEDIA)
        elif message and not is_after:
            message.take(source, line.number, text)
    if message:
        yield from message.closed(source)


def read_discord_text(source: SourceFile) -> Iterator[Transcript | BadLine]:
    first = (line.text for line in islice(lines(source.path, LONGEST_LINE), 6) if isinstance(line, TextLine))
    if found := DISCORD.search("\n".join(first)):
        source.known["title"] = found["title"].strip()

    def head_of(text: str) -> MessageHead | None:
        found = DISCORD_HEAD.match(text)
        at = found and next(filter(None, (written(found["at"], form) for form in DISCORD_FORMS)), None)
        if found and at:
            return MessageHead(found["who"].strip(), at, "")
        return MessageHead("", None, text) if DISCORD_MARKS.match(text) else None

    yield from read_stamped(source, head_of)


def read_cursor(source: SourceFile) -> Iterator[Transcript | BadLine]:
    roles = {"**User**": "user", "**Cursor**": "assistant"}
    message: OpenMessage | None = None
    is_ruled = False
    for line in lines(source.path, LONGEST_LINE):
        if isinstance(line, BadLine):
            yield line
            continue
        text = clean_text(line.text)
        if line.number == 1 and text.startswith("# "):
            source.known["title"] = text[2:].strip()
        elif text.strip() in roles and (is_ruled or message is None):
            if message:
                message.words = message.words[: _before_rule(message.words)]
                yield from message.closed(source)
            message = OpenMessage(MessageHead("You", None, "", roles[text.strip()]), line.number)
        elif message:
            message.take(source, line.number, text)
        is_ruled = text.strip() == "---" or (is_ruled and not text.strip())
    if message:
        yield from message.closed(source)


def _before_rule(words: list[str]) -> int:
    """Return where the rule before the next head stands."""
    at = len(words)
    while at and not words[at - 1].strip():
        at -= 1
    return at - 1 if at and words[at - 1].strip() == "---" else at


class TextLog(NamedTuple):
    """A format of logs: what begins a message, or the file, and its reader."""

    head: Callable[[str], object] | None
    read: Callable[[SourceFile], Iterator[Transcript | BadLine]]


LOGS = {
    "cursor": TextLog(None, read_cursor),
    "discord-text": TextLog(None, read_discord_text),
    "signal-text": TextLog(signal_head, lambda source: read_stamped(source, signal_head, typed_in_signal)),
    "whatsapp": TextLog(WHATSAPP_LINE.match, read_whatsapp),
    "imessage": TextLog(IMESSAGE.match, read_imessage),
}


def log_format(beginning: str) -> str:
    """Return the format of the log that begins like this; "" if it is none. Raises Unreadable for a
    log that no reader knows."""
    if CURSOR.search(beginning[:2_000]):
        return "cursor"
    if DISCORD.search(beginning[:4_000]):
        return "discord-text"
    seen = [line[:LONGEST_SEEN] for line in beginning.splitlines() if line.strip()][:MOST_SEEN]
    for name, log in LOGS.items():
        met = [at for at, line in enumerate(seen) if log.head and log.head(line)]
        if met and met[0] <= MOST_FOREIGN and (len(met) >= LEAST or len(seen) <= LEAST):
            return name
    stamped = [line for line in seen if STAMPED.match(line)]
    if len(stamped) > LEAST and len(stamped) * 2 >= len(seen):
        raise Unreadable(
            f"it looks like a log, a time in each line, in a form that is not known here ({stamped[0][:60]!r}):"
            " whose words these are cannot be told. `--format text` takes all of it for one person's"
        )
    return ""
