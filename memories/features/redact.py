"""Features of which words are erased: what other words carry stays, the rest goes with its undo.

`remains` reads, `keep` writes in the caller's transaction, which holds the workspace's lock.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

from django.db.models import Q, QuerySet

from memories.english import lexical
from memories.features import apply, undo
from memories.features.pending import unmark
from memories.index import entries
from memories.models import (
    Episode,
    Feature,
    FeatureChange,
    FeatureCitation,
    Layer,
    WorkspaceIndex,
)

Action = FeatureChange.Action
Ids: TypeAlias = Collection[uuid.UUID]


@dataclass(slots=True)
class Remains:
    """The changes of a feature, oldest first: those that stand without the erased words, with what
    they were before as it is then, and those that fall; `lost` are citations of the former."""

    feature: Feature
    standing: list[FeatureChange] = field(default_factory=list)
    fallen: list[FeatureChange] = field(default_factory=list)
    lost: int = 0

    @property
    def citations_gone(self) -> int:
        """Those of erased words, and those of what falls."""
        return self.lost + sum(len(change.citations.all()) for change in self.fallen)

    @property
    def is_gone(self) -> bool:
        """Nothing is left that it could say; what a person took back does not return."""
        said = any(change.after for change in self.standing)
        return not said or self.standing[-1].undone_at is not None


def remains(episodes: QuerySet[Episode] | Ids) -> list[Remains]:
    """What would be left of all features that these words touch. A merge whose outcome falls is
    taken back: what had become part of it comes again."""
    cited = FeatureCitation.objects.filter(episode__in=episodes)
    erased = set(cited.values_list("episode_id", flat=True))
    touched = set(cited.values_list("feature_id", flat=True))
    parted: set[uuid.UUID] = set()
    while True:
        found = [_remains(rows, erased, parted) for rows in _histories(touched)]
        fallen = {c.batch for one in found for c in one.fallen if c.action == Action.MERGE}
        if fallen <= parted:
            return found
        parted |= fallen
        parts = FeatureChange.objects.filter(
            batch__in=parted, action=Action.MERGE, after__isnull=True
        )
        touched |= set(parts.values_list("feature_id", flat=True))


def _histories(feature_ids: Ids) -> Iterator[list[FeatureChange]]:
    rows = FeatureChange.objects.filter(feature__in=feature_ids).order_by("feature_id", "pk")
    whole = rows.select_related("feature").prefetch_related("citations")
    for _, own in groupby(whole, key=lambda change: change.feature_id):
        yield list(own)


def _remains(changes: Sequence[FeatureChange], erased: Ids, parted: Ids) -> Remains:
    left = Remains(changes[0].feature)
    for change in changes:
        before = left.standing[-1].after if left.standing else None
        is_broken = bool(left.fallen) and (
            not left.standing or left.fallen[-1].pk > left.standing[-1].pk
        )
        if _falls(change, erased, parted) or is_broken and _says_nothing_of_its_own(change, before):
            left.fallen.append(change)
            continue
        if is_broken:
            change.before = before
            change.action = change.action if before else Action.ADD
        left.lost += sum(each.episode_id in erased for each in change.citations.all())
        left.standing.append(change)
    return left


def _falls(change: FeatureChange, erased: Ids, parted: Ids) -> bool:
    if change.action == Action.MERGE and change.after is None:
        return change.batch in parted
    cited = list(change.citations.all())
    lost = [each for each in cited if each.episode_id in erased]
    kept = [each for each in cited if each.episode_id not in erased]
    if not lost or not kept:
        return bool(lost)
    return change.after is not None and _tells(change.after["value"], lost, kept)


def _tells(value: str, lost: Iterable[FeatureCitation], kept: Iterable[FeatureCitation]) -> bool:
    """It holds words that only what is erased said; how it begins ("likes") is nobody's word."""
    said = set(lexical.stems(value.split(maxsplit=1)[-1]))
    return bool(said & (_stems(lost) - _stems(kept)))


def _stems(cited: Iterable[FeatureCitation]) -> set[str]:
    return {stem for each in cited for stem in lexical.stems(each.quote)}


def _says_nothing_of_its_own(change: FeatureChange, before: object) -> bool:
    """The outcome of a merge is what one of its parts said; other changes may end or restore what
    is no longer there."""
    if change.action == Action.MERGE and change.after:
        return True
    return change.after == before and (change.after is None or change.action == Action.UNDO)


def keep(space: WorkspaceIndex, left: Remains, erased: Ids) -> Counter[str]:
    """Let a feature say what is left of it, under its own id."""
    last = left.standing[-1]
    again = {each.episode_id for change in left.fallen for each in change.citations.all()}
    FeatureCitation.objects.filter(feature=left.feature, episode__in=erased).delete()
    FeatureChange.objects.filter(pk__in=[change.pk for change in left.fallen]).delete()
    FeatureChange.objects.filter(feature=left.feature).update(is_current=False)
    for change in left.standing:
        change.is_current = change.pk == last.pk
        change.save(update_fields=["before", "action", "is_current"])
    _drop_reasons(left)
    if left.fallen:
        _say_again(space, left.feature, last)
    unmark(space.workspace_id, again - set(erased))
    apply.touch(left.feature.set)
    return Counter(
        {
            "features recomputed": 1,
            "feature changes": len(left.fallen),
            "feature citations": left.citations_gone,
        }
    )


def _drop_reasons(left: Remains) -> None:
    """Why something was done may quote what was erased; a merge tells it of all its parts."""
    own = Q(feature=left.feature)
    merges = [change.batch for change in left.standing if change.action == Action.MERGE]
    parts = Q(batch__in=merges, action=Action.MERGE)
    FeatureChange.objects.filter(own | parts).update(reason="")


def _say_again(space: WorkspaceIndex, feature: Feature, last: FeatureChange) -> None:
    """As the last change left it; where another feature says that by now, it becomes part of it."""
    feature.set_to(last.after or last.before or {})
    feature.ended_at = None if last.after else feature.ended_at
    if last.after and (other := undo.said_by(feature)):
        words = FeatureCitation.objects.filter(change=last)
        apply.add_support(other, [apply.cited_again(row, last.occurred_at) for row in words])
        entries.remove(space, Layer.FEATURES, [feature.pk])
        feature.delete()
        return
    feature.save()
    apply.reindex(space, [feature.pk], [] if feature.ended_at else [feature], {})
