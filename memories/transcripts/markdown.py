"""Markdown: each paragraph, list or fenced block is one message that knows its headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from memories.transcripts.clean import clean_text
from memories.transcripts.lines import TextLine, lines
from memories.transcripts.paragraphs import LONGEST
from memories.transcripts.plain_text import paragraph
from memories.transcripts.transcript import BadLine, SourceFile, Transcript

HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(slots=True)
class MarkdownPlace:
    """Where in the document we are."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    fence: str = ""
    title: str = ""
    gathered: list[str] = field(default_factory=list)
    size: int = 0
    begun: int = 1

    @property
    def heading(self) -> str:
        return " > ".join(text for _, text in self.headings)

    def enter(self, level: int, text: str) -> None:
        self.headings = [(n, t) for n, t in self.headings if n < level] + [(level, text)]
        self.title = self.title or text

    def add(self, line: TextLine, text: str) -> None:
        self.begun = self.begun if self.gathered else line.number
        self.gathered.append(text)
        self.size += len(text) + 1


def read(source: SourceFile) -> Iterator[Transcript | BadLine]:
    place = MarkdownPlace()
    for line in lines(source.path):
        if isinstance(line, BadLine):
            yield line
        else:
            yield from _taken(source, place, line)
    yield from _flushed(source, place)


def _taken(source: SourceFile, place: MarkdownPlace, line: TextLine) -> Iterator[Transcript]:
    text = clean_text(line.text)
    heading = None if place.fence else HEADING.match(text)
    if heading:
        yield from _flushed(source, place)
        place.enter(len(heading[1]), heading[2])
        return
    is_break = not text.strip() and not place.fence
    if is_break or place.size + len(text) > LONGEST:
        yield from _flushed(source, place)
    if not is_break:
        _follow_fence(place, text)
        place.add(line, text)


def _follow_fence(place: MarkdownPlace, text: str) -> None:
    mark = FENCE.match(text)
    if not mark:
        return
    if not place.fence:
        place.fence = mark[1]
    elif mark[1].startswith(place.fence):
        place.fence = ""


def _flushed(source: SourceFile, place: MarkdownPlace) -> Iterator[Transcript]:
    yield from paragraph(
        source, place.begun, place.gathered, title=place.title, heading=place.heading
    )
    place.gathered, place.size = [], 0
