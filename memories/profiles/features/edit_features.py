"""Features written, changed and ended by hand; no machine changes what a person wrote."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from django.db import transaction
from django.utils import timezone
from pydantic import Field

from memories.errors import Conflict, Invalid
from memories.index import entries, workspace_index
from memories.models import Episode, Feature, FeatureChange, FeatureSet, Layer, Visibility
from memories.models.feature import OF_ITS_TIME
from memories.profiles.features import apply, facts_to_features
from memories.profiles.features.apply import BY_HAND, MANUAL, ApplyResult, ChangeOrigin
from memories.profiles.features.commands import (
    ADD,
    DELETE,
    LONGEST_NAME,
    LONGEST_VALUE,
    UPDATE,
    Cited,
    Command,
    fault_of_value,
)
from memories.profiles.features.config import config_of
from memories.profiles.features.sets import find, find_feature
from workspaces.request_fields import AnyText, Metadata, OneOf, Text, declared
from workspaces.scope import Scope

BY_COMMAND = ("category", "tag", "feature", "value", "about")
IN_PLACE = ("visibility", "metadata")
# What a fault is about, in the caller's words; else the value.
FIELDS = {"no tag": "tag", "no category": "category", "the feature's name": "feature"}

Name = Annotated[Text, Field(max_length=LONGEST_NAME)]
Value = Annotated[Text, Field(max_length=LONGEST_VALUE)]


@declared
@dataclass(frozen=True, slots=True)
class NewFeature:
    category: Name
    tag: Name
    feature: Name
    value: Value
    about: Annotated[AnyText, Field(max_length=255)] = ""
    visibility: Annotated[str, OneOf(Visibility)] = Visibility.PRIVATE
    metadata: Metadata = field(default_factory=dict)
    episode_ids: Annotated[tuple[uuid.UUID, ...], Field(max_length=100, description="Cited whole.")] = ()


def create(scope: Scope, key: str, new: NewFeature) -> Feature:
    """Add a feature. If a feature says the same already, it is returned, as a person's from now on;
    if a machine's feature holds the one value of an attribute, it takes this value. Raises Invalid,
    NotFound."""
    feature_set = find(scope, key)
    rows = Episode.objects.visible_to(scope).filter(pk__in=new.episode_ids).exclude(content="")
    episodes = {row.pk: row for row in rows}
    if missing := [each for each in new.episode_ids if each not in episodes]:
        raise Invalid("episodeIds", f"There is no episode {missing[0]}.")
    command = Command(
        ADD,
        **{name: getattr(new, name) for name in BY_COMMAND},
        cited=tuple(Cited(row.pk, 0, len(row.content), row.content, row.occurred_at) for row in episodes.values()),
        occurred_at=timezone.now(),
        slot=facts_to_features.slot_of(new.category, new.tag, new.feature),
    )
    _check(feature_set, command)
    result = _do(scope, feature_set, scope.agent_id, command)
    feature = find_feature(scope, (result.added or result.updated or result.supported)[0])
    in_place = {name: getattr(new, name) for name in IN_PLACE if getattr(new, name)}
    return _change_in_place(scope, feature, in_place)


def edit(scope: Scope, feature_id: uuid.UUID, changes: Mapping[str, Any]) -> Feature:
    """Change what a feature says, or say it again, so that no machine changes it; the value before
    stays in its history. Raises Invalid, NotFound, Conflict for one that has ended or where
    another says the same."""
    feature = _living(scope, feature_id)
    before = {name: getattr(feature, name) for name in BY_COMMAND}
    after = before | {name: changes[name] for name in BY_COMMAND if name in changes}
    confirmed = feature.method != MANUAL and any(name in BY_COMMAND for name in changes)
    if after != before or confirmed:
        command = Command(
            UPDATE,
            **after,
            target=feature_id,
            occurred_at=timezone.now(),
            slot=feature.slot,
            cited=apply.cited_now(feature),
        )
        _check(feature.set, command)
        _do(scope, feature.set, feature.agent_id, command)
    in_place = {name: changes[name] for name in IN_PLACE if name in changes}
    return _change_in_place(scope, find_feature(scope, feature_id), in_place)


def delete(scope: Scope, feature_id: uuid.UUID, reason: str = "") -> None:
    """End a feature; its history stays, and `undo` brings it back."""
    feature = _living(scope, feature_id)
    command = Command(DELETE, target=feature_id, reason=reason)
    _do(scope, feature.set, feature.agent_id, command)


def _living(scope: Scope, feature_id: uuid.UUID) -> Feature:
    feature = find_feature(scope, feature_id)
    if feature.ended_at is not None:
        refuse_of_its_time(feature)
        raise Conflict("The feature has ended: undo that first.", "ended", "id")
    return feature


def refuse_of_its_time(feature: Feature) -> None:
    if FeatureChange.objects.filter(feature=feature, is_current=True, rule=OF_ITS_TIME).exists():
        raise Conflict("It was so at another time: nothing of it can be undone.", "past", "id")


def _check(feature_set: FeatureSet, command: Command) -> None:
    config = config_of(feature_set.workspace.settings, feature_set.config)
    if fault := fault_of_value(command, config.categories):
        field_name = next((name for words, name in FIELDS.items() if words in fault), "value")
        raise Invalid(field_name, f"{fault[0].upper()}{fault[1:]}.")


def _do(scope: Scope, feature_set: FeatureSet, agent_id: uuid.UUID | None, command: Command) -> ApplyResult:
    space = workspace_index.index_of(scope.workspace_id)
    text = Feature.text_of(command.tag, command.feature, command.value, command.about)
    vectors = apply.embed_texts(space, [text] if command.value else [])
    with transaction.atomic(durable=True):
        locked = apply.lock_set(space, feature_set)
        origin = ChangeOrigin(locked, scope.actor, MANUAL, BY_HAND, agent_id)
        applied = command
        if command.action == ADD and command.slot:
            # Of an attribute with one value, what a person writes takes a machine's place.
            known = apply.known_features(apply.live_features(locked, agent_id).values())
            old = [
                each
                for each in known
                if each.slot == command.slot
                and each.method != MANUAL
                and facts_to_features.is_theirs(command.about, each, known)
            ]
            if len(old) == 1:
                applied = replace(command, action=UPDATE, target=old[0].id, about=old[0].about)
        result = apply.apply_commands(space, origin, [applied], vectors)
        if command.action == UPDATE and result.supported:  # nothing of it stays done
            raise Conflict("Another feature says this already.", "taken", "value")
        touched = [*result.added, *result.updated, *result.deleted, *result.supported]
        row = Feature.objects.get(pk=touched[0])
        scope.audit(
            f"{command.action}_feature",
            row,
            subject_id=row.subject_id,
            reason=command.reason,
            after={"feature": row.feature, "value": row.value},
        )
    return result


@transaction.atomic(durable=True)
def _change_in_place(scope: Scope, feature: Feature, changes: Mapping[str, Any]) -> Feature:
    before = {name: getattr(feature, name) for name in changes}
    changed = {name: value for name, value in changes.items() if before[name] != value}
    if not changed:
        return feature
    row = Feature.objects.select_for_update(of=("self",)).get(pk=feature.pk)
    for name, value in changed.items():
        setattr(row, name, value)
    row.save(update_fields=[*changed, "updated_at"])
    if "visibility" in changed:
        entries.change_visibility(Layer.FEATURES, [row.pk], row.visibility)
    apply.mark_changed(row.set)
    scope.audit(
        "edit_feature",
        row,
        subject_id=row.subject_id,
        before={name: before[name] for name in changed},
        after=changed,
    )
    return find_feature(scope, feature.pk)
