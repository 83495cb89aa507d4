"""What patterns missed and a model or a person found: kept once, for those of the workspace."""

from typing import Any

import pytest
from django.urls import reverse
from pytest_httpserver import HTTPServer

from memories import ingest
from memories.errors import Invalid, NotFound
from memories.models import Episode, MemorySession, Miss
from memories.reading.extraction import unmatched
from tests.desk import Desk, list_of, member, messages_of, page_of
from tests.people import Person
from tests.wire_servers import FACT, claude_message, facts_json, serve_in_turn

UNUSUAL = "Zorble frumption grelled in Lisbon."
GRELLED = "Zorble grelled in Lisbon"
READ = FACT | {
    "statement": GRELLED,
    "quotes": [{"message": 0, "text": "grelled in Lisbon"}],
}


@pytest.fixture
def claude(httpserver: HTTPServer, settings: Any) -> Any:
    settings.ANTHROPIC_API_KEY = "test"
    settings.ANTHROPIC_BASE_URL = httpserver.url_for("").rstrip("/")
    return lambda *facts: serve_in_turn(httpserver, "/v1/messages", claude_message(facts_json(*facts)))


@pytest.fixture
def miss(alice: Person, claude: Any) -> Miss:
    claude(READ)
    alice.say(UNUSUAL, user_id="ana")
    return Miss.objects.get()


def test_what_a_model_found_where_no_pattern_fired_is_kept(miss: Miss) -> None:
    assert (miss.text, miss.statements) == (UNUSUAL, [GRELLED])
    assert (miss.category, miss.found_by, miss.state) == ("identity", "llm", "open")
    assert miss.episode.content == UNUSUAL


def test_what_a_pattern_found_is_no_miss(alice: Person, claude: Any) -> None:
    claude(FACT)
    alice.say("I prefer tea to coffee.", user_id="ana")
    assert not Miss.objects.exists()


@pytest.mark.parametrize("facts", [[], [FACT | {"quotes": [{"message": 0, "text": "boats"}]}]])
def test_a_message_without_proven_facts_is_no_miss(alice: Person, claude: Any, facts: list[Any]) -> None:
    claude(*facts)
    alice.say(UNUSUAL, user_id="ana")
    assert not Miss.objects.exists()


def test_a_message_that_only_the_model_was_asked_about_is_no_miss(alice: Person, claude: Any) -> None:
    claude(READ)
    alice.say(UNUSUAL, user_id="ana", extract="llm")
    assert not Miss.objects.exists()


def test_a_session_that_runs_again_keeps_the_miss_once(miss: Miss) -> None:
    MemorySession.objects.update(state="received", next_attempt_at=miss.created_at)
    assert miss.session is not None
    ingest.run(miss.session.pk)
    assert Miss.objects.count() == 1


def test_what_a_person_found_is_added_to_one_miss(alice: Person) -> None:
    alice.say(UNUSUAL)
    episode = Episode.objects.get()
    unmatched.report(alice.scope, episode.pk, ["Ana grels"], "identity")
    found = unmatched.report(alice.scope, episode.pk, ["Ana frumps", "Ana grels"], "identity")
    assert Miss.objects.count() == 1
    assert (found.statements, found.found_by) == (["Ana grels", "Ana frumps"], "person")


def test_a_miss_is_reported_by_who_sees_the_episode(alice: Person, bob: Person, carol: Person, mallory: Person) -> None:
    bob.say(UNUSUAL)
    episode = Episode.objects.get()
    for person in (carol, mallory):
        with pytest.raises(NotFound):
            unmatched.report(person.scope, episode.pk, ["Ana grels"], "identity")
    with pytest.raises(Invalid):
        unmatched.report(bob.scope, episode.pk, [" "], "identity")
    assert unmatched.report(bob.scope, episode.pk, ["Ana grels"], "identity").text == UNUSUAL


def test_the_worklist_is_seen_by_members_and_settled_by_curators(miss: Miss, mallory: Person) -> None:
    editor, viewer = member(miss.workspace, "editor"), member(miss.workspace, "viewer")
    outsider = member(mallory.workspace)
    assert UNUSUAL in viewer.sees(list_of(Miss))
    assert UNUSUAL not in outsider.sees(list_of(Miss))
    assert outsider.status(page_of(miss)) == 404
    assert outsider.does(miss, "done").status_code == 404
    assert viewer.does(miss, "done").status_code == 403
    assert "settled" in messages_of(editor.does(miss, "done", note="too rare"))
    miss.refresh_from_db()
    assert (miss.state, miss.note) == ("done", "too rare")
    assert UNUSUAL not in editor.sees(list_of(Miss))


def test_a_person_reports_from_the_page_of_an_episode(miss: Miss, mallory: Person) -> None:
    address = reverse("admin:memories_miss_report", args=[miss.episode.pk])
    told = {"statements": "Ana grels\nAna frumps", "category": "plan"}
    assert member(mallory.workspace).client.post(address, told).status_code == 404
    assert member(miss.workspace, "viewer").client.post(address, told).status_code == 403
    editor: Desk = member(miss.workspace, "editor")
    assert address in editor.sees(page_of(miss.episode))
    assert editor.status(address) == 200
    assert editor.client.post(address, told, follow=True).status_code == 200
    assert Miss.objects.get(found_by="person").statements == ["Ana grels", "Ana frumps"]


def test_the_page_of_a_miss_offers_to_make_a_pattern(miss: Miss) -> None:
    page = member(miss.workspace, "editor").sees(page_of(miss))
    assert f"{reverse('admin:memories_workspacepattern_add')}?miss={miss.pk}" in page
    assert GRELLED in page


def person_found(alice: Person, text: str, statement: str) -> Miss:
    alice.say(text, extract="patterns")
    episode = Episode.objects.get(content=text)
    return unmatched.report(alice.scope, episode.pk, [statement], "possession")


LEAKS = (
    ("Blah, my canoe leaks badly.", "Uma's canoe leaks"),
    ("Blah, my punt leaks badly.", "Uma's punt leaks"),
)


def test_misses_alike_are_one_group_with_its_count(alice: Person, mallory: Person) -> None:
    first, _ = (person_found(alice, *leak) for leak in LEAKS)
    editor = member(first.workspace, "editor")
    page = editor.sees(list_of(Miss))
    assert "Likely patterns" in page
    assert (first.shape, "2 misses" in page, first.shape in page) == ("my … leaks …", True, True)
    assert "Likely patterns" not in member(mallory.workspace).sees(list_of(Miss))
    assert LEAKS[0][0] in editor.sees(list_of(Miss), shape=first.shape)
    assert LEAKS[0][0] not in editor.sees(list_of(Miss), shape="no such")


def test_a_pattern_made_from_a_miss_is_general_and_settles_those_it_finds(alice: Person) -> None:
    first, second = (person_found(alice, *leak) for leak in LEAKS)
    editor = member(first.workspace, "editor")
    add = f"{reverse('admin:memories_workspacepattern_add')}?miss={first.pk}"
    form = editor.client.get(add).context["adminform"].form
    assert "canoe" not in form.initial["regex"]
    assert form.initial["template"] == "{speaker}'s {what} leaks"
    told = form.initial | {"name": "leaks", "confidence": 0.8, "enabled": "on", "visibility": ""}
    told |= {"examples": first.text, "counter_examples": ""}
    assert editor.client.post(add, told).status_code == 302
    assert set(Miss.objects.values_list("state", flat=True)) == {"done"}
