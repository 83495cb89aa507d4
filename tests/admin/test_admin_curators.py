"""What a curator meets beside the straight way: refusals, roles, threads of several, and counts."""

from datetime import datetime
from typing import Any

from django.urls import reverse

from memories.belief import review
from memories.ingest import NewMessage
from memories.models import Memory, Supersession
from tests.desk import member
from tests.factories import MemoryFactory, SupersessionFactory
from tests.people import Person
from workspaces.models import AuditEntry, Role, Subject, Workspace

DECIDED = reverse("admin:memories_decided")


def do(memory: Memory, verb: str) -> str:
    return reverse("admin:memories_memory_do", args=[memory.pk, verb])


def page_of(row: Any) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def test_a_correction_leads_to_the_version_that_is_believed(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace, content="Ada lives in Porto")
    answer = member(workspace).client.post(do(memory, "correct"), {"content": "Ada lives in Faro"})

    assert answer.url == page_of(Memory.objects.get(content="Ada lives in Faro"))


def test_words_that_came_too_late_are_kept_to_be_sent_again(workspace: Workspace, alice: Person) -> None:
    memory = alice.note("Ada lives in Porto")
    first = review.edit(alice.scope, memory.pk, {"content": "Ada lives in Faro"})
    desk = member(workspace)
    answer = desk.client.post(do(memory, "correct"), {"content": "Ada lives in Braga"})

    assert answer.status_code == 200
    assert "Ada lives in Braga" in answer.content.decode()
    assert answer.context["action"] == do(first, "correct")
    again = desk.client.post(answer.context["action"], {"content": "Ada lives in Braga"})
    assert again.url == page_of(Memory.objects.get(content="Ada lives in Braga"))


def test_a_pin_stays_where_its_memory_is_approved_in_other_words(alice: Person) -> None:
    old = alice.note("Ada lives in Porto", user_id="ada")
    review.edit(alice.scope, old.pk, {"pinned": True})
    alice.tell("Ada moved to Lisbon", user_id="ada")
    decision = Supersession.objects.get(state="pending")
    review.approve(alice.scope, decision.pk, "Ada lives in Lisbon, by the river")

    assert Memory.objects.live().get().pinned
    review.reopen(alice.scope, decision.pk)
    assert list(Memory.objects.filter(pinned=True, forgotten_at=None)) == [old]


def test_who_may_not_is_told_on_a_page_with_a_way_back(workspace: Workspace) -> None:
    viewer = member(workspace, Role.VIEWER)
    answer = viewer.client.get(reverse("admin:workspaces_auditentry_changelist"))
    told = answer.content.decode()

    assert answer.status_code == 403
    assert "Your role does not allow this" in told
    assert f'href="{reverse("admin:index")}"' in told


def test_a_viewer_is_not_led_to_the_audit_log(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    audit = reverse("admin:workspaces_auditentry_changelist")

    assert audit not in member(workspace, Role.VIEWER).sees(page_of(memory))
    assert audit in member(workspace).sees(page_of(memory))


def test_a_thread_of_several_is_a_conversation_of_each(workspace: Workspace, alice: Person) -> None:
    for name in ("ada", "ben"):
        alice.say(NewMessage(f"{name} is here"), user_id=name, thread_id="the-team")

    for subject in Subject.objects.all():
        assert "the-team" in member(workspace).sees(page_of(subject), show="talks")


def test_a_decision_in_the_middle_of_a_chain_says_what_to_undo_first(workspace: Workspace, alice: Person) -> None:
    for city in ("Rome", "Milan", "Turin"):
        alice.say(f"I live in {city} now.", user_id="ada", extract="patterns")

    assert member(workspace).sees(DECIDED).count("undo that first") == 1


def test_both_kept_is_not_called_rejected(workspace: Workspace, alice: Person) -> None:
    found = SupersessionFactory(workspace=workspace)
    review.keep_both(alice.scope, found.pk)
    told = member(workspace).sees(DECIDED)

    assert "desk-chip--both" in told
    assert "desk-chip--rejected" not in told
    review.reopen(alice.scope, found.pk)
    review.reject(alice.scope, found.pk)
    assert "desk-chip--rejected" in member(workspace).sees(DECIDED)


def test_what_a_key_corrected_is_no_machines_decision(workspace: Workspace, alice: Person) -> None:
    review.edit(alice.scope, alice.note("Ada likes tea").pk, {"content": "Ada likes yerba"})
    desk = member(workspace)

    assert "yerba" not in desk.sees(f"{DECIDED}?who=machines")
    assert "yerba" in desk.sees(f"{DECIDED}?who=keys")


def test_home_counts_contradictions_and_no_corrections(workspace: Workspace, alice: Person) -> None:
    review.edit(alice.scope, alice.note("Ada likes tea").pk, {"content": "Ada likes mate"})
    SupersessionFactory(workspace=workspace)
    tiles = member(workspace).client.get(reverse("admin:index")).context["doing"]
    numbers = {tile.label: tile.number for tile in tiles}

    assert numbers["contradictions settled in 7 days"] == "0"
    assert numbers["contradictions open"] == "1"


def test_a_day_that_is_none_is_told(workspace: Workspace) -> None:
    page = page_of(MemoryFactory(workspace=workspace))
    desk = member(workspace)

    assert "is no day" in desk.sees(f"{page}?known_on=soon")
    assert "is no day" in desk.sees(f"{page}?known_on=2026-02-31")
    assert "is no day" not in desk.sees(f"{page}?known_on={datetime.now():%Y-%m-%d}")


def test_only_owners_are_offered_to_make_owners(workspace: Workspace) -> None:
    other = member(workspace, Role.VIEWER)
    page = page_of(other.user.memberships.get())

    assert "Owner: everything" in member(workspace, Role.OWNER).sees(page)
    admin = member(workspace, Role.ADMIN)
    assert "Owner: everything" not in admin.sees(page)
    assert "Owner: everything" not in admin.sees(reverse("admin:workspaces_membership_add"))


def test_the_audit_list_says_what_each_line_is_about(workspace: Workspace, alice: Person) -> None:
    memory = alice.note("Ada likes mate", user_id="ada")
    review.edit(alice.scope, memory.pk, {"pinned": True})
    told = member(workspace).sees(reverse("admin:workspaces_auditentry_changelist"))

    assert "Ada likes mate" in told
    assert "about ada" in told
    assert AuditEntry.objects.get(action="edit").target_id == memory.pk


def test_an_open_queue_can_ask_how_many_wait(workspace: Workspace) -> None:
    SupersessionFactory(workspace=workspace)
    answer = member(workspace).client.get(reverse("admin:memories_review_waiting"))

    today = "Today nothing was decided yet, 1 came."
    assert answer.json() == {"waiting": "1", "badge": "1", "today": today}
