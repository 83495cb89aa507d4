"""Features as they were: search and profile answer what a replay of the history answers."""

import random
from datetime import datetime, timedelta
from itertools import pairwise, product

import pytest
from django.utils import timezone

from memories.errors import Conflict
from memories.ingest import NewMessage
from memories.models import AsOf, Feature, FeatureChange, Memory
from memories.models.feature import OF_ITS_TIME
from memories.profiles.features import edit_features, undo_features
from memories.profiles.features.consolidate import consolidate
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from memories.profiles.profile import ProfileOptions, profile
from memories.search import filters
from tests.api_fixtures import caller
from tests.people import Person
from workspaces.models import Subject

KEY = "user:ada"
HOMES = ("Lisbon", "Porto", "Faro", "Braga")
NOW = timezone.now()


def told(person: Person, *said: str, days_ago: int = 0) -> None:
    when = NOW - timedelta(days=days_ago)
    person.say(*[NewMessage(each, name="Ada") for each in said], user_id="ada", occurred_at=when)
    discover_sets()
    update_now(person.scope, KEY)


def found(person: Person, at: AsOf, query: str = "home", **wish: object) -> set[str]:
    asked = {"layers": ("features",), "user_id": "ada", "limit": 100, **wish}
    return {hit.feature.value for hit in person.ask(query, at=at, **asked)}


def in_profile(person: Person, at: AsOf) -> set[str]:
    wish = ProfileOptions(Subject.objects.get(external_id="ada").pk, at)
    return {known.feature.value for known in profile(person.scope, wish).features}


def replayed(at: AsOf) -> set[str]:
    """All that was known and said by then, done again in its order."""
    state: dict[object, str | None] = {}
    for change in FeatureChange.objects.order_by("pk"):
        is_known = at.known_at is None or change.created_at <= at.known_at
        if is_known and (at.valid_at is None or (stood(change, at, at.valid_at) and not taken_back(change, at))):
            state[change.feature_id] = change.after and change.after["value"]
    return {value for value in state.values() if value}


def stood(change: FeatureChange, at: AsOf, valid_at: datetime) -> bool:
    """What was read out of a memory holds as long as that does, all else from its day on."""
    is_read = change.after and change.after["method"] != "manual" and change.action != "undo"
    read_out_of = Memory.objects.filter(facts__feature_citations__change=change)
    if is_read and read_out_of:
        return read_out_of.believed(change.workspace_id, at).exists()
    return change.rule != OF_ITS_TIME and change.occurred_at <= valid_at


def taken_back(change: FeatureChange, at: AsOf) -> bool:
    """Undone by then, or what it said was ended as if it had never been said, or merged away."""
    known_at = at.known_at or timezone.now()
    if change.undone_at and change.undone_at <= known_at:
        return True
    history = list(FeatureChange.objects.filter(feature=change.feature_id).order_by("pk"))
    return any(
        then.after is None
        and then.pk > change.pk
        and then.created_at <= known_at
        and not (then.undone_at and then.undone_at <= known_at)
        and then.rule != OF_ITS_TIME
        and (then.before or {})["value"] == (change.after or {}).get("value")
        and (then.action == "merge" or then.occurred_at == before.occurred_at)
        for before, then in pairwise(history)
    )


def something(person: Person, dice: random.Random) -> None:
    features = list(Feature.objects.order_by("pk"))
    try:
        match dice.choice(["say", "say", "edit", "end", "undo", "merge"]) if features else "say":
            case "say":
                what = dice.choice([f"I live in {dice.choice(HOMES)} now.", "I like green tea."])
                told(person, what, days_ago=dice.randrange(300))
            case "edit":
                value = f"by hand {dice.random():.5f}"
                edit_features.edit(person.scope, dice.choice(features).pk, {"value": value})
            case "end":
                edit_features.delete(person.scope, dice.choice(features).pk)
            case "undo":
                undo_features.undo(person.scope, dice.choice(features).pk)
            case "merge":
                consolidate(person.scope, KEY)
    except Conflict:
        pass  # ended already, or nothing to undo: such acts change nothing


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_instant_is_answered_as_its_replay(alice: Person, seed: int) -> None:
    dice, seen = random.Random(seed), list[tuple[datetime, set[str]]]()
    for _ in range(12):
        something(alice, dice)
        live = set(Feature.objects.live().values_list("value", flat=True))
        seen.append((timezone.now(), live))
    for known_at, live in seen:
        at = AsOf(None, known_at)
        assert found(alice, at) == in_profile(alice, at) == replayed(at) == live
    days = (NOW - timedelta(days=n) for n in (0, 50, 150, 290))
    for valid_at, (known_at, _) in product(days, seen):
        at = AsOf(valid_at, known_at)
        assert found(alice, at) == in_profile(alice, at) == replayed(at)


