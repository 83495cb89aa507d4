"""What would be read out of pasted messages, in a browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

TALK = """Ada: Hi Bob, good to see you!
Ada: I prefer tea to coffee. My sister moved to Oslo in May.
Bob: Wow! Where do you live now?
Ada: Lisbon
Bob: And do you have any pets?
Ada: Yes, I do!
Assistant: Here is a summary of what you told me about the harbour."""


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pasted_messages_show_their_facts(visit: Any, width: int, scheme: str, tmp_path: Any) -> None:
    ada = visit(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    ada.opens("memories/memorysession/preview/")
    page = ada.page
    page.locator("#id_messages").fill(TALK)
    ada.presses("Read")
    expect(page.get_by_text("Ada prefers tea to coffee", exact=True)).to_be_visible()
    expect(page.get_by_text("Ada lives in Lisbon", exact=True)).to_be_visible()
    page.get_by_role("link", name="I prefer tea to coffee.").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#fact-1")).to_be_in_viewport()
    assert ada.fits()
    page.screenshot(path=str(tmp_path / "preview.png"), full_page=True)
