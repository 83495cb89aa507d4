"""Two subjects merged by mistake are two again, each with its own; the index agrees each time."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.management import call_command

from memories.belief import review
from memories.belief.review import SplitOff, merge_people, subject_steps
from memories.belief.review.subject_steps import SubjectSteps, under_way
from memories.errors import Conflict, NotFound
from memories.ingest import NewMessage
from memories.models import (
    Conversation,
    Entry,
    Episode,
    Fact,
    Feature,
    Layer,
    Memory,
    MemorySession,
    Rejection,
    SubjectMerge,
    Supersession,
)
from memories.profiles.features import edit_features, undo_features
from memories.profiles.features.edit_features import NewFeature
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from memories.worker import sweep
from tests.desk import member, messages_of, page_of
from tests.people import Person
from workspaces.models import AuditEntry, Role, Subject, Workspace


@pytest.fixture(autouse=True)
def _index_agrees(workspace: Workspace) -> Iterator[None]:
    yield
    call_command("checkindex", "--workspace", workspace.slug)


def subject(name: str) -> Subject:
    return Subject.objects.get(external_id=name)


def told(person: Person, name: str, *said: str) -> None:
    """Said about somebody, and folded."""
    person.say(*[NewMessage(each, name=name) for each in said], user_id=name, thread_id=name)
    discover_sets()
    update_now(person.scope, f"user:{name}")


@pytest.fixture
def two(alice: Person) -> None:
    told(alice, "ada", "I prefer tea to coffee.")
    told(alice, "grace", "I live in Lisbon.", "I love hiking in the hills.")


def merged(person: Person) -> SubjectMerge:
    return review.merge_subjects(person.scope, subject("grace").pk, subject("ada").pk)


def of(name: str) -> dict[str, set[str]]:
    """All that is kept about somebody, in words."""
    own = subject(name)
    return {
        "memories": set(Memory.objects.live().filter(subject=own).values_list("content", flat=True)),
        "facts": set(Fact.objects.filter(subject=own).values_list("statement", flat=True)),
        "episodes": set(Episode.objects.filter(subject=own).values_list("content", flat=True)),
        "threads": set(Conversation.objects.filter(subject=own).values_list("external_id")),
        "features": set(Feature.objects.live().filter(subject=own).values_list("value", flat=True)),
        "entries": set(Entry.objects.filter(subject=own.pk, live=True).values_list("item")),
    }


def test_each_has_its_own_again_to_the_last_row(alice: Person, two: None) -> None:
    before = {name: of(name) for name in ("ada", "grace")}
    made = merged(alice)
    assert of("grace")["memories"] == set()
    review.separate(alice.scope, made.pk)

    assert {name: of(name) for name in ("ada", "grace")} == before
    assert alice.finds("hiking", user_id="grace")[0] == "Grace loves hiking in the hills"
    found = alice.finds("hiking", user_id="ada", layers=("memories", "episodes"))
    assert not [each for each in found if "hiking" in each]


def test_what_was_folded_while_they_were_one_goes_its_ways(alice: Person, two: None) -> None:
    before = {name: of(name)["features"] for name in ("ada", "grace")}
    made = merged(alice)
    discover_sets()
    update_now(alice.scope, "user:ada")
    assert of("ada")["features"] == before["ada"] | before["grace"]
    review.separate(alice.scope, made.pk)
    for name in ("ada", "grace"):
        update_now(alice.scope, f"user:{name}")

    assert {name: of(name)["features"] for name in ("ada", "grace")} == before


def test_features_come_back_with_their_history_and_words(alice: Person, two: None) -> None:
    home = Feature.objects.get(feature="home")
    edit_features.edit(alice.scope, home.pk, {"value": "Lisbon, Alfama"})
    hill = Feature.objects.get(subject=subject("grace"), value__contains="hiking")
    quotes = [cited.quote for cited in hill.citations.all()]
    review.separate(alice.scope, merged(alice).pk)
    again = hill.citations.filter(change__is_current=True)

    assert Feature.objects.live().get(pk=home.pk).value == "Lisbon, Alfama"
    assert [cited.quote for cited in again] == quotes
    assert undo_features.undo(alice.scope, home.pk).value == "Lisbon"


def test_features_by_hand_that_both_had_are_two_again(alice: Person, two: None) -> None:
    same = NewFeature("identity", "habits", "pet", "Minka")
    for name in ("ada", "grace"):
        edit_features.create(alice.scope, f"user:{name}", same)
    made = merged(alice)
    assert Feature.objects.live().filter(value="Minka").count() == 1
    review.separate(alice.scope, made.pk)

    assert {"Minka"} <= of("ada")["features"] & of("grace")["features"]


def test_what_a_person_ended_stays_ended_on_both_sides(alice: Person, two: None) -> None:
    edit_features.delete(alice.scope, Feature.objects.get(feature="home").pk)
    made = merged(alice)
    update_now(alice.scope, "user:ada")
    assert not {each for each in of("ada")["features"] if "Lisbon" in each}
    review.separate(alice.scope, made.pk)
    update_now(alice.scope, "user:grace")

    assert not {each for each in of("grace")["features"] if "Lisbon" in each}


def test_what_was_learned_since_stays_with_the_target(alice: Person, two: None) -> None:
    made = merged(alice)
    told(alice, "ada", "I work as a nurse.")
    note = alice.note("Owns a red bicycle", user_id="ada")
    review.separate(alice.scope, made.pk)

    assert {"Ada works as a nurse", note.content} <= of("ada")["memories"]
    assert of("grace")["memories"] == {"Grace lives in Lisbon", "Grace loves hiking in the hills"}


def test_what_people_made_of_it_since_goes_back_with_it(alice: Person, two: None) -> None:
    made = merged(alice)
    memory = Memory.objects.get(content="Grace lives in Lisbon")
    review.edit(alice.scope, memory.pk, {"content": "Grace lives in Porto"})
    hike = Memory.objects.get(content__contains="hiking")
    review.forget(alice.scope, hike.pk, review.WRONG)
    review.separate(alice.scope, made.pk)

    assert of("grace")["memories"] == {"Grace lives in Porto"}
    assert set(Rejection.objects.values_list("subject__external_id", flat=True)) == {"grace"}


def test_a_claim_heard_of_both_is_believed_of_both(alice: Person, two: None) -> None:
    made = merged(alice)
    alice.say(NewMessage("I love hiking in the hills.", name="Grace"), user_id="ada")
    assert Memory.objects.live().filter(content__contains="hiking").get().source_count == 2
    review.separate(alice.scope, made.pk)
    found = Memory.objects.live().filter(content__contains="hiking")

    assert sorted(found.values_list("subject__external_id", "source_count")) == [
        ("ada", 1),
        ("grace", 1),
    ]


def test_duplicates_merged_meanwhile_are_believed_of_both(alice: Person) -> None:
    for name in ("ada", "grace"):
        alice.say(NewMessage("I love hiking in the hills.", name="Ada"), user_id=name)
    made = merged(alice)
    kept, other = Memory.objects.live().order_by("subject__created_at", "pk")
    review.merge_duplicates(alice.scope, kept.pk, other.pk)
    review.separate(alice.scope, made.pk)

    assert of("ada")["memories"] == of("grace")["memories"] == {"Ada loves hiking in the hills"}


def test_a_replacement_across_the_two_is_undone(alice: Person, two: None) -> None:
    made = merged(alice)
    alice.say(NewMessage("I live in Porto now.", name="Grace"), user_id="ada")
    assert Supersession.objects.get().state == Supersession.State.APPLIED
    review.separate(alice.scope, made.pk)
    decision = Supersession.objects.get()

    assert "Grace lives in Lisbon" in of("grace")["memories"]
    assert "Grace lives in Porto" in " ".join(of("ada")["memories"])
    assert decision.state == Supersession.State.UNDONE
    with pytest.raises(Conflict):
        review.redo(alice.scope, decision.pk)


def test_what_waited_across_the_two_lives_on(alice: Person, two: None) -> None:
    made = merged(alice)
    home = Memory.objects.get(content="Grace lives in Lisbon")
    review.edit(alice.scope, home.pk, {"pinned": True})
    alice.say(NewMessage("I live in Porto now.", name="Grace"), user_id="ada")
    assert Supersession.objects.get().state == Supersession.State.PENDING
    review.separate(alice.scope, made.pk)

    assert "Porto" in " ".join(of("ada")["memories"])
    assert "Grace lives in Lisbon" in of("grace")["memories"]


def test_what_both_rejected_stays_rejected_of_both(alice: Person) -> None:
    for name in ("ada", "grace"):
        alice.say("I prefer tea to coffee.", user_id=name)
        review.forget(alice.scope, Memory.objects.live().get().pk, review.WRONG)
    review.separate(alice.scope, merged(alice).pk)
    rejected = Rejection.objects.values_list("subject__external_id", flat=True)

    assert sorted(rejected) == ["ada", "grace"]


def test_a_session_under_way_begins_again_about_the_other(alice: Person, two: None) -> None:
    session = MemorySession.objects.filter(subject=subject("grace")).latest("pk")
    MemorySession.objects.filter(pk=session.pk).update(state=MemorySession.State.EXTRACTING)
    merged(alice)
    session.refresh_from_db()

    assert (session.state, session.subject) == (MemorySession.State.RECEIVED, subject("ada"))


def test_a_merge_is_undone_once_and_in_order(alice: Person, two: None) -> None:
    alice.note("Sings", user_id="eve")
    first = merged(alice)
    second = review.merge_subjects(alice.scope, subject("ada").pk, subject("eve").pk)

    with pytest.raises(Conflict, match="merged itself"):
        review.separate(alice.scope, first.pk)
    for made in (second, first):
        review.separate(alice.scope, made.pk)
    with pytest.raises(Conflict, match="already"):
        review.separate(alice.scope, first.pk)


def test_it_is_told_in_the_history_of_both(alice: Person, two: None) -> None:
    review.separate(alice.scope, merged(alice).pk)
    lines = AuditEntry.objects.filter(action="separate", actor=alice.scope.actor)

    assert {line.subject_id for line in lines} == {subject("ada").pk, subject("grace").pk}
    assert lines[0].after["moved"]["memory"] == 2


def test_a_stranger_separates_nothing(alice: Person, mallory: Person, two: None) -> None:
    made = merged(alice)

    with pytest.raises(NotFound):
        review.separate(mallory.scope, made.pk)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.EDITOR])
def test_whoever_may_curate_undoes_it_on_the_page(alice: Person, two: None, role: str) -> None:
    desk = member(alice.workspace, role)
    desk.does(subject("grace"), "merge", into="ada")
    made = SubjectMerge.objects.get()
    for name in ("ada", "grace"):
        assert str(made.pk) in desk.sees(page_of(subject(name)))
    answer = desk.does(subject("ada"), "separate", merge=str(made.pk))

    assert "each have their own again" in messages_of(answer)
    assert "already" in messages_of(desk.does(subject("ada"), "separate", merge=str(made.pk)))
    assert "Undo the merge" not in desk.sees(page_of(subject("ada")))


def test_who_may_not_curate_undoes_nothing(alice: Person, mallory: Person, two: None) -> None:
    made = merged(alice)
    victor, eve = member(alice.workspace, Role.VIEWER), member(mallory.workspace)
    refused = [each.does(subject("ada"), "separate", merge=str(made.pk)).status_code for each in (victor, eve)]

    assert refused == [403, 404]
    assert "Undo the merge" not in victor.sees(page_of(subject("ada")))
    assert SubjectMerge.objects.get().undone_at is None


def test_layers_of_the_index_follow(alice: Person, two: None) -> None:
    made = merged(alice)
    own = Entry.objects.filter(subject=subject("grace").pk)
    assert not own.exists()
    review.separate(alice.scope, made.pk)

    assert set(own.values_list("layer", flat=True)) == {
        Layer.MEMORIES,
        Layer.EPISODES,
        Layer.FEATURES,
    }


# ---- in steps, which another process goes on with


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the process end in the middle of a step of one row, after so many."""
    give, left = SubjectSteps.give_locked, [-1]

    def die(steps: SubjectSteps, *given: Any) -> None:
        give(steps, *given)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(subject_steps, "AT_ONCE", 1)
    monkeypatch.setattr(SubjectSteps, "give_locked", die)
    return lambda steps: left.__setitem__(0, steps)


