"""Cases about what later words speak against: asked where it is likely, and not too often."""

from typing import Any

import pytest

from memories.belief.cases import CaseDecision, decide_case, undo_case
from memories.index import workspace_index
from memories.models import Case, Memory, Touch, WorkspaceIndex
from memories.worker import sweep
from tests.desk import member, page_of
from tests.factories import MemoryFactory, TouchFactory, evidence
from tests.people import Person


def doubt(alice: Person, content: str = "Keeps bees", **told: Any) -> Touch:
    memory = MemoryFactory(workspace=alice.workspace, content=content)
    evidence(memory, content)
    values = {"relation": "ends", "probability": 0.9, "by": "judge", "decided_at": memory.created_at, **told}
    made: Touch = TouchFactory(memory=memory, episode__content="The bees went to a farmer.", **values)
    return made


def standing(touch: Touch) -> str:
    return str(Memory.objects.with_names().get(pk=touch.memory_id).standing)


def test_a_person_is_asked_what_a_message_speaks_against_with_its_words(alice: Person) -> None:
    touch = doubt(alice)
    assert sweep.file_cases() == 1
    case = Case.objects.get()
    assert (case.kind, case.items.get().memory_id, case.items.get().why) == ("uncertain", touch.memory_id, "questioned")
    assert "The bees went to a farmer." in member(alice.workspace).sees(page_of(case))
    assert sweep.file_cases() == 0


def test_what_is_kept_stands_and_is_not_asked_again_until_it_is_taken_back(alice: Person) -> None:
    touch = doubt(alice)
    sweep.file_cases()
    case = Case.objects.get()
    decide_case(alice.scope, case.pk, CaseDecision(keep=(touch.memory_id,)))
    assert (standing(touch), sweep.file_cases()) == ("current", 0)
    undo_case(alice.scope, case.pk)
    assert standing(touch) == "questioned"


def test_what_holds_no_more_is_past(alice: Person) -> None:
    touch = doubt(alice)
    sweep.file_cases()
    decide_case(alice.scope, Case.objects.get().pk, CaseDecision(end=(touch.memory_id,)))
    assert (standing(touch), sweep.file_cases()) == ("past", 0)


@pytest.mark.parametrize("told", [{"probability": 0.5}, {"by": "rule"}, {"relation": "unsure"}])
def test_what_is_only_marked_asks_nobody(alice: Person, told: dict[str, Any]) -> None:
    assert standing(doubt(alice, **told)) == "questioned"
    assert sweep.file_cases() == 0


def test_of_a_hundred_messages_three_are_asked_about_the_likeliest_first(alice: Person) -> None:
    likely = [doubt(alice, f"Keeps {n} bees", probability=0.8 + n / 100) for n in range(5)]
    space = workspace_index.index_of(alice.workspace.pk)
    WorkspaceIndex.objects.filter(pk=space.pk).update(live_episodes=100)
    assert sweep.file_cases() == 3
    assert {*Case.objects.values_list("items__memory", flat=True)} == {touch.memory_id for touch in likely[2:]}
    assert sweep.file_cases() == 0
