"""MemMachine's routes: messages of projects, features of users, and who sees them."""

from typing import Any

import pytest

from memories.compat.memmachine_filter import read_filter
from memories.errors import Invalid
from memories.models import Conversation, Episode, Feature, Memory
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from tests.api_fixtures import Answer, Caller, caller
from tests.people import Person, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject

V2 = "//api/v2"
HARBOUR = {"org_id": "acme", "project_id": "harbour"}
ADA = {"user_id": "ada", "session_id": "s1"}
TEA = "I prefer tea to coffee."
LONG = "é" * 60  # in an address each is six characters


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def add(who: Caller, content: str, project: Any = HARBOUR, **more: Any) -> Answer:
    message = {"content": content, "metadata": ADA} | more
    return who.post(f"{V2}/memories", {**project, "messages": [message]})


def found(who: Caller, query: str = "tea or coffee", **more: Any) -> list[dict[str, Any]]:
    answer = who.post(f"{V2}/memories/search", {**HARBOUR, "query": query, **more})
    assert answer.status == 200, answer.body
    episodes: list[dict[str, Any]] = answer.body["content"]["episodic_memory"]["long_term_memory"]["episodes"]
    return episodes


def listed(who: Caller, kind: str = "episodic", **more: Any) -> list[dict[str, Any]]:
    answer = who.post(f"{V2}/memories/list", {**HARBOUR, "type": kind, **more})
    assert answer.status == 200, answer.body
    rows: list[dict[str, Any]] = answer.body["content"][f"{kind}_memory"]
    return rows


@pytest.fixture
def uid(http: Caller) -> str:
    answer = add(http, TEA, role="user", producer="Ada", produced_for="bot")
    assert answer.status == 200, answer.body
    return str(answer.body["results"][0]["uid"])


@pytest.fixture
def feature(http: Caller, uid: str) -> str:
    named = {"metadata_tags": ["user_id"], "set_metadata": {"user_id": "ada"}}
    set_id = http.post(f"{V2}/memories/semantic/set_id/get", {**HARBOUR, **named}).body["set_id"]
    new = {
        "category_name": "identity",
        "tag": "home",
        "feature": "city",
        "value": "Lisbon",
        "set_id": set_id,
        "citations": [uid],
        "feature_metadata": {"by": "form"},
    }
    made = http.post(f"{V2}/memories/semantic/feature", {**HARBOUR, **new})
    assert made.status == 200, made.body
    return str(made.body["feature_id"])


def test_a_project_is_made_once_and_read(http: Caller) -> None:
    assert http.post(f"{V2}/projects/get", HARBOUR).status == 404
    new = {**HARBOUR, "description": "Ships", "config": {"embedder": "x", "other": 1}}
    made = http.post(f"{V2}/projects", new)
    assert made.status == 201
    assert made.body["description"] == "Ships"
    assert (made.body["config"]["embedder"], made.body["config"]["reranker"]) == ("x", "")
    assert "other" not in made.body["config"]
    assert http.post(f"{V2}/projects", new).status == 409
    assert http.post(f"{V2}/projects/get", HARBOUR).body == made.body
    assert http.post(f"{V2}/projects/list").body == [HARBOUR]
    assert http.post(f"{V2}/projects/get", {"org_id": "a/b", "project_id": "c"}).status == 400


def test_what_is_added_is_found_and_learned(http: Caller, uid: str) -> None:
    [hit] = found(http, filter="metadata.user_id='ada' AND metadata.session_id='s1'")
    assert (hit["uid"], hit["content"], hit["metadata"]) == (uid, TEA, ADA)
    assert (hit["producer_id"], hit["producer_role"]) == ("Ada", "user")
    assert (hit["produced_for_id"], hit["episode_type"]) == ("bot", "message")
    assert 0 < hit["score"] <= 1
    assert found(http, score_threshold=1.0) == []
    assert Memory.objects.live().get().subject == Subject.objects.get(external_id="ada")
    [row] = listed(http)
    assert (row["uid"], row["session_key"], row["content_type"]) == (uid, "acme/harbour", "string")
    assert http.post(f"{V2}/projects/episode_count/get", HARBOUR).body == {"count": 1}


