"""Decisions in the browser: buttons that say what they do, what an act came to, the counts, the
list of what was decided, and how much was never read. In both themes, at two widths."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from bench.story import Told
from memories.models import Case, Memory, MemorySession, Supersession
from tests.api_fixtures import caller
from tests.belief.test_grounds import tell
from tests.browser.conftest import faults
from tests.desk import page_of
from tests.people import backend_of
from workspaces.models import Subject

INBOX, DECIDED = "memories/case/inbox/", "memories/supersession/decided/"
LOOKS = [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)]
SWIMS = "I swim at the harbour pool because it's close to my flat."
UNREAD = "The quay was a grey smear and the gulls had opinions about everything."


@pytest.fixture
def moved(told: Told) -> Told:
    """Somebody moved, has two budgets, and said what nobody read; nothing else waits."""
    Supersession.objects.filter(state="pending").delete()
    Case.objects.all().delete()
    Memory.objects.filter(held_at__isnull=False).delete()
    MemorySession.objects.filter(state__in=("failed", "dead")).update(state="done")
    http = caller(backend_of(told.workspace))
    tell(http, "I live in Lille.", SWIMS, "I moved to Antwerp.", UNREAD)
    tell(http, "My budget for the kitchen is 12,000 EUR.")
    tell(http, "My budget for the kitchen is probably 15,000 EUR.", day=9)
    return told


def test_an_act_says_what_it_came_to_and_the_day_counts_it(visit: Any, moved: Told) -> None:
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    page = grace.page
    uncertain = page.locator(".desk-case", has_text="Is this still true of u1?")
    expect(page.locator("#review-today")).to_contain_text("nothing was decided yet")
    uncertain.get_by_role("button", name="Antwerp is right: swims at the harbour pool").click()
    outcome = uncertain.locator(".desk-case__outcome")

    expect(outcome).to_contain_text("“User swims at the harbour pool…” is not any more.")
    expect(page.locator("#review-today")).to_contain_text("Today 1 was decided (1 by you)")
    expect(page.locator("#review-count")).to_have_text("1")
    outcome.get_by_role("button", name="Undo").click()
    expect(page.locator("#review-today")).to_contain_text("nothing was decided yet")
    expect(page.locator("#review-count")).to_have_text("2")


def test_what_was_decided_is_taken_back_among_the_decided(visit: Any, moved: Told) -> None:
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    case = grace.page.locator(".desk-case", has_text="Is this still true of u1?")
    case.get_by_role("button", name="Still swims at the harbour pool").click()
    expect(case.locator(".desk-case__outcome")).to_contain_text("both believed")
    grace.opens(DECIDED)
    row = grace.page.locator(".desk-done", has_text="Is this still true of u1?")
    grace.follows(row.get_by_role("button", name="Undo"))

    expect(grace.page.get_by_text("Taken back: it waits again.")).to_be_visible()
    expect(grace.page.locator(".desk-done", has_text="Is this still true of u1?")).to_have_count(0)
    assert Case.objects.filter(kind="uncertain", state="open").exists()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_the_pages_fit_and_are_read(visit: Any, moved: Told, axe: str, scheme: str, width: int) -> None:
    ada = visit(viewport={"width": width, "height": 900}, color_scheme=scheme)
    ada.opens(INBOX)
    expect(ada.page.get_by_text("Which budget is right?")).to_be_visible()
    pages = [INBOX, "", page_of(Subject.objects.get(external_id="u1")).removeprefix("/admin/")]
    pages += [f"memories/case/{Case.objects.get(kind='uncertain').pk}/change/"]
    pages += [reverse("admin:memories_miss_changelist").removeprefix("/admin/"), DECIDED]
    for page in pages:
        ada.opens(page)
        assert ada.fits(), page
        assert faults(ada, axe) == [], page
    ada.opens("")
    expect(ada.page.get_by_text("were kept and not read")).to_be_visible()
