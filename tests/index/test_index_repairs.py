"""Rows that other rules made are found and made anew: in slices, by one worker at a time, and again
where it failed or nobody goes on."""

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ

from memories.index import rebuild, repair, workspace_index
from memories.index.row_marks import RULES_VERSION
from memories.meters import health_parts
from memories.models import Entry, IndexRepair, Memory, Vector, WorkspaceIndex
from memories.worker import sweep
from memoryproject.server.machine_health import State
from tests.people import Person
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)
LONG = " ".join(f"In barn {n} the press of orchard {n * 7} squeezed pears." for n in range(30))
REFUSING = """
create function refuse() returns trigger language plpgsql as
$$ begin raise exception 'not this one' using errcode = 'XX000'; end $$;
create trigger refuse before update on memories_entry execute function refuse()
"""


@pytest.fixture
def old(alice: Person) -> Person:
    """A workspace whose rows an older version made: without keys of attributes."""
    alice.say("I live in Porto.", user_id="mira")
    alice.note("Jonas works at Arctic Boats", user_id="jonas", category="identity")
    alice.tell(LONG, user_id="rada")
    as_of(0)
    return alice


def as_of(version: int) -> None:
    Memory.objects.update(slots=[])
    Entry.objects.update(rules=version, marks=0)
    WorkspaceIndex.objects.update(rules=version)


def the_repair() -> IndexRepair:
    return IndexRepair.objects.get()


def run_to_its_end(person: Person) -> None:
    while repair.run(person.workspace.pk):
        pass


def bells() -> int:
    return sum(task.func() == "memories.worker.tasks.repair_index" for task in OrmQ.objects.all())


def test_what_is_new_has_today_s_version(alice: Person) -> None:
    alice.say("I live in Porto.", user_id="mira")
    assert set(Entry.objects.values_list("rules", flat=True)) == {RULES_VERSION}
    assert repair.ring() == 0
    assert not IndexRepair.objects.exists()


@pytest.mark.parametrize("version", [0, 99])
def test_rows_of_another_version_are_made_anew(old: Person, version: int) -> None:
    as_of(version)
    assert repair.ring() == 1
    run_to_its_end(old)
    assert the_repair().state == "done"
    assert set(Entry.objects.values_list("rules", flat=True)) == {RULES_VERSION}
    assert all(Memory.objects.filter(subject__external_id="mira").values_list("slots", flat=True))
    assert repair.ring() == 0


def test_reindex_leaves_nothing_to_repair(old: Person) -> None:
    call_command("reindex", stdout=StringIO(), stderr=StringIO())
    assert repair.ring() == 0
    assert repair.count_stale(workspace_index.index_of(old.workspace.pk)) == 0


def test_the_sweep_finds_them_and_rings_once(old: Person) -> None:
    for _ in range(3):
        sweep.sweep()
    assert bells() == 1


def test_a_repair_that_nobody_goes_on_with_is_rung_again(old: Person) -> None:
    repair.ring()
    OrmQ.objects.all().delete()
    IndexRepair.objects.update(updated_at=timezone.now() - timedelta(minutes=5))
    repair.ring()
    assert bells() == 1


@pytest.mark.parametrize(
    ("until", "is_taken"),
    [
        (timedelta(seconds=30), False),
        (timedelta(seconds=-1), True),
        (timedelta(days=400), True),
    ],
)
def test_a_lease_keeps_others_off_until_it_is_over(old: Person, until: timedelta, is_taken: bool) -> None:
    """One that lies further ahead than any was of a wrong clock."""
    repair.begin()
    IndexRepair.objects.update(lease_until=timezone.now() + until)
    assert repair.run(old.workspace.pk) == is_taken


@pytest.fixture
def broken() -> Iterator[None]:
    """The database refuses to change an entry."""
    with connection.cursor() as cursor:
        cursor.execute(REFUSING)
    yield
    with connection.cursor() as cursor:
        cursor.execute("drop function if exists refuse() cascade")


def test_a_failure_is_told_and_tried_again(old: Person, broken: None) -> None:
    repair.begin()
    assert repair.run(old.workspace.pk)
    with connection.cursor() as cursor:
        cursor.execute("drop function refuse() cascade")
    assert (the_repair().state, the_repair().attempts) == ("failing", 1)
    assert health_parts.repair().state == State.DEGRADED
    assert the_repair().error == "InternalError"
    assert "1 failing" in health_parts.repair().detail
    assert not repair.run(old.workspace.pk)  # later
    IndexRepair.objects.update(next_attempt_at=timezone.now())
    run_to_its_end(old)
    assert (the_repair().state, health_parts.repair().state) == ("done", State.OK)


def test_passages_that_were_cut_otherwise_are_embedded_anew(old: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry.objects.get(layer=1, item=Memory.objects.get(content=LONG).pk)
    before = {v.part: v.embedding for v in Vector.objects.filter(entry_id=entry.pk)}
    assert before[1] != before[2]
    Vector.objects.filter(entry_id=entry.pk, part=2).update(embedding=before[1])
    monkeypatch.setattr(rebuild, "PASSAGES_SINCE", RULES_VERSION)
    repair.begin()
    run_to_its_end(old)
    after = {v.part: v.embedding for v in Vector.objects.filter(entry_id=entry.pk)}
    assert before == after


def test_only_the_subject_that_is_spoken_of_is_made_anew_first(old: Person) -> None:
    told = old.say("I moved to Cork, I live in Cork now.", user_id="mira")
    assert len(told.updated_ids) == 1
    space = workspace_index.index_of(old.workspace.pk)
    jonas = Memory.objects.get(subject__external_id="jonas")
    assert (jonas.slots, repair.count_stale(space) > 0) == ([], True)


def test_a_workspace_s_repair_leaves_others_alone(old: Person, mallory: Person) -> None:
    mallory.note("The toad lives under the third stone")
    as_of(0)
    repair.begin()
    run_to_its_end(old)
    theirs = workspace_index.index_of(Workspace.objects.get(slug="swamp").pk)
    assert (theirs.rules, repair.count_stale(theirs)) == (0, 1)
