"""Where memories and episodes are searched together: one hit for what says the same."""

from uuid import UUID

from memories import search
from memories.belief import review
from memories.models import Memory
from memories.search import Hit, SearchRequest
from memories.search.collapse import collapsed_into
from memories.search.context import Context, context
from memories.search.request import Scored
from tests.api_fixtures import caller
from tests.people import Person

BOTH = ("memories", "episodes")
TWO = "I moved to Lisbon in May, and I work as a nurse."


def hits(person: Person, query: str, **wish: object) -> list[Hit]:
    return person.ask(query, layers=BOTH, **wish)


def pack(person: Person, query: str, tokens: int = 1000) -> Context:
    return context(person.scope, SearchRequest(query, layers=BOTH), tokens)


def correct(person: Person, old: str, new: str) -> Memory:
    memory = Memory.objects.visible_to(person.scope).live().get(content__contains=old)
    return review.edit(person.scope, memory.pk, {"content": new})


def told(hit: Hit) -> set[str]:
    return {row.row.content for row in (hit, *hit.echoes)}


def test_a_belief_that_answers_leads_the_words_that_it_stands_on(alice: Person) -> None:
    alice.say(TWO, user_id="ada")
    alice.say("The weather is fine today.", user_id="ada")
    first = hits(alice, "work as a nurse")[0]
    assert (first.layer, "nurse" in first.memory.content) == ("memories", True)
    assert TWO in told(first)


def test_no_memory_of_a_message_is_lost(alice: Person) -> None:
    alice.say(TWO)
    assert {*alice.live(), TWO} == told(hits(alice, "Lisbon nurse")[0])


def test_what_was_folded_in_has_no_place_of_its_own(alice: Person) -> None:
    alice.say(TWO)
    (only,) = hits(alice, "Lisbon nurse")
    assert len(only.echoes) == 2


def test_the_route_gives_the_folded_with_id_category_and_citations(alice: Person) -> None:
    alice.say(TWO)
    wish = {"query": "Lisbon nurse", "layers": list(BOTH), "include": ["citations"]}
    (hit,) = caller(alice).post("/memories/search", wish).body["results"]
    rows = [one["memory"] for one in (hit, *hit["echoes"]) if "memory" in one]
    assert {row["id"] for row in rows} == {str(pk) for pk in ids_of(alice)}
    assert all(one["citations"] for one in (hit, *hit["echoes"]) if "memory" in one)


def ids_of(person: Person) -> list[UUID]:
    return list(Memory.objects.visible_to(person.scope).live().values_list("pk", flat=True))


def test_what_it_was_folded_into_can_be_asked() -> None:
    echo = Scored("episodes", 1, UUID(int=1), 0.5, {})
    hit = Scored("memories", 2, UUID(int=2), 0.5, {}, echoes=(echo,))
    assert collapsed_into([hit]) == {echo.item: hit}


def test_words_of_a_replaced_belief_stand_below_what_replaced_it(alice: Person) -> None:
    alice.say("I moved to Lisbon last year.", "I like green tea.", "My sister lives in Faro.")
    correct(alice, "Lisbon", "The user moved to Porto last year")
    found = [hit.row.content for hit in hits(alice, "where did the user move last year?")]
    porto = found.index("The user moved to Porto last year")
    assert found.index("I moved to Lisbon last year.") == porto + 1


def test_an_outsider_sees_no_successor(alice: Person, mallory: Person) -> None:
    alice.say("I moved to Lisbon last year.")
    correct(alice, "Lisbon", "The user moved to Porto last year")
    assert search.search(mallory.scope, SearchRequest("move", layers=BOTH)).hits == []


def test_all_beliefs_of_a_message_are_told_in_a_context(alice: Person) -> None:
    alice.say(TWO)
    assert sorted(pack(alice, "the user moved to Lisbon in May").memory_ids) == sorted(ids_of(alice))


def test_a_corrected_belief_is_the_newest_of_a_context(alice: Person) -> None:
    alice.say("I moved to Oslo in 2019.", "My brother moved to Rome in 2021.")
    newest = correct(alice, "Oslo", "The user moved to Bergen in 2019")
    found = pack(alice, "who moved where?")
    assert found.hits[0].row.id == newest.pk
    assert f"[m1] {newest.created_at:%Y-%m-%d}, from 2019-01-01: The user" in found.text
