"""Every page of the admin opens without an error and fits, in both themes and on a phone."""

from typing import Any

import pytest

from bench.story import Told
from tests.admin_pages import pages, rows_of
from workspaces.models import User

LOOKS = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_opens_without_an_error_and_fits(visit: Any, told: Told, look: str) -> None:
    User.objects.filter(username="ada.lovelace").update(is_superuser=True)
    rows = rows_of(told.workspace)
    ada = visit(**LOOKS[look])
    complaints: list[str] = []
    ada.page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    wide, failed = [], []
    for address in pages(rows):
        answer = ada.page.goto(address)
        if answer.status != 200:
            failed.append(f"{answer.status} {address}")
        if not ada.fits():
            wide.append(address)

    assert failed + wide + complaints == []
