"""What weighs in a talk is its own shape: who speaks there, and how many."""

import uuid

import pytest

from memories.ingest import NewMessage
from memories.ranking import Participant, analyse, hybrid
from memories.ranking.query import voices_of
from memories.search.layer_order import by_turns
from memories.search.request import Scored
from tests.people import Person
from tests.ranking.test_ranking import CHAT, FRIENDS, candidate, ids

BOTH = ("memories", "episodes")
TEAM = [Participant(name, False, 10) for name in ("Ann", "Ben", "Cleo", "Dan", "Eve", "Finn")]
FRIENDS_TALK = (
    ("Mira", "I planted two apple trees behind the barn."),
    ("Jon", "My sister is coming over for the harvest."),
    ("Mira", "The apples will go to the cider press in Rook Lane."),
    ("Jon", "I would rather bake with them, the oven is new."),
)


def talk(person: Person, *lines: tuple[str, str], **wish: object) -> None:
    person.say(*(NewMessage(text, name=name) for name, text in lines), extract="patterns", **wish)


@pytest.mark.parametrize(("people", "voices"), [([], 0), (CHAT, 1), (FRIENDS, 2), (TEAM, 6), (CHAT[1:], 0)])
def test_voices_are_people_by_how_much_they_say(people: list[Participant], voices: float) -> None:
    assert voices_of(people) == voices


def test_somebody_who_seldom_speaks_is_hardly_a_voice() -> None:
    people = [Participant("Ann", False, 99), Participant("Ben", False, 1)]
    assert 1 < voices_of(people) < 1.05
    assert 0 < analyse("tea?", people).among < 0.1


def test_of_two_friends_the_named_one_tells_it() -> None:
    rows = [candidate(1, author="Alice"), candidate(2, author="Bob", bm25=1.5)]
    assert ids(hybrid(analyse("What does Alice drink?", FRIENDS), rows)) == [1, 2]


def test_among_many_the_named_one_is_spoken_of() -> None:
    view = analyse("What does Ann drink?", TEAM)
    assert view.terms == ("ann", "drink")
    rows = [candidate(1, author="Ann"), candidate(2, author="Ben", bm25=2.0)]
    assert ids(hybrid(view, rows)) == [2, 1]


def test_an_assistant_that_takes_notes_for_many_is_as_good_as_they_are() -> None:
    rows = [
        candidate(1, author="Ann", assistant=False),
        candidate(2, author="Scribe", assistant=True, bm25=1.1),
    ]
    assert ids(hybrid(analyse("Which bread?", [*TEAM, CHAT[1]]), rows)) == [2, 1]
    assert ids(hybrid(analyse("Which bread?", CHAT), rows)) == [1, 2]


@pytest.mark.django_db
def test_what_is_told_of_nobody_changes_nothing_for_the_talks_of_others(alice: Person) -> None:
    talk(alice, *FRIENDS_TALK, user_id="mira")
    questions = ("Where do Mira's apples go?", "Who will Jon bake for?", "What is new?")

    def own() -> list[list[str]]:
        told = {text for _, text in FRIENDS_TALK}
        return [
            [
                hit.row.content
                for hit in alice.ask(query, user_id="mira", layers=BOTH, limit=50)
                if hit.row.content in told
            ]
            for query in questions
        ]

    before = own()
    lines = [(f"Clerk {n}", f"Counter {n} closes at noon on Fridays.") for n in range(15)]
    talk(alice, *lines)
    assert own() == before
    assert all(before)


@pytest.mark.django_db
def test_who_has_no_talk_of_his_own_is_answered_from_what_is_told_of_nobody(alice: Person) -> None:
    talk(alice, *FRIENDS_TALK)
    alice.note("Likes plums", user_id="mira")
    hits = alice.ask("Where do Mira's apples go?", user_id="mira", layers=("episodes",))
    assert hits[0].scores["speaker"] > 0


@pytest.mark.django_db
def test_talks_of_two_stay_talks_of_two_in_a_workspace_of_many(alice: Person) -> None:
    for pair in ("ab", "cd", "ef", "gh"):
        lines = [(f"{pair[n % 2]}{pair}ena", text) for n, (_, text) in enumerate(FRIENDS_TALK)]
        talk(alice, *lines, user_id=pair)
    hits = alice.ask("Where do aabena's apples go?", layers=("episodes",))
    assert max(hit.scores.get("speaker", 0) for hit in hits) > 0.15
    assert all("role" not in hit.scores for hit in hits)


@pytest.mark.django_db
@pytest.mark.parametrize("ranking", ["hybrid", "keyword"])
def test_a_text_that_is_told_again_is_one_hit(alice: Person, ranking: str) -> None:
    same = "The review changes nothing in the approved budget."
    talk(alice, *[("Ann", same)] * 4, ("Ben", "The approved budget is 4,000 EUR."), user_id="team")
    hits = alice.ask("approved budget after the review", user_id="team", layers=BOTH, limit=3, ranking=ranking)
    assert sum(hit.row.content == same for hit in hits) == 1
    assert any("4,000" in one.row.content for hit in hits for one in (hit, *hit.echoes))
    repeats = [one.row.content for hit in hits for one in hit.echoes if one.episode]
    assert same in repeats


def scored(name: str, layer: str = "episodes", *echoes: Scored) -> Scored:
    return Scored(layer, 1, uuid.uuid5(uuid.NAMESPACE_OID, name), 0.5, {}, echoes=echoes)


def test_rankings_that_take_turns_lose_nothing_that_one_of_them_shows_beside_a_hit() -> None:
    first = [scored("message")]
    last = [scored("belief", "memories", scored("message"), scored("older")), scored("other")]
    turns = by_turns([first, last])
    assert [one.item for one in turns] == [scored("belief").item, scored("other").item]
    assert [echo.item for echo in turns[0].echoes] == [scored("message").item, scored("older").item]


def test_rankings_that_take_turns_show_each_thing_once() -> None:
    first = [scored("belief", "memories", scored("message"))]
    last = [scored("message", "episodes", scored("other")), scored("belief", "memories")]
    turns = by_turns([first, last])
    items = [each.item for one in turns for each in (one, *one.echoes)]
    assert sorted(items) == sorted({scored(name).item for name in ("belief", "message", "other")})


@pytest.mark.django_db
def test_words_alone_find_a_message_before_what_was_read_out_of_another(alice: Person) -> None:
    talk(alice, ("Mira", "I live in Rook Lane."), user_id="mira")
    talk(alice, ("Mira", "My address for the cider press in Rook Lane is number nine."), user_id="mira")
    hits = alice.ask("cider press Rook Lane", user_id="mira", layers=BOTH, ranking="keyword")
    assert "number nine" in hits[0].row.content
    assert hits[0].score == 1
