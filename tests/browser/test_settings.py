"""A workspace's settings as an owner fills them in."""

from typing import Any

from playwright.sync_api import expect

from bench.story import Told
from workspaces.models import AuditEntry, Workspace


def settings_of(told: Told) -> dict[str, Any]:
    return Workspace.objects.get(pk=told.workspace.pk).settings


def test_a_setting_is_changed_refused_where_it_is_wrong_and_audited(visit: Any, told: Told) -> None:
    ada = visit()
    ada.opens(f"workspaces/workspace/{told.workspace.pk}/change/")
    models = ada.page.locator("#id_extractors")
    models.fill('[{"provider": "oracle"}]')
    ada.presses("Save")
    expect(ada.page.locator(".errorlist, .errors").first).to_be_visible()
    assert settings_of(told) == {}
    models.fill("")
    ada.page.locator("#id_conflict_rule").select_option("nearest")
    ada.presses("Save")
    ada.page.wait_for_url("**/workspaces/workspace/")

    assert settings_of(told) == {"conflictRule": "nearest"}
    line = AuditEntry.objects.get(action="change_settings")
    assert (line.before, line.after) == ({}, {"conflictRule": "nearest"})
    ada.opens(f"workspaces/workspace/{told.workspace.pk}/change/")
    expect(ada.page.locator("#id_conflict_rule")).to_have_value("nearest")


def test_an_editor_changes_no_settings(visit: Any, told: Told) -> None:
    grace = visit("grace.hopper")
    grace.opens(f"workspaces/workspace/{told.workspace.pk}/change/")

    expect(grace.page.locator("#id_conflict_rule")).to_have_count(0)
    expect(grace.page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
