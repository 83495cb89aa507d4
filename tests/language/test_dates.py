"""Dates in words: what a careful reader takes them to name, phrase by phrase
(tests/data/dates.txt)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from memories.language.english.calendar import Span
from memories.language.english.dates import spans

TABLE = Path(__file__).parents[1] / "data" / "dates.txt"


class Row(NamedTuple):
    at: datetime
    text: str
    days: str
    grain: str


def rows() -> Iterator[Row]:
    at = datetime.min
    for line in TABLE.read_text().splitlines():
        if line.startswith("@"):
            at = datetime.fromisoformat(line.split()[1]).replace(tzinfo=UTC)
        elif line and not line.startswith("#"):
            text, days, grain = (cell.strip() for cell in line.split("|"))
            yield Row(at, text, days, grain)


def written(span: Span) -> tuple[str, str]:
    """As the table writes it."""
    if span.grain in ("part", "hour", "minute"):
        first, last = (f"{when:%Y-%m-%dT%H:%M}" for when in (span.start, span.end))
        if span.grain == "minute":
            last = first
    else:
        first, last = str(span.first_day), str(span.last_day)
    days = first if first == last else f"{first}..{last}"
    return days, f"{span.grain} ~" if span.any_year else span.grain


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: f"{row.at:%m-%d} {row.text}")
def test_a_phrase_names_what_a_careful_reader_takes_it_to_name(row: Row) -> None:
    named = [written(span) for span in spans(row.text, row.at)]
    assert named == ([] if row.days == "-" else [(row.days, row.grain)])
