"""Features that stand on one memory: what a person forgot is told no more."""

import uuid

from memories.features import apply
from memories.features.apply import Act
from memories.features.commands import DELETE, Command
from memories.index import statements, workspace_index
from memories.models import Feature, Memory
from workspaces.scope import Scope

# The memory, and the versions that a person corrected to it: a correction has no words of its own.
LINE = """
with recursive line (id) as (
  select %(memory)s::uuid
  union
  select s.old_id from line join memories_supersession s on s.new_id = line.id
  where s.rule = 'edit' and s.state = 'applied')
"""
# Those of which every citation lies in words that facts of the memory were read from.
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


def withdraw(scope: Scope, memory: Memory) -> int:
    """End the features that stand on nothing but this memory's words, in the caller's transaction,
    which holds the workspace's lock; their number."""
    found = standing_on(memory)
    for feature in found:
        command = Command(DELETE, target=feature.pk, reason="the memory it stood on was forgotten")
        change(scope, feature, command, "forgotten")
    return len(found)


def standing_on(memory: Memory) -> list[Feature]:
    """The live features that machines read out of this memory's words alone."""
    ids = [row.id for row in statements.rows(STANDING_ON, {"memory": memory.pk})]
    return list(Feature.objects.filter(pk__in=ids).select_related("set__workspace"))


def change(scope: Scope, feature: Feature, command: Command, rule: str) -> None:
    """One command on one feature, whoever made it, in the caller's transaction."""
    space = workspace_index.index_of(scope.workspace_id)
    held = apply.locked(space, feature.set)
    act = Act(held, scope.actor, feature.method, rule, feature.agent_id)
    apply.carry_out(space, act, [command], {})


def episodes_of(memory: Memory) -> list[uuid.UUID]:
    """The episodes that a memory's facts were read from, or those of what it corrects."""
    return [row.episode_id for row in statements.rows(EPISODES, {"memory": memory.pk})]
