"""From a fact to its words, and from a miss to a pattern, in a browser."""

from typing import Any

from playwright.sync_api import expect

from memories.models import Episode, Fact, Miss, WorkspacePattern
from memories.reading.extraction import unmatched
from workspaces.models import Workspace
from workspaces.scope import worker_scope


def test_a_fact_shows_its_words_marked_in_their_source(visit: Any) -> None:
    ada = visit()
    citation = Fact.objects.filter(citations__episode__isnull=False).first().citations.first()
    ada.opens(f"memories/fact/{citation.fact_id}/change/")
    expect(ada.page.locator("mark").first).to_have_text(citation.quote)
    ada.opens(f"memories/episode/{citation.episode_id}/change/")
    expect(ada.page.locator("mark a").first).to_be_visible()


def test_a_pattern_is_made_from_a_miss(visit: Any) -> None:
    grace = visit("grace.hopper")
    workspace = Workspace.objects.order_by("created_at").first()
    episode = Episode.objects.filter(workspace=workspace).first()
    miss = unmatched.report(worker_scope(workspace.pk), episode.pk, ["Ada grels"], "identity")
    grace.opens(f"memories/miss/{miss.pk}/change/")
    page = grace.page
    grace.follows(page.get_by_role("link", name="Make a pattern").first)
    page.locator("#id_name").fill("made-from-a-miss")
    grace.presses("Save")
    page.wait_for_url("**/workspacepattern/")
    assert WorkspacePattern.objects.get(name="made-from-a-miss").category == "identity"
    assert Miss.objects.get(pk=miss.pk).state == "done"
