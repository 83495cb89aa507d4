"""A pattern is tried while it is written."""

from typing import Any

from playwright.sync_api import expect


def test_the_box_tells_what_the_pattern_finds_as_it_is_typed(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens("memories/workspacepattern/add/")
    page = grace.page
    page.locator("#id_regex").fill(r"deploys? with (?P<tool>\w+)")
    page.locator("#id_template").fill("The team deploys with {tool}")
    page.locator("#trial-text").fill("Well. The backend deploys with Kestrel.")
    answer = page.locator("#trial-answer")
    expect(answer).to_contain_text("The team deploys with Kestrel")
    page.locator("#id_regex").fill("deploys? with (")
    expect(answer).to_contain_text("RE2 does not take it")
