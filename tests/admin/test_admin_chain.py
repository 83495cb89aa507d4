"""The page of a chain: what was believed on a day, on both axes, without a line of script."""

from datetime import timedelta

import pytest
from django.urls import reverse

from memories.models import Memory, MemoryPeriod
from tests.desk import member, page_of
from tests.factories import LONG_AGO, chain_of, evidence
from workspaces.models import Workspace

FIRST, SECOND, THIRD = "Prefers green tea", "Prefers black tea", "Prefers coffee"


@pytest.fixture
def seats(workspace: Workspace) -> list[Memory]:
    """Believed from the 30th, 60th and 90th day on, and true since then as well."""
    return chain_of(workspace, FIRST, SECOND, THIRD)


def told(html: str) -> str:
    start = html.index('id="as-of-told"')
    return html[start : html.index("</p>", start)]


def day(number: int) -> str:
    return (LONG_AGO + timedelta(days=number)).strftime("%Y-%m-%d")


@pytest.mark.parametrize(("at", "believed"), [(45, FIRST), (75, SECOND), (100, THIRD), (10, "nothing of this chain")])
def test_it_tells_what_was_believed_on_a_day(workspace: Workspace, seats: list[Memory], at: int, believed: str) -> None:
    html = member(workspace).sees(page_of(seats[2]), known_on=day(at))
    assert believed in told(html)
    assert sum(text in told(html) for text in (FIRST, SECOND, THIRD)) <= 1


def test_it_tells_what_is_now_taken_to_have_been_true(workspace: Workspace, seats: list[Memory]) -> None:
    html = member(workspace).sees(page_of(seats[2]), valid_on=day(45))
    assert FIRST in told(html)
    assert THIRD not in told(html)


def test_both_axes_are_asked_at_once(workspace: Workspace, seats: list[Memory]) -> None:
    html = member(workspace).sees(page_of(seats[2]), known_on=day(75), valid_on=day(45))
    assert FIRST in told(html)
    html = member(workspace).sees(page_of(seats[2]), known_on=day(45), valid_on=day(75))
    assert FIRST in told(html), "nobody knew on day 45 that it would end on day 60"


def test_a_slider_sends_seconds(workspace: Workspace, seats: list[Memory]) -> None:
    at = LONG_AGO + timedelta(days=75)
    html = member(workspace).sees(page_of(seats[2]), known=str(int(at.timestamp())))
    assert SECOND in told(html)


@pytest.mark.parametrize("nonsense", ["", "soon", "2026-02-31", "9" * 30, "-1", "0001-01-01"])
def test_nonsense_is_no_day(workspace: Workspace, seats: list[Memory], nonsense: str) -> None:
    alice = member(workspace)
    for name in ("known", "known_on", "valid", "valid_on"):
        assert told(alice.sees(page_of(seats[2]), **{name: nonsense}))


def test_an_undone_span_is_shown_as_it_was(workspace: Workspace, seats: list[Memory]) -> None:
    again = LONG_AGO + timedelta(days=200)
    MemoryPeriod.objects.create(workspace=workspace, memory=seats[0], from_at=again, cause="undone")
    assert FIRST in told(member(workspace).sees(page_of(seats[0]), known_on=day(210)))


def test_versions_beyond_that_day_are_dimmed(workspace: Workspace, seats: list[Memory]) -> None:
    html = member(workspace).sees(page_of(seats[2]), known_on=day(75))
    assert html.count("is-beyond") == 2
    assert "is-beyond" not in member(workspace).sees(page_of(seats[2]))


def test_each_version_shows_its_newest_facts(workspace: Workspace, seats: list[Memory]) -> None:
    for number in range(8):
        evidence(seats[2], f"I said it {number} times")
    evidence(seats[0], "I said it long ago")
    html = member(workspace).sees(page_of(seats[2]))
    assert "I said it 7 times" in html
    assert "I said it 0 times" not in html
    assert "I said it long ago" in html


def test_a_guessed_chain_of_another_workspace_is_not_found(seats: list[Memory]) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    assert mallory.client.get(page_of(seats[2]), {"known_on": day(75)}).status_code == 404
    assert FIRST not in mallory.sees(reverse("admin:index"))
