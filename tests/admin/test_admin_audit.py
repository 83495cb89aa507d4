"""The audit log in the browser: filtered, exported, and never edited."""

import ast
import csv
import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from memories.belief import review
from memories.models import MemorySession
from tests.desk import Desk, list_of, member, page_of
from tests.factories import AgentFactory, AuditEntryFactory, MembershipFactory
from tests.people import Person, bound_to_agent
from workspaces.adminbase.act_words import ACTS
from workspaces.models import AuditEntry, Role, Workspace, erasing_audit


def lines(desk: Desk, **query: str) -> list[str]:
    """The reasons of the lines that the list shows."""
    answer = desk.client.get(list_of(AuditEntry), query)
    assert answer.status_code == 200
    return sorted(line.reason for line in answer.context["cl"].result_list)


def exported(desk: Desk, form: str, **query: str) -> str:
    answer = desk.client.get(reverse("admin:workspaces_audit_export", args=[form]), query)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


@pytest.fixture
def bob(workspace: Workspace) -> Desk:
    """Somebody who may read a log of five acts, each by another one."""
    bob = member(workspace, Role.EDITOR, username="bob")
    for actor, action in (
        (f"user:{bob.user.pk}", "forget"),
        ("key:01a1fa55-b2dc-75a9-bb35-eed51acda207", "ingest"),
        ("worker", "edit"),
        ("sweep", "forget"),
        ("user:nobody", "approve"),
    ):
        AuditEntryFactory(workspace=workspace, actor=actor, action=action, reason=f"{actor[:5]} {action}")
    return bob


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"who": "person"}, ["user: approve", "user: forget"]),
        ({"who": "key"}, ["key:0 ingest"]),
        ({"who": "server"}, ["sweep forget", "worke edit"]),
        ({"did": "forget"}, ["sweep forget", "user: forget"]),
        ({"did": "forget", "who": "server"}, ["sweep forget"]),
        ({"to": "nonsense"}, []),
        ({"day": "2024-02-01"}, []),
    ],
)
def test_lines_are_filtered(bob: Desk, query: dict[str, str], shown: list[str]) -> None:
    assert lines(bob, **query) == shown


def test_one_person_is_picked_by_name(bob: Desk) -> None:
    who = f"user:{bob.user.pk}"

    assert f'value="{who}"' in bob.sees(list_of(AuditEntry))
    assert lines(bob, who=who) == ["user: forget"]


def test_lines_of_a_day_are_found(bob: Desk) -> None:
    days = {at.date().isoformat() for at in AuditEntry.objects.values_list("created_at", flat=True)}

    assert sum(len(lines(bob, day=day)) for day in days) == 5


def test_agents_are_told_with_their_keys(workspace: Workspace) -> None:
    carol = bound_to_agent(workspace, "carol")
    carol.note("Prefers tea")
    html = member(workspace).sees(list_of(AuditEntry), did="create")

    assert "key carol of carol" in html


def test_lines_of_sessions_say_by_whom_when_and_how_much(alice: Person) -> None:
    AgentFactory(workspace=alice.workspace, external_id="desk-bot", name="Desk bot")
    alice.say("I live in Lisbon.", "Thanks!", agent_id="desk-bot", user_id="ada")
    alice.tell("Nothing here.", user_id="ada")
    told = member(alice.workspace, Role.EDITOR).sees(list_of(AuditEntry), did="ingest")
    first = MemorySession.objects.earliest("created_at")
    assert f"Desk bot, {first.created_at:%Y-%m-%d} " in told
    assert "2 messages, 1 fact<" in told
    assert "1 message, " in told


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_export_holds_the_filtered_lines(bob: Desk, form: str) -> None:
    text = exported(bob, form, did="forget")
    rows: list[Any] = (
        list(csv.DictReader(io.StringIO(text))) if form == "csv" else [json.loads(line) for line in text.splitlines()]
    )

    assert sorted(row["reason"] for row in rows) == ["sweep forget", "user: forget"]
    assert {row["actor_name"] for row in rows} == {"bob", "sweep"}
    assert {row["workspace"] for row in rows} == {"orchard"}


def test_export_holds_what_was_before_and_after(alice: Person) -> None:
    alice.note("Prefers tea")
    [row] = map(json.loads, exported(member(alice.workspace), "jsonl", did="create").splitlines())

    assert row["after"] == {"content": "Prefers tea"}


def test_no_cell_is_a_formula(workspace: Workspace) -> None:
    AuditEntryFactory(workspace=workspace, reason="=1+1")
    [row] = csv.DictReader(io.StringIO(exported(member(workspace), "csv")))

    assert row["reason"] == "'=1+1"


def test_export_is_of_the_own_workspaces_only(bob: Desk, workspace: Workspace) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    MembershipFactory(user=mallory.user, workspace=workspace, role=Role.VIEWER)

    assert exported(mallory, "jsonl") == ""


def test_viewers_export_nothing_and_unknown_formats_are_not_there(workspace: Workspace) -> None:
    page = reverse("admin:workspaces_audit_export", args=["csv"])

    assert member(workspace, Role.VIEWER).status(page) == 403
    assert member(workspace).status(page.replace("csv", "exe")) == 404


def test_line_has_no_form_and_no_button(bob: Desk, workspace: Workspace) -> None:
    line = AuditEntry.objects.first()
    assert line is not None
    html = bob.sees(page_of(line))

    assert "/do/" not in html
    assert bob.status(page_of(line).replace("change", "delete")) == 403
    assert bob.client.post(page_of(line), {"reason": "forged"}).status_code in (200, 403)
    assert not AuditEntry.objects.filter(reason="forged").exists()


