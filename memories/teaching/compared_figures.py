"""The comparison of a head with the judge as it came, in lines for people."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class ComparedFigure(NamedTuple):
    """Figures that are counted before and after."""

    what: str
    before: str
    after: str


def compared_figures(figures: Mapping[str, Any]) -> list[ComparedFigure]:
    """Return the lines of a head's figures; none where it was not learned."""
    if "decided" not in figures:
        return []
    decided, fixed, judged = figures["decided"], figures["fixed"], figures["judged"]
    lines = [
        _counts("decided pairs called right", decided["right"], decided["of"]),
        _counts("decided pairs that would be replaced wrongly", decided["actedWrongly"], decided["of"]),
        ComparedFigure("mean log loss of decided pairs", *(f"{each:.3f}" for each in decided["loss"])),
        _counts("fixed pairs: changes heard", fixed["over"], fixed["of"][0]),
        _counts("fixed pairs: no change, and none heard", fixed["notOver"], fixed["of"][1]),
        _counts("fixed pairs: no change, and replaced", fixed["actedWrongly"], fixed["of"][1]),
        ComparedFigure(
            f"memories questioned, of the last {judged['of']} pairs judged",
            f"{judged['fewer']} no longer",
            f"{judged['more']} more",
        ),
    ]
    if golden := figures.get("golden"):
        told = f"{golden['worse']} worse, {golden['better']} better"
        lines.append(ComparedFigure("golden questions", f"{golden['of']} asked", told))
    return lines


def _counts(what: str, pair: tuple[int, int], of: int) -> ComparedFigure:
    return ComparedFigure(what, *(f"{each} of {of}" for each in pair))
