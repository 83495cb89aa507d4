"""Markdown read section by section."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from memories.transcripts.json_values import clean_text
from memories.transcripts.text_files import LONGEST_PIECE, TextLine, lines, paragraph
from memories.transcripts.transcript import BadLine, SourceFile, Transcript

HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(slots=True)
class MarkdownPlace:
    """The current position in the document."""

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
        mark = FENCE.match(text)
        if mark and not self.fence:
            self.fence = mark[1]
        elif mark and mark[1].startswith(self.fence):
            self.fence = ""
        self.begun = self.begun if self.gathered else line.number
        self.gathered.append(text)
        self.size += len(text) + 1


def read_markdown(source: SourceFile) -> Iterator[Transcript | BadLine]:
    place = MarkdownPlace()
    for line in lines(source.path):
        if isinstance(line, BadLine):
            yield line
            continue
        text = clean_text(line.text)
        heading = None if place.fence else HEADING.match(text)
        is_break = not text.strip() and not place.fence
        if heading or is_break or place.size + len(text) > LONGEST_PIECE:
            yield from _flushed(source, place)
        if heading:
            place.enter(len(heading[1]), heading[2])
        elif not is_break:
            place.add(line, text)
    yield from _flushed(source, place)


def _flushed(source: SourceFile, place: MarkdownPlace) -> Iterator[Transcript]:
    yield from paragraph(source, place.begun, place.gathered, title=place.title, heading=place.heading)
    place.gathered, place.size = [], 0
