"""A server that a proxy shows below a path of another site: all links begin with that path."""

import re

import pytest
from django.contrib.auth.models import AbstractUser
from django.test import Client

from tests.api_fixtures import caller
from tests.people import Person

MEMORY = {"HTTP_X_FORWARDED_PREFIX": "/memory/"}
# Addresses from the root of the host, in the attributes of a page.
ADDRESS = re.compile(r"""\s(?:href|src|action|data-[a-z-]*(?:url|part|counts|why))=["'](/[^"']*)["']""")
PAGES = ("/", "/admin/login/", "/api/docs", "/api/redoc", "/docs/")


def test_the_next_page_of_a_list_is_below_the_path(alice: Person) -> None:
    for user in ("ada", "bob"):
        alice.note("The box is full.", user_id=user)
    http = caller(alice)
    client = Client(**MEMORY, HTTP_AUTHORIZATION=f"Bearer {alice.key}")
    path = f"/api/v1/workspaces/{alice.workspace.slug}/memories"
    answer = client.get(path, {"limit": 1}).json()
    assert answer["next"].startswith(f"http://testserver/memory{path}?")
    assert client.get(answer["next"].removeprefix("http://testserver/memory")).json()["previous"]
    entities = client.get("/v1/entities/", {"page_size": 1}).json()
    assert entities["next"].startswith("http://testserver/memory/v1/entities/?")
    assert http.get("/memories", limit=1).body["next"].startswith(f"http://testserver{path}?")  # nothing stays


@pytest.mark.parametrize("said", ["//evil.example", "/a/../b", "evil.example", "/a b", "/<x>", "/" + "a" * 65, "/"])
def test_what_is_no_path_changes_no_link(alice: Person, said: str) -> None:
    for user in ("ada", "bob"):
        alice.note("The box is full.", user_id=user)
    client = Client(HTTP_X_FORWARDED_PREFIX=said, HTTP_AUTHORIZATION=f"Bearer {alice.key}")
    path = f"/api/v1/workspaces/{alice.workspace.slug}/memories"
    assert client.get(path, {"limit": 1}).json()["next"].startswith(f"http://testserver{path}?")


@pytest.mark.parametrize("page", PAGES)
def test_open_pages_lead_nowhere_else(db: None, page: str) -> None:
    addresses = ADDRESS.findall(Client(**MEMORY).get(page, follow=False).content.decode())
    assert addresses or page == "/docs/"
    assert [one for one in addresses if not one.startswith("/memory/")] == []


def test_pages_of_the_admin_lead_nowhere_else(admin_user: AbstractUser, alice: Person) -> None:
    alice.say("I prefer tea to coffee.", user_id="ada")
    client = Client(**MEMORY)
    assert client.get("/admin/").headers["Location"].startswith("/memory/admin/login/?next=/memory/admin/")
    client.force_login(admin_user)
    seen, left = set[str](), ["/memory/admin/"]
    while left and len(seen) < 25:
        here = left.pop(0)
        answer = client.get(here.removeprefix("/memory"))
        seen.add(here)
        addresses = ADDRESS.findall(answer.content.decode()) if answer.status_code == 200 else []
        assert [one for one in addresses if not one.startswith("/memory/")] == [], here
        pages = {one.partition("?")[0] for one in addresses if one.startswith("/memory/admin/")}
        left += sorted(pages - seen - set(left))
    assert len(seen) == 25


def test_the_schema_and_what_asks_it_are_below_the_path(db: None) -> None:
    client = Client(**MEMORY)
    assert client.get("/api/schema", {"format": "json"}).json()["servers"][0]["url"] == "/memory/"
    assert b"\n- url: /memory/\n" in client.get("/api/schema").content
    assert Client().get("/api/schema", {"format": "json"}).json()["servers"][0]["url"] == "/"
    assert b'"/memory/api/schema' in client.get("/api/docs", {"script": ""}).content
