"""The policy page: what waits for a person, tried on the last week, saved by admins."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from memories.models import Supersession
from tests.admin.test_admin_queries import MOST, queries_of
from tests.desk import Desk, member
from tests.factories import AgentFactory, MemoryFactory, SupersessionFactory
from workspaces.models import AuditEntry, Role, Workspace
from workspaces.models.workspace import first_uuid7

PAGE = reverse("admin:memories_policy")


def replaced(workspace: Workspace, **about: Any) -> Supersession:
    """A machine replaced one memory by another."""
    values = {"state": "applied", "method": "guarded", "rule": "slot", "similarity": 0.85}
    made = {name: about.pop(name) for name in ("category", "confidence", "agent") if name in about}
    new = MemoryFactory(workspace=workspace, **made)
    old = MemoryFactory(workspace=workspace)
    return SupersessionFactory(workspace=workspace, old=old, new=new, **{**values, **about})


def asks(desk: Desk, button: str = "try", **fields: Any) -> Any:
    return desk.client.post(PAGE, {button: "1", **fields})


def held(desk: Desk, **fields: Any) -> list[Supersession]:
    return [decision for _, decision in asks(desk, **fields).context["found"].held]


def review_of(workspace: Workspace) -> Any:
    return Workspace.objects.get(pk=workspace.pk).settings.get("review")


def test_values_are_tried_on_the_last_week(workspace: Workspace) -> None:
    agent = AgentFactory(workspace=workspace)
    grey = replaced(workspace)
    unsure = replaced(workspace, confidence=0.4, similarity=0.5)
    secret = replaced(workspace, category="policy", similarity=0.5)
    scraped = replaced(workspace, agent=agent, similarity=0.5)
    alice = member(workspace)

    assert held(alice) == []
    assert held(alice, low="0.8", high="0.9") == [grey]
    assert held(alice, confidence="0.5") == [unsure]
    assert held(alice, categories=["policy"]) == [secret]
    assert held(alice, agents=[str(agent.pk)]) == [scraped]
    assert review_of(workspace) is None


@pytest.mark.parametrize(
    "about",
    [
        {"pk": first_uuid7(timezone.now() - timedelta(days=8))},
        {"method": "manual", "rule": "edit"},
        {"rule": "older"},
    ],
)
def test_old_decisions_and_those_of_people_are_not_asked_again(workspace: Workspace, about: dict[str, Any]) -> None:
    replaced(workspace, **about)

    assert held(member(workspace), low="0", high="1") == []


def test_a_pin_that_held_one_back_counts_under_each_policy(workspace: Workspace) -> None:
    found = replaced(workspace, rule="pinned: slot:residence", state="pending")

    assert held(member(workspace)) == [found]


def test_what_is_decided_at_once_is_counted_at_once(workspace: Workspace) -> None:
    near = replaced(workspace)
    old = MemoryFactory(workspace=workspace)
    far = SupersessionFactory(
        workspace=workspace,
        old=old,
        new=near.new,
        state="applied",
        method="guarded",
        rule="slot",
        similarity=0.2,
    )

    assert held(member(workspace), low="0.8", high="0.9") == [far, near]


def test_what_is_saved_is_kept_audited_once_and_shown_again(workspace: Workspace) -> None:
    alice, found = member(workspace), replaced(workspace)
    asks(alice, "save", low="0.8", high="0.9", categories=["policy"], confidence="")
    line = AuditEntry.objects.get()

    said = {"similarity": [0.8, 0.9], "categories": ["policy"]}
    assert review_of(workspace) == said
    assert (line.action, line.actor, line.after) == (
        "change_policy",
        f"user:{alice.user.pk}",
        said,
    )
    assert str(found.pk) in alice.sees(PAGE)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"low": "0.9", "high": "0.8"}, "high"),
        ({"low": "0.9"}, "high"),
        ({"high": "0.9"}, "low"),
        ({"confidence": "2"}, "confidence"),
        ({"confidence": "nan"}, "confidence"),
        ({"categories": ["secrets"]}, "categories"),
        ({"agents": ["me"]}, "agents"),
    ],
)
def test_nonsense_is_told_at_its_field(workspace: Workspace, wrong: dict[str, Any], field: str) -> None:
    answer = asks(member(workspace), "save", **wrong)

    assert list(answer.context["form"].errors) == [field]
    assert review_of(workspace) is None


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_others_than_admins_try_and_save_nothing(workspace: Workspace, role: str) -> None:
    found = replaced(workspace)
    bob = member(workspace, role)

    assert held(bob, low="0", high="1") == [found]
    assert asks(bob, "save", low="0", high="1").status_code == 403
    assert review_of(workspace) is None


def test_another_workspace_is_not_there(workspace: Workspace, mallory: Any) -> None:
    agent = AgentFactory(workspace=workspace)
    outsider = member(mallory.workspace)

    assert outsider.status(f"{PAGE}?workspace={workspace.slug}") == 404
    assert "agents" in asks(outsider, agents=[str(agent.pk)]).context["form"].errors


def test_the_page_costs_few_queries(workspace: Workspace) -> None:
    for _ in range(25):
        replaced(workspace)
    Workspace.objects.filter(pk=workspace.pk).update(settings={"review": {"similarity": [0.8, 0.9]}})
    alice = member(workspace)

    assert len(queries_of(alice, PAGE)) <= MOST
    assert alice.client.get(PAGE).context["found"].asked == 25
    assert len(alice.client.get(PAGE).context["examples"]) == 20


def test_the_side_bar_marks_the_inbox_on_all_pages_of_decisions(workspace: Workspace) -> None:
    decision = replaced(workspace)
    alice = member(workspace)
    page = reverse("admin:memories_supersession_change", args=[decision.pk])

    for each in (page, reverse("admin:memories_decided")):
        bar = alice.client.get(each).context["sidebar_navigation"]
        marked = [item["title"] for group in bar for item in group["items"] if item["active"]]
        assert marked == ["Inbox"]
