"""A slot is tried on two statements while it is written."""

from typing import Any

from playwright.sync_api import expect


def test_the_box_tells_what_becomes_of_two_statements(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens("memories/workspaceslot/add/")
    page = grace.page
    page.locator("#id_regex").fill(r"fired to cone (?P<value>\w+)")
    page.locator("#trial-before").fill("The urn is fired to cone six")
    page.locator("#trial-after").fill("The urn is fired to cone ten")
    answer = page.locator("#trial-answer")
    expect(answer).to_contain_text("The newer takes the place of the older.")
    page.locator("#id_regex").fill("cone (")
    expect(answer).to_contain_text("RE2 does not take it")
