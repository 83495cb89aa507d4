"""Merging of features where a section of a set grew too long."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from django.db import transaction
from django.utils import timezone

from memories import metrics
from memories.index import workspace_index
from memories.models import (
    Entry,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureSet,
    Layer,
    Vector,
    WorkspaceIndex,
)
from memories.profiles.features import apply, feature_prompts, merge_features, set_queue
from memories.profiles.features.apply import ChangeOrigin, Vectors
from memories.profiles.features.commands import LONGEST_VALUE, Command, KnownFeature, RefusedCommand, fault_of_value
from memories.profiles.features.config import FeatureSetConfig, config_of
from memories.profiles.features.gather_episodes import models_of
from memories.profiles.features.merge_features import Apart, FeatureMerge
from memories.profiles.features.propose_commands import feature_lines, named_by_number
from memories.profiles.features.sets import find
from memories.profiles.features.undo_features import undone_merges
from memories.providers import ModelQuestion
from memories.reading.extraction.fallback_chain import FallbackChain
from workspaces.models import AuditEntry
from workspaces.models.workspace import uuid7
from workspaces.scope import Scope

MERGED = 100  # features that one transaction merges

# Consolidation: sections that grew too long are merged, by a model or by likeness; nothing that
# was cited is lost, and a person can take it back.


@dataclass(frozen=True, slots=True)
class _Section:
    """Features that may become one another: of one agent, person and category."""

    config: FeatureSetConfig
    rows: Sequence[KnownFeature]
    apart: Apart


@dataclass(frozen=True, slots=True)
class _ProposedMerges:
    method: str
    rule: str
    merges: list[FeatureMerge] = field(default_factory=list)
    refused: list[RefusedCommand] = field(default_factory=list)


def consolidate(scope: Scope, key: str) -> int:
    """Merge now, whatever the threshold; return the number of features that became part of
    others."""
    return _consolidate_all(scope.actor, find(scope, key))


def consolidate_set(set_id: uuid.UUID) -> int:
    """Run `consolidate` for the worker; a set that is gone has nothing to merge."""
    row = FeatureSet.objects.select_related("workspace").filter(pk=set_id).first()
    return _consolidate_all(f"set:{row.key}", row) if row else 0


def _consolidate_all(by: str, feature_set: FeatureSet) -> int:
    """Merge all sections; what failed before stands against the set no more."""
    gone = _merge_sections(by, feature_set, over=1)
    failed = FeatureSet.objects.filter(pk=feature_set.pk, lease_until=None).exclude(error="")
    if failed.update(error="", failures=0):
        set_queue.recount(FeatureSet.objects.select_related("workspace").get(pk=feature_set.pk))
    return gone


def consolidate_long_sections(feature_set: FeatureSet) -> int:
    """Merge in the sections that are over the set's threshold. Raises ProviderError."""
    config = config_of(feature_set.workspace.settings, feature_set.config)
    over = config.features_per_consolidation
    return _merge_sections(f"set:{feature_set.key}", feature_set, over=over)


def _merge_sections(by: str, feature_set: FeatureSet, *, over: int) -> int:
    config = config_of(feature_set.workspace.settings, feature_set.config)
    models, apart, gone = models_of(feature_set), undone_merges(feature_set), 0
    space = workspace_index.index_of(feature_set.workspace_id)
    own = feature_set.embedding_model
    speaking = workspace_index.under_model(space, own) if own else space
    agents = Feature.objects.live().filter(set=feature_set).values_list("agent_id", flat=True)
    for agent_id in agents.order_by("agent_id").distinct():
        known = apply.known_features(apply.live_features(feature_set, agent_id).values())
        for rows in merge_features.sections(known, over):
            section = _Section(config, rows, apart)
            with metrics.timer("set_consolidation"):
                if models:
                    proposed = _ask_model(section, models)
                else:
                    proposed = _by_likeness(speaking, section)
            origin = ChangeOrigin(feature_set, by, proposed.method, proposed.rule, agent_id)
            texts = [Feature.text_of(each.tag, each.feature, each.value, each.kept.about) for each in proposed.merges]
            vectors = apply.embed_texts(space, texts)
            for some in _in_steps(proposed):
                gone += _apply_merged(space, replace(origin, batch=uuid7()), some, vectors)
    return gone


def _in_steps(proposed: _ProposedMerges) -> Iterator[_ProposedMerges]:
    """Split merges into steps of about so many features that a transaction with them is short."""
    step = replace(proposed, merges=[])
    for merge in proposed.merges:
        if sum(1 + len(each.gone) for each in step.merges) + 1 + len(merge.gone) > MERGED:
            yield step
            step = replace(proposed, merges=[], refused=[])
        step.merges.append(merge)
    yield step


def _by_likeness(space: WorkspaceIndex, section: _Section) -> _ProposedMerges:
    """Merge by the cosine of the vectors that search uses, from the model's own threshold for the
    same on."""
    model = space.embedding_model
    ids = [row.id for row in section.rows]
    indexed = Entry.objects.filter(workspace=space.number, layer=Layer.FEATURES, item__in=ids)
    items = dict(indexed.values_list("pk", "item"))
    known = Vector.objects.filter(entry_id__in=items, embedding_model_id=space.embedding_model_id or 0, part=0)
    vectors = {
        items[entry]: np.asarray(embedding, np.float32)
        for entry, embedding in known.values_list("entry_id", "embedding")
    }

    def similar(one: uuid.UUID, other: uuid.UUID) -> float | None:
        if one not in vectors or other not in vectors:
            return None
        return float(np.dot(vectors[one], vectors[other]))

    threshold = model.duplicate_threshold if model else 1.1
    proposed = merge_features.by_similarity(section.rows, similar, threshold, section.apart)
    return _ProposedMerges("rule", f"likeness {threshold:.2f}", proposed)


