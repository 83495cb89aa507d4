"""Who sees what: memories by visibility; sessions, facts and quotes follow their episodes."""

import json
from typing import Any

import pytest
from django.utils import timezone

from tests.api_fixtures import Caller, caller, member
from tests.mcp_caller import mcp_caller
from tests.people import Person, bound_to_agent, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject

DECIDED = "We decided to use PostgreSQL for the backend."
LISTS = ("/memories", "/facts", "/episodes", "/sessions", "/conversations")


@pytest.fixture
def decided(bob: Person) -> Caller:
    """Bob's agent told what its team decided: a team memory, out of an episode of its own."""
    http = caller(bob)
    said = {"role": "user", "content": DECIDED, "id": "m1"}
    body = {"messages": [said], "threadId": "t1", "userId": "u1", "visibility": "team"}
    assert http.post("/memories/ingest", body).body["memories"][0]["visibility"] == "team"
    return http


def counts(http: Caller) -> list[int]:
    return [len(http.get(path).body["results"]) for path in LISTS]


def test_the_agent_itself_the_backend_and_members_see_all(decided: Caller, alice: Person) -> None:
    assert counts(decided) == [1, 1, 1, 1, 1]
    assert counts(caller(alice)) == [1, 1, 1, 1, 1]
    assert counts(member(alice.workspace, "viewer")) == [1, 1, 1, 1, 1]


def test_a_mate_sees_the_memory_and_not_its_quotes(decided: Caller, alice: Person) -> None:
    key = caller(alice).post("/keys", {"name": "mate", "agentId": "mate"}).body["key"]
    mate = Caller(alice.workspace.slug, {"X-API-Key": key})
    assert counts(mate) == [1, 0, 0, 0, 0]
    body = {"query": "PostgreSQL", "include": ["citations"], "layers": ["memories", "episodes"]}
    hits = mate.post("/memories/search", body).body["results"]
    assert [(hit["layer"], hit["citations"]) for hit in hits] == [("memories", [])]
    memory = hits[0]["memory"]["id"]
    assert mate.get(f"/memories/{memory}").status == 200
    assert mate.get(f"/memories/{memory}/facts").body["results"] == []
    for path in LISTS[1:]:
        row = decided.get(path).body["results"][0]["id"]
        assert mate.get(f"{path}/{row}").status == 404


def test_another_team_and_another_workspace_see_nothing(decided: Caller, carol: Person, mallory: Person) -> None:
    for person in (carol, mallory):
        assert counts(caller(person)) == [0, 0, 0, 0, 0]
        for path in LISTS:
            row = decided.get(path).body["results"][0]["id"]
            assert caller(person).get(f"{path}/{row}").status == 404


def test_a_conversation_is_seen_by_whoever_spoke_in_it(decided: Caller, alice: Person, carol: Person) -> None:
    """For whom the backend recorded something there: by its name alone no agent enters it."""
    other, said = caller(carol), {"content": "Noted.", "threadId": "t1", "userId": "u1"}
    assert other.post("/memories/ingest", said).status == 409
    assert other.get("/conversations", threadId="t1").body["results"] == []
    caller(alice).post("/memories/ingest", {**said, "agentId": "carol"})
    thread = other.get("/conversations", threadId="t1").body["results"][0]["id"]
    assert other.get(f"/conversations/{thread}/episodes").contents() == ["Noted."]
    assert decided.get(f"/conversations/{thread}/episodes").contents() == [DECIDED]


def test_a_key_limited_to_subjects_sees_only_what_is_about_them(decided: Caller, alice: Person) -> None:
    own = Subject.objects.create(workspace=alice.workspace, external_id="u2")
    limited = caller(with_key(alice.workspace, KeyOptions("phone", subjects=(own,))))
    caller(alice).post("/memories", {"content": "About nobody"})
    assert counts(limited) == [0, 0, 0, 0, 0]
    limited.post("/memories/ingest", {"content": DECIDED, "userId": "u2", "threadId": "t2"})
    assert counts(limited) == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("user", ["u1", "nobody of that name"])
