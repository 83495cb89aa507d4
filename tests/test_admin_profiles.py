"""A subject's page: what is known of somebody, and how it is put right."""

import json
from typing import Any

import pytest
from django.urls import reverse

from memories.models import FeatureSet, Memory
from tests.desk import Desk, member, messages_of, page_of
from tests.factories import SubjectFactory, SupersessionFactory
from tests.people import Person
from workspaces.models import AuditEntry, Role, Subject, Workspace


@pytest.fixture
def ada(alice: Person) -> Subject:
    """Somebody of whom something is known."""
    alice.say("I prefer tea to coffee.", user_id="ada", thread_id="breakfast")
    alice.note("Lives in Lisbon", user_id="ada", category="identity")
    return Subject.objects.get(external_id="ada")


def shown(desk: Desk, subject: Subject) -> Any:
    answer = desk.client.get(page_of(subject))
    assert answer.status_code == 200
    return answer.context


def test_memories_stand_by_type(alice: Person, ada: Subject) -> None:
    groups = {
        group.name: [memory.content for memory in group.memories]
        for group in shown(member(alice.workspace), ada)["groups"]
    }

    assert groups["profile"] == ["Lives in Lisbon"]
    assert "tea" in groups["preferences"][0]


def test_page_tells_the_week_and_the_conversations(alice: Person, ada: Subject) -> None:
    context = shown(member(alice.workspace), ada)

    assert len(context["week"]) == 2
    assert [line.action for line, _ in context["acts"]] == ["create"]
    assert [str(each) for each in context["conversations"]] == ["breakfast"]


def test_pending_decisions_and_duplicates_are_conflicts(alice: Person, ada: Subject) -> None:
    old = Memory.objects.filter(subject=ada).first()
    SupersessionFactory(workspace=alice.workspace, old=old)
    alice.note("Lives in Lisbon", user_id="ada", category="identity", visibility="global")
    context = shown(member(alice.workspace), ada)

    assert [decision.old for decision in context["waiting"]] == [old]
    assert [pair.newer.content for pair in context["duplicates"]] == ["Lives in Lisbon"]


def test_duplicates_are_merged_by_a_button(alice: Person, ada: Subject) -> None:
    first = Memory.objects.get(content="Lives in Lisbon")
    again = alice.note("Lives in Lisbon", user_id="ada", category="identity", visibility="global")
    desk = member(alice.workspace)
    desk.does(ada, "merge-duplicates", kept=str(first.pk), other=str(again.pk))

    assert Memory.objects.live().filter(content="Lives in Lisbon").get() == first
    assert shown(desk, ada)["duplicates"] == []


def test_memory_is_corrected_in_place(alice: Person, ada: Subject) -> None:
    memory = Memory.objects.get(content="Lives in Lisbon")
    desk = member(alice.workspace)
    answer = desk.does(memory, "correct", content="Lives in Porto", back=page_of(ada))

    assert answer.redirect_chain[-1][0] == page_of(ada)
    assert "Lives in Porto" in answer.content.decode()


def test_chosen_memories_are_moved(alice: Person, ada: Subject) -> None:
    memory = Memory.objects.get(content="Lives in Lisbon")
    desk = member(alice.workspace)
    desk.does(ada, "move", user="grace", memory=[str(memory.pk)])

    assert Memory.objects.get(pk=memory.pk).subject == Subject.objects.get(external_id="grace")
    assert "Choose memories first" in messages_of(desk.does(ada, "move", user="grace"))
    assert "not found" in messages_of(desk.does(ada, "move", user="grace", memory=["x"]))


def test_merge_shows_what_it_moves_before(alice: Person, ada: Subject) -> None:
    html = member(alice.workspace).sees(page_of(ada))

    assert "2 memories, 1 conversations, 1 episodes" in html


def test_subjects_are_merged(alice: Person, ada: Subject) -> None:
    other = SubjectFactory(workspace=alice.workspace, external_id="lovelace")
    desk = member(alice.workspace)
    assert "not found" in messages_of(desk.does(ada, "merge", into="nobody"))
    desk.does(ada, "merge", into="lovelace")

    assert Memory.objects.filter(subject=other).count() == 2
    assert AuditEntry.objects.filter(action="merge", target_id=other.pk).exists()


def test_subject_of_another_workspace_is_no_target(ada: Subject, alice: Person) -> None:
    SubjectFactory(workspace=Workspace.objects.create(slug="swamp"), external_id="eve")

    assert "not found" in messages_of(member(alice.workspace).does(ada, "merge", into="eve"))


def test_name_is_changed_and_kept_in_the_audit_log(alice: Person, ada: Subject) -> None:
    desk = member(alice.workspace)
    desk.does(ada, "rename", name="Ada Lovelace", metadata='{"plan": "gold"}')
    assert "JSON object" in messages_of(desk.does(ada, "rename", name="x", metadata="[1]"))

    line = AuditEntry.objects.get(action="change", target_id=ada.pk)
    assert line.after == {"name": "Ada Lovelace", "metadata": {"plan": "gold"}}


def test_viewer_reads_and_changes_nothing(alice: Person, ada: Subject) -> None:
    victor = member(alice.workspace, Role.VIEWER)
    html = victor.sees(page_of(ada))

    assert "Lives in Lisbon" in html
    assert '<form method="post"' not in html.split('id="content-main"')[1]
    for verb in ("rename", "merge", "move", "merge-duplicates"):
        assert victor.does(ada, verb).status_code == 403


def test_features_stand_by_category_and_tag(alice: Person, ada: Subject) -> None:
    owned = FeatureSet.objects.create(workspace=alice.workspace, subject=ada, key="x")
    owned.features.create(
        workspace=alice.workspace, subject=ada, category="profile", tag="home",
        feature="city", value="Lisbon", visibility="private", fingerprint=b"x",
    )  # fmt: skip
    found = shown(member(alice.workspace), ada)["features"]

    assert [feature.value for feature in found["profile"]["home"]] == ["Lisbon"]


def exported(desk: Desk, subject: Subject, form: str) -> str:
    answer = desk.client.get(reverse("admin:memories_profile_export", args=[subject.pk, form]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_profile_is_exported_with_its_quotes(alice: Person, ada: Subject) -> None:
    desk = member(alice.workspace, Role.VIEWER)
    told = json.loads(exported(desk, ada, "json"))
    text = exported(desk, ada, "md")

    assert told["userId"] == "ada"
    assert told["preferences"][0]["quotes"] == ["I prefer tea to coffee."]
    assert "## Profile\n\n- Lives in Lisbon (identity" in text
    assert "  > I prefer tea to coffee." in text


def test_profile_is_not_exported_to_strangers(ada: Subject) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    page = reverse("admin:memories_profile_export", args=[ada.pk, "json"])

    assert mallory.status(page) == 404
    assert mallory.status(page_of(ada)) == 404
    assert member(ada.workspace).status(page.replace("json", "exe")) == 404
