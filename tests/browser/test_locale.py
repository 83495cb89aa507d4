"""Times and numbers are read as the browser's locale writes them, in the browser's zone."""

import re
from typing import Any

from playwright.sync_api import expect

from bench.story import Told
from memories.models import Memory


def test_a_german_in_berlin_reads_times_as_germans_write_them(visit: Any, told: Told) -> None:
    memory = Memory.objects.filter(workspace=told.workspace).first()
    ada = visit(locale="de-DE", timezone_id="Europe/Berlin")
    ada.opens(f"memories/memory/{memory.pk}/change/")
    learned = ada.whole().locator("dt:has-text('Learned') + dd time")
    expect(learned).to_have_text(re.compile(r"^\d\d\.\d\d\.\d{4}, \d\d:\d\d$"))
    expect(learned).to_have_attribute("title", re.compile(r"Europe/Berlin$"))


def test_the_page_can_be_read_without_scripts(visit: Any, told: Told) -> None:
    memory = Memory.objects.filter(workspace=told.workspace).first()
    ada = visit(java_script_enabled=False)
    ada.opens(f"memories/memory/{memory.pk}/change/")
    learned = ada.page.locator("dt:has-text('Learned') + dd time")
    expect(learned).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d$"))
    expect(learned).to_have_attribute("title", re.compile(r"UTC$"))
