"""What changed, as events: written with the change, read without a gap and without a double, and
told to whoever may see the row."""

import threading
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from memories.events import read_events
from memories.events.read_events import EventCursor, cursor_of
from memories.events.shown_events import as_data, visible_items
from memories.models import ChangeEvent
from memoryproject.postgres import visible
from tests.handed_in import hand_in
from tests.people import Person


def kinds(person: Person) -> list[str]:
    rows = ChangeEvent.objects.filter(workspace=person.workspace)
    return list(rows.values_list("kind", flat=True))


def note(person: Person, state: str = "done") -> None:
    """An event as a trigger would write it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into memories_changeevent (workspace_id, xid, kind, item, state, created_at)"
            " values (%s, pg_current_xact_id()::text::bigint, 'session.done',"
            "         gen_random_uuid(), %s, now())",
            [person.workspace.pk, state],
        )


def states_after(person: Person, cursor: EventCursor, **options: Any) -> tuple[list[str], EventCursor]:
    batch = read_events.read([person.workspace.pk], cursor, **options)
    return [event.state for event, _ in batch.events], batch.cursor


def test_a_document_tells_every_step(alice: Person):
    document = hand_in(alice)
    rows = ChangeEvent.objects.filter(item=document.pk)
    assert list(rows.values_list("state", flat=True)) == [
        "queued",
        "extracting",
        "chunking",
        "indexing",
        "embedding",
        "done",
    ]
    last = rows.order_by("id").last()
    assert last is not None
    assert as_data(last) == {
        "type": "document.done",
        "documentId": str(document.pk),
        "state": "done",
        "step": "done",
        "status": "completed",
        "at": last.created_at.isoformat(),
    }


def test_a_failed_document_and_an_ingest_tell_how_they_ended(alice: Person):
    hand_in(alice, b"\x00\x01\x02", filename="x.bin")
    session = alice.tell("Plums are kept in the cellar.")
    assert "document.failed" in kinds(alice)
    event = ChangeEvent.objects.get(kind="session.done")
    assert (event.item, event.state) == (session.pk, "done")


def test_a_change_that_is_rolled_back_is_no_event(alice: Person):
    with transaction.atomic():
        note(alice)
        transaction.set_rollback(True)
    assert kinds(alice) == []


@pytest.mark.django_db(transaction=True)
def test_what_commits_late_is_neither_left_out_nor_told_twice(alice: Person):
    start = read_events.newest()
    written, may_commit = threading.Event(), threading.Event()

    def slowly() -> None:
        with transaction.atomic():
            note(alice, "late")
            written.set()
            may_commit.wait(60)
        connections.close_all()

    writer = threading.Thread(target=slowly)
    writer.start()
    assert written.wait(60)
    note(alice, "early")
    batch = read_events.read([alice.workspace.pk], start)
    assert [event.state for event, _ in batch.events] == ["early"]
    may_commit.set()
    writer.join(60)
    assert states_after(alice, batch.cursor)[0] == ["late"]
    again = read_events.read([alice.workspace.pk], start)
    assert {event.state for event, _ in again.events} == {"early", "late"}
    seen = {e.state: read_events.was_seen(e, batch.cursor) for e, _ in again.events}
    assert seen == {"early": True, "late": False}


@pytest.mark.django_db(transaction=True)
def test_a_long_list_is_read_in_parts_from_where_the_last_one_ended(alice: Person):
    start = read_events.newest()
    for number in range(5):
        note(alice, str(number))
    first, cursor = states_after(alice, start, most=2)
    assert cursor.last
    second, cursor = states_after(alice, cursor_of(str(cursor)) or start, most=2)
    third, cursor = states_after(alice, cursor, most=2)
    assert [first, second, third] == [["0", "1"], ["2", "3"], ["4"]]
    assert states_after(alice, cursor)[0] == []
    whole = read_events.read([alice.workspace.pk], start)
    assert [read_events.was_seen(event, whole.events[1][1]) for event, _ in whole.events] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert not whole.cursor.last


@pytest.mark.parametrize("text", ["", "7", "1:2:3;", "3:2:", "0:0:", "1:9:5,4", "1:9:4,,5", "1:9:;x;3", "1:2:" * 2000])
def test_what_is_no_cursor_is_refused(text: str):
    assert cursor_of(text) is None


def test_a_cursor_is_read_back():
    for cursor in (EventCursor("5:9:6,7"), EventCursor("5:9:", "6:12:8", 41)):
        assert cursor_of(str(cursor)) == cursor


def test_only_who_may_see_the_row_hears_of_it(alice: Person, bob: Person, carol: Person, mallory: Person):
    hand_in(bob, visibility="private")
    hand_in(bob, "A letter about pears.", visibility="team")
    bob.tell("Plums are kept in the cellar.")
    events = list(ChangeEvent.objects.filter(workspace=alice.workspace))
    with visible.only(alice.workspace.pk, mallory.workspace.pk):
        seen = {person: len(visible_items(person.scope, events)) for person in (alice, bob, carol, mallory)}
    assert seen == {alice: 3, bob: 3, carol: 0, mallory: 0}


def test_events_of_a_day_ago_and_of_another_server_go(alice: Person):
    note(alice, "old")
    note(alice, "copied")
    note(alice, "new")
    ChangeEvent.objects.filter(state="old").update(created_at=timezone.now() - read_events.KEPT * 2)
    ChangeEvent.objects.filter(state="copied").update(xid=2**60)
    ChangeEvent.objects.filter(state="new").update(xid=3)
    assert read_events.prune() == 2
    assert list(ChangeEvent.objects.values_list("state", flat=True)) == ["new"]