def test_filters_and_projects_keep_messages_apart(http: Caller, uid: str) -> None:
    other = {"org_id": "acme", "project_id": "harbour2"}
    add(http, "Tea is for the other project.", other)
    add(http, "Tea for Otto, please.", metadata={"user_id": "otto", "kind": "it's"})
    assert [row["content"] for row in listed(http)] == [TEA, "Tea for Otto, please."]
    otto = "metadata.user_id='otto' AND (m.kind='it''s' OR producer_role='system')"
    assert [row["content"] for row in listed(http, filter=otto)] == ["Tea for Otto, please."]
    assert [row["content"] for row in found(http, filter=otto)] == ["Tea for Otto, please."]
    assert {row["content"] for row in found(http)} == {TEA, "Tea for Otto, please."}
    assert listed(http, page_size=1, page_num=1)[0]["content"] == "Tea for Otto, please."
    assert listed(http, set_metadata={"user_id": "otto"})[0]["content"] == "Tea for Otto, please."
    nobody = http.post(f"{V2}/memories/search", {"project_id": "none", "query": "tea"})
    assert (nobody.status, set(nobody.body)) == (404, {"detail", "code"})


def test_messages_of_several_people_come_back_in_their_order(http: Caller) -> None:
    said = [
        {"content": f"Box {at}.", "metadata": {"user_id": user}, "timestamp": 1_767_225_600 + at}
        for at, user in enumerate(("ada", "otto", "ada"))
    ]
    answer = http.post(f"{V2}/memories", {**HARBOUR, "messages": said})
    uids = [one["uid"] for one in answer.body["results"]]
    rows = {str(row.pk): row.content for row in Episode.objects.all()}
    assert [rows[each] for each in uids] == ["Box 0.", "Box 1.", "Box 2."]
    assert listed(http)[0]["created_at"].startswith("2026-01-01T00:00:00")


def test_what_shall_be_episodic_alone_is_not_learned_from(http: Caller) -> None:
    said = [{"content": TEA, "metadata": ADA, "timestamp": "2026-01-01T10:00:00"}]
    body = {**HARBOUR, "messages": said, "types": ["episodic"]}
    assert http.post(f"{V2}/memories", body).status == 200
    assert http.post(f"{V2}/memories", body).status == 200
    assert len(found(http)) == 2
    assert not Memory.objects.exists()


def test_messages_beside_a_hit_come_with_it_where_that_is_asked(http: Caller) -> None:
    for text in ("The sun was out.", "A heron stood there.", "Then we left."):
        add(http, text)
    assert len(found(http, "heron", top_k=1)) == 1
    near = found(http, "heron", top_k=1, expand_context=2)
    assert [row["content"] for row in near] == [
        "A heron stood there.",
        "The sun was out.",
        "Then we left.",
    ]
    assert ["score" in row for row in near] == [True, False, False]


def test_features_are_written_read_changed_and_ended(http: Caller, feature: str, uid: str) -> None:
    named = {**HARBOUR, "feature_id": feature}
    read = http.post(f"{V2}/memories/semantic/feature/get", {**named, "load_citations": True}).body
    assert (read["category"], read["feature_name"], read["value"]) == ("identity", "city", "Lisbon")
    assert read["metadata"] == {"id": feature, "citations": [uid], "other": {"by": "form"}}
    update = f"{V2}/memories/semantic/feature/update"
    assert http.post(update, {**named, "value": "Porto", "metadata": {"by": "hand"}}).status == 204
    [row] = listed(http, "semantic", filter="metadata.user_id='ada' AND tag='home'")
    assert (row["value"], row["metadata"]["other"]) == ("Porto", {"by": "hand"})
    assert listed(http, "semantic", filter="tag='work'") == []
    asked = {**HARBOUR, "query": "Which city?", "filter": "metadata.user_id='ada'"}
    content = http.post(f"{V2}/memories/search", {**asked, "types": ["semantic"]}).body["content"]
    assert content["episodic_memory"] is None
    assert [one["value"] for one in content["semantic_memory"]] == ["Porto"]
    [known] = http.post(f"{V2}/memories/semantic/set_id/list", HARBOUR).body["sets"]
    assert (known["id"], known["tags"]) == (row["set_id"], ["user_id"])
    gone = f"{V2}/memories/semantic/delete"
    assert http.post(gone, {**HARBOUR, "semantic_ids": [feature]}).status == 204
    assert http.post(f"{V2}/memories/semantic/feature/get", named).status == 404
    assert http.post(gone, {**HARBOUR, "semantic_id": "made up"}).status == 404
    assert http.post(gone, HARBOUR).status == 400


def test_features_are_of_the_project_whose_messages_they_stand_on(http: Caller, uid: str, alice: Person) -> None:
    other = {"org_id": "acme", "project_id": "elsewhere"}
    add(http, "I am allergic to nuts.", other)
    discover_sets()
    update_now(alice.scope, "user:ada")
    rows = {row.value for row in Feature.objects.live()}
    assert len(rows) >= 2
    here = {row["value"] for row in listed(http, "semantic")}
    there = http.post(f"{V2}/memories/list", {**other, "type": "semantic"}).body["content"]
    away = {row["value"] for row in there["semantic_memory"]}
    assert here
    assert away
    assert not here & away


