"""Memories that other products export: mem0's, supermemory's, Claude's, and lists of statements."""

import re
from collections.abc import Iterator

from memories.transcripts.json_values import clean_text, first, instant, items, mapping, string
from memories.transcripts.markdown_files import FENCE, HEADING
from memories.transcripts.text_files import lines
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript, TranscriptMessage, digest

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
            value.line,
            source,
            subject,
            string(row, "memory"),
            string(row, "id"),
            first(row, "created_at"),
            kept,
        )


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
    line: int,
    source: SourceFile,
    subject: str | None,
    text: str,
    name: str,
    made: Json,
    metadata: dict[str, Json],
) -> Iterator[Transcript | BadLine]:
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
    texts += [(name, text) for name, text in mapping(value.data, "project_memories").items() if isinstance(text, str)]
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
