"""The database itself keeps workspaces apart: what no filter holds back, a policy does."""

import re
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import ProgrammingError

from memories.index import prepared_sql
from memories.models import Entry, Memory, Vector
from memories.models.memory import MemoryQuerySet
from memoryproject.postgres import crossings, database_roles, visible, walls
from memoryproject.postgres.embedded_postgres import APP_ROLE
from tests.api_fixtures import caller, member
from tests.ordinary_role import ordinary_role
from tests.people import Person
from workspaces.models import Workspace


def run(text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text)


def count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"select count(*) from {table}")
        return int(cursor.fetchone()[0])


@pytest.fixture
def both(alice: Person, mallory: Person) -> None:
    alice.tell("Plums are kept in the cellar.", user_id="u")
    mallory.tell("Figs are kept in the attic.", user_id="u")


def test_every_table_stands_behind_a_wall_or_on_the_list_of_those_that_need_none():
    assert walls.unnamed() == []
    assert not walls.OPEN.keys() & {wall.table for wall in walls.walls()}


@pytest.mark.django_db
def test_the_wall_stands():
    assert walls.are_up(connection)
    assert walls.faults(connection) == []
    with ordinary_role():
        assert walls.faults(connection) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("act", "told"),
    [
        ("alter table memories_fact disable row level security", "is off on memories_fact"),
        ("alter table memories_fact no force row level security", "is not forced"),
        ("drop policy workspace on memories_fact", "workspace is missing on memories_fact"),
        ("alter policy workspace on memories_fact using (true)", "on memories_fact was changed"),
        ("create policy mine on memories_fact using (true)", "mine on memories_fact is not ours"),
        ("alter policy crossing on memories_fact to public", "crossing on memories_fact was"),
    ],
)
def test_what_was_changed_by_hand_is_told_and_mended(act: str, told: str):
    run(act)
    faults = walls.faults(connection)
    assert len(faults) == 1
    assert told in faults[0]
    assert any(told in warning.msg for warning in connection.validation.check())
    walls.make(connection, APP_ROLE)
    assert walls.faults(connection) == []


@pytest.mark.django_db
def test_what_another_version_made_is_renewed_without_an_alarm():
    run("create policy old on memories_fact using (workspace_id is not null)")
    run("drop policy workspace on memories_fact")
    run("alter policy old on memories_fact rename to workspace")
    with connection.cursor() as cursor:
        cursor.execute(walls.POLICIES, ["memories_fact"])
        digest = next(row[1] for row in cursor.fetchall() if row[0] == walls.POLICY)
    run(f"comment on policy workspace on memories_fact is 'older {digest}'")
    run("alter table memories_webhookdelivery rename to not_there_yet")
    assert walls.faults(connection) == []
    run("alter table not_there_yet rename to memories_webhookdelivery")
    walls.make(connection, APP_ROLE)
    with connection.cursor() as cursor:
        cursor.execute(walls.POLICIES, ["memories_fact"])
        assert {row[0]: row[1] for row in cursor.fetchall()}[walls.POLICY] != digest


@pytest.mark.django_db
def test_where_nothing_was_said_nothing_is_there(both: None):
    with ordinary_role():
        seen = {wall.table: count(walls.name_of(wall.table)) for wall in walls.walls()}
    del seen["memories_figure"]  # counts of no workspace are the server's
    assert set(seen.values()) == {0}


@pytest.mark.django_db
@pytest.mark.parametrize("table", walls.BY_VIEW)
def test_the_tables_of_the_index_are_reached_through_their_views_alone(table: str):
    database_roles.prepare(connection)  # each start grants again
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with ordinary_role(), refused, transaction.atomic():
        run(f"select * from public.{table}")


@pytest.mark.django_db
def test_without_its_filter_a_query_finds_what_is_ones_own(alice: Person, mallory: Person, both: None):
    with ordinary_role(), visible.only(alice.workspace.pk):
        assert Memory.objects.get().content == "Plums are kept in the cellar."
        assert Entry.objects.count() == Entry.objects.filter(workspace=_number()).count() > 0
        assert Vector.objects.count() > 0
        numbers = set(Vector.objects.values_list("workspace", flat=True))
        assert numbers == {_number()}
        assert Workspace.objects.get() == alice.workspace
    with ordinary_role(), visible.only(alice.workspace.pk, mallory.workspace.pk):
        assert Memory.objects.count() == 2


