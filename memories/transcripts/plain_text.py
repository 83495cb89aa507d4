"""Plain text: each paragraph is one message, the file is one thread."""

from collections.abc import Iterator

from memories.transcripts.clean import clean_text
from memories.transcripts.lines import lines
from memories.transcripts.paragraphs import LONGEST, pieces
from memories.transcripts.transcript import BadLine, Json, SourceFile, Transcript, TranscriptMessage


def read(source: SourceFile) -> Iterator[Transcript | BadLine]:
    gathered: list[str] = []
    begun, size = 1, 0
    for line in lines(source.path):
        if isinstance(line, BadLine):
            yield line
            continue
        text = clean_text(line.text)
        # A file without empty lines must not pile up in memory.
        if not text.strip() or size + len(text) > LONGEST:
            yield from paragraph(source, begun, gathered)
            gathered, size = [], 0
        if text.strip():
            begun = begun if gathered else line.number
            gathered.append(text)
            size += len(text) + 1
    yield from paragraph(source, begun, gathered)


def paragraph(
    source: SourceFile, line: int, gathered: list[str], *, title: str = "", heading: str = ""
) -> Iterator[Transcript]:
    """The gathered lines as messages of kind text; nothing where they are empty."""
    metadata: dict[str, Json] = {"file": source.path.name}
    if heading:
        metadata["heading"] = heading
    messages = tuple(
        TranscriptMessage(id="", role="user", content=piece, kind="text", metadata=metadata)
        for piece in pieces("\n".join(gathered))
    )
    if messages:
        yield Transcript(source.name, title or source.name, None, messages, line)
