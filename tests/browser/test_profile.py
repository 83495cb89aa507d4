"""Putting right what is known of somebody, on one page."""

from typing import Any

from playwright.sync_api import expect

from memories.models import Memory
from workspaces.models import Subject


def page_of(name: str) -> str:
    return f"workspaces/subject/{Subject.objects.get(external_id=name).pk}/change/"


def test_memory_is_corrected_and_pinned_in_place_with_the_keyboard(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens(page_of("ada"))
    row = grace.page.locator(".desk-known", has_text="allergic to peanuts")
    row.get_by_text("Correct").focus()
    grace.page.keyboard.press("Enter")
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
    ada.page.get_by_label("Move the chosen memories").fill("byron")
    ada.presses("Move")

    expect(ada.page.get_by_text("1 moved to byron.")).to_be_visible()
    assert Memory.objects.live().get(content__contains="peanuts").subject.external_id == "byron"  # type: ignore[union-attr]


def test_merge_tells_its_plan_and_asks(visit: Any) -> None:
    ada = visit()
    Subject.objects.create(workspace=Subject.objects.get().workspace, external_id="countess")
    ada.opens(page_of("ada"))
    ada.presses("Merge")
    dialog = ada.page.locator("dialog[open]")
    expect(dialog).to_contain_text("conversations")
    dialog.get_by_label("Into").fill("countess")
    dialog.get_by_role("button", name="Merge").click()

    expect(ada.page.get_by_text("memories are about countess now.")).to_be_visible()
