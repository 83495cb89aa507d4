"""Feature sets over HTTP: what they hold, who may see and change it, and how they are
configured."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.models import Feature, FeatureSet, SetDiscovery
from memories.profiles.features.set_queue import discover_sets
from tests.api_fixtures import Caller, caller
from tests.people import Person

HOME = {"category": "identity", "tag": "home", "feature": "home", "value": "Faro"}
SET = "/sets/user:ada"
WRITES = re.compile(r"\s*(?:insert|update|delete)\b", re.IGNORECASE)


def say(http: Caller, *said: str, fold: bool = True) -> None:
    messages = [{"role": "user", "name": "Ada", "content": each} for each in said]
    assert http.post("/memories/ingest", {"userId": "ada", "messages": messages}).status == 201
    if fold:
        http.post(f"{SET}/fold")


def features(http: Caller, **query: str) -> list[tuple[str, str]]:
    answer = http.get(f"{SET}/features", **query)
    assert answer.status == 200, answer.body
    return [(row["feature"], row["value"]) for row in answer.body["results"]]


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def test_what_was_said_is_there_as_features_with_quotes(http: Caller) -> None:
    say(http, "I live in Lisbon.")
    (row,) = http.get(f"{SET}/features").body["results"]
    assert (row["category"], row["tag"], row["value"]) == ("identity", "home", "Lisbon")
    assert [c["quote"] for c in row["citations"]] == ["I live in Lisbon."]


def test_features_are_found_by_search_with_their_quotes(http: Caller) -> None:
    say(http, "I live in Lisbon.", "I have a dog named Bruno.")
    asked = {"query": "home in Lisbon", "layers": ["features"], "include": ["citations"]}
    best = http.post("/memories/search", {**asked, "userId": "ada"}).body["results"][0]
    assert (best["layer"], best["feature"]["value"]) == ("features", "Lisbon")
    assert best["citations"][0]["quote"] == "I live in Lisbon."


def test_one_written_by_hand_is_not_changed_by_a_machine(http: Caller) -> None:
    say(http, "I like tea.")
    assert http.post(f"{SET}/features", HOME).status == 201
    row = Feature.objects.get(value="Faro")
    Feature.objects.filter(pk=row.pk).update(slot="residence|", about="Ada")
    say(http, "I live in Lisbon now.")
    assert ("home", "Faro") in features(http)
    refused = http.get(f"{SET}/refusals").body["results"]
    assert [r["reason"] for r in refused] == ["it was written by a person"]


def test_a_correction_keeps_the_history_and_is_undone(http: Caller) -> None:
    say(http, "I live in Lisbon.")
    row = http.get(f"{SET}/features").body["results"][0]["id"]
    assert http.patch(f"/features/{row}", {"value": "Porto"}).body["value"] == "Porto"
    steps = http.get(f"/features/{row}/history").body["results"]
    assert [(s["action"], s["after"]["value"]) for s in steps] == [
        ("update", "Porto"),
        ("add", "Lisbon"),
    ]
    assert http.post(f"/features/{row}/undo").body["value"] == "Lisbon"
    assert http.delete(f"/features/{row}").status == 204
    assert features(http) == []
    assert http.post(f"/features/{row}/undo").body["endedAt"] is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"category": "nonsense"}, "category"),
        ({"tag": "nonsense"}, "tag"),
        ({"value": "x" * 1001}, "value"),
        ({"value": " "}, "value"),
        ({"mood": "good"}, "mood"),
    ],
)
def test_what_the_set_does_not_hold_is_refused(http: Caller, change: dict[str, str], field: str) -> None:
    say(http, "I like tea.")
    answer = http.post(f"{SET}/features", HOME | change)
    assert (answer.status, answer.fields) == (400, [field])


def test_a_set_says_what_counts_for_it_and_where_that_is_from(http: Caller, alice: Person) -> None:
    say(http, "I like tea.")
    alice.workspace.settings = {"featureSets": {"seconds": 5}}
    alice.workspace.save()
    http.patch(f"{SET}/config", {"messages": 3})
    told = http.get(f"{SET}/config").body["settings"]
    found = {name: (told[name]["value"], told[name]["source"]) for name in ("messages", "seconds")}
    assert found == {"messages": (3, "set"), "seconds": (5, "workspace")}
    assert told["categories"]["source"] == "product"
    taken_back = http.patch(f"{SET}/config", {"messages": None}).body["settings"]["messages"]
    assert taken_back["source"] == "product"


@pytest.fixture
def talks(http: Caller) -> list[str]:
    """Two sets of a type that the workspace names."""
    types = {"talk": {"messages": 3, "updatePrompt": "Only what was agreed."}}
    assert http.patch("", {"settings": {"featureSetTypes": types}}).status == 200
    for key in ("monday", "friday"):
        assert http.post("/sets", {"key": key, "config": {"type": "talk"}}).status == 201
    return ["monday", "friday"]


def settings_of(http: Caller, key: str) -> dict[str, tuple[object, str]]:
    told = http.get(f"/sets/{key}/config").body["settings"]
    return {name: (each["value"], each["source"]) for name, each in told.items()}


def test_sets_of_a_type_share_what_it_says(http: Caller, talks: list[str]) -> None:
    for key in talks:
        told = settings_of(http, key)
        assert told["messages"] == (3, "type")
        assert told["updatePrompt"] == ("Only what was agreed.", "type")
        assert told["seconds"] == (60, "product")
        assert http.get(f"/sets/{key}/config").body["type"] == "talk"
    http.patch("", {"settings": {"featureSetTypes": {"talk": {"messages": 9}}}})
    assert [settings_of(http, key)["messages"] for key in talks] == [(9, "type")] * 2


def test_what_a_set_says_itself_goes_before_its_type(http: Caller, talks: list[str]) -> None:
    http.patch("/sets/monday/config", {"messages": 1})
    assert settings_of(http, "monday")["messages"] == (1, "set")
    assert settings_of(http, "friday")["messages"] == (3, "type")


def test_a_set_leaves_its_type_and_a_type_goes_when_no_set_is_of_it(http: Caller, talks: list[str]) -> None:
    http.patch("/sets/monday/config", {"type": None})
    assert settings_of(http, "monday")["messages"] == (20, "product")
    changes = {"settings": {"featureSetTypes": None, "featureSets": {"messages": 4}}}
    for gone in (changes, {"settings": {"featureSetTypes": {"walk": {"messages": 2}}}}):
        refused = http.patch("", gone)
        assert (refused.status, refused.body["code"]) == (409, "in_use")
        assert "friday (talk)" in refused.body["detail"]
        assert "monday" not in refused.body["detail"]
    assert settings_of(http, "friday")["messages"] == (3, "type")
    http.patch("/sets/friday/config", {"type": None})
    assert http.patch("", changes).status == 200
    assert settings_of(http, "friday")["messages"] == (4, "workspace")


def test_a_type_that_is_not_there_is_refused_with_those_that_are(http: Caller, talks: list[str]) -> None:
    answers = (
        http.post("/sets", {"key": "sunday", "config": {"type": "walk"}}),
        http.patch("/sets/monday/config", {"type": "walk"}),
    )
    for answer in answers:
        assert (answer.status, answer.fields) == (400, ["config.type"])
        assert "talk" in answer.body["errors"][0]["message"]
    assert settings_of(http, "monday")["messages"] == (3, "type")


@pytest.mark.parametrize(
    ("types", "field"),
    [
        ({"talk": {"messages": 0}}, "settings.featureSetTypes.talk.messages"),
        ({"talk": {"mood": 1}}, "settings.featureSetTypes.talk.mood"),
        ({"talk": {"type": "talk"}}, "settings.featureSetTypes.talk.type"),
        (
            {"talk": {"embedder": {"provider": "openai"}}},
            "settings.featureSetTypes.talk.embedder.provider",
        ),
        ([], "settings.featureSetTypes"),
    ],
)
def test_a_type_that_makes_no_sense_is_refused(http: Caller, types: object, field: str) -> None:
    answer = http.patch("", {"settings": {"featureSetTypes": types}})
    assert (answer.status, answer.fields) == (400, [field])


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"mood": 1}, "config.mood"),
        ({"messages": 0}, "config.messages"),
        ({"categories": []}, "config.categories"),
        ({"categories": [{"name": "a", "tags": []}]}, "config.categories[0].tags"),
        ({"languageModel": {"provider": "x"}}, "config.languageModel.provider"),
        ({"languageModel": {"provider": "openai"}}, "config.languageModel.model"),
        ({"embedder": {"provider": "openai"}}, "config.embedder.provider"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(http: Caller, config: dict[str, object], field: str) -> None:
    say(http, "I like tea.")
    assert http.patch(f"{SET}/config", config).fields == [field]


def test_a_set_of_ones_own_takes_in_what_fits(http: Caller) -> None:
    say(http, "I live in Lisbon.")
    about = {"userId": "bea", "metadata": {"project": "bridge"}}
    http.post("/memories/ingest", {"messages": [{"role": "user", "content": "I like stone."}], **about})
    made = http.post("/sets", {"key": "bridge", "metadata": {"project": "bridge"}})
    assert (made.status, made.body["waiting"]) == (201, 1)
    done = http.post("/sets/bridge/fold").body
    assert (done["episodes"], done["added"]) == (1, 1)
    assert http.post("/sets", {"key": "bridge"}).status == 409


def test_the_list_tells_what_waits(http: Caller, bob: Person) -> None:
    say(http, "I like tea.")
    say(http, "I like rain.", fold=False)
    http.post("/sets/user:ada/consolidate")
    page = http.get("/sets").body
    assert (page["backlog"]["sets"], page["backlog"]["episodes"]) == (1, 1)
    assert caller(bob).get("/sets").body["backlog"] is None


def test_a_set_is_there_when_the_ingest_answered(http: Caller) -> None:
    say(http, "I like tea.", fold=False)
    assert http.get(SET).body["waiting"] == 1
    assert http.get("/sets").body["backlog"]["episodes"] == 1


def test_the_set_of_a_subject_is_configured_before_it_has_spoken(http: Caller) -> None:
    patched = http.patch("/sets/user:new1/config", {"messages": 3})
    assert patched.body["settings"]["messages"]["value"] == 3
    made = http.post("/sets", {"key": "user:new2", "config": {"messages": 4}})
    assert (made.status, made.body["userId"]) == (201, "new2")
    assert http.post("/sets", {"key": "user:new2"}).status == 409
    assert http.post("/sets", {"key": "user:new3", "role": "user"}).fields == ["key"]
    assert http.get("/sets/user:nobody").status == 404


def test_a_correction_keeps_the_words_that_the_feature_stands_on(http: Caller) -> None:
    say(http, "I live in Lisbon.")
    row = http.get(f"{SET}/features").body["results"][0]["id"]
    told = http.patch(f"/features/{row}", {"value": "Porto"}).body
    assert [one["quote"] for one in told["citations"]] == ["I live in Lisbon."]


def test_a_hit_of_what_was_written_by_hand_cites_no_fact(http: Caller) -> None:
    say(http, "I like tea.")
    episode = http.get("/episodes").body["results"][0]["id"]
    http.post(f"{SET}/features", HOME | {"episodeIds": [episode]})
    wish = {"query": HOME["value"], "layers": ["features"], "include": ["citations"]}
    hits = http.post("/memories/search", wish).body["results"]
    assert None in [one["factId"] for hit in hits for one in hit["citations"]]


def test_a_consolidation_that_works_clears_what_failed_before(http: Caller) -> None:
    say(http, "I like tea.")
    FeatureSet.objects.update(error="no answer", failures=3)
    http.post(f"{SET}/consolidate")
    assert http.get(SET).body["error"] is None
    assert http.get("/sets").body["backlog"]["failing"] == 0


def test_sets_and_features_are_seen_by_whom_their_words_are_seen(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    say(caller(bob), "I live in Lisbon.", fold=False)
    caller(alice).post(f"{SET}/fold")
    row = caller(bob).get(f"{SET}/features").body["results"][0]["id"]
    for person in (carol, mallory):
        stranger = caller(person, alice.workspace if person is carol else None)
        assert stranger.get(f"/features/{row}").status == 404
        assert stranger.get(f"{SET}/features").status == 404
        assert stranger.get("/sets").body["results"] == []
        asked = {"query": "Lisbon", "layers": ["features"]}
        assert stranger.post("/memories/search", asked).body["results"] == []
    assert caller(bob).get(f"{SET}/features").status == 200


def test_a_deleted_set_leaves_nothing_to_find(http: Caller) -> None:
    say(http, "I live in Lisbon.")
    assert http.delete(SET).status == 204
    asked = {"query": "home in Lisbon", "layers": ["features"]}
    assert http.post("/memories/search", asked).body["results"] == []
    assert http.get(SET).status == 404


def test_a_set_is_there_at_once_and_to_read_it_writes_nothing(http: Caller) -> None:
    say(http, "I live in Lisbon.", fold=False)
    with CaptureQueriesContext(connection) as asked:
        told = http.get(SET).body
        page = http.get("/sets").body
        assert http.get(f"{SET}/config").status == 200
    assert [told["waiting"], page["results"][0]["waiting"]] == [1, 1]
    assert [row["key"] for row in page["results"]] == ["user:ada"]
    assert (page["backlog"]["sets"], page["backlog"]["episodes"]) == (1, 1)
    writes = [q["sql"] for q in asked if WRITES.match(q["sql"]) and '"memories_' in q["sql"]]
    assert writes == []
    assert not SetDiscovery.objects.exists()


def test_the_backlog_counts_a_set_once_before_and_after_the_sweep(http: Caller) -> None:
    say(http, "I live in Lisbon.", fold=False)
    discover_sets()
    say(http, "I like tea.", fold=False)
    before = http.get("/sets").body["backlog"]
    discover_sets()
    after = http.get("/sets").body["backlog"]
    assert [(b["sets"], b["episodes"]) for b in (before, after)] == [(1, 2), (1, 2)]


def test_a_change_into_what_another_says_leaves_both_as_they_were(http: Caller) -> None:
    say(http, "I like tea.")
    for value in ("Faro", "Porto"):
        made = http.post(f"{SET}/features", {**HOME, "feature": "stays", "value": value})
        assert made.status == 201
    row = Feature.objects.get(value="Porto")
    refused = http.patch(f"/features/{row.pk}", {"value": "Faro"})
    assert (refused.status, refused.fields) == (409, ["value"])
    assert {value for name, value in features(http) if name == "stays"} == {"Faro", "Porto"}
    row.refresh_from_db()
    assert row.ended_at is None
