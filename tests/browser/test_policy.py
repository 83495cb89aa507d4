"""What waits for a person is tried on the last week, then saved, in a browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from bench.story import Told
from workspaces.models import AuditEntry, Workspace

PAGE = "memories/supersession/policy/"


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_policy_is_tried_and_saved(visit: Any, told: Told, width: int, scheme: str, tmp_path: Any) -> None:
    ada = visit(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    ada.opens(PAGE)
    expect(ada.page.locator("#policy-held")).to_have_text("1")  # a pin
    ada.page.get_by_label("Preference").check()
    ada.presses("Try")
    expect(ada.page.locator("#policy-held")).not_to_have_text("1")
    expect(ada.page.get_by_text("under what you try")).to_be_visible()
    assert ada.fits()
    ada.page.screenshot(path=str(tmp_path / "policy.png"), full_page=True)
    ada.presses("Save")
    expect(ada.page.get_by_text("Saved: it holds from the next message on.")).to_be_visible()
    expect(ada.page.get_by_label("Preference")).to_be_checked()

    kept = Workspace.objects.get(pk=told.workspace.pk).settings["review"]
    assert kept == {"categories": ["preference"]}
    assert AuditEntry.objects.filter(action="change_policy").count() == 1