def test_a_deleted_message_and_a_deleted_project_are_gone(http: Caller, uid: str, feature: str) -> None:
    add(http, "I have a dog called Rex.")
    gone = f"{V2}/memories/episodic/delete"
    assert http.post(gone, {**HARBOUR, "episodic_id": uid}).status == 204
    assert http.post(gone, {**HARBOUR, "episodic_ids": [uid]}).status == 404
    assert http.post(gone, HARBOUR).status == 400
    assert [row["content"] for row in listed(http)] == ["I have a dog called Rex."]
    assert http.post(f"{V2}/projects/delete", HARBOUR).status == 204
    assert http.post(f"{V2}/projects/get", HARBOUR).status == 404
    assert not Episode.objects.exists()
    assert not Memory.objects.exists()
    assert not Feature.objects.live().exists()


def test_what_is_not_built_is_an_error(http: Caller, uid: str) -> None:
    asked = {**HARBOUR, "query": "tea"}
    refused = [
        ("memories/search", {**asked, "agent_mode": True}),
        ("memories/search", {**asked, "set_metadata": {"team": "red"}}),
        ("memories/search", {**asked, "set_metadata": {"user_id": "otto"}, "filter": "metadata.user_id='ada'"}),
        ("memories/search", {**asked, "top_k": 0}),
        ("memories/semantic/set_id/get", {**HARBOUR, "metadata_tags": ["team"]}),
        ("memories", {**HARBOUR, "messages": [{"content": "x", "timestamp": "soon"}]}),
        ("memories", {**HARBOUR, "messages": [{"content": "x", "timestamp": 1e300}]}),
        ("memories", {**HARBOUR, "messages": [{"content": "x", "metadata": {"user_id": LONG}}]}),
    ]
    for route, body in refused:
        answer = http.post(f"{V2}/{route}", body)
        assert answer.status == 400, (route, body, answer.body)
        assert answer.body["detail"]
    for route in ("memories/semantic/set_type", "memory/episodic/config/get", "config/get"):
        assert http.post(f"{V2}/{route}", HARBOUR).status == 404
    assert http.get(f"{V2}/health").body["status"] == "healthy"


def test_a_teammates_agent_and_an_outsider_see_no_message_and_no_feature(
    uid: str, feature: str, bob: Person, carol: Person, mallory: Person
) -> None:
    for person in (bob, carol, mallory):
        who = caller(person)
        for route in ("search", "list"):
            answer = who.post(f"{V2}/memories/{route}", {**HARBOUR, "query": "tea Lisbon"})
            assert (
                answer.status == 404
                or not any(answer.body["content"].values())
                or ("tea" not in str(answer.body) and "Lisbon" not in str(answer.body))
            )
        named = {**HARBOUR, "feature_id": feature}
        assert who.post(f"{V2}/memories/semantic/feature/get", named).status == 404
        assert who.post(f"{V2}/memories/semantic/feature/update", named).status in (403, 404)
        ids = {**HARBOUR, "episodic_ids": [uid]}
        assert who.post(f"{V2}/memories/episodic/delete", ids).status in (403, 404)
        assert who.post(f"{V2}/projects/delete", HARBOUR).status in (403, 404)
    assert Episode.objects.filter(pk=uid).exists()
    assert Feature.objects.live().filter(pk=feature).exists()


def test_a_key_of_a_subject_adds_and_finds_its_own_alone(http: Caller, uid: str, alice: Person) -> None:
    add(http, "Otto takes tea.", metadata={"user_id": "otto"})
    ada = Subject.objects.get(external_id="ada")
    own = caller(with_key(alice.workspace, KeyOptions("ada", subjects=(ada,))))
    assert [row["content"] for row in found(own)] == [TEA]
    assert add(own, "I have a cat.").status == 200
    assert add(own, "Nothing.", metadata={"user_id": "otto"}).status == 403
    assert own.post(f"{V2}/projects/delete", HARBOUR).status == 403


# What may stand where a project is kept.
KEPT = (
    "boom",
    7,
    True,
    None,
    [],
    [1],
    {},
    {"org_id": "acme"},
    {"org_id": 1, "project_id": {}},
    {"org_id": "acme", "project_id": "p"},
    {"org_id": "acme", "project_id": "p", "config": []},
    {"org_id": "acme", "project_id": "harbour", "config": {}},
    {"org_id": "acme", "project_id": "p", "config": {}, "more": 1},
)


