"""The index can be made anew at any time: the same as the one that grew. And what tells so."""

import itertools
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from memories import search
from memories.belief import review
from memories.index import workspace_index
from memories.index.check import endless
from memories.ingest import NewMessage
from memories.models import (
    Citation,
    DueVector,
    Entry,
    Episode,
    Memory,
    MemoryPeriod,
    Speaker,
    Supersession,
    Vector,
    WorkspaceIndex,
)
from memoryproject.postgres import crossings
from tests.people import Person, backend_of
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LONG = "The press in the barn squeezes apples and pears all through October. " * 12


@pytest.fixture
def filled(alice: Person, bob: Person) -> Person:
    """A workspace in which something of every kind has happened."""
    tell_a_story(alice)
    bob.say(NewMessage("We decided to use Postgres.", name="Bo"), thread_id="work", scope="thread")
    bob.tell("Bob's own note about the ladder.", workflow_id="harvest", scope="workflow")
    return alice


def tell_a_story(person: Person) -> None:
    for start in (0, 3):
        said = [
            NewMessage(f"{what} {number}", name="Ada", created_at=NOON + timedelta(hours=number))
            for number, what in enumerate(("Apples are ripe", "The gate squeaks", "Rain"), start)
        ]
        person.say(*said, thread_id="orchard", user_id="ada")
    person.say("Where is it?", NewMessage("In the barn.", role="assistant"), user_id="ada")
    person.tell("I prefer cider to beer", user_id="ada")
    person.tell("The orchard gate is painted green", user_id="ada")
    person.tell("The orchard gate is painted blue now", user_id="ada")
    person.tell(LONG, user_id="ada")
    review.forget(person.scope, person.note("Nobody needs this.").pk, "outdated")


def picture(workspace: Workspace) -> dict[str, list[Any]]:
    """All that the index of a workspace says, but for what a rebuild may choose: entry ids."""
    number = workspace_index.index_of(workspace.pk).number
    kept = [f.name for f in Entry._meta.fields if f.name not in ("id", "weights")]
    entries = Entry.objects.filter(workspace=number).order_by("layer", "item")
    counts = WorkspaceIndex.objects.filter(pk=number)
    speakers = Speaker.objects.filter(workspace=number).order_by("author", "subject", "assistant")
    vectors = Vector.objects.filter(workspace=number).order_by("entry_id", "part")
    return {
        "entries": [tuple(row.values()) for row in entries.values(*kept)],
        "weights": [_weights(entry) for entry in entries],
        "counts": list(counts.values("live_memories", "live_episodes")),
        "speakers": list(speakers.values("subject", "author", "assistant", "episodes")),
        "vectors": [tuple(map(str, row.values())) for row in vectors.values()],
    }


def _weights(entry: Entry) -> dict[int, float]:
    found = entry.weights
    return dict(zip(found.indices(), found.values(), strict=True)) if found else {}


