"""The review queue as a curator works it: by keyboard, many at once, two people, and without
script."""

from typing import Any

from django.utils import timezone
from playwright.sync_api import Page, expect

from bench.story import Told
from memories.models import Case, Memory, MemorySession, Supersession
from tests.factories import MemoryFactory, SupersessionFactory, evidence
from workspaces.models import AuditEntry, User

QUEUE = "memories/case/inbox/"
OPEN = ".desk-case:not(.is-sent)"
PATIENCE = 300_000  # milliseconds, for fifty answers one after the other


def queue(told: Told, number: int) -> list[Supersession]:
    """So many decisions that wait, each with its quotes, the story's own left out."""
    Supersession.objects.filter(state="pending").delete()
    Case.objects.all().delete()
    Memory.objects.filter(held_at__isnull=False).delete()
    MemorySession.objects.filter(state__in=("failed", "dead")).update(state="done")
    made = []
    for each in range(number):
        about = {"workspace": told.workspace}
        old = MemoryFactory(content=f"Ada keeps {each} bees in the orchard", **about)
        text = f"Ada keeps {each + 1} hives in the orchard"
        new = MemoryFactory(content=text, held_at=timezone.now(), **about)
        for memory in (old, new):
            evidence(memory, f"By the way: {memory.content}.", quote=memory.content)
        made.append(SupersessionFactory(old=old, new=new, rule="near", **about))
    return made


def settled(page: Page, number: int) -> None:
    """All answers are there: each has its undo button."""
    expect(page.locator(".desk-case__outcome .desk-act")).to_have_count(number, timeout=PATIENCE)


def states() -> list[str]:
    found = Supersession.objects.filter(rule="near").order_by("id")
    return list(found.values_list("state", flat=True))


def test_fifty_are_decided_with_one_key_each(visit: Any, told: Told) -> None:
    queue(told, 50)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    for number in range(50):
        expect(grace.page.locator(".desk-case.is-here:not(.is-sent)")).to_have_count(1)
        grace.page.keyboard.press("abr"[number % 3])
    settled(grace.page, 50)

    assert not Supersession.objects.filter(state="pending").exists()
    expect(grace.page.locator("#review-end")).to_be_visible()
    user = User.objects.get(username="grace.hopper")
    lines = AuditEntry.objects.filter(actor=f"user:{user.pk}")
    assert lines.filter(action="decide").count() == 50


def test_the_next_one_has_the_focus_before_the_answer_is_there(visit: Any, told: Told) -> None:
    decisions = queue(told, 3)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    grace.page.route("**/case/act/", lambda route: None)  # an answer that never comes
    grace.page.keyboard.press("a")

    here = grace.page.locator(".desk-case.is-here")
    expect(here).to_have_attribute("data-id", str(decisions[1].case_id))
    expect(here).to_be_focused()
    grace.page.unroute("**/case/act/")
    grace.page.on("dialog", lambda dialog: dialog.accept())


def test_the_last_decisions_are_undone_one_after_the_other(visit: Any, told: Told) -> None:
    queue(told, 3)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    for key in "arb":
        grace.page.keyboard.press(key)
    settled(grace.page, 3)
    for left in (1, 2, 3):
        grace.page.keyboard.press("u")
        expect(grace.page.locator(OPEN)).to_have_count(left)

    expect(grace.page.locator("#review-count")).to_have_text("3")
    assert states() == ["pending"] * 3


def test_an_item_is_edited_and_approved_by_keyboard(visit: Any, told: Told) -> None:
    [decision] = queue(told, 1)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    grace.page.keyboard.press("e")
    grace.page.keyboard.type("Ada keeps a hive in the orchard")
    grace.page.keyboard.press("Enter")
    settled(grace.page, 1)
    assert Memory.objects.live().filter(content="Ada keeps a hive in the orchard").exists()

    grace.page.keyboard.press("u")
    expect(grace.page.locator(OPEN)).to_have_count(1)
    assert Memory.objects.get(pk=decision.old_id).is_live


def test_one_moves_with_j_and_k_and_the_arrows(visit: Any, told: Told) -> None:
    decisions = queue(told, 3)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    here = grace.page.locator(".desk-case.is-here")
    for key, place in (("j", 1), ("ArrowDown", 2), ("j", 2), ("k", 1), ("ArrowUp", 0)):
        grace.page.keyboard.press(key)
        expect(here).to_have_attribute("data-id", str(decisions[place].case_id))


def test_many_are_decided_at_once_after_a_question_with_their_number(visit: Any, told: Told) -> None:
    queue(told, 5)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    for key in ("x", "j", "x", "j", "x", "r"):
        grace.page.keyboard.press(key)
    expect(grace.page.locator("#review-sure h2")).to_have_text("What was known is right: 3 cases?")
    grace.page.keyboard.press("Enter")
    settled(grace.page, 3)

    assert sorted(states()) == ["pending"] * 2 + ["rejected"] * 3


def test_a_question_that_is_left_decides_nothing(visit: Any, told: Told) -> None:
    queue(told, 2)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    grace.page.keyboard.press("X")
    grace.page.keyboard.press("a")
    expect(grace.page.locator("#review-sure")).to_be_visible()
    grace.page.keyboard.press("Escape")
    expect(grace.page.locator("#review-sure")).not_to_be_visible()

    assert states() == ["pending"] * 2


