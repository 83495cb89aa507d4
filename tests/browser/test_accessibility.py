"""Every page keeps to WCAG 2.2 AA as far as axe can tell, in both themes and on a phone."""

from typing import Any

import pytest

from bench.story import Told
from tests.admin_pages import pages, rows_of
from tests.browser.conftest import faults
from tests.browser.test_pages import LOOKS
from workspaces.models import User


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_has_a_fault_that_axe_finds(visit: Any, told: Told, axe: str, look: str) -> None:
    User.objects.filter(username="ada.lovelace").update(is_superuser=True)
    ada = visit(**LOOKS[look], reduced_motion="reduce")
    found = []
    for address in pages(rows_of(told.workspace)):
        answer = ada.page.goto(address)
        if answer.headers["content-type"].startswith("text/html"):
            found += [f"{address} {fault}" for fault in faults(ada, axe)]

    assert found == []


@pytest.mark.parametrize("look", LOOKS)
def test_the_dialog_of_ctrl_k_has_none_either(visit: Any, axe: str, look: str) -> None:
    ada = visit(**LOOKS[look], reduced_motion="reduce")
    ada.whole().keyboard.press("Control+k")
    ada.page.get_by_role("option").first.wait_for()

    assert faults(ada, axe) == []
