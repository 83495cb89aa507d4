"""Stories of changes, told to a server, and what it serves afterwards."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from memories.evaluation import evidence_stories
from memories.models import Memory
from memories.transcripts import Unreadable
from workspaces.models import Workspace

HOME: dict[str, Any] = {
    "id": "home",
    "kind": "two_clauses",
    "messages": [
        {"at": "2026-01-02T09:00:00Z", "role": "user", "content": "I live in Bergen."},
        {"at": "2026-02-02T09:00:00Z", "role": "assistant", "content": "Noted."},
        {"at": "2026-03-02T09:00:00Z", "role": "user", "content": "I moved to Oslo."},
    ],
    "question": "Where do I live?",
    "now": ["oslo"],
    "not": ["bergen"],
}
VISIT = {**HOME, "id": "visit", "kind": "temporary", "now": ["bergen"], "not": ["oslo"]}
VISIT["messages"] = [HOME["messages"][0], {**HOME["messages"][2], "content": "I am in Oslo this week."}]


def written(tmp_path: Path, *stories: dict[str, Any]) -> Path:
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, stories)))
    return path


@pytest.mark.django_db
def test_a_story_that_went_right_is_counted_by_its_kind(tmp_path: Path) -> None:
    told = evidence_stories.evaluate(evidence_stories.stories(written(tmp_path, HOME, VISIT)), lambda n: None)
    measured = told.measured()
    assert measured["stories"] == 2
    assert measured["two_clauses: first hit says what holds now"] == 1
    assert measured["two_clauses: what is over was believed"] == 1
    assert "two_clauses: what is over is current" not in measured
    assert "temporary: what is over was believed" not in measured
    assert not Memory.objects.exists()
    assert not Workspace.objects.exists()


@pytest.mark.django_db
def test_the_command_prints_and_writes_what_was_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tmp_path / "result.json"
    call_command("evaluate", "evidence", dataset=written(tmp_path, HOME), json=result)
    assert "two_clauses: first hit says what holds now" in capsys.readouterr().out
    [row] = json.loads(result.read_text())["stories_told"]
    assert row["id"] == "home"
    assert any("Oslo" in memory for memory in row["memories"])


def test_a_line_that_is_no_story_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, HOME, {"id": "x"})
    with pytest.raises(Unreadable, match="line 2"):
        evidence_stories.stories(path)
