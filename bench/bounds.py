"""Measures of a trial beside what was to hold, as a table and as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Bound:
    """`most` is the greatest value that holds; `note` says what was seen, for people."""

    name: str
    value: float
    most: float
    unit: str = ""
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.value <= self.most


def lines(bounds: Sequence[Bound]) -> Iterator[str]:
    rows = [
        (
            "" if bound.holds else "MISSED",
            bound.name,
            f"{bound.value:.4g}{bound.unit}",
            f"at most {bound.most:.4g}{bound.unit}",
            bound.note,
        )
        for bound in bounds
    ]
    yield from table(("", "what", "measured", "bound", ""), rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    for row in [head, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


def as_json(bounds: Sequence[Bound], **more: Any) -> dict[str, Any]:
    return {
        "holds": all(bound.holds for bound in bounds),
        "bounds": [{**asdict(bound), "holds": bound.holds} for bound in bounds],
        **more,
    }


def write(file: Path | None, report: dict[str, Any]) -> None:
    if file is not None:
        file.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie; 0 where there is none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
