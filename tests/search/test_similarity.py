"""How near a hit is, on one scale for all questions; and how sure an answer is."""

from datetime import UTC, datetime

import pytest

from memories.ingest import NewMessage
from memories.models import EmbeddingModel
from memories.search import SearchRequest, search
from memories.search.confidence import similarity_of
from tests.api_fixtures import caller
from tests.people import Person

MODEL = EmbeddingModel(duplicate_threshold=0.88, search_floor=0.23)
BOTH = ("memories", "episodes")


def test_the_floor_of_a_model_is_even_and_what_says_the_same_is_sure() -> None:
    assert similarity_of(0.23, MODEL) == pytest.approx(0.5)
    assert similarity_of(0.88, MODEL) == pytest.approx(0.99)
    assert similarity_of(None, MODEL) is None
    assert similarity_of(0.5, None) is None


def test_models_of_one_meaning_at_other_cosines_are_as_similar() -> None:
    wide = EmbeddingModel(duplicate_threshold=0.95, search_floor=0.75)
    assert similarity_of(0.85, wide) == pytest.approx(similarity_of(0.555, MODEL))


@pytest.mark.django_db
class TestAsked:
    @pytest.fixture(autouse=True)
    def told(self, alice: Person) -> None:
        for text in ("I keep three grey geese behind the mill", "My brother repairs organs"):
            alice.say(text, user_id="ada")

    @pytest.mark.parametrize("ranking", ["hybrid", "linea", "vector", "keyword"])
    def test_each_hit_says_how_near_it_is(self, alice: Person, ranking: str) -> None:
        wish = {"query": "geese behind the mill", "layers": list(BOTH), "ranking": ranking}
        hits = caller(alice).post("/memories/search", wish).body["results"]
        assert hits[0]["similarity"] > 0.7
        rows = [one for hit in hits for one in (hit, *hit.get("echoes", ()))]
        assert all(0 <= one["similarity"] <= 1 for one in rows)

    def test_what_is_further_off_is_left_out(self, alice: Person) -> None:
        query = "geese behind the mill"
        all_hits = alice.ask(query, layers=BOTH)
        near = alice.ask(query, layers=BOTH, min_similarity=0.7)
        assert [hit.row.id for hit in near] == [hit.row.id for hit in all_hits if hit.similarity >= 0.7]
        assert 0 < len(near) < len(all_hits)
        assert alice.ask(query, layers=BOTH, min_similarity=1) == []

    def test_without_vectors_the_words_of_the_query_count(self, alice: Person) -> None:
        [hit] = alice.ask("geese at the lake", layers=("episodes",), ranking="keyword")
        assert hit.similarity == pytest.approx(5 / 9, abs=0.06)
        assert not alice.ask("geese at the lake", layers=("episodes",), ranking="keyword", min_similarity=0.9)

    def test_a_similarity_that_is_none_is_refused(self, alice: Person) -> None:
        wish = {"query": "geese", "minSimilarity": 1.5}
        answer = caller(alice).post("/memories/search", wish)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "minSimilarity")

    @pytest.mark.parametrize("door", ["search", "context"])
    def test_a_query_of_nothing_but_spaces_is_refused(self, alice: Person, door: str) -> None:
        answer = caller(alice).post(f"/memories/{door}", {"query": " \n\t "})
        fault = answer.body["errors"][0]
        assert (answer.status, fault["field"], fault["code"]) == (400, "query", "blank")

    def test_who_asks_for_what_was_told_is_answered_more_surely(self, alice: Person) -> None:
        sure, unsure, foreign = (
            search(alice.scope, SearchRequest(query, layers=BOTH, limit=1)).confidence
            for query in ("Who repairs organs?", "Who repairs bicycles?", "Which reactor melted?")
        )
        assert sure > unsure > foreign

    def test_of_whom_it_is_told_counts(self, alice: Person) -> None:
        lines = {"Mira": "I paint the old mill in the evening", "Jon": "I fish at the weir"}
        for name, text in lines.items():
            alice.note(f"{name} {text[2:]}", user_id=name)
        asked = (f"What does {name} paint at the old mill?" for name in lines)
        hers, his = (search(alice.scope, SearchRequest(q, limit=2)).confidence for q in asked)
        assert hers > his

    def test_words_count_without_their_accents(self, alice: Person) -> None:
        alice.note("The baker runs the Café Zürich")
        asked = ("Who runs the Cafe Zurich?", "Who runs the Inn Geneva?")
        known, unknown = (search(alice.scope, SearchRequest(q)).confidence for q in asked)
        assert known > unknown

    def test_a_name_alone_asks_for_what_they_told(self, alice: Person) -> None:
        alice.note("Mira paints the old mill", user_id="m")
        assert search(alice.scope, SearchRequest("Mira?", limit=1)).confidence > 0.5

    @pytest.mark.parametrize("role", ["user", "Customer"])
    def test_a_role_is_nobody_who_could_be_named(self, alice: Person, role: str) -> None:
        for name in (role, "Gustav"):
            alice.say(NewMessage("The weir needs new boards", name=name), user_id=name)
        asked = (
            SearchRequest(f"Which login did the {name} have?", user_id=name, layers=("episodes",))
            for name in (role, "Gustav")
        )
        of_a_role, of_gustav = (search(alice.scope, request).confidence for request in asked)
        assert of_a_role < of_gustav / 2


