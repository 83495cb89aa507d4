"""What search finds, and for whom."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from memories.belief import review
from memories.belief.review import forget
from memories.errors import Forbidden, Invalid
from memories.index import workspace_index
from memories.ingest import NewMessage
from memories.models import Episode, Memory
from memories.ranking import analyse
from memories.search import SearchRequest, collapse, filters
from memories.search.rank import depth_of
from tests.people import Person, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject

GATE, DUCKS = "The orchard gate is painted green", "Ducks sleep behind the cider press"
RANKINGS = ("hybrid", "linea", "vector", "keyword")


@pytest.mark.parametrize("ranking", RANKINGS)
def test_the_memory_that_says_it_comes_first(alice: Person, ranking: str) -> None:
    alice.tell(GATE)
    alice.tell(DUCKS)
    hits = alice.ask("orchard gate", ranking=ranking)
    assert hits[0].memory.content == GATE
    assert all(0 <= hit.score <= 1 for hit in hits if ranking != "linea")


def test_linea_adds_to_the_cosine_where_the_whole_query_stands_in_the_text(alice: Person) -> None:
    alice.tell(GATE)
    both = alice.ask("Orchard Gate", ranking="linea")[0]
    assert both.score == pytest.approx(both.scores["vector"] + 0.2)
    alone = alice.ask("gate orchard", ranking="linea")[0]
    assert alone.score == pytest.approx(alone.scores["vector"])


@pytest.mark.parametrize("ranking", ["vector", "hybrid", "keyword"])
def test_as_many_are_found_as_are_asked_for(alice: Person, ranking: str) -> None:
    for number in range(55):
        alice.note(f"Gate {number} of the orchard is green")
    assert len(alice.ask("green gate of the orchard", ranking=ranking, limit=50)) == 50


def test_the_newest_are_looked_at_for_a_turn_and_not_for_a_few_words(alice: Person) -> None:
    def looks_at_newest(query: str) -> bool:
        space = workspace_index.index_of(alice.workspace.pk)
        return depth_of(space, SearchRequest(query), analyse(query)).newest

    assert not looks_at_newest("who painted the orchard gate green with the neighbours?")
    assert not looks_at_newest("gate orchard green paint ducks")
    assert looks_at_newest("I went on and painted the other gate of the orchard as well")


def test_what_was_told_once_and_for_all_is_found_where_help_is_asked_for(alice: Person) -> None:
    """Whatever its words are; not what others told, and not where the past is asked for."""
    alice.say("Never use red pens.", user_id="ada", extract="none")
    alice.say("Always write in green ink.", user_id="bea", extract="none")
    boats = [f"The boat at pier {n} sails the harbour." for n in range(130)]
    alice.say("I moor a boat by two ropes.", *boats, user_id="ada", extract="none")
    ada: dict[str, Any] = {"user_id": "ada", "layers": ("episodes",), "limit": 20}
    found = alice.finds("How do I moor a boat by ropes?", **ada)
    assert "Never use red pens." in found[:5]
    assert "Always write in green ink." not in found
    assert "Never use red pens." not in alice.finds("How did I moor a boat by ropes?", **ada)


def test_wildcards_of_a_query_are_plain_characters(alice: Person) -> None:
    alice.tell("Growth was 100% this year")
    alice.tell(GATE)
    found = [hit for hit in alice.ask("100%", ranking="linea") if hit.scores["keyword"]]
    assert [hit.memory.content for hit in found] == ["Growth was 100% this year"]
    assert not any(hit.scores["keyword"] for hit in alice.ask("%", ranking="linea")[1:])


@pytest.mark.parametrize("ranking", RANKINGS)
def test_forgotten_memory_is_not_found(alice: Person, ranking: str) -> None:
    alice.tell(GATE)
    forget(alice.scope, Memory.objects.get().pk)
    assert alice.finds("orchard gate", ranking=ranking) == []


@pytest.mark.parametrize("ranking", RANKINGS)
def test_nothing_of_another_workspace_is_found(alice: Person, mallory: Person, ranking: str) -> None:
    alice.tell(GATE, visibility="global")
    layers = ("memories", "episodes")
    assert mallory.finds("orchard gate", ranking=ranking, layers=layers) == []


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize(
    ("visibility", "seers"),
    [("private", {"alice", "dora"}), ("team", {"alice", "bob", "dora"}), ("global", None)],
)
def test_visibility_decides_which_agent_finds_it(
    alice: Person, bob: Person, carol: Person, ranking: str, visibility: str, seers: set[str] | None
) -> None:
    alice.tell(GATE, agent_id="dora", visibility=visibility)
    asked = {
        "alice": alice.finds("orchard gate", ranking=ranking),
        "bob": bob.finds("orchard gate", ranking=ranking),
        "carol": carol.finds("orchard gate", ranking=ranking),
        "dora": alice.finds("orchard gate", ranking=ranking, agent_id="dora"),
    }
    assert {name for name, found in asked.items() if found} == (seers or set(asked))


def test_a_user_finds_what_is_about_them_or_about_nobody(alice: Person) -> None:
    for user in ("ada", "", "eve"):
        alice.tell(f"{GATE} for {user or 'all'}", user_id=user)
    found = alice.finds("orchard gate", user_id="ada")
    assert sorted(found) == [f"{GATE} for ada", f"{GATE} for all"]
    assert len(alice.finds("orchard gate")) == 3
    assert alice.finds("orchard gate", user_id="stranger") == [f"{GATE} for all"]


def test_a_thread_adds_its_own_memories(alice: Person) -> None:
    alice.tell(f"{GATE} for all")
    alice.tell(f"{GATE} here", scope="thread", thread_id="t")
    alice.tell(f"{GATE} there", scope="thread", thread_id="s")
    assert alice.finds("orchard gate") == [f"{GATE} for all"]
    found = alice.finds("orchard gate", thread_id="t")
    assert sorted(found) == [f"{GATE} for all", f"{GATE} here"]
    assert len(alice.finds("orchard gate", memory_scope="thread")) == 2


def test_a_key_limited_to_subjects_finds_what_is_about_them_only(alice: Person) -> None:
    for user in ("ada", "eve", ""):
        alice.tell(GATE, user_id=user)
    ada = Subject.objects.get(external_id="ada")
    narrow = with_key(alice.workspace, KeyOptions("narrow", subjects=(ada,)))
    assert len(narrow.ask("orchard gate")) == 1
    assert narrow.ask("orchard gate", user_id="eve") == []


def test_a_bound_key_cannot_ask_as_another_agent(bob: Person) -> None:
    with pytest.raises(Forbidden):
        bob.ask("orchard gate", agent_id="carol")


def test_quotes_follow_their_episodes(alice: Person, bob: Person) -> None:
    alice.tell(GATE, agent_id="dora", visibility="team")
    include = frozenset({"citations"})
    assert [c.quote for c in alice.ask("gate", include=include)[0].citations or []] == [GATE]
    assert bob.ask("gate", include=include)[0].citations == []


def test_episodes_are_a_layer_of_their_own(alice: Person, bob: Person) -> None:
    alice.say(NewMessage("Which gate is green?", id="7", name="Ada"), thread_id="t")
    hit = alice.ask("gate", layers=("episodes",))[0]
    assert (hit.layer, hit.episode.external_id, hit.episode.thread_external) == (
        "episodes",
        "7",
        "t",
    )
    assert bob.ask("gate", layers=("episodes",)) == []


def test_a_hit_can_show_its_chain(alice: Person) -> None:
    memory = alice.note(GATE)
    review.edit(alice.scope, memory.pk, {"content": DUCKS})
    hit = alice.ask("ducks", include=frozenset({"chain"}))[0]
    assert [link.memory.content for link in hit.chain or []] == [GATE, DUCKS]


def test_the_filter_narrows_by_own_fields_and_by_metadata(alice: Person) -> None:
    alice.tell(GATE, metadata={"a": 1})
    alice.say(NewMessage(DUCKS, metadata={"floor": 3}), extract="none")

    def found(**condition: object) -> list[str]:
        tree = filters.parse(condition, ("memories",))
        return alice.finds("gate ducks", filter=tree)

    assert found(field="metadata.floor", op="gte", value=3) == [DUCKS]
    assert found(field="metadata.floor", op="lt", value=3) == []
    assert found(field="content", op="contains", value="PRESS") == [DUCKS]
    assert found(**{"not": {"field": "metadata.floor", "op": "exists"}}) == [GATE]
    both = [{"field": "category", "value": c} for c in ("other", "plan")]
    assert len(found(**{"or": both})) == 2


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ([], "filter"),
        ({"field": "secret"}, "filter.field"),
        ({"field": "version", "op": "like", "value": 1}, "filter.op"),
        ({"field": "version", "op": "eq", "value": "one"}, "filter.value"),
        ({"and": [{"field": "createdAt", "op": "gt", "value": "soon"}]}, "filter.and[0].value"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(raw: object, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        filters.parse(raw, ("memories",))
    assert caught.value.field == field


@pytest.mark.parametrize("ranking", RANKINGS)
def test_what_has_expired_leaves_its_place_to_the_next(alice: Person, ranking: str) -> None:
    texts = (GATE, DUCKS, "Bread is baked at dawn", "Trains leave hourly from Porto")
    for text in texts:
        alice.note(f"The harbour inn: {text}")
    first, *others = alice.ask("harbour inn", ranking=ranking, limit=4)
    passed = timezone.now() - timedelta(days=1)
    Memory.objects.filter(pk=first.memory.id).update(forget_after=passed)
    found = {hit.memory.id for hit in alice.ask("harbour inn", ranking=ranking, limit=3)}
    assert found == {hit.memory.id for hit in others}
    assert len(found) == 3


def test_what_replaced_the_belief_of_a_message_comes_before_it(alice: Person) -> None:
    both = ("memories", "episodes")
    alice.say("I live in Oslo.", user_id="ada")
    alice.say("I live in Bergen now.", "I live in Rome now.", user_id="ada")
    said = alice.finds("I live in Oslo.", layers=both)
    assert said.index("User lives in Rome now") < said.index("I live in Oslo.")
    assert "User lives in Bergen now" not in said


def test_a_chain_that_stands_on_one_message_is_passed_once(alice: Person) -> None:
    changes = 60
    alice.say(" ".join(f"I live in Oslo{n}." for n in range(changes)), user_id="ada")
    assert Memory.objects.count() == changes
    values = {"ids": list(Episode.objects.values_list("pk", flat=True))}
    with connection.cursor() as cursor:
        # Of so few rows the planner may know anything.
        cursor.execute("analyze memories_memory, memories_fact, memories_citation")
        cursor.execute(f"explain (analyze, format json) {collapse.REPLACED}", values)
        plans = [cursor.fetchone()[0][0]["Plan"]]
    walked = []  # the walk, its steps and its readers, however the planner joins them
    for plan in plans:
        if plan["Node Type"] in ("Recursive Union", "WorkTable Scan", "CTE Scan"):
            walked.append(plan["Actual Rows"] * plan["Actual Loops"])
        plans += plan.get("Plans", [])
    assert len(walked) >= 3
    assert max(walked) <= 2 * changes
