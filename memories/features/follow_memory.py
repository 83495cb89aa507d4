"""Features that stand on one memory follow what a person does to it: they end when it is forgotten,
change when it is put right, and move with it to another subject.

All in the caller's transaction, which holds the workspace's lock.
"""

import uuid
from collections.abc import Sequence
from dataclasses import replace

from memories.features import apply, due_sets, facts_to_features
from memories.features.apply import ChangeOrigin
from memories.features.batch import models_of, statements_by_memory
from memories.features.commands import ADD, DELETE, UPDATE, Command, plan
from memories.features.config import config_of
from memories.features.sets import own_set
from memories.index import prepared_sql, workspace_index
from memories.models import Episode, Feature, FeatureMark, FeatureSet, Memory
from workspaces.models import Subject
from workspaces.scope import Scope

# Memories, and the versions that a person corrected to them: a correction has no words of its own.
LINE = """
with recursive line (id) as (
  select unnest(%(memories)s::uuid[])
  union
  select s.old_id from line join memories_supersession s on s.new_id = line.id
  where s.rule = 'edit' and s.state = 'applied')
"""
# Those of which every citation lies in words that facts of the memories were read from.
STANDING_ON = f"""{LINE},
words as (
  select c.episode_id, c.start, c."end" from memories_citation c
  join memories_fact f on f.id = c.fact_id where f.memory_id in (select id from line)),
own as (
  select fc.feature_id, exists (
      select 1 from words w where w.episode_id = fc.episode_id
        and w.start < fc."end" and fc.start < w."end") as inside
  from memories_featurecitation fc
  join memories_featurechange ch on ch.id = fc.change_id and ch.is_current
  where fc.feature_id in (select fc.feature_id from memories_featurecitation fc
                          join words w on w.episode_id = fc.episode_id))
select f.id from memories_feature f
where f.ended_at is null and f.method <> 'manual'
  and f.id in (select feature_id from own group by feature_id having bool_and(inside))
"""
EPISODES = f"""{LINE}
select distinct c.episode_id from memories_citation c join memories_fact f on f.id = c.fact_id
where f.memory_id in (select id from line) and c.episode_id is not null
"""


def withdraw(scope: Scope, memories: Sequence[Memory]) -> int:
    """End the features that stand on nothing but these memories' words; their number."""
    features = _standing_on(memories)
    for feature in features:
        command = Command(DELETE, target=feature.pk, reason="the memory it stood on was forgotten")
        _change(scope, feature, command, "forgotten")
    return len(features)


def correct(scope: Scope, old: Memory, new: Memory) -> None:
    """What stood on the old words says the new ones, by the same quotes; what rules did not read
    out of them before, they may now."""
    episodes = episodes_of(old)
    statement = statements_by_memory(scope.workspace_id, episodes).get(new.pk)
    if statement is None:
        return
    for feature in _standing_on([old]):
        known = apply.known_features([feature])[0]
        command = facts_to_features.corrected(replace(statement, confidence=1.0), known)
        cited = apply.cited_now(feature)
        at = None if command.action == DELETE else known.occurred_at  # it was never so
        command = replace(command, cited=cited, occurred_at=at)
        _change(scope, feature, command, "correction")
    # Not into sets that took them in by a model: that would read the old words again.
    marks = FeatureMark.objects.filter(episode__in=episodes)
    rows = FeatureSet.objects.filter(pk__in=marks.values("set")).select_related("workspace")
    by_rules = [row.pk for row in rows if models_of(row) is None]
    due_sets.unmark(scope.workspace_id, episodes, sets=by_rules)


def move(scope: Scope, memory: Memory, target: Subject) -> None:
    """What stands on the memory goes to the own set of the subject that it is about from now on;
    where it was not taken in yet, by rules. Called before the memory itself moves."""
    into = own_set(target)
    features = [each for each in _standing_on([memory]) if each.subject_id not in (None, target.pk)]
    for feature in features:
        cited = apply.cited_now(feature)
        copy = Command(
            ADD, feature.category, feature.tag, feature.feature, feature.value,
            target.name if feature.about else "", feature.slot, cited=cited,
            occurred_at=max(each.occurred_at for each in cited),
        )  # fmt: skip
        _add(scope, into, [copy], feature.agent_id)
        command = Command(DELETE, target=feature.pk, reason=f"it is about {target}")
        _change(scope, feature, command, "moved")
    episodes = episodes_of(memory)
    statement = statements_by_memory(scope.workspace_id, episodes).get(memory.pk)
    if not features and statement is not None and memory.subject_id != target.pk:
        agent = Episode.objects.filter(pk__in=episodes).values_list("agent_id", flat=True)[0]
        known = apply.known_features(apply.live_features(into, agent).values())
        statement = replace(statement, speaker=target.name or facts_to_features.NAMELESS)
        _add(scope, into, facts_to_features.commands([statement], known), agent)


def _standing_on(memories: Sequence[Memory]) -> list[Feature]:
    """The live features that machines read out of these memories' words alone."""
    given = {"memories": [memory.pk for memory in memories]}
    ids = [row.id for row in prepared_sql.rows(STANDING_ON, given)]
    return list(Feature.objects.filter(pk__in=ids).select_related("set__workspace"))


def episodes_of(memory: Memory) -> list[uuid.UUID]:
    """The episodes that a memory's facts were read from, or those of what it corrects."""
    return [row.episode_id for row in prepared_sql.rows(EPISODES, {"memories": [memory.pk]})]


def _change(scope: Scope, feature: Feature, command: Command, rule: str) -> None:
    """One command on one feature, whoever made it."""
    space = workspace_index.index_of(scope.workspace_id)
    feature_set = apply.lock_set(space, feature.set)
    origin = ChangeOrigin(feature_set, scope.actor, feature.method, rule, feature.agent_id)
    apply.apply_commands(space, origin, [command], {})


def _add(
    scope: Scope, into: FeatureSet, commands: list[Command], agent_id: uuid.UUID | None
) -> None:
    """As far as the set's categories and what is newer in it allow."""
    space = workspace_index.index_of(scope.workspace_id)
    feature_set = apply.lock_set(space, into)
    origin = ChangeOrigin(feature_set, scope.actor, Feature.Method.RULE, "moved", agent_id)
    known = apply.known_features(apply.live_features(feature_set, agent_id).values())
    by_slot = {(each.about, each.slot): each for each in known if each.slot}
    newer = [
        replace(each, action=UPDATE, target=by_slot[each.about, each.slot].id)
        if (each.about, each.slot) in by_slot else each
        for each in commands
    ]  # fmt: skip
    config = config_of(into.workspace.settings, into.config)
    planned = plan(newer, config.categories, known)
    apply.apply_commands(space, origin, planned.commands, {})
