"""A real browser before a real server. Every test also proves that no other host was asked."""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from bench.story import PASSWORD, Told, tell
from tests.client_environments import node_modules_of
from tests.live_server import wait_for

LOOKS, PAUSE = 4, 0.1  # seconds
PATIENCE = 90  # seconds; a busy machine is slow, not wrong
OVERFLOW = """document.fonts.ready.then(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth
)"""
REFUSED = "Content Security Policy"  # how Chromium tells that a page may not do what it tried
AXE = Path(__file__).parent.parent / "axe"
# A rule, the element, what is wrong with it.
RUN = """async (rules) => {
    const changes = document.getAnimations().filter((one) => one instanceof CSSTransition);
    const stand = Promise.allSettled(changes.map((one) => one.finished));
    await Promise.race([stand, new Promise((over) => setTimeout(over, 5000))]);
    const found = await axe.run({ runOnly: rules, resultTypes: ["violations"] });
    return found.violations.flatMap((one) => one.nodes.map((node) =>
        `${one.id} ${node.target.join(" ")} ${node.html.slice(0, 160)}`
        + ` ${node.any.concat(node.all).map((each) => each.message).join(" ").slice(0, 160)}`));
}"""
ALL_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@dataclass(frozen=True)
class Visitor:
    """A logged-in person's browser tab."""

    page: Page
    url: str

    def opens(self, path: str) -> None:
        self.page.goto(f"{self.url}/admin/{path}")

    def presses(self, label: str) -> None:
        self.whole().get_by_role("button", name=label, exact=True).first.click()

    def follows(self, link: Locator) -> None:
        """Is on the next page after this; a click alone does not wait for it."""
        with self.page.expect_navigation():
            link.click()

    def fits(self) -> bool:
        """Nothing of the page lies beyond its right edge."""
        return bool(self.whole().evaluate(OVERFLOW) <= 0)

    def reads(self) -> str:
        return self.whole().locator("#content").inner_text()

    def whole(self) -> Page:
        """The page to its end, scripts and all: its beginning is seen before them."""
        self.page.wait_for_load_state()
        return self.page


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Playwright runs an event loop in this thread, which Django takes for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=PATIENCE * 1e3)
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=list(FLAGS), timeout=PATIENCE * 1e3)
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def _answering() -> set[threading.Thread]:
    """A server has a thread for each connection, which ends with its last answer."""
    return {each for each in threading.enumerate() if "process_request_thread" in each.name}


def _is_quiet(others: set[threading.Thread]) -> bool:
    """For several looks: a connection may not have its thread yet. `others` are of other
    servers."""
    for _ in range(LOOKS):
        if _answering() - others:
            return False
        time.sleep(PAUSE)
    return True


@pytest.fixture
def told(transactional_db: None) -> Told:
    return tell()


@pytest.fixture
def visit(browser: Browser, live_server: Any, told: Told) -> Iterator[Any]:
    """`visit(username, **context)` logs in and gives a Visitor."""
    others = _answering()
    asked: set[str] = set()
    problems: list[str] = []
    contexts = []

    def visit(username: str = "ada.lovelace", **options: Any) -> Visitor:
        context = browser.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(PATIENCE * 1e3)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: REFUSED in said.text and problems.append(said.text))
        page.goto("/admin/login/")
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/admin/")
        return Visitor(page, live_server.url)

    yield visit
    for context in contexts:
        context.close()
    # What a closed page asked last is written until then.
    assert wait_for(lambda: _is_quiet(others), PATIENCE)
    assert asked == {urlsplit(live_server.url).netloc}
    assert problems == []


@pytest.fixture(scope="session")
def axe() -> str:
    return (node_modules_of(AXE) / "node_modules" / "axe-core" / "axe.min.js").read_text()


def faults(visitor: Visitor, axe: str, rules: tuple[str, ...] = ALL_RULES) -> list[str]:
    visitor.whole().evaluate(axe)
    return list(visitor.page.evaluate(RUN, rules))
