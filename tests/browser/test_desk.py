"""The admin in headless Chromium: what a person does with eyes, mouse and keyboard."""

from typing import Any

import pytest
from playwright.sync_api import expect

from bench.story import Told
from memories.models import Memory, MemorySession, Supersession
from workspaces.models import ApiKey, Membership


def test_curator_approves_a_replacement(visit: Any) -> None:
    decision = Supersession.objects.filter(state="pending").latest("id")
    grace = visit("grace.hopper")
    grace.follows(grace.page.get_by_role("link", name="decisions to take"))
    case = grace.page.locator(f'[data-id="{decision.case_id}"]')
    grace.follows(case.get_by_role("link", name="open", exact=True))
    grace.page.get_by_role("button", name="is right").first.click()
    grace.page.locator("dialog[open]").get_by_role("button", name="is right").click()

    expect(grace.page.get_by_text("not any more.").first).to_be_visible()
    decision.refresh_from_db()
    assert decision.state == "applied"


def test_two_curators_never_overwrite_each_other(visit: Any) -> None:
    decision = Supersession.objects.filter(state="pending").latest("id")
    ada, grace = visit(), visit("grace.hopper")
    for curator in (ada, grace):
        curator.opens(f"memories/supersession/{decision.pk}/change/")
    ada.presses("Both are true")
    expect(ada.page.get_by_text("believed.").first).to_be_visible()
    grace.presses("Both are true")

    expect(grace.page.get_by_text("Somebody decided meanwhile")).to_be_visible()


def test_memory_is_corrected_with_the_keyboard_alone(visit: Any) -> None:
    memory = Memory.objects.live().get(content__contains="encrypt")
    ada = visit()
    ada.opens(f"memories/memory/{memory.pk}/change/")
    ada.page.get_by_role("button", name="Correct").first.focus()
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator("dialog[open] textarea")).to_be_focused()
    ada.page.keyboard.press("Control+a")
    ada.page.keyboard.type("We always encrypt backups and test them")
    ada.page.keyboard.press("Control+Enter")

    expect(ada.page.get_by_text("Corrected: the new version is live.")).to_be_visible()
    assert Memory.objects.live().get(content__contains="encrypt").version == 2


def test_question_is_left_with_escape(visit: Any) -> None:
    memory = Memory.objects.live().get(content__contains="encrypt")
    ada = visit()
    ada.opens(f"memories/memory/{memory.pk}/change/")
    ada.presses("Forget")
    expect(ada.page.locator("dialog[open]")).to_be_visible()
    ada.page.keyboard.press("Escape")

    expect(ada.page.locator("dialog[open]")).to_have_count(0)
    assert Memory.objects.get(pk=memory.pk).is_live


def test_enter_in_a_question_does_what_was_asked(visit: Any) -> None:
    memory = Memory.objects.live().get(content__contains="encrypt")
    ada = visit()
    ada.opens(f"memories/memory/{memory.pk}/change/")
    ada.presses("Forget")
    ada.page.locator("dialog[open] input[name=note]").fill("moved house")
    ada.page.keyboard.press("Enter")

    expect(ada.page.get_by_text("Forgotten.").first).to_be_visible()
    assert not Memory.objects.get(pk=memory.pk).is_live


def test_ctrl_enter_saves_a_longer_text(visit: Any) -> None:
    memory = Memory.objects.live().get(content__contains="encrypt")
    ada = visit()
    ada.opens(f"memories/memory/{memory.pk}/change/")
    ada.presses("Correct")
    ada.page.locator("dialog[open] textarea").fill("We never encrypt backups")
    ada.page.keyboard.press("Control+Enter")

    expect(ada.page.get_by_text("Corrected: the new version is live.")).to_be_visible()


