"""Who gets in, and who sees what: every page of every noun, also by guessing its address."""

import pytest
from django.contrib.admin import site
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from memories.models import Episode, Supersession
from tests.admin_pages import ALL, NOUNS, SECRET, rows_of
from tests.desk import desk_of, list_of, member, page_of, superuser
from tests.factories import (
    AgentFactory,
    ApiKeyFactory,
    AuditEntryFactory,
    MembershipFactory,
    MemoryFactory,
    SubjectFactory,
    UserFactory,
)
from workspaces.adminbase.row_admin import Verb
from workspaces.models import Agent, Role, Subject, User, Workspace
from workspaces.permissions import ROLE_CAPABILITIES as CAPABILITIES

OF_SUPERUSERS = (
    "workspaces_user",
    "django_q_ormq",
    "memories_breaker",
)


def test_nobody_gets_in_without_logging_in(workspace: Workspace) -> None:
    answer = Client().get(page_of(MemoryFactory(workspace=workspace)))

    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("admin:login"))


def test_member_without_staff_flag_logs_in(workspace: Workspace) -> None:
    user = MembershipFactory(workspace=workspace, user=UserFactory(is_staff=False)).user
    answer = Client().post(reverse("admin:login"), {"username": user.username, "password": "a long enough password"})

    assert answer["Location"] == reverse("admin:index")


def test_user_of_no_workspace_does_not_get_in(workspace: Workspace) -> None:
    user = UserFactory(is_staff=True)
    answer = Client().post(reverse("admin:login"), {"username": user.username, "password": "a long enough password"})

    assert "member of no workspace" in answer.content.decode()
    assert desk_of(user).status(reverse("admin:index")) == 302


def test_removed_member_is_out_at_once(workspace: Workspace) -> None:
    bob = member(workspace)
    bob.user.memberships.all().delete()

    assert bob.status(reverse("admin:index")) == 302


def test_inactive_member_does_not_get_in(workspace: Workspace) -> None:
    bob = member(workspace)
    User.objects.filter(pk=bob.user.pk).update(is_active=False)

    assert bob.status(reverse("admin:index")) == 302


def test_a_row_of_every_noun_is_walked(workspace: Workspace) -> None:
    assert {type(row) for row in rows_of(workspace)} == NOUNS


def test_owner_sees_every_list_and_page(workspace: Workspace) -> None:
    rows = rows_of(workspace)
    alice = member(workspace)

    for row in rows:
        alice.sees(list_of(type(row)), **ALL.get(type(row), {}))
        alice.sees(page_of(row))


def test_mallory_sees_no_row_of_another_workspace(workspace: Workspace) -> None:
    rows = rows_of(workspace)
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))

    for row in rows:
        name = type(row).__name__
        assert SECRET not in mallory.sees(list_of(type(row)), **ALL.get(type(row), {})), name
        assert mallory.status(page_of(row)) == 404, name
        assert mallory.status(page_of(row).replace("/change/", "/delete/")) in (403, 404), name
        assert mallory.status(page_of(row).replace("/change/", "/history/")) == 404, name
        assert mallory.status(page_of(row).replace("/change/", "/do/forget/")) in (302, 404), name


def test_page_of_an_impossible_id_is_not_found(workspace: Workspace) -> None:
    alice = member(workspace)

    for row in rows_of(workspace):
        assert alice.status(page_of(row).replace(str(row.pk), "nonsense")) == 404


def test_mallory_finds_nothing_by_autocomplete(workspace: Workspace) -> None:
    rows_of(workspace)
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))

    for model, field in (("memory", "subject"), ("episode", "conversation"), ("fact", "subject")):
        found = mallory.sees(
            reverse("admin:autocomplete"),
            term="",
            app_label="memories",
            model_name=model,
            field_name=field,
        )
        assert SECRET not in found


def test_filter_does_not_name_a_subject_of_another_workspace(workspace: Workspace) -> None:
    subject = SubjectFactory(workspace=workspace, name=SECRET)
    memory = MemoryFactory(workspace=workspace, subject=subject)
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))

    html = mallory.sees(list_of(type(memory)), subject__id__exact=str(subject.pk))

    assert SECRET not in html


