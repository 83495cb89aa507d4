"""What a person decided can be taken back, and everything is as it was before."""

import pytest
from django.db import transaction
from django.utils import timezone

from memories.belief import review
from memories.belief.review import forget
from memories.errors import Conflict, NotFound
from memories.index import entries, workspace_index
from memories.models import Layer, Memory, MemoryPeriod, Rejection, Supersession
from tests.people import Person
from workspaces.models import AuditEntry

GREEN, BLUE = "The orchard gate is painted green", "It is blue since the storm"


@pytest.fixture
def doubted(alice: Person) -> Supersession:
    """A newer claim that waits for a person while both are believed."""
    old, new = alice.note(GREEN), alice.note(BLUE)
    return Supersession.objects.create(
        workspace=alice.workspace, old=old, new=new, rule="unsure", state="pending", decided_by="x"
    )


@pytest.fixture
def held(doubted: Supersession) -> Supersession:
    """One that is held back while it waits."""
    Memory.objects.filter(pk=doubted.new_id).update(held_at=timezone.now())
    with transaction.atomic():
        space = workspace_index.index_of(doubted.workspace_id)
        entries.set_live(space, Layer.MEMORIES, [doubted.new_id], live=False)
    MemoryPeriod.objects.filter(memory=doubted.new_id).delete()
    return doubted


def approve(alice: Person, decision: Supersession) -> None:
    review.approve(alice.scope, decision.pk)


def reword(alice: Person, decision: Supersession) -> None:
    review.approve(alice.scope, decision.pk, "It is light blue")


def reject(alice: Person, decision: Supersession) -> None:
    review.reject(alice.scope, decision.pk)


def keep_both(alice: Person, decision: Supersession) -> None:
    review.keep_both(alice.scope, decision.pk)


DECISIONS = (approve, reword, reject, keep_both)


@pytest.mark.parametrize("decide", DECISIONS)
def test_a_held_one_waits_again_held_back(alice: Person, held: Supersession, decide: object) -> None:
    decide(alice, held)
    review.reopen(alice.scope, held.pk)
    assert alice.live() == [GREEN]
    assert alice.finds("orchard gate painted blue storm") == [GREEN]
    held.refresh_from_db()
    assert (held.state, held.new.held_at is not None) == ("pending", True)


@pytest.mark.parametrize("decide", DECISIONS)
def test_a_doubted_one_waits_again_with_both_believed(alice: Person, doubted: Supersession, decide: object) -> None:
    decide(alice, doubted)
    review.reopen(alice.scope, doubted.pk)
    assert alice.live() == [GREEN, BLUE]
    assert sorted(alice.finds("orchard gate blue storm")) == sorted([GREEN, BLUE])


@pytest.mark.parametrize("decide", DECISIONS)
def test_it_can_be_decided_anew_any_number_of_times(alice: Person, held: Supersession, decide: object) -> None:
    for _ in range(3):
        decide(alice, held)
        review.reopen(alice.scope, held.pk)
    review.approve(alice.scope, held.pk)
    assert alice.live() == [BLUE]


def test_a_rejection_is_not_learned_again_until_it_is_taken_back(alice: Person, held: Supersession) -> None:
    review.reject(alice.scope, held.pk)
    assert Rejection.objects.get().content == BLUE
    review.reopen(alice.scope, held.pk)
    assert not Rejection.objects.exists()


def test_each_step_is_in_the_audit_log(alice: Person, held: Supersession) -> None:
    review.approve(alice.scope, held.pk)
    review.reopen(alice.scope, held.pk)
    lines = AuditEntry.objects.filter(target_id=held.new_id).order_by("id")
    steps = [(line.action, line.after["state"]) for line in lines if line.action != "create"]
    assert steps == [("approve", "applied"), ("reopen", "pending")]


def test_what_was_believed_meanwhile_stays_in_the_history(alice: Person, held: Supersession) -> None:
    review.approve(alice.scope, held.pk)
    review.reopen(alice.scope, held.pk)
    spans = MemoryPeriod.objects.filter(memory=held.new_id)
    assert [(span.cause, span.ended_by) for span in spans] == [("approved", "held")]


def test_what_nobody_was_asked_about_is_undone_instead(alice: Person) -> None:
    memory = alice.note(GREEN)
    review.edit(alice.scope, memory.pk, {"content": BLUE})
    with pytest.raises(Conflict, match="undo"):
        review.reopen(alice.scope, Supersession.objects.get().pk)


def test_what_has_changed_since_stays(alice: Person, held: Supersession) -> None:
    review.keep_both(alice.scope, held.pk)
    forget(alice.scope, held.new_id, "outdated")
    with pytest.raises(Conflict, match="changed since"):
        review.reopen(alice.scope, held.pk)


def test_what_was_replaced_since_stays(alice: Person, held: Supersession) -> None:
    review.approve(alice.scope, held.pk)
    review.edit(alice.scope, held.new_id, {"content": "It is white"})
    with pytest.raises(Conflict, match="replaced"):
        review.reopen(alice.scope, held.pk)


def test_what_waits_cannot_be_taken_back(alice: Person, held: Supersession) -> None:
    with pytest.raises(Conflict, match="pending"):
        review.reopen(alice.scope, held.pk)


def test_mallory_cannot_take_back_what_she_does_not_see(alice: Person, mallory: Person, held: Supersession) -> None:
    review.approve(alice.scope, held.pk)
    for act in (review.reopen, review.redo):
        with pytest.raises(NotFound):
            act(mallory.scope, held.pk)


def test_an_undone_one_can_stand_again(alice: Person) -> None:
    memory = alice.note(GREEN)
    review.edit(alice.scope, memory.pk, {"content": BLUE})
    decision = Supersession.objects.get()
    for _ in range(2):
        review.undo(alice.scope, decision.pk)
        assert alice.live() == [GREEN]
        review.redo(alice.scope, decision.pk)
        assert alice.live() == [BLUE]
