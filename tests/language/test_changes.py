"""Changes: told in two clauses, implied by an event, told by another, told late, or long over."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memories.belief.resolve import Claim, Quote
from memories.evaluation import change_stories
from memories.ingest import NewMessage
from memories.language.english.dates import event_date
from memories.language.english.reasons import ground_words, rests_on
from memories.language.english.statements import Relation, past_period, read, relation, true_from
from memories.models import (
    Case,
    Category,
    Fact,
    FactType,
    Memory,
    Source,
    Supersession,
    Visibility,
)
from memories.reading.extraction.extraction_types import Extraction
from tests.people import Person

DAY = datetime(2026, 4, 1, 9, tzinfo=UTC)


def judged(old: str, new: str) -> Relation:
    return relation(read(old), read(new), cosine=None, threshold=0.8)


def test_a_band_forbids_nothing() -> None:
    plays = "User plays the trumpet in the town band"
    assert judged(plays, "User gave up the trumpet").kind == "update"


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
    ("old", "new"),
    [
        ("User prefers working at night", "User hates working at night"),
        ("User is a big fan of rugby", "User is not a fan of rugby at all"),
    ],
)
def test_a_taste_that_is_denied_is_a_change(old: str, new: str) -> None:
    assert judged(old, new).kind in ("update", "unsure")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User's left knee hurts", "User's right knee hurts"),
        ("User has a big dog", "User has a small dog"),
        ("User takes the early train", "User takes the late train"),
        ("User likes long walks", "User likes short films"),
        ("User started yoga in May", "User stopped judo in May"),
        ("User's sister passed the exam", "User's brother failed the exam"),
        ("User plays tennis", "User hates tennis"),
        ("User reads at night", "User turns off the heating at night"),
        ("User drives a Vespa", "User left the Vespa at the station"),
    ],
)
def test_a_word_that_tells_two_things_apart_is_no_opposite(old: str, new: str) -> None:
    assert judged(old, new).kind == "different"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User works as a roofer", "User stopped working as a roofer in October 2025"),
        ("User is studying geology in Graz", "User gave up geology"),
        ("User uses Windows", "User switched to Linux"),
        ("User's boyfriend is Ruben", "Ruben left User"),
    ],
)
def test_an_end_is_heard_with_its_day_and_in_other_words(old: str, new: str) -> None:
    assert judged(old, new).kind == "update"


def test_a_day_of_the_week_that_is_given_up_ends_no_job() -> None:
    nurse = "User works as a nurse"
    assert judged(nurse, "User stopped working on Mondays in October 2025").kind == "different"


@pytest.mark.parametrize(
    ("statement", "ground", "rests"),
    [
        ("User has a garden in Narva", "User lives in Narva", True),
        ("User has practice on Mondays with the Otters", "User plays for the Otters", True),
        ("User's parking permit is for Narva", "User lives in Narva", True),
        ("User was born in Narva", "User lives in Narva", False),
        ("User's sister has a house in Narva", "User lives in Narva", False),
        ("User likes the museum in Narva", "User lives in Narva", False),
    ],
)
def test_what_one_has_in_a_place_rests_on_being_there(statement: str, ground: str, rests: bool) -> None:
    assert any(rests_on(reason, ground) for reason in ground_words(statement)) is rests


@pytest.mark.parametrize(
    ("statement", "times"),
    [
        ("In 2017 User worked at Dunmore Press", "2017-01-01 to 2018-01-01"),
        ("User lived in Tallinn from 2014 to 2018", "2014-01-01 to 2019-01-01"),
        ("User worked at a mill from July to October", "2025-07-01 to 2025-11-01"),
        ("User lived in Tartu until 3 February 2026", "? to 2026-02-04"),
        ("User's phone number was 5512 until December", "? to 2026-01-01"),
        ("User drove a Lada till the end of January", "? to 2026-02-01"),
        ("User drove a Lada until spring 2024", "? to 2024-06-01"),
        ("User used to live in Narva until 2020", "? to 2021-01-01"),
        ("User weighed 70 kg in 2019", "2019-01-01 to 2020-01-01"),
        ("User was employed at a forge between 2011 and 2014", "2011-01-01 to 2015-01-01"),
        ("User had a rowing boat until Christmas 2023", "? to 2023-12-26"),
        ("User used to have a hamster", "? to 2026-04-01"),
        ("User lives in Rome since 2015", ""),
        ("User moved to Rome in 2015", ""),
        ("User is used to living in Rome", ""),
        ("The lease was extended until May", ""),
    ],
)
def test_what_is_past_has_an_end_and_a_beginning_where_one_is_told(statement: str, times: str) -> None:
    found = past_period(read(statement), DAY)
    begin = "?" if found is None or found.begin is None else f"{found.begin:%Y-%m-%d}"
    assert (f"{begin} to {found.end:%Y-%m-%d}" if found else "") == times


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("User will start at Equinor on 1 September 2026", "2026-09-01"),
        ("User is going to move to Bergen in October 2026", "2026-10-01"),
        ("User's boss will be Ida from November 2026", "2026-11-01"),
        ("User's gym is Elixia as of June", "2026-06-01"),
        ("User's doctor is Dr Moe from 1 October", "2026-10-01"),
        ("User is getting married in December 2026", "2026-12-01"),
        ("The deadline will be 30 June 2026", ""),
        ("The choir rehearsal is on 3 June 2026", ""),
        ("User will start at Equinor soon", ""),
        ("User started at Equinor in February", ""),
    ],
)
def test_a_plan_that_names_its_day_is_true_from_then_on(text: str, day: str) -> None:
    found = true_from(read(text), event_date(text, DAY), DAY)
    assert (f"{found:%Y-%m-%d}" if found else "") == day


def test_a_reason_names_what_a_statement_rests_on() -> None:
    (because, near) = ground_words("User swims there because it is close to their flat")
    assert (because.cue, near.cue) == ("because", "near: flat")
    assert "residence" in near.slots
    (dog,) = ground_words("User gets up at six because Rex needs his walk")
    assert rests_on(dog, "User has a dog called Rex")
    assert not rests_on(dog, "User has a cat called Tom")
    assert ground_words("User has lived in Rome since 2015") == ()


@pytest.mark.parametrize(
    ("resting", "ground", "event"),
    [
        ("eats in the canteen at Bosch", "works at Bosch", "quit Bosch"),
        ("bakes scones at the stall at Bosch", "works at Bosch", "quit Bosch"),
        ("carries earplugs when they ride their moped", "owns a moped", "sold the moped"),
        (
            "keeps oars in the shed as a member of the rowing club",
            "is a member of the rowing club",
            "left the rowing club",
        ),
        ("grows beans in their garden in Moss", "rents a garden in Moss", "gave up the garden in Moss"),
        ("bakes cookies for the choir", "sings in the choir", "left the choir"),
    ],
)
def test_what_ends_a_thing_ends_nothing_that_is_only_said_beside_it(resting: str, ground: str, event: str) -> None:
    assert judged(f"User {resting}", f"User {event}").kind != "update"
    (reason, *_) = ground_words(f"User {resting}")
    assert rests_on(reason, f"User {ground}")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("works as a nurse at Bosch", "quit Bosch"),
        ("is a member of the rowing club", "left the rowing club"),
        ("takes insulin for their diabetes", "stopped taking insulin"),
        ("drinks coffee at breakfast", "gave up coffee"),
    ],
)
def test_what_a_statement_is_about_ends_with_it_wherever_it_holds(old: str, new: str) -> None:
    assert judged(f"User {old}", f"User {new}").kind == "update"


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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User is off on Wednesdays because of their physiotherapy", "User's physiotherapy is finished"),
        ("User uses Vim", "User probably switched from Vim to Emacs"),
        ("User uses Vim", "User switched from Vim to Emacs, not sure yet"),
        ("User lives in Brig", "Apparently User moved to Spiez"),
        ("User's colleague Beat lives in Thun", "Beat moved to Spiez"),
    ],
)
def test_what_may_be_over_is_asked_about(old: str, new: str) -> None:
    assert judged(old, new).kind == "unsure"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User's uncle Beat lives in Thun", "Beat moved to Spiez"),
        ("User's lodger is Piet", "User has Zora instead of Piet now"),
        ("User's roommate is Vira", "User's new roommate is Odile"),
        ("User's family chats on Skim", "User goes for Basket instead of Skim now"),
    ],
)
def test_somebody_known_by_name_and_a_role_of_one_are_told_anew(old: str, new: str) -> None:
    assert judged(old, new).kind == "update"


@pytest.mark.parametrize("role", ["friend", "child", "dog", "cat", "aunt", "uncle", "flatmate", "neighbour", "student"])
def test_a_new_friend_takes_no_friends_place(role: str) -> None:
    assert judged(f"User's {role} is Vira", f"User's new {role} is Odile").kind == "different"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The build is fixed", "The build is not fixed"),
        ("The contract is signed", "The contract is not signed"),
        ("Ada's divorce is final", "Ada's divorce is not final"),
    ],
)
def test_a_plain_denial_is_no_doubt(old: str, new: str) -> None:
    assert judged(old, new) == Relation("update", "denied")


@pytest.mark.parametrize("work", ["works", "paints signs"])
def test_what_a_son_does_for_a_living_is_no_job_of_his_mother(work: str) -> None:
    assert judged("Ada works as a nurse", f"Ada's son {work} for a living").kind == "different"


def test_who_might_be_late_ends_nothing() -> None:
    assert judged("User has a dinghy", "User might be late for the race").kind == "different"


def test_a_secret_that_a_statement_is_put_together_of_is_held() -> None:
    said = Quote(uuid4(), 0, 25, "It's Blueberry-Pancake77")
    claim = Claim(
        "User's password: Blueberry-Pancake77",
        Category.OTHER,
        FactType.FACT,
        Visibility.PRIVATE,
        Fact.Method.PATTERN,
        "answer",
        Source.EXTRACTED,
        DAY,
        quotes=(said,),
    )
    found = Extraction()
    found.add([claim])
    assert found.claims == []
    [(held, reason)] = found.quarantined
    assert ("Pancake77" in held.statement, bool(reason)) == (False, True)
