"""Erasing somebody: from the subject's page to the certificate, and back again without a word."""

from typing import Any

import pytest
from playwright.sync_api import expect

from workspaces.models import Subject

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def page_of(name: str) -> str:
    return f"workspaces/subject/{Subject.objects.get(external_id=name).pk}/change/"


def test_a_subject_is_erased_once_its_name_is_typed(visit: Any) -> None:
    ada = visit()
    ada.opens(page_of("ada"))
    ada.page.get_by_role("link", name="erase…").click()
    ada.page.get_by_label("Type ada").fill("ada")
    ada.page.keyboard.press("Enter")

    expect(ada.page.get_by_role("heading", name="Erasure of a subject")).to_be_visible()
    assert "peanuts" not in ada.reads()
    assert not Subject.objects.filter(external_id="ada").exists()


def test_cancel_leads_back_and_nothing_is_gone(visit: Any) -> None:
    ada = visit()
    ada.opens(page_of("ada"))
    ada.page.get_by_role("link", name="erase…").click()
    ada.page.get_by_role("link", name="Cancel").click()

    ada.page.wait_for_url(f"**/{page_of('ada')}")
    assert "peanuts" in ada.reads()


@pytest.mark.parametrize("width", [1440, 390])
def test_pages_fit(visit: Any, width: int) -> None:
    ada = visit(viewport={"width": width, "height": 900})
    ada.opens(page_of("ada"))
    ada.page.get_by_role("link", name="erase…").click()
    assert ada.page.evaluate(OVERFLOW) <= 0
    ada.page.get_by_label("Type ada").fill("ada")
    ada.presses("Erase for good")
    ada.page.get_by_role("heading", name="Erasure of a subject").wait_for()

    assert ada.page.evaluate(OVERFLOW) <= 0