def test_a_key_limited_to_subjects_is_refused_where_it_asks_about_others(
    decided: Caller, alice: Person, user: str
) -> None:
    """An empty answer would be a lie; whether there is such a one is not told."""
    own = Subject.objects.create(workspace=alice.workspace, external_id="u2")
    person = with_key(alice.workspace, KeyOptions("phone", subjects=(own,)))
    http = caller(person)
    asked = [http.get(path, userId=user) for path in (*LISTS, "/documents", "/memories/profile")]
    asked += [
        http.post(path, {"query": "PostgreSQL", "userId": user})
        for path in ("/memories/search", "/memories/context", "/documents/search")
    ]
    question = {"messages": [{"role": "user", "content": "PostgreSQL?"}], "userId": user}
    asked.append(http.post("/chat", question))
    refusal = "This key is not for that user."
    assert {(one.status, *one.fields, one.body["detail"]) for one in asked} == {(403, "userId", refusal)}
    told = mcp_caller(person).tool("search_memories", query="PostgreSQL", user_id=user)
    assert told.is_error
    for path in (*LISTS, "/memories/profile"):
        assert http.get(path, userId="u2").status == 200
        assert caller(alice).get(path, userId=user).status == 200


def test_a_private_memory_is_its_own_agents(bob: Person, carol: Person, alice: Person) -> None:
    made = caller(bob).post("/memories", {"content": "Bob's secret"})
    assert caller(carol).get(f"/memories/{made.body['id']}").status == 404
    assert caller(alice).get(f"/memories/{made.body['id']}").status == 200
    assert caller(carol).delete(f"/memories/{made.body['id']}").status == 404


SECRET, RULE, HINT = "The vault opens at noon", "The vault has a rule", "The vault is cold"


@pytest.fixture
def vault(alice: Person, bob: Person) -> Caller:
    """About nobody: what Bob's agent keeps to itself, what it tells its team, what no agent
    made."""
    caller(bob).post("/memories", {"content": SECRET})
    caller(bob).post("/memories", {"content": RULE, "visibility": "team"})
    caller(alice).post("/memories", {"content": HINT, "visibility": "private"})
    return caller(alice)


def found(http: Caller, path: str = "/memories/search", **wish: object) -> set[str]:
    body = http.post(path, {"query": "vault", **wish}).body
    return {hit["memory"]["content"] for hit in body["results" if "results" in body else "hits"]}


@pytest.mark.parametrize("ranking", ["hybrid", "linea", "keyword", "vector"])
def test_what_an_agent_keeps_to_itself_is_in_no_users_search(vault: Caller, ranking: str) -> None:
    assert found(vault, userId="u1", ranking=ranking) == {RULE, HINT}
    assert found(vault, ranking=ranking) == {SECRET, RULE, HINT}
    assert found(vault, userId="u1", agentId="bob", ranking=ranking) == {SECRET, RULE}
    assert found(vault, userId="u1", agentId="other", ranking=ranking) == {RULE}


def test_nor_in_a_users_context_or_past(vault: Caller, alice: Person) -> None:
    assert found(vault, "/memories/context", userId="u1") == {RULE, HINT}
    assert SECRET in found(vault, "/memories/context")
    later = {"knownAt": timezone.now().isoformat()}
    assert found(vault, userId="u1", **later) == {RULE, HINT}
    assert found(member(alice.workspace, "viewer"), userId="u1") == {RULE, HINT}


def test_nor_are_the_words_it_was_read_out_of(alice: Person, bob: Person) -> None:
    caller(bob).post("/memories/ingest", {"messages": [{"role": "user", "content": SECRET}]})
    wish = {"query": "vault", "layers": ["memories", "episodes"]}
    body = caller(alice).post("/memories/search", {**wish, "userId": "u1"}).body
    assert body["results"] == []
    assert len(caller(alice).post("/memories/search", wish).body["results"]) == 1


def test_what_an_agent_told_of_the_user_is_in_the_users_search(alice: Person, bob: Person) -> None:
    caller(bob).post("/memories", {"content": SECRET, "userId": "u1"})
    assert found(caller(alice), userId="u1") == {SECRET}
    assert found(caller(alice), userId="u2") == set()


def told_in_team(alice: Person, text: str) -> tuple[dict[str, Any], set[str]]:
    """What an agent of a named team makes of u1's words; what a mate finds who asks for u2."""
    teller, mate = (caller(bound_to_agent(alice.workspace, name, "storage")) for name in ("rita", "sam"))
    said = {"messages": [{"role": "user", "content": text}], "userId": "u1"}
    (made,) = teller.post("/memories/ingest", said).body["memories"]
    hits = mate.post("/memories/search", {"query": text, "userId": "u2"}).body["results"]
    return made, {hit["memory"]["content"] for hit in hits}


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Team decided to freeze releases in August.", "Team decided to freeze releases in August"),
        ("Team uses MinIO for all blobs.", "Team uses MinIO for all blobs"),
        ("The team has settled on Parquet for exports.", "Team settled on Parquet for exports"),
        ("Our team prefers small commits.", "Team prefers small commits"),
    ],
)
def test_what_is_told_of_the_team_is_its_own_whoever_is_named(alice: Person, text: str, statement: str) -> None:
    made, found_by_mate = told_in_team(alice, text)
    assert (made["visibility"], made["userId"]) == ("team", None)
    assert found_by_mate == {statement}


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("We always use earplugs in bed.", "User and others always use earplugs in bed"),
        ("We never use plastic straws.", "User and others never use plastic straws"),
        ("We use Lieferando for dinner.", "User and others use Lieferando for dinner"),
    ],
)
def test_what_we_do_at_home_is_no_teams(alice: Person, text: str, statement: str) -> None:
    made, found_by_mate = told_in_team(alice, text)
    assert (made["visibility"], made["userId"], made["content"]) == ("private", "u1", statement)
    assert found_by_mate == set()


