"""What is at the root."""

from django.test import Client

from tests.desk import member
from workspaces.models import Workspace


def test_a_visitor_is_told_where_they_are_and_how_to_go_on(db: None) -> None:
    answer = Client().get("/")
    assert answer.status_code == 200
    page = answer.content.decode()
    for words in (
        "memory server for AI agents",
        "/admin/login/",
        "/docs/",
        "/api/docs",
        "testserver/mcp",
    ):
        assert words in page
    assert "first_run.json" in page
    assert "default-src" in answer.headers["Content-Security-Policy"]


def test_who_is_logged_in_goes_on_to_the_admin(workspace: Workspace) -> None:
    answer = member(workspace).client.get("/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/")
