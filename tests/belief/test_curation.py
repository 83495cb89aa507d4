"""What people do to memories by hand, and that all of it can be seen and taken back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories.belief import review
from memories.belief.review import forget
from memories.errors import Conflict, Invalid, NotFound
from memories.models import Entry, Memory, MemoryPeriod, Rejection, Supersession, chain
from tests.people import Person
from workspaces.models import AuditEntry

GREEN, BLUE = "The orchard gate is painted green", "It is blue since the storm"


@pytest.fixture
def gate(alice: Person) -> Memory:
    return alice.note(GREEN, visibility="team")


@pytest.fixture
def held(alice: Person, gate: Memory) -> Supersession:
    """A newer claim that waits for a person."""
    new = alice.note(BLUE, visibility="team")
    Memory.objects.filter(pk=new.pk).update(held_at=timezone.now())
    Entry.objects.filter(item=new.pk).update(live=False)
    MemoryPeriod.objects.filter(memory=new).delete()
    return Supersession.objects.create(
        workspace=alice.workspace, old=gate, new=new, rule="pinned", state="pending", decided_by="x"
    )


def test_new_content_is_a_new_version(alice: Person, gate: Memory) -> None:
    head = review.edit(alice.scope, gate.pk, {"content": BLUE})
    assert (head.version, head.content, head.visibility) == (2, BLUE, "team")
    assert alice.live() == [BLUE]
    assert [link.memory.content for link in chain(alice.scope, head.pk)] == [GREEN, BLUE]


def test_other_changes_happen_in_place_and_are_audited(alice: Person, gate: Memory) -> None:
    same = review.edit(alice.scope, gate.pk, {"pinned": True, "metadata": {"a": 1}})
    assert (same.pk, same.pinned, same.version) == (gate.pk, True, 1)
    line = AuditEntry.objects.filter(action="edit").get()
    assert line.before == {"pinned": False, "metadata": {}}


def test_only_a_head_can_be_edited(alice: Person, gate: Memory) -> None:
    review.edit(alice.scope, gate.pk, {"content": BLUE})
    with pytest.raises(Conflict, match="superseded"):
        review.edit(alice.scope, gate.pk, {"content": "Again"})


def test_an_edit_of_a_stale_version_is_a_conflict(alice: Person, gate: Memory) -> None:
    with pytest.raises(Conflict, match="version 1"):
        review.edit(alice.scope, gate.pk, {"content": BLUE}, expected_version=2)


def test_a_memory_must_say_something(alice: Person, gate: Memory) -> None:
    with pytest.raises(Invalid):
        review.edit(alice.scope, gate.pk, {"content": "  "})


def test_narrower_visibility_takes_it_from_others(alice: Person, bob: Person, gate: Memory) -> None:
    assert bob.finds("orchard gate") == [GREEN]
    review.edit(alice.scope, gate.pk, {"visibility": "private"})
    assert bob.finds("orchard gate") == []


def test_nobody_touches_what_they_do_not_see(carol: Person, mallory: Person, gate: Memory) -> None:
    for stranger in (carol, mallory):
        for act in (review.restore, forget, lambda s, i: review.edit(s, i, {"content": "x"})):
            with pytest.raises(NotFound):
                act(stranger.scope, gate.pk)


def test_a_forgotten_memory_can_be_restored(alice: Person, gate: Memory) -> None:
    forget(alice.scope, gate.pk, "outdated")
    assert alice.live() == alice.finds("orchard gate") == []
    review.restore(alice.scope, gate.pk)
    assert alice.live() == alice.finds("orchard gate") == [GREEN]
    assert [span.cause for span in gate.periods.order_by("id")] == ["created", "restored"]


def test_forgetting_as_wrong_leaves_a_rejection_and_restoring_takes_it_back(alice: Person, gate: Memory) -> None:
    forget(alice.scope, gate.pk, "wrong")
    assert Rejection.objects.count() == 1
    assert Memory.objects.get(pk=gate.pk).content != GREEN
    review.restore(alice.scope, gate.pk)
    assert not Rejection.objects.exists()
    assert Memory.objects.get(pk=gate.pk).content == GREEN


def test_an_expired_memory_is_gone_at_once(alice: Person, gate: Memory) -> None:
    past = timezone.now() - timedelta(minutes=1)
    review.edit(alice.scope, gate.pk, {"forget_after": past})
    assert alice.live() == alice.finds("orchard gate") == []


def test_approving_replaces_the_old_memory(alice: Person, held: Supersession) -> None:
    review.approve(alice.scope, held.pk)
    assert alice.live() == [BLUE]
    assert Memory.objects.get(content=BLUE).version == 2


def test_approving_with_other_words_writes_them(alice: Person, held: Supersession) -> None:
    review.approve(alice.scope, held.pk, "It is light blue")
    assert alice.live() == ["It is light blue"]
    assert len(chain(alice.scope, held.old_id)) == 3


def test_rejecting_forgets_the_new_one(alice: Person, held: Supersession) -> None:
    review.reject(alice.scope, held.pk)
    assert alice.live() == [GREEN]


def test_keeping_both_lets_both_live(alice: Person, held: Supersession) -> None:
    review.keep_both(alice.scope, held.pk)
    assert alice.live() == [GREEN, BLUE]


def test_a_decision_is_made_once(alice: Person, held: Supersession) -> None:
    review.approve(alice.scope, held.pk)
    for act in (review.approve, review.reject, review.keep_both):
        with pytest.raises(Conflict, match="applied"):
            act(alice.scope, held.pk)


def test_undoing_makes_the_old_one_the_head_again(alice: Person, gate: Memory) -> None:
    review.edit(alice.scope, gate.pk, {"content": BLUE})
    review.undo(alice.scope, Supersession.objects.get().pk)
    assert alice.live() == alice.finds("orchard gate") == [GREEN]
    assert Supersession.objects.get().state == "undone"


def test_what_was_replaced_since_cannot_be_undone(alice: Person, gate: Memory) -> None:
    middle = review.edit(alice.scope, gate.pk, {"content": BLUE})
    review.edit(alice.scope, middle.pk, {"content": "It is white"})
    with pytest.raises(Conflict):
        review.undo(alice.scope, Supersession.objects.get(new=middle).pk)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada has locker 12", "Ada has locker 14"),
        ("Ada takes bus 12", "Ada takes bus 14"),
        ("Ada owns plot 7 in the garden", "Ada owns plot 9 in the garden"),
    ],
)
def test_notes_on_things_that_are_numbered_stand_side_by_side(alice: Person, one: str, other: str) -> None:
    alice.note(one)
    alice.note(other)
    assert alice.live() == [one, other]
    assert Supersession.objects.get().state == Supersession.State.PENDING


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Meeting room 5 seats 8 people", "Meeting room 5 seats 10 people"),
        ("Ada has locker 12", "Ada now has locker 14"),
        ("The extension of the office is 4411", "The extension of the office is 7788"),
    ],
)
def test_a_note_with_another_amount_or_a_word_of_change_replaces(alice: Person, old: str, new: str) -> None:
    alice.note(old)
    alice.note(new)
    assert alice.live() == [new]


def test_notes_on_two_numbered_things_have_nothing_to_do_with_each_other(alice: Person) -> None:
    alice.note("Locker 12 is Ada's")
    alice.note("Locker 14 is Ada's")
    assert alice.live() == ["Locker 12 is Ada's", "Locker 14 is Ada's"]
    assert not Supersession.objects.exists()
