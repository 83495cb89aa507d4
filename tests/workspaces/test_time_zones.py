"""Pages tell times where the person is, and days as days; programs are answered in UTC."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse

from memories.models import Memory
from tests.desk import Desk, member
from tests.factories import MemoryFactory
from workspaces.models import Role, User, Workspace
from workspaces.time_zones import COOKIE

LATE = datetime(2026, 5, 3, 22, 30, tzinfo=UTC)  # the fourth of May, in Berlin
PAGE = "/admin/time-zone/"


@pytest.fixture
def desk(workspace: Workspace) -> Desk:
    return member(workspace, Role.EDITOR)


@pytest.fixture
def page(workspace: Workspace) -> str:
    memory = MemoryFactory(
        workspace=workspace,
        valid_from=datetime(2026, 2, 1, tzinfo=UTC),
    )
    Memory.objects.filter(pk=memory.pk).update(created_at=LATE)
    return reverse("admin:memories_memory_change", args=[memory.pk])


def in_zone(desk: Desk, zone: str) -> Desk:
    desk.client.cookies[COOKIE] = zone
    return desk


def test_a_page_tells_times_in_the_zone_of_the_browser(desk: Desk, page: str) -> None:
    html = in_zone(desk, "Europe/Berlin").sees(page)
    assert ">2026-05-04 00:30</time>" in html
    assert 'title="2026-05-04 00:30:00 Europe/Berlin"' in html


@pytest.mark.parametrize("zone", ["", "Nowhere/Here", "../../etc/passwd", "localtime", "x" * 5000])
def test_where_no_zone_is_known_it_is_utc_and_says_so(desk: Desk, page: str, zone: str) -> None:
    html = in_zone(desk, zone).sees(page)
    assert ">2026-05-03 22:30</time>" in html
    assert 'title="2026-05-03 22:30:00 UTC"' in html


def test_a_day_is_the_same_day_in_every_zone(desk: Desk, page: str) -> None:
    for zone in ("America/Los_Angeles", "Pacific/Auckland"):
        assert ">2026-02-01</time>" in in_zone(desk, zone).sees(page)


def test_the_zone_that_somebody_chose_holds_in_every_browser(desk: Desk, page: str) -> None:
    in_zone(desk, "Europe/Berlin").client.post(PAGE, {"zone": "Asia/Tokyo"})
    assert ">2026-05-04 07:30</time>" in desk.sees(page)
    assert 'value="Asia/Tokyo" selected' in desk.sees(PAGE)
    desk.client.post(PAGE, {"zone": ""})
    assert ">2026-05-04 00:30</time>" in desk.sees(page)


def test_a_zone_that_is_none_is_refused(desk: Desk) -> None:
    answer = desk.client.post(PAGE, {"zone": "Nowhere/Here"})
    assert b"Select a valid choice" in answer.content
    assert not User.objects.exclude(time_zone="").exists()


def test_a_day_of_a_list_begins_at_the_midnight_of_the_person(desk: Desk, workspace: Workspace) -> None:
    MemoryFactory(workspace=workspace, content="Ada sails.")
    made = Memory.objects.get()
    days = reverse("admin:memories_memory_changelist")
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # 25 hours apart
        here = made.created_at.astimezone(ZoneInfo(zone)).date()
        assert "Ada sails." in in_zone(desk, zone).sees(days, day=here.isoformat())
