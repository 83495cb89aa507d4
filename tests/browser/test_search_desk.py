"""Searching, comparing and asking why, as a person does it."""

from typing import Any

import pytest
from playwright.sync_api import expect


def test_a_query_is_typed_and_answered(visit: Any) -> None:
    ada = visit()
    ada.follows(ada.page.get_by_role("link", name="Search", exact=True))
    ada.page.get_by_label("Query").fill("tea or coffee?")
    ada.page.keyboard.press("Enter")

    expect(ada.page.locator(".desk-hits li").first).to_contain_text("prefers tea")
    expect(ada.page.locator(".desk-hits .desk-quote").first).to_be_visible()


def test_rankings_are_compared_and_a_missing_hit_explained(visit: Any) -> None:
    ada = visit()
    ada.opens("memories/memory/search/?query=what+does+ada+drink&ranking=all")
    expect(ada.page.locator(".desk-answers > section[data-ranking]")).to_have_count(4)
    first = ada.page.locator('[data-ranking="hybrid"] li').first
    expect(first).to_contain_text("linea 1")
    ada.follows(ada.page.get_by_role("link", name="not in keyword: why?").first)

    expect(ada.page.get_by_role("heading", name="Where it fell out")).to_be_visible()
    expect(ada.page.get_by_text("Nothing brings it up")).to_be_visible()


def test_rankings_are_asked_one_by_one_without_script(visit: Any) -> None:
    ada = visit(java_script_enabled=False)
    ada.opens("memories/memory/search/?query=what+does+ada+drink&ranking=all")
    expect(ada.page.locator('[data-ranking="hybrid"] li').first).to_be_visible()
    ada.page.locator('[aria-label="keyword"]').get_by_role("link", name="Ask this ranking").click()

    expect(ada.page.locator('[data-ranking="keyword"]')).to_be_visible()


def test_filters_are_opened_with_the_keyboard(visit: Any) -> None:
    ada = visit()
    ada.opens("memories/memory/search/?query=tea")
    ada.page.locator(".desk-ask summary").focus()
    ada.page.keyboard.press("Enter")
    ada.page.get_by_label("Category").select_option("policy")
    ada.presses("Search")

    expect(ada.page.locator(".desk-hits")).to_contain_text("encrypt backups")
    expect(ada.page.locator(".desk-hits")).not_to_contain_text("prefers tea")


@pytest.mark.parametrize("width", [1440, 390])
def test_the_pages_of_the_desk_fit(visit: Any, width: int) -> None:
    ada = visit(viewport={"width": width, "height": 900})
    for path in (
        "memories/memory/search/?query=tea&ranking=all",
        "memories/memory/golden/",
        "memories/evaluationrun/plots/",
        "",
    ):
        ada.opens(path)
        expect(ada.page.locator("#content-main")).to_be_visible()
        assert ada.fits(), path


def test_a_number_of_home_leads_to_its_rows(visit: Any) -> None:
    ada = visit()
    ada.follows(ada.page.get_by_role("link", name="of all versions live"))
    expect(ada.page.locator("#result_list tbody tr").first).to_be_visible()
    assert "state=all" in ada.page.url


def test_a_hit_becomes_a_golden_question_and_is_asked(visit: Any) -> None:
    ada = visit()
    ada.opens("memories/memory/search/?query=what+does+ada+drink")
    ada.page.get_by_role("button", name="This has to be found").first.click()
    expect(ada.page.get_by_text("not asked yet")).to_be_visible()
    ada.presses("Ask them now")

    expect(ada.page.locator('[aria-label="Run"] li')).to_have_count(1)
    expect(ada.page.locator('[aria-label="Run"]')).to_contain_text("same")
    assert ada.fits()


def test_what_was_typed_goes_along_to_why_not(visit: Any) -> None:
    ada = visit()
    ada.opens("memories/memory/search/")
    ada.whole().get_by_label("Query").fill("tea or coffee?")
    ada.follows(ada.page.get_by_role("link", name="Why not found?"))

    expect(ada.page.get_by_label("Query")).to_have_value("tea or coffee?")
