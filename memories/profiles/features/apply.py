"""Commands applied to the features of a set: rows, history, citations, index, all at once."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import Case, F, Max, Q, When
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from memories.index import due_vectors, entries, workspace_index
from memories.models import (
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureRefusal,
    FeatureSet,
    Layer,
    WorkspaceIndex,
)
from memories.models.conversation import AHEAD
from memories.models.feature import OF_ITS_TIME
from memories.profiles.features.commands import ADD, DELETE, KEEP, UPDATE, Cited, Command, KnownFeature, RefusedCommand
from memories.queue import outbox
from workspaces.models.workspace import uuid7

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
class ChangeOrigin:
    """The origin of changes to a set: `agent_id` whose features they are, `by` the actor, `rule`
    what decided.

    The changes of one origin share its `batch`.
    """

    set: FeatureSet
    by: str
    method: str
    rule: str = ""
    agent_id: uuid.UUID | None = None
    batch: uuid.UUID = field(default_factory=uuid7)


@dataclass(slots=True)
class ApplyResult:
    """The ids of the features that commands touched; `supported` said the same before."""

    added: list[uuid.UUID] = field(default_factory=list)
    updated: list[uuid.UUID] = field(default_factory=list)
    deleted: list[uuid.UUID] = field(default_factory=list)
    supported: list[uuid.UUID] = field(default_factory=list)
    refused: list[RefusedCommand] = field(default_factory=list)


def lock_set(space: WorkspaceIndex, feature_set: FeatureSet) -> FeatureSet:
    """Lock the set until the transaction ends, and return it as it is then: one at a time changes
    its features.

    The workspace's lock always comes first: forgetting holds it before it comes here.
    """
    workspace_index.lock(space)
    return FeatureSet.objects.select_for_update().get(pk=feature_set.pk)


def live_features(feature_set: FeatureSet, agent_id: uuid.UUID | None) -> dict[uuid.UUID, Feature]:
    """Return the live features of a set that stand on one agent's episodes (None: on nobody's), by
    id."""
    rows = Feature.objects.live().filter(set=feature_set, agent=agent_id)
    return {row.pk: row for row in rows.order_by("pk")}


def ended_by_hand(origin: ChangeOrigin) -> dict[bytes, datetime]:
    """Return when a person ended what, by the fingerprint of what it said."""
    rows = FeatureChange.objects.filter(
        set=origin.set,
        feature__agent=origin.agent_id,
        is_current=True,
        after__isnull=True,
        rule=BY_HAND,
    )
    return {bytes(key): at for key, at in rows.values_list("feature__fingerprint", "created_at")}


def known_features(features: Iterable[Feature]) -> list[KnownFeature]:
    """Return features as commands see them."""
    rows = list(features)
    current = FeatureChange.objects.filter(feature__in=[row.pk for row in rows], is_current=True)
    last = Greatest(Least("occurred_at", "created_at"), Max(CITED_AT))
    at = dict(current.annotate(last=last).values_list("feature_id", "last"))
    return [
        KnownFeature(row.pk, row.category, row.tag, row.feature, row.value, row.about, row.slot, row.method, at[row.pk])
        for row in rows
    ]


def apply_commands(
    space: WorkspaceIndex, origin: ChangeOrigin, commands: Sequence[Command], vectors: Vectors
) -> ApplyResult:
    """Do what `plan` let through, in the caller's transaction, the set being locked."""
    work = _Changes(space, origin)
    kept = [each for each in commands if each.action == KEEP]
    told = values_told(kept) if kept else set()
    for command in commands:
        if command.action != KEEP:
            work.do(command)
        elif told.isdisjoint((each.fact_id, Feature.fingerprint_of(command.columns)) for each in command.cited):
            work.keep(command)
    work.write(vectors)
    return work.result


def values_told(commands: Sequence[Command]) -> set[tuple[uuid.UUID | None, bytes]]:
    """Return the facts that these commands stand on, each with what a feature says or once said by
    it."""
    facts = {each.fact_id for command in commands for each in command.cited} - {None}
    rows = FeatureCitation.objects.filter(fact__in=facts, change__after__isnull=False)
    said = rows.values_list("fact_id", "change__after")
    return {(fact_id, Feature.fingerprint_of(after)) for fact_id, after in said if after}


