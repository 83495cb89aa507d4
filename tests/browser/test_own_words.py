"""A slot is tried on two statements while it is written."""

from typing import Any

import pytest
from playwright.sync_api import expect

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PAGES = tuple(
    f"memories/{model}/{page}" for model in ("workspaceslot", "workspacechange")
    for page in ("", "add/")
)  # fmt: skip


def test_the_box_tells_what_becomes_of_two_statements(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens("memories/workspaceslot/add/")
    page = grace.page
    page.locator("#id_regex").fill(r"fired to cone (?P<value>\w+)")
    page.locator("#trial-before").fill("The urn is fired to cone six")
    page.locator("#trial-after").fill("The urn is fired to cone ten")
    answer = page.locator("#trial-answer")
    expect(answer).to_contain_text("The newer supersedes the older.")
    page.locator("#id_regex").fill("cone (")
    expect(answer).to_contain_text("RE2 does not take it")


@pytest.mark.parametrize("width", [1440, 390])
def test_its_pages_open_and_fit(visit: Any, width: int) -> None:
    ada = visit(viewport={"width": width, "height": 900})
    for path in PAGES:
        ada.opens(path)
        expect(ada.page.locator("#content-main, #content").first).to_be_visible()
        assert ada.page.evaluate(OVERFLOW) <= 0, path
