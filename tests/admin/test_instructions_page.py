"""The page of a workspace's instructions: from a template, tried on the last week, saved by admins."""

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from pytest_httpserver import HTTPServer

from memories.models import Episode, Fact, ModelPrice
from tests.desk import Desk, member
from tests.people import Person
from tests.wire_servers import FACT, Json, chat_completion, facts_json, serve_in_turn
from workspaces.models import Role, Workspace

PAGE = reverse("admin:memories_instructions")
TEXT = "As of this spring I live in Lisbon, by the river."


@pytest.fixture
def asked(httpserver: HTTPServer, settings: Any, alice: Person) -> list[Json]:
    """A model that finds a fact as long as nobody tells it to leave something out; one talk of the last week."""
    alice.say(TEXT, extract="none", user_id="ana")
    settings.EXTRACTION_PROVIDER, settings.EXTRACTION_MODEL = "openai", "m"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    answers = chat_completion(facts_json(FACT)), chat_completion(facts_json())
    return serve_in_turn(httpserver, "/v1/chat/completions", *answers)


def send(desk: Desk, button: str, **fields: Any) -> Any:
    return desk.client.post(PAGE, {button: "1", **fields})


def kept(workspace: Workspace) -> Any:
    return Workspace.objects.get(pk=workspace.pk).settings.get("instructions")


def test_a_template_fills_the_form_and_saves_nothing(workspace: Workspace) -> None:
    told = send(member(workspace), "fill", template="crm").content.decode()
    assert "the next step with its day" in told
    assert kept(workspace) is None


def test_instructions_are_tried_on_the_last_week_and_nothing_changes(
    alice: Person, asked: list[Json], workspace: Workspace
) -> None:
    before = Episode.objects.count(), Fact.objects.count()
    answer = send(member(workspace), "try", ignore="homes")
    read = answer.context["read"]
    assert ([one.statement for one in read.lost], read.made, read.read) == (["Ana lives in Lisbon"], [], 1)
    assert "At most 2 calls of m at localhost" in answer.content.decode()
    assert [("homes" in body["messages"][0]["content"]) for body in asked] == [False, True]
    assert ((Episode.objects.count(), Fact.objects.count()), kept(workspace)) == (before, None)


def test_a_dear_trial_is_confirmed_first(asked: list[Json], workspace: Workspace, httpserver: HTTPServer) -> None:
    place = f"m at localhost:{httpserver.port}"
    ModelPrice.objects.create(model=place, input_per_million=Decimal(100_000), output_per_million=0)
    admin = member(workspace)
    assert "by its price" in send(admin, "try", ignore="homes").content.decode()
    assert asked == []
    send(admin, "try", ignore="homes", dear="on")
    assert len(asked) == 2


def test_without_a_model_the_page_says_so(workspace: Workspace, settings: Any) -> None:
    settings.EXTRACTION_PROVIDER = "none"
    assert "No model is configured" in send(member(workspace), "try").content.decode()


def test_admins_save_and_others_do_not_even_try(workspace: Workspace, mallory: Person) -> None:
    admin, editor = member(workspace), member(workspace, Role.EDITOR)
    assert send(admin, "save", extract=" diets ", ignore="").status_code == 302
    assert kept(workspace) == {"extract": "diets"}
    for button in ("fill", "try", "save"):
        assert send(editor, button, extract="mine").status_code == 403
    assert "diets" in editor.client.get(PAGE).content.decode()
    outsider = member(mallory.workspace)
    assert outsider.client.get(f"{PAGE}?workspace={workspace.slug}").status_code == 404
    assert kept(workspace) == {"extract": "diets"}


def test_what_is_too_long_is_refused(workspace: Workspace) -> None:
    send(member(workspace), "save", extract="x" * 1_001)
    assert kept(workspace) is None