def test_a_hit_has_its_message_for_whom_may_see_that_alone(decided: Caller, alice: Person, mallory: Person) -> None:
    key = caller(alice).post("/keys", {"name": "mate", "agentId": "mate"}).body["key"]
    mate = Caller(alice.workspace.slug, {"X-API-Key": key})
    body = {"query": "PostgreSQL"}
    [own] = decided.post("/memories/search", body).body["results"]
    assert own["source"] == {
        "episodeId": own["source"]["episodeId"],
        "externalId": "m1",
        "role": "user",
        "name": "",
        "occurredAt": own["source"]["occurredAt"],
        "text": DECIDED,
        "start": 0,
        "end": len(DECIDED),
    }
    [theirs] = mate.post("/memories/search", body).body["results"]
    assert theirs["memory"]["id"] == own["memory"]["id"]
    assert "source" not in theirs
    served = mate.post("/memories/context", body).body
    assert served["memoryIds"] == [own["memory"]["id"]]
    assert (served["episodeIds"], DECIDED in served["text"]) == ([], False)
    assert DECIDED in decided.post("/memories/context", body).body["text"]
    outside = caller(mallory)
    assert outside.post("/memories/search", body).body["results"] == []
    assert outside.post("/memories/context", body).body["text"] == ""


def test_standing_wishes_are_those_that_the_asker_may_see(bob: Person, alice: Person) -> None:
    said = {"role": "user", "content": "Always answer in French.", "id": "w1"}
    caller(bob).post("/memories/ingest", {"messages": [said], "threadId": "t1", "userId": "u1"})
    key = caller(alice).post("/keys", {"name": "mate", "agentId": "mate"}).body["key"]
    mate = Caller(alice.workspace.slug, {"X-API-Key": key})
    body = {"query": "How tall is Mount Everest?", "userId": "u1"}
    assert "French" in caller(bob).post("/memories/context", body).body["text"]
    assert mate.post("/memories/context", body).body["text"] == ""


def test_a_long_messages_source_is_its_sentences_around_the_quote(alice: Person) -> None:
    filler = " ".join(f"Item {n} on the list is a thing without a colour." for n in range(200))
    words = f"{filler} I prefer dark mode in my editor. {filler}"
    alice.say(words, user_id="ada")
    body = {"query": "dark mode", "userId": "ada"}
    hit = caller(alice).post("/memories/search", body).body["results"][0]
    source = hit["source"]
    assert "I prefer dark mode in my editor." in source["text"]
    assert len(source["text"]) < 1_500
    assert words[source["start"] : source["end"]] == source["text"]


def test_beside_what_a_team_decided_nothing_of_the_message_is_served_to_another_user(
    alice: Person, bob: Person
) -> None:
    said = "We decided to use PostgreSQL for the backend. My wife Ottilie has leukaemia."
    before, after = "My mother drinks too much.", "And my son failed his exams."
    http = caller(bob)
    body = {"userId": "u1", "threadId": "t1", "visibility": "team"}
    said_in_turn = [{"role": "user", "content": text} for text in (before, said, after)]
    http.post("/memories/ingest", {**body, "messages": said_in_turn})
    asked = {"query": "What do we use for the backend?", "layers": ["memories", "episodes"]}

    def served(asker: Caller, user: str) -> dict[str, str]:
        wish = {**asked, "userId": user}
        found = asker.post("/memories/search", {**wish, "include": ["neighbours"]}).body
        told = asker.post("/memories/context", wish).body
        return {"search": json.dumps(found), "context": json.dumps(told)}

    for asker in (http, caller(alice)):
        assert all("leukaemia" in text for text in served(asker, "u1").values())
        for text in served(asker, "u2").values():
            assert "PostgreSQL" in text
            assert not [word for word in ("leukaemia", "mother", "exams") if word in text]
        hits = asker.post("/memories/search", {**asked, "userId": "u2"}).body["results"]
        assert [hit["source"]["text"] for hit in hits] == [said[: said.index(" My wife")]]
