"""Every page of the admin opens without an error, fits, and keeps to WCAG 2.2 AA as far as axe can
tell, in both themes and on a phone."""

from typing import Any

import pytest

from bench.story import Told
from tests.admin_pages import pages, rows_of
from tests.browser.conftest import faults
from workspaces.models import User

COLOURS = ("color-contrast", "link-in-text-block")  # the rules that look at them
DARKEN = """document.documentElement.classList.add("dark")"""  # what its menu of themes does
GROUND = "getComputedStyle(document.body).backgroundColor"
LOOKS = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


@pytest.mark.parametrize("look", ["light", "phone"])
def test_every_page_opens_without_an_error_and_fits_and_axe_finds_no_fault(
    visit: Any, told: Told, axe: str, look: str
) -> None:
    User.objects.filter(username="ada.lovelace").update(is_superuser=True)
    ada = visit(**LOOKS[look], reduced_motion="reduce")
    wrong: list[str] = []
    ada.page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    for address in pages(rows_of(told.workspace)):
        answer = ada.page.goto(address)
        if answer.status != 200:
            wrong.append(f"{answer.status} {address}")
        if not ada.fits():
            wrong.append(f"too wide: {address}")
        if answer.headers["content-type"].startswith("text/html"):
            wrong += [f"{address} {fault}" for fault in faults(ada, axe)]
            if look == "light":  # the other theme is the same page in other colours
                light = ada.page.evaluate(GROUND)
                ada.page.evaluate(DARKEN)
                if ada.page.evaluate(GROUND) == light:
                    wrong.append(f"as light as before: {address}")
                wrong += [f"dark {address} {fault}" for fault in faults(ada, axe, COLOURS)]

    assert wrong == []


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_no_fault_in_the_dialog_of_ctrl_k(visit: Any, axe: str, look: str) -> None:
    ada = visit(**LOOKS[look], reduced_motion="reduce")
    ada.whole().keyboard.press("Control+k")
    ada.page.get_by_role("dialog").get_by_role("option").first.wait_for()

    assert faults(ada, axe) == []
