"""Plain text and Markdown: paragraphs become messages."""

from pathlib import Path

from memories.transcripts import Transcript, TranscriptMessage, read


def _read(folder: Path, name: str, text: str) -> tuple[str, list[TranscriptMessage]]:
    path = folder / name
    path.write_text(text)
    parts = [part for part in read(path) if isinstance(part, Transcript)]
    return parts[0].title, [message for part in parts for message in part.messages]


def test_each_paragraph_of_a_text_is_a_message(tmp_path: Path) -> None:
    text = "The mill stands\non the Teign.\r\n\r\n\n  It was built in 1790.\n"
    title, messages = _read(tmp_path, "mill.txt", text)
    assert title == "mill"
    assert [m.content for m in messages] == [
        "The mill stands\non the Teign.",
        "It was built in 1790.",
    ]
    assert {m.kind for m in messages} == {"text"}
    assert messages[0].metadata == {"file": "mill.txt"}


def test_a_long_paragraph_is_cut_between_sentences_and_loses_nothing(tmp_path: Path) -> None:
    sentences = [f"Sluice number {n} was opened at dawn." for n in range(500)]
    _, messages = _read(tmp_path, "log.txt", " ".join(sentences))
    assert all(len(m.content) <= 4000 and m.content.endswith(".") for m in messages)
    assert " ".join(m.content for m in messages) == " ".join(sentences)


def test_lines_without_an_empty_one_between_are_cut_at_line_ends(tmp_path: Path) -> None:
    rows = [f"{n:04} sluice opened" for n in range(1000)]
    _, messages = _read(tmp_path, "log.txt", "\n".join(rows))
    assert "\n".join(m.content for m in messages) == "\n".join(rows)
    assert len(messages) > 1


def test_the_same_paragraph_twice_is_two_messages(tmp_path: Path) -> None:
    _, messages = _read(tmp_path, "song.txt", "La la la.\n\nSome verse.\n\nLa la la.\n")
    assert len({m.id for m in messages}) == 3


def test_a_text_that_begins_with_a_bracket_stays_text(tmp_path: Path) -> None:
    _, messages = _read(tmp_path, "notes.txt", "[1] See the survey of the mill.\n")
    assert [m.content for m in messages] == ["[1] See the survey of the mill."]


MARKDOWN = """# The mill

Built in 1790.

## Wheels

- an overshot wheel
- a breast wheel

```
# not a heading

open(sluice)
```

## People
Run by the Endacotts.
"""


def test_markdown_paragraphs_know_their_headings(tmp_path: Path) -> None:
    title, messages = _read(tmp_path, "mill.md", MARKDOWN)
    assert title == "The mill"
    assert [(m.metadata["heading"], m.content) for m in messages] == [
        ("The mill", "Built in 1790."),
        ("The mill > Wheels", "- an overshot wheel\n- a breast wheel"),
        ("The mill > Wheels", "```\n# not a heading\n\nopen(sluice)\n```"),
        ("The mill > People", "Run by the Endacotts."),
    ]