def _number() -> int:
    return int(prepared_sql.rows("select number from memories_workspaceindex", {})[0].number)


@pytest.mark.django_db
def test_without_its_filter_a_route_shows_what_is_ones_own(
    alice: Person, mallory: Person, both: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(MemoryQuerySet, "visible_to", lambda rows, scope: rows)
    foreign = Memory.objects.get(workspace=mallory.workspace)
    assert caller(alice).get("/memories").contents() == ["Plums are kept in the cellar."]
    assert caller(alice).get(f"/memories/{foreign.pk}").status == 404
    assert caller(alice).delete(f"/memories/{foreign.pk}").status == 404
    people = member(alice.workspace, "viewer")
    assert people.get("/memories").contents() == ["Plums are kept in the cellar."]


@pytest.mark.django_db
def test_without_its_filter_a_search_finds_what_is_ones_own(
    alice: Person, mallory: Person, both: None, monkeypatch: pytest.MonkeyPatch
):
    ask = prepared_sql.arrays_of_each
    texts = []

    def unfiltered(asked: Sequence[tuple[str, dict[str, Any]]]) -> Any:
        bare = [
            (re.sub(r"(\w+\.)?workspace = %\(workspace\)s", r"(\g<0> or true)", text), values) for text, values in asked
        ]
        texts.extend(new != old for (new, _), (old, _) in zip(bare, asked, strict=True))
        return ask(bare)

    monkeypatch.setattr(prepared_sql, "arrays_of_each", unfiltered)
    hits = caller(alice).post("/memories/search", {"query": "what is kept in the attic?"}).body
    assert any(texts)
    assert {hit["memory"]["content"] for hit in hits["results"]} == {"Plums are kept in the cellar."}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "act",
    [
        lambda mine, other: Memory.objects.filter(pk=mine.pk).update(workspace=other),
        lambda mine, other: Memory.objects.create(workspace=other, content="x", category="other"),
        lambda mine, other: Entry.objects.update(workspace=0),
    ],
    ids=["moved", "written", "entry moved"],
)
def test_nothing_is_written_into_another_workspace(
    alice: Person, mallory: Person, both: None, act: Callable[[Memory, Workspace], object]
):
    mine = Memory.objects.get(workspace=alice.workspace)
    refusal = "row-level security|check option"
    with (
        ordinary_role(),
        visible.only(alice.workspace.pk),
        pytest.raises(ProgrammingError, match=refusal),
        transaction.atomic(),
    ):
        act(mine, mallory.workspace)


@pytest.mark.django_db(transaction=True)
def test_what_is_visible_changes_with_its_block_in_and_outside_of_transactions(
    alice: Person, mallory: Person, both: None
):
    one, other = alice.workspace.pk, mallory.workspace.pk
    with ordinary_role():
        for in_one in (False, True):
            seen = []
            if in_one:
                transaction.set_autocommit(False)
            for ids in ((one,), (), (one, other), (other,)):
                with visible.only(*ids):
                    by_libpq = prepared_sql.rows("select count(*) as n from memories_memory", {})
                    seen += [Memory.objects.count(), by_libpq[0].n]
            if in_one:
                connection.rollback()
                transaction.set_autocommit(True)
            assert seen == [1, 1, 0, 0, 2, 2, 1, 1]
        assert Memory.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_what_is_read_piece_by_piece_is_visible_in_and_outside_of_transactions(
    alice: Person, mallory: Person, both: None
):
    with ordinary_role():
        for in_one in (False, True):
            if in_one:
                transaction.set_autocommit(False)
            with visible.only(alice.workspace.pk):
                read = list(Memory.objects.iterator(chunk_size=1))
            if in_one:
                connection.rollback()
                transaction.set_autocommit(True)
            assert [memory.content for memory in read] == ["Plums are kept in the cellar."]


