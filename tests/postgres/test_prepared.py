"""Prepared statements by libpq: several in one round trip, alone or in a transaction."""

import json
import uuid

import pytest
from django.db import (
    DataError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)

from memories.index import prepared_sql
from memoryproject.postgres import prepared
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)
NUMBERED = "select %(n)s::int8 as n, '5 %%' as said"


def test_rows_are_the_same_in_a_transaction_and_outside():
    outside = prepared_sql.rows(NUMBERED, {"n": 3})
    with transaction.atomic():
        inside = prepared_sql.rows(NUMBERED, {"n": 3})
    assert outside == inside == [(3, "5 %")]
    assert outside[0]._fields == inside[0]._fields


def test_several_are_asked_in_one_round_trip_and_each_has_its_rows():
    asked = [(NUMBERED, {"n": 1}), ("select 'word' as x", {}), (NUMBERED, {"n": 2})]
    outside = prepared_sql.rows_of_each(asked)
    with transaction.atomic():
        inside = prepared_sql.rows_of_each(asked)
    assert outside == inside == [[(1, "5 %")], [("word",)], [(2, "5 %")]]
    assert prepared_sql.rows_of_each([]) == []


def test_columns_of_several_statements_are_the_same_in_a_transaction_and_outside():
    text = "select array_agg(x) as n, array_agg('w' || x) as said from unnest(%(x)s::int8[]) x"
    asked = [(text, {"x": [3, 1]}), (text, {"x": []})]
    outside = prepared_sql.arrays_of_each(asked)
    with transaction.atomic():
        inside = prepared_sql.arrays_of_each(asked)
    for found in (outside, inside):
        shown = [{name: column.tolist() for name, column in one.items()} for one in found]
        assert shown == [{"n": [3, 1], "said": ["w3", "w1"]}, {}]
    assert prepared_sql.arrays_of_each([]) == []


def test_where_one_of_several_is_wrong_none_is_answered_and_the_connection_goes_on():
    wrong = ("select 1 / %(n)s::int as n", {"n": 0})
    for asked in ([(NUMBERED, {"n": 1}), wrong], [wrong, (NUMBERED, {"n": 1})]):
        with pytest.raises(DataError, match="zero"):
            prepared_sql.rows_of_each(asked)
        assert prepared_sql.rows(NUMBERED, {"n": 2}) == [(2, "5 %")]


def test_a_value_that_is_named_twice_is_sent_once():
    values = {"a": "word", "b": None, "not asked": object()}
    found = prepared_sql.rows("select %(a)s::text as x, %(b)s::int as y, %(a)s::text as z", values)
    assert found == [("word", None, "word")]


@pytest.mark.parametrize("text", ['{"a": [1, -0.5, null]}', "12345678901234567890123", "1.5e-320"])
def test_json_is_read_as_python_reads_it(text: str) -> None:
    (row,) = prepared_sql.rows("select %(v)s::text::jsonb as x", {"v": text})
    assert row.x == json.loads(text)


def test_json_of_numbers_beyond_all_floats_is_read():
    (row,) = prepared_sql.rows("select (%(v)s || '.5')::jsonb as x", {"v": "9" * 400})
    assert row.x == float("inf")


def test_statements_that_the_server_forgot_are_prepared_again():
    prepared_sql.rows(NUMBERED, {"n": 1})
    prepared_sql.hot_connection().execute("deallocate all")
    assert prepared_sql.rows(NUMBERED, {"n": 2}) == [(2, "5 %")]


def test_a_rollback_takes_no_statement_away():
    prepared_sql.rows(NUMBERED, {"n": 1})
    with transaction.atomic():
        prepared_sql.rows(NUMBERED, {"n": 1})
        transaction.set_rollback(True)
    assert prepared_sql.rows(NUMBERED, {"n": 2}) == [(2, "5 %")]


def test_the_least_recently_used_statement_goes_first():
    prepared_sql.rows(NUMBERED, {"n": 1})
    for number in range(prepared.MOST):
        prepared_sql.rows(f"select {number} as n", {})
        prepared_sql.rows(NUMBERED, {"n": number})
    assert names_of_the_server("select 0 as n") == 0
    assert names_of_the_server("select 1 as n") == 1
    assert names_of_the_server(NUMBERED.replace("%(n)s", "$1").replace("%%", "%")) == 1


def names_of_the_server(text):
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from pg_prepared_statements where statement = %s", [text])
        return cursor.fetchone()[0]


def test_a_statement_that_is_wrong_is_an_error_of_django():
    with pytest.raises(ProgrammingError, match="nowhere"):
        prepared_sql.rows("select 1 from nowhere", {})
    with pytest.raises(DataError, match="zero"):
        prepared_sql.rows("select 1 / %(n)s::int as n", {"n": 0})
    assert prepared_sql.rows(NUMBERED, {"n": 1})


def test_a_connection_that_was_ended_is_an_error_and_the_next_one_works():
    with pytest.raises(OperationalError):
        prepared_sql.rows("select pg_terminate_backend(pg_backend_pid()) as x, pg_sleep(5)", {})
    connection.close_if_unusable_or_obsolete()
    assert prepared_sql.rows(NUMBERED, {"n": 1})


