"""A pattern is tried while it is written."""

from typing import Any

from playwright.sync_api import expect

from bench.story import Told
from memories.reading.extraction import unmatched
from tests.factories import EpisodeFactory
from workspaces.models import Role
from workspaces.permissions import ROLE_CAPABILITIES
from workspaces.scope import Scope


def test_the_box_tells_what_the_pattern_finds_as_it_is_typed(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens("memories/workspacepattern/add/")
    page = grace.page
    page.locator("#id_regex").fill(r"deploys? with (?P<tool>\w+)")
    page.locator("#id_template").fill("The team deploys with {tool}")
    page.locator("#trial-text").fill("Well. The backend deploys with Kestrel.")
    answer = page.locator("#trial-answer")
    expect(answer).to_contain_text("The team deploys with Kestrel")
    page.locator("#id_regex").fill("deploys? with (")
    expect(answer).to_contain_text("RE2 does not take it")


def test_alike_misses_stand_together_and_their_pattern_opens_general(visit: Any, told: Told) -> None:
    ada = visit()
    workspace = told.workspace
    scope = Scope(workspace.pk, "user:ada", ROLE_CAPABILITIES[Role.OWNER], slug=workspace.slug)
    for thing in ("canoe", "old punt"):
        episode = EpisodeFactory(workspace=workspace, content=f"My {thing} leaks badly.")
        unmatched.report(scope, episode.pk, [f"Ada's {thing} leaks"], "possession")
    ada.opens("memories/miss/")
    groups = ada.page.get_by_text("Likely patterns")
    expect(groups).to_be_visible()
    ada.follows(ada.page.get_by_role("link", name="Make a pattern from this").first)
    expect(ada.page.locator("#id_template")).to_have_value("{speaker}'s {what} leaks")
    expect(ada.page.locator("#trial-answer")).to_contain_text("Alex's old punt leaks")


def test_what_a_pattern_would_change_is_seen_before_it_is_saved(visit: Any) -> None:
    grace = visit("grace.hopper")
    grace.opens("memories/workspacepattern/add/")
    page = grace.page
    page.locator("#id_regex").fill(r"decided to use (?P<tool>\w+)")
    page.locator("#id_template").fill("The team runs {tool}")
    grace.presses("Read the last week again")
    answer = page.locator("#rehearsal-answer")
    expect(answer).to_contain_text("newest messages of the last 7 days")
    expect(answer).to_contain_text("made: The team runs Postgres")
