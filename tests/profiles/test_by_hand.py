"""What a person wrote stays theirs: machines merge, read and embed around it."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.belief import review
from memories.ingest import NewMessage
from memories.models import Episode, Feature, FeatureRefusal, Memory
from memories.profiles.features import edit_features, set_queue, undo_features
from memories.profiles.features.consolidate import consolidate
from memories.profiles.features.edit_features import NewFeature
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from tests.people import Person
from tests.wire_servers import chat_completion

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "user:ada"


def told(person: Person, *said: str, **wish: Any) -> None:
    person.say(*[NewMessage(each, name="Ada") for each in said], user_id="ada", **wish)
    discover_sets()
    update_now(person.scope, KEY)


def read_again(person: Person) -> None:
    """As after a restore: all that was said is taken in anew."""
    set_queue.unmark(person.workspace.pk, list(Episode.objects.values_list("pk", flat=True)))
    update_now(person.scope, KEY)


def values() -> set[str]:
    return set(Feature.objects.live().values_list("value", flat=True))


@pytest.fixture
def two_likes(alice: Person) -> list[Feature]:
    told(alice, "I like green tea.", "I enjoy long hikes.")
    return list(Feature.objects.live().order_by("pk"))


def asks_while(server: HTTPServer, person: Person, then: Callable[[], object]) -> None:
    """A model that merges f1 and f2; while it is asked, something happens."""
    merge = {"ids": ["f1", "f2"], "tag": "likes", "feature": "likes", "value": "likes green tea"}
    body = json.dumps(chat_completion(json.dumps({"merges": [merge]})))

    def answer(request: Request) -> Response:
        try:
            then()
        finally:
            connections.close_all()
        return Response(body, content_type="application/json")

    server.expect_request("/v1/chat/completions").respond_with_handler(answer)
    rung = {"provider": "openai", "model": "m", "baseUrl": server.url_for("/v1")}
    person.workspace.settings = {"extractors": [], "featureSets": {"languageModel": rung}}
    person.workspace.save()


def test_confirmed_while_a_model_is_asked_to_merge_it_stays_apart(
    alice: Person, two_likes: list[Feature], httpserver: HTTPServer
) -> None:
    first = two_likes[0]
    same = {"value": first.value}
    asks_while(httpserver, alice, lambda: edit_features.edit(alice.scope, first.pk, same))
    assert consolidate(alice.scope, KEY) == 0
    assert values() == {row.value for row in two_likes}
    assert Feature.objects.get(pk=first.pk).method == "manual"


def test_untouched_the_same_merge_is_done(alice: Person, two_likes: list[Feature], httpserver: HTTPServer) -> None:
    asks_while(httpserver, alice, lambda: None)
    assert consolidate(alice.scope, KEY) == 1


def test_the_same_words_by_hand_make_it_the_person_s_and_keep_what_it_stands_on(
    alice: Person, two_likes: list[Feature]
) -> None:
    first = two_likes[0]
    again = NewFeature(first.category, first.tag, first.feature, first.value, about=first.about)
    made = edit_features.create(alice.scope, KEY, again)
    assert (made.pk, made.method) == (first.pk, "manual")
    quotes = made.citations.filter(change__is_current=True).values_list("quote", flat=True)
    assert list(quotes) == ["I like green tea."]
    assert undo_features.undo(alice.scope, first.pk).method == "rule"


def test_by_hand_survives_merging_and_reading_again(alice: Person, two_likes: list[Feature]) -> None:
    edit_features.edit(alice.scope, two_likes[0].pk, {"value": "likes sencha"})
    read_again(alice)
    consolidate(alice.scope, KEY)
    assert "likes sencha" in values()


def test_ended_by_hand_it_does_not_come_back_by_the_same_words(alice: Person, two_likes: list[Feature]) -> None:
    edit_features.delete(alice.scope, two_likes[0].pk)
    read_again(alice)
    assert two_likes[0].value not in values()
    assert "a person ended it" in FeatureRefusal.objects.values_list("reason", flat=True)
    later = timezone.now() + timedelta(days=1)
    told(alice, "I like green tea.", occurred_at=later)
    assert two_likes[0].value in values()


def test_pins_and_edits_of_memories_survive_what_is_read_again(alice: Person) -> None:
    told(alice, "I live in Lisbon.")
    memory = Memory.objects.live().get()
    edited = review.edit(alice.scope, memory.pk, {"content": "Ada lives in Lisbon, Alfama"})
    review.edit(alice.scope, edited.pk, {"pinned": True})
    read_again(alice)
    consolidate(alice.scope, KEY)
    told(alice, "I live in Lisbon.")
    kept = Memory.objects.live().get(pk=edited.pk)
    assert (kept.content, kept.pinned) == ("Ada lives in Lisbon, Alfama", True)


def home(value: str, about: str = "") -> NewFeature:
    return NewFeature("identity", "home", "home", value, about=about)


def homes() -> list[tuple[str, str]]:
    rows = Feature.objects.live().filter(feature="home")
    return sorted(rows.values_list("value", "method"))


@pytest.mark.parametrize("about", ["", "Ada"])
def test_a_home_written_by_hand_takes_the_place_of_the_machine_s(alice: Person, about: str) -> None:
    told(alice, "I moved to Porto in May.")
    made = edit_features.create(alice.scope, KEY, home("Faro", about))
    assert homes() == [("Faro", "manual")]
    assert (made.about, undo_features.undo(alice.scope, made.pk).value) == ("Ada", "Porto")


def test_a_machine_puts_no_home_beside_the_one_by_hand(alice: Person) -> None:
    told(alice, "I like tea.")
    edit_features.create(alice.scope, KEY, home("Faro"))
    told(alice, "I moved to Porto in May.")
    assert homes() == [("Faro", "manual")]
    assert "it was written by a person" in FeatureRefusal.objects.values_list("reason", flat=True)


def test_two_that_a_person_writes_stand_beside_each_other(alice: Person) -> None:
    told(alice, "I like tea.")
    edit_features.create(alice.scope, KEY, home("Faro"))
    edit_features.create(alice.scope, KEY, home("Lagos"))
    assert homes() == [("Faro", "manual"), ("Lagos", "manual")]


def test_of_several_people_each_has_a_home(alice: Person) -> None:
    said = (NewMessage("I live in Porto.", name="Ada"), NewMessage("I live in Bern.", name="Bo"))
    alice.say(*said, user_id="ada")
    discover_sets()
    update_now(alice.scope, KEY)
    edit_features.create(alice.scope, KEY, home("Faro"))
    assert [value for value, _ in homes()] == ["Bern", "Faro", "Porto"]


def test_a_move_from_one_place_to_another_is_a_home(alice: Person) -> None:
    told(alice, "I moved from Rome to Porto in June.")
    assert homes() == [("Porto", "rule")]


def test_a_move_of_long_ago_that_is_told_late_leaves_the_home(alice: Person) -> None:
    told(alice, "I live in Lisbon.")
    told(alice, "I moved to Porto in 2015.")
    assert homes() == [("Lisbon", "rule")]