def test_the_second_of_two_curators_learns_who_decided_and_moves_on(visit: Any, told: Told) -> None:
    decisions = queue(told, 2)
    ada, grace = visit(), visit("grace.hopper")
    for curator in (ada, grace):
        curator.opens(QUEUE)
    ada.page.keyboard.press("a")
    settled(ada.page, 1)
    grace.page.keyboard.press("r")

    told_to_grace = grace.page.locator(f'[data-id="{decisions[0].case_id}"] .desk-case__outcome')
    expect(told_to_grace).to_contain_text("ada.lovelace decided it just now")
    expect(grace.page.locator(".desk-case.is-here")).to_have_attribute("data-id", str(decisions[1].case_id))
    grace.page.keyboard.press("u")  # what another person decided is not hers to take back
    grace.page.keyboard.press("b")
    settled(grace.page, 1)
    assert states() == ["applied", "rejected"]


def test_letters_in_the_box_of_an_edit_decide_nothing(visit: Any, told: Told) -> None:
    queue(told, 1)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    grace.page.keyboard.press("e")
    grace.page.keyboard.type("arbux?jk")
    grace.page.keyboard.press("Escape")
    expect(grace.page.locator(".desk-case.is-here")).to_be_focused()

    assert states() == ["pending"]


def test_the_keys_are_told(visit: Any, told: Told) -> None:
    queue(told, 1)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    grace.page.keyboard.press("?")

    expect(grace.page.locator("#review-help")).to_contain_text("Undo what you decided last")


def test_it_says_whether_both_are_believed_meanwhile(visit: Any, told: Told) -> None:
    held, doubted = queue(told, 2)
    Memory.objects.filter(pk=doubted.new_id).update(held_at=None)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)

    expect(grace.page.locator(f'[data-id="{held.case_id}"]')).to_contain_text("held back until you decide")
    both = grace.page.locator(f'[data-id="{doubted.case_id}"]')
    expect(both).to_contain_text("both believed until you decide")


def test_it_works_without_script(visit: Any, told: Told) -> None:
    queue(told, 4)
    grace = visit("grace.hopper", java_script_enabled=False)
    grace.opens(QUEUE)
    grace.page.locator("[value=approve]").first.click()
    expect(grace.page.get_by_text("hives in the orchard” is believed;")).to_be_visible()
    boxes = grace.page.get_by_label("Select", exact=True)
    expect(boxes).to_have_count(3)
    for box in boxes.all():
        box.check()
    grace.page.locator("#review-many").get_by_role("button", name="What was known is right").click()
    expect(grace.page.get_by_text("What was known is right: 3?")).to_be_visible()
    grace.page.get_by_role("button", name="What was known is right").click()
    expect(grace.page.get_by_text("3 decided.")).to_be_visible()

    assert states().count("rejected") == 3


def test_what_a_machine_replaced_is_undone_among_what_was_decided(visit: Any, told: Told) -> None:
    decision = Supersession.objects.filter(state="applied", decided_by__startswith="user:").get()
    Supersession.objects.filter(pk=decision.pk).update(decided_by="session", rule="nearest")
    grace = visit("grace.hopper")
    grace.opens("memories/supersession/decided/?who=machines")
    grace.page.locator(f'[data-id="{decision.pk}"]').get_by_role("button", name="Undo").click()

    expect(grace.page.get_by_text("Undone.")).to_be_visible()
    assert Memory.objects.get(pk=decision.old_id).is_live


def test_a_viewer_reads_the_queue_and_decides_nothing(visit: Any, told: Told) -> None:
    queue(told, 1)
    alan = visit("alan.turing")
    alan.opens(QUEUE)
    expect(alan.page.locator(OPEN)).to_have_count(1)
    for key in ("a", "b", "r", "e", "x"):
        alan.page.keyboard.press(key)

    assert alan.page.locator("#content-main").get_by_role("button").count() == 0
    assert states() == ["pending"]


def test_ctrl_enter_takes_the_words_of_an_edit(visit: Any, told: Told) -> None:
    [decision] = queue(told, 1)
    grace = visit("grace.hopper")
    grace.opens(QUEUE)
    grace.page.keyboard.press("e")
    grace.page.keyboard.type("Ada keeps two hives in the garden")
    grace.page.keyboard.press("Control+Enter")
    settled(grace.page, 1)

    decision.refresh_from_db()
    assert decision.state == "applied"
    assert Memory.objects.live().filter(content="Ada keeps two hives in the garden").exists()


def test_the_counts_are_true_for_whoever_looks(visit: Any, told: Told) -> None:
    queue(told, 3)
    ada, grace = visit(), visit("grace.hopper")
    for curator in (ada, grace):
        curator.opens(QUEUE)
    ada.page.keyboard.press("a")
    settled(ada.page, 1)
    badge = "#nav-sidebar a[href$='/case/inbox/']"
    expect(ada.page.locator(badge)).to_contain_text("2")
    grace.page.evaluate("dispatchEvent(new Event('focus'))")

    expect(grace.page.locator("#review-count")).to_have_text("2")
    expect(grace.page.locator(badge)).to_contain_text("2")
