"""Consolidation: sections that grew too long are merged, by a model or by likeness; nothing that
was cited is lost, and a person can take it back."""

import uuid
from dataclasses import dataclass, replace

import numpy as np
from django.db import transaction
from django.utils import timezone

from memories import metrics
from memories.errors import ProviderError
from memories.extraction.fallback import FallbackChain
from memories.features import apply, feature_prompts, pending, undo
from memories.features import merges as merging
from memories.features.apply import Act, Vectors
from memories.features.ask import line
from memories.features.batch import ladder_for
from memories.features.commands import LONGEST_VALUE, Command, Known, Refused, fault_of_value
from memories.features.config import Config
from memories.features.merges import Apart, Merge
from memories.features.sets import config_of, find
from memories.index import statements, workspace_index
from memories.models import (
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureRefusal,
    FeatureSet,
    Layer,
    WorkspaceIndex,
)
from memories.providers import Question
from workspaces.ids import uuid7
from workspaces.models import AuditEntry
from workspaces.scope import Scope

Action = FeatureChange.Action


@dataclass(frozen=True, slots=True)
class _Section:
    """Features that may become one another: of one agent, person and category."""

    set: FeatureSet
    config: Config
    agent_id: uuid.UUID | None
    rows: tuple[Known, ...]
    apart: Apart


@dataclass(frozen=True, slots=True)
class _Answer:
    merges: list[Merge]
    refused: list[Refused]
    method: str
    rule: str


def consolidate(scope: Scope, key: str) -> int:
    """Merge now, whatever the threshold; the number of features that became part of others."""
    return _merge_all(scope.actor, find(scope, key))


def consolidate_set(set_id: uuid.UUID) -> int:
    """As `consolidate`, by the worker; a set that is gone has nothing to merge."""
    found = FeatureSet.objects.select_related("workspace").filter(pk=set_id).first()
    return _merge_all(f"set:{found.key}", found) if found else 0


def _merge_all(by: str, found: FeatureSet) -> int:
    """What failed before stands against the set no more."""
    gone = _merge_sections(by, found, over=1)
    failed = FeatureSet.objects.filter(pk=found.pk, lease_until=None).exclude(error="")
    if failed.update(error="", failures=0):
        pending.recount(FeatureSet.objects.select_related("workspace").get(pk=found.pk))
    return gone


def tidy(found: FeatureSet) -> int:
    """Merge in the sections that are over the set's threshold. Raises ProviderError."""
    return _merge_sections(
        f"set:{found.key}", found, over=config_of(found).features_per_consolidation
    )


def _merge_sections(by: str, found: FeatureSet, *, over: int) -> int:
    config, gone = config_of(found), 0
    ladder = ladder_for(found, config)
    space = workspace_index.index_of(found.workspace_id)
    apart = undo.taken_apart(found)
    agents = Feature.objects.live().filter(set=found).values_list("agent_id", flat=True)
    for agent_id in agents.order_by("agent_id").distinct():
        act = Act(found, by, "", agent_id=agent_id)
        known = apply.known_of(apply.live_of(act).values())
        for rows in merging.sections(known, over):
            section = _Section(found, config, agent_id, tuple(rows), apart)
            with metrics.timer("set_consolidation"):
                answer = (
                    _ask_model(section, ladder)
                    if ladder
                    else _by_likeness(_speaking(space, found), section)
                )
            act = Act(found, by, answer.method, answer.rule, agent_id)
            texts = [_text(merge) for merge in answer.merges]
            gone += _apply(space, act, answer, undo.vectors_of(space, texts))
    return gone


def _speaking(space: WorkspaceIndex, found: FeatureSet) -> WorkspaceIndex:
    model = found.embedding_model
    return workspace_index.under_model(space, model) if model else space


def _text(merge: Merge) -> str:
    return Feature.text_of(merge.tag, merge.feature, merge.value, merge.kept.about)


# ---- ask ------------------------------------------------------------------------------------

VECTORS = """
select e.item, v.embedding from memories_entry e join memories_vector v on v.entry_id = e.id
where e.workspace = %(workspace)s and e.layer = %(layer)s and e.item = any(%(items)s::uuid[])
  and v.embedding_model_id = %(model)s and v.part = 0
"""


def _by_likeness(space: WorkspaceIndex, section: _Section) -> _Answer:
    """Cosine of the vectors that search uses, from the model's own threshold for the same on."""
    model = space.embedding_model
    values = {
        "workspace": space.number, "layer": int(Layer.FEATURES), "model": space.embedding_model_id,
        "items": [row.id for row in section.rows],
    }  # fmt: skip
    found = {row.item: row.embedding.to_numpy() for row in statements.rows(VECTORS, values)}

    def similar(one: uuid.UUID, other: uuid.UUID) -> float | None:
        pair = found.get(one), found.get(other)
        if pair[0] is None or pair[1] is None:
            return None
        return float(np.dot(pair[0].astype(np.float32), pair[1].astype(np.float32)))

    threshold = model.duplicate_threshold if model else 1.1
    merges = merging.by_similarity(section.rows, similar, threshold, section.apart)
    return _Answer(merges, [], "rule", f"likeness {threshold:.2f}")


