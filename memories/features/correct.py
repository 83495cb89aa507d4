"""A memory that a person put right takes the features along that stand on it.

In the caller's transaction, which holds the workspace's lock.
"""

import uuid
from dataclasses import replace

from memories.features import apply, pending, rules
from memories.features.apply import Act
from memories.features.batch import ladder_for, told_by_memory
from memories.features.commands import ADD, DELETE, Command, plan
from memories.features.merge_subjects import own_set
from memories.features.sets import config_of
from memories.features.withdraw import change, episodes_of, standing_on
from memories.index import workspace_index
from memories.models import Episode, Feature, FeatureMark, FeatureSet, Memory
from workspaces.models import Subject
from workspaces.scope import Scope


def correct(scope: Scope, old: Memory, new: Memory) -> None:
    """What stood on the old words says the new ones, by the same quotes; what rules did not tell
    before, they may now."""
    episodes = episodes_of(old)
    told = told_by_memory(scope.workspace_id, episodes).get(new.pk)
    if told is None:
        return
    for feature in standing_on(old):
        known = apply.known_of([feature])[0]
        cited = tuple(apply.cited_now(feature))
        command = rules.corrected(replace(told, confidence=1.0), known)
        command = replace(command, cited=cited, occurred_at=known.occurred_at)
        change(scope, feature, command, "correction")
    pending.unmark(scope.workspace_id, episodes, sets=_by_rules(episodes))


def _by_rules(episodes: list[uuid.UUID]) -> list[uuid.UUID]:
    """The sets that took them in without a model: that would read the old words again."""
    marks = FeatureMark.objects.filter(episode__in=episodes)
    rows = FeatureSet.objects.filter(pk__in=marks.values("set")).select_related("workspace")
    return [found.pk for found in rows if ladder_for(found, config_of(found)) is None]


def move(scope: Scope, memory: Memory, target: Subject) -> None:
    """What stands on the memory goes to the own set of the subject that it is about from now on;
    where it was not folded yet, by rules. Called before the memory itself moves."""
    into = own_set(target)
    found = [each for each in standing_on(memory) if each.subject_id not in (None, target.pk)]
    for feature in found:
        _add(scope, into, [_copy(feature, target)], feature.agent_id)
        command = Command(DELETE, target=feature.pk, reason=f"it is about {target}")
        change(scope, feature, command, "moved")
    episodes = episodes_of(memory)
    told = told_by_memory(scope.workspace_id, episodes).get(memory.pk)
    if not found and told is not None and memory.subject_id != target.pk:
        agent = Episode.objects.filter(pk__in=episodes).values_list("agent_id", flat=True)[0]
        act = Act(into, scope.actor, Feature.Method.RULE, "moved", agent)
        known = apply.known_of(apply.live_of(act).values())
        told = replace(told, speaker=target.name or rules.NAMELESS)
        _add(scope, into, rules.commands([told], known), agent)


def _copy(feature: Feature, target: Subject) -> Command:
    cited = tuple(apply.cited_now(feature))
    return Command(
        ADD, feature.category, feature.tag, feature.feature, feature.value,
        target.name if feature.about else "", feature.slot, cited=cited,
        occurred_at=max(each.occurred_at for each in cited),
    )  # fmt: skip


def _add(
    scope: Scope, into: FeatureSet, commands: list[Command], agent_id: uuid.UUID | None
) -> None:
    """As far as the set's categories and what is newer in it allow."""
    space = workspace_index.index_of(scope.workspace_id)
    act = Act(apply.locked(space, into), scope.actor, Feature.Method.RULE, "moved", agent_id)
    known = apply.known_of(apply.live_of(act).values())
    by_slot = {(each.about, each.slot): each for each in known if each.slot}
    newer = [
        replace(each, action="update", target=by_slot[each.about, each.slot].id)
        if (each.about, each.slot) in by_slot else each
        for each in commands
    ]  # fmt: skip
    planned = plan(newer, config_of(into).categories, known)
    apply.carry_out(space, act, planned.commands, {})
