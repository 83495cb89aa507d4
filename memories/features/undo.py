"""Changes of features taken back."""

import uuid
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.utils import timezone

from memories.errors import Conflict
from memories.features import apply
from memories.features.apply import Vectors
from memories.features.sets import find_feature
from memories.index import workspace_index
from memories.models import Feature, FeatureChange, FeatureCitation, FeatureSet, WorkspaceIndex
from workspaces.models import AuditEntry
from workspaces.scope import Scope

Action = FeatureChange.Action


def undo(scope: Scope, feature_id: uuid.UUID) -> Feature:
    """Take the last change of a feature back; of a merge, all that it did. Undone again, the
    change before goes back too. Conflict where there is none, or another feature says it now."""
    feature = find_feature(scope, feature_id)
    space = workspace_index.index_of(scope.workspace_id)
    vectors = vectors_before(space, _last_changes(feature))
    with transaction.atomic(durable=True):
        feature_set = apply.lock_set(space, feature.set)
        changes = _last_changes(feature)
        if not changes:
            raise Conflict("There is nothing to take back.", "nothing_to_undo", "id")
        undo_changes(scope, feature_set, changes, vectors)
        AuditEntry.line(
            scope.workspace_id, scope.actor, "undo_feature", feature,
            subject_id=feature.subject_id, reason=changes[0].action, after={"id": str(feature_id)},
        ).save()  # fmt: skip
    return find_feature(scope, feature_id)


def vectors_before(space: WorkspaceIndex, changes: Iterable[FeatureChange]) -> Vectors:
    """Vectors of what features said before these changes, by text."""
    before = [change.before for change in changes if change.before]
    return apply.embed_texts(
        space,
        [Feature.text_of(v["tag"], v["feature"], v["value"], v["about"]) for v in before],
    )


def undo_changes(
    scope: Scope, feature_set: FeatureSet, changes: Sequence[FeatureChange], vectors: Vectors
) -> None:
    """Undo these changes of a locked set, the newest first. Conflict where a feature was changed
    since, or another one says it now."""
    features = [_undone(scope, feature_set, change, changes[0].pk) for change in changes]
    for feature in sorted(features, key=lambda each: each.ended_at is None):  # the ended first
        if feature.ended_at is None and apply.same_as(feature):
            raise Conflict(f"Another feature says it now: {feature}.", "taken", "id")
        feature.save()
    here = [each for each in features if each.ended_at is None]
    space = workspace_index.index_of(scope.workspace_id)
    apply.reindex(space, [each.pk for each in features], here, vectors)
    apply.mark_changed(feature_set)


def _last_changes(feature: Feature) -> list[FeatureChange]:
    """The change that would be taken back, and the others of the same merge."""
    rows = FeatureChange.objects.filter(undone_at=None).exclude(action=Action.UNDO)
    last = rows.filter(feature=feature).order_by("-pk").first()
    if last is None:
        return []
    if last.action != Action.MERGE:
        return [last]
    merged = rows.filter(set=feature.set_id, batch=last.batch, action=Action.MERGE)
    return list(merged.order_by("-pk"))


def _undone(
    scope: Scope, feature_set: FeatureSet, change: FeatureChange, batch: uuid.UUID
) -> Feature:
    """Write that a change is undone, and the one that does it; the feature as it is then."""
    feature = Feature.objects.select_for_update(of=("self",)).get(pk=change.feature_id)
    now = feature.snapshot() if feature.ended_at is None else None
    current = FeatureChange.objects.get(feature=feature, is_current=True)
    if current.pk != change.pk and current.action != Action.UNDO:
        raise Conflict(f"{feature} was changed since.", "stale", "id")
    earlier = FeatureChange.objects.filter(feature=feature, pk__lt=change.pk, undone_at=None)
    # By which it said what it did before this one.
    prior = earlier.order_by("-pk").first() if change.before else None
    FeatureChange.objects.filter(pk=change.pk).update(undone_at=timezone.now())
    FeatureChange.objects.filter(pk=current.pk).update(is_current=False)
    if now or change.before:
        made = FeatureChange.objects.create(
            workspace_id=feature_set.workspace_id, set=feature_set, feature=feature, batch=batch,
            action=Action.UNDO, before=now, after=change.before, by=scope.actor, rule="undo",
            occurred_at=change.occurred_at,
        )  # fmt: skip
        if prior:
            cited = apply.cited_of(prior.citations.all(), prior.occurred_at)
            FeatureCitation.objects.bulk_create(apply.new_citations(made, cited))
    feature.ended_at = None if change.before else timezone.now()
    if change.before:
        feature.set_to(change.before)
    return feature


def undone_merges(feature_set: FeatureSet) -> list[set[uuid.UUID]]:
    """The features of each merge that was taken back."""
    rows = FeatureChange.objects.filter(
        set=feature_set, action=Action.MERGE, undone_at__isnull=False
    )
    by_batch: dict[uuid.UUID, set[uuid.UUID]] = {}
    for batch, feature_id in rows.values_list("batch", "feature_id"):
        by_batch.setdefault(batch, set()).add(feature_id)
    return list(by_batch.values())
