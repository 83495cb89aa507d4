"""Rules in the browser: what would change is seen first, then one is switched, and it is undone."""

from typing import Any

from playwright.sync_api import expect

from memories.models import Memory
from workspaces.models import Workspace

RULES = "memories/fact/rules/"


def test_a_rule_is_looked_at_switched_and_taken_back(visit: Any) -> None:
    ada = visit()
    ada.opens(RULES)
    ada.page.get_by_label("Find a rule").fill("prefers tea")
    with ada.page.expect_navigation():
        ada.presses("Find")
    before = Memory.objects.count()
    with ada.page.expect_navigation():
        ada.page.get_by_role("button", name="What would change: prefers", exact=True).click()
    told = ada.page.locator("#rehearsal")
    expect(told).to_contain_text("over the last 7 days; nothing is changed")
    expect(told.locator("#made")).to_have_text("0")
    assert int(told.locator("#lost").inner_text()) > 0
    with ada.page.expect_navigation():
        ada.page.get_by_role("button", name="Switch prefers off", exact=True).first.click()
    expect(ada.page.get_by_text("is off from the next message on")).to_be_visible()
    assert Workspace.objects.get(slug="orchard").settings["patternsOff"] == ["prefers"]
    with ada.page.expect_navigation():
        ada.page.get_by_role("button", name="Take back: prefers", exact=True).first.click()
    assert Workspace.objects.get(slug="orchard").settings["patternsOff"] == []
    assert Memory.objects.count() == before


def test_two_statements_are_tried_in_words(visit: Any) -> None:
    alan = visit("alan.turing")
    alan.opens(f"{RULES}?tab=attributes")
    alan.page.get_by_label("Known before").fill("Ana lives in Oslo")
    alan.page.get_by_label("Said now").fill("Ana lives in Rome")
    with alan.page.expect_navigation():
        alan.presses("Try")
    expect(alan.page.locator("#tried")).to_contain_text("lives in: one at a time")
    assert "slot:" not in alan.reads()
    expect(alan.page.get_by_role("button", name="Switch off")).to_have_count(0)


def test_rules_fit_a_narrow_screen(visit: Any) -> None:
    ada = visit(viewport={"width": 390, "height": 800})
    for tab in ("patterns", "attributes", "ends", "limits", "waits"):
        ada.opens(f"{RULES}?tab={tab}")
        assert ada.fits(), tab
