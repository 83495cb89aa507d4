"""An hour at the inbox, acted out: two curators and fifty cases, each takes one decision back, one
case goes from one to the other; what others do is seen without a reload."""

import time
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from bench.story import Told
from memories.events import read_events
from memories.events.shown_events import as_message
from memories.models import Case, ChangeEvent, MemorySession
from tests.browser.test_review import OPEN, queue, settled
from tests.factories import SessionFactory, SubjectFactory
from workspaces.models import Membership

INBOX = "memories/case/inbox/"
HERE = ".desk-case.is-here:not(.is-sent)"


class Keyboard:
    """Counts what somebody presses."""

    def __init__(self, visitor: Any) -> None:
        self.page, self.pressed = visitor.page, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1


def about(told: Told, number: int, names: tuple[str, ...]) -> list[str]:
    """So many cases, of these people by turns; the name of whom each is about."""
    cases = [made.case_id for made in queue(told, number)]
    subjects = [SubjectFactory(workspace=told.workspace, external_id=name) for name in names]
    for place, case in enumerate(cases):
        Case.objects.filter(pk=case).update(subject=subjects[place % len(names)])
    return [names[place % len(names)] for place in range(number)]


def test_two_curators_decide_fifty_with_a_key_each(
    visit: Any, told: Told, record_property: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    about(told, 50, ("north", "south"))
    ada, grace = visit(), visit("grace.hopper")
    keys = {"ada.lovelace": Keyboard(ada), "grace.hopper": Keyboard(grace)}
    begun = time.monotonic()
    ada.opens(f"{INBOX}?user=north")
    grace.opens(f"{INBOX}?user=south")

    # The first of Ada's is for Grace to decide: two keys.
    hers = keys["ada.lovelace"]
    expect(ada.page.locator(HERE)).to_have_count(1)
    given = ada.page.locator(HERE).get_attribute("data-id")
    hers.press("t")
    choice = ada.page.locator("#review-whom [data-number]", has_text="grace.hopper")
    hers.press(choice.get_attribute("data-number"))
    expect(ada.page.locator(f'[data-id="{given}"]')).to_contain_text("Given to grace.hopper")

    for name, visitor, number in (("ada.lovelace", ada, 24), ("grace.hopper", grace, 25)):
        board = keys[name]
        for each in range(number):
            expect(visitor.page.locator(HERE)).to_have_count(1)
            board.press("abr"[each % 3])
        settled(visitor.page, number + (name == "ada.lovelace"))
        board.press("u")  # on second thoughts
        expect(visitor.page.locator(HERE)).to_have_count(1)
        board.press("b")
        settled(visitor.page, number + (name == "ada.lovelace"))

    grace.opens(f"{INBOX}?who=me")
    expect(grace.page.locator(HERE)).to_have_attribute("data-id", given)
    keys["grace.hopper"].press("a")
    settled(grace.page, 1)
    seconds = time.monotonic() - begun
    pressed = sum(board.pressed for board in keys.values())
    record_property("seconds", round(seconds))
    record_property("keys", pressed)

    assert not Case.objects.exclude(state="decided").exists()
    people = Membership.objects.filter(workspace=told.workspace, user__username__in=keys)
    counts = {each.user.username: Case.objects.filter(decided_by=f"user:{each.user_id}").count() for each in people}
    assert counts == {"ada.lovelace": 24, "grace.hopper": 26}
    assert pressed == 50 + 2 + 2 * 2
    still = timezone.now()  # the day may have ended since the first of them
    monkeypatch.setattr(timezone, "now", lambda: still)
    Case.objects.update(decided_at=still)
    grace.opens(INBOX)
    expect(grace.page.locator("#content-main")).to_contain_text("Today 50 were decided (26 by you, 24 by ada.lovelace)")


def test_what_others_decide_is_seen_without_a_reload(visit: Any, told: Told) -> None:
    queue(told, 3)
    ada, grace = visit(), visit("grace.hopper")
    for curator in (ada, grace):
        curator.opens(INBOX)
    ada.page.keyboard.press("a")
    settled(ada.page, 1)

    expect(grace.page.locator("#review-count")).to_have_text("2")
    expect(grace.page.locator(OPEN)).to_have_count(2)
    expect(grace.page.locator(".desk-case").first).to_contain_text("Decided by somebody else")
    ada.page.keyboard.press("u")
    expect(grace.page.locator(OPEN)).to_have_count(3)


def test_the_last_one_that_comes_back_is_picked_again(visit: Any, told: Told) -> None:
    queue(told, 1)
    ada, grace = visit(), visit("grace.hopper")
    for curator in (ada, grace):
        curator.opens(INBOX)
    ada.page.keyboard.press("a")
    settled(ada.page, 1)
    expect(grace.page.locator(".desk-case").first).to_contain_text("Decided by somebody else")
    ada.page.keyboard.press("u")
    expect(grace.page.locator(HERE)).to_have_count(1)


def test_what_comes_meanwhile_is_fetched(visit: Any, told: Told) -> None:
    queue(told, 1)
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    expect(grace.page.locator(OPEN)).to_have_count(1)
    SessionFactory(workspace=told.workspace, state="dead", error="it broke")

    expect(grace.page.locator("#review-count")).to_have_text("2")
    expect(grace.page.locator(OPEN)).to_have_count(2)


def test_an_empty_inbox_fills_by_itself(visit: Any, told: Told) -> None:
    queue(told, 0)
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    expect(grace.page.get_by_text("Nothing waits for you")).to_be_visible()
    SessionFactory(workspace=told.workspace, state="dead", error="it broke")
    expect(grace.page.locator(OPEN)).to_have_count(1)


def test_what_comes_before_the_page_listens_is_shown(visit: Any, told: Told) -> None:
    queue(told, 0)
    grace = visit("grace.hopper")
    held: list[Route] = []
    grace.page.route("**/events*", lambda route: held.append(route))
    with grace.page.expect_request("**/events*"):
        grace.opens(INBOX)
    SessionFactory(workspace=told.workspace, state="dead", error="it broke")
    for route in held:
        route.continue_()
    grace.page.unroute("**/events*")
    expect(grace.page.locator(OPEN)).to_have_count(1)


def test_an_empty_inbox_without_a_stream_fills_by_itself(visit: Any, told: Told) -> None:
    queue(told, 0)
    grace = visit("grace.hopper")
    grace.page.route("**/events*", lambda route: route.fulfill(status=503))
    grace.opens(INBOX)
    expect(grace.page.get_by_text("Nothing waits for you")).to_be_visible()
    SessionFactory(workspace=told.workspace, state="dead", error="it broke")
    expect(grace.page.locator(OPEN)).to_have_count(1)


def test_ones_own_decision_that_is_told_late_is_nobody_elses(visit: Any, told: Told) -> None:
    first, second = (str(each.case_id) for each in queue(told, 2))
    grace = visit("grace.hopper")
    held: list[Route] = []
    grace.page.route("**/events*", lambda route: held.append(route))
    grace.opens(INBOX)
    grace.page.keyboard.press("a")
    settled(grace.page, 1)
    decided = ChangeEvent.objects.get(item=first, kind="case.decided")
    grace.page.keyboard.press("u")
    expect(grace.page.locator(HERE)).to_have_attribute("data-id", first)

    another = ChangeEvent(kind="case.decided", item=second, state="decided")
    messages = [as_message(each, read_events.newest()) for each in (decided, another)]
    held[0].fulfill(content_type="text/event-stream", body=b"".join(messages))
    expect(grace.page.locator(f'[data-id="{second}"]')).to_contain_text("Decided by somebody else")
    expect(grace.page.locator(HERE)).to_have_attribute("data-id", first)


def test_what_could_not_be_taken_back_is_taken_back_with_the_next_try(visit: Any, told: Told) -> None:
    queue(told, 1)
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    grace.page.keyboard.press("a")
    settled(grace.page, 1)
    grace.page.route("**/case/act/", lambda route: route.abort())
    grace.page.keyboard.press("u")
    expect(grace.page.locator(".desk-case").first).to_contain_text("Not done")
    settled(grace.page, 1)
    grace.page.unroute("**/case/act/")
    grace.page.keyboard.press("u")
    expect(grace.page.locator(HERE)).to_have_count(1)


def test_a_case_is_put_off_with_two_keys_and_back_with_one(visit: Any, told: Told) -> None:
    queue(told, 2)
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    grace.page.keyboard.press("s")
    expect(grace.page.locator("#review-rest")).to_be_visible()
    grace.page.keyboard.press("3")
    expect(grace.page.locator(".desk-case").first).to_contain_text("Put off until")
    assert Case.objects.filter(state="snoozed").count() == 1

    grace.page.keyboard.press("u")
    expect(grace.page.locator(OPEN)).to_have_count(2)
    expect(grace.page.locator("#review-count")).to_have_text("2")
    assert not Case.objects.filter(state="snoozed").exists()


def test_what_is_skipped_comes_again_behind_the_last(visit: Any, told: Told) -> None:
    first, second = (str(each.case_id) for each in queue(told, 2))
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    grace.page.keyboard.press("n")
    expect(grace.page.locator(HERE)).to_have_attribute("data-id", second)
    grace.page.keyboard.press("a")
    expect(grace.page.locator(HERE)).to_have_attribute("data-id", first)


def test_cases_and_failures_are_left_at_once(visit: Any, told: Told) -> None:
    queue(told, 2)
    failed = SessionFactory(workspace=told.workspace, state="dead", error="it broke")
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    grace.page.keyboard.press("X")
    grace.page.keyboard.press("r")
    expect(grace.page.locator("#review-sure h2")).to_have_text("What was known is right: 3 cases?")
    grace.page.keyboard.press("Enter")
    settled(grace.page, 3)

    assert not Case.objects.exclude(state="decided").exists()
    assert MemorySession.objects.get(pk=failed.pk).failure_mark.left_as == failed.claims


def test_the_list_is_narrowed_and_grouped_by_mouse(visit: Any, told: Told) -> None:
    about(told, 4, ("north", "south"))
    grace = visit("grace.hopper")
    grace.opens(INBOX)
    grace.page.locator("summary", has_text="By risk").click()
    grace.follows(grace.page.get_by_role("link", name="By person"))
    expect(grace.page.locator(".desk-group")).to_have_count(2)
    grace.page.locator("summary", has_text="All kinds").click()
    grace.follows(grace.page.get_by_role("link", name="Failed documents"))
    expect(grace.page.get_by_text("Nothing under these filters")).to_be_visible()


def test_a_view_is_saved_and_opened_by_its_name(visit: Any, told: Told) -> None:
    queue(told, 1)
    grace = visit("grace.hopper")
    grace.opens(f"{INBOX}?kind=document&who=all")
    grace.page.locator("summary", has_text="Views").click()
    grace.page.get_by_label("Name of this view").fill("Broken files")
    grace.page.keyboard.press("Enter")
    grace.opens(INBOX)
    grace.page.locator("summary", has_text="Views").click()
    grace.follows(grace.page.get_by_role("link", name="Broken files"))
    expect(grace.page.get_by_text("Nothing under these filters")).to_be_visible()

    grace.page.locator("summary", has_text="Views").click()
    grace.page.get_by_label("Remove the view Broken files").click()
    expect(grace.page.get_by_role("link", name="Broken files")).to_have_count(0)