@pytest.fixture
def moved(alice: Person) -> tuple[Person, datetime]:
    """Ada moved; the instant before the server heard of it."""
    told(alice, "I live in Lisbon.", "I like hiking.", days_ago=30)
    before = timezone.now()
    told(alice, "I live in Porto now.", days_ago=1)
    return alice, before


@pytest.mark.parametrize("ranking", ["hybrid", "linea", "vector", "keyword"])
def test_every_ranking_puts_the_old_value_first(moved: tuple[Person, datetime], ranking: str) -> None:
    alice, before = moved
    asked = {"layers": ("features",), "ranking": ranking}
    query = "Lisbon" if ranking == "linea" else "home Lisbon"
    best = alice.ask(query, at=AsOf(None, before), **asked)
    assert best[0].feature.value == "Lisbon"


def test_an_old_value_comes_with_the_words_it_stood_on_then(
    moved: tuple[Person, datetime],
) -> None:
    alice, before = moved
    told(alice, "I live in Porto now, still.")
    body = {
        "query": "home",
        "layers": ["features"],
        "include": ["citations"],
        "userId": "ada",
        "knownAt": before.isoformat(),
    }
    hits = caller(alice).post("/memories/search", body).body["results"]
    home = next(hit for hit in hits if hit["feature"]["feature"] == "home")
    assert home["feature"]["value"] == "Lisbon"
    assert [cited["quote"] for cited in home["citations"]] == ["I live in Lisbon."]


def test_filters_look_at_what_it_was(moved: tuple[Person, datetime]) -> None:
    alice, before = moved
    wanted = filters.parse({"field": "value", "op": "eq", "value": "Lisbon"}, ("features",))
    assert found(alice, AsOf(None, before), filter=wanted) == {"Lisbon"}
    assert found(alice, AsOf(), filter=wanted) == set()


def test_more_words_for_the_same_do_not_make_it_younger(alice: Person) -> None:
    told(alice, "I live in Lisbon.", days_ago=200)
    told(alice, "I live in Lisbon.", days_ago=2)
    assert found(alice, AsOf(NOW - timedelta(days=100))) == {"Lisbon"}
    told(alice, "I live in Porto.", days_ago=100)
    assert found(alice, AsOf()) == {"Lisbon"}


def test_the_past_is_as_closed_as_the_present(moved: tuple[Person, datetime], bob: Person, mallory: Person) -> None:
    _, before = moved
    at = AsOf(None, before)
    assert found(bob, at) == found(mallory, at) == set()


def test_a_feature_of_the_past_was_changed_when_it_came_to_say_so(alice: Person) -> None:
    told(alice, "I live in Lisbon.", days_ago=9)
    [feature] = Feature.objects.filter(value__contains="Lisbon")
    first, then = FeatureChange.objects.get(feature=feature).created_at, timezone.now()
    edit_features.edit(alice.scope, feature.pk, {"value": "Porto"})
    body = {"query": "home", "layers": ["features"], "userId": "ada"}
    http = caller(alice)
    [now] = http.post("/memories/search", body).body["results"]
    [past] = http.post("/memories/search", body | {"knownAt": then.isoformat()}).body["results"]
    assert (past["feature"]["value"], now["feature"]["value"]) == ("Lisbon", "Porto")
    assert datetime.fromisoformat(past["feature"]["updatedAt"]) == first
    assert datetime.fromisoformat(now["feature"]["updatedAt"]) > then
