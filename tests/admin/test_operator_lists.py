"""Lists for whoever runs a workspace: audit, patterns, misses, rejections, tools' results; and
agents that are removed."""

import pytest

from memories.belief import review
from memories.ingest import NewMessage
from memories.models import Episode, Memory, Miss, WorkspacePattern
from tests.api_fixtures import caller, member
from tests.people import Person
from workspaces.keys import KeyOptions, issue_key, scope_for_key
from workspaces.models import Agent, AuditEntry, Subject


@pytest.fixture
def narrow(alice: Person) -> Person:
    """A key that is limited to one subject."""
    ada = Subject.objects.create(workspace=alice.workspace, external_id="ada")
    _, text = issue_key(alice.workspace.pk, KeyOptions("narrow", subjects=(ada,)), actor="test")
    return Person(alice.workspace, text)


def test_the_audit_is_read_by_whoever_sees_all_of_the_workspace(
    alice: Person, bob: Person, mallory: Person, narrow: Person
) -> None:
    memory = alice.note("The gate is green")
    review.edit(alice.scope, memory.pk, {"pinned": True})
    http = caller(alice)
    [line] = http.get("/audit", action="edit").body["results"]
    assert (line["targetId"], line["actor"]) == (str(memory.pk), alice.scope.actor)
    assert http.get("/audit", action="edit", until=line["createdAt"]).body["results"] == []
    assert http.get("/audit", targetId=str(memory.pk), since=line["createdAt"]).body["results"]
    assert caller(mallory).get("/audit", action="edit").body["results"] == []
    assert member(alice.workspace, "editor").get("/audit").status == 200
    for other in (caller(bob), caller(narrow), member(alice.workspace, "viewer")):
        assert other.get("/audit").status == 403


def test_patterns_are_listed_for_whoever_sees_all_of_the_workspace(alice: Person, bob: Person, mallory: Person) -> None:
    WorkspacePattern.objects.create(
        workspace=alice.workspace,
        name="deploys",
        category="policy",
        regex=r"we ship on (?P<day>\w+)",
        template="Ships on {day}",
        examples=["We ship on Mondays."],
    )
    [row] = caller(alice).get("/patterns", enabled="true").body["results"]
    assert (row["name"], row["visibility"], row["examples"]) == (
        "deploys",
        None,
        ["We ship on Mondays."],
    )
    assert caller(alice).get("/patterns", category="plan").body["results"] == []
    assert caller(bob).get("/patterns").status == 403
    assert caller(mallory).get("/patterns").body["results"] == []


def test_misses_follow_their_episodes(alice: Person, bob: Person, mallory: Person) -> None:
    alice.tell("Snorkels are my thing", user_id="u1")
    episode = Episode.objects.get()
    Miss.objects.create(
        workspace=alice.workspace,
        episode=episode,
        text=episode.content,
        found_by="person",
        statements=["Likes snorkels"],
    )
    [row] = caller(alice).get("/misses", userId="u1", status="open").body["results"]
    assert (row["episodeId"], row["statements"]) == (str(episode.pk), ["Likes snorkels"])
    assert caller(bob).get("/misses").body["results"] == []
    assert caller(mallory).get("/misses").body["results"] == []


def test_rejections_follow_the_memory_that_was(alice: Person, bob: Person, mallory: Person, narrow: Person) -> None:
    for user, visibility in (("ada", "private"), ("ben", "global")):
        memory = alice.note(f"Of {user}", user_id=user, visibility=visibility)
        review.forget(alice.scope, memory.pk, "rejected")
        review.reject_claim(alice.scope, memory, "rejected")
    contents = {
        name: sorted(caller(person).get("/rejections").contents())
        for name, person in {
            "alice": alice,
            "bob": bob,
            "mallory": mallory,
            "narrow": narrow,
        }.items()
    }
    assert contents == {
        "alice": ["Of ada", "Of ben"],
        "bob": ["Of ben"],
        "mallory": [],
        "narrow": ["Of ada"],
    }
    assert caller(alice).get("/rejections", userId="ben").contents() == ["Of ben"]


def test_results_of_tools_are_found_by_tool_and_by_failure(alice: Person, mallory: Person) -> None:
    alice.say(
        NewMessage("grep found 3", "tool", kind="tool_result", payload={"toolName": "grep"}),
        NewMessage("no such host", "tool", kind="tool_result", payload={"toolName": "ping", "isError": True}),
        NewMessage("it broke", "tool", kind="error"),
        "Thanks.",
        thread_id="t1",
    )
    http = caller(alice)
    assert http.get("/episodes", toolName="grep").contents() == ["grep found 3"]
    assert set(http.get("/episodes", isError="true").contents()) == {"no such host", "it broke"}
    assert http.get("/episodes", isError="false").contents() == ["grep found 3"]
    assert http.get("/episodes", isError="true", kind="error").contents() == ["it broke"]
    assert caller(mallory).get("/episodes", isError="true").contents() == []


def test_who_is_named_as_a_removed_agent_sees_nothing_of_it(alice: Person, bob: Person, mallory: Person) -> None:
    """Nor does anybody else see more than before: not even what it shared with its team."""
    bob.note("Bob's secret", visibility="private")
    ops = Agent.objects.create(workspace=alice.workspace, external_id="ops", team="ops")
    alice.note("We page at night", agent_id="ops", visibility="team")
    http, agent = caller(alice), Agent.objects.get(external_id="bob")
    assert caller(mallory).delete(f"/agents/{agent.pk}").status == 404
    assert caller(bob).delete(f"/agents/{agent.pk}").status == 403
    assert http.delete(f"/agents/{agent.pk}").status == 204
    assert http.delete(f"/agents/{ops.pk}").status == 204
    assert (scope_for_key(bob.key), http.get(f"/agents/{agent.pk}").status) == (None, 404)
    assert http.get("/agents").body["results"] == []
    assert sorted(http.get("/memories").contents()) == ["Bob's secret", "We page at night"]
    _, text = issue_key(
        alice.workspace.pk,
        KeyOptions("b", agent=Agent.objects.create(workspace=alice.workspace, external_id="bob")),
        actor="test",
    )
    second = caller(Person(alice.workspace, text))
    assert second.get("/memories").contents() == []
    assert second.post("/memories/search", {"query": "secret"}).body["results"] == []
    assert AuditEntry.objects.filter(action="remove_agent").count() == 2
    assert Memory.objects.filter(agent=agent).count() == 1
