"""The playground: talk, what is recalled for it, what is learned from it, and what a person does
about both."""

import re
from typing import Any

import pytest
from django.urls import reverse
from pytest_httpserver import HTTPServer

from memories import ingest
from memories.admin.playground.talk_turn import new_turn_id
from memories.documents import pipeline
from memories.documents.document_store import NewDocument, receive
from memories.models import Case, Episode, Memory, MemorySession
from tests.desk import Desk, member, messages_of
from tests.people import Person
from tests.wire_servers import chat_completion, facts_json
from workspaces.models import Role, Workspace


def page(workspace: Workspace, user: str = "ada", turn: str = "") -> str:
    return f"{reverse('admin:memories_playground')}?workspace={workspace.slug}&user={user}&turn={turn}"


def says(desk: Desk, workspace: Workspace, words: str, turn: str = "", user: str = "ada") -> Any:
    body = {"words": words, "turn": turn or new_turn_id()}
    return desk.client.post(page(workspace, user), body, follow=True)


def part(html: str, label: str) -> str:
    """A section of the page, without tags."""
    found = re.search(rf'aria-label="{label}">(.*?)</section>', html, re.DOTALL)
    assert found, f"no section {label}"
    return " ".join(re.sub(r"<[^>]+>", " ", found[1]).split())


@pytest.fixture
def owner(transactional_db: None, workspace: Workspace) -> Desk:
    return member(workspace)


def test_what_is_said_is_learned_with_its_words_and_recalled_later(owner: Desk, workspace: Workspace) -> None:
    said = says(owner, workspace, "I moved to Lisbon. I prefer tea to coffee.").content.decode()
    learned = part(said, "Learned")
    assert "User prefers tea to coffee" in learned
    assert "“I prefer tea to coffee.”" in learned
    assert "Nothing that is known answers this" in part(said, "Recalled")
    asked = says(owner, workspace, "Do I prefer tea or coffee?").content.decode()
    assert "tea to coffee" in part(asked, "Recalled")
    assert "tea to coffee" in asked.partition('id="prompt"')[2]
    assert "Nothing" in part(asked, "Learned")
    assert part(asked, "Talk").count("show what it did") == 1


def test_a_message_that_is_sent_twice_is_said_once(owner: Desk, workspace: Workspace) -> None:
    turn = new_turn_id()
    for _ in range(2):
        says(owner, workspace, "I prefer tea to coffee.", turn)
    assert Episode.objects.count() == 1
    refused = says(owner, workspace, "I prefer juice to tea.", turn)
    assert "says something else already" in refused.content.decode()
    assert Episode.objects.count() == 1


def test_another_person_and_an_older_message_are_chosen(owner: Desk, workspace: Workspace) -> None:
    first = new_turn_id()
    says(owner, workspace, "I prefer tea to coffee.", first)
    says(owner, workspace, "I live in Ghent.")
    assert "User lives in Ghent" in part(owner.sees(page(workspace)), "Learned")
    assert "tea to coffee" in part(owner.sees(page(workspace, turn=first)), "Learned")
    assert "tea" not in part(owner.sees(page(workspace, user="bob")), "Talk")


def test_what_was_replaced_is_told_beside_what_was_learned(owner: Desk, workspace: Workspace) -> None:
    says(owner, workspace, "I live in Ghent.")
    learned = part(says(owner, workspace, "I moved to Lisbon.").content.decode(), "Learned")
    assert "In place of User lives in Ghent" in learned


def test_each_may_be_corrected_forgotten_or_made_a_case(owner: Desk, workspace: Workspace) -> None:
    html = says(owner, workspace, "I prefer tea to coffee.").content.decode()
    memory = Memory.objects.get()
    for verb in ("correct", "forget", "case"):
        assert f"/{memory.pk}/do/{verb}/" in html
    here = page(workspace)
    answer = owner.does(memory, "case", back=here)
    assert "waits in the Inbox" in messages_of(answer)
    assert answer.redirect_chain[-1][0] == here
    (case,) = Case.objects.all()
    assert (case.kind, case.state, case.items.get().memory) == ("uncertain", "open", memory)
    owner.does(memory, "correct", content="User prefers mint tea to coffee", back=here)
    asked = says(owner, workspace, "Do I prefer tea or coffee?").content.decode()
    assert "mint tea" in part(asked, "Recalled")
    owner.does(Memory.objects.get(version=2), "forget", reason="wrong", back=here)
    assert "mint" not in part(owner.sees(here), "Recalled")


