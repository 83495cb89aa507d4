"""What is worth keeping: the labelled stories, and the rules they are judged by."""

import json
from pathlib import Path

import pytest

from memories.evaluation import evaluation_report, worth_stories
from memories.evaluation.worth_stories import WORTH
from memories.transcripts import Unreadable


def test_every_story_says_what_is_to_be_kept_or_not() -> None:
    stories = worth_stories.worth_stories(WORTH)
    assert len(stories) >= 80
    assert len({story.name for story in stories}) == len(stories)
    assert all(story.keep or story.ended or story.unworthy for story in stories)


def test_a_line_that_is_no_story_is_named(tmp_path: Path) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text('{"id": "one", "kind": "worth", "messages": []}\n{"id": "two"}\n')
    with pytest.raises(Unreadable, match="line 2"):
        worth_stories.worth_stories(path)


def test_what_was_kept_is_judged_by_the_labels(tmp_path: Path, db: None) -> None:
    path = tmp_path / "stories.jsonl"
    rows: list[dict[str, object]] = [
        {"id": "right", "keep": [["potter", "Delft"]], "not": ["glad"]},
        {"id": "wrong", "keep": [["Oslo"]], "not": ["*"]},
    ]
    said = {"role": "user", "content": "I am a potter in Delft. I am glad."}
    path.write_text("\n".join(json.dumps({"kind": "k", "messages": [said]} | row) for row in rows))
    judged = worth_stories.evaluate(worth_stories.worth_stories(path), lambda n: None)
    assert judged.measured()["worth keeping: kept"] == judged.measured()["right"] == 0.5
    assert [row["id"] for row in evaluation_report.worth_json(judged)["wrong"]] == ["wrong"]
    assert any(line.startswith("wrong: ") for line in evaluation_report.worth_lines(judged))