@pytest.mark.parametrize("how", ["update", "delete", "save"])
def test_database_keeps_lines_as_they_are(workspace: Workspace, how: str) -> None:
    line = AuditEntryFactory(workspace=workspace)
    acts: dict[str, Any] = {
        "update": lambda: AuditEntry.objects.update(reason="forged"),
        "delete": lambda: AuditEntry.objects.all().delete(),
        "save": lambda: line.save(),
    }
    with pytest.raises(IntegrityError, match="kept as they are"), transaction.atomic():
        acts[how]()


def test_erasure_alone_may_take_lines_away(workspace: Workspace) -> None:
    AuditEntryFactory(workspace=workspace, created_at=timezone.now() - timedelta(days=1))
    with erasing_audit():
        AuditEntry.objects.update(before=None, after=None)
        AuditEntry.objects.all().delete()
    AuditEntryFactory(workspace=workspace, actor=str(AgentFactory(workspace=workspace).pk))
    with pytest.raises(IntegrityError), transaction.atomic():
        AuditEntry.objects.all().delete()


# ---- acts in words, and runs folded together


def shown(desk: Desk, **query: str) -> list[tuple[str, str]]:
    """What was done to what, as the list says it, without its small print."""
    answer = desk.client.get(list_of(AuditEntry), query)
    assert answer.status_code == 200
    changes = answer.context["cl"]
    admin = changes.model_admin
    told = [(admin.did(row), str(admin.about(row))) for row in changes.result_list]
    return [(did, about.split(">")[1].split("<")[0]) for did, about in told]


def test_acts_are_told_by_what_was_changed(alice: Person) -> None:
    tea = alice.note("Prefers tea")
    review.edit(alice.scope, tea.pk, {"pinned": True, "visibility": "global"})
    review.edit(alice.scope, tea.pk, {"pinned": False})
    review.edit(alice.scope, tea.pk, {"visibility": "private"})
    green = review.edit(alice.scope, tea.pk, {"content": "Prefers green tea"})
    desk = member(alice.workspace, Role.EDITOR)
    assert [did for did, _ in shown(desk, did="reworded")] == ["reworded"]
    review.forget(alice.scope, green.pk, review.WRONG)
    assert [did for did, _ in shown(desk)] == [
        # Of the version that is forgotten as wrong the log keeps no words.
        "forgot as wrong",
        "changed",
        "made private",
        "unpinned",
        "pinned, shared with everybody",
        "added",
        "issued a key",
    ]
    assert [did for did, _ in shown(desk, did="pinned")] == ["pinned, shared with everybody"]
    assert [did for did, _ in shown(desk, q="pinned")] == [
        "unpinned",
        "pinned, shared with everybody",
    ]
    assert len(shown(desk, did="edit")) == 4
    assert "edit" not in [did for did, _ in shown(desk)]


def test_every_act_of_the_log_has_words(workspace: Workspace) -> None:
    """Each name of an act that stands in the code has words of its own."""
    root = Path(__file__).parents[2]
    files = [*root.glob("memories/**/*.py"), *root.glob("workspaces/**/*.py")]
    writers = {"line", "audit", "_audit", "_write_audit", "audit_case"}
    acts = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and writers & {getattr(node.func, "attr", ""), getattr(node.func, "id", "")}:
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                acts |= {text for text in texts if text and text != "worker"}
    assert len(acts) > 50
    assert {act for act in acts if act not in ACTS} == set()


def test_what_is_read_all_day_is_one_line(alice: Person, bob: Desk) -> None:
    for number in range(3):
        alice.say(f"I live in town number {number}.", "Thanks!", user_id="ada")
    acts = [about for did, about in shown(bob, who="key") if did == "read messages"]
    assert len([about for about in acts if about.startswith("6 messages in 3 batches, ")]) == 1
    each = shown(bob, did="ingest", who=alice.scope.actor)
    assert len(each) == 3
    answer = bob.client.get(list_of(AuditEntry))
    rows = answer.context["cl"].result_list
    run = next(row for row in rows if len(getattr(row, "run", ())) == 3)
    opened = answer.context["cl"].url_for_result(run)
    assert len(bob.client.get(opened).context["cl"].result_list) == 3


def test_an_act_of_a_person_parts_a_run(alice: Person) -> None:
    alice.say("I live in Lisbon.", user_id="ada")
    alice.note("Prefers tea")
    alice.say("I live in Oslo.", user_id="ada")
    acts = [did for did, _ in shown(member(alice.workspace))]
    assert acts[:3] == ["read messages", "added", "read messages"]


def test_runs_fill_pages(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(120):
        AuditEntryFactory(workspace=workspace, action="ingest", actor="worker")
        AuditEntryFactory(workspace=workspace, action="forget", reason=str(number))
    desk = member(workspace)
    first, last = lines(desk), lines(desk, p="5")
    assert (len(first), len(last)) == (50, 40)
    assert set(first) & set(last) - {""} == set()
    assert lines(desk, p="9") == last


def test_a_person_is_found_in_the_log_by_name(alice: Person, mallory: Person, workspace: Workspace) -> None:
    alice.note("Prefers tea", user_id="ada")
    assert [did for did, _ in shown(member(workspace), q="ADA")] == ["added"]
    assert shown(member(mallory.workspace), q="ada") == []
    assert member(workspace, Role.VIEWER).status(list_of(AuditEntry)) == 403


def test_export_says_it_in_words_too(alice: Person) -> None:
    tea = alice.note("Prefers tea")
    review.edit(alice.scope, tea.pk, {"pinned": True})
    text = exported(member(alice.workspace), "csv", did="pinned")
    assert [row["did"] for row in csv.DictReader(io.StringIO(text))] == ["pinned"]
