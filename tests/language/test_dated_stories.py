"""The product's own table of dated questions, and how it is measured."""

import json
from pathlib import Path

import pytest

from memories.evaluation import dated_stories
from memories.transcripts import Unreadable
from tests.management.test_commands import run


def test_the_table_holds_150_of_both_halves() -> None:
    rows = dated_stories.stories(dated_stories.DATED)
    assert sum(len(row.questions) + len(row.checks) for row in rows) >= 150
    halves = [dated_stories.stories(dated_stories.DATED, half) for half in ("build", "held")]
    assert sum(map(len, halves)) == len(rows)


def test_right_and_wrong_answers_are_counted(db: None, tmp_path: Path) -> None:
    at = "2026-03-0{}T10:00:00Z"
    messages = [
        {"at": at.format(1), "content": "I live in Oslo."},
        {"at": at.format(2), "content": "I ran by the canal."},
    ]
    asked = [
        {"kind": "date", "query": "Where did I run on 2 March 2026?", "gold": [1]},
        {"kind": "two", "query": "Where did I run on 2 March 2026?", "gold": [0, 0]},
    ]
    checks = [
        {"validAt": at.format(5), "has": ["Oslo"], "hasNot": []},
        {"validAt": at.format(5), "has": ["Rome"], "hasNot": ["Oslo"]},
    ]
    story = {"id": "own", "now": at.format(9), "messages": messages}
    file, written = tmp_path / "stories.jsonl", tmp_path / "result.json"
    file.write_text(json.dumps(story | {"questions": asked, "checks": checks}))
    shown = run("evaluate", "dated", "--dataset", str(file), "--json", str(written))
    result = json.loads(written.read_text())
    assert (result["questions"], result["all"], result["what held on a day"]) == (4, 0.5, 0.5)
    assert "missing ['Rome']" in shown


def test_a_kind_that_is_not_known_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "stories.jsonl"
    question = {"kind": "none", "query": "?", "gold": []}
    row = {"id": "1", "now": "2026-01-01T00:00:00Z", "messages": [], "questions": [question]}
    file.write_text(json.dumps(row))
    with pytest.raises(Unreadable, match="no kind"):
        dated_stories.stories(file)
