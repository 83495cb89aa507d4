"""Who sees what was told where nobody said: a person's words are his own, a team's are the team's."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from memories.ingest import NewMessage
from memories.models import Memory
from tests.api_fixtures import caller
from tests.people import Person, bound_to_agent

POSTGRES = "We decided to use PostgreSQL for the backend."
STORIES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "visibility_stories.jsonl")
    .read_text()
    .splitlines()
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
