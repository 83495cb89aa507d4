"""A later message that speaks about what a memory says touches it, whichever of the two is written first."""

from datetime import UTC, datetime, timedelta

import pytest

from memories.belief import touches as belief_touches
from memories.ingest import NewMessage, append
from memories.models import Conversation, LongJob, Memory, Touch
from tests.people import Person

FIRST = datetime(2026, 3, 1, 10, tzinfo=UTC)


def said(content: str, day: int = 0, **more: str) -> NewMessage:
    return NewMessage(content, created_at=FIRST + timedelta(days=day), **more)


def tell(person: Person, *contents: str, **wish: str) -> None:
    for day, content in enumerate(contents):
        person.say(said(content, day), **{"user_id": "ada", "thread_id": "t", **wish})


def touches() -> list[tuple[str, str, str]]:
    rows = Touch.objects.select_related("memory", "episode").order_by("pk")
    return [(row.memory.content, row.episode.content[row.start : row.end], row.relation) for row in rows]


def standing(words: str) -> str:
    """The standing of the first memory with these words."""
    rows = Memory.objects.with_names().filter(content__contains=words).order_by("pk")
    return str(rows.values_list("standing", flat=True)[0])


def test_a_message_that_may_end_what_is_believed_questions_it(alice: Person) -> None:
    tell(alice, "I have a blue canoe.", "Lovely weather. The canoe got sold, you know.")
    assert standing("canoe") == "questioned"
    assert [(quote, relation) for _, quote, relation in touches()] == [("The canoe got sold, you know.", "unsure")]


def test_a_message_about_something_else_touches_nothing(alice: Person) -> None:
    tell(alice, "I have a blue canoe.", "I sold my piano to the school.")
    assert standing("canoe") == "current"


@pytest.mark.parametrize(
    "later",
    [
        "Should I sell the canoe?",
        "If I sold the canoe I would be sad.",
        "My sister sold her canoe.",
        "She sold the canoe.",
        'He wrote "we sold the canoe" on the wall.',
    ],
)
def test_questions_suppositions_quotes_and_other_people_end_nothing(alice: Person, later: str) -> None:
    tell(alice, "I have a blue canoe.", later)
    assert standing("canoe") == "current"


def test_a_thing_for_a_while_is_an_exception_that_leaves_a_belief_current(alice: Person) -> None:
    tell(alice, "I train at the Kelvin rowing club.", "No Kelvin club this week, I row at the lake.")
    touch = Touch.objects.get()
    assert (touch.relation, standing("Kelvin")) == ("exception", "current")
    assert touch.until == datetime(2026, 3, 9, tzinfo=UTC)


def test_what_replaces_a_belief_is_written_on_its_touch(alice: Person) -> None:
    tell(alice, "I live in Bergen.", "I moved to Oslo.")
    touch = Touch.objects.get(memory__content__contains="Bergen")
    assert (touch.relation, touch.by) == ("replaces", "rule")
    assert touch.decided_at is not None
    assert standing("Bergen") == "past"


def test_what_is_said_again_restates_it(alice: Person) -> None:
    tell(alice, "I live in Bergen.", "I live in Bergen.")
    assert [relation for *_, relation in touches()] == ["restates"]
    assert standing("Bergen") == "current"


def test_a_memory_is_touched_by_a_later_message_of_its_own_ingest(alice: Person) -> None:
    alice.say(said("I have a blue canoe."), said("Well, the canoe got sold.", 1), user_id="ada")
    assert standing("canoe") == "questioned"


def test_a_memory_of_old_history_is_touched_by_what_was_said_since(alice: Person) -> None:
    alice.say(said("Well, the canoe got sold.", 5), user_id="ada")
    alice.say(said("I have a blue canoe."), user_id="ada")
    assert standing("canoe") == "questioned"


def test_what_was_said_before_a_belief_does_not_touch_it(alice: Person) -> None:
    alice.say(said("I have a blue canoe.", 5), user_id="ada")
    alice.say(said("Well, the canoe got sold."), user_id="ada")
    assert touches() == []


def test_a_message_of_somebody_else_touches_nothing(alice: Person) -> None:
    tell(alice, "I have a blue canoe.")
    alice.say(said("The canoe got sold.", 3), user_id="ben")
    assert touches() == []


def test_an_assistant_touches_nothing(alice: Person) -> None:
    tell(alice, "I have a blue canoe.")
    alice.say(said("So the canoe got sold.", 3, role="assistant"), user_id="ada")
    assert touches() == []


def test_messages_that_are_only_kept_touch_memories_too(alice: Person) -> None:
    tell(alice, "I have a blue canoe.")
    append(alice.scope, Conversation.objects.get(external_id="t"), [said("The canoe got sold.", 3)])
    assert standing("canoe") == "questioned"


def test_an_agent_questions_no_private_memory_of_another_agent(alice: Person, bob: Person, carol: Person) -> None:
    bob.say(said("I have a blue canoe."), user_id="ada")
    carol.say(said("The canoe got sold.", 3), user_id="ada")
    assert touches() == []
    bob.say(said("The canoe got sold.", 3), user_id="ada")
    assert standing("canoe") == "questioned"


def test_only_who_sees_a_message_sees_that_it_touches_something(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    bob.say(said("I have a blue canoe."), user_id="ada")
    bob.say(said("The canoe got sold.", 3), user_id="ada")
    seen = [Touch.objects.visible_to(person.scope).count() for person in (alice, bob, carol, mallory)]
    assert seen == [1, 1, 0, 0]


def test_messages_from_before_touches_were_kept_are_looked_through_in_steps(alice: Person) -> None:
    tell(alice, "I have a blue canoe.", "Well, the canoe got sold.")
    Touch.objects.all().delete()
    LongJob.objects.create(
        workspace=alice.workspace, kind="touching", item=alice.workspace.pk, unit="messages", requested_by="worker"
    )
    assert belief_touches.old_workspaces() == [alice.workspace.pk]
    assert belief_touches.go_on(alice.workspace.pk) == 2
    assert belief_touches.old_workspaces() == []
    assert [relation for *_, relation in touches()] == ["unsure"]