def _ask_model(section: _Section, ladder: FallbackChain) -> _Answer:
    named = {f"f{number}": each for number, each in enumerate(section.rows, start=1)}
    category = section.config.category(section.rows[0].category)
    tags = [tag.name for tag in category.tags] if category else []
    question = Question(
        feature_prompts.merge_rules(tags, section.config.consolidation_prompt, LONGEST_VALUE),
        feature_prompts.features_text([line(name, each) for name, each in named.items()]),
        feature_prompts.MergesAnswer,
    )
    reply = ladder.ask(question)
    try:
        read = feature_prompts.read_merges(reply.text)
    except ValueError as error:
        raise ProviderError(f"{reply.model}: {error}", permanent=False) from error
    answer = _Answer([], [], "llm", f"{reply.model} {feature_prompts.MERGE_VERSION}")
    answer.refused.extend(Refused("it is no merge", raw=raw) for raw in read.broken)
    for part in read.parts:
        merge = merging.by_answer(
            part.ids, named, part.model_dump(include={"tag", "feature", "value"})
        )
        fault = merge if isinstance(merge, str) else _fault(section, merge)
        if fault or isinstance(merge, str):
            answer.refused.append(Refused(fault, raw=part.model_dump()))
        else:
            answer.merges.append(merge)
    return answer


def _fault(section: _Section, merge: Merge) -> str:
    if merging.are_apart([merge.kept, *merge.gone], section.apart):
        return "a person took this merge back"
    told = Command("add", merge.kept.category, merge.tag, merge.feature, merge.value)
    return fault_of_value(told, section.config.categories)


# ---- apply ----------------------------------------------------------------------------------


@transaction.atomic(durable=True)
def _apply(space: WorkspaceIndex, act: Act, answer: _Answer, vectors: Vectors) -> int:
    held = apply.locked(space, act.set)
    act = replace(act, set=held)
    live, done, gone = apply.live_of(act), list[Feature](), 0
    for merge in answer.merges:
        if _is_possible(merge, live):
            done += _merge(replace(act, batch=uuid7()), merge, live)
            gone += len(merge.gone)
    FeatureRefusal.objects.bulk_create(
        FeatureRefusal(
            workspace_id=held.workspace_id, set=held, agent_id=act.agent_id, batch=act.batch,
            command=each.as_json(), reason=each.reason, rule=act.rule,
        )
        for each in answer.refused
    )  # fmt: skip
    if done:
        here = [each for each in done if each.ended_at is None]
        apply.reindex(space, [each.pk for each in done], here, vectors)
        apply.touch(held)
        AuditEntry.line(
            held.workspace_id, act.by, "consolidate_set", held, subject_id=held.subject_id,
            reason=act.rule, after={"merged": gone},
        ).save()  # fmt: skip
    return gone


def _is_possible(merge: Merge, live: dict[uuid.UUID, Feature]) -> bool:
    """All are as they were, and no other feature says what would come of it."""
    here = (merge.kept, *merge.gone)
    if not all(_is_still(each, live) for each in here):
        return False
    told = {"category": merge.kept.category, "tag": merge.tag, "feature": merge.feature}
    own = Feature.fingerprint_of({**told, "about": merge.kept.about, "value": merge.value})
    ids = {each.id for each in here}
    return all(bytes(row.fingerprint) != own for row in live.values() if row.pk not in ids)


def _is_still(known: Known, live: dict[uuid.UUID, Feature]) -> bool:
    """Nobody changed or ended it meanwhile, and no other merge of this act has it."""
    row = live.get(known.id)
    if row is None:
        return False
    same = ("tag", "feature", "value", "method")
    return all(getattr(row, name) == getattr(known, name) for name in same)


def _merge(act: Act, merge: Merge, live: dict[uuid.UUID, Feature]) -> list[Feature]:
    """The kept feature with what it took over, and the others, ended; each has its change."""
    kept = live.pop(merge.kept.id)
    before = kept.snapshot()
    kept.set_to({"tag": merge.tag, "feature": merge.feature, "value": merge.value})
    gone = [live.pop(each.id) for each in merge.gone]
    inherited = list(
        FeatureCitation.objects.filter(feature__in=[kept, *gone], change__is_current=True)
    )
    for feature in gone:
        note = _change(act, feature, feature.snapshot(), None, merge)
        feature.ended_at = timezone.now()
        _replace_current(feature, note)
        feature.save()
    change = _change(act, kept, before, kept.snapshot(), merge)
    _replace_current(kept, change)
    kept.save()
    cited = [apply.cited_again(row, change.occurred_at) for row in inherited]
    FeatureCitation.objects.bulk_create(apply.cited_by(change, cited))
    return [*gone, kept]


def _change(
    act: Act,
    feature: Feature,
    before: dict[str, object],
    after: dict[str, object] | None,
    merge: Merge,
) -> FeatureChange:
    others = ", ".join(f"{each.feature}: {each.value}" for each in (merge.kept, *merge.gone))
    return FeatureChange(
        workspace_id=act.set.workspace_id, set=act.set, feature=feature, batch=act.batch,
        action=Action.MERGE, before=before, after=after, by=act.by, rule=act.rule,
        reason=f"merged: {others}"[:2000],
        occurred_at=max(each.occurred_at for each in (merge.kept, *merge.gone)),
    )  # fmt: skip


def _replace_current(feature: Feature, change: FeatureChange) -> None:
    FeatureChange.objects.filter(feature=feature, is_current=True).update(is_current=False)
    change.save(force_insert=True)
