"""The inbox in the browser: what it lists and how it is narrowed, and what is done to failures."""

import json
import re
from html import unescape
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from memories.models import Case, ChangeEvent, FailureMark, MemorySession
from tests.admin.test_admin_queries import MOST, queries_of
from tests.belief.test_inbox import full, http  # noqa: F401
from tests.desk import Desk, member, superuser
from tests.factories import (
    SessionFactory,
    SubjectFactory,
    SupersessionFactory,
    evidence,
)
from tests.people import Person
from workspaces.models import AuditEntry, Membership, Role, Workspace

INBOX, ACT = reverse("admin:memories_inbox"), reverse("admin:memories_case_act")


@pytest.fixture
def session(workspace: Workspace) -> MemorySession:
    return SessionFactory(workspace=workspace, state="dead", error="it broke", finished_at=timezone.now())


def does(desk: Desk, verb: str, *ids: str, **fields: str) -> list[dict[str, Any]]:
    data = {"verb": verb, "ids": list(ids), **fields}
    answer = desk.client.post(ACT, data, headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.status_code
    return json.loads(answer.content)["results"]


def membership(desk: Desk) -> Membership:
    return desk.user.memberships.get()


def test_what_failed_stands_among_the_cases(
    alice: Person,
    full: dict[str, str],  # noqa: F811
) -> None:
    page = member(alice.workspace).sees(INBOX)

    for kind, row in full.items():
        assert f'data-id="{row if kind == "held" else f"{kind}:{row}"}"' in page
    assert "it broke" in page
    assert "was at place 1, is now not found" in page
    assert '<span id="review-count">4</span>' in page


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ({"kind": "session"}, {"session"}),
        ({"kind": "held"}, {"held"}),
        ({"user": "u1"}, {"held", "session", "document"}),
        ({"who": "me"}, set()),
        ({"who": "free"}, {"held", "session", "document", "question"}),
        ({"state": "snoozed"}, set()),
    ],
)
def test_it_is_narrowed_by_the_address(
    alice: Person,
    full: dict[str, str],  # noqa: F811
    query: dict[str, str],
    kinds: set[str],
) -> None:
    page = member(alice.workspace).sees(INBOX, **query)
    assert {kind for kind, row in full.items() if f"{row}" in page} == kinds


def test_it_is_grouped_by_person_with_the_most_pressing_first(workspace: Workspace) -> None:
    ada, bea = (SubjectFactory(workspace=workspace, name=name) for name in ("Ada", "Bea"))
    for subject in (ada, bea, ada):
        made = SupersessionFactory(workspace=workspace)
        Case.objects.filter(pk=made.case_id).update(subject=subject)
    first = Case.objects.get(subject=bea)
    Case.objects.filter(pk=first.pk).update(risk=0.9, rank=first.rank + 0.4)
    page = member(workspace).sees(INBOX, by="person")

    assert page.index('data-group="Bea"') < page.index('data-group="Ada"')
    assert page.count("data-group=") == 2
    assert 'Ada <span class="desk-small desk-quiet">2</span>' in page


def test_it_is_grouped_by_document(alice: Person, full: dict[str, str]) -> None:  # noqa: F811
    page = member(alice.workspace).sees(INBOX, by="document")
    assert page.count("data-group=") == 2
    assert 'data-group="No document"' in page


@pytest.mark.parametrize("by", ["risk", "person", "document"])
def test_each_way_takes_few_queries(workspace: Workspace, by: str) -> None:
    for number in range(25):
        subject = SubjectFactory(workspace=workspace)
        made = SupersessionFactory(workspace=workspace)
        Case.objects.filter(pk=made.case_id).update(subject=subject)
        evidence(made.old, f"Old {number}")
        SessionFactory(workspace=workspace, subject=subject, state="dead", finished_at=timezone.now())
    queries = queries_of(member(workspace), INBOX, by=by)
    assert len(queries) <= MOST, "\n".join(queries)


def test_a_failed_conversation_is_tried_again(workspace: Workspace, session: MemorySession) -> None:
    [result] = does(member(workspace), "retry", f"session:{session.pk}")
    session.refresh_from_db()

    assert (result["ok"], result["undo"], session.state) == (True, "", "received")


def test_a_failure_is_left_and_taken_up_again(workspace: Workspace, session: MemorySession) -> None:
    grace, key = member(workspace, Role.EDITOR), f"session:{session.pk}"
    [result] = does(grace, "leave", key)
    assert (result["ok"], result["state"], result["undo"]) == (True, "decided", "take-up")
    assert "Nothing waits for you" in grace.sees(INBOX)
    assert "1 left as they are" in grace.sees(INBOX)

    [result] = does(grace, "take-up", key)
    assert (result["ok"], result["state"]) == (True, "pending")
    assert key in grace.sees(INBOX)