@pytest.mark.django_db
def test_nothing_was_told_so_nothing_is_sure(alice: Person) -> None:
    assert search(alice.scope, SearchRequest("geese")).confidence == 0


@pytest.mark.django_db
class TestManyThingsToldOfOneself:
    FACTS = (
        "I keep eleven hives behind the old dairy",
        "My sister Runa studies geology in Graz",
        "I drive a green Niva",
        "I can't stand coriander",
        "I play the tuba in the fire brigade",
        "I broke my left wrist on the barn ladder",
        "I paid 320 euros for the extractor",
        "The vet comes every second Thursday",
        "Our roof leaks above the pantry",
        "I learned to weld last winter",
    )
    QUESTIONS = (
        ("How many hives are there?", "eleven"),
        ("What does Runa study?", "geology"),
        ("Which car do I drive?", "Niva"),
        ("What did I break?", "wrist"),
        ("How much was the extractor?", "320"),
        ("Where does the roof leak?", "pantry"),
    )

    @pytest.fixture(autouse=True)
    def told(self, alice: Person) -> None:
        for round_ in range(4):  # and much that has to do with none of it
            for text in self.FACTS if not round_ else ("The tram was late", "It rained all day"):
                alice.say(f"{text}{'' if not round_ else f' on day {round_}'}.", user_id="ada")

    @pytest.mark.parametrize(("query", "word"), QUESTIONS)
    def test_one_message_that_answers_is_enough(self, alice: Person, query: str, word: str) -> None:
        answer = caller(alice).post("/memories/context", {"query": query, "userId": "ada"}).body
        assert word in answer["text"]
        off = {"query": "Who painted the ceiling of the chapel?", "userId": "ada"}
        assert answer["confidence"] > caller(alice).post("/memories/context", off).body["confidence"]

    @pytest.mark.parametrize(("query", "word"), QUESTIONS)
    def test_notices_about_nobody_do_not_make_it_less_sure(self, alice: Person, query: str, word: str) -> None:
        for number in range(15):
            alice.say(f"Room {number} gets a new carpet, please clear your desks.", thread_id="n")
        answer = caller(alice).post("/memories/context", {"query": query, "userId": "ada"}).body
        assert word in answer["text"]

    def test_what_is_of_the_day_that_was_asked_for_is_an_answer(self, alice: Person) -> None:
        alice.say(
            NewMessage("We sold out by nine.", created_at=datetime(2026, 2, 14, 9, tzinfo=UTC)),
            user_id="ada",
        )
        wish = {"query": "What happened on 14 February 2026?", "userId": "ada"}
        assert "sold out" in caller(alice).post("/memories/context", wish).body["text"]

    def test_what_lies_before_the_date_that_was_asked_for_is_an_answer(self, alice: Person) -> None:
        at = datetime(2026, 2, 14, 9, tzinfo=UTC)
        alice.say(NewMessage("We sold out by nine.", created_at=at), user_id="ada")
        wish = {"query": "What happened before 20 February 2026?", "userId": "ada"}
        assert "sold out" in caller(alice).post("/memories/context", wish).body["text"]
