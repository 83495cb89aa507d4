"""What browsers are told about our pages, and what changes behind TLS."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

import memoryproject.settings
from memoryproject.server.front.lanes import API
from tests.desk import member
from tests.live_server import ROOT, strangers_environment
from tests.people import Person
from workspaces.models import Membership, Role, Workspace

PAGES = ("/admin/login/", "/accounts/password/MQ/abc-def", "/api/docs", "/api/redoc")


@pytest.fixture
def behind_tls(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[ModuleType]:
    """The settings as they are read with BEHIND_TLS_PROXY, given to the tests' own."""
    monkeypatch.setenv("BEHIND_TLS_PROXY", "true")
    read = importlib.reload(memoryproject.settings)
    for name in dir(read):
        if name.startswith(("SECURE_", "SESSION_", "CSRF_", "KNOWN_", "BEHIND_", "SILENCED_")):
            setattr(settings, name, getattr(read, name))
    yield read
    monkeypatch.undo()
    importlib.reload(memoryproject.settings)


def policy_of(page: str) -> dict[str, str]:
    answer = Client().get(page)
    assert answer.headers["Permissions-Policy"].startswith("accelerometer=()")
    parts = answer.headers["Content-Security-Policy"].split("; ")
    return {name: value for name, _, value in (part.partition(" ") for part in parts)}


@pytest.mark.parametrize("page", PAGES)
def test_pages_run_only_scripts_of_this_server(db: None, page: str) -> None:
    policy = policy_of(page)

    assert "'unsafe-inline'" not in policy["script-src"]
    assert "http" not in " ".join(policy.values())
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["object-src"] == "'none'"
    assert policy["form-action"] == policy["default-src"] == "'self'"


def test_only_the_admins_scripts_may_make_code_of_text(db: None) -> None:
    allowed = [page for page in PAGES if "'unsafe-eval'" in policy_of(page)["script-src"]]

    assert allowed == ["/admin/login/"]


def test_no_page_has_a_script_in_it(db: None) -> None:
    for page in PAGES:
        scripts = Client().get(page).content.decode().split("<script")[1:]
        assert all("src=" in script.partition(">")[0] for script in scripts), page


def test_answers_to_programs_are_not_burdened(alice: Person) -> None:
    answer = Client().get("/api/v1/workspaces", headers={"X-API-Key": alice.key})

    assert answer.status_code == 200
    assert "Content-Security-Policy" not in answer.headers


def test_behind_tls_pages_are_led_to_https_and_those_who_watch_are_not(db: None, behind_tls: ModuleType) -> None:
    pages = {Client().get(path).status_code for path in ("/", "/admin/login/", "/api/docs")}
    watched = {Client().get(path).status_code for path in ("/health/live", "/metrics")}

    assert (pages, watched) == ({301}, {200})


@pytest.mark.parametrize(
    ("meta", "status"),
    [
        ({"REMOTE_ADDR": "127.0.0.1"}, 200),
        ({"REMOTE_ADDR": "203.0.113.7"}, 403),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_PROTO": "http"}, 403),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "203.0.113.7"}, 403),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_PROTO": "https"}, 200),
    ],
)
def test_behind_tls_a_key_in_plain_text_is_for_programs_of_this_machine_only(
    alice: Person, behind_tls: ModuleType, meta: dict[str, str], status: int
) -> None:
    answer = Client().get("/api/v1/workspaces", headers={"X-API-Key": alice.key}, **meta)

    assert answer.status_code == status


@pytest.mark.parametrize("path", API)
def test_behind_tls_no_program_is_led_on_that_sent_its_key_in_plain_text(
    alice: Person, behind_tls: ModuleType, path: str
) -> None:
    headers = {"X-API-Key": alice.key}
    answer = Client().post(f"{path}anything", headers=headers, REMOTE_ADDR="203.0.113.7")

    assert answer.status_code == 403


def test_behind_tls_browsers_keep_to_https_and_to_this_host(workspace: Workspace, behind_tls: ModuleType) -> None:
    visitor = Client(headers={"X-Forwarded-Proto": "https"})
    user = member(workspace).user
    login = {"username": user.username, "password": "a long enough password"}
    answer = visitor.post("/admin/login/", login)

    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    names = {"__Host-sessionid", "__Host-csrftoken", "__Host-knownbrowser"}
    assert set(answer.cookies) == names
    for cookie in answer.cookies.values():
        assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", "")
        assert cookie["samesite"] == "Lax"


def test_djangos_own_checks_have_nothing_to_say_behind_tls() -> None:
    words = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    environment = {**strangers_environment(), "BEHIND_TLS_PROXY": "true"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_without_tls_nothing_of_it_is_said(db: None) -> None:
    answer = Client().get("/admin/login/")

    assert answer.status_code == 200
    assert "Strict-Transport-Security" not in answer.headers


def test_a_session_lasts_hours_and_is_given_more_by_use(workspace: Workspace) -> None:
    visitor, user = Client(), member(workspace).user
    login = {"username": user.username, "password": "a long enough password"}
    first = visitor.post("/admin/login/", login).cookies["sessionid"]["max-age"]
    assert "sessionid" not in visitor.get("/admin/").cookies
    session = visitor.session
    session["seen_at"] -= 3600
    session.save()
    again = visitor.get("/admin/").cookies["sessionid"]["max-age"]

    assert first == again == 12 * 3600
    assert visitor.session["seen_at"] > session["seen_at"]


def test_a_removed_member_is_logged_out_and_stays_so_when_taken_back(workspace: Workspace) -> None:
    bob, owner = member(workspace, Role.VIEWER), member(workspace)
    assert bob.status("/admin/") == 200
    owner.does(Membership.objects.get(user=bob.user), "remove")
    Membership.objects.create(workspace=workspace, user=bob.user)

    assert bob.status("/admin/") == 302
