"""Taking what waits into a set: gather, ask, apply; and merging what grew too long. It can be run
again from the rows."""

import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models.functions import Length
from django.utils import timezone

from memories import leases, metrics, outbox
from memories.errors import ProviderError
from memories.extraction import find_quote
from memories.extraction.fallback import FallbackChain, chain_of, models_from
from memories.features import (
    apply,
    facts_to_features,
    feature_prompts,
    merge_features,
    sets,
)
from memories.features.apply import (
    ApplyResult,
    ChangeOrigin,
    Vectors,
    known_features,
    live_features,
)
from memories.features.commands import (
    ACTIONS,
    ADD,
    DELETE,
    KEEP,
    LONGEST_VALUE,
    Cited,
    Command,
    CommandPlan,
    KnownFeature,
    RefusedCommand,
    fault_of_value,
    plan,
)
from memories.features.config import FeatureSetConfig, config_of
from memories.features.facts_to_features import MemoryStatement
from memories.features.feature_prompts import (
    Answer,
    CommandAnswer,
    CommandsAnswer,
    FeatureLine,
    ParsedAnswer,
)
from memories.features.features_by_hand import undone_merges
from memories.features.merge_features import Apart, FeatureMerge
from memories.features.sets import find, ready
from memories.index import prepared_sql, workspace_index
from memories.leases import TakenOver
from memories.models import (
    LIVE_SQL,
    Episode,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureSet,
    Layer,
    WorkspaceIndex,
)
from memories.models.conversation_and_summaries import BELIEVED_AT
from memories.prompts import PromptMessage
from memories.providers import ModelQuestion
from memoryproject.postgres import visible
from workspaces.models import AuditEntry
from workspaces.models.workspace import uuid7
from workspaces.scope import Scope

# A batch of what waits in a set: gathered as plain values, then asked of rules or a model for
# commands. Nothing is written here.

MOST_BY_RULES, MOST_BY_MODEL = 500, 40  # episodes at once
UNKNOWN = "User"  # what a speaker without a name is called in facts
LONGEST_BATCH = 24_000  # characters of messages in one question


@dataclass(frozen=True, slots=True)
class EpisodeBatch:
    """A batch of one set: the next of what waits in it (all recorded by one agent), and what it
    holds.

    Episodes of two agents never meet in one batch, so that no feature tells one agent what only
    the other may know.
    """

    set: FeatureSet
    config: FeatureSetConfig
    models: FallbackChain | None
    agent_id: uuid.UUID | None
    episodes: tuple[Episode, ...]
    known: tuple[KnownFeature, ...]


@dataclass(frozen=True, slots=True)
class ProposedCommands:
    """Commands and who made them; `broken` are answers that are no command at all."""

    commands: list[Command]
    method: str
    rule: str
    broken: list[RefusedCommand] = field(default_factory=list)


def gather(feature_set: FeatureSet) -> EpisodeBatch | None:
    """Return the next batch of a claimed set; None where nothing in it is ready."""
    config = config_of(feature_set.workspace.settings, feature_set.config)
    models = models_of(feature_set)
    rows = ready(feature_set).order_by("occurred_at", "pk")
    first = rows.first()
    if first is None:
        return None
    rows = rows.filter(agent=first.agent_id)
    if models is None:  # rules read what is believed of them
        episodes = tuple(rows.defer("content")[:MOST_BY_RULES])
    else:
        ids: list[uuid.UUID] = []  # as many as go into one question; one at least
        total = 0
        sizes = rows.annotate(size=Length("content")).values_list("pk", "size")
        for pk, size in sizes[:MOST_BY_MODEL]:
            total += size
            if ids and total > LONGEST_BATCH:
                break
            ids.append(pk)
        episodes = tuple(rows.filter(pk__in=ids))
    known = known_features(live_features(feature_set, first.agent_id).values())
    return EpisodeBatch(feature_set, config, models, first.agent_id, episodes, tuple(known))


