"""Carrying out commands on the features of a set: rows, history, citations, index, all at once."""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import Case, F, Max, Q, When
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from memories import outbox
from memories.features.commands import ADD, DELETE, UPDATE, Cited, Command, Known, Refused
from memories.index import entries, inserts, workspace_index
from memories.models import (
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureSet,
    Layer,
    WorkspaceIndex,
)
from memories.models.conversation import AHEAD
from workspaces.ids import uuid7

MANUAL = Feature.Method.MANUAL
BY_HAND = "manual"  # the rule of what a person did
Vectors = Mapping[str, entries.Vectors]  # by the text of a feature
# As `Episode.believed_at`, of what a change cites.
CITED_AT = Case(
    When(
        citations__episode__occurred_at__gt=F("citations__episode__created_at") + AHEAD,
        then=F("citations__episode__created_at"),
    ),
    default=F("citations__episode__occurred_at"),
)


@dataclass(frozen=True, slots=True)
class Act:
    """Who changes a set: `agent_id` whose features they are, `by` the actor, `rule` what decided.

    The changes of one act share its `batch`.
    """

    set: FeatureSet
    by: str
    method: str
    rule: str = ""
    agent_id: uuid.UUID | None = None
    batch: uuid.UUID = field(default_factory=uuid7)


@dataclass(slots=True)
class Outcome:
    """Ids of the features that an act touched; `supported` said the same before."""

    added: list[uuid.UUID] = field(default_factory=list)
    updated: list[uuid.UUID] = field(default_factory=list)
    deleted: list[uuid.UUID] = field(default_factory=list)
    supported: list[uuid.UUID] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def locked(space: WorkspaceIndex, found: FeatureSet) -> FeatureSet:
    """The set again, locked until the transaction ends: its features are changed one act at a time.

    Always behind the workspace's lock, which forgetting holds before it comes here.
    """
    workspace_index.lock(space)
    return FeatureSet.objects.select_for_update().get(pk=found.pk)


def live_of(act: Act) -> dict[uuid.UUID, Feature]:
    """The live features that the act may change, by id."""
    whose = Q(agent_id=act.agent_id) if act.agent_id else Q(agent=None)
    rows = Feature.objects.live().filter(whose, set=act.set)
    return {row.pk: row for row in rows.order_by("pk")}


def ended_by_hand(found: FeatureSet, agent_id: uuid.UUID | None) -> dict[bytes, datetime]:
    """When a person ended what, by the fingerprint of what it said."""
    rows = FeatureChange.objects.filter(
        set=found, is_current=True, after__isnull=True, rule=BY_HAND
    )
    rows = rows.filter(feature__agent=agent_id) if agent_id else rows.filter(feature__agent=None)
    ended = rows.values_list("feature__fingerprint", "created_at")
    return {bytes(said): at for said, at in ended}


def known_of(features: Iterable[Feature]) -> list[Known]:
    """Features as commands see them."""
    rows = list(features)
    said = FeatureChange.objects.filter(feature__in=[row.pk for row in rows], is_current=True)
    last = Greatest(Least("occurred_at", "created_at"), Max(CITED_AT))
    at = dict(said.annotate(last=last).values_list("feature_id", "last"))
    return [
        Known(row.pk, row.category, row.tag, row.feature, row.value, row.about, row.slot,
              row.method, at[row.pk])
        for row in rows
    ]  # fmt: skip


def carry_out(
    space: WorkspaceIndex, act: Act, commands: Sequence[Command], vectors: Vectors
) -> Outcome:
    """Do what `plan` let through, in the caller's transaction, the set being locked."""
    work = _Work(space, act, live_of(act))
    for command in commands:
        work.do(command)
    work.write(vectors)
    return work.outcome


def touch(found: FeatureSet) -> None:
    """Note that something in the set changed: what was made from it is no longer fresh."""
    FeatureSet.objects.filter(pk=found.pk).update(stamp=F("stamp") + 1, updated_at=timezone.now())


def reindex(
    space: WorkspaceIndex, gone: Sequence[uuid.UUID], here: Sequence[Feature], vectors: Vectors
) -> None:
    """Entries of features that ended or say something else, and of those that are here now."""
    if not gone and not here:
        return
    if gone:
        entries.remove(space, Layer.FEATURES, gone)
    items = [entries.feature_item(feature) for feature in here]
    own = [vectors.get(feature.content) for feature in here]
    ready = [(item, found) for item, found in zip(items, own, strict=True) if found is not None]
    late = [item for item, found in zip(items, own, strict=True) if found is None]
    entries.write(space, [item for item, _ in ready], [found for _, found in ready])
    entries.write(space, late, None)
    _let_embed({feature.set_id for feature in here})


def _let_embed(sets: Collection[uuid.UUID]) -> None:
    """Sets that speak a model of their own have vectors of it to be made."""
    own = Q(embedding_model__isnull=False) | Q(embedding_due_at__isnull=False)
    for set_id in FeatureSet.objects.filter(own, pk__in=sets).values_list("pk", flat=True):
        FeatureSet.objects.filter(pk=set_id).update(embedding_due_at=timezone.now())
        outbox.post("embed_set", set_id)


