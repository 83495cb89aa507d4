"""What this server had told, and what comes back of it."""

import pytest
from django.db.models import QuerySet

from memories.ingest import NewMessage
from memories.models import Fact, Memory
from tests.api_fixtures import caller
from tests.people import Person

KNOWN = "We decided to use PostgreSQL for the backend"


def assistant(content: str, role: str = "assistant") -> NewMessage:
    return NewMessage(content, role=role)


def support() -> int:
    return learned().count()


@pytest.fixture(autouse=True)
def trusted(alice: Person, mallory: Person) -> None:
    """Workspaces that believe assistants; by default their words make no memory."""
    for person in (alice, mallory):
        person.workspace.settings = {"guard": {"assistant": "believe"}}
        person.workspace.save()


def learned() -> QuerySet[Fact]:
    return Fact.objects.exclude(method=Fact.Method.MANUAL)


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_what_a_machine_repeats_of_a_memory_is_not_learned_again(alice: Person, role: str) -> None:
    alice.note(KNOWN)
    session = alice.say(assistant(f"{KNOWN}.", role))
    assert (support(), session.created_ids, session.reinforced_ids) == (0, [], [])
    assert "served" in session.reason


def test_an_assistant_that_repeats_nothing_is_learned_from(alice: Person) -> None:
    alice.say(assistant(f"{KNOWN}."))
    assert support() == 1


def test_a_person_who_says_it_again_is_heard(alice: Person) -> None:
    alice.tell("I prefer tea to coffee.", extract="patterns", user_id="ana")
    session = alice.say("I prefer tea to coffee.", user_id="ana")
    assert (len(session.reinforced_ids), Memory.objects.count()) == (1, 1)


def test_the_rest_of_an_answer_is_read_and_its_words_stand_where_they_stood(alice: Person) -> None:
    alice.note(KNOWN)
    told = f"From memory:\n- {KNOWN}.\nWe decided to use Redis for the cache."
    alice.say(assistant(told))
    [fact] = learned()
    citation = fact.citations.get()
    assert "Redis" in fact.statement
    assert told[citation.start : citation.end] == citation.quote


def test_a_marked_block_is_read_in_nobodys_message(alice: Person) -> None:
    session = alice.say(f"<memories>\n{KNOWN}.\n</memories>")
    assert (support(), "served" in session.reason) == (0, True)
    alice.say(f"<context>{KNOWN}.</context> I prefer tea to coffee.", user_id="ana")
    assert [fact.category for fact in learned()] == ["preference"]


def test_what_was_forgotten_can_be_said_again(alice: Person) -> None:
    memory = alice.note(KNOWN)
    Memory.objects.filter(pk=memory.pk).update(forgotten_at=memory.created_at)
    alice.say(assistant(f"{KNOWN}."))
    assert support() == 1


def test_an_agent_learns_what_only_others_know(alice: Person, bob: Person, carol: Person) -> None:
    """What it may not see was never served to it, and must not show by not being learned."""
    bob.note(KNOWN)
    assert carol.say(assistant(f"{KNOWN}.")).created_ids
    assert not bob.say(assistant(f"{KNOWN}.")).created_ids


def test_another_workspace_has_nothing_to_do_with_it(alice: Person, mallory: Person) -> None:
    alice.note(KNOWN)
    assert mallory.say(assistant(f"{KNOWN}.")).created_ids


def test_the_preview_says_so_too(alice: Person) -> None:
    alice.note(KNOWN)
    body = {"messages": [{"role": "assistant", "content": f"{KNOWN}."}]}
    answer = caller(alice).post("/memories/extract", body)
    assert answer.body["facts"] == []
    assert answer.body["skipped"] == [{"messageIndex": 0, "reason": "served"}]


def test_a_text_that_is_stored_as_it_is_stays_as_it_is(alice: Person) -> None:
    text = f"<memories>{KNOWN}</memories> and more"
    alice.tell(text)
    assert text in alice.live()