def models_of(feature_set: FeatureSet) -> FallbackChain | None:
    """Return the models that the set asks; None: rules."""
    model = config_of(feature_set.workspace.settings, feature_set.config).language_model
    if model == "none":
        return None
    if model is None:
        return chain_of(feature_set.workspace_id, "features")
    return FallbackChain(feature_set.workspace_id, models_from([model]), use="features")


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
select m.id as memory, m.content, f.category, f.rule, f.confidence, f.id as fact, e.author, e.kind,
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
    for row in prepared_sql.rows(STATEMENTS, values):
        by_memory.setdefault(row.memory, []).append(row)
    result = {}
    for memory, rows in by_memory.items():
        last = rows[-1]
        cited = tuple(
            Cited(r.episode_id, r.start, r.end, r.quote, r.occurred_at, r.fact) for r in rows
        )
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
        PromptMessage(
            number, each.role, each.content[:LONGEST_BATCH], each.author, each.occurred_at
        )
        for number, each in enumerate(batch.episodes)
    ]
    own = batch.config.update_prompt
    question = ModelQuestion(
        feature_prompts.update_rules(batch.config.categories, own, LONGEST_VALUE),
        feature_prompts.update_text(feature_lines(named), messages),
        CommandsAnswer,
    )
    answer, model = ask_for(batch.models, question, "commands", CommandAnswer)
    broken = [RefusedCommand("it is no command", raw=raw) for raw in answer.broken]
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


def ask_for(
    models: FallbackChain, question: ModelQuestion, name: str, shape: type[Answer]
) -> tuple[ParsedAnswer[Answer], str]:
    """Return the list called `name` of a model's answer, and which model gave it. Raises
    ProviderError."""
    reply = models.ask(question)
    try:
        return feature_prompts.read_answer(reply.text, name, shape), reply.model
    except ValueError as error:
        raise ProviderError(f"{reply.model}: {error}", permanent=False) from error


def named_by_number(known: Sequence[KnownFeature]) -> dict[str, KnownFeature]:
    """Give features the short ids that a model knows them by in one question."""
    return {f"f{number}": each for number, each in enumerate(known, start=1)}


def feature_lines(named: Mapping[str, KnownFeature]) -> list[FeatureLine]:
    """Return features as a model sees them."""
    return [
        FeatureLine(name, one.category, one.tag, one.feature, one.value, one.about)
        for name, one in named.items()
    ]


def _command(
    part: CommandAnswer, named: Mapping[str, KnownFeature], episodes: Sequence[Episode]
) -> Command:
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


# Consolidation: sections that grew too long are merged, by a model or by likeness; nothing that
# was cited is lost, and a person can take it back.

VECTORS = """
select e.item, v.embedding from memories_entry e join memories_vector v on v.entry_id = e.id
where e.workspace = %(workspace)s and e.layer = %(layer)s and e.item = any(%(items)s::uuid[])
  and v.embedding_model_id = %(model)s and v.part = 0
"""


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
        sets.recount(FeatureSet.objects.select_related("workspace").get(pk=feature_set.pk))
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
            texts = [
                Feature.text_of(each.tag, each.feature, each.value, each.kept.about)
                for each in proposed.merges
            ]
            gone += _apply_merged(space, origin, proposed, apply.embed_texts(space, texts))
    return gone


def _by_likeness(space: WorkspaceIndex, section: _Section) -> _ProposedMerges:
    """Merge by the cosine of the vectors that search uses, from the model's own threshold for the
    same on."""
    model = space.embedding_model
    values = {
        "workspace": space.number, "layer": int(Layer.FEATURES), "model": space.embedding_model_id,
        "items": [row.id for row in section.rows],
    }  # fmt: skip
    vectors = {
        row.item: row.embedding.to_numpy().astype(np.float32)
        for row in prepared_sql.rows(VECTORS, values)
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
    answer, model = ask_for(models, question, "merges", feature_prompts.MergeAnswer)
    result = _ProposedMerges("llm", f"{model} {feature_prompts.MERGE_VERSION}")
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
def _apply_merged(
    space: WorkspaceIndex, origin: ChangeOrigin, proposed: _ProposedMerges, vectors: Vectors
) -> int:
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
            feature_set.workspace_id, origin.by, "consolidate_set", feature_set,
            subject_id=feature_set.subject_id, reason=origin.rule, after={"merged": gone},
        ).save()  # fmt: skip
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
            "category": merge.kept.category, "tag": merge.tag, "feature": merge.feature,
            "about": merge.kept.about, "value": merge.value,
        }
    )  # fmt: skip
    return all(bytes(row.fingerprint) != fingerprint for row in live.values() if row.pk not in here)


