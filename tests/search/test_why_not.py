"""Why a search did not show what somebody expected."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from memories.belief.review import forget
from memories.models import AsOf, DueVector, Entry, Memory, Vector
from memories.search import RANKINGS, SearchRequest, filters
from memories.search.explain import WhyNot, why_not
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
    DueVector.objects.create(entry=entry, workspace=entry.workspace, attempts=2, error="no answer")
    found = why(alice, memory)
    noted = [step.told for step in found.steps if step.state == "noted"]
    assert noted == ["It has no vector yet. 2 attempts. no answer"]
    assert found.failed is None


def test_what_no_side_brings_up_stands_somewhere_all_the_same(alice: Person) -> None:
    far = alice.note(DUCKS)
    alice.say(*[f"Gate {n} of orchard {n * 7919} is {n * 31} feet wide" for n in range(40)], extract="none")
    found = why(alice, far, ranking="linea")
    assert fell_out(found) == "candidates"
    assert found.failed is not None
    assert "By meaning number" in found.failed.told
    assert "its text does not hold the whole query" in found.failed.told


def test_a_ranking_by_words_alone_tells_of_words_alone(alice: Person) -> None:
    alice.note(GATE)
    found = why(alice, alice.note(DUCKS), ranking="keyword")
    assert found.failed is not None
    assert found.failed.told == (
        "Nothing brings it up. By words nowhere; this ranking asks nothing else, and brings up 120."
    )


def test_a_search_of_other_layers_reaches_no_memory(alice: Person) -> None:
    found = why(alice, alice.note(GATE), layers=("episodes", "features"))
    assert found.failed is not None
    assert found.failed.told == "The search looks at episodes and features alone."


def test_what_was_not_yet_believed_is_told(alice: Person) -> None:
    memory = alice.note(GATE)
    before = AsOf(known_at=memory.created_at - timedelta(days=1))
    found = why(alice, memory, at=before)
    assert found.failed is not None
    assert found.failed.told.startswith("It was not believed then: it was learned on ")
    assert fell_out(why(alice, memory, at=AsOf(known_at=timezone.now()))) == ""


def test_what_was_not_yet_true_is_told(alice: Person) -> None:
    memory = alice.note(GATE)
    since = timezone.now() - timedelta(days=5)
    Memory.objects.filter(pk=memory.pk).update(valid_from=since)
    found = why(alice, memory, at=AsOf(valid_at=since - timedelta(days=1)))
    assert found.failed is not None
    assert found.failed.told.startswith("It was not true then: it is true from ")


def test_what_ended_later_passes_in_a_search_of_the_past(alice: Person) -> None:
    gone = alice.note(GATE)
    then = timezone.now()
    forget(alice.scope, gone.pk, "wrong tree")
    assert fell_out(why(alice, gone, at=AsOf(known_at=then))) == ""


def test_a_private_memory_of_no_agent_is_told_as_that(alice: Person) -> None:
    found = why(alice, alice.note(GATE, visibility="private"), agent_id="somebody")
    assert found.failed is not None
    assert "belongs to no agent" in found.failed.told


def test_what_stands_below_an_episode_that_it_stands_on_is_told(alice: Person) -> None:
    alice.say("I prefer tea to coffee.")
    memory = Memory.objects.get()
    layers = ("memories", "episodes")
    found = why(alice, memory, "I prefer tea to coffee.", layers=layers)
    shown = [hit.layer for hit in alice.ask("I prefer tea to coffee.", layers=layers)]
    assert shown == ["episodes"]
    assert found.failed is not None
    assert (found.failed.name, "I prefer tea to coffee." in found.failed.told) == ("echo", True)


def test_what_the_ranking_does_not_look_down_to_is_told_with_its_rank(alice: Person) -> None:
    for n in range(9):
        alice.note(f"The orchard gate number {n} was painted green")
    found = why(alice, alice.note(DUCKS), limit=1)
    assert (fell_out(found), found.rank) == ("ranking", 10)
    assert found.placed is not None


def test_what_the_reranker_put_too_far_down_is_told(alice: Person, httpserver: HTTPServer, settings: Settings) -> None:
    settings.RERANK_BASE_URL = httpserver.url_for("/").rstrip("/")
    worst_first = [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.9}]
    httpserver.expect_request("/v2/rerank").respond_with_json({"results": worst_first})
    memory = alice.note(GATE)
    alice.note(DUCKS)
    found = why(alice, memory, limit=1, rerank=True)
    assert found.failed is not None
    assert found.failed.told == "It was number 1, and is number 2 after the reranker."
    assert fell_out(why(alice, memory, limit=2, rerank=True)) == ""
    assert fell_out(why(alice, memory, limit=2, rerank=True, threshold=0.5)) == "threshold"


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("layers", [("memories",), ("memories", "episodes")])
@pytest.mark.parametrize("limit", [1, 3])
def test_it_is_shown_exactly_where_the_search_shows_it(
    alice: Person, ranking: str, layers: tuple[str, ...], limit: int
) -> None:
    alice.say("I prefer tea to coffee.", "I moved to Lisbon.", "My dog is called Biscuit.")
    wish: dict[str, Any] = {"ranking": ranking, "layers": layers, "limit": limit}
    shown = {hit.memory.id for hit in alice.ask("tea or coffee", **wish) if hit.memory}
    for memory in Memory.objects.all():
        is_shown = why(alice, memory, "tea or coffee", **wish).failed is None
        assert is_shown == (memory.pk in shown)


def test_what_is_ranked_too_low_is_compared_with_the_last_hit_shown(alice: Person) -> None:
    alice.note(GATE)
    found = why(alice, alice.note(DUCKS), limit=1)
    assert (fell_out(found), found.rank) == ("rank", 2)
    assert found.placed is not None
    assert found.last is not None
    assert found.last.memory.content == GATE
    assert found.placed.score < found.last.score


def test_a_score_below_the_threshold_is_told(alice: Person) -> None:
    alice.note(GATE)
    assert fell_out(why(alice, alice.note(DUCKS), threshold=0.9)) == "threshold"


# ---- the page -------------------------------------------------------------------------------


def page() -> str:
    return reverse("admin:memories_why_not")


def test_the_page_tells_the_steps_and_scores(alice: Person) -> None:
    alice.note(GATE)
    far = alice.note(DUCKS)
    told = member(alice.workspace, "viewer").sees(page(), query="orchard gate", memory=str(far.pk), limit="1")
    assert "It is number 2 of 2; the search shows 1." in told
    assert DUCKS in told


@pytest.mark.parametrize(
    ("asked", "step"),
    [
        ({"filter": '{"field": "category", "op": "eq", "value": "plan"}'}, "Filter"),
        ({"category": "plan"}, "Filter"),
        ({"fact_type": "system"}, "Filter"),
        ({"known_at": "2025-11-01T00:00"}, "Life"),
        ({"scope": "workflow"}, "Scope"),
        ({"layer": "episodes"}, "Layer"),
        ({"threshold": "1"}, "Threshold"),
    ],
)
def test_the_page_runs_the_search_that_the_desk_has(alice: Person, asked: dict[str, str], step: str) -> None:
    memory = alice.note(f"{GATE} {DUCKS}", category="other")
    desk = member(alice.workspace)
    search_page = reverse("admin:memories_search")
    context = desk.client.get(search_page, {"query": "orchard gate"} | asked).context
    told = desk.sees(f"{context['why_not_url']}&memory={memory.pk}")
    assert context["answer"].shown == []
    assert f'failed">failed</span> <span class="desk-strong">{step}' in " ".join(told.split())
    assert "The search shows it" not in told


def test_words_of_several_memories_offer_each_of_them(alice: Person) -> None:
    one, other = alice.note(GATE), alice.note(f"{GATE} twice")
    told = member(alice.workspace).sees(page(), query="orchard", memory="painted gate")
    assert "2 memories have these words. Which one did you expect?" in told
    assert f"memory={one.pk}" in told
    assert f"memory={other.pk}" in told


def test_words_of_one_memory_are_answered_at_once(alice: Person) -> None:
    alice.note(GATE)
    assert "The search shows it." in member(alice.workspace).sees(page(), query="orchard gate", memory="painted gate")


def test_words_that_no_memory_has_offer_those_that_have_some(alice: Person) -> None:
    memory = alice.note(GATE)
    told = member(alice.workspace).sees(page(), query="orchard", memory="painted zebra")
    assert "No memory that you may see has all of these words." in told
    assert f"memory={memory.pk}" in told


def test_half_a_question_says_which_half_is_missing(alice: Person) -> None:
    desk = member(alice.workspace)
    assert "Which memory did you expect?" in desk.sees(page(), query="orchard")
    assert "Enter the query" in desk.sees(page(), memory="painted gate")


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


def test_what_another_agent_keeps_to_itself_falls_out_of_a_users_search(alice: Person, bob: Person) -> None:
    memory = bob.note(GATE)
    found = why(alice, memory, user_id="u1")
    assert (fell_out(found), found.steps[-1].told) == (
        "subject",
        "It is about nobody and private to bob; the search is about a user.",
    )
    assert fell_out(why(alice, memory)) == ""