class _Work:
    """One act under way: rows are collected, and written at the end."""

    def __init__(self, space: WorkspaceIndex, act: Act, live: dict[uuid.UUID, Feature]) -> None:
        self.space, self.act, self.live = space, act, live
        self.by_fingerprint = {bytes(row.fingerprint): row for row in live.values()}
        self.outcome = Outcome()
        self.made: dict[uuid.UUID, Feature] = {}
        self.changed: dict[uuid.UUID, Feature] = {}
        self.changes: list[FeatureChange] = []
        self.citations: list[FeatureCitation] = []
        self.support: list[tuple[Feature, tuple[Cited, ...]]] = []

    def do(self, command: Command) -> None:
        target = self.live.get(command.target) if command.target else None
        if command.action == DELETE and target:
            self._end(command, target)
            return
        same = self.by_fingerprint.get(Feature.fingerprint_of(told_by(command)))
        if same is not None:
            self._support(command, same, target)
        elif command.action == ADD or target is None:
            self._add(command)
        else:
            self._update(command, target)

    def _support(self, command: Command, same: Feature, target: Feature | None) -> None:
        """It is known already: more words for it, and where another feature was meant, that ends."""
        if self._confirms(same) and target in (None, same):
            cited = (*command.cited, *cited_now(same))
            self._update(replace(command, action=UPDATE, slot=same.slot, cited=cited), same)
            return
        self.support.append((same, command.cited))
        self.outcome.supported.append(same.pk)
        if target is not None and target.pk != same.pk:
            self._end(replace(command, reason=f"{same.feature} says it already"), target)

    def _confirms(self, same: Feature) -> bool:
        """A person says what a machine said: it is theirs now."""
        return self.act.method == MANUAL and same.method != MANUAL

    def _add(self, command: Command) -> None:
        act = self.act
        feature = Feature(
            workspace_id=act.set.workspace_id, set=act.set, agent_id=act.agent_id,
            subject_id=act.set.subject_id, conversation_id=act.set.conversation_id,
            method=act.method,
        )  # fmt: skip
        feature.set_to(told_by(command))
        self.by_fingerprint[bytes(feature.fingerprint)] = feature
        self.made[feature.pk] = feature
        self.outcome.added.append(feature.pk)
        self._note(command, feature, before=None)

    def _update(self, command: Command, feature: Feature) -> None:
        before = feature.snapshot()
        self.by_fingerprint.pop(bytes(feature.fingerprint), None)
        feature.set_to(told_by(command) | {"method": self.act.method})
        self.by_fingerprint[bytes(feature.fingerprint)] = feature
        self.changed[feature.pk] = feature
        self.outcome.updated.append(feature.pk)
        self._note(command, feature, before)

    def _end(self, command: Command, feature: Feature) -> None:
        feature.ended_at = timezone.now()
        self.by_fingerprint.pop(bytes(feature.fingerprint), None)
        self.changed[feature.pk] = feature
        self.outcome.deleted.append(feature.pk)
        self._note(replace(command, action=DELETE), feature, feature.snapshot(), after=False)

    def _note(
        self,
        command: Command,
        feature: Feature,
        before: dict[str, Any] | None,
        *,
        after: bool = True,
    ) -> None:
        act = self.act
        change = FeatureChange(
            workspace_id=act.set.workspace_id, set=act.set, feature=feature, batch=act.batch,
            action=command.action, before=before, after=feature.snapshot() if after else None,
            by=act.by, rule=act.rule, reason=command.reason,
            occurred_at=command.occurred_at or timezone.now(),
        )  # fmt: skip
        self.changes.append(change)
        self.citations += cited_by(change, command.cited)

    def write(self, vectors: Vectors) -> None:
        for feature in self.changed.values():
            feature.save()
        inserts.insert(list(self.made.values()))
        touched = [change.feature_id for change in self.changes]
        FeatureChange.objects.filter(feature__in=touched, is_current=True).update(is_current=False)
        inserts.insert(self.changes)
        inserts.insert(self.citations)
        for feature, cited in self.support:
            add_support(feature, cited)
        here = [row for row in (*self.made.values(), *self.changed.values()) if not row.ended_at]
        reindex(self.space, list(self.changed), here, vectors)
        if self.changes or self.support:
            touch(self.act.set)


def add_support(feature: Feature, cited: Sequence[Cited]) -> None:
    """More words under the value that a feature has now; the same words twice are once."""
    current = FeatureChange.objects.get(feature=feature, is_current=True)
    FeatureCitation.objects.bulk_create(cited_by(current, cited), ignore_conflicts=True)


def cited_by(change: FeatureChange, cited: Sequence[Cited]) -> list[FeatureCitation]:
    once = {(each.episode_id, each.start, each.end): each for each in cited}
    return [
        FeatureCitation(
            workspace_id=change.workspace_id, feature_id=change.feature_id, change=change,
            episode_id=each.episode_id, fact_id=each.fact_id, start=each.start, end=each.end,
            quote=each.quote,
        )
        for each in once.values()
    ]  # fmt: skip


def cited_now(feature: Feature) -> list[Cited]:
    """The words that a feature stands on."""
    current = FeatureChange.objects.get(feature=feature, is_current=True)
    return [cited_again(row, current.occurred_at) for row in current.citations.all()]


def cited_again(row: FeatureCitation, occurred_at: datetime) -> Cited:
    """The words of a citation, for another change to stand on."""
    return Cited(row.episode_id, row.start, row.end, row.quote, occurred_at, row.fact_id)


def told_by(command: Command) -> dict[str, Any]:
    """What a command says of a feature, by the feature's columns."""
    return {
        "category": command.category, "tag": command.tag, "feature": command.feature.strip(),
        "value": command.value.strip(), "about": command.about, "slot": command.slot,
    }  # fmt: skip
