"""One in a hundred of what the judge decides is put before people, however sure it is: drawn at random."""

import random

import pytest

from memories.belief.cases import CaseDecision, decide_case, undo_case
from memories.belief.resolve import settle
from memories.belief.touches import uphold
from memories.index import workspace_index
from memories.ingest import judged_messages
from memories.models import Case, Memory, Touch, WorkspaceIndex
from memories.settings import workspace_settings
from memories.teaching.decided_pairs import decided_pairs
from memories.worker import sweep
from tests.desk import member, page_of
from tests.factories import MemoryFactory, TouchFactory, evidence
from tests.people import Person
from tests.scripted_judge import Judge, change


def drawn(alice: Person, draw: float = 0.005, content: str = "Keeps bees", **told: object) -> Touch:
    memory = MemoryFactory(workspace=alice.workspace, content=content)
    evidence(memory, content)
    values = {"relation": "adds", "probability": 0.9, "by": "judge", "model": "judge-1", "draw": draw, **told}
    made: Touch = TouchFactory(
        memory=memory, episode__content="The bees went to a farmer.", decided_at=memory.created_at, **values
    )
    return made


@pytest.fixture(autouse=True)
def _many_messages(alice: Person) -> None:
    space = workspace_index.index_of(alice.workspace.pk)
    WorkspaceIndex.objects.filter(pk=space.pk).update(live_episodes=200)


def case_of(touch: Touch) -> Case:
    return Case.objects.get(items__memory=touch.memory_id)


def test_a_person_is_asked_about_what_the_judge_would_ask_nobody(alice: Person) -> None:
    touch, other = drawn(alice), drawn(alice, 0.5)
    assert sweep.file_cases() == 1
    case = case_of(touch)
    assert (case.kind, case.items.get().why) == ("uncertain", "drawn")
    assert "The bees went to a farmer." in member(alice.workspace).sees(page_of(case))
    assert not Case.objects.filter(items__memory=other.memory_id).exists()
    assert sweep.file_cases() == 0
    assert str(Memory.objects.with_names().get(pk=touch.memory_id).standing) == "current"


def test_who_says_that_it_still_holds_agrees_with_the_judge_until_that_is_taken_back(alice: Person) -> None:
    touch = drawn(alice, relation="exception")
    sweep.file_cases()
    decide_case(alice.scope, case_of(touch).pk, CaseDecision(keep=(touch.memory_id,)))
    touch.refresh_from_db()
    assert (touch.relation, touch.by, touch.decided_by) == ("exception", "person", alice.scope.actor)
    [example] = decided_pairs(alice.workspace.pk)
    assert (example.lesson.is_over, example.lesson.is_sampled) == (False, True)
    assert sweep.file_cases() == 0
    undo_case(alice.scope, case_of(touch).pk)
    touch.refresh_from_db()
    assert (touch.relation, touch.by, touch.decided_by) == ("exception", "judge", "")
    assert decided_pairs(alice.workspace.pk) == []


def test_who_says_that_it_is_over_teaches_what_the_judge_did_not_hear(alice: Person) -> None:
    touch = drawn(alice)
    sweep.file_cases()
    decide_case(alice.scope, case_of(touch).pk, CaseDecision(end=(touch.memory_id,)))
    touch.refresh_from_db()
    assert (touch.relation, touch.by) == ("ends", "person")
    [example] = decided_pairs(alice.workspace.pk)
    assert (example.lesson.is_over, example.lesson.is_sampled, example.lesson.person) == (
        True,
        True,
        alice.scope.actor,
    )
    assert (example.pair.belief, example.pair.message) == ("Keeps bees", "The bees went to a farmer.")
    undo_case(alice.scope, case_of(touch).pk)
    touch.refresh_from_db()
    assert (touch.relation, touch.by, touch.model, touch.probability) == ("adds", "judge", "judge-1", 0.9)


def test_of_several_doubts_the_likeliest_has_ended_it(alice: Person) -> None:
    touch = drawn(alice, 0.5, relation="ends", probability=0.9)
    less = TouchFactory(memory=touch.memory, episode__content="Fewer bees this year.", relation="ends", by="judge")
    sweep.file_cases()
    decide_case(alice.scope, case_of(touch).pk, CaseDecision(end=(touch.memory_id,)))
    assert [one.touch for one in decided_pairs(alice.workspace.pk)] == [touch.pk]
    less.refresh_from_db()
    assert less.by == "judge"


def test_people_are_asked_about_one_in_a_hundred_messages_at_most_the_lowest_draws_first(alice: Person) -> None:
    asked = [drawn(alice, 0.001 * (9 - at), f"Keeps {at} bees") for at in range(9)]
    assert sweep.file_cases() == 2
    assert {*Case.objects.values_list("items__memory", flat=True)} == {one.memory_id for one in asked[-2:]}
    assert sweep.file_cases() == 0


def test_nobody_is_asked_where_the_judge_does_not_learn(alice: Person) -> None:
    drawn(alice)
    workspace_settings.change_workspace(alice.scope, changes={"judge": {"learn": False}})
    assert sweep.file_cases() == 0
    workspace_settings.change_workspace(alice.scope, changes={"judge": {"ask": 0.4}})
    assert sweep.file_cases() == 1


def test_a_case_is_closed_once_somebody_has_decided_it_elsewhere(alice: Person) -> None:
    touch = drawn(alice)
    sweep.file_cases()
    case = case_of(touch)
    Touch.objects.filter(pk=touch.pk).update(relation="unsure")
    uphold(touch.memory_id, alice.scope.actor)
    assert settle([case.pk], "test") == 1


def test_each_decision_of_the_judge_gets_its_draw(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "random", lambda: 0.003)
    slight = {"relation": "adds", "probability": 0.2, "by": "rule", "model": "", "draw": None}
    touch = drawn(alice, **slight)  # type: ignore[arg-type]
    Touch.objects.update(decided_at=None)
    judged_messages.run(alice.workspace.pk, judge=Judge(change(compatible=1.0)))
    touch.refresh_from_db()
    assert (touch.by, touch.draw) == ("judge", 0.003)
    assert sweep.file_cases() == 1
