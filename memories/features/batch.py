"""What is gathered before rules or a model are asked: plain values out of rows."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Length

from memories.extraction.configured_models import models_from
from memories.extraction.fallback import FallbackChain, chain_of
from memories.features import apply
from memories.features.apply import Act
from memories.features.commands import Cited, Known
from memories.features.config import Config
from memories.features.pending import ready
from memories.features.rules import Told
from memories.features.sets import config_of
from memories.index import statements
from memories.models import LIVE_SQL, Episode, FeatureSet
from memories.models.conversation import BELIEVED_AT

MOST_BY_RULES, MOST_BY_MODEL = 500, 40  # episodes at once
UNKNOWN = "User"  # what a speaker without a name is called in facts
LONGEST = 24_000  # characters of messages in one question


@dataclass(frozen=True, slots=True)
class Batch:
    """One set, the next of what waits in it (all recorded by one agent), and what it holds.

    Episodes of two agents never meet in one batch, so that no feature tells one what only the
    other may know.
    """

    set: FeatureSet
    config: Config
    ladder: FallbackChain | None
    agent_id: uuid.UUID | None
    episodes: tuple[Episode, ...]
    known: tuple[Known, ...]


def gather(found: FeatureSet) -> Batch | None:
    """The next batch of a claimed set; None where nothing in it is ready."""
    config = config_of(found)
    ladder = ladder_for(found, config)
    first = ready(found).order_by("occurred_at", "pk").first()
    if first is None:
        return None
    rows = ready(found).order_by("occurred_at", "pk")
    rows = rows.filter(agent=first.agent_id) if first.agent_id else rows.filter(agent=None)
    if ladder is None:  # rules read what is believed of them
        episodes = tuple(rows.defer("content")[:MOST_BY_RULES])
    else:
        episodes = tuple(rows.filter(pk__in=_short(rows)))
    act = Act(found, "", "", agent_id=first.agent_id)
    known = apply.known_of(apply.live_of(act).values())
    return Batch(found, config, ladder, first.agent_id, episodes, tuple(known))


def _short(rows: QuerySet[Episode]) -> list[uuid.UUID]:
    """As many as go into one question; one at least."""
    sizes = rows.annotate(size=Length("content")).values_list("pk", "size")[:MOST_BY_MODEL]
    total = 0
    kept: list[uuid.UUID] = []
    for episode, size in sizes:
        total += size
        if kept and total > LONGEST:
            break
        kept.append(episode)
    return kept


def ladder_for(found: FeatureSet, config: Config) -> FallbackChain | None:
    """The models that the set asks; None: rules."""
    if config.language_model == "none":
        return None
    if config.language_model is None:
        return chain_of(found.workspace_id)
    return FallbackChain(found.workspace_id, models_from([config.language_model]))


# Facts of live memories that stand on these episodes, and of the versions that a person corrected
# or a richer text replaced; with the features that stand on what a memory superseded. A memory
# that was moved to another subject is no longer told of the one who is spoken about.
TOLD = f"""
with recursive heads (origin, id) as (
  select f.memory_id, f.memory_id from memories_citation c join memories_fact f on f.id = c.fact_id
  where c.episode_id = any(%(episodes)s::uuid[]) and f.memory_id is not null
  union
  select h.origin, s.new_id from heads h join memories_supersession s on s.old_id = h.id
  where s.state = 'applied' and s.rule in ('edit', 'richer'))
select m.id as memory, m.content, f.category, f.rule, f.confidence, f.id as fact, e.author, e.kind,
       c.episode_id, c.start, c."end", c.quote, {BELIEVED_AT} as occurred_at, s.name as subject,
       array(with recursive before (id) as (
               select id from memories_memory where superseded_by_id = m.id
               union select v.id from memories_memory v join before on v.superseded_by_id = before.id)
             select fc.feature_id from before
             join memories_fact of on of.memory_id = before.id
             join memories_featurecitation fc on fc.fact_id = of.id
             join memories_featurechange ch on ch.id = fc.change_id and ch.is_current
             where fc.feature_id = any(%(known)s::uuid[])
            ) as replaces
from memories_citation c join memories_fact f on f.id = c.fact_id
join heads h on h.origin = f.memory_id join memories_memory m on m.id = h.id
join memories_episode e on e.id = c.episode_id
left join workspaces_subject s on s.id = e.subject_id
where c.episode_id = any(%(episodes)s::uuid[]) and m.workspace_id = %(workspace)s
  and {LIVE_SQL} and f.quarantined_at is null
  and m.subject_id is not distinct from e.subject_id
order by occurred_at, e.id, c.start
"""


def told_in(batch: Batch) -> list[Told]:
    """What the episodes of a batch made live, as rules see it: one per memory."""
    episodes = [episode.pk for episode in batch.episodes]
    known = [each.id for each in batch.known]
    return list(told_by_memory(batch.set.workspace_id, episodes, known).values())


def told_by_memory(
    workspace_id: uuid.UUID, episodes: Sequence[uuid.UUID], known: Sequence[uuid.UUID] = ()
) -> dict[uuid.UUID, Told]:
    values = {"episodes": list(episodes), "known": list(known), "workspace": workspace_id}
    by_memory: dict[uuid.UUID, list[Any]] = {}
    for row in statements.rows(TOLD, values):
        by_memory.setdefault(row.memory, []).append(row)
    return {memory: _told(rows) for memory, rows in by_memory.items()}


def _told(rows: Sequence[Any]) -> Told:
    cited = tuple(Cited(r.episode_id, r.start, r.end, r.quote, r.occurred_at, r.fact) for r in rows)
    last = rows[-1]
    return Told(
        statement=last.content,
        category=last.category,
        rule=last.rule,
        speaker=last.author or last.subject or UNKNOWN,
        confidence=last.confidence,
        occurred_at=max(each.occurred_at for each in cited),
        cited=cited,
        replaces=frozenset(last.replaces),
    )
