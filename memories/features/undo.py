"""What features said before, and taking changes back."""

import uuid
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from memories.errors import Conflict, NotFound
from memories.features import apply
from memories.features.apply import Vectors
from memories.features.commands import Cited
from memories.index import due, entries, workspace_index
from memories.models import (
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureSet,
    WorkspaceIndex,
)
from workspaces.models import AuditEntry
from workspaces.scope import Scope

Action = FeatureChange.Action


def seen(scope: Scope, feature_id: uuid.UUID) -> Feature:
    """NotFound where `scope` does not see the feature."""
    found = Feature.objects.visible_to(scope).select_related("set__workspace")
    feature = found.filter(pk=feature_id).first()
    if feature is None:
        raise NotFound("Feature")
    return feature


# ---- taking back ----------------------------------------------------------------------------


def undo(scope: Scope, feature_id: uuid.UUID) -> Feature:
    """Take the last change of a feature back; of a merge, all that it did. Undone again, the
    change before goes back too. Conflict where there is none, or another feature says it now."""
    feature = seen(scope, feature_id)
    space = workspace_index.index_of(scope.workspace_id)
    vectors = vectors_before(space, _last(feature))
    with transaction.atomic(durable=True):
        held = apply.locked(space, feature.set)
        changes = _last(feature)
        if not changes:
            raise Conflict("There is nothing to take back.", "nothing_to_undo", "id")
        take_back(scope, held, changes, vectors)
        AuditEntry.line(
            scope.workspace_id, scope.actor, "undo_feature", feature,
            subject_id=feature.subject_id, reason=changes[0].action, after={"id": str(feature_id)},
        ).save()  # fmt: skip
    return seen(scope, feature_id)


def take_back(
    scope: Scope, held: FeatureSet, changes: Sequence[FeatureChange], vectors: Vectors
) -> None:
    """Undo these changes of a locked set, the newest first. Conflict where a feature was changed
    since, or another one says it now."""
    features = [_undone(scope, held, change, changes[0].pk) for change in changes]
    _write(workspace_index.index_of(scope.workspace_id), features, vectors)
    apply.touch(held)


def _last(feature: Feature) -> list[FeatureChange]:
    """The change that would be taken back, and the others of the same merge."""
    rows = FeatureChange.objects.filter(undone_at=None).exclude(action=Action.UNDO)
    last = rows.filter(feature=feature).order_by("-pk").first()
    if last is None:
        return []
    if last.action != Action.MERGE:
        return [last]
    merged = rows.filter(set=feature.set_id, batch=last.batch, action=Action.MERGE)
    return list(merged.order_by("-pk"))


def taken_apart(found: FeatureSet) -> list[set[uuid.UUID]]:
    """The features of each merge that was taken back."""
    rows = FeatureChange.objects.filter(set=found, action=Action.MERGE, undone_at__isnull=False)
    by_batch: dict[uuid.UUID, set[uuid.UUID]] = {}
    for batch, feature_id in rows.values_list("batch", "feature_id"):
        by_batch.setdefault(batch, set()).add(feature_id)
    return list(by_batch.values())


def _undone(scope: Scope, held: FeatureSet, change: FeatureChange, batch: uuid.UUID) -> Feature:
    """Write that a change is undone, and the one that does it; the feature as it is then."""
    feature = Feature.objects.select_for_update(of=("self",)).get(pk=change.feature_id)
    now = feature.snapshot() if feature.ended_at is None else None
    before = _current(feature)
    if before.pk != change.pk and before.action != Action.UNDO:
        raise Conflict(f"{feature} was changed since.", "stale", "id")
    prior = _prior(change)
    FeatureChange.objects.filter(pk=change.pk).update(undone_at=timezone.now())
    FeatureChange.objects.filter(pk=before.pk).update(is_current=False)
    made = FeatureChange.objects.create(
        workspace_id=held.workspace_id, set=held, feature=feature, batch=batch, action=Action.UNDO,
        before=now, after=change.before, by=scope.actor, rule="undo", occurred_at=change.occurred_at,
    ) if now or change.before else None  # fmt: skip
    if made and prior:
        FeatureCitation.objects.bulk_create(apply.cited_by(made, cited_of(prior)))
    feature.ended_at = None if change.before else timezone.now()
    if change.before:
        feature.set_to(change.before)
    return feature


def _current(feature: Feature) -> FeatureChange:
    return FeatureChange.objects.get(feature=feature, is_current=True)


def _prior(change: FeatureChange) -> FeatureChange | None:
    """The change by which the feature said what it did before this one."""
    rows = FeatureChange.objects.filter(feature=change.feature_id, pk__lt=change.pk)
    return rows.filter(undone_at=None).order_by("-pk").first() if change.before else None


def cited_of(change: FeatureChange) -> list[Cited]:
    """The words that a change stands on, as commands carry them."""
    return [apply.cited_again(row, change.occurred_at) for row in change.citations.all()]


def _write(space: WorkspaceIndex, features: Sequence[Feature], vectors: Vectors) -> None:
    ended_first = sorted(features, key=lambda each: each.ended_at is None)
    for feature in ended_first:
        if feature.ended_at is None and said_by(feature):
            raise Conflict(f"Another feature says it now: {feature}.", "taken", "id")
        feature.save()
    here = [each for each in features if each.ended_at is None]
    apply.reindex(space, [each.pk for each in features], here, vectors)


def said_by(feature: Feature) -> Feature | None:
    """Another live feature of the set that says the same."""
    others = Feature.objects.live().filter(set=feature.set_id, fingerprint=feature.fingerprint)
    same = others.filter(agent=feature.agent) if feature.agent_id else others.filter(agent=None)
    return same.exclude(pk=feature.pk).first()


def vectors_before(space: WorkspaceIndex, changes: Sequence[FeatureChange]) -> Vectors:
    """Vectors of what features said before these changes, by text."""
    told = [change.before for change in changes if change.before]
    texts = [
        Feature.text_of(each["tag"], each["feature"], each["value"], each["about"]) for each in told
    ]
    return vectors_of(space, texts)


def vectors_of(space: WorkspaceIndex, texts: Sequence[str]) -> Vectors:
    """Vectors by text; empty where the embedder failed, so that the entries stay due."""
    once = list(dict.fromkeys(texts))
    found = due.embed_or_leave(space, [entries.texts_of(text) for text in once])
    return {} if found is None else dict(zip(once, found, strict=True))
