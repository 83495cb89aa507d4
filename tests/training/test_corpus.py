"""What the judge is trained on: nothing that is held back, and pairs without a change that are really none."""

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
