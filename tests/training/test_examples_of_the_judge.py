"""The labelled examples of the judge: whole, each once, none of those held back among those trained on."""

import json
from pathlib import Path

import pytest

from training import lint


@pytest.mark.parametrize("task", lint.LABELS)
def test_examples_have_labels_and_no_doubles_or_leaks(task: str) -> None:
    assert lint.faults(task) == []


@pytest.mark.parametrize("task", lint.LABELS)
def test_every_label_has_examples_on_both_sides(task: str) -> None:
    counts = lint.counts(task)
    assert {label for side, label in counts if side == "train"} == lint.LABELS[task]
    assert {label for side, label in counts if side == "held"} == lint.LABELS[task]


def test_a_double_a_leak_and_an_unknown_label_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"before": "", "sentence": "The boat is called Pelican now.", "label": "fact"}
    for side, rows in {"train": [row, row], "held": [row, row | {"sentence": "Hm.", "label": "noise"}]}.items():
        (tmp_path / side).mkdir()
        text = "".join(f"{json.dumps(each)}\n" for each in rows)
        (tmp_path / side / "x.worth.jsonl").write_text(text)
    monkeypatch.setattr(lint, "HERE", tmp_path)
    told = "\n".join(lint.faults("worth"))
    assert "train/x.worth.jsonl:2: the same as" in told or "held/x.worth.jsonl:1: the same as" in told
    assert "no label of worth: noise" in told
    assert "held back and trained on: the boat is called pelican now" in told


@pytest.mark.parametrize("half", ["build", "held"])
def test_a_story_holds_the_words_that_its_answer_needs(half: str) -> None:
    stories = [json.loads(line) for line in (lint.HERE.parent / "stories" / f"{half}.jsonl").read_text().splitlines()]
    assert len(stories) >= 125
    for story in stories:
        said = " ".join(message["content"] for message in story["messages"]).casefold()
        assert [word for word in (*story["now"], *story["not"]) if word.casefold() not in said] == [], story["id"]
        assert story["now"], story["id"]
