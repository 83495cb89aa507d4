"""Feature sets: found, made, configured and deleted."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Min, QuerySet, Sum
from django.utils import timezone
from pydantic import Field

from memories.errors import Conflict, Forbidden, Invalid, NotFound, needed, refuse
from memories.index import entries, workspace_index
from memories.models import (
    Conversation,
    Episode,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureMark,
    FeatureRefusal,
    FeatureSet,
    Layer,
    WorkspaceIndex,
)
from memories.profiles.features import config, set_embedding
from memories.profiles.features.config import PRODUCT, TYPE, EffectiveSetting, OwnSetSettings, SetSettings, types_of
from memories.profiles.features.set_queue import recount
from memories.reading.extraction.fallback_chain import faults_of_model
from memories.settings_objects import faults
from workspaces.models import Subject, Workspace
from workspaces.request_fields import ExternalId, Free, Text, declared
from workspaces.scope import NotAllowed, Scope, subject_to_write

DELETED, ROWS = 100, 1_000  # features, and rows of what hangs on a set, that go in one transaction

LONGEST_KEY = 200


@declared
@dataclass(frozen=True, slots=True)
class NewSet:
    """A new feature set. It takes in the episodes that fit all that is named here."""

    key: Annotated[Text, Field(max_length=LONGEST_KEY)]
    user_id: ExternalId = ""
    thread_id: ExternalId = ""
    role: Annotated[Text, Field(max_length=20)] = ""
    metadata: Free = field(default_factory=dict)
    config: Free = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Backlog:
    """The work that waits to be taken into the sets of a workspace."""

    sets: int
    episodes: int
    oldest_seconds: float
    failing: int


def find(scope: Scope, key: str) -> FeatureSet:
    """Find the set of that key or id; NotFound where `scope` does not see it."""
    rows = FeatureSet.objects.visible_to(scope).with_names().select_related("workspace")
    row = rows.filter(key=key).first()
    if row is None:
        try:
            row = rows.filter(pk=uuid.UUID(key)).first()
        except ValueError:
            row = None
    if row is None:
        raise NotFound("Set")
    return row


def find_feature(scope: Scope, feature_id: uuid.UUID) -> Feature:
    """Find a feature; NotFound where `scope` does not see it."""
    rows = Feature.objects.visible_to(scope).select_related("set__workspace")
    return needed(rows.filter(pk=feature_id).first(), "Feature")


def effective_of(feature_set: FeatureSet) -> dict[str, EffectiveSetting]:
    """Return each setting in effect for the set, with its source."""
    return config.effective(feature_set.workspace.settings, feature_set.config)


def inherited_of(feature_set: FeatureSet) -> dict[str, EffectiveSetting]:
    """Return each setting as it would be if the set gave nothing but its type."""
    own = {name: value for name, value in feature_set.config.items() if name == TYPE}
    return config.effective(feature_set.workspace.settings, own)


def backlog(scope: Scope, counted: Mapping[uuid.UUID, FeatureSet]) -> Backlog:
    """Sum up what waits, for one who sees the whole workspace; `counted` are sets that were counted
    just now."""
    rows = FeatureSet.objects.visible_to(scope)
    stored = rows.filter(waiting__gt=0).exclude(pk__in=counted)
    sums = stored.aggregate(sets=Count("pk"), episodes=Sum("waiting"), since=Min("waiting_since"))
    fresh = [each for each in counted.values() if each.waiting]
    begins = [at for at in (sums["since"], *(each.waiting_since for each in fresh)) if at]
    return Backlog(
        sets=sums["sets"] + len(fresh),
        episodes=(sums["episodes"] or 0) + sum(each.waiting for each in fresh),
        oldest_seconds=(timezone.now() - min(begins)).total_seconds() if begins else 0.0,
        failing=rows.exclude(error="").count(),
    )


def make_own_set(subject: Subject) -> None:
    """Make the set that every subject has, when something is first said about it."""
    place = {"workspace_id": subject.workspace_id, "key": FeatureSet.own_key(subject.external_id)}
    if not FeatureSet.objects.filter(**place).exists():
        FeatureSet.objects.bulk_create([FeatureSet(**place, subject=subject)], ignore_conflicts=True)


def own_set(subject: Subject) -> FeatureSet:
    """Return the set that every subject has; make it where it is not there yet."""
    make_own_set(subject)
    key = FeatureSet.own_key(subject.external_id)
    return FeatureSet.objects.get(workspace_id=subject.workspace_id, key=key)


def own_set_to_write(scope: Scope, key: str) -> FeatureSet:
    """Return the set of that key or id; a subject's own set is made, as the subject is, where
    something is first said about it or its set. Raises NotFound, Forbidden."""
    user_id = key.removeprefix(FeatureSet.OWN)
    if user_id not in ("", key) and not scope.is_bound:
        _check_key(key)
        subject = _subject(scope, user_id)
        if subject is not None:
            own_set(subject)
    return find(scope, key)


def create(scope: Scope, new: NewSet) -> FeatureSet:
    """Make a set of the caller's own; what was said already is taken in like what comes.

    Raises Invalid, Conflict for a key that is taken, Forbidden for a subject that is not covered.
    """
    refuse(faults_of_changes(scope, new.config))
    if new.key.startswith(FeatureSet.OWN):
        # The set that every subject has, configured before anything was said about it.
        own = ("", new.key.removeprefix(FeatureSet.OWN))
        if new.thread_id or new.role or new.metadata or new.user_id not in own:
            reason = f"Keys that begin with {FeatureSet.OWN} are the subjects' own sets."
            raise Invalid("key", reason)
        row = own_set_to_write(scope, new.key)
        if row.config or row.features.exists():
            raise Conflict("There is a set with this key.", field="key")
        return configure(scope, row.key, new.config)
    _check_key(new.key)
    subject, conversation = _subject(scope, new.user_id), None
    if new.thread_id:
        threads = Conversation.objects.visible_to(scope).filter(external_id=new.thread_id)
        conversation = threads.first()
        if conversation is None:
            raise Invalid("threadId", "There is no such thread.")
    if new.role and new.role not in Episode.Kind.values:
        raise Invalid("role", f"One of {', '.join(Episode.Kind.values)}.")
    row = FeatureSet(
        workspace_id=scope.workspace_id,
        key=new.key,
        subject=subject,
        conversation=conversation,
        role=new.role,
        metadata=dict(new.metadata),
        config={name: value for name, value in new.config.items() if value is not None},
    )
    try:
        with transaction.atomic(durable=True):
            row.save(force_insert=True)
            _audit(scope, "create_set", row, after={"key": row.key})
    except IntegrityError:
        raise Conflict("There is a set with this key.", field="key") from None
    return _look_again(scope, row)


def _check_key(key: str) -> None:
    if not key.strip() or len(key) > LONGEST_KEY or "/" in key:
        raise Invalid("key", f"1 to {LONGEST_KEY} characters, without a slash.")


def _subject(scope: Scope, user_id: str) -> Subject | None:
    try:
        return subject_to_write(scope, user_id) if user_id or scope.subject_ids else None
    except NotAllowed as error:
        raise Forbidden(error.message, "userId") from None


def faults_of_changes(scope: Scope, changes: Mapping[str, Any]) -> list[Invalid]:
    """Return all that `configure` would refuse."""
    known = {*PRODUCT, TYPE}
    raw = {name: value for name, value in changes.items() if value is not None or name not in known}
    found = faults_of_config(OwnSetSettings, raw, "config")
    if raw.get(TYPE) and not any(one.field == f"config.{TYPE}" for one in found):
        types = types_of(Workspace.objects.get(pk=scope.workspace_id).settings)
        if raw[TYPE] not in types:
            names = ", ".join(sorted(types)) or "none yet, see the setting featureSetTypes"
            found.append(Invalid(f"config.{TYPE}", f"There is no such type; there are: {names}."))
    return found


def faults_of_config(kind: type[SetSettings], raw: Mapping[str, Any], place: str) -> list[Invalid]:
    """Return all that is wrong with settings of sets that stand at `place` of what was sent."""
    found = faults(kind, raw, place)
    found += faults_of_model(raw.get("languageModel"), f"{place}.languageModel")
    if not any(one.field.startswith(f"{place}.embedder") for one in found):
        found += set_embedding.faults(raw.get("embedder"), f"{place}.embedder")
    return found


@transaction.atomic(durable=True)
def configure(scope: Scope, key: str, changes: Mapping[str, Any]) -> FeatureSet:
    """Change the set's own settings, its type included; null removes one, so that the setting of
    its type or of the workspace counts again."""
    feature_set = own_set_to_write(scope, key)
    values = {name: value for name, value in changes.items() if value is not None}
    refuse(faults_of_changes(scope, changes))
    row = FeatureSet.objects.select_for_update().get(pk=feature_set.pk)
    before = dict(row.config)
    kept = {name: value for name, value in before.items() if name not in changes}
    row.config = {**kept, **values}
    row.save(update_fields=["config", "updated_at"])
    _audit(scope, "configure_set", row, before=before, after=row.config)
    return _look_again(scope, row)


def _look_again(scope: Scope, row: FeatureSet) -> FeatureSet:
    """Recount what waits and look at the embedder again, as both depend on the settings; return the
    set with its names."""
    set_embedding.note(row)
    recount(find(scope, row.key))
    return find(scope, row.key)


def delete(scope: Scope, key: str) -> None:
    """Delete the set with its features, their history and its marks, for good, in steps; where its
    process ends in between, the worker goes on. Nobody finds it from the first on, it takes nothing
    in, and its key is free. The set of a subject comes back when something more is said, and then
    takes in all from the beginning."""
    space, found = workspace_index.index_of(scope.workspace_id), find(scope, key)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        row = FeatureSet.objects.select_for_update().filter(pk=found.pk, deleted_at=None).first()
        if row is None:
            raise NotFound("Set")
        _audit(scope, "delete_set", row, before={"key": row.key, "features": row.features.count()})
        FeatureSet.objects.filter(pk=row.pk).update(
            key=str(row.pk),
            deleted_at=timezone.now(),
            waiting=0,
            waiting_since=None,
            due_at=None,
            embedding_due_at=None,
            lease_until=None,
            claims=F("claims") + 1,
            error="",
            embedding_error="",
        )
    go_on_deleting(row.pk)


def deleted_sets() -> list[uuid.UUID]:
    """Return the sets of which rows are left."""
    rows = FeatureSet.objects.filter(deleted_at__isnull=False).order_by("deleted_at")
    return list(rows.values_list("pk", flat=True))


def go_on_deleting(set_id: uuid.UUID) -> int:
    """Remove what is left of a deleted set; return the number of steps. Two processes may do so at
    once, which does no harm."""
    steps, row = 0, FeatureSet.objects.filter(pk=set_id, deleted_at__isnull=False).first()
    while row is not None:
        with transaction.atomic(durable=True):
            space = workspace_index.index_of(row.workspace_id)
            workspace_index.lock(space)
            row = FeatureSet.objects.select_for_update().filter(pk=set_id).first()
            if row is not None and not _delete_some(space, row):
                row.delete()
        steps += 1
    return steps


def _delete_some(space: WorkspaceIndex, row: FeatureSet) -> int:
    """Delete some rows of one kind; return their number, 0 where none are left. Features end before
    any goes, so that nobody meets one without its history."""
    own = Feature.objects.filter(set=row).order_by("pk")
    if living := list(own.live().values_list("pk", flat=True)[:DELETED]):
        entries.remove(space, Layer.FEATURES, living)
        return Feature.objects.filter(pk__in=living).update(ended_at=timezone.now())
    some = list(own.values_list("pk", flat=True)[:DELETED])
    return (
        _delete_rows(FeatureCitation.objects.filter(feature__in=some))
        or _delete_rows(FeatureChange.objects.filter(feature__in=some))
        or _delete_rows(Feature.objects.filter(pk__in=some))
        or _delete_rows(FeatureMark.objects.filter(set=row), "episode")
        or _delete_rows(FeatureRefusal.objects.filter(set=row))
    )


def _delete_rows(rows: QuerySet[Any], key: str = "pk") -> int:
    """Delete some of these rows, which no others hang on; return their number. `key` tells one from
    the other."""
    some = list(rows.values_list(key, flat=True)[:ROWS])
    rows.filter(**{f"{key}__in": some}).delete()
    return len(some)


def _audit(scope: Scope, action: str, row: FeatureSet, **details: object) -> None:
    scope.audit(action, row, subject_id=row.subject_id, **details)
