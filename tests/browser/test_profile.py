"""Putting right what is known of somebody, on one page."""

from typing import Any

import pytest
from playwright.sync_api import expect

from bench.story import Told
from memories.belief.review import NewMemory, create
from memories.models import Feature, Memory
from memories.profiles.features import edit_features
from memories.profiles.features.edit_features import NewFeature
from tests.browser.conftest import faults
from tests.browser.test_pages import LOOKS
from workspaces.models import Subject
from workspaces.permissions import ROLE_CAPABILITIES
from workspaces.scope import Scope


def page_of(name: str) -> str:
    return f"workspaces/subject/{Subject.objects.get(external_id=name).pk}/change/"


def test_memory_is_corrected_and_pinned_in_place_with_the_keyboard(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens(page_of("ada"))
    row = grace.page.locator(".desk-known", has_text="allergic to peanuts")
    row.get_by_text("Correct").focus()
    grace.page.keyboard.press("Enter")
    expect(row.get_by_label("Correct")).to_be_focused()
    row.get_by_label("Correct").fill("Ada is allergic to hazelnuts")
    grace.page.keyboard.press("Tab")
    grace.page.keyboard.press("Enter")
    expect(grace.page.get_by_text("Corrected: the new version is live.")).to_be_visible()
    row = grace.page.locator(".desk-known", has_text="allergic to hazelnuts")
    row.get_by_role("button", name="Pin").click()

    expect(grace.page.get_by_text("Pinned:")).to_be_visible()
    assert Memory.objects.live().get(content__contains="hazelnuts").pinned


def test_memory_is_forgotten_as_wrong_and_another_moved(visit: Any) -> None:
    ada = visit()
    ada.opens(page_of("ada"))
    row = ada.page.locator(".desk-known", has_text="hiking")
    row.get_by_text("Forget").first.click()
    row.get_by_label("Reason").select_option("wrong")
    row.get_by_role("button", name="Forget").click()
    expect(ada.page.get_by_text("It will not be learned again.")).to_be_visible()
    ada.page.get_by_label("Choose: Ada is allergic to peanuts").check()
    ada.page.get_by_label("Split off the chosen memories").fill("byron")
    ada.presses("Move…")
    expect(ada.page.get_by_text("a new person begins with it")).to_be_visible()
    ada.presses("Move")

    expect(ada.page.get_by_text("Moved to byron.")).to_be_visible()
    assert Memory.objects.live().get(content__contains="peanuts").subject.external_id == "byron"  # type: ignore[union-attr]


def test_merge_tells_its_plan_asks_and_is_undone(visit: Any) -> None:
    ada = visit()
    Subject.objects.create(workspace=Subject.objects.get().workspace, external_id="countess")
    ada.opens(page_of("ada"))
    shown = ada.reads()
    ada.presses("Merge")
    dialog = ada.page.locator("dialog[open]")
    expect(dialog).to_contain_text("1 conversation, ")
    dialog.get_by_label("Into").fill("countess")
    dialog.get_by_role("button", name="Merge").click()

    expect(ada.page.get_by_text("memories are about countess now.")).to_be_visible()
    ada.follows(ada.page.get_by_role("link", name="countess"))
    assert "hiking" in ada.reads()
    ada.presses("Undo the merge")
    expect(ada.page.get_by_text("each have their own again")).to_be_visible()
    assert "hiking" not in ada.reads()
    ada.opens(page_of("ada"))
    assert ada.page.locator(".desk-known").all_inner_texts() != []
    assert shown.count("hiking") == ada.reads().count("hiking")


@pytest.mark.parametrize("look", LOOKS)
def test_first_screen_timeline_and_searches_are_read(visit: Any, axe: str, look: str) -> None:
    alan = visit("alan.turing", **LOOKS[look], reduced_motion="reduce")
    alan.opens(page_of("ada"))
    heads = alan.whole().locator("#content h2").all_inner_texts()
    assert heads[:7] == [
        "Who",
        "Now",
        "Instructions",
        "Preferences",
        "Plans",
        "Open cases 1",
        "What changed this week",
    ]
    expect(alan.page.locator("#content")).to_contain_text("forgot as wrong")
    assert (alan.fits(), faults(alan, axe)) == (True, [])
    text = "Ada Lovelace prefers tea to coffee"
    expect(alan.page.locator(".desk-known").get_by_text(text, exact=True)).to_have_count(1)

    alan.follows(alan.page.get_by_role("link", name="Timeline"))
    over = alan.page.locator(".desk-life__entry", has_text="window seats")
    expect(over).to_contain_text("replaced")
    expect(over).to_contain_text("believed")
    assert (alan.fits(), faults(alan, axe)) == (True, [])
    alan.page.get_by_label("as we believed it on").fill("2001-01-01")
    alan.presses("Show")
    expect(alan.page.get_by_text("Nothing was believed then.")).to_be_visible()

    alan.follows(alan.page.get_by_role("link", name="Conversations and searches"))
    expect(alan.page.get_by_role("link", name="trip-planning")).to_be_visible()
    assert (alan.fits(), faults(alan, axe)) == (True, [])


def test_feature_is_corrected_and_ended_in_place(visit: Any, told: Told) -> None:
    scope = Scope(told.workspace.pk, "test", ROLE_CAPABILITIES["owner"])
    edit_features.create(scope, "user:ada", NewFeature("identity", "habits", "climbs", "boulders"))
    grace = visit("grace.hopper")
    grace.opens(page_of("ada"))
    grace.page.get_by_label("Correct climbs").focus()
    grace.page.keyboard.press("Enter")
    grace.page.locator("details[open]").get_by_label("It is").fill("steep walls")
    grace.page.keyboard.press("Tab")
    grace.page.keyboard.press("Enter")
    expect(grace.page.get_by_text("Corrected: no machine changes it now.")).to_be_visible()
    grace.page.get_by_label("End climbs").click()
    expect(grace.page.get_by_text("Ended.")).to_be_visible()

    ended = Feature.objects.get(value="steep walls")
    assert (ended.method, ended.ended_at is None) == ("manual", False)


def test_duplicates_are_merged_in_place(visit: Any) -> None:
    memory = Memory.objects.live().get(content__contains="peanuts")
    new = NewMemory(memory.content, "ada", category="identity", visibility="global")
    create(Scope(memory.workspace_id, "test", ROLE_CAPABILITIES["owner"]), new)
    grace = visit("grace.hopper")
    grace.opens(page_of("ada"))
    grace.page.locator(".desk-alike").get_by_role("button").first.click()

    expect(grace.page.get_by_text("Merged: the one that stays")).to_be_visible()
    assert Memory.objects.live().get(content__contains="peanuts").source_count == 2


@pytest.mark.parametrize(("label", "ending"), [("↓ JSON", "json"), ("↓ Markdown", "md")])
def test_profile_is_taken_along_as_a_file(visit: Any, label: str, ending: str) -> None:
    alan = visit("alan.turing")
    alan.opens(page_of("ada"))
    with alan.page.expect_download() as taken:
        alan.page.get_by_role("link", name=label).click()

    assert taken.value.suggested_filename.endswith(f".{ending}")
    assert "allergic to peanuts" in taken.value.path().read_text()