class _Changes:
    """Changes under way: rows are collected, and written at the end."""

    def __init__(self, space: WorkspaceIndex, origin: ChangeOrigin) -> None:
        self.space, self.origin = space, origin
        self.live = live_features(origin.set, origin.agent_id)
        self.by_fingerprint = {bytes(row.fingerprint): row for row in self.live.values()}
        self.result = ApplyResult()
        self.made: dict[uuid.UUID, Feature] = {}
        self.changed: dict[uuid.UUID, Feature] = {}
        self.changes: list[FeatureChange] = []
        self.taken_back: list[FeatureChange] = []  # as if their value had never been said
        self.citations: list[FeatureCitation] = []
        self.support: list[tuple[Feature, tuple[Cited, ...]]] = []

    def do(self, command: Command) -> None:
        target = self.live.get(command.target) if command.target else None
        if command.action == DELETE and target:
            self._end(command, target)
            return
        same = self.by_fingerprint.get(Feature.fingerprint_of(command.columns))
        if same is not None:
            # It is known already: more words for it, and where another feature was meant, that
            # ends.
            confirmed = self.origin.method == MANUAL and same.method != MANUAL
            if confirmed and target in (None, same):  # what a machine said is a person's now
                cited = (*command.cited, *cited_now(same))
                self._update(replace(command, action=UPDATE, slot=same.slot, cited=cited), same)
                return
            self.support.append((same, command.cited))
            self.result.supported.append(same.pk)
            if target is not None and target.pk != same.pk:
                self._end(replace(command, reason=f"{same.feature} says it already"), target)
        elif command.action == ADD or target is None:
            feature = self._new(command)
            self.by_fingerprint[bytes(feature.fingerprint)] = feature
            self.result.added.append(feature.pk)
            self._note(command, feature, None, feature.snapshot())
        else:
            self._update(command, target)

    def keep(self, command: Command) -> None:
        """Keep a value that is not so now, for those who ask for its time."""
        feature = self._new(command)
        feature.ended_at = timezone.now()
        said = feature.snapshot()
        self._note(replace(command, action=ADD), feature, None, said)
        self.changes[-1].is_current = False
        self._note(replace(command, action=DELETE, cited=()), feature, said, None)
        for change in self.changes[-2:]:
            change.rule = OF_ITS_TIME

    def _new(self, command: Command) -> Feature:
        feature_set = self.origin.set
        feature = Feature(
            workspace_id=feature_set.workspace_id,
            set=feature_set,
            agent_id=self.origin.agent_id,
            subject_id=feature_set.subject_id,
            conversation_id=feature_set.conversation_id,
            method=self.origin.method,
        )
        feature.set_to(command.columns)
        self.made[feature.pk] = feature
        return feature

    def _update(self, command: Command, feature: Feature) -> None:
        before = feature.snapshot()
        self.by_fingerprint.pop(bytes(feature.fingerprint), None)
        feature.set_to(command.columns | {"method": self.origin.method})
        self.by_fingerprint[bytes(feature.fingerprint)] = feature
        self.changed[feature.pk] = feature
        self.result.updated.append(feature.pk)
        self._note(command, feature, before, feature.snapshot())

    def _end(self, command: Command, feature: Feature) -> None:
        feature.ended_at = timezone.now()
        self.by_fingerprint.pop(bytes(feature.fingerprint), None)
        self.changed[feature.pk] = feature
        self.result.deleted.append(feature.pk)
        self._note(replace(command, action=DELETE), feature, feature.snapshot(), None)
        if command.occurred_at is None:
            self.taken_back.append(self.changes[-1])

    def _note(
        self,
        command: Command,
        feature: Feature,
        before: dict[str, Any] | None,
        after: dict[str, Any] | None,
    ) -> None:
        origin = self.origin
        change = FeatureChange(
            workspace_id=origin.set.workspace_id,
            set=origin.set,
            feature=feature,
            batch=origin.batch,
            action=command.action,
            before=before,
            after=after,
            by=origin.by,
            rule=origin.rule,
            reason=command.reason,
            occurred_at=command.occurred_at or timezone.now(),
        )
        self.changes.append(change)
        self.citations += new_citations(change, command.cited)

    def write(self, vectors: Vectors) -> None:
        for feature in self.changed.values():
            feature.save()
        Feature.objects.bulk_create(self.made.values())
        touched = [change.feature_id for change in self.changes]
        current = FeatureChange.objects.filter(feature__in=touched, is_current=True)
        taken_back = self.taken_back
        said = dict(current.values_list("feature_id", "occurred_at")) if taken_back else {}
        for change in taken_back:
            change.occurred_at = said[change.feature_id]
        current.update(is_current=False)
        FeatureChange.objects.bulk_create(self.changes)
        FeatureCitation.objects.bulk_create(self.citations)
        for feature, cited in self.support:
            add_support(feature, cited)
        here = [row for row in (*self.made.values(), *self.changed.values()) if not row.ended_at]
        reindex(self.space, list(self.changed), here, vectors)
        if self.changes or self.support:
            mark_changed(self.origin.set)


