"""Features written, changed and ended by hand; what a person wrote, no machine changes."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories.errors import Conflict, Invalid
from memories.features import apply, rules, sets, undo
from memories.features.apply import BY_HAND, MANUAL, Act, Outcome, Vectors
from memories.features.commands import ADD, DELETE, UPDATE, Cited, Command, fault_of_value
from memories.features.undo import seen
from memories.index import entries, workspace_index
from memories.models import Episode, Feature, FeatureSet, Layer, Visibility
from workspaces.models import AuditEntry
from workspaces.scope import Scope

SAID = ("category", "tag", "feature", "value", "about")
IN_PLACE = ("visibility", "metadata")


@dataclass(frozen=True, slots=True)
class NewFeature:
    """A feature by hand. `episode_ids` are cited whole."""

    category: str
    tag: str
    feature: str
    value: str
    about: str = ""
    visibility: str = Visibility.PRIVATE
    metadata: Mapping[str, Any] = field(default_factory=dict)
    episode_ids: tuple[uuid.UUID, ...] = ()


def create(scope: Scope, key: str, new: NewFeature) -> Feature:
    """Add a feature; one that says the same already is answered again, as a person's from now on,
    and of an attribute with one value the machine's takes this one. Raises Invalid, NotFound."""
    found = sets.find(scope, key)
    said = {name: getattr(new, name) for name in SAID}
    command = Command(
        ADD, **said, cited=_cited(scope, new.episode_ids), occurred_at=timezone.now(),
        slot=rules.slot_of(new.category, new.tag, new.feature),
    )  # fmt: skip
    _check(found, command)
    act = Act(found, scope.actor, MANUAL, BY_HAND, scope.agent_id)
    outcome = _do(scope, act, command)
    made = seen(scope, (outcome.added or outcome.updated or outcome.supported)[0])
    in_place = {name: getattr(new, name) for name in IN_PLACE if getattr(new, name)}
    return _change_in_place(scope, made, in_place)


def edit(scope: Scope, feature_id: uuid.UUID, changes: Mapping[str, Any]) -> Feature:
    """Change what a feature says, or say it again, so that no machine changes it; the value before
    stays in its undo. Raises Invalid, NotFound, Conflict for one that has ended or where
    another says the same."""
    feature = _living(scope, feature_id)
    said = {name: getattr(feature, name) for name in SAID}
    new = said | {name: changes[name] for name in SAID if name in changes}
    confirmed = feature.method != MANUAL and any(name in SAID for name in changes)
    if new != said or confirmed:
        command = Command(
            UPDATE, **new, target=feature_id, occurred_at=timezone.now(),
            slot=feature.slot, cited=tuple(apply.cited_now(feature)),
        )  # fmt: skip
        _check(feature.set, command)
        act = Act(feature.set, scope.actor, MANUAL, BY_HAND, feature.agent_id)
        if _do(scope, act, command).supported:
            raise Conflict("Another feature says this already.", "taken", "value")
    in_place = {name: changes[name] for name in IN_PLACE if name in changes}
    return _change_in_place(scope, seen(scope, feature_id), in_place)


def delete(scope: Scope, feature_id: uuid.UUID, reason: str = "") -> None:
    """End a feature; its history stays, and `undo` brings it back."""
    feature = _living(scope, feature_id)
    command = Command(DELETE, target=feature_id, occurred_at=timezone.now(), reason=reason)
    _do(scope, Act(feature.set, scope.actor, MANUAL, BY_HAND, feature.agent_id), command)


def _living(scope: Scope, feature_id: uuid.UUID) -> Feature:
    feature = seen(scope, feature_id)
    if feature.ended_at is not None:
        raise Conflict("The feature has ended: undo that first.", "ended", "id")
    return feature


def _check(found: FeatureSet, command: Command) -> None:
    if fault := fault_of_value(command, sets.config_of(found).categories):
        raise Invalid(_field(fault), f"{fault[0].upper()}{fault[1:]}.")


def _field(fault: str) -> str:
    """What a fault is about, in the caller's words."""
    named = {"no tag": "tag", "no category": "category", "the feature's name": "feature"}
    return next((name for words, name in named.items() if words in fault), "value")


def _cited(scope: Scope, episode_ids: Sequence[uuid.UUID]) -> tuple[Cited, ...]:
    rows = Episode.objects.visible_to(scope).filter(pk__in=episode_ids).exclude(content="")
    found = {row.pk: row for row in rows}
    if missing := [each for each in episode_ids if each not in found]:
        raise Invalid("episodeIds", f"There is no episode {missing[0]}.")
    return tuple(
        Cited(row.pk, 0, len(row.content), row.content, row.occurred_at) for row in found.values()
    )


def _do(scope: Scope, act: Act, command: Command) -> Outcome:
    space = workspace_index.index_of(scope.workspace_id)
    text = Feature.text_of(command.tag, command.feature, command.value, command.about)
    vectors: Vectors = undo.vectors_of(space, [text] if command.value else [])
    with transaction.atomic(durable=True):
        act = replace(act, set=apply.locked(space, act.set))
        outcome = apply.carry_out(space, act, [_in_place(act, command)], vectors)
        _audit(scope, act, command, outcome)
    return outcome


def _in_place(act: Act, command: Command) -> Command:
    """Of an attribute with one value, what a person writes takes the place of a machine's."""
    if command.action != ADD or not command.slot:
        return command
    known = apply.known_of(apply.live_of(act).values())
    old = [
        each for each in known
        if each.slot == command.slot and each.method != MANUAL
        and rules.is_theirs(command.about, each, known)
    ]  # fmt: skip
    if len(old) != 1:
        return command
    return replace(command, action=UPDATE, target=old[0].id, about=old[0].about)


def _audit(scope: Scope, act: Act, command: Command, outcome: Outcome) -> None:
    touched = [*outcome.added, *outcome.updated, *outcome.deleted, *outcome.supported]
    row = Feature.objects.get(pk=touched[0])
    AuditEntry.line(
        scope.workspace_id, scope.actor, f"{command.action}_feature", row,
        subject_id=row.subject_id, reason=command.reason,
        after={"feature": row.feature, "value": row.value},
    ).save()  # fmt: skip


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
        entries.change_visibility(Layer.FEATURES, row.pk, row.visibility)
    apply.touch(row.set)
    AuditEntry.line(
        scope.workspace_id, scope.actor, "edit_feature", row, subject_id=row.subject_id,
        before={name: before[name] for name in changed}, after=changed,
    ).save()  # fmt: skip
    return seen(scope, feature.pk)