COUNTED = "select count(*)::int as n from workspaces_workspace where slug like %(slug)s || '%%'"


def slugs_of(slug):
    rows = Workspace.objects.filter(slug__startswith=slug)
    return list(rows.order_by("slug").values_list("slug", flat=True))


def test_each_of_several_in_a_transaction_sees_what_the_ones_before_it_did():
    asked = (COUNTED, {"slug": "sent"})
    with transaction.atomic():
        made = prepared_sql.inserts([Workspace(slug="sent", name="Sent")])
        before, _, after = prepared_sql.rows_of_each([asked, *made, asked])
        assert (before[0].n, after[0].n) == (0, 1)
        assert Workspace.objects.get(slug="sent").name == "Sent"
    assert slugs_of("sent") == ["sent"]


def test_more_rows_than_one_statement_takes_are_written_in_one_round_trip():
    number = 2 * prepared_sql.MOST_AT_ONCE + 3
    with transaction.atomic():
        prepared_sql.insert([Workspace(slug=f"many-{n:03}", name="Many") for n in range(number)])
    assert slugs_of("many-") == [f"many-{n:03}" for n in range(number)]


@transaction.atomic
def insert_twice(slug):
    prepared_sql.insert([Workspace(slug=f"{slug}-2", name="Behind")], then=[(COUNTED, {"slug": slug})])
    prepared_sql.insert([Workspace(slug=slug, name="Twice")])


def test_a_violated_constraint_is_the_error_of_the_call_that_wrote_it():
    with transaction.atomic():
        prepared_sql.insert([Workspace(slug="kept", name="Before")])
        with pytest.raises(IntegrityError):
            insert_twice("kept")
        assert prepared_sql.rows(COUNTED, {"slug": "kept"}) == [(1,)]
    assert slugs_of("kept") == ["kept"]


def test_behind_one_of_several_that_fails_nothing_is_done():
    def written(*slugs):
        return prepared_sql.inserts(*([Workspace(slug=slug, name="Odd")] for slug in slugs))

    asked = [*written("odd-1"), ("select 1 / %(n)s::int as n", {"n": 0}), *written("odd-2")]
    for run in (prepared_sql.rows_of_each, transaction.atomic(prepared_sql.rows_of_each)):
        with pytest.raises(DataError, match="zero"):
            run(asked)
        assert slugs_of("odd") == []
    with transaction.atomic():
        assert prepared_sql.rows(NUMBERED, {"n": 2}) == [(2, "5 %")]


def test_a_value_that_cannot_be_sent_leaves_a_connection_that_goes_on():
    asked = [(NUMBERED, {"n": 1}), (NUMBERED, {"n": 2}), (NUMBERED, {"n": object()})]
    for run in (prepared_sql.rows_of_each, transaction.atomic(prepared_sql.rows_of_each)):
        with pytest.raises(ProgrammingError):
            run(asked)
        assert prepared_sql.rows(NUMBERED, {"n": 2}) == [(2, "5 %")]


def test_statements_that_psycopg_let_the_server_forget_are_prepared_again_in_a_transaction():
    for undo in (False, True):
        with transaction.atomic():
            assert prepared_sql.rows(NUMBERED, {"n": 1}) == [(1, "5 %")]
            with prepared_sql.cursor_of() as cursor:
                cursor.execute("select 1", prepare=True)
                cursor.execute("create temp table odd (n int)")
                cursor.execute("drop table odd")
            assert prepared_sql.rows(NUMBERED, {"n": 2}) == [(2, "5 %")]
            transaction.set_rollback(undo)
    with transaction.atomic():
        assert prepared_sql.rows(NUMBERED, {"n": 3}) == [(3, "5 %")]


def test_a_transaction_that_must_be_rolled_back_is_asked_nothing():
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(transaction.TransactionManagementError):
            prepared_sql.rows(NUMBERED, {"n": 1})


@pytest.mark.parametrize("numbers", [[], [0], [-(2**63), 7, 2**63 - 1]])
def test_numbers_are_sent_as_one_value(numbers: list[int]) -> None:
    (row,) = prepared_sql.rows("select %(v)s::int8[] as x", {"v": prepared_sql.Int8s(numbers)})
    assert row.x == numbers


@pytest.mark.parametrize("number", [0, 1, 3])
def test_ids_are_sent_as_one_value(number: int) -> None:
    ids = [uuid.uuid4() for _ in range(number)]
    (row,) = prepared_sql.rows("select %(v)s::uuid[] as x", {"v": prepared_sql.Uuids(ids)})
    assert row.x == ids


def test_json_is_read_as_it_was_written() -> None:
    text = '{"a": [1, "Zo\\u00eb", null], "large": 1e999}'
    (row,) = prepared_sql.rows("select %(v)s::text::jsonb as x, '{}'::jsonb as y", {"v": text})
    assert (row.x, row.y) == ({"a": [1, "Zoë", None], "large": 10**999}, {})
