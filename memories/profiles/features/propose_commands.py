"""Commands that rules or a model propose for a set, out of the episodes gathered."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from memories.models import LIVE_SQL, Citation, Episode
from memories.models.conversation import BELIEVED_AT
from memories.profiles.features import facts_to_features, feature_prompts
from memories.profiles.features.commands import (
    ACTIONS,
    ADD,
    LONGEST_VALUE,
    Cited,
    Command,
    KnownFeature,
    RefusedCommand,
)
from memories.profiles.features.facts_to_features import MemoryStatement
from memories.profiles.features.feature_prompts import CommandAnswer, CommandsAnswer, FeatureLine, read_answer
from memories.profiles.features.gather_episodes import LONGEST_BATCH, EpisodeBatch, ProposedCommands
from memories.providers import ModelQuestion
from memories.providers.prompts import PromptMessage
from memories.reading.extraction import find_quote
from memories.reading.extraction.fallback_chain import MUCH

UNKNOWN = "User"  # what a speaker without a name is called in facts

# Over `m`: the features that stand on versions before it.
REPLACED = """array(
  with recursive before (id, is_same) as (
    select m.id, true
    union
    select v.id, before.is_same and exists (
      select 1 from memories_supersession s where s.old_id = v.id and s.new_id = before.id
      and s.state = 'applied' and s.rule in ('edit', 'richer'))
    from memories_memory v join before on v.superseded_by_id = before.id)
  select fc.feature_id from before
  join memories_fact of on of.memory_id = before.id
  join memories_featurecitation fc on fc.fact_id = of.id
  join memories_featurechange ch on ch.id = fc.change_id and ch.is_current
  where before.id <> m.id {} and fc.feature_id = any(%(known)s::uuid[]))"""
# Facts of live memories that stand on these episodes, and of the versions that a person corrected
# or a richer text replaced, and of those that were true for a time (`is_over`); with the features
# that stand on what a memory superseded, and those of them whose words it does not say any more.
# A memory that was moved to another subject says nothing of the one who is spoken about any more.
STATEMENTS = f"""
with recursive heads (origin, id) as (
  select f.memory_id, f.memory_id from memories_citation c join memories_fact f on f.id = c.fact_id
  where c.episode_id = any(%(episodes)s::uuid[]) and f.memory_id is not null
  union
  select h.origin, s.new_id from heads h join memories_supersession s on s.old_id = h.id
  where s.state = 'applied' and s.rule in ('edit', 'richer'))
select c.id, m.id as memory, m.content, f.category, f.rule, f.confidence, c.fact_id, e.author,
       c.episode_id, c.start, c."end", c.quote, {BELIEVED_AT} as occurred_at, s.name as subject,
       not m.is_head as is_over,
       {REPLACED.format("")} as replaces, {REPLACED.format("and not is_same")} as ends
from memories_citation c join memories_fact f on f.id = c.fact_id
join heads h on h.origin = f.memory_id join memories_memory m on m.id = h.id
join memories_episode e on e.id = c.episode_id
left join workspaces_subject s on s.id = e.subject_id
where c.episode_id = any(%(episodes)s::uuid[]) and m.workspace_id = %(workspace)s
  and ({LIVE_SQL} or (m.superseded_by_id is not null and m.forgotten_at is null
                      and m.held_at is null and m.valid_until > m.valid_from))
  and f.quarantined_at is null
  and m.subject_id is not distinct from e.subject_id
