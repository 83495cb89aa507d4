"""Why a search did not show what somebody expected."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from memories import filters
from memories.forgetting import forget
from memories.models import DueVector, Entry, Memory, Vector
from memories.search import SearchRequest
from memories.why_not import WhyNot, why_not
from tests.desk import desk_of, member
from tests.factories import UserFactory
from tests.people import Person

GATE, DUCKS = "The orchard gate is painted green", "Ducks sleep behind the cider press"


def why(person: Person, memory: Memory, query: str = "orchard gate", **wish: Any) -> WhyNot:
    return why_not(person.scope, SearchRequest(query, **wish), memory.pk)


def fell_out(found: WhyNot) -> str:
    return found.failed.name if found.failed else ""


def test_what_is_shown_fell_out_nowhere(alice: Person) -> None:
    found = why(alice, alice.note(GATE))
    assert (fell_out(found), found.rank) == ("", 1)
    assert [step.state for step in found.steps] == ["passed"] * len(found.steps)


def test_a_memory_of_another_workspace_is_not_there(alice: Person, mallory: Person) -> None:
    found = why(mallory, alice.note(GATE))
    assert (fell_out(found), found.memory) == ("workspace", None)
    unknown = why_not(mallory.scope, SearchRequest("gate"), uuid.uuid4())
    assert unknown.steps == found.steps


def test_another_agents_private_memory_is_not_seen(alice: Person, bob: Person) -> None:
    secret = bob.note(GATE, visibility="private")
    found = why(alice, secret, agent_id="somebody")
    assert fell_out(found) == "visibility"
    assert found.failed is not None
    assert "bob" in found.failed.told
    assert fell_out(why(alice, secret, agent_id="bob")) == ""


def test_to_an_agent_what_it_may_not_see_is_not_there(bob: Person, carol: Person) -> None:
    assert fell_out(why(carol, bob.note(GATE, visibility="private"))) == "workspace"


def test_what_ended_says_how(alice: Person) -> None:
    gone = alice.note(GATE)
    forget(alice.scope, gone.pk, "wrong tree")
    found = why(alice, gone)
    assert found.failed is not None
    assert (found.failed.name, "wrong tree" in found.failed.told) == ("life", True)


def test_what_expired_is_told(alice: Person) -> None:
    memory = alice.note(GATE)
    Memory.objects.filter(pk=memory.pk).update(forget_after=timezone.now() - timedelta(days=1))
    assert fell_out(why(alice, memory)) == "life"


def test_what_is_about_somebody_else_is_told(alice: Person) -> None:
    found = why(alice, alice.note(GATE, user_id="ada"), user_id="ben")
    assert found.failed is not None
    assert found.failed.told == "It is about ada, and the search about ben."


def test_a_threads_own_memory_needs_its_thread(alice: Person) -> None:
    memory = alice.note(GATE, scope="thread", thread_id="t1")
    assert fell_out(why(alice, memory)) == "scope"
    assert fell_out(why(alice, memory, thread_id="t1")) == ""


def test_a_filter_that_excludes_it_is_told(alice: Person) -> None:
    memory = alice.note(GATE)
    tree = filters.parse({"field": "pinned", "op": "eq", "value": True}, ("memories",))
    assert fell_out(why(alice, memory, filter=tree)) == "filter"
    assert fell_out(why(alice, memory, categories=("plan",))) == "filter"


def test_what_the_index_lost_is_told(alice: Person) -> None:
    memory = alice.note(GATE)
    Entry.objects.filter(item=memory.pk).update(live=False)
    assert fell_out(why(alice, memory)) == "index"


def test_a_missing_vector_is_noted_and_words_still_find_it(alice: Person) -> None:
    memory = alice.note(GATE)
    entry = Entry.objects.get(item=memory.pk)
    Vector.objects.filter(entry_id=entry.pk).delete()
    DueVector.objects.create(entry=entry, attempts=2, error="no answer")
    found = why(alice, memory)
    noted = [step.told for step in found.steps if step.state == "noted"]
    assert noted == ["It has no vector yet. 2 attempts. no answer"]
    assert found.failed is None


def test_what_no_side_brings_up_stands_somewhere_all_the_same(alice: Person) -> None:
    far = alice.note(DUCKS)
    alice.say(*[f"Gate {n} of orchard {n * 7919} is {n * 31} feet wide" for n in range(40)],
              extract="none")  # fmt: skip
    found = why(alice, far, ranking="linea")
    assert fell_out(found) == "candidates"
    assert found.failed is not None
    assert "By meaning number" in found.failed.told
    assert "by words nowhere" in found.failed.told


def test_what_is_ranked_too_low_is_compared_with_the_last_hit_shown(alice: Person) -> None:
    alice.note(GATE)
    found = why(alice, alice.note(DUCKS), limit=1)
    assert (fell_out(found), found.rank) == ("rank", 2)
    assert found.hit is not None
    assert found.last is not None
    assert (found.hit.memory.content, found.last.memory.content) == (DUCKS, GATE)
    assert found.hit.score < found.last.score


def test_a_score_below_the_threshold_is_told(alice: Person) -> None:
    alice.note(GATE)
    assert fell_out(why(alice, alice.note(DUCKS), threshold=0.9)) == "threshold"


# ---- the page -------------------------------------------------------------------------------


def page() -> str:
    return reverse("admin:memories_why_not")


def test_the_page_tells_the_steps_and_scores(alice: Person) -> None:
    alice.note(GATE)
    far = alice.note(DUCKS)
    told = member(alice.workspace, "viewer").sees(
        page(), query="orchard gate", memory=str(far.pk), limit="1"
    )
    assert "It is number 2 of 2; the search shows 1." in told
    assert DUCKS in told


def test_words_of_a_memory_offer_those_that_may_be_meant(alice: Person) -> None:
    memory = alice.note(GATE)
    told = member(alice.workspace).sees(page(), query="orchard", memory="painted gate")
    assert f"memory={memory.pk}" in told


def test_an_empty_page_and_bad_input_open(alice: Person) -> None:
    desk = member(alice.workspace)
    assert "Enter a query" in desk.sees(page())
    assert "Enter a query" in desk.sees(page(), query="x", memory="y", limit="lots")


@pytest.mark.parametrize("asked", ["id", "words"])
def test_the_page_of_a_stranger_shows_nothing(alice: Person, mallory: Person, asked: str) -> None:
    memory = alice.note(GATE)
    outsider = member(mallory.workspace)
    wanted = str(memory.pk) if asked == "id" else "painted gate"
    for more in ({}, {"workspace": alice.workspace.slug}):
        assert GATE not in outsider.sees(page(), query="orchard", memory=wanted, **more)
    assert desk_of(UserFactory()).status(page()) == 302
