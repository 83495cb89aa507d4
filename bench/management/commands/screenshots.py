"""The README's pictures, taken of a small workspace in a database that is thrown away."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.management.base import BaseCommand
from django.test.testcases import LiveServerThread

from bench import story
from bench.scratch import scratch_database
from memories.models import FeatureSet, Memory
from workspaces.models import Workspace

# How a page is looked at, and which pages are; all of them where none are named.
LOOKS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "": ({"viewport": {"width": 1360, "height": 860}, "color_scheme": "light"}, ()),
    "-dark": (
        {"viewport": {"width": 1360, "height": 860}, "color_scheme": "dark"},
        ("chain", "review"),
    ),
    "-phone": (
        {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
        ("memories", "review"),
    ),
}
# So that the page of the policy has something to tell of the last week.
POLICY = {"review": {"categories": ["preference"]}}
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")


class Command(BaseCommand):
    help = "Take the pictures of the README with headless Chromium (needs playwright)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", type=Path, default=settings.BASE_DIR / "docs/screenshots")
        parser.add_argument("--chromium", default="/usr/bin/chromium")

    def handle(self, *, out: Path, chromium: str, **_: Any) -> None:
        out.mkdir(parents=True, exist_ok=True)
        with scratch_database():
            told = story.tell()
            Workspace.objects.update(settings=POLICY)
            pages = places(told.workspace)
            with server() as url:
                for name in take(url, pages, out, chromium):
                    self.stdout.write(f"{out / name}")


def places(workspace: Workspace) -> dict[str, str]:
    """The pages worth a picture, by file name."""
    memories = Memory.objects.filter(workspace=workspace)
    chained = memories.live().get(content__contains="aisle")
    pinned = memories.live().get(pinned=True)
    quote = pinned.facts.get()
    folded = FeatureSet.objects.get(workspace=workspace, subject=pinned.subject)
    episode = quote.citations.get().episode_id
    return {
        "home": "",
        "memories": "memories/memory/?state=all",
        "search": "memories/memory/search/?query=what+does+Ada+drink%3F&ranking=all",
        "profile": f"workspaces/subject/{pinned.subject_id}/change/",
        "chain": f"memories/memory/{chained.pk}/change/",
        "review": "memories/case/inbox/",
        "decided": "memories/supersession/decided/",
        "policy": "memories/supersession/policy/",
        "features": f"memories/featureset/{folded.pk}/change/",
        "episode": f"memories/episode/{episode}/change/?fact={quote.pk}",
    }


@contextmanager
def server() -> Iterator[str]:
    thread = LiveServerThread("127.0.0.1", StaticFilesHandler)
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    if thread.error:
        raise thread.error
    try:
        yield f"http://127.0.0.1:{thread.port}"
    finally:
        thread.terminate()


def take(url: str, pages: dict[str, str], out: Path, chromium: str) -> Iterator[str]:
    from playwright.sync_api import sync_playwright  # a tool of developers only

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for suffix, (look, only) in LOOKS.items():
            page = logged_in(browser.new_context(base_url=url, **look).new_page())
            for name in only or pages:
                page.goto(f"/admin/{pages[name]}")
                page.wait_for_load_state("networkidle")
                file = f"{name}{suffix}.png"
                page.screenshot(path=str(out / file))
                yield file
        browser.close()


def logged_in(page: Any) -> Any:
    page.goto("/admin/login/")
    page.get_by_label("Username").fill("ada.lovelace")
    page.get_by_label("Password").fill(story.PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/")
    return page
