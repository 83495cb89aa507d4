"""What the judge is trained on: nothing that is held back, and pairs without a change that are really none."""

import json
from collections import Counter
from pathlib import Path
from random import Random

from memories.judge.labels import HEADS
from training.corpus import DEV_TALKS, EXAMPLES, HELD_TALKS, beside_another, one_round, read, sides, strangers


def test_nothing_held_back_is_trained_on_or_chooses_thresholds():
    parts = sides()
    assert {one.talk for one in parts.held_talk} == HELD_TALKS
    assert {one.talk for one in parts.dev} >= DEV_TALKS
    groups = [{(one.folder, one.talk) for one in part} for part in parts]
    assert groups[0].isdisjoint(groups[1] | groups[2])
    assert groups[1].isdisjoint(groups[2])
    writers = {one.folder for one in read(EXAMPLES / "held")}
    assert writers.isdisjoint({one.folder for part in parts for one in part})


def test_every_label_is_one_that_the_judge_can_answer():
    for one in read(EXAMPLES):
        assert one.label in HEADS[one.task]
        assert not one.category or one.category in HEADS["category"]


def test_a_round_is_the_same_each_time_it_is_drawn():
    train = sides().train
    assert one_round(train, Random(1)) == one_round(train, Random(1)) != one_round(train, Random(2))


def test_made_pairs_join_a_message_with_a_belief_of_another_group():
    changes = [one for one in sides().train if one.task == "change"]
    known = {(one.belief, one.text) for one in changes}
    made = [*beside_another(changes[:400], 1.0, Random(1)), *strangers(changes, 100, Random(1))]
    assert len(made) > 400
    assert {one.label for one in made} == {"compatible"}
    assert known.isdisjoint((one.belief, one.text) for one in made)


def test_a_life_is_read_as_pairs_of_each_message_with_some_of_its_beliefs(tmp_path: Path) -> None:
    beliefs = [{"belief": f"User keeps {number} hens", "said": f"{number} hens"} for number in range(8)]
    changed = {"before": "", "message": "The fox came.", "effects": {"2": ["ends", ""], "5": ["replaces", "one"]}}
    unchanged = {"before": "Hens?", "message": "I dreamt of a fox.", "effects": {}}
    life = {"person": "p-001", "beliefs": beliefs, "messages": [changed, unchanged]}
    (tmp_path / "p.lives.jsonl").write_text(f"{json.dumps(life)}\n")
    pairs = list(read(tmp_path))
    assert pairs == list(read(tmp_path))
    labels = Counter((one.text, one.label) for one in pairs)
    assert labels == {
        ("The fox came.", "ends"): 1,
        ("The fox came.", "replaces"): 1,
        ("The fox came.", "compatible"): 1,
        ("I dreamt of a fox.", "compatible"): 8,
    }
    assert {(one.folder, one.talk) for one in pairs} == {("p", "p-001")}
    assert {one.belief for one in pairs if one.label == "ends"} == {"User keeps 2 hens"}


def test_a_piece_of_a_session_is_shown_beside_what_is_said_of_it_and_a_few_others(tmp_path: Path) -> None:
    beliefs = [{"belief": f"User keeps {number} hens", "said": f"{number} hens"} for number in range(10)]
    code = "Here is the loop again, it counts each row twice and I do not see why it should. " * 3
    effect = {"belief": 4, "label": "ends", "value": "", "quote": "By the way, the fox came."}
    message = {"before": "", "message": f"{code.strip()}\nBy the way, the fox came.", "effects": [effect]}
    (tmp_path / "p.lives.jsonl").write_text(
        json.dumps({"person": "p-001", "beliefs": beliefs, "messages": [message]}) + "\n"
    )
    pairs = list(read(tmp_path))
    assert [one.belief for one in pairs if one.label == "ends"] == ["User keeps 4 hens"]
    [ending] = {one.text for one in pairs if one.label == "ends"}
    assert ending.endswith("the fox came.")
    assert Counter(one.text == ending for one in pairs) == {False: 5, True: 2}
