"""The list of memories: acts on several at once, edits in place, views, evidence, exports."""

import csv
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from memories.models import Memory, Rejection
from tests.desk import Desk, list_of, member, messages_of
from tests.factories import MemoryFactory, SubjectFactory, evidence
from tests.people import Person
from workspaces.models import AuditEntry, Membership, Role, Subject, Workspace

LIST = reverse("admin:memories_memory_changelist")


@pytest.fixture
def notes(alice: Person) -> list[Memory]:
    return [alice.note(f"Likes tea number {n}", user_id="ada") for n in range(3)]


def does(desk: Desk, verb: str, rows: list[Memory], query: str = "", **fields: Any) -> Any:
    """Choose rows, choose what to do, and fill in what is asked."""
    chosen = {"action": verb, "_selected_action": [str(row.pk) for row in rows]}
    return desk.client.post(f"{LIST}{query}", {**chosen, "confirmed": "1", **fields}, follow=True)


def test_what_is_asked_once_names_the_memories_it_is_asked_for(alice: Person, notes: list[Memory]) -> None:
    answer = member(alice.workspace).acts(Memory, "forget", *notes)
    html = answer.content.decode()

    assert "Forget: 3 chosen" in html
    assert all(note.content in html for note in notes)
    assert Memory.objects.live().count() == 3


def test_several_are_forgotten_as_wrong_and_restored(alice: Person, notes: list[Memory]) -> None:
    desk = member(alice.workspace)
    answer = does(desk, "forget", notes[:2], reason="wrong")
    assert "Forget: 2 of 2 done." in messages_of(answer)
    assert [m.content for m in Memory.objects.live()] == [notes[2].content]
    assert Rejection.objects.count() == 2

    does(desk, "restore", notes[:2], "?state=forgotten")
    assert Memory.objects.live().count() == 3
    lines = AuditEntry.objects.filter(action__in=["forget", "restore"])
    assert {line.actor for line in lines} == {f"user:{desk.user.pk}"}
    assert lines.count() == 4


def test_several_are_pinned_and_get_a_category_a_visibility_and_an_end(alice: Person, notes: list[Memory]) -> None:
    desk = member(alice.workspace)
    desk.acts(Memory, "pin", *notes[:2])
    does(desk, "category", notes, category="preference")
    does(desk, "visibility", notes, visibility="global")
    does(desk, "end-date", notes[:1], valid_until="2031-02-03")

    rows = {row.pk: row for row in Memory.objects.all()}
    assert [rows[note.pk].pinned for note in notes] == [True, True, False]
    assert {row.category for row in rows.values()} == {"preference"}
    assert {row.visibility for row in rows.values()} == {"global"}
    assert rows[notes[0].pk].valid_until == datetime(2031, 2, 3, tzinfo=UTC)
    line = AuditEntry.objects.filter(target_id=notes[0].pk).order_by("id").last()
    assert line is not None
    assert line.after == {"valid_until": "2031-02-03T00:00:00+00:00"}


def test_several_are_moved_to_another_person(alice: Person, notes: list[Memory]) -> None:
    does(member(alice.workspace), "move", notes, user="grace")

    grace = Subject.objects.get(external_id="grace")
    assert set(Memory.objects.values_list("subject", flat=True)) == {grace.pk}
    assert AuditEntry.objects.filter(action="move").count() == 3


@pytest.mark.parametrize(
    ("verb", "fields", "told"),
    [
        ("category", {"category": "weather"}, "Select a valid choice"),
        ("move", {"user": ""}, "required"),
        ("end-date", {"valid_until": "soon"}, "valid date"),
    ],
)
def test_what_is_filled_in_badly_is_asked_again(
    alice: Person, notes: list[Memory], verb: str, fields: dict[str, str], told: str
) -> None:
    before = list(Memory.objects.order_by("pk").values())
    answer = does(member(alice.workspace), verb, notes, **fields)

    assert told in answer.content.decode()
    assert list(Memory.objects.order_by("pk").values()) == before


def test_end_before_the_beginning_leaves_that_memory_as_it_was(alice: Person) -> None:
    begin = timezone.now()
    late = alice.note("Moves to Porto next year", user_id="ada", valid_from=begin)
    answer = does(member(alice.workspace), "end-date", [late], valid_until="2001-01-01")

    assert "would end before it begins" in messages_of(answer)
    assert Memory.objects.get().valid_until is None


def test_viewer_and_outsider_do_nothing_to_several(alice: Person, notes: list[Memory]) -> None:
    victor = member(alice.workspace, Role.VIEWER)
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    before = list(Memory.objects.order_by("pk").values())
    for desk in (victor, mallory):
        does(desk, "forget", notes)
        does(desk, "move", notes, user="eve")

    assert list(Memory.objects.order_by("pk").values()) == before


def test_memory_is_edited_in_place_with_all_its_fields(alice: Person, notes: list[Memory]) -> None:
    desk = member(alice.workspace)
    answer = desk.does(
        notes[0],
        "correct",
        content="Likes green tea",
        category="preference",
        visibility="global",
        valid_from="2026-01-02",
        valid_until="2031-01-02",
        version="1",
        back=f"{LIST}?pinned__exact=0",
    )
    new = Memory.objects.live().get(content="Likes green tea")

    assert answer.redirect_chain[-1][0] == f"{LIST}?pinned__exact=0"
    assert (new.version, new.category, new.visibility) == (2, "preference", "global")
    assert (new.valid_from, new.valid_until) == (
        datetime(2026, 1, 2, tzinfo=UTC),
        datetime(2031, 1, 2, tzinfo=UTC),
    )