def test_words_refused_as_stale_are_still_there(visit: Any) -> None:
    memory = Memory.objects.live().get(content__contains="encrypt")
    ada, grace = visit(), visit("grace.hopper")
    for curator, words in ((ada, "We encrypt backups daily"), (grace, "We encrypt all of them")):
        curator.opens(f"memories/memory/{memory.pk}/change/")
        curator.presses("Correct")
        curator.page.locator("dialog[open] textarea").fill(words)
    ada.page.locator("dialog[open] textarea").press("Control+Enter")
    expect(ada.page.locator(".desk-head h1")).to_have_text("We encrypt backups daily")
    grace.page.locator("dialog[open] textarea").press("Control+Enter")
    expect(grace.page.get_by_text("This version is superseded")).to_be_visible()
    kept = grace.page.locator(".desk-form textarea")
    expect(kept).to_have_value("We encrypt all of them")
    kept.press("Control+Enter")

    expect(grace.page.locator(".desk-head h1")).to_have_text("We encrypt all of them")


def test_cancel_leaves_a_question_without_an_answer(visit: Any) -> None:
    memory = Memory.objects.live().get(content__contains="encrypt")
    ada = visit()
    ada.opens(f"memories/memory/{memory.pk}/change/")
    ada.presses("Forget")
    ada.page.locator("dialog[open]").get_by_role("button", name="Cancel").click()

    expect(ada.page.locator("dialog[open]")).to_have_count(0)
    assert Memory.objects.get(pk=memory.pk).is_live


def test_quote_leads_to_its_words_in_the_episode(visit: Any) -> None:
    memory = Memory.objects.live().get(content__contains="tea to coffee")
    ada = visit()
    ada.opens(f"memories/memory/{memory.pk}/change/")
    ada.page.locator("a.desk-quote").first.click()

    expect(ada.page.locator("mark.is-asked")).to_have_text("I prefer tea to coffee.")


def test_key_is_issued_and_copied(visit: Any) -> None:
    ada = visit(permissions=["clipboard-read", "clipboard-write"])
    ada.opens("workspaces/apikey/add/")
    ada.page.get_by_label("Name").fill("Nightly import")
    ada.presses("Issue key")
    shown = ada.page.locator("#secret").inner_text()
    ada.presses("Copy")

    ada.page.wait_for_function("async (shown) => (await navigator.clipboard.readText()) === shown", arg=shown)
    assert ApiKey.objects.get(name="Nightly import").prefix in shown


def test_agent_of_a_key_is_picked_by_typing(visit: Any) -> None:
    ada = visit()
    ada.opens("workspaces/apikey/add/")
    ada.page.get_by_label("Name").fill("Narrow")
    ada.page.locator("#id_agent + .select2").click()
    ada.page.keyboard.type("support")
    ada.page.locator(".select2-results__option", has_text="Support bot").click()
    expect(ada.page.locator("#id_agent + .select2")).to_contain_text("Support bot")
    ada.presses("Issue key")

    expect(ada.page.locator("#secret")).to_be_visible()
    agent = ApiKey.objects.get(name="Narrow").agent
    assert agent is not None
    assert agent.external_id == "support-bot"


def test_dead_session_is_retried(visit: Any) -> None:
    ada = visit()
    ada.follows(ada.page.get_by_role("link", name="intakes failed"))
    ada.follows(ada.page.locator("#result_list tbody a").first)
    ada.presses("Retry")

    expect(ada.page.get_by_text("Due again")).to_be_visible()
    assert not MemorySession.objects.filter(state="dead").exists()


def test_member_is_invited_and_logs_in(visit: Any, told: Told) -> None:
    ada = visit()
    ada.opens("workspaces/membership/add/")
    ada.page.get_by_label("Email").fill("rosalind@example.org")
    ada.presses("Invite")
    link = ada.page.locator("#invite-url").inner_text()
    ada.page.context.clear_cookies()
    ada.page.goto(link)
    for field in ada.page.locator("input[type=password]").all():
        field.fill("double helix, photo 51")
    ada.presses("Accept and set the password")

    expect(ada.page.get_by_role("link", name="Log in")).to_be_visible()
    assert Membership.objects.filter(user__email="rosalind@example.org").exists()


