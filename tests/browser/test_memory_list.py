"""The list of memories in use: filters in sight, edits in place, evidence, several at once."""

import csv
from typing import Any

import pytest
from playwright.sync_api import expect

from memories.models import Memory

LIST = "memories/memory/"
PHONE = {"viewport": {"width": 390, "height": 844}}


def test_why_a_memory_is_believed_is_one_click_away(visit: Any) -> None:
    alan = visit("alan.turing")
    alan.opens(LIST)
    row = alan.page.locator("#result_list tbody", has_text="aisle seats")
    row.get_by_text("Why?").click()

    dialog = alan.page.locator("dialog[open]")
    expect(dialog).to_contain_text("I prefer aisle seats on trains these days.")
    expect(dialog).to_contain_text("Version 1")
    alan.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_memory_is_edited_in_place_with_the_keyboard(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens(f"{LIST}?category__exact=identity")
    grace.page.get_by_role("button", name="Edit: Ada is allergic").focus()
    grace.page.keyboard.press("Enter")
    dialog = grace.page.locator("dialog[open]")
    expect(dialog.get_by_label("Memory")).to_be_focused()
    dialog.get_by_label("Memory").fill("Ada is allergic to hazelnuts")
    dialog.get_by_label("True until").fill("2031-05-06")
    dialog.get_by_label("Memory").focus()
    grace.page.keyboard.press("Control+Enter")

    expect(grace.page.get_by_text("Corrected: the new version is live.")).to_be_visible()
    assert "category__exact=identity" in grace.page.url
    expect(grace.page.locator("#result_list")).to_contain_text("– 6 May 2031")
    assert Memory.objects.live().get(content__contains="hazelnuts").version == 2


def test_several_are_chosen_and_forgotten_with_one_reason(visit: Any) -> None:
    ada = visit()
    ada.opens(LIST)
    for words in ("hiking", "peanuts"):
        row = ada.page.locator("#result_list tbody", has_text=words)
        row.locator("input.action-select").check()
    ada.page.locator("select[name=action]").select_option("forget")
    ada.presses("Run")
    expect(ada.page.get_by_role("heading", name="Forget: 2 chosen").last).to_be_visible()
    ada.page.get_by_label("Reason").select_option("private")
    ada.presses("Forget")

    expect(ada.page.get_by_text("Forget: 2 of 2 done.")).to_be_visible()
    assert not Memory.objects.live().filter(content__contains="hiking").exists()


def test_filters_are_in_sight_kept_as_a_view_and_taken_along(visit: Any) -> None:
    alan = visit("alan.turing")
    alan.opens(LIST)
    with alan.page.expect_navigation():
        alan.page.locator(".desk-views").get_by_label("Category").select_option("preference")
    alan.page.get_by_text("Keep as a view").click()
    alan.page.get_by_label("Its name").fill("What she likes")
    alan.presses("Keep")
    view = alan.page.get_by_role("link", name="What she likes", exact=True)
    expect(view).to_have_attribute("aria-current", "page")
    with alan.page.expect_download() as taken:
        alan.page.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(taken.value.path().read_text().splitlines()))
    assert {row["category"] for row in rows} == {"preference"}

    alan.follows(alan.page.get_by_role("link", name="Without the filter category"))
    expect(alan.page.locator("#result_list")).to_contain_text("peanuts")
    alan.page.get_by_label("Remove the view What she likes").click()
    expect(view).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_list_fits_a_phone(visit: Any, scheme: str) -> None:
    ada = visit(color_scheme=scheme, **PHONE)
    ada.opens(f"{LIST}?pinned__exact=1")

    assert ada.fits()
    ada.page.get_by_text("Why?").first.click()
    expect(ada.page.locator("dialog[open]")).to_be_visible()
    assert ada.fits()
