"""How well the days of candidates fit the dates that a query names, 0 to 1."""

import calendar
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from memories.ranking.columns import Array, Columns
from memories.ranking.dates import Anchor

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


def fits(anchors: Sequence[Anchor], columns: Columns) -> Array:
    """The best over the anchors, by candidate: of what has a date of its own, by that; of what
    has none, by when it was told."""
    said, told = (_best(reaches, anchors, columns.at) for reaches in (_SAID, _UNDATED))
    happened = _best(_HAPPENED, anchors, columns.event)
    undated = np.where(columns.is_message, said, told)
    return np.where(np.isnan(columns.event), undated, happened)


def _best(reaches: Sequence[Sequence[_Reach]], anchors: Sequence[Anchor], at: Array) -> Array:
    best = np.zeros(at.size)
    days = np.floor(at * _second)
    for anchor in anchors:
        for first, last in _spans(anchor, days):
            for reach in reaches[_length(anchor)]:
                near = (days >= first - reach.before) & (days <= last + reach.after)
                best = np.maximum(best, reach.worth * near)
    return best


def _length(anchor: Anchor) -> int:
    """As a day, a month or a year; the past months and years are no finer than these."""
    if anchor.day:
        return 0 if anchor.days < _a_month else 1 if anchor.days < _a_year else 2
    return 1 if anchor.month else 2


def _spans(anchor: Anchor, days: Array) -> Iterator[tuple[int, int]]:
    """First and last day, since the epoch; without a year those of each year of the `days`."""
    years = _years(days) if anchor.year is None else [anchor.year]
    for year in years:
        if 1 <= year <= 9999 and 1 <= (anchor.month or 1) <= 12 and anchor.day != 0:
            yield _span(anchor, year)


def _years(days: Array) -> list[int]:
    known = days[~np.isnan(days)].astype("datetime64[D]")
    return [int(year) + 1970 for year in np.unique(known.astype("datetime64[Y]").astype(int))]


def _span(anchor: Anchor, year: int) -> tuple[int, int]:
    if anchor.month is None:
        return _number(year, 1, 1), _number(year, 12, 31)
    longest = calendar.monthrange(year, anchor.month)[1]
    if anchor.day is None:
        return _number(year, anchor.month, 1), _number(year, anchor.month, longest)
    first = _number(year, anchor.month, min(anchor.day, longest))
    return first, first + anchor.days - 1


def _number(year: int, month: int, day: int) -> int:
    return date(year, month, day).toordinal() - _epoch