def parted(person: Person) -> SubjectMerge:
    own = Memory.objects.filter(subject=subject("grace")).values_list("pk", flat=True)
    chosen = SplitOff(list(own), [Conversation.objects.get(external_id="grace").pk])
    return review.split(person.scope, subject("grace").pk, "hedy", chosen)


@pytest.mark.parametrize("last", [1, 2, 4, 7])
@pytest.mark.parametrize("act", ["merge", "separate", "split"])
def test_whoever_comes_after_a_process_that_ended_does_what_is_left(
    act: str, last: int, alice: Person, two: None, dying: Callable[[int], None]
) -> None:
    before = {name: of(name) for name in ("ada", "grace")}
    acts: dict[str, Callable[[], SubjectMerge]] = {
        "merge": lambda: merged(alice),
        "split": lambda: parted(alice),
        "separate": lambda: review.separate(alice.scope, SubjectMerge.objects.get().pk),
    }
    if act == "separate":
        merged(alice)
    dying(last)
    with pytest.raises(KeyboardInterrupt):
        acts[act]()
    row = SubjectMerge.objects.get()
    assert under_way(row.pk).exists()
    alice.note("Grace has a red bicycle.", user_id="ada")
    with pytest.raises(Conflict):
        review.merge_subjects(alice.scope, row.target_id, row.source_id)

    assert merge_people.due_workspaces() == [alice.workspace.pk]
    assert sweep.sweep().merges == 1

    assert not under_way().exists()
    call_command("checkindex", "--workspace", alice.workspace.slug)
    bicycle = {"Grace has a red bicycle."}
    assert AuditEntry.objects.filter(action=act).count() == 2
    if act == "merge":
        assert of("grace")["episodes"] == of("grace")["memories"] == set()
        for kind in ("episodes", "facts", "threads"):
            assert of("ada")[kind] >= before["ada"][kind] | before["grace"][kind]
        review.separate(alice.scope, row.pk)
    if act == "split":
        assert of("hedy")["memories"] == before["grace"]["memories"]
        assert of("hedy")["episodes"] == before["grace"]["episodes"]
        assert of("grace")["memories"] == set()
    else:
        assert of("grace") == before["grace"]
        assert of("ada")["memories"] == before["ada"]["memories"] | bicycle


def test_what_is_learned_between_two_steps_goes_with_what_it_replaces(
    alice: Person, two: None, dying: Callable[[int], None]
) -> None:
    dying(1)
    with pytest.raises(KeyboardInterrupt):
        merged(alice)
    told(alice, "grace", "I live in Porto now.")
    assert subject("grace").pk == Memory.objects.live().get(content__contains="Porto").subject_id
    merge_people.go_on_in(alice.workspace.pk)

    chain = Memory.objects.filter(content__regex="Lisbon|Porto")
    assert {row.subject_id for row in chain} == {subject("ada").pk}
    assert "Grace lives in Porto now" in of("ada")["memories"]
    made = SubjectMerge.objects.get()
    review.separate(alice.scope, made.pk)
    assert {row.subject_id for row in chain.all()} == {subject("grace").pk}