order by occurred_at, e.id, c.start
"""


def statements_by_memory(
    workspace_id: uuid.UUID, episodes: Sequence[uuid.UUID], known: Sequence[uuid.UUID] = ()
) -> dict[uuid.UUID, MemoryStatement]:
    """Return what these episodes made live, as rules see it: one statement per memory."""
    values = {"episodes": list(episodes), "known": list(known), "workspace": workspace_id}
    by_memory: dict[uuid.UUID, list[Any]] = {}
    found: Iterable[Any] = Citation.objects.raw(STATEMENTS, values)
    for row in found:
        by_memory.setdefault(row.memory, []).append(row)
    result = {}
    for memory, rows in by_memory.items():
        last = rows[-1]
        cited = tuple(Cited(r.episode_id, r.start, r.end, r.quote, r.occurred_at, r.fact_id) for r in rows)
        result[memory] = MemoryStatement(
            statement=last.content,
            category=last.category,
            rule=last.rule,
            speaker=last.author or last.subject or UNKNOWN,
            confidence=last.confidence,
            occurred_at=max(each.occurred_at for each in cited),
            cited=cited,
            replaces=frozenset(last.replaces),
            ends=frozenset(last.ends),
            is_over=last.is_over,
        )
    return result


def propose(batch: EpisodeBatch) -> ProposedCommands:
    """Return the commands for a batch. Raises ProviderError where a model was asked and gave no
    whole answer."""
    if batch.models is None:
        episodes, known = [each.pk for each in batch.episodes], [each.id for each in batch.known]
        by_memory = statements_by_memory(batch.set.workspace_id, episodes, known)
        commands = facts_to_features.commands(list(by_memory.values()), batch.known)
        return ProposedCommands(commands, "rule", "rules")
    named = named_by_number(batch.known)
    messages = [
        PromptMessage(number, each.role, each.content[:LONGEST_BATCH], each.author, each.occurred_at)
        for number, each in enumerate(batch.episodes)
    ]
    own = batch.config.update_prompt
    question = ModelQuestion(
        feature_prompts.update_rules(batch.config.categories, own, LONGEST_VALUE),
        feature_prompts.update_text(feature_lines(named), messages),
        CommandsAnswer,
    )
    read = partial(read_answer, name="commands", shape=CommandAnswer)
    answer, model = batch.models.ask_again_if_empty(question, read)
    broken = [RefusedCommand("it is no command", raw=raw) for raw in answer.broken]
    if not answer and len(question.text) >= MUCH:
        broken.append(RefusedCommand(f"asked twice, the model found nothing in {len(messages)} messages"))
    commands = []
    for part in answer.parts:
        reason = ""
        if part.action not in ACTIONS:
            reason = f"there is no command {part.action!r}"
        elif part.action != ADD and (part.id or "") not in named:
            reason = f"there is no feature {part.id!r}"
        if reason:
            broken.append(RefusedCommand(reason, raw=part.model_dump()))
        else:
            commands.append(_command(part, named, batch.episodes))
    rule = f"{model} {feature_prompts.UPDATE_VERSION}"
    return ProposedCommands(commands, "llm", rule, broken)


def named_by_number(known: Sequence[KnownFeature]) -> dict[str, KnownFeature]:
    """Give features the short ids that a model knows them by in one question."""
    return {f"f{number}": each for number, each in enumerate(known, start=1)}


def feature_lines(named: Mapping[str, KnownFeature]) -> list[FeatureLine]:
    """Return features as a model sees them."""
    return [FeatureLine(name, one.category, one.tag, one.feature, one.value, one.about) for name, one in named.items()]


def _command(part: CommandAnswer, named: Mapping[str, KnownFeature], episodes: Sequence[Episode]) -> Command:
    """Return a command with the quotes that really stand in the episodes; one with none left is
    refused later."""
    old = named.get(part.id or "") if part.action != ADD else None
    cited: dict[tuple[uuid.UUID, int], Cited] = {}
    speakers = set()
    for quote in part.quotes:
        if not 0 <= quote.message < len(episodes):
            continue
        episode = episodes[quote.message]
        if span := find_quote(episode.content, quote.text):
            words = episode.content[slice(*span)]
            cited[episode.pk, span[0]] = Cited(episode.pk, *span, words, episode.believed_at)
            if episode.role == Episode.Kind.USER:
                speakers.add(episode.author)
    # The person it is about, as rules have it: whoever said all of it, where that is one person.
    speaker = speakers.pop() if len(speakers) == 1 else ""
    return Command(
        action=part.action,
        category=part.category or (old.category if old else ""),
        tag=part.tag or (old.tag if old else ""),
        feature=_clean(part.feature or (old.feature if old else "")),
        value=_clean(part.value),
        about=old.about if old else speaker,
        slot=old.slot if old else "",
        target=old.id if old else None,
        cited=tuple(cited.values()),
        occurred_at=max((each.occurred_at for each in cited.values()), default=None),
    )


def _clean(text: str) -> str:
    return " ".join(text.replace("\x00", "").split())
