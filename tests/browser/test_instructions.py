"""Instructions are filled in from a template, tried on the last week, then saved, in a browser."""

from typing import Any

import pytest
from playwright.sync_api import expect
from pytest_httpserver import HTTPServer

from bench.story import Told
from tests.wire_servers import chat_completion, facts_json, serve_in_turn
from workspaces.models import Workspace

PAGE = "memories/supersession/instructions/"


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_instructions_are_tried_and_saved(
    visit: Any, told: Told, width: int, scheme: str, tmp_path: Any, httpserver: HTTPServer, settings: Any
) -> None:
    settings.EXTRACTION_PROVIDER, settings.EXTRACTION_MODEL = "openai", "m"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    serve_in_turn(httpserver, "/v1/chat/completions", chat_completion(facts_json()))
    ada = visit(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    ada.opens(PAGE)
    ada.page.get_by_label("Template").select_option("crm")
    ada.presses("Take the template")
    expect(ada.page.get_by_label("Leave out")).to_have_value("private life, small talk")
    ada.presses("Try")
    expect(ada.page.get_by_text("Nothing would have been otherwise")).to_be_visible()
    expect(ada.page.get_by_text("At most")).to_be_visible()
    assert ada.fits()
    ada.page.screenshot(path=str(tmp_path / "instructions.png"), full_page=True)
    ada.presses("Save")
    expect(ada.page.get_by_text("Saved: they hold from the next message on.")).to_be_visible()
    kept = Workspace.objects.get(pk=told.workspace.pk).settings["instructions"]
    assert kept["ignore"] == "private life, small talk"
