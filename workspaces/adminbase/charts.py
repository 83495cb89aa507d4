"""Charts drawn on the server: values in, the geometry of an SVG out. Pure.

The drawing is 0 to WIDE by 0 to HIGH and is stretched to its box; all words are HTML around it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

WIDE, HIGH = 1000.0, 200.0
GAP = 0.25  # of a column's width
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_LINES = 8
MOST_MARKED = 30  # steps; with more, only values without neighbours are marked

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One value over time; None where nothing is known. `number` picks the colour."""

    name: str
    values: Values
    number: int = 1

    @property
    def last(self) -> float | None:
        return next((value for value in reversed(self.values) if value is not None), None)


@dataclass(frozen=True, slots=True)
class Bar:
    """A piece of a column; `x` and `y` are its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    number: int


@dataclass(frozen=True, slots=True)
class Column:
    """One step, as the mouse and screen readers find it."""

    x: float
    width: float
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the legend: its colour, and the last value or the sum."""

    name: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing for a template; `empty` says why there is none."""

    title: str
    note: str = ""
    url: str = ""
    empty: str = ""
    top: str = ""
    half: str = ""
    first: str = ""
    last: str = ""
    keys: Sequence[Key] = ()
    paths: Sequence[tuple[int, str]] = ()
    marks: Sequence[tuple[int, str]] = ()
    bars: Sequence[Bar] = ()
    columns: Sequence[Column] = ()

    @property
    def summary(self) -> str:
        """The drawing in words."""
        last = ", ".join(f"{key.name} {key.text}" for key in self.keys)
        return f"{self.title}, {' to '.join(self.ends)}: {last}"

    @property
    def ends(self) -> list[str]:
        """The labels below the first and the last step, or below the only one."""
        return [self.first] if len(self.columns) == 1 else [self.first, self.last]


@dataclass(frozen=True, slots=True)
class Frame:
    """The title, notes and links of a chart; `steps` are the names of its columns, in order."""

    title: str
    steps: Sequence[str]
    unit: str = ""
    note: str = ""
    url: str = ""
    urls: Sequence[str] = ()
    empty: str = "Nothing yet"


def line_chart(frame: Frame, lines: Sequence[ChartLine]) -> Chart:
    """Draw lines over steps, with gaps where values are missing. The legend has the last values."""
    lines = [line for line in lines if line.last is not None][:MOST_LINES]
    if not lines:
        return Chart(frame.title, frame.note, frame.url, frame.empty)
    top = nice(max(value for line in lines for value in line.values if value is not None))
    keys = [Key(line.name, line.number, number_text(line.last or 0.0, frame.unit)) for line in lines]
    paths, marks = [], []
    for line in lines[::-1]:  # the first on top
        width = WIDE / len(line.values)
        points = [
            "" if value is None else f"{round((at + 0.5) * width, 1)} {round(HIGH - max(value, 0.0) / top * HIGH, 1)}"
            for at, value in enumerate(line.values)
        ]
        around = list(zip(["", *points], points, [*points[1:], ""], strict=False))
        path = (f"{'L' if before else 'M'}{point}" for before, point, _ in around if point)
        paths.append((line.number, "".join(path)))
        # Dots, as lines without length, at the values to be seen one by one.
        are_few = len(points) <= MOST_MARKED
        dots = (f"M{here}h0.1" for b, here, a in around if here and (are_few or not (b or a)))
        marks.append((line.number, "".join(dots)))
    return replace(_chart(frame, lines, top, keys), paths=paths, marks=marks)


def bar_chart(frame: Frame, lines: Sequence[ChartLine]) -> Chart:
    """Draw columns over steps, the lines stacked in their order. The legend has the sums."""
    sums = [sum(value or 0.0 for value in line.values) for line in lines]
    if not any(sums):
        return Chart(frame.title, frame.note, frame.url, frame.empty)
    heights = [sum(values) for values in zip(*_filled(lines), strict=True)]
    top = nice(max(heights))
    keys = [
        Key(line.name, line.number, number_text(total, frame.unit)) for line, total in zip(lines, sums, strict=True)
    ]
    width = WIDE / len(lines[0].values)
    feet = [0.0] * len(lines[0].values)
    bars = []
    for line, values in zip(lines, _filled(lines), strict=True):
        for place, value in enumerate(values):
            if value:
                feet[place] += value
                x, y = (place + GAP / 2) * width, HIGH - feet[place] / top * HIGH
                wide, high = width * (1 - GAP), value / top * HIGH
                bars.append(Bar(round(x, 2), round(y, 2), round(wide, 2), round(high, 2), line.number))
    return replace(_chart(frame, lines, top, keys), bars=bars)


def nice(value: float) -> float:
    """Return the smallest round number that is not below `value`."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in NICE if power * step >= value * (1 - 1e-9))


def moments(times: Sequence[datetime]) -> list[str]:
    """Return times as names of steps: with the day; with the year where there are several years;
    with seconds where two share a minute."""
    day = "%d %b %Y" if len({at.year for at in times}) > 1 else "%d %b"
    shown = [f"{at:{day} %H:%M}" for at in times]
    is_clear = len(set(shown)) == len(shown)
    return shown if is_clear else [f"{at:{day} %H:%M:%S}" for at in times]


def number_text(value: float, unit: str = "") -> str:
    """A value in words: `1,234`, `12.5 ms`, `0.83`."""
    if value == int(value) or abs(value) >= 1000:
        number = f"{value:,.0f}"
    else:
        number = f"{value:.3g}"
    return f"{number} {unit}".rstrip() if unit != "%" else f"{number}%"


def _chart(frame: Frame, lines: Sequence[ChartLine], top: float, keys: Sequence[Key]) -> Chart:
    """Make a chart without its lines and bars."""
    width = WIDE / len(frame.steps)
    urls = frame.urls or [""] * len(frame.steps)
    columns = []
    for place, (step, url) in enumerate(zip(frame.steps, urls, strict=True)):
        known = [(line.name, line.values[place]) for line in lines]
        words = [f"{name} {number_text(v, frame.unit)}" for name, v in known if v is not None]
        columns.append(Column(round(place * width, 2), width, f"{step}: {', '.join(words)}", url))
    return Chart(
        title=frame.title,
        note=frame.note,
        url=frame.url,
        top=number_text(top, frame.unit),
        half=number_text(top / 2, frame.unit),
        first=frame.steps[0],
        last=frame.steps[-1],
        keys=keys,
        columns=columns,
    )


def _filled(lines: Sequence[ChartLine]) -> list[list[float]]:
    return [[value or 0.0 for value in line.values] for line in lines]