def _ask_model(section: _Section, models: FallbackChain) -> _ProposedMerges:
    named = named_by_number(section.rows)
    category = section.config.category(section.rows[0].category)
    tags = [tag.name for tag in category.tags] if category else []
    question = ModelQuestion(
        feature_prompts.merge_rules(tags, section.config.consolidation_prompt, LONGEST_VALUE),
        feature_prompts.features_text(feature_lines(named)),
        feature_prompts.MergesAnswer,
    )
    reply = models.ask(question)
    answer = feature_prompts.read_answer(reply.text, "merges", feature_prompts.MergeAnswer)
    result = _ProposedMerges("llm", f"{reply.model} {feature_prompts.MERGE_VERSION}")
    result.refused.extend(RefusedCommand("it is no merge", raw=raw) for raw in answer.broken)
    for part in answer.parts:
        values = part.model_dump(include={"tag", "feature", "value"})
        merge = merge_features.by_answer(part.ids, named, values)
        if isinstance(merge, str):
            result.refused.append(RefusedCommand(merge, raw=part.model_dump()))
            continue
        fault = "a person took this merge back"
        if not merge_features.are_apart([merge.kept, *merge.gone], section.apart):
            command = Command("add", merge.kept.category, merge.tag, merge.feature, merge.value)
            fault = fault_of_value(command, section.config.categories)
        if fault:
            result.refused.append(RefusedCommand(fault, raw=part.model_dump()))
        else:
            result.merges.append(merge)
    return result


@transaction.atomic(durable=True)
def _apply_merged(space: WorkspaceIndex, origin: ChangeOrigin, proposed: _ProposedMerges, vectors: Vectors) -> int:
    feature_set = apply.lock_set(space, origin.set)
    live, gone = apply.live_features(feature_set, origin.agent_id), 0
    touched: list[Feature] = []
    for merge in proposed.merges:
        if _is_possible(merge, live):
            touched += _merge(replace(origin, set=feature_set, batch=uuid7()), merge, live)
            gone += len(merge.gone)
    apply.keep_refused(origin, proposed.refused)
    if touched:
        here = [each for each in touched if each.ended_at is None]
        apply.reindex(space, [each.pk for each in touched], here, vectors)
        apply.mark_changed(feature_set)
        AuditEntry.line(
            feature_set.workspace_id,
            origin.by,
            "consolidate_set",
            feature_set,
            subject_id=feature_set.subject_id,
            reason=origin.rule,
            after={"merged": gone},
        ).save()
    return gone


def _is_possible(merge: FeatureMerge, live: dict[uuid.UUID, Feature]) -> bool:
    """Tell whether nobody changed or ended one of them meanwhile, no other merge has it, and no
    other feature says what would come of it."""
    here = {each.id: each for each in (merge.kept, *merge.gone)}
    for known in here.values():
        row = live.get(known.id)
        same = ("tag", "feature", "value", "method")
        if row is None or any(getattr(row, name) != getattr(known, name) for name in same):
            return False
    fingerprint = Feature.fingerprint_of(
        {
            "category": merge.kept.category,
            "tag": merge.tag,
            "feature": merge.feature,
            "about": merge.kept.about,
            "value": merge.value,
        }
    )
    return all(bytes(row.fingerprint) != fingerprint for row in live.values() if row.pk not in here)


def _merge(origin: ChangeOrigin, merge: FeatureMerge, live: dict[uuid.UUID, Feature]) -> list[Feature]:
    """Return the kept feature with what it took over, and the others, ended; each has its
    change."""
    kept = live.pop(merge.kept.id)
    before = kept.snapshot()
    kept.set_to({"tag": merge.tag, "feature": merge.feature, "value": merge.value})
    gone = [live.pop(each.id) for each in merge.gone]
    inherited = list(FeatureCitation.objects.filter(feature__in=[kept, *gone], change__is_current=True))
    parts = (merge.kept, *merge.gone)
    reason = "merged: " + ", ".join(f"{each.feature}: {each.value}" for each in parts)
    occurred_at = max(each.occurred_at for each in parts)
    for feature in (*gone, kept):
        FeatureChange.objects.filter(feature=feature, is_current=True).update(is_current=False)
        change = FeatureChange.objects.create(
            workspace_id=origin.set.workspace_id,
            set=origin.set,
            feature=feature,
            batch=origin.batch,
            action=FeatureChange.Action.MERGE,
            before=before if feature is kept else feature.snapshot(),
            after=kept.snapshot() if feature is kept else None,
            by=origin.by,
            rule=origin.rule,
            reason=reason[:2000],
            occurred_at=occurred_at,
        )
        if feature is not kept:
            feature.ended_at = timezone.now()
        feature.save()
    cited = apply.cited_of(inherited, occurred_at)  # the last change is that of the kept one
    FeatureCitation.objects.bulk_create(apply.new_citations(change, cited))
    return [*gone, kept]
