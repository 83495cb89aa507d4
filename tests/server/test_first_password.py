"""The password that the server made: changed at the first login, and then in no file any more."""

import json
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from memoryproject.server import first_run
from memoryproject.server.first_run import FirstRun
from workspaces.models import User

NEW = "one that I chose myself"
CHANGE = "/admin/password_change/"


@pytest.fixture
def made(db: None, tmp_path: Path, settings: Settings) -> FirstRun:
    settings.DATA_DIR = tmp_path
    found = first_run.made_now(tmp_path)
    assert found is not None
    return found


def logged_in(made: FirstRun) -> Client:
    client = Client()
    login = {"username": made.admin_user, "password": made.admin_password}
    assert client.post("/admin/login/", login).status_code == 302
    return client


def change(client: Client, old: str | None, new: str = NEW) -> int:
    fields = {"old_password": old, "new_password1": new, "new_password2": new}
    return client.post(CHANGE, fields).status_code


def in_the_file(folder: Path) -> object:
    return json.loads((folder / first_run.FILE).read_text())["admin_password"]


def test_every_page_leads_to_the_form_until_the_password_is_changed(made: FirstRun) -> None:
    admin = logged_in(made)
    for page in ("index", "memories_memory_changelist", "workspaces_user_changelist"):
        assert admin.get(reverse(f"admin:{page}"))["Location"] == CHANGE
    assert change(admin, made.admin_password) == 302

    assert admin.get(reverse("admin:index")).status_code == 200


def test_the_api_by_session_waits_for_it_and_the_key_does_not(made: FirstRun) -> None:
    admin, path = logged_in(made), "/api/v1/workspaces"
    before = admin.get(path)
    by_key = Client().get(path, headers={"X-API-Key": made.key})
    change(admin, made.admin_password)

    assert before.status_code == 403
    assert "Change the first password" in before.json()["detail"]
    assert by_key.status_code == admin.get(path).status_code == 200


def test_a_changed_password_is_taken_out_of_the_file(made: FirstRun, tmp_path: Path) -> None:
    assert in_the_file(tmp_path) == made.admin_password
    change(logged_in(made), made.admin_password)

    assert in_the_file(tmp_path) is None
    kept = first_run.made_before(tmp_path)
    assert kept is not None
    assert (kept.admin_password, kept.key) == (None, made.key)


def test_the_first_password_itself_and_short_ones_are_refused(made: FirstRun, tmp_path: Path) -> None:
    admin = logged_in(made)
    assert made.admin_password is not None

    for refused in (made.admin_password, "elevenchars", "password1234"):
        assert change(admin, made.admin_password, refused) == 200
    assert in_the_file(tmp_path) == made.admin_password


def test_a_start_finds_that_it_was_changed_by_a_command(made: FirstRun, tmp_path: Path) -> None:
    admin = User.objects.get()
    admin.set_password(NEW)
    admin.save()
    kept = first_run.made_before(tmp_path)

    assert kept is not None
    assert kept.admin_password is in_the_file(tmp_path) is None
    assert not User.objects.get().must_change_password


def test_an_older_installation_whose_password_still_works_must_change_it(made: FirstRun, tmp_path: Path) -> None:
    User.objects.update(must_change_password=False)
    kept = first_run.made_before(tmp_path)

    assert kept == made
    assert User.objects.get().must_change_password


def test_sessions_elsewhere_end_with_the_old_password(made: FirstRun) -> None:
    here, elsewhere = logged_in(made), logged_in(made)
    change(here, made.admin_password)

    assert here.get(reverse("admin:index")).status_code == 200
    assert elsewhere.get(reverse("admin:index"))["Location"].startswith(reverse("admin:login"))
