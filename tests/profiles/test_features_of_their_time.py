"""Features asked `validAt`: what held then, told in time or late, and never what was taken back."""

from datetime import UTC, datetime
from itertools import product

import pytest
from django.utils import timezone

from memories.belief import review
from memories.errors import Conflict
from memories.ingest import NewMessage
from memories.models import AsOf, EmbeddingModel, Episode, Feature, FeatureChange, Memory
from memories.profiles.features import edit_features, undo_features
from memories.profiles.features.consolidate import consolidate
from memories.profiles.features.set_queue import discover_sets, unmark
from memories.profiles.features.update import update_now
from memories.profiles.profile import ProfileOptions, profile
from tests.people import Person
from workspaces.models import Subject

Told = tuple[str, str]  # the day, and what was said


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(hour=12, tzinfo=UTC)


def take_in(person: Person) -> None:
    discover_sets()
    update_now(person.scope, "user:ada")


def told(person: Person, *said: Told, at_once: bool = False) -> None:
    """`at_once`: all is taken in together, when the last was said."""
    for at, text in said:
        person.say(NewMessage(text, name="Ada", created_at=day(at)), user_id="ada")
        if not at_once:
            take_in(person)
    take_in(person)


def values(person: Person, at: str | None = None, known: datetime | None = None) -> set[str]:
    """By the profile; search finds the same."""
    then = AsOf(day(at) if at else None, known)
    wish = ProfileOptions(Subject.objects.get(external_id="ada").pk, then)
    said = {one.feature.value for one in profile(person.scope, wish).features}
    wanted = {"layers": ("features",), "user_id": "ada", "limit": 100, "at": then}
    assert {hit.feature.value for hit in person.ask("home", **wanted)} == said
    return said


MOVED = (("2026-02-01", "I live in Lisbon."), ("2026-06-01", "I moved to Porto."))
STORIES: dict[str, tuple[tuple[Told, ...], dict[str | None, set[str]]]] = {
    "who moved lived elsewhere before": (
        MOVED,
        {"2026-01-01": set(), "2026-03-01": {"Lisbon"}, "2026-07-01": {"Porto"}},
    ),
    "who changed jobs worked elsewhere before": (
        (("2026-01-10", "I work at Siemens."), ("2026-05-10", "I now work at Bosch.")),
        {"2026-02-01": {"Siemens"}, "2026-06-01": {"Bosch"}, None: {"Bosch"}},
    ),
    "a diet holds until it is given up": (
        (("2026-04-10", "I am vegan."), ("2026-08-10", "I stopped being vegan.")),
        {"2026-05-01": {"vegan"}, "2026-09-01": set(), None: set()},
    ),
    "what was sold is had no more": (
        (("2026-02-01", "My car is a Skoda."), ("2026-05-01", "I sold my Skoda.")),
        {"2026-03-01": {"Skoda"}},
    ),
    "a home of the past is one of then": (
        (("2026-06-01", "I live in Oslo."), ("2026-07-01", "From 2019 to 2021 I lived in Berlin.")),
        {"2020-06-01": {"lived in Berlin from 2019 to 2021"}, "2023-06-01": set(), "2026-08-01": {"Oslo"}},
    ),
    "a job of the past is one of then": (
        (("2026-06-01", "I work at Nokia."), ("2026-06-02", "I worked at Ericsson until May 2024.")),
        {"2024-01-01": {"worked at Ericsson until May 2024"}, "2026-07-01": {"Nokia"}, None: {"Nokia"}},
    ),
    "told late, a home lies between two others": (
        (
            ("2026-01-01", "I live in Lisbon."),
            ("2026-06-01", "I live in Porto now."),
            ("2026-03-01", "I live in Faro now."),
        ),
        {"2026-02-01": {"Lisbon"}, "2026-04-01": {"Faro"}, "2026-07-01": {"Porto"}, None: {"Porto"}},
    ),
    "told late, a home lies between the first two of three": (
        (
            ("2026-01-01", "I live in Lisbon."),
            ("2026-06-01", "I live in Porto now."),
            ("2026-09-01", "I live in Rome now."),
            ("2026-03-01", "I live in Faro now."),
        ),
        {
            "2026-02-01": {"Lisbon"},
            "2026-04-01": {"Faro"},
            "2026-07-01": {"Porto"},
            "2026-10-01": {"Rome"},
            None: {"Rome"},
        },
    ),
    "where one has lived since a year one lived then": (
        (("2026-06-01", "I have lived in Turin since 2018."),),
        {"2020-01-01": {"has lived in Turin since 2018"}, "2017-01-01": set()},
    ),
    "a plan that came true ended what it replaced": (
        (("2026-08-01", "I live in Graz."), ("2026-09-01", "I will move to Vienna on 1 October 2026.")),
        {"2026-09-15": {"Graz"}, "2026-10-15": {"Vienna"}},
    ),
    "a plan that was called off ends nothing": (
        (
            ("2026-08-01", "I live in Graz."),
            ("2026-09-01", "I will move to Vienna on 1 December 2099."),
            ("2026-09-20", "I am not moving to Vienna after all."),
        ),
        {"2099-12-15": {"Graz"}, None: {"Graz"}},
    ),
    "who married is single no more": (
        (("2026-01-10", "I am single."), ("2026-05-10", "I got married in May.")),
        {"2026-02-01": {"single"}, None: {"married"}},
    ),
    "who is dating somebody is single no more": (
        (("2026-01-10", "I am single."), ("2026-05-10", "I am dating Kim.")),
        {"2026-02-01": {"single"}, None: {"dating", "Kim"}},
    ),
    "what was never so was not so then": (
        (
            ("2026-03-01", "I live in Bern."),
            ("2026-04-01", "That was wrong, I never lived in Bern."),
            ("2026-04-02", "I live in Basel."),
        ),
        {"2026-03-15": set(), None: {"Basel"}},
    ),
}


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("at_once", [False, True])
def test_what_held_on_a_day_is_told_of_it(alice: Person, story: str, at_once: bool) -> None:
    said, then = STORIES[story]
    told(alice, *said, at_once=at_once)
    assert {at: values(alice, at) for at in then} == then


