"""The playground in a browser: talk, look, correct."""

from typing import Any

import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_said_is_shown_recalled_and_corrected(visit: Any, width: int, scheme: str, tmp_path: Any) -> None:
    ada = visit(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    ada.opens("memories/conversation/playground/?user=nora")
    page = ada.page
    for words in ("I moved to Lisbon. I prefer tea to coffee.", "Do I prefer tea or coffee?"):
        page.locator("#id_words").fill(words)
        ada.presses("Say it")
        expect(page.get_by_role("region", name="Talk")).to_contain_text(words)
    recalled = page.get_by_role("region", name="Recalled")
    expect(recalled.get_by_text("User prefers tea to coffee").first).to_be_visible()
    expect(page.locator("#prompt")).to_contain_text("tea to coffee")
    assert ada.fits()
    page.screenshot(path=str(tmp_path / "playground.png"), full_page=True)
    recalled.get_by_role("button", name="Correct").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Content").fill("User prefers mint tea to coffee")
    ada.follows(dialog.get_by_role("button", name="Correct"))
    expect(page.locator("#prompt")).to_contain_text("mint tea")