def test_viewer_reads_but_gets_no_buttons(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    html = member(workspace, Role.VIEWER).sees(page_of(memory))

    assert memory.content in html
    assert "/do/" not in html


def test_viewer_may_do_nothing(workspace: Workspace) -> None:
    victor = member(workspace, Role.VIEWER)
    memory = MemoryFactory(workspace=workspace)

    for verb in ("forget", "pin", "correct", "restore"):
        assert victor.does(memory, verb).status_code == 403
    assert victor.status(reverse("admin:workspaces_subject_add")) == 403


@pytest.mark.parametrize("role", [Role.EDITOR, Role.VIEWER])
def test_keys_are_for_admins_only(workspace: Workspace, role: str) -> None:
    key = ApiKeyFactory(workspace=workspace)
    desk = member(workspace, role)

    assert desk.status(list_of(type(key))) == 403
    assert desk.status(page_of(key)) in (403, 404)
    assert desk.status(reverse("admin:workspaces_apikey_add")) == 403
    assert desk.does(key, "revoke").status_code in (403, 404)


def verbs_of(row: Model) -> list[Verb]:
    return list(getattr(site._registry[type(row)], "verbs", ()))


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_no_verb_of_any_page_is_done_beyond_the_role(workspace: Workspace, role: str) -> None:
    rows = rows_of(workspace)
    desk = member(workspace, role)
    acts = workspace.audit_entries.count()
    beyond = [(r, v) for r in rows for v in verbs_of(r) if v.capability not in CAPABILITIES[role]]
    assert beyond
    for row, verb in beyond:
        assert desk.does(row, verb.name).status_code in (403, 404), (row, verb.name)
        desk.acts(type(row), verb.name, row)

    assert workspace.audit_entries.count() == acts


def test_mallory_does_nothing_to_any_row_by_guessing(workspace: Workspace) -> None:
    rows = rows_of(workspace)
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    acts = workspace.audit_entries.count()
    for row in rows:
        for verb in verbs_of(row):
            assert mallory.does(row, verb.name).status_code == 404, (row, verb.name)
            mallory.acts(type(row), verb.name, row)

    assert workspace.audit_entries.count() == acts


def test_pages_beside_the_lists_open_to_nobody_else(workspace: Workspace) -> None:
    rows = {type(row): row for row in rows_of(workspace)}
    subject, decision, episode = rows[Subject].pk, rows[Supersession].pk, rows[Episode].pk
    post = {
        reverse("admin:memories_erase", args=["subject", subject]): {"name": SECRET},
        reverse("admin:memories_review_act"): {"verb": "approve", "ids": str(decision)},
        reverse("admin:memories_policy") + f"?workspace={workspace.slug}": {"save": "1"},
        reverse("admin:memories_miss_report", args=[episode]): {"text": SECRET},
    }
    get = [reverse("admin:memories_profile_export", args=[subject, "json"]), *post]
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    victor = member(workspace, Role.VIEWER)
    acts = workspace.audit_entries.count()
    for page, body in post.items():
        assert SECRET not in mallory.client.post(page, body, follow=True).content.decode(), page
        assert victor.client.post(page, body).status_code in (403, 404), page
    assert [mallory.status(page) for page in get] == [404, 404, 403, 404, 404]

    assert workspace.audit_entries.count() == acts
    assert Supersession.objects.get(pk=decision).state == "pending"


def test_audit_is_not_for_viewers(workspace: Workspace) -> None:
    line = AuditEntryFactory(workspace=workspace)

    assert member(workspace, Role.VIEWER).status(list_of(type(line))) == 403
    assert member(workspace, Role.EDITOR).status(list_of(type(line))) == 200


def test_role_counts_only_in_its_own_workspace(workspace: Workspace) -> None:
    """An owner elsewhere is a viewer here."""
    bob = member(workspace, Role.VIEWER)
    MembershipFactory(user=bob.user, role=Role.OWNER)
    memory, key = MemoryFactory(workspace=workspace), ApiKeyFactory(workspace=workspace)

    assert bob.does(memory, "forget").status_code == 403
    assert bob.status(page_of(key)) == 404
    assert key.name not in bob.sees(list_of(type(key)))


def test_form_offers_only_workspaces_that_the_person_may_change(workspace: Workspace) -> None:
    bob = member(workspace, Role.VIEWER)
    own = MembershipFactory(user=bob.user, role=Role.ADMIN).workspace

    html = bob.sees(reverse("admin:workspaces_agent_add"))

    assert str(own.pk) in html
    assert str(workspace.pk) not in html


def test_agent_cannot_be_put_into_another_workspace(workspace: Workspace) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    mallory.client.post(
        reverse("admin:workspaces_agent_add"),
        {"workspace": str(workspace.pk), "external_id": "spy", "name": "", "team": ""},
    )

    assert not Agent.objects.exists()


def test_row_cannot_be_moved_to_another_workspace(workspace: Workspace) -> None:
    alice = member(workspace)
    other = MembershipFactory(user=alice.user).workspace
    agent = AgentFactory(workspace=workspace)
    alice.client.post(page_of(agent), {"workspace": str(other.pk), "name": "new", "team": ""})

    assert Agent.objects.get(pk=agent.pk).workspace == workspace
    assert Agent.objects.get(pk=agent.pk).name == "new"


def test_superuser_sees_all_workspaces(workspace: Workspace) -> None:
    root = superuser()

    for row in rows_of(workspace):
        root.sees(page_of(row))
    for name in OF_SUPERUSERS:
        root.sees(reverse(f"admin:{name}_changelist"))


def test_accounts_and_queue_are_for_superusers_only(workspace: Workspace) -> None:
    alice = member(workspace, is_staff=True)

    for name in OF_SUPERUSERS:
        assert alice.status(reverse(f"admin:{name}_changelist")) == 403


def test_change_by_a_form_leaves_a_line_in_the_audit_log(workspace: Workspace) -> None:
    alice = member(workspace)
    agent = AgentFactory(workspace=workspace)
    alice.client.post(page_of(agent), {"name": "new", "team": ""})

    line = workspace.audit_entries.get(action="change")
    assert (line.target_id, line.actor) == (agent.pk, f"user:{alice.user.pk}")