def _merge(
    origin: ChangeOrigin, merge: FeatureMerge, live: dict[uuid.UUID, Feature]
) -> list[Feature]:
    """Return the kept feature with what it took over, and the others, ended; each has its
    change."""
    kept = live.pop(merge.kept.id)
    before = kept.snapshot()
    kept.set_to({"tag": merge.tag, "feature": merge.feature, "value": merge.value})
    gone = [live.pop(each.id) for each in merge.gone]
    inherited = list(
        FeatureCitation.objects.filter(feature__in=[kept, *gone], change__is_current=True)
    )
    parts = (merge.kept, *merge.gone)
    reason = "merged: " + ", ".join(f"{each.feature}: {each.value}" for each in parts)
    occurred_at = max(each.occurred_at for each in parts)
    for feature in (*gone, kept):
        FeatureChange.objects.filter(feature=feature, is_current=True).update(is_current=False)
        change = FeatureChange.objects.create(
            workspace_id=origin.set.workspace_id, set=origin.set, feature=feature,
            batch=origin.batch, action=FeatureChange.Action.MERGE,
            before=before if feature is kept else feature.snapshot(),
            after=kept.snapshot() if feature is kept else None,
            by=origin.by, rule=origin.rule, reason=reason[:2000], occurred_at=occurred_at,
        )  # fmt: skip
        if feature is not kept:
            feature.ended_at = timezone.now()
        feature.save()
    cited = apply.cited_of(inherited, occurred_at)  # the last change is that of the kept one
    FeatureCitation.objects.bulk_create(apply.new_citations(change, cited))
    return [*gone, kept]


LONGEST = 100.0  # seconds that one worker stays with one set
# That each episode is taken in once is held by the table's key: a second mark would raise.
MARK = """
insert into memories_featuremark (set_id, episode_id, workspace_id, batch, folded_at)
select %(set)s, id, %(workspace)s, %(batch)s, %(now)s from unnest(%(ids)s::uuid[]) id
"""
log = logging.getLogger(__name__)


@dataclass(slots=True)
class UpdateResult:
    """The result of one visit to a set."""

    episodes: int = 0
    added: int = 0
    updated: int = 0
    deleted: int = 0
    refused: int = 0
    merged: int = 0

    def add(self, episodes: int, applied: ApplyResult) -> None:
        self.episodes += episodes
        self.added += len(applied.added)
        self.updated += len(applied.updated)
        self.deleted += len(applied.deleted)
        self.refused += len(applied.refused)


def update_set(set_id: uuid.UUID) -> UpdateResult | None:
    """Take all that is ready into a set that is due, then merge what is too much.

    None where it is not due, or another worker has it. A model that fails leaves the set to be
    tried again later; what was taken in before that stays.
    """
    feature_set = sets.claim(set_id)
    if feature_set is None:
        return None
    result, until = UpdateResult(), time.monotonic() + LONGEST
    held = partial(sets.held, feature_set)
    try:
        with metrics.timer("set_fold"), leases.renewed(held) as work:
            while time.monotonic() < until and (batch := gather(feature_set)) is not None:
                proposed = propose(batch)
                space = workspace_index.index_of(batch.set.workspace_id)
                texts = [
                    Feature.text_of(each.tag, each.feature, each.value, each.about)
                    for each in proposed.commands
                    if each.value and each.action != KEEP
                ]
                applied = _apply(space, batch, proposed, apply.embed_texts(space, texts))
                result.add(len(batch.episodes), applied)
                work.advance()
            # Also where a worker before died between the two.
            if result.episodes or feature_set.failures > 1:
                result.merged = consolidate_long_sections(feature_set)
    except TakenOver:
        return None
    except ProviderError as error:
        sets.fail(feature_set, error.message, retry_after=error.retry_after or 0.0)
        return result
    sets.finish(feature_set, took_in=bool(result.episodes))
    return result


