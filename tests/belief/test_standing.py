"""What is believed is current only as long as nothing said later questions it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories.models import AsOf, Memory, Standing, Touch
from tests.factories import LONG_AGO, MemoryFactory, TouchFactory, evidence
from tests.people import Person


@pytest.fixture
def memory(alice: Person) -> Memory:
    row: Memory = MemoryFactory(workspace=alice.workspace, content="Keeps bees")
    evidence(row, "I keep bees.")
    return row


def standing(memory: Memory) -> str:
    row = Memory.objects.with_names().get(pk=memory.pk)
    listed = [each for each in Standing if Memory.objects.in_standing(each).filter(pk=memory.pk).exists()]
    assert listed == [row.standing]
    return str(row.standing)


def test_a_memory_that_nothing_touches_is_current(memory: Memory) -> None:
    assert standing(memory) == "current"


@pytest.mark.parametrize("relation", ["unsure", "replaces", "ends"])
def test_a_later_message_that_may_end_a_memory_questions_it(memory: Memory, relation: str) -> None:
    TouchFactory(memory=memory, relation=relation)
    assert standing(memory) == "questioned"


@pytest.mark.parametrize("relation", ["restates", "adds", "exception"])
def test_a_later_message_that_leaves_a_memory_true_leaves_it_current(memory: Memory, relation: str) -> None:
    TouchFactory(memory=memory, relation=relation)
    assert standing(memory) == "current"


def test_a_memory_is_current_again_when_it_is_said_again(memory: Memory) -> None:
    TouchFactory(memory=memory)
    evidence(memory, "I do keep bees.", occurred_at=LONG_AGO + timedelta(days=60))
    assert standing(memory) == "current"


def test_words_that_a_document_has_withdrawn_carry_nothing(memory: Memory) -> None:
    TouchFactory(memory=memory)
    fact = evidence(memory, "I do keep bees.", occurred_at=LONG_AGO + timedelta(days=60))
    fact.withdrawn_at = timezone.now()
    fact.save(update_fields=["withdrawn_at"])
    assert standing(memory) == "questioned"


def test_a_plan_whose_day_is_over_is_questioned(alice: Person) -> None:
    now = timezone.now()
    over = MemoryFactory(workspace=alice.workspace, category="plan", event_date=now - timedelta(days=3))
    ahead = MemoryFactory(workspace=alice.workspace, category="plan", event_date=now + timedelta(days=3))
    assert (standing(over), standing(ahead)) == ("questioned", "current")


def test_what_was_forgotten_is_past_whatever_touches_it(memory: Memory) -> None:
    TouchFactory(memory=memory)
    Memory.objects.filter(pk=memory.pk).update(forgotten_at=timezone.now())
    assert standing(memory) == "past"


def test_a_memory_stood_as_it_was_known_then(memory: Memory) -> None:
    before = timezone.now() - timedelta(minutes=1)
    TouchFactory(memory=memory, made_at=timezone.now() - timedelta(seconds=1))
    rows = [Memory.objects.as_known(AsOf(known_at=at)).get(pk=memory.pk) for at in (before, timezone.now())]
    assert [row.known_standing for row in rows] == ["current", "questioned"]  # type: ignore[attr-defined]


def test_the_words_of_a_touch_are_those_of_the_message_now(memory: Memory) -> None:
    touch = TouchFactory(memory=memory, episode__content="I gave the bees away.", start=2)
    quoted = Touch.objects.newest().get()
    assert (quoted.quote, quoted.occurred_at) == ("gave the bees away.", touch.said_at)
    touch.episode.content = "I gave the ████ away."
    touch.episode.save(update_fields=["content"])
    assert Touch.objects.newest().get().quote == "gave the ████ away."


def test_what_questions_a_memory_is_told_before_what_adds_to_it(memory: Memory) -> None:
    doubt = TouchFactory(memory=memory)
    for day in range(3):
        TouchFactory(memory=memory, relation="adds", episode__occurred_at=LONG_AGO + timedelta(days=50 + day))
    rows = Touch.objects.newest(2)
    assert [row.relation for row in rows] == ["adds", "unsure"]
    assert rows[1].pk == doubt.pk
