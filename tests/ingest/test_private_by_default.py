"""Who sees what was told where nobody said: a person's words are his own, a team's are the
team's."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from memories.ingest import NewMessage
from memories.models import Memory
from tests import desk
from tests.api_fixtures import caller, member
from tests.people import Person, bound_to_agent, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject, Workspace

POSTGRES = "We decided to use PostgreSQL for the backend."
STORIES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "visibility_stories.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("story", STORIES, ids=[story["said"][:40] for story in STORIES])
def test_labelled_stories(alice: Person, story: dict[str, str]) -> None:
    agent = bound_to_agent(alice.workspace, "teller", story.get("team", ""))
    mate = bound_to_agent(alice.workspace, "mate", story.get("team", ""))
    message = NewMessage(story["said"], story.get("role", "user"))
    agent.say(message, user_id=story.get("userId", ""))
    seen = bool(mate.live())
    assert seen == (story["seen"] == "team")


def test_what_a_named_person_tells_is_private(bob: Person, alice: Person, carol: Person) -> None:
    bob.say(POSTGRES, user_id="u")
    mate = bound_to_agent(bob.workspace, "mate")
    assert bob.live() == alice.live() == ["Team decided to use PostgreSQL for the backend"]
    assert mate.live() == carol.live() == []


def test_where_nobody_is_named_it_is_the_teams(bob: Person) -> None:
    bob.say(POSTGRES)
    assert bound_to_agent(bob.workspace, "mate").live()


def test_a_named_teams_statement_is_found_whatever_person_is_named(alice: Person) -> None:
    teller, mate = (bound_to_agent(alice.workspace, name, "core") for name in ("teller", "mate"))
    teller.say(POSTGRES, user_id="ana")
    assert mate.finds("PostgreSQL", user_id="ben")
    assert Memory.objects.get().subject is None


def test_erasing_a_person_takes_the_teams_statement_that_stands_on_his_words(
    alice: Person,
) -> None:
    teller = bound_to_agent(alice.workspace, "teller", "core")
    teller.say(POSTGRES, user_id="ana")
    http = caller(alice)
    [subject] = http.get("/subjects", externalId="ana").body["results"]
    http.delete(f"/subjects/{subject['id']}")
    assert not Memory.objects.filter(content__contains="PostgreSQL").exists()


@pytest.mark.parametrize(("audience", "seen"), [("team", True), ("person", False), ("", False)])
@pytest.mark.parametrize("whose", ["agent", "conversation"])
def test_the_audience_of_an_agent_or_conversation_decides(
    bob: Person, alice: Person, audience: str, seen: bool, whose: str
) -> None:
    http = caller(alice)
    if whose == "conversation":
        http.post("/conversations", {"threadId": "t", "agentId": "bob"})
        thread = http.get("/conversations", threadId="t").body["results"][0]["id"]
        changed = http.patch(f"/conversations/{thread}", {"audience": audience or None})
    else:
        [agent] = http.get("/agents", externalId="bob").body["results"]
        changed = http.patch(f"/agents/{agent['id']}", {"audience": audience or None})
    assert changed.body["audience"] == (audience or None)
    bob.say(POSTGRES, user_id="u", thread_id="t")
    assert bool(bound_to_agent(bob.workspace, "mate").live()) == seen


def test_a_team_that_speaks_for_persons_keeps_their_words_private(alice: Person) -> None:
    teller, mate = (bound_to_agent(alice.workspace, name, "home") for name in ("teller", "mate"))
    caller(alice).post("/teams", {"name": "home", "audience": "person"})
    teller.say(POSTGRES, user_id="u")
    assert (bool(teller.live()), mate.live()) == (True, [])


def test_the_requests_visibility_wins(bob: Person) -> None:
    bob.say(POSTGRES, user_id="u", visibility="team")
    assert bound_to_agent(bob.workspace, "mate").live()


def test_an_assistants_words_make_no_memory(bob: Person) -> None:
    bob.say(NewMessage("We always deploy on Mondays. You live in Porto.", "assistant"))
    assert bob.live() == []


def test_existing_memories_are_shown_and_made_private(bob: Person, alice: Person) -> None:
    bob.say("We decided to drop support for Node 16.")
    bob.say("We decided to divorce.", visibility="private")
    memory = Memory.objects.get(content__contains="divorce")
    Memory.objects.filter(pk=memory.pk).update(visibility="team")
    out = StringIO()
    call_command("checkvisibility", workspace=alice.workspace.slug, stdout=out)
    assert "divorce" in out.getvalue()
    assert "Node" not in out.getvalue()
    assert "1 memories would be private" in out.getvalue()
    call_command("checkvisibility", workspace=alice.workspace.slug, apply=True, stdout=out)
    memory.refresh_from_db()
    assert memory.visibility == "private"
    assert all("divorce" not in text for text in bound_to_agent(bob.workspace, "mate").live())


@pytest.mark.parametrize(("audience", "seen"), [("team", True), ("person", False)])
def test_a_workspace_says_whom_agents_without_a_team_speak_for(bob: Person, audience: str, seen: bool) -> None:
    bob.workspace.settings = {"guard": {"audience": audience}}
    bob.workspace.save()
    bob.say(POSTGRES, user_id="u")
    bob.say("We decided to use Redis for caching.")
    assert len(bound_to_agent(bob.workspace, "mate").live()) == (2 if seen else 0)


def test_what_a_person_decides_with_others_is_no_teams_unless_it_is_of_work(alice: Person) -> None:
    teller, mate = (bound_to_agent(alice.workspace, name, "core") for name in ("teller", "mate"))
    teller.say("We decided to skip the opera.", user_id="ana")
    assert (len(teller.live()), mate.live()) == (1, [])
    assert not teller.live()[0].startswith("Team")


def test_a_rule_for_everybody_is_found_whatever_person_is_named(alice: Person) -> None:
    teller, mate = (bound_to_agent(alice.workspace, name, "core") for name in ("teller", "mate"))
    teller.say("All services must log in JSON.", user_id="ana")
    assert mate.finds("JSON logs of services", user_id="ben")
    assert Memory.objects.get().subject is None


def test_a_key_limited_to_subjects_writes_team_statements_about_them(alice: Person) -> None:
    own = Subject.objects.create(workspace=alice.workspace, external_id="ana")
    phone = with_key(alice.workspace, KeyOptions("phone", subjects=(own,)))
    phone.say(POSTGRES, user_id="ana", visibility="team")
    assert Memory.objects.get().subject == own
    assert phone.live()


# ---- who may say whom somebody speaks for


def test_teams_are_made_once_read_and_changed_by_admins_alone(alice: Person, bob: Person, mallory: Person) -> None:
    http = caller(alice)
    made = http.post("/teams", {"name": "core", "audience": "team"})
    assert (made.status, made.body["audience"]) == (201, "team")
    assert http.post("/teams", {"name": "core"}).status == 409
    row = f"/teams/{made.body['id']}"
    assert http.get(row).body["name"] == "core"
    assert http.patch(row, {"audience": None}).body["audience"] is None
    assert http.patch(row, {"audience": "everybody"}).status == 400
    for person in (bob, mallory):  # one has no such capability here, the other another workspace
        assert caller(mallory).get(row).status == 404
        assert caller(person).patch(row, {"audience": "team"}).status in (403, 404)
    assert member(alice.workspace, "viewer").patch(row, {"audience": "team"}).status == 403
    assert member(alice.workspace, "admin").patch(row, {"audience": "team"}).status == 200
    assert [team["name"] for team in caller(mallory).get("/teams").body["results"]] == []


def test_a_conversation_is_changed_by_who_sees_it_and_may_write(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    made = caller(bob).post("/conversations", {"threadId": "t", "audience": "person"})
    row = f"/conversations/{made.body['id']}"
    assert made.body["agentId"] == "bob"
    for person in (carol, mallory):
        assert caller(person).patch(row, {"audience": "team"}).status == 404
    assert member(alice.workspace, "viewer").patch(row, {"audience": "team"}).status == 403
    changed = caller(bob).patch(row, {"audience": "team", "title": "Planning"})
    assert (changed.body["audience"], changed.body["title"]) == ("team", "Planning")
    assert caller(bob).post("/conversations", {"threadId": "t"}).status == 409


def test_an_agents_audience_is_changed_by_admins_alone(alice: Person, bob: Person, mallory: Person) -> None:
    [agent] = caller(alice).get("/agents", externalId="bob").body["results"]
    row = f"/agents/{agent['id']}"
    assert caller(alice).patch(row, {"audience": "team"}).body["audience"] == "team"
    assert caller(mallory).patch(row, {"audience": "person"}).status == 404
    assert member(alice.workspace, "editor").patch(row, {"audience": "person"}).status == 403


# ---- the page


def test_the_page_shows_what_would_be_private_and_makes_it_so(alice: Person, bob: Person) -> None:
    bob.say("We decided to divorce.")
    memory = Memory.objects.get()
    Memory.objects.filter(pk=memory.pk).update(visibility="team")
    page, told = reverse("admin:memories_visibility"), {"workspace": alice.workspace.slug}
    editor, viewer = (desk.member(alice.workspace, role) for role in ("editor", "viewer"))
    assert "divorce" in editor.sees(page, **told)
    body = {**told, "memory": [str(memory.pk)]}
    assert viewer.client.post(page, body).status_code == 403
    stranger = desk.member(Workspace.objects.create(slug="swamp", name="Swamp"))
    assert "divorce" not in stranger.sees(page, **told)
    assert stranger.client.post(page, body).status_code == 403
    assert editor.client.post(page, body, follow=True).status_code == 200
    memory.refresh_from_db()
    assert memory.visibility == "private"
    assert "divorce" not in editor.sees(page, **told)
