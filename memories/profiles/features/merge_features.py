"""The merging of features of a section that say the same: which do, and what is left of them, by
likeness, or as a model answers. Pure."""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from memories.profiles.features.commands import KnownFeature

Similar = Callable[[uuid.UUID, uuid.UUID], float | None]
# Features of merges that a person took back: those of one are not merged again.
Apart = Collection[Collection[uuid.UUID]]


@dataclass(frozen=True, slots=True)
class FeatureMerge:
    """A merge: `kept` goes on and takes over the citations of `gone`; `value` is what it says
    then."""

    kept: KnownFeature
    gone: tuple[KnownFeature, ...]
    tag: str
    feature: str
    value: str


def sections(known: Sequence[KnownFeature], over: int) -> list[list[KnownFeature]]:
    """Return the sections (features of one person in one category) with more than `over` features,
    without what a person wrote, oldest first."""
    result: dict[tuple[str, str], list[KnownFeature]] = {}
    for each in sorted(known, key=lambda one: (one.occurred_at, one.id)):
        if each.method != "manual":
            result.setdefault((each.about, each.category), []).append(each)
    return [rows for rows in result.values() if len(rows) > over]


def by_similarity(
    rows: Sequence[KnownFeature], similar: Similar, threshold: float, apart: Apart = ()
) -> list[FeatureMerge]:
    """Merge features of one section that say the same: of each group the newest goes on, unless an
    older one says more."""
    groups: list[list[KnownFeature]] = []
    for row in rows:
        fits = (g for g in groups if _belongs(row, g, similar, threshold))
        group = next((g for g in fits if not are_apart([row, *g], apart)), None)
        if group is None:
            groups.append([row])
        else:
            group.append(row)
    result = []
    for group in groups:
        if len(group) > 1:
            kept = group[-1]
            if not kept.slot:
                kept = max(reversed(group), key=lambda each: len(each.value.split()))
            gone = tuple(each for each in group if each.id != kept.id)
            result.append(FeatureMerge(kept, gone, kept.tag, kept.feature, kept.value))
    return result


def are_apart(rows: Sequence[KnownFeature], apart: Apart) -> bool:
    """Tell whether two of them were merged once, and a person took that back."""
    ids = {row.id for row in rows}
    return any(len(ids.intersection(each)) > 1 for each in apart)


def _belongs(row: KnownFeature, group: Sequence[KnownFeature], similar: Similar, threshold: float) -> bool:
    """Tell whether a feature belongs to a group: their slots are equal, or it is near to every one
    of the group, since chains of likeness must not drift."""
    if row.slot or any(each.slot for each in group):
        return all(each.slot == row.slot for each in group)
    return all((similar(row.id, each.id) or 0.0) >= threshold for each in group)


def by_answer(ids: Sequence[str], named: Mapping[str, KnownFeature], values: Mapping[str, str]) -> FeatureMerge | str:
    """Return the merge that a model asks for, or why it cannot be."""
    if missing := [each for each in ids if each not in named]:
        return f"there is no feature {missing[0]!r}"
    rows = [named[each] for each in dict.fromkeys(ids)]
    if len(rows) < 2:
        return "a merge names two features at least"
    if len({(row.about, row.category) for row in rows}) > 1:
        return "features of two persons or categories are not merged"
    kept = max(rows, key=lambda each: (each.occurred_at, each.id))
    gone = tuple(row for row in rows if row.id != kept.id)
    return FeatureMerge(kept, gone, values["tag"], values["feature"], values["value"])