def keep_refused(
    origin: ChangeOrigin, refused: Iterable[RefusedCommand], episode_ids: Sequence[uuid.UUID] = ()
) -> None:
    """Note what was not done, and why; `episode_ids` are what was read for it."""
    FeatureRefusal.objects.bulk_create(
        FeatureRefusal(
            workspace_id=origin.set.workspace_id,
            set=origin.set,
            agent_id=origin.agent_id,
            batch=origin.batch,
            command=each.as_json(),
            reason=each.reason,
            rule=origin.rule,
            episode_ids=list(episode_ids),
        )
        for each in refused
    )


def mark_changed(feature_set: FeatureSet) -> None:
    """Note that something in the set changed: what was made from it is no longer fresh."""
    rows = FeatureSet.objects.filter(pk=feature_set.pk)
    rows.update(stamp=F("stamp") + 1, updated_at=timezone.now())


def reindex(space: WorkspaceIndex, gone: Sequence[uuid.UUID], here: Sequence[Feature], vectors: Vectors) -> None:
    """Remove the entries of `gone`, which ended or say something else, and write those of
    `here`."""
    if not gone and not here:
        return
    if gone:
        entries.remove(space, Layer.FEATURES, gone)
    items = [(entries.feature_item(each), vectors.get(each.content)) for each in here]
    ready = [(item, own) for item, own in items if own is not None]
    entries.write(space, [item for item, _ in ready], [own for _, own in ready])
    entries.write(space, [item for item, own in items if own is None], None)
    # Sets that speak a model of their own have vectors of it to be made.
    speaks = Q(embedding_model__isnull=False) | Q(embedding_due_at__isnull=False)
    sets = FeatureSet.objects.filter(speaks, pk__in={each.set_id for each in here})
    for set_id in sets.values_list("pk", flat=True):
        FeatureSet.objects.filter(pk=set_id).update(embedding_due_at=timezone.now())
        outbox.post("embed_set", set_id)


def embed_texts(space: WorkspaceIndex, texts: Iterable[str]) -> Vectors:
    """Return vectors by text; none where the embedder failed, so that the entries stay due."""
    once = list(dict.fromkeys(texts))
    vectors = due_vectors.embed_or_leave(space, [entries.texts_of(text) for text in once])
    return {} if vectors is None else dict(zip(once, vectors, strict=True))


def same_as(feature: Feature) -> Feature | None:
    """Return another live feature of the set that says the same."""
    same = Feature.objects.live().filter(set=feature.set_id, fingerprint=feature.fingerprint)
    return same.filter(agent=feature.agent_id).exclude(pk=feature.pk).first()


def add_support(feature: Feature, cited: Sequence[Cited]) -> None:
    """Add words to the value that a feature has now; the same words twice are once."""
    current = FeatureChange.objects.get(feature=feature, is_current=True)
    FeatureCitation.objects.bulk_create(new_citations(current, cited), ignore_conflicts=True)


def new_citations(change: FeatureChange, cited: Sequence[Cited]) -> list[FeatureCitation]:
    """Return rows that are still to be written."""
    once = {(each.episode_id, each.start, each.end): each for each in cited}
    return [
        FeatureCitation(
            workspace_id=change.workspace_id,
            feature_id=change.feature_id,
            change=change,
            episode_id=each.episode_id,
            fact_id=each.fact_id,
            start=each.start,
            end=each.end,
            quote=each.quote,
        )
        for each in once.values()
    ]


def cited_now(feature: Feature) -> tuple[Cited, ...]:
    """Return the words that a feature stands on, for another change to stand on."""
    change = FeatureChange.objects.get(feature=feature, is_current=True)
    return cited_of(change.citations.all(), change.occurred_at)


def cited_of(rows: Iterable[FeatureCitation], occurred_at: datetime) -> tuple[Cited, ...]:
    return tuple(Cited(row.episode_id, row.start, row.end, row.quote, occurred_at, row.fact_id) for row in rows)