def update_due_sets(until: float, report: Callable[[str], object] = log.debug) -> int:
    """Take in what is due until the clock (`time.monotonic`) says so; return the number of
    episodes."""
    episodes, tried = 0, set[uuid.UUID]()
    while time.monotonic() < until:
        feature_set = sets.due().exclude(pk__in=tried).first()
        if feature_set is None:
            break
        tried.add(feature_set.pk)
        try:
            with visible.only(feature_set.workspace_id):
                result = update_set(feature_set.pk)
        except Exception:
            # One that breaks its worker must not keep the others from their turn: its claim
            # counted the failure, and it comes back when the lease has run out.
            log.exception("workspace %s: set %s failed", feature_set.workspace_id, feature_set.pk)
            continue
        episodes += result.episodes if result else 0
        report(f"set {feature_set.key}: {result}")
    return episodes


def update_now(scope: Scope, key: str) -> UpdateResult | None:
    """Take in at once what waits in a set, whatever its thresholds; return None where a worker has
    it."""
    sets.release(_discovered(scope, key).pk)
    return update_set(find(scope, key).pk)


def update_soon(scope: Scope, key: str) -> None:
    """Let the worker do what `update_now` does."""
    feature_set = _discovered(scope, key)
    sets.release(feature_set.pk)
    outbox.post("fold_set", feature_set.pk)


def asks_model(scope: Scope, key: str) -> bool:
    """Tell whether the set asks a model, and so takes its time."""
    return models_of(_discovered(scope, key)) is not None


def _discovered(scope: Scope, key: str) -> FeatureSet:
    """Return the set; that of a subject is made when something was said about it."""
    sets.discover_sets(scope.workspace_id)
    return find(scope, key)


@transaction.atomic(durable=True)
def _apply(
    space: WorkspaceIndex, batch: EpisodeBatch, proposed: ProposedCommands, vectors: Vectors
) -> ApplyResult:
    feature_set = apply.lock_set(space, batch.set)
    sets.hold(batch.set)
    origin = ChangeOrigin(
        feature_set, f"set:{feature_set.key}", proposed.method, proposed.rule, batch.agent_id
    )
    # Known features are read again under the lock: a person may have changed something meanwhile.
    known = apply.known_features(apply.live_features(feature_set, batch.agent_id).values())
    # Only what cites this batch: nothing else was read, or is locked for it.
    ids = [episode.pk for episode in batch.episodes]
    here = set(ids)
    commands = [
        replace(each, cited=tuple(one for one in each.cited if one.episode_id in here))
        for each in proposed.commands
    ]
    planned = _without_ended(origin, plan(commands, batch.config.categories, known))
    result = apply.apply_commands(space, origin, planned.commands, vectors)
    result.refused = [*proposed.broken, *planned.refused]
    apply.keep_refused(origin, result.refused, ids)
    marks = {
        "set": feature_set.pk, "workspace": feature_set.workspace_id, "batch": origin.batch,
        "now": timezone.now(), "ids": ids,
    }  # fmt: skip
    prepared_sql.execute(MARK, marks)
    if result.added or result.updated or result.deleted:
        AuditEntry.line(
            feature_set.workspace_id, origin.by, "fold_set", feature_set,
            subject_id=feature_set.subject_id, reason=origin.rule,
            after={
                "episodes": len(ids), "added": len(result.added), "updated": len(result.updated),
                "deleted": len(result.deleted), "refused": len(result.refused),
            },
        ).save()  # fmt: skip
    return result


def _without_ended(origin: ChangeOrigin, planned: CommandPlan) -> CommandPlan:
    """Refuse what a person ended, unless it stands on words that were said after that."""
    ended = apply.ended_by_hand(origin)
    kept = CommandPlan(refused=planned.refused)
    for command in planned.commands:
        at = ended.get(Feature.fingerprint_of(command.columns))
        if at and command.action != DELETE and (command.occurred_at or at) <= at:
            kept.refused.append(RefusedCommand("a person ended it", command))
        else:
            kept.commands.append(command)
    return kept
