"""How well the days of candidates fit the dates that a query names, 0 to 1."""

import contextlib
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from memories.english.time_spans import Span
from memories.ranking.columns import Array, Columns

_epoch = date(1970, 1, 1).toordinal()
_second = 1 / 86_400
_a_month, _a_year = 28, 365  # days


class _Reach(NamedTuple):
    """What a day is worth that lies so many days before or after what the query names."""

    before: int
    after: int
    worth: float


_inside = _Reach(0, 0, 1.0)
# People speak of a day in the days after it. By the length of what is named: days, months, years.
_SAID = (
    (_inside, _Reach(3, 14, 0.7), _Reach(20, 31, 0.3)),
    (_inside, _Reach(0, 25, 0.6)),
    (_Reach(0, 0, 0.3),),
)
# What has a date of its own is of that date; told to the month, it begins on the first.
_HAPPENED = (
    (_inside, _Reach(1, 1, 0.5), _Reach(14, 14, 0.15)),
    (_inside,),
    (_Reach(0, 0, 0.6),),
)
# What is no talk and has no date may be of the day when it was told, or of none.
_UNDATED = ((_Reach(0, 0, 0.7),), (_Reach(0, 0, 0.7),), (_Reach(0, 0, 0.2),))


def fits(dates: Sequence[Span], columns: Columns) -> Array:
    """The best over the dates, by candidate: of what has a date of its own, by that; of what
    has none, by when it was told."""
    said, told = (_best(reaches, dates, columns.at) for reaches in (_SAID, _UNDATED))
    happened = _best(_HAPPENED, dates, columns.event)
    undated = np.where(columns.is_message, said, told)
    return np.where(np.isnan(columns.event), undated, happened)


def _best(reaches: Sequence[Sequence[_Reach]], dates: Sequence[Span], at: Array) -> Array:
    best = np.zeros(at.size)
    days = np.floor(at * _second)
    for span in dates:
        length = (span.last_day - span.first_day).days + 1
        reach_of = reaches[0 if length < _a_month else 1 if length < _a_year else 2]
        for first, last in _days(span, days):
            for reach in reach_of:
                near = (days >= first - reach.before) & (days <= last + reach.after)
                best = np.maximum(best, reach.worth * near)
    return best


def _days(span: Span, days: Array) -> Iterator[tuple[int, int]]:
    """First and last day, since the epoch; where no year is named those of each year of the `days`.
    Of a night the day on which it begins."""
    years = [span.first_day.year]
    if span.any_year:
        known = days[~np.isnan(days)].astype("datetime64[D]")
        years = [int(year) + 1970 for year in np.unique(known.astype("datetime64[Y]").astype(int))]
    length = 0 if span.grain == "part" else (span.last_day - span.first_day).days
    for year in years:
        with contextlib.suppress(ValueError):  # the calendar has no such day in that year
            first = span.first_day.replace(year=year).toordinal() - _epoch
            yield first, first + length
