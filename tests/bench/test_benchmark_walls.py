"""What the walls between workspaces cost: a small run of the measurement, and what it refuses."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from bench.management.commands.benchmarkwalls import line_of
from bench.speed.walls_cost import WallCost, measure


@pytest.mark.django_db(transaction=True)
def test_each_act_is_done_with_and_without_the_walls() -> None:
    before = connections["default"]
    costs = measure([100], 1, lambda number: None)
    assert connections["default"] is before
    assert [cost.act for cost in costs] == [
        "search, hybrid",
        "search, linea",
        "ingest of 1 message",
    ]
    assert all(cost.clock_before > 0 and cost.clock_after > 0 for cost in costs)


def test_what_is_allowed_depends_on_the_size() -> None:
    small = WallCost("search", 1_000, 5, 2.0, 2.1, 1.0, 1.08)
    large = WallCost("search", 10_000, 5, 2.0, 2.1, 0.0, 0.0)
    assert small.ratio < small.allowed
    assert (large.allowed, round(large.ratio, 2)) == (1.05, 1.05)  # by the clock
    assert "1k" in line_of(small)
    assert "(2.00 to 2.10)" in line_of(small)


@pytest.mark.django_db
@pytest.mark.parametrize("words", [["--sizes", "few"], ["--sizes", "10"], ["--rounds", "0"]])
def test_wishes_that_make_no_sense_are_refused(words: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("benchmarkwalls", *words)
