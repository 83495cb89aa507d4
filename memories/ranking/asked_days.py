"""From when until when a query's dates reach: what is told of then is looked up by it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from memories.english.calendar import Span

AHEAD, BACK = 1, 8  # years around this one in which a day without a year is looked for
MOST = 24  # stretches


def asked_days(dates: Sequence[Span], now: datetime) -> list[tuple[datetime, datetime]]:
    """Each from a midnight up to, not including, another one; of a day without a year first that
    of the year that is meant, then those around `now`."""
    found = dict.fromkeys(one for span in dates for one in _stretches(span, now))
    return [(_midnight(first), _midnight(until)) for first, until in islice(found, MOST)]


def _stretches(span: Span, now: datetime) -> Iterator[tuple[date, date]]:
    first = span.first_day
    last = first if span.grain == "part" else span.last_day  # a night's day is its first
    around = range(now.year + AHEAD, now.year - BACK, -1) if span.any_year else ()
    for year in dict.fromkeys((first.year, *around)):
        try:
            begin = first.replace(year=year)
            until = begin + (last - first) + timedelta(days=1)
        except (ValueError, OverflowError):  # the calendar has no such day in that year
            continue
        yield begin, until


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