def assert_same(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> None:
    """Weights are written in six digits where a neighbour changed them, else exactly."""
    for left, right in zip(one.pop("weights"), other.pop("weights"), strict=True):
        assert left == pytest.approx(right, rel=1e-5)
    assert one == other


def reindex() -> str:
    out = StringIO()
    call_command("reindex", stdout=out, stderr=StringIO())
    return out.getvalue()


def check(**options: Any) -> dict[str, Any]:
    """The report on the orchard; the command's failure is told by `agrees`."""
    out = StringIO()
    try:
        call_command("checkindex", json=True, stdout=out, stderr=StringIO(), **options)
    except CommandError:
        assert not json.loads(out.getvalue())["orchard"]["agrees"]
    return json.loads(out.getvalue())["orchard"]


def rules(**options: Any) -> list[str]:
    return [broken["rule"] for broken in check(**options)["disagreements"]]


# ---- reindex --------------------------------------------------------------------------------


def test_a_rebuilt_index_is_the_one_that_grew(workspace: Workspace) -> None:
    person = backend_of(workspace)
    tell_a_story(person)
    reindex()
    again = backend_of(Workspace.objects.create(slug="twin", name="Twin"))
    workspace_index.index_of(again.workspace.pk)
    tell_a_story(again)
    grown = picture(again.workspace)
    reindex()
    assert_same(picture(again.workspace), grown)


def test_entries_that_are_lost_come_back(filled: Person) -> None:
    reindex()
    before = picture(filled.workspace)
    DueVector.objects.all().delete()
    Entry.objects.all().delete()
    Speaker.objects.all().delete()
    told = reindex()
    assert f"{len(before['entries'])} entries added" in told
    after = picture(filled.workspace)
    assert (after["entries"], after["speakers"], after["counts"]) == (
        before["entries"],
        before["speakers"],
        before["counts"],
    )
    assert len(after["vectors"]) == len(before["vectors"])
    assert rules() == []


def test_wrong_columns_are_made_right_and_vectors_stay(filled: Person) -> None:
    reindex()
    before = picture(filled.workspace)
    Entry.objects.update(visibility=2, live=True, position=7, terms=[], role="nobody")
    Vector.objects.update(visibility=1, live=False, subject=None)
    reindex()
    assert_same(picture(filled.workspace), before)


def test_entries_without_truth_go(filled: Person) -> None:
    Episode.objects.filter(content=LONG).delete()
    assert "entries of episodes that are not there" in rules()
    assert "1 removed" in reindex()
    assert rules() == []


def test_a_second_reindex_changes_nothing(filled: Person) -> None:
    reindex()
    assert "0 entries added, 0 changed, 0 removed" in reindex()


def test_a_rebuild_does_not_move_a_score(filled: Person) -> None:
    before = picture(filled.workspace)["weights"]
    reindex()
    for told, now in zip(before, picture(filled.workspace)["weights"], strict=True):
        assert now == pytest.approx(told, rel=1e-5)


def test_passages_that_are_missing_are_embedded(filled: Person) -> None:
    Vector.objects.filter(part=1).delete()
    assert any("without all their vectors" in rule for rule in rules())
    reindex()
    assert rules() == []


def test_an_empty_workspace_is_fine(workspace: Workspace) -> None:
    assert "0 entries added, 0 changed, 0 removed" in reindex()
    assert rules() == []


def test_search_finds_the_same_after_a_rebuild(filled: Person) -> None:
    def found() -> list[str]:
        wish = search.SearchRequest("orchard gate", layers=("memories", "episodes"))
        hits = search.search(filled.scope, wish).hits
        return [str((hit.memory or hit.episode).id) for hit in hits]

    before = found()
    assert before
    Entry.objects.update(terms=[], weights=None)
    reindex()
    assert set(found()) == set(before)


def test_ingest_and_search_go_on_during_a_reindex(filled: Person) -> None:
    stop, raised = threading.Event(), []

    def work(act: Callable[[int], object]) -> None:
        try:
            for turn in itertools.count():
                if stop.is_set():
                    break
                with crossings.everywhere():  # as the command's, its connections are behind views
                    act(turn)
        except BaseException as error:
            raised.append(error)
        finally:
            connections.close_all()

    def tell(turn: int) -> None:
        filled.say(f"Row {turn} is picked", f"Good {turn}", thread_id="orchard", user_id="ada")
        filled.tell(f"Tree {turn % 3} has a nest", user_id="ada")

    def ask(turn: int) -> None:
        assert filled.finds("orchard gate", ranking="linea")

    threads = [threading.Thread(target=work, args=(act,)) for act in (tell, tell, ask)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        reindex()
    stop.set()
    for thread in threads:
        thread.join()
    assert raised == []
    assert rules() == []


# ---- checkindex -----------------------------------------------------------------------------


def test_what_grew_agrees(filled: Person) -> None:
    told = check()
    assert told["agrees"]
    assert told["episodes"] == Episode.objects.count()
    assert told["memories"] == Memory.objects.count()
    assert told["entries"] == told["episodes"] + told["memories"]


def test_a_disagreement_is_printed_with_its_ids_and_fails(filled: Person) -> None:
    lost = Entry.objects.filter(layer=1, live=True).first()
    assert lost is not None
    Entry.objects.filter(pk=lost.pk).delete()
    out = StringIO()
    with pytest.raises(CommandError, match="reindex"):
        call_command("checkindex", stdout=out, stderr=StringIO())
    assert "1 memories without an entry" in out.getvalue()
    assert str(lost.item) in out.getvalue()


def _pick(live: bool) -> Memory:
    return Memory.objects.filter(superseded_by=None, forgotten_at__isnull=live).first()  # type: ignore[return-value]


def _lose_a_span() -> None:
    MemoryPeriod.objects.filter(memory=_pick(True)).delete()


def _open_a_span() -> None:
    memory = _pick(False)
    MemoryPeriod.objects.create(workspace_id=memory.workspace_id, memory=memory, from_at=NOON, cause="created")


def _make_a_circle() -> None:
    decision = Supersession.objects.filter(state="applied").first()
    assert decision is not None
    Memory.objects.filter(pk=decision.new_id).update(superseded_by_id=decision.old_id)


BREAKS = [
    (
        lambda: Entry.objects.filter(layer=2).update(live=False),
        "episodes whose entry has another live",
    ),
    (
        lambda: Entry.objects.filter(layer=1).update(terms=[1]),
        "memories whose entry has another terms",
    ),
    (
        lambda: Entry.objects.filter(layer=2).update(terms=[]),
        "episodes whose entry has another terms",
    ),
    (lambda: Entry.objects.update(trigrams=[]), "episodes whose entry has another trigrams"),
    (lambda: Vector.objects.update(visibility=2), "entries whose vectors have another scope"),
    (
        lambda: Vector.objects.filter(layer=1).delete(),
        "memories without all their vectors, and not due",
    ),
    (lambda: WorkspaceIndex.objects.update(live_memories=99), "count of live memories"),
    (lambda: Speaker.objects.update(episodes=99), "count of a speaker's episodes"),
    (
        lambda: Citation.objects.update(quote="never said"),
        "citations whose quote is not in its episode",
    ),
    (lambda: Supersession.objects.all().delete(), "superseded memories without the decision"),
    (
        lambda: Memory.objects.update(superseded_by=None),
        "applied supersessions whose old memory says otherwise",
    ),
    (_lose_a_span, "live memories without an open period"),
    (_open_a_span, "memories with an open period that are not live"),
    (_make_a_circle, "memories whose chain has no head"),
]


@pytest.mark.parametrize(("harm", "rule"), BREAKS, ids=[rule for _, rule in BREAKS])
def test_harm_is_found(filled: Person, harm: Any, rule: str) -> None:
    harm()
    assert rule in rules()


def test_only_the_workspace_that_is_named_is_checked(filled: Person, mallory: Person) -> None:
    mallory.tell("The swamp is deep.")
    Entry.objects.filter(workspace=workspace_index.index_of(mallory.workspace.pk).number).delete()
    assert rules(workspace="orchard") == []
    with pytest.raises(CommandError, match="swamp"):
        call_command("checkindex", stdout=StringIO(), stderr=StringIO())


def test_entries_that_are_due_are_no_disagreement(filled: Person) -> None:
    Vector.objects.all().delete()
    DueVector.objects.bulk_create([DueVector(entry=entry, workspace=entry.workspace) for entry in Entry.objects.all()])
    assert check()["due"] == Entry.objects.count()


def test_a_chain_that_never_ends_is_found() -> None:
    a, b, c, d, e = "abcde"
    assert endless({a: b, b: c}) == []  # type: ignore[dict-item]
    assert sorted(endless({a: b, b: c, c: b, d: e})) == [a, b, c]  # type: ignore[dict-item]
