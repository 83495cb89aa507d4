"""The benchmark of taking in: a small run of it, and what it tells."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from bench.speed import folding
from bench.speed.folding import Outcome, Run, Wish


@pytest.mark.django_db(transaction=True)
def test_a_small_run_takes_all_in_once_though_one_is_killed() -> None:
    found = folding.measure(Wish(90, 6, 2, 1, lease=3.0), lambda number: None)
    assert found.is_exact
    assert [run.marks for run in found.runs] == [90, 90, 90]
    assert len({run.features for run in found.runs}) == 1


def test_what_is_lost_or_differs_is_told() -> None:
    alone, short = Run(1, 0, 2.0, 10, 10, 3), Run(2, 1, 1.0, 10, 9, 3)
    assert not Outcome((alone, short), True).is_exact
    assert not Outcome((alone, alone), False).is_exact
    assert "NOT once each" in list(folding.lines(Outcome((alone, short), True)))[-1]


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", [{"kill": 4}, {"sets": 0}, {"lease": 0}, {"episodes": 3}])
def test_wishes_that_make_no_sense_are_refused(wrong: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        call_command("benchmarkfolding", **wrong)
