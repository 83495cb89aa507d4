"""A workspace's settings as a form: explained, with defaults, validated."""

import json
from typing import Any

import pytest

from memories.ranking import Weights
from memories.settings.workspace_settings import faults_of
from tests.desk import Desk, member, page_of
from workspaces.models import AuditEntry, Role, Workspace


def save(desk: Desk, workspace: Workspace, **values: Any) -> Any:
    """Send the whole form, as the browser does; the answer's form where it was refused."""
    form = desk.client.get(page_of(workspace)).context["adminform"].form
    shown = {field.name: field.value() for field in form}
    body = {name: "" if value is None else value for name, value in shown.items()} | values
    inline = {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
    answer = desk.client.post(page_of(workspace), body | inline)
    return answer.context["adminform"].form if answer.context else None


def settings_of(workspace: Workspace) -> dict[str, Any]:
    return Workspace.objects.get(pk=workspace.pk).settings


def test_every_weight_is_explained_with_its_default(workspace: Workspace) -> None:
    html = member(workspace).sees(page_of(workspace))

    for name, each in Weights.described().items():
        assert f"ranking.{name}" in html
        assert f"Default: {each['default']:g}." in html


def test_what_is_said_is_kept_and_shown_again(workspace: Workspace) -> None:
    alice = member(workspace)
    said = {"conflict_rule": "nearest", "ranking.keyword": "2", "featureSets.messages": "5"}
    assert save(alice, workspace, **said) is None

    assert settings_of(workspace) == {
        "conflictRule": "nearest",
        "ranking": {"keyword": 2.0},
        "featureSets": {"messages": 5},
    }
    assert save(alice, workspace) is None
    assert settings_of(workspace)["ranking"] == {"keyword": 2.0}


def test_what_is_emptied_has_its_default_again(workspace: Workspace) -> None:
    alice = member(workspace)
    save(alice, workspace, conflict_rule="nearest", extractors='[{"provider": "openai"}]')
    save(alice, workspace, conflict_rule="", extractors="")

    assert settings_of(workspace) == {}


def test_settings_without_a_field_are_kept(workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(settings={"llm": "always"})
    save(member(workspace), workspace, conflict_rule="nearest")

    assert settings_of(workspace) == {"llm": "always", "conflictRule": "nearest"}


def test_the_policy_has_its_own_page_and_is_kept(workspace: Workspace) -> None:
    kept = {"review": {"confidence": 0.5}}
    Workspace.objects.filter(pk=workspace.pk).update(settings=kept)
    alice = member(workspace)
    assert save(alice, workspace) is None
    assert settings_of(workspace) == kept

    save(alice, workspace, settings='{"review": {"confidence": 0.7}}')
    assert settings_of(workspace) == {"review": {"confidence": 0.7}}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"conflict_rule": "fastest"}, "conflict_rule"),
        ({"extractors": '[{"provider": "oracle"}]'}, "extractors"),
        ({"extractors": "{"}, "extractors"),
        ({"extractors": '{"provider": "openai"}'}, "extractors"),
        ({"ranking.keyword": "77"}, "ranking.keyword"),
        ({"ranking.keyword": "much"}, "ranking.keyword"),
        ({"featureSets.messages": "0"}, "featureSets.messages"),
        ({"sets": '{"nonsense": 1}'}, "sets"),
        ({"settings": "[1]"}, "settings"),
        ({"settings": '{"ranking": {"luck": 1}}'}, "settings"),
        ({"settings": '{"foo": 1}'}, "settings"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(workspace: Workspace, values: dict[str, str], field: str) -> None:
    form = save(member(workspace), workspace, **values)

    assert list(form.errors) == [field]
    assert settings_of(workspace) == {}


def test_change_is_told_in_the_audit_log(workspace: Workspace) -> None:
    save(member(workspace), workspace, conflict_rule="nearest")
    line = AuditEntry.objects.get(action="change_settings")

    assert (line.before, line.after) == ({}, {"conflictRule": "nearest"})


def test_whatever_the_form_takes_has_no_fault(workspace: Workspace) -> None:
    save(member(workspace), workspace, settings=json.dumps({"conflictRule": "guarded"}))

    assert settings_of(workspace) == {"conflictRule": "guarded"}
    assert faults_of(settings_of(workspace)) == []


def test_an_unknown_setting_is_refused_by_name(workspace: Workspace) -> None:
    [fault] = faults_of({"foo": 1, "llm": "always"})

    assert (fault.field, fault.code) == ("foo", "unknown_field")


def test_settings_are_changed_by_admins_only(workspace: Workspace) -> None:
    bob = member(workspace, Role.EDITOR)
    bob.client.post(page_of(workspace), {"name": "x", "slug": "x", "conflict_rule": "nearest"})

    assert settings_of(workspace) == {}
    assert "Conflict rule" in bob.sees(page_of(workspace))


def test_what_passes_and_whom_to_trust_is_kept_and_shown_again(workspace: Workspace) -> None:
    alice = member(workspace)
    said = {"allowed": ["code", "account"], "guard.tool": "hold", "audience": "team"}
    assert save(alice, workspace, **said) is None

    guard = {"allowed": ["code", "account"], "tool": "hold", "audience": "team"}
    assert settings_of(workspace) == {"guard": guard}
    assert save(alice, workspace) is None
    assert settings_of(workspace) == {"guard": guard}
    assert save(alice, workspace, allowed=[], audience="", **{"guard.tool": ""}) is None
    assert settings_of(workspace) == {}
