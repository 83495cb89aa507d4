"""Whom memories are about, put right by a person; the index agrees each time."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command

from memories.belief import review
from memories.errors import Conflict, Invalid, NotFound
from memories.index import subjects, workspace_index
from memories.models import Episode, Memory, Rejection
from tests.people import Person
from workspaces.models import AuditEntry, Subject, Workspace


@pytest.fixture(autouse=True)
def _index_agrees(workspace: Workspace) -> Iterator[None]:
    yield
    call_command("checkindex", "--workspace", workspace.slug)


def subject(name: str) -> Subject:
    return Subject.objects.get(external_id=name)


def test_moved_memory_is_found_under_its_new_subject(alice: Person) -> None:
    memory = alice.note("Prefers tea", user_id="ada")
    review.move(alice.scope, [memory.pk], "grace")

    assert alice.finds("tea", user_id="grace") == ["Prefers tea"]
    assert alice.finds("tea", user_id="ada") == []


def test_all_versions_and_facts_move_together(alice: Person) -> None:
    alice.say("I prefer tea to coffee.", user_id="ada")
    memory = Memory.objects.live().get()
    review.edit(alice.scope, memory.pk, {"content": "Prefers mint tea"})

    assert review.move(alice.scope, [memory.pk], "grace") == 2
    moved = Memory.objects.filter(subject=subject("grace"))
    assert moved.count() == 2
    assert {fact.subject for m in moved for fact in m.facts.all()} == {subject("grace")}
    assert Episode.objects.get().subject == subject("ada")


def test_what_waits_to_replace_it_moves_too(alice: Person) -> None:
    alice.say("I prefer tea to coffee.", user_id="ada")
    old = Memory.objects.live().get()
    review.edit(alice.scope, old.pk, {"pinned": True})
    alice.say("I prefer coffee to tea.", user_id="ada")
    review.move(alice.scope, [old.pk], "grace")

    assert not Memory.objects.filter(subject=subject("ada")).exists()


def test_moving_back_is_the_way_to_undo_it(alice: Person) -> None:
    memory = alice.note("Prefers tea", user_id="ada")
    review.move(alice.scope, [memory.pk], "grace")
    review.move(alice.scope, [memory.pk], "ada")
    lines = AuditEntry.objects.filter(action="move").order_by("id")

    assert alice.finds("tea", user_id="ada") == ["Prefers tea"]
    assert [line.after for line in lines] == [{"userId": "grace"}, {"userId": "ada"}]


def test_moving_needs_a_name_and_what_one_sees(alice: Person, mallory: Person, carol: Person) -> None:
    memory = alice.note("Prefers tea", user_id="ada")

    with pytest.raises(Invalid):
        review.move(alice.scope, [memory.pk], " ")
    for stranger in (mallory, carol):
        with pytest.raises(NotFound):
            review.move(stranger.scope, [memory.pk], "grace")


def test_merged_subject_has_all_that_was_said_of_both(alice: Person) -> None:
    alice.say("I prefer tea to coffee.", user_id="ada", thread_id="a")
    alice.say("I love hiking in the hills.", user_id="lovelace", thread_id="b")
    made = review.merge_subjects(alice.scope, subject("lovelace").pk, subject("ada").pk)

    assert len(made.ids("memory")) == 1
    assert len(alice.finds("tea or hiking?", user_id="ada")) == 2
    assert set(Episode.objects.values_list("subject__external_id", flat=True)) == {"ada"}
    assert Memory.objects.filter(subject=subject("lovelace")).count() == 0


def test_what_was_rejected_of_both_stays_rejected_once(alice: Person) -> None:
    for name in ("ada", "lovelace"):
        alice.say("I prefer tea to coffee.", user_id=name)
        reject(alice, Memory.objects.live().get())
    review.merge_subjects(alice.scope, subject("lovelace").pk, subject("ada").pk)

    assert Rejection.objects.get().subject == subject("ada")


def reject(person: Person, memory: Memory) -> None:
    review.forget(person.scope, memory.pk, review.WRONG)


def test_merge_is_told_in_the_history_of_both(alice: Person) -> None:
    for name in ("ada", "lovelace"):
        alice.note(f"{name} prefers tea", user_id=name)
    review.merge_subjects(alice.scope, subject("lovelace").pk, subject("ada").pk)

    for name in ("ada", "lovelace"):
        assert AuditEntry.objects.filter(action="merge", subject_id=subject(name).pk).exists()


def test_no_subject_is_merged_into_itself_or_across_workspaces(alice: Person, mallory: Person) -> None:
    alice.note("Prefers tea", user_id="ada")
    mallory.note("Prefers tea", user_id="eve")

    with pytest.raises(Invalid):
        review.merge_subjects(alice.scope, subject("ada").pk, subject("ada").pk)
    with pytest.raises(NotFound):
        review.merge_subjects(alice.scope, subject("eve").pk, subject("ada").pk)


def test_merged_duplicates_keep_the_facts_of_both(alice: Person) -> None:
    first = alice.note("Prefers tea", user_id="ada")
    second = alice.note("Tea is preferred", user_id="ada")
    kept = review.merge_duplicates(alice.scope, first.pk, second.pk)

    assert alice.live() == ["Prefers tea"]
    assert (kept.facts.count(), kept.source_count) == (2, 2)
    review.restore(alice.scope, second.pk)
    assert len(alice.live()) == 2


def test_duplicates_are_of_one_subject_and_live(alice: Person) -> None:
    first, other = alice.note("Prefers tea", user_id="ada"), alice.note("Tea it is", user_id="eve")
    old = alice.note("Drinks tea", user_id="ada")
    review.edit(alice.scope, old.pk, {"content": "Drinks much tea"})

    with pytest.raises(Invalid):
        review.merge_duplicates(alice.scope, first.pk, other.pk)
    with pytest.raises(Conflict):
        review.merge_duplicates(alice.scope, first.pk, old.pk)


def test_memories_that_are_alike_are_found_in_pairs(alice: Person) -> None:
    first = alice.note("We always encrypt the backups", user_id="ada", visibility="team")
    again = alice.note("We always encrypt the backups", user_id="ada", visibility="global")
    other = alice.note("Prefers tea", user_id="ada")
    space = workspace_index.index_of(alice.workspace.pk)
    [(one, two, cosine)] = subjects.alike(space, [other.pk, again.pk, first.pk])

    assert (one, two) == (first.pk, again.pk)
    assert cosine > 0.99
