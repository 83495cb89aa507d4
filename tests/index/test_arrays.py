"""Answers of one row that is all arrays, read by numpy without a look at each value."""

import uuid

import pytest

from memories.index.prepared_sql import arrays

pytestmark = pytest.mark.django_db
ID = uuid.UUID("0192f0c1-2d3e-7f40-8a5b-6c7d8e9f0a1b")


def test_numbers_truths_and_texts_come_as_they_were() -> None:
    found = arrays(
        "select array[1, -2]::int8[] as big, array[3]::int2[] as small, array[4]::int4[] as whole,"
        " array[0.5, 'nan']::float8[] as real, array[true, false] as truth,"
        " array['tea', '', 'Zoë'] as text",
        {},
    )
    told = {name: column.tolist() for name, column in found.items() if name != "real"}
    assert told == {
        "big": [1, -2],
        "small": [3],
        "whole": [4],
        "truth": [True, False],
        "text": ["tea", "", "Zoë"],
    }
    assert str(found["real"].tolist()) == "[0.5, nan]"


def test_ids_are_sixteen_bytes_and_times_microseconds_since_2000() -> None:
    found = arrays(
        "select array[%(id)s::uuid] as id, array['2000-01-01 00:00:01.000002Z'::timestamptz] as at",
        {"id": ID},
    )
    assert found["id"][0].tobytes() == ID.bytes
    assert found["at"].tolist() == [1_000_002]


def test_what_holds_nothing_is_left_out() -> None:
    nothing = "select array_agg(n) as nothing, array[1] as one from generate_series(1, 0) n"
    assert list(arrays(nothing, {})) == ["one"]


def test_numbers_can_be_counted_with() -> None:
    found = arrays("select array_agg(n) as n from generate_series(1, 3) n", {})
    assert int((found["n"] * 2).sum()) == 12
