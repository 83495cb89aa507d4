"""A chain in the browser: its sliders by keyboard, its quotes on the spot, and all without
script."""

from typing import Any

from playwright.sync_api import expect

from memories.models import Memory

FIRST, SECOND = "Team switched from Go to Rust", "billing team switched"
SAID = "We switched from Go to Rust"


def chained() -> str:
    memory = Memory.objects.live().get(content__contains=SECOND)
    return f"memories/memory/{memory.pk}/change/"


def test_the_slider_answers_to_keys_and_keeps_its_place_in_the_address(visit: Any) -> None:
    ada = visit()
    ada.opens(chained())
    told = ada.page.locator("#as-of-told")
    expect(told).to_contain_text(SECOND)
    ada.page.locator("#as-of-known").focus()
    ada.page.keyboard.press("Home")
    expect(told).to_contain_text("nothing of this chain")
    for key in ("PageUp", "ArrowLeft"):
        before = ada.page.evaluate("location.href")
        ada.page.keyboard.press(key)
        ada.page.wait_for_function("(before) => location.href !== before", arg=before)
    expect(told).to_contain_text(FIRST)
    expect(ada.page.locator(".is-beyond")).to_have_count(1)
    ada.page.reload()

    expect(told).to_contain_text(FIRST)


def test_the_second_axis_is_asked_by_keyboard_too(visit: Any) -> None:
    ada = visit()
    ada.opens(chained())
    told = ada.page.locator("#as-of-told")
    ada.page.locator("#as-of-valid").focus()
    ada.page.keyboard.press("Home")
    expect(told).to_contain_text("nothing of this chain")
    ada.page.keyboard.press("End")

    expect(told).to_contain_text(SECOND)


def test_a_day_is_asked_without_script(visit: Any) -> None:
    memory = Memory.objects.get(content__contains=FIRST)
    ada = visit(java_script_enabled=False)
    ada.opens(chained())
    ada.page.locator("input[name=known_on]").fill(f"{memory.created_at:%Y-%m-%d}")
    ada.page.keyboard.press("Enter")

    expect(ada.page.locator("#as-of-told")).to_contain_text(FIRST)


def test_a_quote_opens_where_it_was_said(visit: Any) -> None:
    ada = visit()
    ada.opens(chained())
    here = ada.page.url
    ada.page.locator(".desk-evidence summary").first.click()
    ada.page.locator("a.desk-quote").first.click()
    dialog = ada.page.locator("dialog[open]")
    expect(dialog.locator("mark.is-asked")).to_contain_text(SAID)
    ada.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    assert ada.page.url == here


def test_from_a_quote_on_the_spot_one_comes_to_its_episode(visit: Any) -> None:
    ada = visit()
    ada.opens(chained())
    ada.page.locator(".desk-evidence summary").first.click()
    ada.page.locator("a.desk-quote").first.click()
    ada.follows(ada.page.locator("dialog[open] a", has_text="Open the episode"))

    assert "/memories/episode/" in ada.page.url
    expect(ada.page.locator("mark.is-asked")).to_contain_text(SAID)


def test_a_quote_leads_to_its_episode_without_script(visit: Any) -> None:
    ada = visit(java_script_enabled=False)
    ada.opens(chained())
    ada.page.locator(".desk-evidence summary").first.click()
    ada.follows(ada.page.locator("a.desk-quote").first)

    expect(ada.page.locator("mark.is-asked")).to_contain_text(SAID)
