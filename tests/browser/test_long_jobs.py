"""Work that takes long, in the corner of every page: it moves by itself, ends by a button, and what
came of it is told."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from playwright.sync_api import expect

from bench.story import Told
from memories.models import LongJob
from memories.queue import long_jobs
from memories.queue.long_jobs import NewJob, Stopped
from tests.browser.conftest import faults
from tests.live_server import PATIENCE, wait_for


class Work:
    """Somebody at work in a thread of his own, a batch at each step."""

    def __init__(self, told: Told) -> None:
        self.new = NewJob(LongJob.Kind.IMPORT, told.workspace.pk, 100, "messages", "shell")
        self.go_on = threading.Semaphore(0)
        self.is_over = False
        self.ended = ""
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        try:
            with long_jobs.recorded(self.new) as job:
                while not self.is_over and job.done < 100:
                    if self.go_on.acquire(timeout=0.1):
                        job.advance(40 if job.done < 80 else 20)
                    else:
                        job.advance(0)
                job.tell({"stored": job.done})
        except Stopped:
            self.ended = "stopped"
        finally:
            connection.close()


@pytest.fixture
def work(told: Told, monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    monkeypatch.setattr(long_jobs, "EVERY", 0.1)
    working = Work(told)
    assert wait_for(LongJob.objects.exists)
    yield working
    working.is_over = True
    working.thread.join(PATIENCE)


def test_the_corner_of_a_page_moves_by_itself_and_tells_the_end(visit: Any, work: Work) -> None:
    ada = visit()
    ada.opens("memories/memory/")
    corner = ada.page.get_by_role("complementary", name="Work under way")
    expect(corner).to_contain_text("Import")
    expect(corner).to_contain_text("0 of 100 messages")
    work.go_on.release()
    expect(corner).to_contain_text("40 of 100 messages")
    expect(corner.get_by_role("progressbar")).to_have_attribute("value", "40")
    work.go_on.release()
    work.go_on.release()
    expect(corner).to_contain_text("done")
    expect(ada.page.locator("#work-spoken")).to_contain_text("Import: done")
    ada.follows(corner.get_by_role("link"))
    expect(ada.page.get_by_text("Stored")).to_be_visible()


def test_it_is_cancelled_from_its_page(visit: Any, work: Work) -> None:
    ada = visit()
    ada.opens("memories/longjob/")
    ada.follows(ada.page.locator("#result_list").get_by_role("link", name="Import").first)
    ada.presses("Stop")
    ada.follows(ada.page.locator("dialog[open] button[type=submit]"))
    work.thread.join(PATIENCE)
    assert work.ended == "stopped"
    expect(ada.page.locator(".desk-chip", has_text="cancelled")).to_be_visible()


def test_a_page_that_shows_it_running_is_told_of_its_end_however_late(visit: Any, told: Told) -> None:
    job = LongJob.objects.create(
        kind=LongJob.Kind.IMPORT, workspace=told.workspace, unit="messages", requested_by="shell"
    )
    ada = visit()
    ada.opens(f"memories/longjob/{job.pk}/change/")
    expect(ada.page.locator(".desk-chip", has_text="running")).to_be_visible()
    over = timezone.now() - timedelta(hours=1)
    LongJob.objects.update(state=LongJob.State.DONE, finished_at=over)
    expect(ada.page.locator(".desk-chip", has_text="done")).to_be_visible()


def test_the_corner_is_hidden_until_something_else_begins(visit: Any, work: Work) -> None:
    ada = visit()
    corner = ada.page.get_by_role("complementary", name="Work under way")
    expect(corner).to_be_visible()
    corner.get_by_role("button", name="Hide").click()
    expect(corner).to_be_hidden()
    with ada.page.expect_response("**/running/**"):
        ada.opens("memories/memory/")
    expect(corner).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_it_fits_and_axe_finds_nothing(visit: Any, work: Work, axe: str, scheme: str, width: int) -> None:
    look = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    ada = visit(**look, reduced_motion="reduce")
    for page in ("memories/longjob/", f"memories/longjob/{LongJob.objects.get().pk}/change/"):
        ada.opens(page)
        expect(ada.page.get_by_role("complementary", name="Work under way")).to_be_visible()
        assert ada.fits()
        assert faults(ada, axe) == []
