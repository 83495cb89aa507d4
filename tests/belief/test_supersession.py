"""The seed's rule: the nearest live memory over the threshold is superseded."""

import pytest

from memories.belief import review
from memories.belief.review import forget
from memories.models import EmbeddingModel, Memory, MemoryPeriod, Supersession
from tests.people import Person
from workspaces.models import Workspace

OLD, NEW = "The orchard gate is painted green", "The orchard gate is painted blue"


@pytest.fixture(autouse=True)
def _easily_the_same(alice: Person) -> None:
    """With the hashing embedder, one other word of six is about .8."""
    Workspace.objects.filter(pk=alice.workspace.pk).update(settings={"conflictRule": "nearest"})
    alice.tell("Something that makes the embedding model known.", user_id="nobody")
    EmbeddingModel.objects.update(duplicate_threshold=0.6)


def test_the_nearest_memory_over_the_threshold_is_superseded(alice: Person) -> None:
    alice.tell(OLD, user_id="u")
    session = alice.tell(NEW, user_id="u")
    old, new = Memory.objects.get(content=OLD), Memory.objects.get(content=NEW)
    assert (old.superseded_by_id, new.version) == (new.pk, 2)
    assert session.updated_ids == [old.pk]
    decision = Supersession.objects.get()
    assert (decision.rule, decision.state) == ("nearest", "applied")
    assert decision.similarity == pytest.approx(1, abs=0.4)


def test_an_old_version_is_no_longer_believed_nor_found(alice: Person) -> None:
    alice.tell(OLD, user_id="u")
    alice.tell(NEW, user_id="u")
    assert OLD not in alice.finds("orchard gate", user_id="u")
    ended = MemoryPeriod.objects.get(memory__content=OLD)
    assert (ended.until_at is not None, ended.ended_by) == (True, "superseded")


def test_the_same_text_reinforces_in_any_spelling(alice: Person) -> None:
    alice.tell(OLD, user_id="u")
    session = alice.tell(f" {OLD.upper()}! ", user_id="u")
    assert session.created_ids == []
    assert session.reinforced_ids == [Memory.objects.get(content=OLD).pk]


def test_a_pinned_memory_waits_for_a_person(alice: Person) -> None:
    alice.tell(OLD, user_id="u")
    review.edit(alice.scope, Memory.objects.get(content=OLD).pk, {"pinned": True})
    session = alice.tell(NEW, user_id="u")
    assert session.counts["held"] == 1
    assert (OLD in alice.live(), NEW in alice.live()) == (True, False)
    assert Supersession.objects.get().state == "pending"


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"user_id": "v"},
        {"user_id": "u", "scope": "thread", "thread_id": "t"},
        {"user_id": "u", "scope": "workflow", "workflow_id": "w"},
        {"user_id": "u", "visibility": "global"},
        {"user_id": "u", "agent_id": "helper"},
    ],
)
def test_memories_of_other_places_never_meet(alice: Person, elsewhere: dict[str, str]) -> None:
    alice.tell(OLD, user_id="u")
    alice.tell(NEW, **elsewhere)
    assert {OLD, NEW} <= set(alice.live())


def test_a_team_holds_one_belief_and_another_team_its_own(alice: Person, bob: Person, carol: Person) -> None:
    bob.tell(OLD, user_id="u", visibility="team")
    carol.tell(OLD, user_id="u", visibility="team")
    session = alice.tell(NEW, user_id="u", visibility="team")
    ended = Memory.objects.get(superseded_by__isnull=False)
    assert (session.updated_ids, ended.agent_id) == ([ended.pk], bob.scope.agent_id)


def test_contradictions_within_one_request_end_in_one_chain(alice: Person) -> None:
    colours = [f"The orchard gate is painted {c}" for c in ("green", "blue", "white")]
    alice.say(*colours, extract="none", user_id="u")
    assert alice.live()[1:] == colours[-1:]
    versions = Memory.objects.filter(content__in=colours).order_by("version")
    assert [m.version for m in versions] == [1, 2, 3]
    assert Supersession.objects.filter(state="applied").count() == 2


def test_what_a_person_called_wrong_is_not_learned_again(alice: Person) -> None:
    alice.tell(OLD, user_id="u")
    forget(alice.scope, Memory.objects.get(content=OLD).pk, "wrong")
    session = alice.tell(OLD, user_id="u")
    assert OLD not in alice.live()
    assert "rejected before" in session.reason