def test_a_case_and_a_failure_are_put_off_and_woken(workspace: Workspace, session: MemorySession) -> None:
    grace = member(workspace)
    ids = [str(SupersessionFactory(workspace=workspace).case_id), f"session:{session.pk}"]
    results = does(grace, "snooze", *ids, days="7")
    assert [(each["ok"], each["state"], each["undo"]) for each in results] == [(True, "snoozed", "wake")] * 2
    assert "Nothing waits for you" in grace.sees(INBOX)
    assert all(each in grace.sees(INBOX, state="snoozed") for each in ids)

    assert all(each["ok"] for each in does(grace, "wake", *ids))
    assert all(each in grace.sees(INBOX) for each in ids)


def test_days_that_nobody_offers_are_refused(workspace: Workspace, session: MemorySession) -> None:
    for row in (str(SupersessionFactory(workspace=workspace).case_id), f"session:{session.pk}"):
        [result] = does(member(workspace), "snooze", row, days="999999999")
        assert (result["ok"], result["state"]) == (False, "pending")


def test_what_is_given_to_somebody_leaves_the_lists_of_others(workspace: Workspace, session: MemorySession) -> None:
    ada, grace = member(workspace, username="ada"), member(workspace, username="grace")
    ids = [str(SupersessionFactory(workspace=workspace).case_id), f"session:{session.pk}"]
    results = does(ada, "assign", *ids, assignee=str(membership(grace).pk))

    assert [(each["ok"], each["message"]) for each in results] == [(True, "Given to grace.")] * 2
    for row in ids:
        assert row not in ada.sees(INBOX)
        assert row in ada.sees(INBOX, who="all")
        assert row in ada.sees(INBOX, who=str(membership(grace).pk))
        assert row in grace.sees(INBOX)
        assert row in grace.sees(INBOX, who="me")
    assert AuditEntry.objects.filter(action="assign").count() == 2


def test_nothing_is_given_to_a_stranger_or_a_viewer(workspace: Workspace, session: MemorySession) -> None:
    ada, alan = member(workspace), member(workspace, Role.VIEWER)
    stranger = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    case = str(SupersessionFactory(workspace=workspace).case_id)
    for whom in (alan, stranger):
        for row in (case, f"session:{session.pk}"):
            [result] = does(ada, "assign", row, assignee=str(membership(whom).pk))
            assert result["ok"] is False


def test_a_viewer_sees_it_and_does_nothing(workspace: Workspace, session: MemorySession) -> None:
    alan = member(workspace, Role.VIEWER)
    assert "it broke" in alan.sees(INBOX)
    assert "<button name=" not in alan.sees(INBOX)
    for verb in ("retry", "leave", "snooze", "assign"):
        data = {"verb": verb, "ids": [f"session:{session.pk}"]}
        assert alan.client.post(ACT, data).status_code == 403


def test_mallory_sees_nothing_and_does_nothing(workspace: Workspace, session: MemorySession) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    assert "it broke" not in mallory.sees(INBOX, who="all")
    for verb in ("retry", "leave", "snooze", "assign"):
        [result] = does(mallory, verb, f"session:{session.pk}", days="1")
        assert (result["ok"], result["state"]) == (False, "gone")
    assert not FailureMark.objects.exists()


def test_an_administrator_of_the_server_sees_all_and_has_none(session: MemorySession) -> None:
    assert "it broke" in superuser().sees(INBOX)
    assert "it broke" not in superuser().sees(INBOX, who="me")


def test_the_empty_inbox_tells_the_day(workspace: Workspace) -> None:
    ada, grace = member(workspace, username="ada"), member(workspace, username="grace")
    for curator in (ada, ada, grace):
        does(curator, "keep-both", str(SupersessionFactory(workspace=workspace).case_id))

    page = ada.sees(INBOX)
    assert "Nothing waits for you" in page
    assert "Today 3 were decided (2 by you, 1 by grace), 3 came." in page


@pytest.mark.django_db(transaction=True)
def test_what_comes_while_the_page_is_on_its_way_is_told_to_it(workspace: Workspace) -> None:
    ada = member(workspace)
    page = ada.sees(INBOX)
    SessionFactory(workspace=workspace, state="dead", error="it broke")
    [address] = re.findall('data-streams="([^"]+)"', page)
    assert "event: session.failed" in ada.sees(unescape(address))


def test_the_answer_to_a_decision_is_younger_than_its_event(workspace: Workspace) -> None:
    case = str(SupersessionFactory(workspace=workspace).case_id)
    data = {"verb": "keep-both", "ids": [case]}
    answer = member(workspace).client.post(ACT, data, headers={"Accept": "application/json"})
    event = ChangeEvent.objects.get(item=case, kind="case.decided")
    assert event.created_at.isoformat() <= json.loads(answer.content)["at"]


def test_the_address_of_before_leads_here(workspace: Workspace) -> None:
    answer = member(workspace).client.get(reverse("admin:memories_review"))
    assert (answer.status_code, answer["Location"]) == (302, INBOX)
