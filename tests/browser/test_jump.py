"""Ctrl-K with keyboard and eyes."""

from typing import Any

from playwright.sync_api import expect


def test_somebody_is_reached_by_a_few_letters(visit: Any) -> None:
    ada = visit()
    ada.whole().keyboard.press("Control+k")
    box = ada.page.get_by_role("combobox", name="A person, memory, document, page or act")
    expect(box).to_be_focused()
    ada.page.keyboard.type("lovel")
    first = ada.page.get_by_role("option").filter(has_text="Person").first
    expect(first).to_contain_text("Ada Lovelace")
    expect(first).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", "jump-0")
    ada.page.keyboard.press("Enter")

    ada.page.wait_for_url("**/workspaces/subject/*/change/")


def test_arrows_choose_and_escape_leaves(visit: Any) -> None:
    ada = visit()
    ada.opens("memories/memory/")
    ada.presses("Jump to…")
    options = ada.page.get_by_role("dialog").get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    ada.page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    ada.page.keyboard.press("ArrowUp")
    ada.page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    ada.page.keyboard.press("Escape")

    expect(ada.page.locator("#jump")).not_to_be_visible()
