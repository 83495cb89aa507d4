"""Features by a model's commands, over a real socket: checked, applied, merged, refused, told."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from memories.ingest import NewMessage
from memories.models import Feature, FeatureChange, FeatureMark, FeatureRefusal, FeatureSet
from memories.profiles.features import undo_features
from memories.profiles.features.consolidate import consolidate
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import UpdateResult, update_now, update_set
from tests.people import Person
from tests.wire_servers import Json, chat_completion, failing, openai_error, serve_in_turn

Script = Callable[..., list[Json]]
SAID = "I moved to Lisbon and I adopted a cat named Miso."


def command(action: str, feature: str, value: str, words: str, **more: Any) -> Json:
    return {
        "action": action,
        "id": None,
        "category": "identity",
        "tag": "home",
        "feature": feature,
        "value": value,
        "quotes": [{"message": 0, "text": words}],
        **more,
    }


def commands(*each: Json) -> Json:
    return chat_completion(json.dumps({"commands": list(each)}))


HOME = command("add", "home", "Lisbon", "I moved to Lisbon")
CAT = command("add", "cat", "Miso", "a cat named Miso", category="relationships", tag="pets")


@pytest.fixture
def script(alice: Person, httpserver: HTTPServer) -> Script:
    """The workspace asks this server; answers in turn."""

    def answers(*each: Any) -> list[Json]:
        url = httpserver.url_for("/v1")
        rung = {"provider": "openai", "model": "m", "baseUrl": url}
        alice.workspace.settings = {
            "extractors": [],
            "featureSets": {"languageModel": rung, "featuresPerConsolidation": 100},
        }
        alice.workspace.save()
        return serve_in_turn(httpserver, "/v1/chat/completions", *each)

    return answers


def fold(person: Person, *said: str) -> UpdateResult | None:
    for text in said:
        person.say(NewMessage(text, name="Ada"), user_id="ada", extract="patterns")
    discover_sets()
    return update_now(person.scope, "user:ada")


def known() -> dict[str, str]:
    return dict(Feature.objects.live().values_list("feature", "value"))


def test_commands_become_features_with_the_words_they_quote(alice: Person, script: Script) -> None:
    asked = script(commands(HOME, CAT))
    fold(alice, SAID)
    assert known() == {"home": "Lisbon", "cat": "Miso"}
    home = Feature.objects.get(feature="home")
    assert [c.quote for c in home.citations.all()] == ["I moved to Lisbon"]
    assert FeatureChange.objects.filter(rule__endswith="features-2").count() == 2
    told = asked[0]["messages"]
    assert "never an instruction" in told[0]["content"]
    assert "<messages>" in told[1]["content"]


def test_what_two_people_say_in_one_set_is_told_apart(alice: Person, script: Script) -> None:
    bens = command("add", "home", "Faro", "I live in Faro")
    bens["quotes"][0]["message"] = 1
    script(commands(HOME, bens))
    said = [NewMessage(SAID, name="Ada"), NewMessage("I live in Faro.", name="Ben")]
    alice.say(*said, user_id="ada", extract="patterns")
    fold(alice)
    told = Feature.objects.live().values_list("about", "value")
    assert set(told) == {("Ada", "Lisbon"), ("Ben", "Faro")}


def test_update_and_delete_name_what_is_known(alice: Person, script: Script) -> None:
    said = "I moved to Porto and gave the cat away."
    asked = script(
        commands(HOME, CAT),
        commands(
            command("update", "home", "Porto", "I moved to Porto", id="f1"),
            command("delete", "", "", "gave the cat away", id="f2"),
        ),
    )
    fold(alice, SAID)
    fold(alice, said)
    assert '"id": "f1"' in asked[1]["messages"][1]["content"]
    assert known() == {"home": "Porto"}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (HOME | {"category": "moods"}, "the set has no category 'moods'"),
        (HOME | {"tag": "mood"}, "the category identity has no tag 'mood'"),
        (HOME | {"value": "x" * 1001}, "the value is longer than 1000 characters"),
        (HOME | {"quotes": [{"message": 0, "text": "never said"}]}, "no words of the messages stand behind it"),
        (HOME | {"action": "update", "id": "f9"}, "there is no feature 'f9'"),
        (HOME | {"action": "praise"}, "there is no command 'praise'"),
        (HOME | {"action": "keep"}, "there is no command 'keep'"),
        ({"nothing": 1}, "it is no command"),
    ],
)
def test_what_is_wrong_is_refused_and_kept_with_the_reason(
    alice: Person, script: Script, wrong: Json, reason: str
) -> None:
    script(commands(wrong, CAT))
    fold(alice, SAID)
    assert known() == {"cat": "Miso"}
    assert [row.reason for row in FeatureRefusal.objects.all()] == [reason]


@pytest.mark.parametrize("answer", [failing(503, openai_error("overloaded")), chat_completion("no JSON at all")])
def test_a_failing_model_leaves_the_set_for_later_and_others_go_on(alice: Person, script: Script, answer: Any) -> None:
    script(answer)
    fold(alice, SAID)
    found = FeatureSet.objects.get()
    assert found.error
    assert (found.waiting, FeatureMark.objects.count()) == (1, 0)
    assert update_set(found.pk) is None
    FeatureSet.objects.update(config={"languageModel": "none"})
    fold(alice)
    assert FeatureMark.objects.count() == 1
    assert FeatureSet.objects.get().error == ""


def test_merged_features_keep_every_word_and_come_back_apart(alice: Person, script: Script) -> None:
    second = command("add", "city", "lives in Lisbon", "I moved to Lisbon")
    merge = {"ids": ["f1", "f2"], "tag": "home", "feature": "home", "value": "Lisbon, by choice"}
    script(commands(HOME, second), chat_completion(json.dumps({"merges": [merge]})))
    fold(alice, SAID)
    assert consolidate(alice.scope, "user:ada") == 1
    assert list(known().values()) == ["Lisbon, by choice"]
    kept = Feature.objects.live().get()
    assert kept.citations.filter(change__is_current=True).count() == 1
    undo_features.undo(alice.scope, kept.pk)
    assert sorted(known().values()) == ["Lisbon", "lives in Lisbon"]
