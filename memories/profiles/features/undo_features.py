"""Undo of changes to features."""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memories.errors import Conflict
from memories.index import workspace_index
from memories.models import Feature, FeatureChange, FeatureCitation, FeatureSet, WorkspaceIndex
from memories.profiles.features import apply
from memories.profiles.features.apply import Vectors
from memories.profiles.features.edit_features import refuse_of_its_time
from memories.profiles.features.sets import find_feature
from workspaces.scope import Scope

Action = FeatureChange.Action


def undo(scope: Scope, feature_id: uuid.UUID) -> Feature:
    """Take the last change of a feature back; of a merge, all that it did. The next call takes the
    change before that back. Raises Conflict where there is none, or another feature says it now."""
    feature = find_feature(scope, feature_id)
    space = workspace_index.index_of(scope.workspace_id)
    vectors = vectors_before(space, _last_changes(feature))
    with transaction.atomic(durable=True):
        feature_set = apply.lock_set(space, feature.set)
        refuse_of_its_time(feature)
        changes = _last_changes(feature)
        if not changes:
            raise Conflict("There is nothing to take back.", "nothing_to_undo", "id")
        undo_changes(scope, feature_set, changes, vectors)
        scope.audit(
            "undo_feature",
            feature,
            subject_id=feature.subject_id,
            reason=changes[0].action,
            after={"id": str(feature_id)},
        )
    return find_feature(scope, feature_id)


def vectors_before(space: WorkspaceIndex, changes: Iterable[FeatureChange]) -> Vectors:
    """Return vectors of what features said before these changes, by text."""
    before = [change.before for change in changes if change.before]
    return apply.embed_texts(
        space,
        [Feature.text_of(v["tag"], v["feature"], v["value"], v["about"]) for v in before],
    )


def undo_changes(scope: Scope, feature_set: FeatureSet, changes: Sequence[FeatureChange], vectors: Vectors) -> None:
    """Undo these changes of a locked set, the newest first. Raises Conflict where a feature was
    changed since, or another one says it now."""
    features = [_undone(scope, change, changes[0].pk) for change in changes]
    for feature in sorted(features, key=lambda each: each.ended_at is None):  # the ended first
        if feature.ended_at is None and apply.same_as(feature):
            raise Conflict(f"Another feature says it now: {feature}.", "taken", "id")
        feature.save()
    here = [each for each in features if each.ended_at is None]
    space = workspace_index.index_of(scope.workspace_id)
    apply.reindex(space, [each.pk for each in features], here, vectors)
    apply.mark_changed(feature_set)


def _last_changes(feature: Feature) -> list[FeatureChange]:
    """Return the change that would be taken back, and the others of the same merge."""
    rows = FeatureChange.objects.filter(undone_at=None).exclude(action=Action.UNDO)
    last = rows.filter(feature=feature).order_by("-pk").first()
    if last is None:
        return []
    if last.action != Action.MERGE:
        return [last]
    merged = rows.filter(set=feature.set_id, batch=last.batch, action=Action.MERGE)
    return list(merged.order_by("-pk"))


def _undone(scope: Scope, change: FeatureChange, batch: uuid.UUID) -> Feature:
    """Write that a change is undone, and the one that does it; the feature as it is then."""
    feature = Feature.objects.select_for_update(of=("self",)).get(pk=change.feature_id)
    now = feature.snapshot() if feature.ended_at is None else None
    current = FeatureChange.objects.get(feature=feature, is_current=True)
    if current.pk != change.pk and current.action != Action.UNDO:
        raise Conflict(f"{feature} was changed since.", "stale", "id")
    FeatureChange.objects.filter(pk=change.pk).update(undone_at=timezone.now())
    FeatureChange.objects.filter(pk=current.pk).update(is_current=False)
    if now or change.before:
        made = _begun([change]).first() or _begin(scope, change, batch, now)
        _copy(change, made)
        FeatureChange.objects.filter(pk=made.pk).update(is_current=True)
    feature.ended_at = None if change.before else timezone.now()
    if change.before:
        feature.set_to(change.before)
    return feature


def _begin(scope: Scope, change: FeatureChange, batch: uuid.UUID, now: dict[str, Any] | None) -> FeatureChange:
    """Write the change that undoes this one; by it the feature does not yet say anything."""
    return FeatureChange.objects.create(
        workspace_id=change.workspace_id,
        set_id=change.set_id,
        feature_id=change.feature_id,
        batch=batch,
        action=Action.UNDO,
        before=now,
        after=change.before,
        by=scope.actor,
        rule="undo",
        occurred_at=change.occurred_at,
        is_current=False,
    )


def _begun(changes: Iterable[FeatureChange]) -> QuerySet[FeatureChange]:
    """The changes that undo these, of which some citations are copied."""
    ids = [each.pk for each in changes]
    return FeatureChange.objects.filter(batch__in=ids, action=Action.UNDO, is_current=False)


def _copy(change: FeatureChange, made: FeatureChange, most: int | None = None) -> int:
    """Copy some of the citations of what a feature said before `change`, behind those that `made`
    has; return their number."""
    earlier = FeatureChange.objects.filter(feature=change.feature_id, pk__lt=change.pk, undone_at=None)
    # By which it said what it did before this one.
    prior = earlier.order_by("-pk").first() if change.before else None
    if prior is None:
        return 0
    copied = made.citations.count()
    rest = prior.citations.order_by("pk")[copied : None if most is None else copied + most]
    return len(FeatureCitation.objects.bulk_create(apply.new_citations(made, apply.cited_of(rest, prior.occurred_at))))


def copy_citations(scope: Scope, change: FeatureChange, most: int) -> int:
    """Prepare the undo of the last change of a feature, which ended it: copy as many of its
    citations, behind those that are copied; return their number. One with fewer has all."""
    return _copy(change, _begun([change]).first() or _begin(scope, change, change.pk, None), most)


def drop_begun(changes: Iterable[FeatureChange]) -> None:
    """Remove what was prepared for the undo of changes that stay."""
    _begun(changes).delete()


def undone_merges(feature_set: FeatureSet) -> list[set[uuid.UUID]]:
    """Return the features of each merge that was taken back."""
    rows = FeatureChange.objects.filter(set=feature_set, action=Action.MERGE, undone_at__isnull=False)
    by_batch: dict[uuid.UUID, set[uuid.UUID]] = {}
    for batch, feature_id in rows.values_list("batch", "feature_id"):
        by_batch.setdefault(batch, set()).add(feature_id)
    return list(by_batch.values())