@pytest.mark.django_db(transaction=True)
def test_a_savepoint_that_is_rolled_back_takes_nothing_away_from_sight(alice: Person, mallory: Person, both: None):
    with ordinary_role(), visible.only(alice.workspace.pk), transaction.atomic():
        assert Memory.objects.count() == 1
        point = transaction.savepoint()
        with visible.only(mallory.workspace.pk):
            assert Memory.objects.count() == 1
            transaction.savepoint_rollback(point)
            assert Memory.objects.get().content == "Figs are kept in the attic."
        assert Memory.objects.get().content == "Plums are kept in the cellar."


@pytest.mark.django_db(transaction=True)
def test_an_error_in_a_statement_that_is_alone_is_told_and_the_next_one_runs(alice: Person):
    with ordinary_role(), visible.only(alice.workspace.pk):
        with pytest.raises(ProgrammingError, match="no_such_table"):
            prepared_sql.rows("select 1 from no_such_table", {})
        with pytest.raises(Exception, match="division by zero"):
            prepared_sql.rows("select 1 / %(n)s::int as n", {"n": 0})
        assert prepared_sql.rows("select 1 / %(n)s::int as n", {"n": 1})[0].n == 1


@pytest.mark.django_db
def test_another_thread_begins_with_nothing_in_sight(alice: Person):
    seen: list[str] = []
    with visible.only(alice.workspace.pk):
        thread = threading.Thread(target=lambda: seen.append(visible.setting()))
        thread.start()
        thread.join()
    assert seen == [""]


@pytest.mark.django_db
def test_the_crossings_belong_to_a_role_that_nobody_logs_in_as():
    with connection.cursor() as cursor:
        cursor.execute(
            "select p.proname, p.prosecdef, r.rolname, r.rolcanlogin, r.rolsuper or r.rolbypassrls,"
            " array_to_string(p.proconfig, ' '), has_function_privilege('public', p.oid, 'execute')"
            " from pg_proc p join pg_roles r on r.oid = p.proowner where p.proname like 'cross\\_%'"
        )
        rows = cursor.fetchall()
    assert {row[0] for row in rows} == {each.name for each in crossings.CROSSINGS}
    for _, definer, owner, may_login, is_mighty, config, is_public in rows:
        assert (definer, owner) == (True, walls.CROSSING_ROLE)
        assert (may_login, is_mighty, is_public) == (False, False, False)
        assert config == "search_path=public, pg_temp"


@pytest.mark.django_db
def test_the_owner_builds_indexes_whatever_is_visible():
    with visible.only(uuid.uuid4()), database_roles.owner_connection() as owner:
        owner.execute("vacuum workspaces_loginpause")  # refused in a transaction, as such builds


@pytest.mark.django_db
def test_a_crossing_tells_where_something_belongs_and_no_more(alice: Person, mallory: Person):
    prefix = alice.key.split("_")[1]
    with ordinary_role():
        assert crossings.workspace_of_key(prefix) == alice.workspace.pk
        assert crossings.workspace_of_key("nobody") is None
        with crossings.everywhere():
            rows = Workspace.objects.filter(pk__in=[alice.workspace.pk, mallory.workspace.pk])
            assert rows.count() == 2
            assert len(visible.setting()) == 1  # whatever their number
        session = alice.workspace.pk  # no session's id
        with crossings.of_row("memories_memorysession", session):
            assert visible.ids() == []


@pytest.mark.django_db
def test_memories_of_a_slot_are_found_in_the_visible_workspace_alone(alice: Person, mallory: Person) -> None:
    with ordinary_role(), visible.only(alice.workspace.pk):
        alice.tell("I live in Lisbon.", user_id="ada")
        alice.tell("I live in Porto now.", user_id="ada")  # it replaces what has the same slot
        assert len(alice.live()) == 1
        memory = Memory.objects.get(is_head=True)
    assert memory.slots
    ask = "select cross_memories_of_slots(%s, %s::bigint[])"

    def found() -> list[uuid.UUID]:
        with connection.cursor() as cursor:
            cursor.execute(ask, [alice.workspace.pk, memory.slots])
            return list(cursor.fetchone()[0])

    with ordinary_role():
        assert found() == []
        with visible.only(mallory.workspace.pk):
            assert found() == []
        with visible.only(alice.workspace.pk):
            assert found() == [memory.pk]
        with crossings.everywhere():
            assert found() == [memory.pk]
