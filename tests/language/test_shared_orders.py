"""Orders about a thing that is named exactly, in a talk that several people share."""

from typing import Any

import pytest

from memories.belief.cases import CaseDecision, decide_case, undo_case
from memories.belief.review import edit
from memories.ingest import NewMessage
from memories.language.english.exact_values import exact_values, withdrawn_value
from memories.language.english.spoken_intents import find_intents
from memories.models import Case, Episode, Intent, MaskedSpan, Memory
from tests.people import Person

BADGE = "The badge of the north gate is NG-1188-C. The gate opens at six."
PURGE = "Deletion request: purge the badge NG-1188-C from our shared memory."


def told(person: Person, *lines: tuple[str, str]) -> Intent:
    """One line after the other, each by its speaker; the last order heard."""
    for name, text in lines:
        person.say(NewMessage(text, name=name), user_id="desk", thread_id="t1")
    return Intent.objects.latest("pk")


def served(person: Person) -> str:
    rows = Episode.objects.filter(workspace=person.workspace)
    return " ".join([*rows.values_list("content", flat=True), *person.live()])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("the name 'Falk & Sons' and the fee of 1,350 EUR", ["Falk & Sons", "1,350 EUR"]),
        ("the note 'Project Lark = Arnow Trust'", ["Arnow Trust"]),
        ("the internal label quiet garden move from memory", ["quiet garden move"]),
        ("call +44 20 7946 0911 or petra@example.org", ["+44 20 7946 0911", "petra@example.org"]),
        ("my salary and the 14th of May", []),
    ],
)
def test_what_is_named_exactly(text: str, values: list[str]) -> None:
    assert exact_values(text) == values


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("The old code bh-4471 is retired and should not be recalled.", "bh-4471"),
        ("The deleted 74 GBP fare stays deleted.", "74 GBP"),
        ("Please retire and stop recalling the code bh-4471 now that it is over.", "bh-4471"),
        ("Reminder: bh-4471 is retired and deleted.", "bh-4471"),
        ("The code bh-4471 should be treated as historical and unavailable.", "bh-4471"),
        ("Please consider the earlier badge NG-7731-C unavailable.", "NG-7731-C"),
        ("Room B-204 is unavailable on Monday.", ""),
        ("The ticket INC-4410 is closed and deleted.", ""),
        ("The fee remains 90 GBP and the deleted figure stays deleted.", ""),
        ("Room B-204 stays closed on Monday.", ""),
        ("INC-4410 was deleted by the night shift.", ""),
    ],
)
def test_what_is_withdrawn_is_what_the_words_are_about(sentence: str, value: str) -> None:
    assert withdrawn_value(sentence) == value


def test_a_piece_of_work_with_a_number_is_no_order() -> None:
    assert not find_intents("Remove the object node_17 from memory when the pool shrinks.")


def test_who_told_a_thing_has_it_deleted_wherever_it_was_repeated(alice: Person) -> None:
    order = told(alice, ("Ravi", BADGE), ("Lena", "NG-1188-C works for me."), ("Ravi", PURGE))
    assert order.state == "done"
    assert "NG-1188-C" not in served(alice)
    assert "opens at six" in served(alice)
    again = told(alice, ("Ravi", "The deleted NG-1188-C badge stays deleted."))
    assert again.state == "done"
    assert "NG-1188-C" not in served(alice)


def test_who_is_named_as_the_one_it_is_about_has_it_deleted(alice: Person) -> None:
    fee = ("Desk", "Wanda's fee for the spring course is 480 EUR.")
    order = told(alice, fee, ("Wanda", "Please delete the fee of 480 EUR from shared memory."))
    assert order.state == "done"
    assert "480" not in served(alice)


def test_anybody_else_gets_a_case_which_a_person_may_still_do(alice: Person) -> None:
    order = told(alice, ("Ravi", BADGE), ("Lena", PURGE))
    assert (order.state, order.reason) == ("case", "somebody else's words")
    assert "NG-1188-C" in served(alice)
    decide_case(alice.scope, Case.objects.get().pk, CaseDecision(intent="do"))
    assert "NG-1188-C" not in served(alice)
    assert not Memory.objects.live().filter(content__contains="NG-1188-C").exists()


def waiting(person: Person) -> Case:
    """In a talk of three, one asks to have deleted what another one told."""
    order = told(person, ("Omar", "Morning, all."), ("Ravi", BADGE), ("Lena", PURGE))
    assert (order.state, order.reason) == ("case", "somebody else's words")
    return Case.objects.get(pk=order.case_id)


def test_among_several_what_one_of_them_names_exactly_is_served_to_nobody_until_it_is_decided(
    alice: Person,
) -> None:
    alice.note("User's badge for the north gate is NG-1188-C.", user_id="desk")
    before = Memory.objects.live().count()
    case = waiting(alice)
    assert "NG-1188-C" not in served(alice)
    assert "opens at six" in served(alice)
    assert Memory.objects.live().count() >= before
    decide_case(alice.scope, case.pk, CaseDecision(intent="leave"))
    assert "User's badge for the north gate is NG-1188-C." in alice.live()
    assert PURGE in served(alice)
    undo_case(alice.scope, case.pk)
    assert "NG-1188-C" not in served(alice)
    decide_case(alice.scope, case.pk, CaseDecision(intent="do"))
    assert "NG-1188-C" not in served(alice)
    assert not Memory.objects.live().filter(content__contains="north gate is").exists()
    undo_case(alice.scope, case.pk)
    assert "NG-1188-C" not in served(alice)
    decide_case(alice.scope, case.pk, CaseDecision(intent="leave"))
    assert PURGE in served(alice)
    assert not MaskedSpan.objects.exists()


@pytest.mark.parametrize("change", [{"pinned": True}, {"visibility": "team"}])
def test_what_is_pinned_or_the_teams_is_served_while_it_waits(alice: Person, change: dict[str, Any]) -> None:
    memory = alice.note("User's badge for the north gate is NG-1188-C.", user_id="desk")
    edit(alice.scope, memory.pk, change)
    order = told(alice, ("Omar", "Morning, all."), ("Ravi", BADGE), ("Lena", PURGE))
    assert order.state == "case"
    assert "NG-1188-C" in served(alice)


def test_what_a_person_had_forgotten_is_masked_where_a_reminder_names_it(alice: Person) -> None:
    told(alice, ("Ravi", BADGE), ("Lena", PURGE))
    decide_case(alice.scope, Case.objects.get().pk, CaseDecision(intent="do"))
    again = told(alice, ("Omar", "Reminder: NG-1188-C is retired and deleted."))
    assert again.state == "done"
    assert "NG-1188-C" not in served(alice)


def test_plain_words_of_somebody_else_that_made_no_memory_wait_too(alice: Person) -> None:
    order = told(
        alice,
        ("Ravi", "So, the greenhouse with the broken fan, then?"),
        ("Lena", "Please forget what I said about the broken fan of the greenhouse."),
    )
    assert order.state != "done"
    assert "broken fan" in served(alice)
