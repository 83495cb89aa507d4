"""Erasing somebody: from the subject's page to the certificate, and back again without a word."""

from typing import Any

import pytest
from playwright.sync_api import expect

from memories.models import Conversation, Episode
from workspaces.models import Subject


def page_of(name: str) -> str:
    return f"workspaces/subject/{Subject.objects.get(external_id=name).pk}/change/"


def test_a_subject_is_erased_once_its_name_is_typed(visit: Any) -> None:
    ada = visit()
    ada.opens(page_of("ada"))
    ada.follows(ada.page.get_by_role("link", name="erase…"))
    ada.page.get_by_label("Type ada").fill("ada")
    ada.page.keyboard.press("Enter")

    expect(ada.page.get_by_role("heading", name="Erasure of a person")).to_be_visible()
    assert "peanuts" not in ada.reads()
    assert not Subject.objects.filter(external_id="ada").exists()


def test_cancel_leads_back_and_nothing_is_gone(visit: Any) -> None:
    ada = visit()
    ada.opens(page_of("ada"))
    ada.follows(ada.page.get_by_role("link", name="erase…"))
    ada.follows(ada.page.get_by_role("link", name="Cancel"))

    assert ada.page.url.endswith(page_of("ada"))
    assert "peanuts" in ada.reads()


@pytest.mark.parametrize(
    ("kind", "model", "called"),
    [("conversation", Conversation, "conversation"), ("episode", Episode, "message")],
)
def test_a_conversation_and_a_message_are_erased_from_their_pages(
    visit: Any, kind: str, model: Any, called: str
) -> None:
    ada, row = visit(), model.objects.order_by("pk")[0]
    ada.opens(f"memories/{kind}/{row.pk}/change/")
    ada.follows(ada.page.get_by_role("link", name="erase…"))
    expected = row.external_id or str(row.pk)
    ada.page.get_by_label(f"Type {expected}").fill(expected)
    ada.page.keyboard.press("Enter")

    expect(ada.page.get_by_role("heading", name=f"Erasure of a {called}")).to_be_visible()
    assert not model.objects.filter(pk=row.pk).exists()


def test_who_may_not_erase_is_shown_no_way_to(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens(f"memories/episode/{Episode.objects.order_by('pk')[0].pk}/change/")
    assert grace.page.get_by_role("link", name="erase…").count() == 0


@pytest.mark.parametrize("width", [1440, 390])
def test_pages_fit(visit: Any, width: int) -> None:
    ada = visit(viewport={"width": width, "height": 900})
    ada.opens(page_of("ada"))
    ada.follows(ada.page.get_by_role("link", name="erase…"))
    assert ada.fits()
    ada.page.get_by_label("Type ada").fill("ada")
    ada.presses("Erase for good")
    ada.page.get_by_role("heading", name="Erasure of a person").wait_for()

    assert ada.fits()