def test_viewer_sees_no_button(visit: Any) -> None:
    alan = visit("alan.turing")
    memory = Memory.objects.live().first()
    assert memory is not None
    alan.opens(f"memories/memory/{memory.pk}/change/")

    assert memory.content in alan.reads()
    assert alan.page.locator("#content").get_by_role("button").count() == 0


def test_search_is_reached_by_the_slash_key(visit: Any) -> None:
    ada = visit()
    ada.opens("memories/memory/")
    ada.page.keyboard.press("/")
    expect(ada.page.locator("#searchbar")).to_be_focused()
    ada.page.keyboard.type("aisle")
    ada.page.keyboard.press("Enter")
    ada.page.wait_for_url("**q=aisle**")

    expect(ada.page.locator("#result_list tbody")).to_have_count(1)


def test_subject_filter_narrows_the_list(visit: Any) -> None:
    ada = visit()
    ada.opens("memories/memory/")
    ada.presses("Filters")
    ada.page.locator("#id_subject__id__exact + .select2").click()
    ada.page.locator(".select2-results__option", has_text="Ada Lovelace").click()
    expect(ada.page.locator("#id_subject__id__exact + .select2")).to_contain_text("Ada Lovelace")
    ada.presses("Apply Filters")
    ada.page.wait_for_url("**subject__id__exact**")

    assert "Postgres" not in ada.reads()


def test_theme_is_changed_with_the_keyboard_alone(visit: Any) -> None:
    ada = visit(color_scheme="light")
    ada.page.get_by_role("button", name="Account").focus()
    ada.page.keyboard.press("Enter")
    ada.page.get_by_role("button", name="Dark").focus()
    ada.page.keyboard.press("Enter")

    expect(ada.page.locator("html")).to_have_class("dark")


def test_member_gets_another_role_and_is_removed(visit: Any, told: Told) -> None:
    alan = Membership.objects.get(user__username="alan.turing")
    ada = visit()
    ada.opens(f"workspaces/membership/{alan.pk}/change/")
    ada.presses("Change role")
    dialog = ada.page.locator("dialog[open]")
    dialog.get_by_label("Role").select_option("editor")
    dialog.get_by_role("button", name="Change role").click()
    expect(ada.page.get_by_text("alan.turing is editor now.")).to_be_visible()
    alan.refresh_from_db()
    assert alan.role == "editor"

    ada.presses("Remove")
    ada.page.locator("dialog[open]").get_by_role("button", name="Remove").click()
    ada.page.wait_for_url("**/workspaces/membership/")
    assert not Membership.objects.filter(pk=alan.pk).exists()


def test_key_is_revoked(visit: Any, told: Told) -> None:
    key = ApiKey.objects.get(name="Support backend")
    ada = visit()
    ada.opens(f"workspaces/apikey/{key.pk}/change/")
    ada.presses("Revoke")
    ada.page.locator("dialog[open]").get_by_role("button", name="Revoke").click()

    expect(ada.page.locator(".desk-chip").first).to_have_text("revoked")
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_what_a_role_may_not_see_is_not_offered_nor_opened(visit: Any, told: Told) -> None:
    for name, refused in (("grace.hopper", ["apikey"]), ("alan.turing", ["apikey", "auditentry"])):
        person = visit(name)
        for model in refused:
            offered = person.page.locator(f'a[href="/admin/workspaces/{model}/"]')
            expect(offered).to_have_count(0)
            answer = person.page.goto(f"{person.url}/admin/workspaces/{model}/")
            assert answer.status == 403


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_every_tab_is_in_reach(visit: Any, width: int) -> None:
    """They wrap; on a phone they scroll, and begin at the one that is looked at."""
    ada = visit(viewport={"width": width, "height": 800})
    ada.opens("memories/webhookdelivery/")
    tabs = ada.whole().locator("#tabs-items")
    here = tabs.locator("a.active")

    expect(here).to_have_text("Deliveries")
    expect(here).to_be_in_viewport(ratio=1)
    assert width == 390 or tabs.evaluate("(e) => e.scrollWidth <= e.clientWidth")
    assert ada.fits()
