"""What was decided last: each kind by each door, what it changed, and its way back."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from memories.belief import review
from memories.models import Fact, Feature, Memory, Rejection, Supersession
from memories.profiles.features import edit_features
from tests.admin.test_admin_queries import MOST, queries_of
from tests.api_fixtures import Caller, caller
from tests.belief.test_grounds import memory_of, tell
from tests.desk import Desk, member, messages_of
from tests.factories import (
    FactFactory,
    MemoryFactory,
    SessionFactory,
    SubjectFactory,
    SupersessionFactory,
    evidence,
)
from tests.people import Person
from tests.profiles.test_feature_folding import told
from workspaces.models import AuditEntry, Role, Workspace
from workspaces.scope import owner_scope

DECIDED, UNDO = reverse("admin:memories_decided"), reverse("admin:memories_decided_undo")


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def rows(page: str) -> list[str]:
    """What each decision says, the newest first."""
    parts = re.split(r'<div class="desk-done"', page)[1:]
    return [" ".join(re.sub(r"<[^>]*>", " ", part.split("</section>")[0]).split()) for part in parts]


def undoes(desk: Desk, place: int = 0) -> Any:
    """Press the undo button of a decision."""
    part = re.split(r'<div class="desk-done"', desk.sees(DECIDED))[1 + place]
    action = re.search(r'<form method="post" action="([^"]+)"', part)
    assert action, part
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)"', part))
    fields.pop("csrfmiddlewaretoken", None)
    return desk.client.post(action[1], fields, follow=True)


def can_undo(desk: Desk, place: int = 0) -> bool:
    part = re.split(r'<div class="desk-done"', desk.sees(DECIDED))[1 + place]
    return 'class="desk-act"' in part


def is_live(memory: Memory) -> bool:
    return Memory.objects.live().filter(pk=memory.pk).exists()


def test_an_uncertain_case_is_told_and_taken_back(alice: Person, http: Caller) -> None:
    tell(http, "I live in Lille.", "I swim at the harbour pool because it's close to my flat.")
    tell(http, "I moved to Antwerp.", day=9)
    [case] = http.get("/cases", state="open").body["results"]
    pool = memory_of(http, "harbour")["id"]
    http.post(f"/cases/{case['id']}/decide", {"end": [pool]})
    ada = member(alice.workspace)
    told = rows(ada.sees(DECIDED))

    assert "Is this still true of u1?" in told[0]
    assert "“User swims at the harbour pool…” is not any more." in told[0]
    assert sum("harbour" in each for each in told) == 1  # not its forgetting beside it
    assert "Taken back: it waits again." in messages_of(undoes(ada))
    assert memory_of(http, "harbour")["uncertain"] is True


def test_what_a_case_replaced_is_told_once(workspace: Workspace) -> None:
    waiting = SupersessionFactory(workspace=workspace)
    ada = member(workspace)
    act = reverse("admin:memories_case_act")
    ada.client.post(act, {"verb": "approve", "ids": [str(waiting.case_id)]})

    assert len(rows(ada.sees(DECIDED))) == 1
    undoes(ada)
    waiting.refresh_from_db()
    assert waiting.state == "pending"
    assert rows(ada.sees(DECIDED)) == []


def forgets(desk: Desk, memory: Memory) -> None:
    desk.does(memory, "forget", reason="wrong")


def pins(desk: Desk, memory: Memory) -> None:
    scope = owner_scope(memory.workspace_id, f"user:{desk.user.pk}")
    review.edit(scope, memory.pk, {"pinned": True})


# Words of what is wrong are masked, in the list of decisions as well.
HIDDEN = f"“{'█' * len('Ann sails')}”"


def moves(desk: Desk, memory: Memory) -> None:
    scope = owner_scope(memory.workspace_id, f"user:{desk.user.pk}")
    review.move(scope, [memory.pk], "bea")


@pytest.mark.parametrize(
    ("act", "told", "is_back"),
    [
        (forgets, "is not believed any more, and not learned again.", is_live),
        (pins, "pinned.", lambda memory: not Memory.objects.get(pk=memory.pk).pinned),
        (
            moves,
            "is about bea, and about ann no more.",
            lambda memory: Memory.objects.get(pk=memory.pk).subject.external_id == "ann",
        ),
    ],
)
def test_what_was_done_to_a_memory_is_told_and_taken_back(
    workspace: Workspace,
    act: Callable[[Desk, Memory], None],
    told: str,
    is_back: Callable[[Memory], bool],
) -> None:
    ann = SubjectFactory(workspace=workspace, external_id="ann")
    memory = MemoryFactory(workspace=workspace, content="Ann sails", subject=ann)
    ada = member(workspace)
    act(ada, memory)
    [row] = rows(ada.sees(DECIDED))

    assert (HIDDEN if act is forgets else "“Ann sails”") in row
    assert told in row
    assert not is_back(memory)
    assert "Taken back." in messages_of(undoes(ada))
    assert is_back(memory)
    assert not Rejection.objects.exists()


def test_a_memory_that_was_added_by_hand_is_told_and_taken_back(workspace: Workspace) -> None:
    ada = member(workspace)
    scope = owner_scope(workspace.pk, f"user:{ada.user.pk}")
    memory = review.create(scope, review.NewMemory("Ann sails on Sundays", user_id="ann"))
    [row] = rows(ada.sees(DECIDED))

    assert "“Ann sails on Sundays” is believed." in row
    assert "Taken back." in messages_of(undoes(ada))
    assert not is_live(memory)
    assert not Rejection.objects.exists()
    assert "is not believed any more" in rows(ada.sees(DECIDED))[0]
    assert not can_undo(ada, 1)
    undoes(ada)
    assert is_live(memory)


def test_what_others_say_as_well_is_not_taken_back_with_who_added_it(alice: Person) -> None:
    alice.say("I live in Lisbon.", user_id="u1")
    ada = member(alice.workspace)
    scope = owner_scope(alice.workspace.pk, f"user:{ada.user.pk}")
    memory = review.create(scope, review.NewMemory("User lives in Lisbon", user_id="u1"))
    assert "“User lives in Lisbon” is believed." in rows(ada.sees(DECIDED))[0]
    assert not can_undo(ada)
    assert is_live(memory)


def test_a_note_of_a_profile_that_was_changed_in_place_is_told_and_taken_back(
    alice: Person,
) -> None:
    told(alice, "I work as a baker.")
    feature, ada = Feature.objects.get(), member(alice.workspace)
    scope = owner_scope(alice.workspace.pk, f"user:{ada.user.pk}")
    edit_features.edit(scope, feature.pk, {"visibility": "global"})
    [row] = rows(ada.sees(DECIDED))

    assert "changed in a profile" in row
    assert "Taken back." in messages_of(undoes(ada))
    assert Feature.objects.get(pk=feature.pk).visibility == feature.visibility != "global"


def test_what_came_after_cannot_be_taken_back_from_before(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    ada = member(workspace)
    forgets(ada, memory)
    line = AuditEntry.objects.get(action="forget")
    undoes(ada)
    newest, oldest = rows(ada.sees(DECIDED))

    assert "is believed." in newest
    assert "is not believed any more" in oldest
    assert not can_undo(ada, 1)
    answer = ada.client.post(UNDO, {"line": str(line.pk)}, follow=True)
    assert "It was taken back, or something came after it." in messages_of(answer)
    undoes(ada)
    assert not is_live(memory)
    assert Rejection.objects.exists()


def test_a_correction_is_told_with_both_texts_and_taken_back(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace, content="Ann sails")
    ada = member(workspace)
    scope = owner_scope(workspace.pk, f"user:{ada.user.pk}")
    review.edit(scope, memory.pk, {"content": "Ann rows"})
    [row] = rows(ada.sees(DECIDED))

    assert "“Ann rows” is believed; “Ann sails” is not any more." in row
    undoes(ada)
    assert is_live(memory)
    [row] = rows(ada.sees(DECIDED))
    assert "“Ann sails” is believed; “Ann rows” is not." in row


def test_people_put_together_are_told_and_parted(workspace: Workspace) -> None:
    ann, bea = (SubjectFactory(workspace=workspace, external_id=each) for each in ("ann", "bea"))
    memory = MemoryFactory(workspace=workspace, subject=ann)
    ada = member(workspace)
    ada.does(ann, "merge", into="bea")
    [row] = rows(ada.sees(DECIDED))

    assert "What is known of ann is about bea." in row
    undoes(ada)
    memory.refresh_from_db()
    assert memory.subject_id == ann.pk
    [row] = rows(ada.sees(DECIDED))
    assert "ann and bea each have their own again." in row
    assert not can_undo(ada)


def test_two_memories_put_together_are_told_and_parted_with_their_facts(
    workspace: Workspace,
) -> None:
    ann = SubjectFactory(workspace=workspace)
    kept, other = (
        MemoryFactory(workspace=workspace, subject=ann, content=f"Ann sails {each}") for each in ("often", "a lot")
    )
    for memory in (kept, other):
        evidence(memory, memory.content)
    ada = member(workspace)
    ada.does(ann, "merge-duplicates", kept=str(kept.pk), other=str(other.pk))
    assert Fact.objects.filter(memory=kept).count() == 2
    [row] = rows(ada.sees(DECIDED))

    assert "“Ann sails often” stands for “Ann sails a lot” as well." in row
    undoes(ada)
    assert is_live(other)
    assert Fact.objects.filter(memory=other).count() == 1
    assert not can_undo(ada)


def test_a_statement_that_was_dismissed_waits_again(workspace: Workspace) -> None:
    fact = FactFactory(workspace=workspace, quarantined_at=timezone.now(), statement="Ann sails")
    ada = member(workspace)
    ada.does(fact, "dismiss")
    [row] = rows(ada.sees(DECIDED))

    assert "“Ann sails” is not believed." in row
    undoes(ada)
    fact.refresh_from_db()
    assert fact.quarantined_at is not None
    assert "Is this true" in ada.sees(reverse("admin:memories_inbox"))


def test_what_may_be_learned_again_is_rejected_again(workspace: Workspace) -> None:
    ada = member(workspace)
    forgets(ada, MemoryFactory(workspace=workspace, content="Ann sails"))
    ada.does(Rejection.objects.get(), "allow")
    assert f"{HIDDEN} may be learned again." in rows(ada.sees(DECIDED))[0]
    undoes(ada)
    assert Rejection.objects.get().content in HIDDEN


def test_a_failure_that_was_left_is_taken_up_again(workspace: Workspace) -> None:
    failed = SessionFactory(workspace=workspace, state="dead", finished_at=timezone.now())
    ada = member(workspace)
    ada.client.post(reverse("admin:memories_case_act"), {"verb": "leave", "ids": [f"session:{failed.pk}"]})
    assert "is left as it is, until it fails anew." in rows(ada.sees(DECIDED))[0]
    undoes(ada)
    failed.failure_mark.refresh_from_db()
    assert failed.failure_mark.left_as is None


def test_what_a_program_decided_is_among_those_of_keys(alice: Person, http: Caller) -> None:
    memory = MemoryFactory(workspace=alice.workspace, content="Ann sails")
    http.delete(f"/memories/{memory.pk}")
    ada = member(alice.workspace)

    assert "“Ann sails” is not believed any more." in rows(ada.sees(DECIDED, who="keys"))[0]
    assert rows(ada.sees(DECIDED, who="people")) == []
    assert rows(ada.sees(DECIDED, who="machines")) == []


def test_a_viewer_reads_them_and_takes_nothing_back(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace, content="Ann sails")
    forgets(member(workspace), memory)
    alan = member(workspace, Role.VIEWER)
    line = AuditEntry.objects.get(action="forget")

    assert HIDDEN in rows(alan.sees(DECIDED))[0]
    assert not can_undo(alan)
    assert alan.client.post(UNDO, {"line": str(line.pk)}).status_code == 403
    assert not is_live(memory)


def test_mallory_reads_and_takes_back_nothing(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace, content="Ann sails")
    forgets(member(workspace), memory)
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    line = AuditEntry.objects.get(action="forget")

    assert rows(mallory.sees(DECIDED)) == []
    answer = mallory.client.post(UNDO, {"line": str(line.pk)}, follow=True)
    assert "There is no such decision." in messages_of(answer)
    assert not is_live(memory)


def test_a_full_page_of_all_kinds_takes_few_queries(workspace: Workspace) -> None:
    ada = member(workspace)
    for number in range(8):
        forgets(ada, MemoryFactory(workspace=workspace, content=f"Ann sails {number}"))
        one, two = (SubjectFactory(workspace=workspace) for _ in range(2))
        ada.does(one, "merge", into=two.external_id)
        waiting = SupersessionFactory(workspace=workspace)
        act = reverse("admin:memories_case_act")
        ada.client.post(act, {"verb": "keep-both", "ids": [str(waiting.case_id)]})
    SupersessionFactory(workspace=workspace, state="applied")
    assert len(rows(ada.sees(DECIDED))) == 25

    queries = queries_of(ada, DECIDED)
    assert len(queries) <= MOST, "\n".join(queries)


def test_the_page_goes_on_before_its_last(workspace: Workspace) -> None:
    ada = member(workspace)
    for number in range(45):
        forgets(ada, MemoryFactory(workspace=workspace, content=f"Ann sails {number}."))
    page = ada.sees(DECIDED)
    [before] = re.findall(r"before=([^\"]+)\"", page)
    first, rest = (
        rows(page),
        rows(ada.sees(DECIDED, before=before.replace("%3A", ":").replace("%2B", "+"))),
    )

    assert (len(first), len(rest)) == (40, 5)
    assert not set(first) & set(rest)
    assert Supersession.objects.count() == 0
