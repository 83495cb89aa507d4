"""Features of which words are erased: what other words carry stays, the rest goes with its history.

`redactions` reads, `redact` writes in the caller's transaction, which holds the workspace's lock.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

from django.db.models import Q, QuerySet

from memories.english import lexical
from memories.features import apply
from memories.features.due_sets import unmark
from memories.index import entries
from memories.models import (
    Episode,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureRefusal,
    Layer,
    WorkspaceIndex,
)

Action = FeatureChange.Action
Ids: TypeAlias = Collection[uuid.UUID]


@dataclass(slots=True)
class Redaction:
    """The changes of a feature, oldest first: those that stand without the erased words, with what
    they were before as it is then, and those that fall; `lost` are citations of the former."""

    feature: Feature
    standing: list[FeatureChange] = field(default_factory=list)
    fallen: list[FeatureChange] = field(default_factory=list)
    lost: int = 0

    @classmethod
    def of(cls, changes: Sequence[FeatureChange], erased: Ids, parted: Ids) -> "Redaction":
        """What is left of the changes of one feature; `parted` are the merges that are taken
        back."""
        left = cls(changes[0].feature)
        for change in changes:
            before = left.standing[-1].after if left.standing else None
            is_broken = bool(left.fallen) and (
                not left.standing or left.fallen[-1].pk > left.standing[-1].pk
            )
            # The outcome of a merge is what one of its parts said; other changes may end or restore
            # what is no longer there.
            says_nothing = bool(change.action == Action.MERGE and change.after) or (
                change.after == before and (change.after is None or change.action == Action.UNDO)
            )
            if _falls(change, erased, parted) or (is_broken and says_nothing):
                left.fallen.append(change)
                continue
            if is_broken:
                change.before = before
                change.action = change.action if before else Action.ADD
            left.lost += sum(each.episode_id in erased for each in change.citations.all())
            left.standing.append(change)
        return left

    @property
    def citations_gone(self) -> int:
        """Those of erased words, and those of what falls."""
        return self.lost + sum(len(change.citations.all()) for change in self.fallen)

    @property
    def is_gone(self) -> bool:
        """Nothing is left that it could say; what a person took back does not return."""
        says = any(change.after for change in self.standing)
        return not says or self.standing[-1].undone_at is not None


def remove_standing_on(
    space: WorkspaceIndex, spans: Mapping[uuid.UUID, Collection[tuple[int, int]]]
) -> list[uuid.UUID]:
    """Take away the features, with their history, that stand on any of these spans of episodes; all
    that they stood on is taken in again."""
    cited = FeatureCitation.objects.filter(episode__in=spans)
    gone = {
        row.feature_id
        for row in cited
        if any(row.start < end and start < row.end for start, end in spans[row.episode_id])
    }
    features = Feature.objects.filter(pk__in=gone).select_related("set")
    others = FeatureCitation.objects.filter(feature__in=gone).values_list("episode_id", flat=True)
    again = {each for each in others if each}
    FeatureRefusal.objects.filter(episode_ids__overlap=list(spans)).delete()
    for touched in {feature.set_id: feature.set for feature in features}.values():
        apply.mark_changed(touched)
    entries.remove(space, Layer.FEATURES, gone)
    features.delete()
    if again:
        unmark(space.workspace_id, again)
    return list(gone)


def redactions(episodes: QuerySet[Episode] | Ids) -> list[Redaction]:
    """What would be left of all features that these words touch. A merge whose outcome falls is
    taken back: what had become part of it comes again."""
    cited = FeatureCitation.objects.filter(episode__in=episodes)
    erased = set(cited.values_list("episode_id", flat=True))
    touched = set(cited.values_list("feature_id", flat=True))
    parted: set[uuid.UUID] = set()
    while True:
        rows = FeatureChange.objects.filter(feature__in=touched).order_by("feature_id", "pk")
        whole = rows.select_related("feature").prefetch_related("citations")
        result = [
            Redaction.of(list(own), erased, parted)
            for _, own in groupby(whole, key=lambda change: change.feature_id)
        ]
        fallen = {c.batch for one in result for c in one.fallen if c.action == Action.MERGE}
        if fallen <= parted:
            return result
        parted |= fallen
        parts = FeatureChange.objects.filter(
            batch__in=parted, action=Action.MERGE, after__isnull=True
        )
        touched |= set(parts.values_list("feature_id", flat=True))


def _falls(change: FeatureChange, erased: Ids, parted: Ids) -> bool:
    if change.action == Action.MERGE and change.after is None:
        return change.batch in parted
    cited = list(change.citations.all())
    lost = [each for each in cited if each.episode_id in erased]
    kept = [each for each in cited if each.episode_id not in erased]
    if not lost or not kept:
        return bool(lost)
    if change.after is None:
        return False
    # The value holds words that only what is erased said; how it begins ("likes") is nobody's word.
    words = set(lexical.stems(change.after["value"].split(maxsplit=1)[-1]))
    return bool(words & (_stems(lost) - _stems(kept)))


def _stems(cited: Iterable[FeatureCitation]) -> set[str]:
    return {stem for each in cited for stem in lexical.stems(each.quote)}


def redact(space: WorkspaceIndex, left: Redaction, erased: Ids) -> Counter[str]:
    """Let a feature say what is left of it, under its own id; the rows that went, by what they
    are."""
    last = left.standing[-1]
    again = {each.episode_id for change in left.fallen for each in change.citations.all()}
    FeatureCitation.objects.filter(feature=left.feature, episode__in=erased).delete()
    FeatureChange.objects.filter(pk__in=[change.pk for change in left.fallen]).delete()
    FeatureChange.objects.filter(feature=left.feature).update(is_current=False)
    for change in left.standing:
        change.is_current = change.pk == last.pk
        change.save(update_fields=["before", "action", "is_current"])
    # Why something was done may quote what was erased; a merge tells it of all its parts.
    merges = [change.batch for change in left.standing if change.action == Action.MERGE]
    parts = Q(batch__in=merges, action=Action.MERGE)
    FeatureChange.objects.filter(Q(feature=left.feature) | parts).update(reason="")
    if left.fallen:
        # As the last change left it; where another feature says that by now, it becomes its part.
        feature = left.feature
        feature.set_to(last.after or last.before or {})
        feature.ended_at = None if last.after else feature.ended_at
        if last.after and (other := apply.same_as(feature)):
            rows = FeatureCitation.objects.filter(change=last)
            apply.add_support(other, apply.cited_of(rows, last.occurred_at))
            entries.remove(space, Layer.FEATURES, [feature.pk])
            feature.delete()
        else:
            feature.save()
            apply.reindex(space, [feature.pk], [] if feature.ended_at else [feature], {})
    unmark(space.workspace_id, again - set(erased))
    apply.mark_changed(left.feature.set)
    return Counter(
        {
            "features recomputed": 1,
            "feature changes": len(left.fallen),
            "feature citations": left.citations_gone,
        }
    )
