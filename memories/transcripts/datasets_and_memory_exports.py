"""Conversations of data sets: LoCoMo's (two people over many sessions; each conversation is one
subject), BEAM's chat.json (batches of turns, each batch with its day) and RealMem's (one person and
an assistant over many dated sessions). Exports of other memory servers: mem0, Supermemory, Claude.
And files of statements."""

import re
from collections.abc import Iterator
from datetime import datetime

from memories.transcripts.json_and_text_files import (
    FENCE,
    HEADING,
    clean_text,
    fields,
    first,
    instant,
    items,
    lines,
    mapping,
    string,
    written,
)
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    SourceFile,
    Transcript,
    TranscriptMessage,
    digest,
)

SAID_AT = "%I:%M %p on %d %B, %Y"


def is_locomo(data: Json) -> bool:
    return bool(_sessions(_talk(data)))


def read_locomo(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    talk = _talk(value.data)
    subject = string(value.data, "sample_id") or source.name
    for number in _sessions(talk):
        at = string(talk, f"session_{number}_date_time")
        said_at = written(at, SAID_AT) or instant(at)
        if at and not said_at:
            yield BadLine(value.line, f"session_{number}_date_time is no time: {at!r}")
        messages = []
        for n, turn in enumerate(items(talk, f"session_{number}"), 1):
            if not _text(turn):
                yield BadLine(value.line, f"session_{number}, message {n} has no text")
                continue
            messages.append(
                TranscriptMessage(
                    id=string(turn, "dia_id"),
                    role="user",
                    content=_text(turn),
                    name=string(turn, "speaker"),
                    created_at=said_at,
                    metadata={"sessionNo": number},
                    kind="user",
                )
            )
        thread = f"{subject}-{number}"
        yield Transcript(thread, thread, subject, tuple(messages), value.line)


def _talk(data: Json) -> dict[str, Json]:
    return mapping(data, "conversation") or fields(data)


def _sessions(talk: dict[str, Json]) -> list[int]:
    lists = [key for key, turns in talk.items() if isinstance(turns, list)]
    numbers = [re.fullmatch(r"session_([0-9]{1,9})", key) for key in lists]
    return sorted(int(number[1]) for number in numbers if number)


def _text(turn: Json) -> str:
    caption = first(turn, "blip_caption")
    captions = caption if isinstance(caption, list) else [caption]
    seen = "; ".join(words for words in captions if isinstance(words, str) and words)
    photo = f"[shared a photo: {seen}]" if seen else ""
    return " ".join(words for words in (string(turn, "text"), photo) if words)


DAY = "%B-%d-%Y"
# The data set's marks at the end of a question, which nobody said.
MARKS = re.compile(r"\s*->->\s*[\d,\s]+$")


def is_beam(data: Json) -> bool:
    return bool(items(data, "turns")) and first(data, "batch_number") is not None


def read_beam(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    number = first(value.data, "batch_number")
    messages: list[TranscriptMessage] = []
    day: datetime | None = None
    groups = items(value.data, "turns")
    turns = [turn for group in groups for turn in (group if isinstance(group, list) else [group])]
    for n, turn in enumerate(turns, 1):
        day = written(string(turn, "time_anchor"), DAY) or day
        role = "assistant" if string(turn, "role") == "assistant" else "user"
        content = MARKS.sub("", string(turn, "content")).strip()
        if not content:
            yield BadLine(value.line, f"batch {number}, message {n} has no content")
            continue
        messages.append(
            TranscriptMessage(
                id=string(turn, "id"),
                role=role,
                content=content,
                created_at=day,
                metadata={"sessionNo": number},
                kind=role,
            )
        )
    thread = f"{source.name}-{number}"
    yield Transcript(thread, thread, source.name, tuple(messages), value.line)


def is_realmem(data: Json) -> bool:
    return any(items(dialogue, "dialogue_turns") for dialogue in items(data, "dialogues"))


def read_realmem(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    subject = string(mapping(value.data, "_metadata"), "person_name") or source.name
    for n, dialogue in enumerate(items(value.data, "dialogues")):
        said_at = instant(string(dialogue, "current_time")[:10])
        messages = []
        for i, turn in enumerate(items(dialogue, "dialogue_turns"), 1):
            speaker, content = string(turn, "speaker"), string(turn, "content")
            if not content:
                yield BadLine(value.line, f"dialogue {n}, message {i} has no content")
                continue
            role = "assistant" if speaker.lower() == "assistant" else "user"
            messages.append(
                TranscriptMessage(
                    id=f"{n}:{i}",
                    role=role,
                    content=content,
                    created_at=said_at,
                    metadata={"sessionNo": n},
                    kind=role,
                )
            )
        title = string(dialogue, "session_identifier")
        thread = f"{subject}-{n}"
        yield Transcript(thread, title or thread, subject, tuple(messages), value.line)


# What other memories hand out: mem0's and supermemory's lists of memories, as their API answers
# them page by page and as their exports hold them, and texts in which a program keeps what it knows
# of a person (ChatGPT's and Claude's memory, CLAUDE.md and its like), one statement a line.
#
# Each memory becomes a message of kind text that stands for itself: its id is the foreign one.

LONGEST = 2_000  # characters of a memory
# A statement of a list: a bullet or a number before it.
ITEM = re.compile(r"^\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+")
BOLD_HEADING = re.compile(r"^\*\*([^*]{1,80})\*\*:?$")
RULER = re.compile(r"^\s*([-*_=])\1{2,}\s*$")
# How a list of memories copied from a settings page dates its lines: [2026-05-01] - Likes tea.
DATED = re.compile(r"^\[(\d{4}-\d{2}-\d{2})\]\s*[-:]?\s*")
ENDS = (".", "!", "?", ";")
SETTING = re.compile(r"^([A-Za-z_-]{1,40}):\s*(.*)$")  # of a front matter


def is_mem0(data: Json) -> bool:
    """Tell whether `data` is a memory of mem0, or a page of them."""
    return _is_mem0_row(data) or any(map(_is_mem0_row, items(data, "results", "memories")[:5]))


def _is_mem0_row(data: Json) -> bool:
    return bool(string(data, "memory")) and bool(string(data, "id"))


def read_mem0(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    rows = items(value.data, "results", "memories") or [value.data]
    for row in rows:
        subject = string(row, "user_id", "agent_id", "run_id") or None
        kept = {
            "categories": first(row, "categories"),
            "mem0": mapping(row, "metadata") or None,
        }
        yield from _one(
            value.line, source, subject, string(row, "memory"), string(row, "id"),
            first(row, "created_at"), kept,
        )  # fmt: skip


def is_supermemory(data: Json) -> bool:
    """Tell whether `data` is a document or memory of Supermemory, or a page of them."""
    return _is_supermemory_row(data) or any(
        map(_is_supermemory_row, items(data, "memories", "memoryEntries", "documents")[:5])
    )


def _is_supermemory_row(data: Json) -> bool:
    keys = {"containerTags", "containerTag", "isLatest", "customId", "spaceId"}
    return isinstance(data, dict) and bool(string(data, "id")) and not keys.isdisjoint(data)


def read_supermemory(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    """Read an export of Supermemory; what was forgotten or replaced there is reported and left
    out."""
    rows = items(value.data, "memories", "memoryEntries", "documents") or [value.data]
    for row in rows:
        tags = [tag for tag in items(row, "containerTags") if isinstance(tag, str)]
        subject = string(row, "containerTag") or next(iter(tags), "") or None
        name = string(row, "customId", "id")
        if first(row, "isForgotten") is True or first(row, "isLatest") is False:
            yield BadLine(value.line, f"{name!r} was forgotten or replaced there: left out")
            continue
        text = string(row, "memory", "content", "summary")
        kept: dict[str, Json] = {"supermemory": mapping(row, "metadata") or None}
        yield from _one(value.line, source, subject, text, name, first(row, "createdAt"), kept)


def _one(
    line: int, source: SourceFile, subject: str | None, text: str, name: str, made: Json,
    metadata: dict[str, Json],
) -> Iterator[Transcript | BadLine]:  # fmt: skip
    if not text or not name:
        yield BadLine(line, "a memory without text" if name else "this is no memory")
        return
    if len(text) > LONGEST:
        reason = f"{name!r} has {len(text)} characters; a memory has at most {LONGEST}"
        yield BadLine(line, f"{reason}: hand it in as a document")
        return
    message = TranscriptMessage(
        id=name,
        role="user",
        content=text,
        created_at=instant(made),
        metadata={key: value for key, value in metadata.items() if value is not None},
        kind="text",
    )
    thread = f"{source.name}-{subject}" if subject else source.name
    yield Transcript(thread, source.name, subject, (message,), line)


def read_statements(source: SourceFile) -> Iterator[Transcript | BadLine]:
    """Read a text of statements: each item of a list and each paragraph is one memory, with its
    headings. Fenced code is not a statement; the settings of a front matter belong to all."""
    place = StatementPlace(source)
    for line in lines(source.path):
        if isinstance(line, BadLine):
            yield line
            continue
        yield from place.take(line.number, clean_text(line.text), is_first=line.number == 1)
    yield from place.flush()


def is_claude_memory(data: Json) -> bool:
    """Tell whether `data` is the memory in Claude's export, which stands beside the
    conversations."""
    return bool(string(data, "conversations_memory") or mapping(data, "project_memories"))


def read_claude_memory(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    texts = [("", string(value.data, "conversations_memory"))]
    texts += [
        (name, text)
        for name, text in mapping(value.data, "project_memories").items()
        if isinstance(text, str)
    ]
    for project, text in texts:
        place = StatementPlace(source)
        place.settings = {"project": project} if project else {}
        for line in text.splitlines():
            yield from place.take(value.line, line, is_first=False)
        yield from place.flush()


class StatementPlace:
    """The current position in the text, and what is gathered of the statement."""

    def __init__(self, source: SourceFile) -> None:
        self.source, self.headings, self.fence = source, list[tuple[int, str]](), ""
        self.settings: dict[str, Json] = {}
        self.in_settings = False
        self.gathered: list[str] = []
        self.begun = 1

    def take(self, number: int, text: str, *, is_first: bool) -> Iterator[Transcript | BadLine]:
        """Read a line; `is_first` in its file, where a front matter may begin."""
        if text.strip() == "---" and (is_first or self.in_settings):
            self.in_settings = not self.in_settings
            return
        if self.in_settings:
            if setting := SETTING.match(text):
                self.settings[setting[1]] = setting[2].strip("\"' ")
            return
        fence = FENCE.match(text)
        if fence or self.fence:
            yield from self.flush()
            yield from self._code(number, fence[1] if fence else "")
            return
        heading = HEADING.match(text)
        bold = BOLD_HEADING.match(text.strip())
        if heading or bold or not text.strip() or RULER.match(text):
            yield from self.flush()
            if heading or bold:
                level, title = (len(heading[1]), heading[2]) if heading else (7, bold[1])  # type: ignore[index]  # one of both matched
                self.headings = [(n, t) for n, t in self.headings if n < level] + [(level, title)]
            return
        item = ITEM.match(text)
        # One statement a line, or a paragraph that is wrapped: a full stop tells them apart.
        is_ended = bool(self.gathered) and self.gathered[-1].endswith(ENDS)
        if item or is_ended or DATED.match(text.strip()):
            yield from self.flush()
        if not self.gathered:
            self.begun = number
        self.gathered.append(text[item.end() if item else 0 :].strip())

    def _code(self, number: int, mark: str) -> Iterator[BadLine]:
        """Read a line in or around fenced code; `mark` if it is a fence."""
        if not self.fence:
            self.fence = mark
            yield BadLine(number, "code is no statement: left out")
        elif mark.startswith(self.fence):
            self.fence = ""

    def flush(self) -> Iterator[Transcript | BadLine]:
        text, self.gathered = " ".join(self.gathered).strip(), []
        if not text:
            return
        dated = DATED.match(text)
        text = text[dated.end() :] if dated else text
        heading = " > ".join(title for _, title in self.headings)
        metadata: dict[str, Json] = {"file": self.source.path.name}
        if heading:
            metadata["heading"] = heading
        metadata |= self.settings
        made = dated[1] if dated else None
        name = digest(heading, text)
        yield from _one(self.begun, self.source, None, text, name, made, metadata)