@pytest.mark.parametrize(
    ("text", "diet"),
    [("My diet is vegetarian.", "vegetarian"), ("I am on a keto diet.", "keto")],
)
def test_a_diet_in_other_words_takes_the_place_of_the_one_before(alice: Person, text: str, diet: str) -> None:
    told(alice, ("2026-01-10", "I am vegan."), ("2026-05-10", text))
    assert values(alice, "2026-02-01") == {"vegan"}
    assert values(alice) == {diet}


def test_what_was_told_late_was_not_known_before(alice: Person) -> None:
    told(alice, ("2026-01-01", "I live in Lisbon."), ("2026-06-01", "I live in Porto now."))
    before = timezone.now()
    told(alice, ("2026-03-01", "I live in Faro now."))
    assert values(alice, "2026-04-01", before) == {"Lisbon"}
    assert values(alice, "2026-04-01") == {"Faro"}
    assert values(alice, None, before) == {"Porto"}


@pytest.mark.parametrize("at_once", [False, True])
def test_what_was_forgotten_comes_back_at_no_day(alice: Person, at_once: bool) -> None:
    told(alice, *MOVED, at_once=at_once)
    before = timezone.now()
    for memory in Memory.objects.order_by("pk"):
        review.forget(alice.scope, memory.pk)
    assert values(alice, "2026-03-01") == values(alice, "2026-07-01") == values(alice) == set()
    assert values(alice, "2026-03-01", before) == {"Lisbon"}


def test_a_feature_that_a_person_ended_comes_back_at_no_day(alice: Person) -> None:
    told(alice, *MOVED)
    before = timezone.now()
    edit_features.delete(alice.scope, Feature.objects.get().pk)
    assert values(alice, "2026-07-01") == set()
    assert values(alice, "2026-03-01") == {"Lisbon"}  # what it said before was not taken back
    assert values(alice, "2026-07-01", before) == {"Porto"}
    undo_features.undo(alice.scope, Feature.objects.get().pk)
    assert values(alice, "2026-07-01") == {"Porto"}


def test_a_corrected_memory_was_always_right(alice: Person) -> None:
    told(alice, ("2026-03-01", "I live in Lund."))
    review.edit(alice.scope, Memory.objects.get().pk, {"content": "Ada lives in Malmo"})
    assert values(alice, "2026-04-01") == {"Malmo"}


