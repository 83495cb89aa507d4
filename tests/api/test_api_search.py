"""Asking over HTTP, and the profile."""

from typing import Any

import pytest

from memories.api.search_routes import SearchBody, request_of
from memories.index import workspace_index
from memories.models import WorkspaceIndex
from memories.search import Recency
from tests.api_fixtures import Answer, Caller, caller
from tests.people import Person
from workspaces.api.json_requests import read
from workspaces.keys import scope_for_key

PREFERS, SEARCH = "I prefer dark mode in my editor.", "/memories/search"


@pytest.fixture
def http(alice: Person) -> Caller:
    found = caller(alice)
    body = {"messages": [{"role": "user", "content": PREFERS, "id": "m1"}]}
    found.post("/memories/ingest", {**body, "userId": "u1", "threadId": "t1"})
    return found


def told(space: WorkspaceIndex) -> dict[str, Any]:
    shown = {name: value for name, value in vars(space).items() if not name.startswith("_")}
    return shown | {"model": space.embedding_model}


def ask(http: Caller, query: str = "dark mode", **more: Any) -> Answer:
    return http.post(SEARCH, {"query": query, **more})


def test_what_is_read_beside_a_key_is_the_workspace_as_it_is(alice: Person) -> None:
    scope = scope_for_key(alice.key, workspace_index.BESIDE_KEY)
    assert scope is not None
    assert told(workspace_index.index_for(scope)) == told(workspace_index.index_of(alice.workspace.pk))
    alice.workspace.settings = {"conflictRule": "nearest", "extractors": ["patterns"]}
    alice.workspace.save()
    scope = scope_for_key(alice.key, workspace_index.BESIDE_KEY)
    assert scope is not None
    assert workspace_index.index_for(scope).conflict_rule == "nearest"
    assert told(workspace_index.index_for(scope)) == told(workspace_index.index_of(alice.workspace.pk))


def test_a_hit_carries_its_memory_and_score(http: Caller) -> None:
    answer = ask(http, layers=["memories"])
    assert (answer.status, answer.body["count"]) == (200, 1)
    hit = answer.body["results"][0]
    assert set(hit) == {"layer", "score", "similarity", "memory", "source"}
    assert (hit["layer"], hit["memory"]["userId"]) == ("memories", "u1")
    assert hit["memory"]["metadata"] == {}
    assert 0 <= hit["score"] <= 1


def test_citations_scores_and_chain_come_when_asked_for(http: Caller) -> None:
    hit = ask(http, layers=["memories"], include=["citations", "scores", "chain"]).body["results"][0]
    assert hit["citations"][0]["externalId"] == "m1"
    assert hit["citations"][0]["quote"] in PREFERS
    assert hit["scores"]
    assert hit["chain"][0]["memory"]["id"] == hit["memory"]["id"]


def test_episodes_are_a_layer(http: Caller) -> None:
    hit = ask(http, layers=["episodes"]).body["results"][0]
    assert (hit["layer"], hit["episode"]["externalId"]) == ("episodes", "m1")
    assert "memory" not in hit


@pytest.mark.parametrize("ranking", ["hybrid", "linea", "vector", "keyword"])
def test_every_ranking_answers(http: Caller, ranking: str) -> None:
    assert ask(http, ranking=ranking, recency={"weight": 0.2, "halfLifeDays": 30}).status == 200


def test_recency_halves_in_thirty_days_where_nothing_else_is_said() -> None:
    asked = request_of(read(SearchBody, {"query": "dark mode", "recency": {"weight": 1}}))
    assert asked.recency == Recency(weight=1, half_life_days=30)


@pytest.mark.parametrize(
    ("narrowing", "count"),
    [
        ({"userId": "u1"}, 1),
        ({"userId": "somebody"}, 0),
        ({"factTypes": ["preference"]}, 1),
        ({"factTypes": ["event"]}, 0),
        ({"categories": ["plan", "preference"]}, 1),
        ({"scope": "thread"}, 0),
        ({"filter": {"field": "threadId", "op": "eq", "value": "t1"}}, 1),
        ({"filter": {"not": {"field": "threadId", "op": "eq", "value": "t1"}}}, 0),
        ({"filter": None, "threshold": None, "userId": None}, 1),
    ],
)
def test_parameters_narrow(http: Caller, narrowing: dict[str, Any], count: int) -> None:
    assert ask(http, **narrowing).body["count"] == count


@pytest.mark.parametrize("query", ["?", "%", "'; drop table x; --", "日本語", "a" * 10_000])
def test_odd_questions_are_answered(http: Caller, query: str) -> None:
    assert ask(http, query).status == 200


def test_nobody_else_finds_it(http: Caller, mallory: Person, bob: Person) -> None:
    assert ask(caller(mallory)).body["results"] == []
    assert ask(caller(bob), layers=["memories", "episodes"]).body["results"] == []
    assert ask(caller(mallory, bob.workspace)).status == 404


def test_a_profile_groups_what_is_believed(http: Caller, mallory: Person) -> None:
    answer = http.get("/memories/profile", userId="u1")
    assert answer.body["userId"] == "u1"
    groups = {name for name, rows in answer.body.items() if name != "userId" and rows}
    assert groups == {"preferences"}
    assert set(answer.body) == {
        "userId",
        "facts",
        "preferences",
        "events",
        "profile",
        "system",
        "uncategorized",
        "features",
        "static",
        "dynamic",
    }
    assert caller(mallory).get("/memories/profile", userId="u1").body["preferences"] == []


