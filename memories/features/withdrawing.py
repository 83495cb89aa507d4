"""Features that stand on a memory which a person forgot: what is forgotten is told no more."""

import uuid

from memories.features import applying
from memories.features.applying import Act
from memories.indexing import spaces, statements
from memories.models import Feature, Memory
from memories.semantics.commands import DELETE, Command
from workspaces.scope import Scope

# Those of which every citation lies in words that facts of the memory were read from.
STANDING_ON = """
with words as (
  select c.episode_id, c.start, c."end" from memories_citation c
  join memories_fact f on f.id = c.fact_id where f.memory_id = %(memory)s::uuid),
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


def withdraw(scope: Scope, memory: Memory) -> int:
    """End the features that stand on nothing but this memory's words, in the caller's transaction,
    which holds the workspace's lock; their number."""
    ids = [row.id for row in statements.rows(STANDING_ON, {"memory": memory.pk})]
    for feature in Feature.objects.filter(pk__in=ids).select_related("set"):
        _end(scope, feature)
    return len(ids)


def _end(scope: Scope, feature: Feature) -> None:
    space = spaces.space_of(scope.workspace_id)
    held = applying.locked(space, feature.set)
    act = Act(held, scope.actor, feature.method, "forgotten", feature.agent_id)
    reason = "the memory it stood on was forgotten"
    command = Command(DELETE, target=feature.pk, reason=reason)
    applying.carry_out(space, act, [command], {})


def episodes_of(memory: Memory) -> list[uuid.UUID]:
    """The episodes that a memory's facts were read from."""
    found = memory.facts.values_list("citations__episode_id", flat=True)
    return [each for each in found.distinct() if each is not None]
