"""Touches that a rule left open are decided: by a judge, off the path of requests, or by a person."""

import pytest

from memories.belief import review, touches
from memories.ingest import judged_messages
from memories.judge.judge import Effect
from memories.models import Memory, Supersession, Touch
from tests.factories import MemoryFactory, TouchFactory, evidence
from tests.people import Person
from tests.scripted_judge import Judge, change


@pytest.fixture
def touch(alice: Person) -> Touch:
    memory = MemoryFactory(workspace=alice.workspace, content="Keeps bees")
    evidence(memory, "I keep bees.")
    made: Touch = TouchFactory(memory=memory, episode__content="The bees went to a farmer.")
    return made


def decided(touch: Touch, answer: Effect | None) -> Touch:
    judged_messages.run(touch.workspace_id, judge=Judge(answer))
    touch.refresh_from_db()
    return touch


def standing(touch: Touch) -> str:
    return str(Memory.objects.with_names().get(pk=touch.memory_id).standing)


@pytest.mark.parametrize(
    ("answer", "relation", "stands"),
    [
        (change(replaces=0.9, compatible=0.1), "replaces", "questioned"),
        (change(ends=0.6, compatible=0.4), "ends", "questioned"),
        (change(ends=0.3, compatible=0.7), "unsure", "questioned"),
        (change(restates=0.9, compatible=0.1), "restates", "current"),
        (change(exception=0.9, compatible=0.1), "exception", "current"),
        (change(compatible=0.95, ends=0.05), "adds", "current"),
    ],
)
def test_the_judge_says_what_a_message_does_to_a_belief(
    touch: Touch, answer: Effect, relation: str, stands: str
) -> None:
    row = decided(touch, answer)
    assert (row.relation, row.by, row.model) == (relation, "judge", "judge-1")
    assert standing(row) == stands


def test_the_judge_reads_the_belief_the_words_it_was_said_in_and_the_message(touch: Touch) -> None:
    judge = Judge(change(compatible=1.0))
    assert judged_messages.run(touch.workspace_id, judge=judge) == 1
    assert judge.asked == [("Keeps bees", "I keep bees.", "", "The bees went to a farmer.")]
    assert judged_messages.run(touch.workspace_id, judge=judge) == 0


def test_what_a_judge_cannot_answer_stays_as_the_rule_had_it_and_is_given_up(touch: Touch) -> None:
    for _ in range(3):
        assert decided(touch, None).relation == "unsure"
    assert judged_messages.due_workspaces(Judge(None)) == []
    assert standing(touch) == "questioned"


def test_a_person_who_keeps_both_says_that_the_message_ends_nothing(alice: Person) -> None:
    alice.say("I live in Bergen.", user_id="ada")
    alice.say("I moved to Oslo.", user_id="ada")
    change = Supersession.objects.get()
    touch = Touch.objects.get(memory=change.old_id)
    review.undo(alice.scope, change.pk)
    touch.refresh_from_db()
    assert (touch.relation, touch.by, touch.decided_by) == ("adds", "person", alice.scope.actor)
    assert standing(touch) == "current"
    review.redo(alice.scope, change.pk)
    touch.refresh_from_db()
    assert (touch.relation, touch.by, standing(touch)) == ("replaces", "person", "past")


def test_nothing_overrules_a_person(touch: Touch) -> None:
    upheld = touches.uphold(touch.memory_id, "ann")
    assert standing(touch) == "current"
    decided(touch, change(ends=1.0))
    assert (touch.relation, touch.by) == ("adds", "person")
    touches.question_again(upheld)
    assert standing(touch) == "questioned"
