"""The preview page: what would be read out of pasted messages, and why; nothing is stored."""

import pytest
from django.urls import reverse

from memories.admin.playground.preview_page import messages_in
from memories.models import Episode, Fact, MemorySession
from tests.desk import Desk, member
from tests.people import Person
from workspaces.models import Role, Workspace

TALK = "Ada: Hi Bob!\nAda: I prefer tea to coffee. My sister moved to Oslo.\nand I miss her.\nBob: Wow!"


def previewed(desk: Desk, workspace: Workspace, messages: str, **fields: str) -> str:
    form = {"workspace": workspace.slug, "messages": messages, "extract": "patterns", **fields}
    answer = desk.client.post(reverse("admin:memories_preview"), form)
    assert answer.status_code == 200
    return answer.content.decode()


def test_pasted_lines_become_messages() -> None:
    said = messages_in(TALK)
    assert [(one.name, one.role) for one in said][1:] == [("Ada", "user"), ("Bob", "user")]
    assert said[1].content.endswith("and I miss her.")
    assert [one.content for one in messages_in("I prefer tea.\nAlways.")] == ["I prefer tea.\nAlways."]
    machines = messages_in("User: hi\nAssistant: hello\nTool: {}")
    assert [(one.name, one.role) for one in machines] == [
        ("", "user"),
        ("", "assistant"),
        ("", "tool"),
    ]


def test_the_page_shows_facts_marks_their_words_and_tells_why_not(workspace: Workspace) -> None:
    html = previewed(member(workspace), workspace, TALK)
    assert "Ada prefers tea to coffee" in html
    assert '<mark><a href="#fact-1">I prefer tea to coffee.</a></mark>' in html
    assert "greetings, thanks and other courtesies" in html


def test_a_preview_stores_nothing(workspace: Workspace) -> None:
    previewed(member(workspace), workspace, TALK, user="ada", thread="t")
    assert not any(model.objects.exists() for model in (Episode, Fact, MemorySession))


def test_a_viewer_may_preview_but_ask_no_model(workspace: Workspace) -> None:
    viewer = member(workspace, Role.VIEWER)
    assert "Ada prefers tea" in previewed(viewer, workspace, TALK)
    assert "does not let you" in previewed(viewer, workspace, TALK, extract="auto")


def test_another_workspace_cannot_be_chosen(workspace: Workspace, mallory: Person) -> None:
    html = previewed(member(mallory.workspace), workspace, TALK)
    assert "Ada prefers tea" not in html
    assert workspace.slug not in html.replace(TALK, "")


@pytest.mark.parametrize("messages", ["", "   \n", "x" * 60_000])
def test_what_cannot_be_read_is_told_in_the_form(workspace: Workspace, messages: str) -> None:
    assert "Paste messages" in previewed(member(workspace), workspace, messages)
