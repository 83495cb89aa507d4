"""Prepared statements outside of transactions, in one call of libpq."""

import json

import pytest
from django.db import DataError, OperationalError, ProgrammingError, connection, transaction

from memories.index import prepared_sql
from memoryproject.postgres import prepared

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
