"""What other memories hand out, read statement by statement."""

import json
from pathlib import Path
from typing import Any

from memories.transcripts import BadLine, Transcript, read

NOTES = """---
name: house style
type: feedback
---
# Project

Use tabs in Makefiles.
Never commit to main
without a review.

- Tests run with `make test`
- Deploys happen on Tuesdays

```sh
make deploy
```
**Work context**
[2026-05-01] - Ana is a nurse in Porto.
***
1. Numbered things count, too
"""


def statements(path: Path, form: str | None = None) -> list[tuple[str, Any]]:
    parts = [part for part in read(path, form) if isinstance(part, Transcript)]
    return [(one.content, one.metadata.get("heading")) for part in parts for one in part.messages]


def bad(path: Path, form: str | None = None) -> list[tuple[int, str]]:
    return [(each.line, each.reason) for each in read(path, form) if isinstance(each, BadLine)]


def written(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data))
    return path


def test_a_text_is_read_statement_by_statement(tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text(NOTES)
    assert statements(file, "statements") == [
        ("Use tabs in Makefiles.", "Project"),
        ("Never commit to main without a review.", "Project"),
        ("Tests run with `make test`", "Project"),
        ("Deploys happen on Tuesdays", "Project"),
        ("Ana is a nurse in Porto.", "Project > Work context"),
        ("Numbered things count, too", "Project > Work context"),
    ]
    assert bad(file, "statements") == [(14, "code is no statement: left out")]
    (whole,) = (part for part in read(file, "statements") if isinstance(part, Transcript))
    assert {one.metadata["type"] for one in whole.messages} == {"feedback"}
    dated = [one.created_at for one in whole.messages if one.created_at]
    assert [at.date().isoformat() for at in dated] == ["2026-05-01"]


def test_the_same_text_gives_the_same_ids_and_an_added_line_one_more(tmp_path: Path) -> None:
    def ids() -> set[str]:
        parts = [part for part in read(file, "statements") if isinstance(part, Transcript)]
        return {one.id for part in parts for one in part.messages}

    file = tmp_path / "CLAUDE.md"
    file.write_text(NOTES)
    before = ids()
    file.write_text(NOTES.replace("# Project\n", "# Project\n\nAnswer in French.\n"))
    assert before < ids()
    assert len(ids() - before) == 1


def test_pages_and_rows_of_mem0_are_known_by_their_form(tmp_path: Path) -> None:
    row = {"id": "6f", "memory": "Likes tea", "user_id": "u1", "categories": ["food"]}
    other = {"id": "70", "memory": "Likes jazz", "user_id": "u2", "created_at": "2026-05-01T10:00Z"}
    page = {"count": 3, "next": None, "results": [row, other, {"id": "71", "user_id": "u1"}]}
    parts = list(read(written(tmp_path / "mem0.json", page)))
    threads = {part.subject: part for part in parts if isinstance(part, Transcript)}
    assert threads["u1"].messages[0].id == "6f"
    assert threads["u1"].messages[0].metadata == {"categories": ["food"]}
    assert threads["u2"].messages[0].created_at is not None
    assert [each.reason for each in parts if isinstance(each, BadLine)] == ["a memory without text"]
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{json.dumps(row)}\n{json.dumps(other)}\n")
    assert [text for text, _ in statements(file)] == ["Likes tea", "Likes jazz"]


def test_what_supermemory_has_replaced_or_forgotten_is_left_out(tmp_path: Path) -> None:
    rows = [
        {"id": "d1", "customId": "own", "content": "Likes tea", "containerTags": ["u1"]},
        {"id": "d2", "memory": "Lived in Rome", "containerTag": "u1", "isLatest": False},
        {"id": "d3", "memory": "A secret", "containerTag": "u1", "isForgotten": True},
        {"id": "d4", "content": "x" * 2_001, "containerTags": ["u1"]},
        {"containerTags": []},
    ]
    file = written(tmp_path / "super.json", {"memories": rows, "pagination": {}})
    parts = [part for part in read(file) if isinstance(part, Transcript)]
    assert [(part.subject, part.messages[0].id) for part in parts] == [("u1", "own")]
    reasons = [reason for _, reason in bad(file)]
    assert len(reasons) == 4
    assert "hand it in as a document" in reasons[2]
    assert reasons[3] == "this is no memory"


def test_claudes_memory_text_is_read_with_its_projects(tmp_path: Path) -> None:
    memory = {
        "conversations_memory": "**Work context**\nAna is a nurse in Porto.",
        "project_memories": {"p1": "- The garden faces south", "p2": 3},
    }
    assert statements(written(tmp_path / "memories.json", [memory])) == [
        ("Ana is a nurse in Porto.", "Work context"),
        ("The garden faces south", None),
    ]