def test_a_profile_can_be_of_an_earlier_time(http: Caller) -> None:
    before = http.get("/memories/profile", userId="u1", knownAt="2020-01-01T00:00:00Z")
    assert before.body["preferences"] == []
    assert http.get("/memories/profile").fields == ["userId"]


def test_weights_of_the_ranking_are_shown_with_defaults_and_can_be_changed(http: Caller) -> None:
    told = http.get("/memories/ranking").body["weights"]["speaker"]
    assert (told["value"], told["default"], told["least"], told["most"]) == (1.5, 1.5, 0.0, 5.0)
    changed = http.patch("/memories/ranking", {"weights": {"speaker": 0.5}}).body["weights"]
    assert changed["speaker"]["value"] == 0.5
    again = http.patch("/memories/ranking", {"weights": {"speaker": None}}).body["weights"]
    assert again["speaker"]["value"] == 1.5


def test_a_search_tells_the_weights_that_made_its_scores(http: Caller) -> None:
    http.patch("/memories/ranking", {"weights": {"vector": 0.1}})
    found = ask(http, include=["scores"]).body
    assert found["weights"]["vector"] == 0.1
    hit = found["results"][0]
    assert hit["score"] == pytest.approx(sum(hit["scores"].values()))


@pytest.mark.parametrize(
    ("ranking", "ranks"),
    [
        ("hybrid", [{"vector": 1, "keyword": 1}, {"vector": 2}]),
        ("linea", [{"vector": 1, "keyword": 1}, {"vector": 2}]),
        ("vector", [{"vector": 1}, {"vector": 2}]),
        ("keyword", [{"keyword": 1}]),
    ],
)
def test_scores_come_with_the_rank_on_each_side(alice: Person, ranking: str, ranks: list[dict[str, int]]) -> None:
    alice.note("The orchard gate is painted green")
    alice.note("Ducks sleep behind the cider press")
    wish = {"query": "orchard gate", "ranking": ranking, "include": ["scores"], "layers": ["memories"]}
    told = caller(alice).post("/memories/search", wish).body
    assert [hit["ranks"] for hit in told["results"]] == ranks
    assert told["indexPaths"] == ({} if ranking == "keyword" else {"memories": "exact"})


def test_the_rank_is_that_within_the_layer(alice: Person) -> None:
    alice.note("The orchard gate is painted green")
    alice.say("Who painted the orchard gate?")
    wish = {"query": "orchard gate", "layers": ["memories", "episodes"], "include": ["scores"]}
    told = caller(alice).post("/memories/search", wish).body
    assert [hit["ranks"] for hit in told["results"]] == [{"vector": 1, "keyword": 1}] * 2
    assert told["indexPaths"] == {"memories": "exact", "episodes": "exact"}


def test_without_scores_neither_ranks_nor_paths_are_told(http: Caller) -> None:
    told = ask(http).body
    assert "indexPaths" not in told
    assert not any("ranks" in hit for hit in told["results"])


@pytest.mark.parametrize(("name", "value"), [("speaker", 9), ("speakers", 1), ("vector", -0.1)])
def test_a_weight_out_of_range_is_named(http: Caller, name: str, value: float) -> None:
    refused = http.patch("/memories/ranking", {"weights": {name: value}})
    assert (refused.status, refused.fields) == (400, [f"weights.{name}"])


def test_an_episode_comes_with_its_neighbours_in_the_order_of_their_time(alice: Person) -> None:
    http = caller(alice)
    said = [("m1", "Quill is a heron.", 0), ("m3", "Sardines, mostly.", 20)]
    messages = [
        {"id": name, "role": "user", "content": text, "createdAt": f"2026-03-01T10:{at:02}:00Z"}
        for name, text, at in said
    ]
    told = {"userId": "ida", "threadId": "t", "messages": messages, "extract": "patterns"}
    http.post("/memories/ingest", told)
    thread = http.get("/conversations", threadId="t").body["results"][0]["id"]
    late = {**messages[0], "id": "m2", "content": "And what does he eat?"}
    late["createdAt"] = "2026-03-01T10:10:00Z"
    http.post(f"/conversations/{thread}/episodes", {"messages": [late]})
    asked = {"query": "what does he eat", "layers": ["episodes"], "include": ["neighbours"]}
    hits = http.post("/memories/search", asked).body["results"]
    beside = {h["episode"]["externalId"]: [n["externalId"] for n in h["neighbours"]] for h in hits}
    assert beside == {"m1": ["m2"], "m2": ["m1", "m3"], "m3": ["m2"]}


def test_neighbours_are_those_that_the_asker_may_see(alice: Person, bob: Person, carol: Person) -> None:
    """In a thread in which the backend recorded for another team's agent, too."""
    bob.say("Quill is a heron.", user_id="ida", thread_id="t")
    alice.say("Sardines, mostly.", user_id="ida", thread_id="t", agent_id="carol")
    (hit,) = bob.ask("heron", layers=("episodes",), include=frozenset({"neighbours"}))
    assert hit.neighbours == []