def test_what_was_is_private_to_the_agent_that_was_told(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    for at, text in (*MOVED, ("2026-07-01", "From 2015 to 2017 I lived in Huelva.")):
        bob.say(NewMessage(text, name="Ada", created_at=day(at)), user_id="ada")
    take_in(alice)
    for at, known in ("2026-03-01", "Lisbon"), ("2016-06-01", "lived in Huelva from 2015 to 2017"):
        assert values(bob, at) == values(alice, at) == {known}
        assert values(carol, at) == values(mallory, at) == set()


def test_words_that_are_taken_in_again_keep_one_value_of_a_time(alice: Person) -> None:
    told(alice, *MOVED, at_once=True)
    kept = FeatureChange.objects.count()
    unmark(alice.workspace.pk, list(Episode.objects.values_list("pk", flat=True)))
    take_in(alice)
    assert FeatureChange.objects.count() == kept
    assert values(alice, "2026-03-01") == {"Lisbon"}


STARTED = ("2026-03-01", "In 2019 I started at Acme.")


def test_a_value_of_the_past_that_a_person_ended_was_so_at_no_day(alice: Person) -> None:
    told(alice, STARTED)
    before = timezone.now()
    [feature] = Feature.objects.live()
    assert values(alice, "2021-06-01") == {feature.value}
    edit_features.delete(alice.scope, feature.pk)
    assert values(alice, "2021-06-01") == values(alice) == set()
    assert values(alice, "2021-06-01", before) == {feature.value}
    undo_features.undo(alice.scope, feature.pk)
    assert values(alice, "2021-06-01") == values(alice) == {feature.value}
    undo_features.undo(alice.scope, feature.pk)  # that it was told, too
    assert values(alice, "2021-06-01") == values(alice) == set()


def test_a_change_that_was_undone_held_at_no_day(alice: Person) -> None:
    told(alice, STARTED, ("2026-06-01", "In 2020 I started at Bosch."))
    [feature] = Feature.objects.live()
    assert values(alice, "2021-06-01") == values(alice) == {"Bosch"}
    undo_features.undo(alice.scope, feature.pk)
    assert values(alice, "2021-06-01") == set()
    assert values(alice, "2019-06-01") == values(alice) == {"Acme"}


def test_what_was_merged_away_is_told_at_no_day(alice: Person) -> None:
    told(alice, ("2026-03-01", "I have had asthma since 2019."))
    told(alice, ("2026-03-02", "I have had diabetes since 2019."))
    EmbeddingModel.objects.update(duplicate_threshold=-1)
    said = values(alice, "2021-06-01")
    assert len(said) == 2
    assert consolidate(alice.scope, "user:ada") == 1
    assert values(alice, "2021-06-01") == values(alice)
    assert len(values(alice)) == 1
    undo_features.undo(alice.scope, Feature.objects.live().get().pk)
    assert values(alice, "2021-06-01") == said


def test_what_was_moved_to_another_subject_is_told_of_it_alone(alice: Person, bob: Person, mallory: Person) -> None:
    bob.say(
        NewMessage("In 2010 I worked at Acme.", name="Ada", created_at=day("2026-03-01")),
        NewMessage(STARTED[1], name="Ada", created_at=day("2026-03-01")),
        user_id="ada",
    )
    take_in(alice)
    other = Subject.objects.create(workspace=alice.workspace, external_id="eve", name="Eve")
    assert values(bob, "2010-06-01") == values(alice, "2010-06-01") != set()
    assert values(mallory, "2010-06-01") == set()
    review.move(alice.scope, list(Memory.objects.values_list("pk", flat=True)), "eve")
    assert Memory.objects.filter(subject=other).count() == 2
    for person, at in product((alice, bob, mallory), ("2010-06-01", "2021-06-01")):
        assert values(person, at) == set()


def test_a_value_of_its_time_is_neither_ended_nor_undone(alice: Person) -> None:
    told(alice, *MOVED, at_once=True)
    [kept] = Feature.objects.exclude(ended_at=None)
    for act in edit_features.delete, undo_features.undo:
        with pytest.raises(Conflict, match="at another time"):
            act(alice.scope, kept.pk)
    assert values(alice) == {"Porto"}
    assert values(alice, "2026-03-01") == {"Lisbon"}