def test_edit_of_a_version_that_is_none_any_more_is_refused(alice: Person, notes: list[Memory]) -> None:
    desk = member(alice.workspace)
    desk.does(notes[0], "correct", content="Likes green tea", version="1")
    new = Memory.objects.live().get(content="Likes green tea")
    answer = desk.does(new, "correct", content="Likes black tea", version="1")

    assert "Somebody changed it" in messages_of(answer)
    assert not Memory.objects.filter(content="Likes black tea").exists()


def test_edit_in_place_leaves_times_of_day_alone(alice: Person) -> None:
    at = datetime(2026, 5, 3, 14, 12, tzinfo=UTC)
    note = alice.note("Began to row", user_id="ada", valid_from=at)
    member(alice.workspace).does(note, "correct", content=note.content, valid_from="2026-05-03", valid_until="")

    assert Memory.objects.get().valid_from == at


def test_list_tells_when_it_was_said_and_when_it_is_true(workspace: Workspace) -> None:
    memory = MemoryFactory(
        workspace=workspace,
        valid_from=datetime(2025, 2, 3, tzinfo=UTC),
        valid_until=datetime(2025, 4, 5, tzinfo=UTC),
    )
    said = evidence(memory, "I rowed that spring.").citations.get()
    assert said.episode is not None
    type(said.episode).objects.filter(pk=said.episode.pk).update(occurred_at=datetime(2025, 6, 7, tzinfo=UTC))
    html = member(workspace).sees(LIST)

    assert "7 Jun 2025" in html
    assert "3 Feb 2025 – 5 Apr 2025" in html


def test_why_is_told_beside_the_list_to_members_alone(alice: Person) -> None:
    alice.say("I prefer tea to coffee.", user_id="ada")
    memory = Memory.objects.live().get()
    page = reverse("admin:memories_memory_why", args=[memory.pk])

    assert "“I prefer tea to coffee.”" in member(alice.workspace, Role.VIEWER).sees(page)
    assert member(Workspace.objects.create(slug="swamp")).status(page) == 404
    assert f'data-why="{page}"' in member(alice.workspace).sees(LIST)


def test_list_is_filtered_by_when_it_is_true(workspace: Workspace) -> None:
    now, day = timezone.now(), timedelta(days=1)
    MemoryFactory(workspace=workspace, content="was once", valid_until=now - day)
    MemoryFactory(workspace=workspace, content="will be", valid_from=now + day)
    MemoryFactory(workspace=workspace, content="is always")
    alice = member(workspace)

    for true, content in (("now", "is always"), ("over", "was once"), ("ahead", "will be")):
        html = alice.sees(LIST, true=true)
        assert content in html
        assert "1 memory" in html


def test_filters_that_are_set_are_shown_with_the_way_out(workspace: Workspace) -> None:
    ada = SubjectFactory(workspace=workspace, external_id="ada", name="Ada")
    MemoryFactory(workspace=workspace, subject=ada, pinned=True)
    asked = {"pinned__exact": "1", "subject__id__exact": str(ada.pk)}
    answer = member(workspace).client.get(LIST, asked)
    html = answer.content.decode()

    shown = {each.label: each for each in answer.context["cl"].filters if each.words}
    assert (shown["person"].words, shown["pinned"].words) == ("Ada", "yes")
    assert shown["pinned"].without == f"?subject__id__exact={ada.pk}"
    assert "Without the filter pinned: yes" in html


def test_view_is_kept_for_its_person_alone_and_removed(workspace: Workspace) -> None:
    desk, bob = member(workspace), member(workspace)
    views = reverse("admin:memories_memory_views")
    query = "category__exact=plan&q=secret+words&p=2"
    desk.client.post(views, {"name": "Her plans", "query": query})

    assert 'href="?category__exact=plan">Her plans' in desk.sees(LIST)
    assert "Her plans" not in bob.sees(LIST)
    assert "secret" not in json.dumps(list(Membership.objects.values_list("views", flat=True)))
    desk.client.post(views, {"drop": "Her plans", "query": ""})
    assert "Her plans" not in desk.sees(LIST)


def test_view_without_a_name_or_one_too_many_is_refused(workspace: Workspace) -> None:
    desk = member(workspace)
    views = reverse("admin:memories_memory_views")
    refused = desk.client.post(views, {"name": " ", "query": ""}, follow=True)
    assert "Give the view a name" in messages_of(refused)
    for number in range(31):
        refused = desk.client.post(views, {"name": f"View {number}"}, follow=True)

    assert "remove one first" in messages_of(refused)
    assert len(Membership.objects.get(user=desk.user).views) == 30


def exported(desk: Desk, form: str, **query: str) -> str:
    answer = desk.client.get(reverse("admin:memories_memory_export", args=[form]), query)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]


def test_export_holds_what_is_shown(alice: Person, notes: list[Memory]) -> None:
    alice.note("=1+1 is no formula", user_id="bob", category="plan")
    desk = member(alice.workspace, Role.VIEWER)

    rows = json.loads(exported(desk, "json"))
    assert len(rows) == 4
    assert {row["userId"] for row in rows} == {"ada", "bob"}
    assert json.loads(exported(desk, "json", state="forgotten")) == []
    [line] = csv.DictReader(exported(desk, "csv", category__exact="plan").splitlines())
    assert line["content"] == "'=1+1 is no formula"
    assert line["category"] == "plan"


def test_export_holds_nothing_of_others(alice: Person, notes: list[Memory]) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))

    assert json.loads(exported(mallory, "json")) == []
    assert mallory.status(reverse("admin:memories_memory_export", args=["xml"])) == 404


def test_list_of_a_subject_still_counts_its_rows(workspace: Workspace) -> None:
    MemoryFactory(workspace=workspace, subject=SubjectFactory(workspace=workspace))

    assert "1 memory" in member(workspace).sees(list_of(Memory))
