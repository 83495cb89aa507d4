"""The review queue: who may decide what, what is told, and what each page costs."""

import json
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from memories.models import Case, CaseItem, Memory, Supersession
from tests.admin.test_admin_queries import MOST, queries_of
from tests.desk import Desk, member
from tests.factories import MemoryFactory, SupersessionFactory, evidence, replace
from workspaces.models import AuditEntry, Role, Workspace

QUEUE, DECIDED = reverse("admin:memories_inbox"), reverse("admin:memories_decided")
ACT = reverse("admin:memories_case_act")
ACT_ON_DECISIONS = reverse("admin:memories_review_act")
VERBS = ("approve", "keep-both", "reject")


@pytest.fixture
def waiting(workspace: Workspace) -> Supersession:
    return SupersessionFactory(workspace=workspace)


def acts(desk: Desk, verb: str, *decisions: Supersession, **fields: str) -> list[dict[str, Any]]:
    """On the cases that these wait in."""
    ids = [str(each.case_id) for each in decisions]
    return act_on(desk, ACT, verb, ids, **fields)


def act_on(desk: Desk, page: str, verb: str, ids: list[str], **fields: str) -> list[dict[str, Any]]:
    data = {"verb": verb, "ids": ids, **fields}
    answer = desk.client.post(page, data, headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.status_code
    return json.loads(answer.content)["results"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_decision_is_taken_with_the_persons_name(workspace: Workspace, waiting: Supersession, verb: str) -> None:
    grace = member(workspace, Role.EDITOR)
    [result] = acts(grace, verb, waiting)
    waiting.refresh_from_db()

    assert (result["ok"], result["state"]) == (True, "decided")
    assert waiting.state == {"approve": "applied"}.get(verb, "rejected")
    assert waiting.decided_by == f"user:{grace.user.pk}"
    assert AuditEntry.objects.filter(action="decide", target_id=waiting.case_id, actor=waiting.decided_by).exists()


def test_whoever_comes_second_is_told_who_was_first(workspace: Workspace, waiting: Supersession) -> None:
    acts(member(workspace, username="ada"), "keep-both", waiting)
    [result] = acts(member(workspace), "approve", waiting)

    assert (result["ok"], result["message"]) == (False, "ada decided it just now.")


def test_what_cannot_be_replaced_any_more_is_said(workspace: Workspace, waiting: Supersession) -> None:
    Memory.objects.filter(pk=waiting.old_id).update(forgotten_at=timezone.now())
    alice = member(workspace)
    assert "desk-chip--forgotten" in alice.sees(QUEUE)
    [result] = acts(alice, "approve", waiting)

    assert (result["ok"], result["state"]) == (True, "decided")  # the new one alone is left
    assert Memory.objects.get(pk=waiting.new_id).is_live


@pytest.mark.parametrize("verb", [*VERBS, "undo", "decide"])
def test_a_viewer_may_not_decide(workspace: Workspace, waiting: Supersession, verb: str) -> None:
    alan = member(workspace, Role.VIEWER)
    data = {"verb": verb, "ids": [str(waiting.case_id)]}

    assert waiting.new.content in alan.sees(QUEUE)
    assert "<button name=" not in alan.sees(QUEUE)
    assert alan.client.post(ACT, data).status_code == 403


def test_mallory_sees_and_decides_nothing_of_another_workspace(workspace: Workspace, waiting: Supersession) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    [result] = acts(mallory, "approve", waiting)
    waiting.refresh_from_db()

    assert (result["ok"], result["state"], waiting.state) == (False, "gone", "pending")
    for page in (QUEUE, DECIDED, f"{QUEUE}?offset=20"):
        assert waiting.new.content not in mallory.sees(page)


def test_an_editor_of_one_workspace_is_a_viewer_in_another(workspace: Workspace, waiting: Supersession) -> None:
    grace = member(workspace, Role.VIEWER)
    Workspace.objects.create(slug="own", name="Own").memberships.create(user=grace.user, role=Role.OWNER)
    [result] = acts(grace, "approve", waiting)
    waiting.refresh_from_db()

    assert (result["ok"], waiting.state) == (False, "pending")


@pytest.mark.parametrize("fields", [{}, {"verb": "forget"}, {"verb": "approve"}])
def test_what_is_no_decision_changes_nothing(
    workspace: Workspace, waiting: Supersession, fields: dict[str, str]
) -> None:
    status = member(workspace).client.post(ACT, fields).status_code
    waiting.refresh_from_db()

    assert (status in (302, 403), waiting.state) == (True, "pending")
    assert member(workspace).client.get(ACT).status_code == 403


def test_several_are_asked_about_once_more_with_their_number(workspace: Workspace) -> None:
    decisions = [SupersessionFactory(workspace=workspace) for _ in range(3)]
    alice = member(workspace)
    data = {"verb": "reject", "ids": [str(each.case_id) for each in decisions]}

    assert "What was known is right: 3?" in alice.client.post(ACT, data).content.decode()
    assert Supersession.objects.filter(state="pending").count() == 3
    alice.client.post(ACT, data | {"confirmed": "1"})
    assert Supersession.objects.filter(state="rejected").count() == 3


def test_of_equal_risk_the_oldest_come_first_and_the_rest_behind_them(
    workspace: Workspace,
) -> None:
    decisions = [SupersessionFactory(workspace=workspace) for _ in range(25)]
    alice = member(workspace)
    html = alice.sees(QUEUE)
    assert "?offset=20" in html
    rest = alice.sees(QUEUE, offset="20")

    assert str(decisions[20].case_id) in rest
    assert str(decisions[19].case_id) not in rest


def test_what_is_of_higher_risk_comes_first(workspace: Workspace) -> None:
    decisions = [SupersessionFactory(workspace=workspace) for _ in range(3)]
    base = Case.objects.get(pk=decisions[0].case_id)
    Case.objects.filter(pk=decisions[2].case_id).update(risk=0.9, rank=base.rank + 0.4)
    html = member(workspace).sees(QUEUE)
    assert html.index(str(decisions[2].case_id)) < html.index(str(decisions[0].case_id))


def test_statements_of_one_case_are_decided_each_in_its_way(workspace: Workspace) -> None:
    first = SupersessionFactory(workspace=workspace)
    second = SupersessionFactory(workspace=workspace, old=first.old, case_id=first.case_id)
    CaseItem.objects.create(workspace=workspace, case_id=first.case_id, memory=second.new, at=timezone.now())
    alice = member(workspace)
    assert "Decide as chosen" in alice.sees(QUEUE)
    ways = {first.old: "replace", first.new: "forget", second.new: "keep"}
    chosen = {f"choice-{memory.pk}": way for memory, way in ways.items()}
    [result] = acts(alice, "decide", first, **chosen)
    assert (result["ok"], result["state"]) == (True, "decided")
    assert list(Memory.objects.live()) == [second.new]
    [result] = acts(alice, "undo", first)
    assert (result["ok"], result["state"]) == (True, "pending")
    assert list(Memory.objects.live()) == [first.old]


@pytest.mark.parametrize(("who", "seen"), [("me", 1), ("people", 2), ("machines", 1), ("all", 3)])
def test_what_was_decided_is_told_by_who_did_it(workspace: Workspace, who: str, seen: int) -> None:
    ada, grace = member(workspace), member(workspace)
    for decider in (f"user:{ada.user.pk}", f"user:{grace.user.pk}", "session"):
        SupersessionFactory(workspace=workspace, state="applied", decided_by=decider)

    assert ada.sees(DECIDED, who=who).count('class="desk-done"') == seen


def test_each_decision_of_a_person_can_be_taken_back(workspace: Workspace) -> None:
    alice = member(workspace)
    for verb in VERBS:
        decision = SupersessionFactory(workspace=workspace)
        acts(alice, verb, decision)
        [result] = acts(alice, "undo", decision)
        assert (result["ok"], result["state"]) == (True, "pending"), verb


def test_what_a_machine_applied_is_undone_and_applied_again(workspace: Workspace) -> None:
    alice = member(workspace)
    old = MemoryFactory(workspace=workspace)
    new = MemoryFactory(workspace=workspace)
    decision = replace(old, new, timezone.now())
    for verb, state in (("undo", "undone"), ("redo", "applied"), ("undo", "undone")):
        [result] = act_on(alice, ACT_ON_DECISIONS, verb, [str(decision.pk)])
        assert (result["ok"], result["state"]) == (True, state)


@pytest.mark.parametrize("page", [QUEUE, DECIDED])
def test_a_full_page_takes_few_queries(workspace: Workspace, page: str) -> None:
    for state in ("pending", "rejected"):
        for number in range(25):
            decision = SupersessionFactory(workspace=workspace, state=state)
            evidence(decision.old, f"Old {number}")
            evidence(decision.new, f"New {number}")

    queries = queries_of(member(workspace), page)
    assert len(queries) <= MOST, "\n".join(queries)


@pytest.mark.parametrize("nonsense", ["x", "2026-02-31T00:00:00+00:00", "2026-02-03T00:00:00", "é"])
def test_nonsense_in_the_address_is_no_error(workspace: Workspace, nonsense: str) -> None:
    alice = member(workspace)
    alice.sees(DECIDED, before=nonsense, who=nonsense)
    alice.sees(QUEUE, offset=nonsense, kind=nonsense, by=nonsense, who=nonsense)
