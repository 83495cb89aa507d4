"""A survey of what an import will read: a file read through before anything is stored."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memories.exchange.who_is_who import Authors
from memories.reading.extraction.cost_ahead import TalkSize
from memories.transcripts import BadLine, Transcript, Unreadable, read

SHOWN = 20  # bad lines told of each file; all are counted


@dataclass(slots=True)
class Survey:
    """One file, read through before anything is stored. `refused` says why it cannot be read."""

    path: Path
    refused: str = ""
    threads: set[str] = field(default_factory=set)
    subjects: set[str] = field(default_factory=set)
    messages: int = 0
    talks: list[TalkSize] = field(default_factory=list)
    texts: list[TalkSize] = field(default_factory=list)
    bad: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)
    authors: Authors = field(default_factory=Authors)

    @property
    def is_usable(self) -> bool:
        return self.messages > 0

    def add(self, part: Transcript | BadLine) -> None:
        if isinstance(part, Transcript):
            self.threads.add(part.thread)
            self.subjects |= {part.subject} if part.subject else set()
            self.messages += len(part.messages)
            self.authors.add(part)
            sizes = self.texts if part.stands_for_itself else self.talks
            sizes.append(TalkSize(len(part.messages), part.size))
            return
        self.bad += 1
        if len(self.bad_lines) < SHOWN:
            self.bad_lines.append(part)

    def lines(self) -> Iterator[str]:
        if self.refused:
            yield f"{self.path}: not read, {self.refused}"
        for bad in self.bad_lines:
            yield f"{self.path}:{bad.line}: {bad.reason}"
        if self.bad > len(self.bad_lines):
            yield f"{self.path}: and {self.bad - len(self.bad_lines)} more"

    def as_json(self) -> dict[str, Any]:
        return {
            "file": str(self.path),
            "refused": self.refused or None,
            "conversations": len(self.threads),
            "subjects": sorted(self.subjects),
            "messages": self.messages,
            "authors": [author.as_json() for author in self.authors.most_first()],
            "badLines": self.bad,
            "badLinesShown": [{"line": b.line, "reason": b.reason} for b in self.bad_lines],
        }


def survey(path: Path, form: str | None) -> Survey:
    found = Survey(path)
    try:
        for part in read(path, form):
            found.add(part)
    except Unreadable as error:
        found.refused = str(error)
    return found