@pytest.mark.parametrize("kept", KEPT)
def test_what_only_looks_like_a_project_is_none(http: Caller, alice: Person, kept: Any) -> None:
    assert http.post(f"{V2}/projects", HARBOUR).status == 201
    named = {"workspace": alice.workspace, "external_id": "acme/p"}
    Conversation.objects.create(**named, metadata={"memmachine_project": kept})
    assert http.post(f"{V2}/projects/list").body == [HARBOUR]
    named = {"org_id": "acme", "project_id": "p"}
    assert http.post(f"{V2}/projects/get", named).status == 404
    assert http.post(f"{V2}/projects", {**named, "description": "Ours"}).status == 201
    assert http.post(f"{V2}/projects/get", named).body["description"] == "Ours"


RESERVED = {"room": "2", "memmachine_project": {"org_id": "acme", "project_id": "p", "config": {}}}
SAID = {"role": "user", "content": TEA}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/conversations", {"threadId": "acme/p"}),
        ("/memories", {"content": TEA}),
        ("/memories/ingest", {"content": TEA}),
        ("/documents", {"content": TEA}),
        ("/spaces", {"containerTag": "north"}),
        ("//v1/memories/", {"messages": [SAID], "user_id": "ada"}),
        ("//v3/memories/add/", {"messages": [SAID], "user_id": "ada"}),
        ("//v3/documents", {"content": TEA}),
    ],
)
def test_no_door_takes_the_name_under_which_projects_are_kept(http: Caller, path: str, body: Any) -> None:
    answer = http.post(path, body | {"metadata": RESERVED})
    assert answer.status == 400
    assert "memmachine_project" in str(answer.body)
    assert http.post(path, body | {"metadata": {"room": "2"}}).status < 300


def test_no_message_takes_the_names_under_which_projects_are_kept(http: Caller) -> None:
    odd = {"user_id": "ada", "memmachine_produced_for": "bot"}
    assert add(http, TEA, metadata=odd).status == 400
    message = {**SAID, "metadata": RESERVED}
    assert http.post("/memories/ingest", {"messages": [message]}).status == 400


def test_a_limited_key_takes_no_projects_name(http: Caller, alice: Person, uid: str) -> None:
    ada = Subject.objects.get(external_id="ada")
    own = caller(with_key(alice.workspace, KeyOptions("ada", subjects=(ada,))))
    attic = {"org_id": "acme", "project_id": "attic"}
    assert own.post(f"{V2}/projects", {**attic, "description": "Mine"}).status == 403
    assert add(own, TEA, attic).status == 403
    assert own.post("/conversations", {"threadId": "acme/attic", "userId": "ada"}).status == 201
    assert http.post(f"{V2}/projects", {**attic, "description": "All"}).status == 201
    [row] = http.get("/conversations", threadId="acme/attic").body["results"]
    assert own.patch(f"/conversations/{row['id']}", {"title": "Mine"}).status == 403
    assert http.patch(f"/conversations/{row['id']}", {"metadata": {"a": 1}}).status == 200
    assert http.post(f"{V2}/projects/get", attic).body["description"] == "All"


@pytest.mark.parametrize(
    ("text", "episodes"),
    [
        ("", None),
        ("metadata.a = 1", {"and": [{"field": "metadata.a", "op": "eq", "value": "1"}]}),
        ("NOT m.a IS NULL", {"and": [{"not": {"field": "metadata.a", "op": "exists", "value": False}}]}),
        (
            "m.a IS NOT NULL and role != 'x'",
            {
                "and": [
                    {"field": "metadata.a", "op": "exists", "value": True},
                    {"field": "role", "op": "neq", "value": "x"},
                ]
            },
        ),
        (
            "m.a IN ('x', 'y') OR m.a NOT IN (z)",
            {
                "and": [
                    {
                        "or": [
                            {"field": "metadata.a", "op": "in", "value": ["x", "y"]},
                            {"not": {"field": "metadata.a", "op": "in", "value": ["z"]}},
                        ]
                    }
                ]
            },
        ),
    ],
)
def test_a_filter_is_read(text: str, episodes: Any) -> None:
    assert read_filter(text).episodes == episodes


@pytest.mark.parametrize(
    "text",
    [
        "metadata.a",
        "metadata.a ~ 1",
        "metadata.a =",
        "other = 1",
        "m.a = 1 m.b = 2",
        "(m.a = 1",
        "m.a = )",
        "m.a = 'x",
        "m.a IS 1",
        "m.a IN 1",
        "m.a NOT 1",
        "x" * 6000,
        "(" * 20,
        "m.user_id = 'a' OR m.b = 'c'",
        "m.user_id = 'a' AND m.user_id = 'b'",
        "m. = 1",
    ],
)
def test_what_is_no_filter_is_told(text: str) -> None:
    with pytest.raises(Invalid):
        read_filter(text)


def test_conditions_that_only_messages_have_leave_no_features(http: Caller, feature: str) -> None:
    assert listed(http, "semantic", filter="m.session_id='s1'")
    assert listed(http, "semantic", filter="producer_role='user'") == []
