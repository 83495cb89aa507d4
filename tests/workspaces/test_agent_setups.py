"""Lines that connect agents, on the pages of the admin."""

from django.urls import reverse

from tests.desk import member
from tests.people import Person
from workspaces.models import ApiKey


def test_every_member_finds_the_lines_with_the_servers_address(alice: Person) -> None:
    page = member(alice.workspace, "viewer").sees(reverse("admin:workspaces_connect"))
    for line in ("claude mcp add", "http://testserver/mcp", "manage.py", "[mcp_servers.memory]"):
        assert line in page
    assert "mp_" not in page


def test_a_new_key_is_shown_with_the_lines_that_hold_it(alice: Person) -> None:
    desk = member(alice.workspace)
    said = {"workspace": str(alice.workspace.pk), "name": "desk", "capabilities": ["read"]}
    page = desk.client.post(reverse("admin:workspaces_apikey_add"), said).content.decode()
    key = ApiKey.objects.get(name="desk")
    assert page.count(f"Bearer mp_{key.prefix}_") >= 4
    assert "http://testserver/mcp" in page
