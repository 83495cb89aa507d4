"""The audit log as a person reads it: filtered, told word by word, taken along as a file."""

import csv
import json
from typing import Any

from playwright.sync_api import Download, Page, expect

from bench.story import Told
from memories.belief import review
from memories.models import Memory
from workspaces.models import AuditEntry
from workspaces.permissions import ROLE_CAPABILITIES
from workspaces.scope import Scope

LIST = "workspaces/auditentry/"


def saved(page: Page, form: str) -> Download:
    with page.expect_download() as taken:
        page.get_by_role("link", name=form).click()
    return taken.value


def test_lines_are_filtered_and_only_these_are_exported(visit: Any) -> None:
    ada = visit()
    ada.opens(LIST)
    ada.presses("Filters")
    ada.page.locator('select[name="did"]').select_option("forget", force=True)
    ada.presses("Apply Filters")
    ada.page.wait_for_url("**did=forget**")
    expect(ada.page.locator("#result_list tbody tr")).to_have_count(1)

    lines = saved(ada.page, "JSONL").path().read_text().splitlines()
    rows = list(csv.DictReader(saved(ada.page, "CSV").path().read_text().splitlines()))
    assert [json.loads(line)["action"] for line in lines] == ["forget"]
    assert [row["reason"] for row in rows] == ["wrong"]
    assert "cilantro" not in rows[0]["before"]  # of what is wrong the log keeps no words


def test_a_line_tells_in_words_what_changed_and_has_no_button(visit: Any) -> None:
    line = AuditEntry.objects.filter(action="edit").latest("pk")
    grace = visit("grace.hopper")
    grace.opens(LIST)
    grace.follows(grace.page.locator(f'#result_list a[href*="{line.pk}"]').first)

    gone = grace.page.locator(".desk-rows del").all_inner_texts()
    come = grace.page.locator(".desk-rows ins").all_inner_texts()
    assert gone == ["Team", "for", "the billing service"]
    assert come == ["The billing team", "in", "May"]
    assert grace.page.locator("#content").get_by_role("button").count() == 0


def test_a_merge_is_undone_from_its_line(visit: Any, told: Told) -> None:
    scope = Scope(told.workspace.pk, "test", ROLE_CAPABILITIES["owner"])
    other = told.workspace.subjects.create(external_id="countess")
    own = told.workspace.subjects.get(external_id="ada")
    before = Memory.objects.live().filter(subject=own).count()
    review.merge_subjects(scope, own.pk, other.pk)
    line = AuditEntry.objects.get(action="merge", target_id=own.pk)
    grace = visit("grace.hopper")
    grace.opens(f"{LIST}{line.pk}/change/")
    grace.follows(grace.page.get_by_role("link", name="person", exact=True))
    grace.presses("Undo the merge")

    expect(grace.page.get_by_text("each have their own again")).to_be_visible()
    assert Memory.objects.live().filter(subject=own).count() == before


def test_a_viewer_is_not_offered_the_log(visit: Any) -> None:
    alan = visit("alan.turing")
    expect(alan.page.locator("nav, aside").get_by_role("link", name="Audit")).to_have_count(0)
    alan.opens(LIST)

    expect(alan.page.get_by_text("Your role does not allow this")).to_be_visible()


def test_what_agents_read_is_one_line_that_opens(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens(LIST)
    rows = grace.page.locator("#result_list tbody tr")
    expect(rows.filter(has_text="pinned")).to_have_count(1)
    run = rows.filter(has_text="read messages").filter(has_text="batches").first
    number = int(run.inner_text().partition(" in ")[2].partition(" ")[0])
    grace.follows(run.locator("a").first)
    grace.page.wait_for_url("**did=ingest**")
    assert grace.page.locator("#result_list tbody tr").count() >= number > 1
    assert "batches" not in grace.reads()
