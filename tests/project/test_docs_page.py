"""The built documentation is served at /docs/, its own files alone."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.desk import member
from workspaces.models import Workspace

PAGE = "<!doctype html><script>one()</script><script src='a.js'></script><p>Hello</p>"


@pytest.fixture(autouse=True)
def site(db: None, tmp_path: Path, settings: Settings) -> Path:
    folder = tmp_path / "site"
    for name, text in {
        "index.html": PAGE,
        "guides/index.html": "<p>Guides</p>",
        "assets/main.css": "p {}",
        "assets/main.js": "one()",
        "search/search_index.json": "{}",
        "logo.svg": "<svg/>",
        "openapi.yaml": "a: 1",
        "odd": "x",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (tmp_path / "secret.txt").write_text("hidden")
    settings.DOCS_SITE = folder
    return folder


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/docs/", "text/html; charset=utf-8"),
        ("/docs/index.html", "text/html; charset=utf-8"),
        ("/docs/guides/", "text/html; charset=utf-8"),
        ("/docs/assets/main.css", "text/css; charset=utf-8"),
        ("/docs/assets/main.js", "text/javascript; charset=utf-8"),
        ("/docs/search/search_index.json", "application/json"),
        ("/docs/logo.svg", "image/svg+xml"),
        ("/docs/openapi.yaml", "application/yaml"),
        ("/docs/odd", "application/octet-stream"),
    ],
)
def test_a_file_of_the_site_has_its_type(path: str, kind: str) -> None:
    answer = Client().get(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, kind)
    assert "max-age" in answer.headers["Cache-Control"]


def test_what_did_not_change_is_not_sent_again(site: Path) -> None:
    etag = Client().get("/docs/guides/").headers["ETag"]
    again = Client().get("/docs/guides/", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    (site / "guides" / "index.html").write_text("<p>New guides</p>")
    assert Client().get("/docs/guides/", headers={"If-None-Match": etag}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/docs/../secret.txt",
        "/docs/..%2fsecret.txt",
        "/docs/guides/../../secret.txt",
        "/docs/%2e%2e/secret.txt",
        "/docs//etc/passwd",
        "/docs/..%5csecret.txt",
        "/docs/index.html%00.css",
        "/docs/nothing/here",
        "/docs/assets/",
    ],
)
def test_nothing_beside_the_site_is_served(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 404
    assert b"hidden" not in answer.content
    assert b"There is no such page" in answer.content


def test_a_folder_is_led_to_its_page_and_nothing_is_written() -> None:
    led = Client().get("/docs/guides")
    assert (led.status_code, led.headers["Location"]) == (302, "/docs/guides/")
    assert Client().get("/docs").headers["Location"] == "/docs/"
    assert Client().post("/docs/").status_code == 405


def test_scripts_in_a_page_run_by_their_digest_alone() -> None:
    policy = Client().get("/docs/").headers["Content-Security-Policy"]
    [named] = re.findall(r"'sha256-([^']+)'", policy)
    assert base64.b64decode(named) == hashlib.sha256(b"one()").digest()
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


def test_where_nothing_is_built_a_page_says_how(settings: Settings, tmp_path: Path) -> None:
    settings.DOCS_SITE = tmp_path / "none"
    for path in ("/docs/", "/docs/guides/"):
        answer = Client().get(path)
        assert answer.status_code == 404
        assert b"mkdocs build" in answer.content


def test_the_admin_leads_to_it(workspace: Workspace) -> None:
    assert 'href="/docs/"' in member(workspace).client.get("/admin/").content.decode()
