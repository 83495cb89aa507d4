"""What was folded about one subject, when that subject turns out to be another."""

import uuid
from collections.abc import Collection

from django.utils import timezone

from memories.features.sets import key_of
from memories.indexing import entries
from memories.models import (
    Feature,
    FeatureChange,
    FeatureSet,
    Layer,
    WorkspaceIndex,
)
from workspaces.models import Subject


def merge_subject(space: WorkspaceIndex, source: Subject, target: Subject) -> None:
    """What was folded about one subject is folded about another, in the caller's transaction.

    What a person wrote goes over; the rest is taken in anew from the episodes, which went before.
    """
    own = FeatureSet.objects.filter(workspace_id=space.workspace_id, subject=source)
    default = own.filter(key=key_of(source.external_id)).first()
    others = own.exclude(pk=default.pk) if default else own
    Feature.objects.filter(set__in=others).update(subject=target)
    others.update(subject=target)
    into, _ = FeatureSet.objects.get_or_create(
        workspace_id=space.workspace_id,
        key=key_of(target.external_id),
        defaults={"subject": target},
    )
    if default is not None:
        _move_by_hand(default, into)
        ids = list(Feature.objects.filter(set=default).values_list("pk", flat=True))
        _delete(space, ids)
        default.delete()
    now = timezone.now()
    FeatureSet.objects.filter(pk=into.pk).update(cursor=None, due_at=now, waiting_since=now)


def _move_by_hand(source: FeatureSet, target: FeatureSet) -> None:
    known = Feature.objects.live().filter(set=target).values("fingerprint")
    rows = Feature.objects.filter(set=source, method=Feature.Method.MANUAL)
    moved = list(rows.exclude(fingerprint__in=known).values_list("pk", flat=True))
    FeatureChange.objects.filter(feature__in=moved).update(set=target)
    Feature.objects.filter(pk__in=moved).update(set=target, subject=target.subject)


def _delete(space: WorkspaceIndex, ids: Collection[uuid.UUID]) -> None:
    if ids:
        entries.remove(space, Layer.FEATURES, ids)
        Feature.objects.filter(pk__in=ids).delete()
