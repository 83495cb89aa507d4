"""The pages before and around the login, in a browser that tells what their policy refuses."""

from datetime import datetime, timedelta
from typing import Any

import pyotp
import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from bench.story import PASSWORD, Told
from memoryproject.server.first_run import ask_for_another_password
from tests.browser.conftest import REFUSED
from workspaces.login import second_factor
from workspaces.models import LoginPause, SecondFactor, User

NEW = "one that I chose myself"


@pytest.fixture
def stranger(browser: Browser, live_server: Any, told: Told) -> Any:
    """A tab of somebody who is not logged in. Nothing in it was refused at the end."""
    refused: list[str] = []
    page = browser.new_page(base_url=live_server.url)
    page.on("console", lambda said: REFUSED in said.text and refused.append(said.text))
    yield page
    page.close()
    assert refused == []


def log_in(page: Page, password: str = PASSWORD) -> None:
    page.goto("/admin/login/")
    page.get_by_label("Username").fill("ada.lovelace")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_the_documentation_of_the_api_is_drawn(stranger: Page) -> None:
    stranger.goto("/api/docs")

    expect(stranger.locator(".opblock").first).to_be_visible()


def test_redoc_is_drawn_without_the_picture_it_wants_from_elsewhere(browser: Browser, live_server: Any) -> None:
    page = browser.new_page(base_url=live_server.url)
    refused: list[str] = []
    page.on("console", lambda said: REFUSED in said.text and refused.append(said.text))
    page.goto("/api/redoc")
    expect(page.get_by_role("heading", name="memoryproject").first).to_be_visible()
    page.close()

    assert [text for text in refused if "//cdn.redoc.ly/redoc/logo-mini.svg" not in text] == []


def test_a_page_cannot_run_what_was_smuggled_into_it(browser: Browser, live_server: Any) -> None:
    page = browser.new_page(base_url=live_server.url)
    refused: list[str] = []
    page.on("console", lambda said: REFUSED in said.text and refused.append(said.text))
    page.goto("/admin/login/")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=hacked=1>')")
    page.evaluate("document.body.appendChild(document.createElement('script')).text = 'hacked=1'")
    page.wait_for_function("performance.getEntriesByName(location.origin + '/admin/login/x')[0]")

    assert page.evaluate("window.hacked") is None
    assert refused
    page.close()


def test_too_many_wrong_passwords_are_told_in_plain_words(stranger: Page) -> None:
    for _ in range(2):
        log_in(stranger, "wrong")
        expect(stranger.get_by_text("enter the correct")).to_be_visible()
    LoginPause.objects.update(not_before=timezone.now() + timedelta(minutes=5))
    log_in(stranger, "wrong")

    told = stranger.get_by_text("Too many wrong tries. The next one is looked at in 5 minutes.")
    expect(told).to_be_visible()


def test_the_first_password_is_changed_before_anything_else(stranger: Page) -> None:
    ask_for_another_password(User.objects.get(username="ada.lovelace"))
    log_in(stranger)
    expect(stranger.get_by_text("The server made your first password")).to_be_visible()
    stranger.locator("#id_old_password").fill(PASSWORD)
    stranger.locator("#id_new_password1").fill(NEW)
    stranger.locator("#id_new_password2").fill(NEW)
    stranger.get_by_role("button", name="Change the password").click()

    expect(stranger.get_by_text("Your password is changed")).to_be_visible()


def test_a_second_factor_is_turned_on_and_asked_for(still_clock: datetime, visit: Any, stranger: Page) -> None:
    ada = visit()
    ada.opens("second-factor/")
    totp = pyotp.TOTP(second_factor.secret_of(SecondFactor.objects.get()))
    assert ada.fits()
    step_before = still_clock - timedelta(seconds=second_factor.STEP)
    ada.page.get_by_label("Code").fill(totp.at(step_before))
    ada.page.get_by_label("Password").fill(PASSWORD)
    ada.presses("Turn it on")
    expect(ada.page.get_by_text("Keep these recovery codes")).to_be_visible()
    log_in(stranger)
    stranger.get_by_label("Code").fill(totp.at(still_clock))
    stranger.get_by_role("button", name="Go on").click()

    stranger.wait_for_url("**/admin/")