def test_a_case_that_a_person_made_is_decided_like_any_other(owner: Desk, workspace: Workspace) -> None:
    says(owner, workspace, "I prefer tea to coffee.")
    memory = Memory.objects.get()
    owner.does(memory, "case")
    owner.does(memory, "case")
    case = Case.objects.get()
    assert "somebody asks whether it holds" in owner.sees(reverse("admin:memories_case_change", args=[case.pk]))
    owner.does(case, "keep-both")
    case.refresh_from_db()
    assert (case.state, memory.state) == ("decided", "live")
    owner.does(memory, "forget", reason="outdated")
    assert "nothing to decide" in messages_of(owner.does(memory, "case"))


def test_a_viewer_looks_on_and_a_stranger_sees_nothing(owner: Desk, workspace: Workspace, mallory: Person) -> None:
    says(owner, workspace, "I prefer tea to coffee.")
    viewer = member(workspace, Role.VIEWER)
    html = viewer.sees(page(workspace))
    assert "tea to coffee" in part(html, "Learned")
    assert "may look on" in html
    assert "/do/forget/" not in html
    assert says(viewer, workspace, "I live in Ghent.").status_code == 403
    stranger = member(mallory.workspace)
    assert "tea to coffee" not in stranger.sees(page(workspace))
    says(stranger, workspace, "I live in Ghent.")
    assert Episode.objects.filter(workspace=workspace).count() == 1


@pytest.fixture
def model(workspace: Workspace, httpserver: HTTPServer) -> HTTPServer:
    """The workspace's own model."""
    own = {"provider": "openai", "model": "m", "baseUrl": httpserver.url_for("/v1")}
    workspace.settings = {"extractors": [own]}
    workspace.save()
    return httpserver


def test_a_configured_model_answers_with_what_is_recalled(owner: Desk, workspace: Workspace, model: HTTPServer) -> None:
    answer = chat_completion('{"reply": "You prefer tea, I hear."}')
    model.expect_ordered_request("/v1/chat/completions").respond_with_json(answer)
    html = says(owner, workspace, "I prefer tea to coffee.").content.decode()
    assert "You prefer tea, I hear." in part(html, "Talk")
    assert "a model answers" in html
    assert "The worker has it" in part(html, "Learned")
    assert "playground.js" in html
    session = MemorySession.objects.get()
    model.expect_ordered_request("/v1/chat/completions").respond_with_json(chat_completion(facts_json()))
    ingest.run(session.pk)
    done = owner.sees(page(workspace))
    assert "tea to coffee" in part(done, "Learned")
    assert "playground.js" not in done
    assert b"<memory>" in model.log[0][0].data
    MemorySession.objects.update(state="dead", error="the model was away")
    assert "the model was away" in part(owner.sees(page(workspace)), "Learned")


@pytest.mark.parametrize("text", ['{"reply": 3}', "words"])
def test_a_model_that_does_not_answer_well_stops_nothing(
    owner: Desk, workspace: Workspace, model: HTTPServer, text: str
) -> None:
    model.expect_request("/v1/chat/completions").respond_with_json(chat_completion(text))
    answer = says(owner, workspace, "I prefer tea to coffee.")
    assert "not answer in the form" in messages_of(answer)
    assert Episode.objects.count() == 1


def test_a_model_that_is_away_is_told(owner: Desk, workspace: Workspace, model: HTTPServer) -> None:
    model.expect_request("/v1/chat/completions").respond_with_data("no", status=401)
    assert "No model answered" in messages_of(says(owner, workspace, "I prefer tea to coffee."))


def test_what_is_recalled_out_of_a_document_leads_to_it(owner: Desk, workspace: Workspace, alice: Person) -> None:
    text = NewDocument([b"The bakery opens at six in the morning."], title="Hours")
    document = receive(alice.scope, text).document
    pipeline.run(document.pk)
    html = says(owner, workspace, "When does the bakery open in the morning?").content.decode()
    assert f"/admin/memories/document/{document.pk}/change/" in html
    assert "chunks" in part(html, "Recalled")


def test_what_is_not_filled_is_told(owner: Desk, workspace: Workspace) -> None:
    assert "required" in says(owner, workspace, " ").content.decode()
    assert Episode.objects.count() == 0
    other = owner.sees(f"{reverse('admin:memories_playground')}?workspace=nowhere&user=ada")
    assert "Select a valid choice" in other
