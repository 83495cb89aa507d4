"""Merging features without a model: those that say nearly the same, and those of one slot."""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from memories.features.commands import Known

Similar = Callable[[uuid.UUID, uuid.UUID], float | None]
# Features of merges that a person took back: those of one are not merged again.
Apart = Collection[Collection[uuid.UUID]]


@dataclass(frozen=True, slots=True)
class Merge:
    """`kept` goes on and takes over the citations of `gone`; `value` is what it says then."""

    kept: Known
    gone: tuple[Known, ...]
    tag: str
    feature: str
    value: str


def section_of(known: Known) -> tuple[str, str]:
    """What is counted against the threshold: the features of one person in one category."""
    return known.about, known.category


def sections(known: Sequence[Known], over: int) -> list[list[Known]]:
    """The sections with more than `over` features, which a person did not write, oldest first."""
    found: dict[tuple[str, str], list[Known]] = {}
    for each in sorted(known, key=lambda one: (one.occurred_at, one.id)):
        if each.method != "manual":
            found.setdefault(section_of(each), []).append(each)
    return [rows for rows in found.values() if len(rows) > over]


def by_similarity(
    rows: Sequence[Known], similar: Similar, threshold: float, apart: Apart = ()
) -> list[Merge]:
    """Features of one section that say the same: of each group the newest goes on, unless an older
    one says more."""
    groups: list[list[Known]] = []
    for row in rows:
        fits = (g for g in groups if _belongs(row, g, similar, threshold))
        group = next((g for g in fits if not are_apart([row, *g], apart)), None)
        if group is None:
            groups.append([row])
        else:
            group.append(row)
    return [_merge(group) for group in groups if len(group) > 1]


def are_apart(rows: Sequence[Known], apart: Apart) -> bool:
    """Two of them were merged once, and a person took that back."""
    ids = {row.id for row in rows}
    return any(len(ids.intersection(each)) > 1 for each in apart)


def _belongs(row: Known, group: Sequence[Known], similar: Similar, threshold: float) -> bool:
    """Equal slots, or near to every one of the group: chains of likeness must not drift."""
    if row.slot or any(each.slot for each in group):
        return all(each.slot == row.slot for each in group)
    return all((similar(row.id, each.id) or 0.0) >= threshold for each in group)


def _merge(group: Sequence[Known]) -> Merge:
    newest = group[-1]
    if newest.slot:
        kept = newest
    else:
        kept = max(reversed(group), key=lambda each: len(each.value.split()))
    gone = tuple(each for each in group if each.id != kept.id)
    return Merge(kept, gone, kept.tag, kept.feature, kept.value)


def by_answer(
    ids: Sequence[str], named: Mapping[str, Known], told: Mapping[str, str]
) -> Merge | str:
    """The merge that a model asks for, or why it cannot be."""
    if missing := [each for each in ids if each not in named]:
        return f"there is no feature {missing[0]!r}"
    rows = [named[each] for each in dict.fromkeys(ids)]
    if len(rows) < 2:
        return "a merge names two features at least"
    if len({section_of(row) for row in rows}) > 1:
        return "features of two persons or categories are not merged"
    kept = max(rows, key=lambda each: (each.occurred_at, each.id))
    gone = tuple(row for row in rows if row.id != kept.id)
    return Merge(kept, gone, told["tag"], told["feature"], told["value"])
