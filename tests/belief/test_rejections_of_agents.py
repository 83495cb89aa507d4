"""What an agent's key forgets binds that agent alone: others keep their messages and documents, and
learn it; and no agent takes a "no" back that it does not see, or learns of one by guessing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memories.belief import review
from memories.ingest import NewMessage
from memories.models import Episode, Fact, Intent, MaskedSpan, Memory, Rejection
from tests.api.test_guesses import alike
from tests.api_fixtures import Caller, caller
from tests.handed_in import hand_in
from tests.people import Person, bound_to_agent

DOG, CAT = "I have a dog named Behemoth.", "I have a cat named Azazello."
ECHO = "Noted: you have a dog named {}."
PAPER = "# About the user\n\nThe user has a dog named {}."
Act = Callable[[Person, Memory], None]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


@pytest.fixture
def mate(bob: Person) -> Person:
    return bound_to_agent(bob.workspace, "mate")


def about(person: Person, **wish: Any) -> dict[str, Any]:
    return {"user_id": "u1", "thread_id": f"of-{person.key[-8:]}", **wish}


def said_by(person: Person) -> str:
    rows = Episode.objects.visible_to(person.scope).order_by("pk")
    return " ".join(rows.values_list("content", flat=True))


def papers(person: Person) -> dict[str, str]:
    """The documents that they see, by their name."""
    http = caller(person)
    rows = http.get("/documents").body["results"]
    return {row["customId"]: http.get(f"/documents/{row['id']}", include="content").body["content"] for row in rows}


def dog_of(person: Person) -> Memory:
    rows = Memory.objects.visible_to(person.scope).filter(agent=person.scope.agent_id)
    return rows.live().get(content__contains="Behemoth")


def knows_the_dog(person: Person) -> bool:
    own = Memory.objects.filter(agent=person.scope.agent_id, subject__external_id="u1")
    return own.live().filter(content__contains="Behemoth").exists()


def test_what_an_agent_forgets_as_wrong_stays_with_the_others(
    alice: Person, bob: Person, mate: Person, carol: Person
) -> None:
    everybody = (alice, bob, mate, carol)
    for each in everybody:
        each.say(DOG, **about(each))
    for each, name in ((alice, "owners"), (mate, "mates"), (bob, "own")):
        text = PAPER.format("Behemoth")
        hand_in(each, text, user_id="u1", custom_id=name, visibility="team", extract="none")
    assert caller(bob).delete(f"/memories/{dog_of(bob).pk}", reason="wrong").status == 204

    assert "Behemoth" not in said_by(bob)
    assert all("Behemoth" in said_by(each) for each in (alice, mate, carol))
    assert {name: "Behemoth" in text for name, text in papers(bob).items()} == {
        "owners": True,
        "mates": True,
        "own": False,
    }
    for each in everybody:
        each.say(f"By the way, {DOG}", user_id="u1")
    assert [knows_the_dog(each) for each in everybody] == [True, False, True, True]


def test_what_an_agent_forgot_is_told_on_by_others_and_by_itself_no_more(
    alice: Person, bob: Person, mate: Person
) -> None:
    bob.say(DOG, **about(bob))
    review.forget(bob.scope, dog_of(bob).pk, "wrong")
    for each in (alice, bob, mate):
        each.say(NewMessage(ECHO.format("Behemoth"), role="assistant"), user_id="u1")
    newest = Episode.objects.filter(kind="assistant").order_by("pk")
    assert [("Behemoth" in row.content) for row in newest] == [True, False, True]


def test_what_a_person_says_no_to_as_well_binds_all(alice: Person, bob: Person, mate: Person) -> None:
    for each in (bob, mate):
        each.say(DOG, **about(each))
    memory = dog_of(bob)
    review.forget(bob.scope, memory.pk, "wrong")
    assert Rejection.objects.get().agent_id == bob.scope.agent_id
    assert caller(mate).get("/rejections").body["results"] == []
    [own] = caller(bob).get("/rejections").body["results"]
    assert own["agentId"] == "bob"
    review.forget(alice.scope, memory.pk, "private")
    assert Rejection.objects.filter(agent=None).exists()
    review.forget(alice.scope, dog_of(mate).pk)
    assert "Behemoth" not in said_by(mate)
    mate.say(DOG, user_id="u1")
    assert not knows_the_dog(mate)


def says_it_by_hand(person: Person, memory: Memory) -> None:
    person.note(DOG, user_id="u1")


def edits_another(person: Person, memory: Memory) -> None:
    other = person.note(CAT, user_id="u1")
    review.edit(person.scope, other.pk, {"content": DOG})


def believes_it_again(person: Person, memory: Memory) -> None:
    review.restore(person.scope, memory.pk)


@pytest.mark.parametrize("act", [says_it_by_hand, edits_another, believes_it_again])
def test_an_agent_takes_back_no_word_that_it_does_not_see(act: Act, alice: Person, bob: Person, mate: Person) -> None:
    own = bob.note(DOG, user_id="u1")
    review.forget(bob.scope, own.pk, "outdated")
    review.forget(alice.scope, alice.note(DOG, user_id="u1").pk, "wrong")
    no = Rejection.objects.get()
    assert no.agent is None
    act(bob, own)
    assert knows_the_dog(bob)
    assert Rejection.objects.filter(pk=no.pk).exists()
    mate.say(DOG, user_id="u1")
    assert not knows_the_dog(mate)
    says_it_by_hand(alice, own)
    assert not Rejection.objects.filter(pk=no.pk).exists()


def test_an_agent_accepts_what_waits_without_lifting_anothers_no(alice: Person, bob: Person, mate: Person) -> None:
    review.forget(alice.scope, alice.note(DOG, user_id="u1").pk, "private")
    bob.say(DOG, user_id="u1")
    fact = Fact.objects.get(quarantined_at__isnull=False)
    assert caller(mate).post(f"/facts/{fact.pk}/accept", {}).status == 404
    assert caller(bob).post(f"/facts/{fact.pk}/accept", {}).status == 200
    assert knows_the_dog(bob)
    assert Rejection.objects.exists()


def test_an_agents_candidates_are_answered_alike_whatever_others_forgot(
    alice: Person, bob: Person, mate: Person, carol: Person
) -> None:
    alice.say(DOG, **about(alice))
    memory = Memory.objects.live().get(content__contains="Behemoth")
    review.forget(alice.scope, memory.pk, "private")
    assert MaskedSpan.objects.filter(kind="forgotten").exists()

    def told_again(http: Caller, name: str, words: str) -> Any:
        message = {"role": "assistant", "content": words, "id": name}
        return http.post("/memories/ingest", {"messages": [message], "userId": "u1"})

    for person in (bob, mate, carol):
        http, own = caller(person), person.key[-6:]
        told_again(http, own, "Hello there.")
        right, wrong = ((own + word, ECHO.format(word)) for word in ("Behemoth", "Azazello"))
        assert alike(http, told_again, right, wrong) == 201
        shown = [row["content"] for row in http.get("/episodes").body["results"]]
        assert {right[1], wrong[1]} <= set(shown)
        for name, word in (("d1", "Behemoth"), ("d2", "Azazello")):
            hand_in(person, PAPER.format(word), user_id="u1", custom_id=f"{name}{own}")
            assert word in papers(person)[f"{name}{own}"]
    alice.say(NewMessage(ECHO.format("Behemoth"), role="assistant"), user_id="u1")
    assert "Behemoth" not in Episode.objects.latest("pk").content


@pytest.mark.parametrize("order", ["Please forget my dog.", "Never mention my dog again."])
def test_an_order_told_to_an_agent_reaches_what_is_that_agents(
    order: str, alice: Person, bob: Person, mate: Person, carol: Person
) -> None:
    """Whoever speaks there as the user: words of others stay, and they learn it."""
    for each in (alice, bob, mate, carol):
        each.say(NewMessage(ECHO.format("Behemoth"), role="assistant"), user_id="u1")
    hand_in(alice, PAPER.format("Behemoth"), user_id="u1", custom_id="owners", visibility="team")
    bob.say(DOG, **about(bob))
    bob.say(order, **about(bob))
    assert Intent.objects.get().state == "done"
    assert "Behemoth" not in said_by(bob)
    assert all("Behemoth" in said_by(each) for each in (alice, mate, carol))
    assert "Behemoth" in papers(bob)["owners"]
    for each in (mate, carol):
        each.say(DOG, user_id="u1")
    assert [knows_the_dog(each) for each in (bob, mate, carol)] == [False, True, True]


def test_an_order_told_to_no_agent_reaches_what_all_of_them_tell(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    for each in (alice, bob, carol, mallory):
        each.say(NewMessage(ECHO.format("Behemoth"), role="assistant"), user_id="u1")
    hand_in(bob, PAPER.format("Behemoth"), user_id="u1", custom_id="bobs", extract="none")
    alice.say(DOG, **about(alice))
    alice.say("Please forget my dog.", **about(alice))
    assert not any("Behemoth" in said_by(each) for each in (alice, bob, carol))
    assert "Behemoth" not in papers(bob)["bobs"]
    assert "Behemoth" in said_by(mallory)
