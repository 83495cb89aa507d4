"""Changes: told in two clauses, implied by an event, told by another, told late, or long over."""

from datetime import UTC, datetime

import pytest

from memories.english import find_claims
from memories.english.reasons import ground_words, rests_on
from memories.english.statements import Relation, is_life_event, read, relation, true_until
from memories.english.statements.implied_ends import IMPLIED_ENDS, LIFE, ImpliedEnd
from memories.evaluation import change_stories
from memories.ingest import NewMessage
from memories.models import Case, Memory, Supersession
from tests.people import Person

DAY = datetime(2026, 4, 1, 9, tzinfo=UTC)


def judged(old: str, new: str) -> Relation:
    return relation(read(old), read(new), cosine=None, threshold=0.8)


def told(text: str) -> list[str]:
    return [found.statement for found in find_claims.extract(text, "User", DAY)]


@pytest.mark.parametrize("event", IMPLIED_ENDS, ids=lambda event: event.name)
def test_an_event_ends_what_its_examples_say_and_nothing_else(event: ImpliedEnd) -> None:
    for old, new in event.examples:
        assert judged(old, new).kind in ("update", "unsure"), (old, new)
    for old, new in event.counter_examples:
        assert judged(old, new).kind == "different", (old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User reports on Slack, not by email", "User reports on Teams, not on Slack"),
        ("User eats fish, not meat", "User eats meat, not fish"),
        ("Use tabs rather than spaces", "Use spaces rather than tabs"),
        ("User prefers a window seat on flights", "User prefers an aisle seat, not a window seat"),
    ],
)
def test_the_opposite_is_never_the_same(old: str, new: str) -> None:
    assert judged(old, new).kind == "update"


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I no longer drive a Volvo, it's a Skoda now.", "User drives a Skoda now"),
        ("Our project isn't called Kestrel any longer, it's called Merlin.",
         "User's project is called Merlin"),
        ("I used to commute by bus. Now I commute by bike.", "User commutes by bike now"),
        ("I no longer get up at six, I get up at five.", "User gets up at five"),
    ],
)  # fmt: skip
def test_a_clause_takes_from_the_other_what_it_leaves_out(text: str, statement: str) -> None:
    assert statement in told(text)


@pytest.mark.parametrize(
    "text",
    ["I don't cycle to work any more, it's too far.", "I'm not in Rome any more; it's cold here."],
)
def test_what_gives_a_reason_is_no_new_value(text: str) -> None:
    assert not [each for each in told(text) if each.startswith(("User cycles", "User is cold"))]


@pytest.mark.parametrize(
    ("statement", "until"),
    [
        ("In 2017 User worked at Dunmore Press", "2018-01-01"),
        ("User lived in Tallinn from 2014 to 2018", "2019-01-01"),
        ("User used to have a hamster", "2026-04-01"),
        ("User lives in Rome since 2015", None),
        ("User moved to Rome in 2015", None),
        ("User is used to living in Rome", None),
    ],
)
def test_what_is_past_has_an_end(statement: str, until: str | None) -> None:
    found = true_until(read(statement), DAY)
    assert (found and f"{found:%Y-%m-%d}") == until


def test_a_reason_names_what_a_statement_rests_on() -> None:
    (because, near) = ground_words("User swims there because it is close to their flat")
    assert (because.cue, near.cue) == ("because", "near: flat")
    assert "residence" in near.slots
    (dog,) = ground_words("User gets up at six because Rex needs his walk")
    assert rests_on(dog, "User has a dog called Rex")
    assert not rests_on(dog, "User has a cat called Tom")
    assert ground_words("User has lived in Rome since 2015") == ()


def test_a_bystander_is_asked_about_and_replaces_nothing(alice: Person) -> None:
    alice.say(NewMessage("I live in Aarhus.", name="Mette"), user_id="u1")
    alice.say(NewMessage("Mette lives in Odense now.", name="Kai"), user_id="u1")
    contents = set(Memory.objects.live().values_list("content", flat=True))
    assert {"Mette lives in Aarhus", "Mette lives in Odense now"} <= contents
    (pair,) = Supersession.objects.all()
    assert (pair.state, pair.rule) == ("pending", "bystander: slot:residence")
    assert Case.objects.undecided().get().attribute == "residence"


def test_whoever_speaks_of_himself_replaces_what_others_said(alice: Person) -> None:
    alice.say(NewMessage("Mette lives in Aarhus.", name="Kai"), user_id="u1")
    alice.say(NewMessage("I live in Odense now.", name="Mette"), user_id="u1")
    assert Supersession.objects.get().state == "applied"


def test_the_own_stories_are_told_as_their_kinds_say() -> None:
    stories = change_stories.stories(change_stories.CHANGES)
    assert len(stories) > 180
    assert {story.kind for story in stories} == set(change_stories.KINDS)


def test_what_changes_a_life_is_told_by_rows_of_the_table() -> None:
    assert {event.name for event in IMPLIED_ENDS} >= LIFE
    assert is_life_event("User got laid off yesterday")
    assert is_life_event("User's wife gave birth to a boy")
    assert not is_life_event("User got a new rug yesterday")
