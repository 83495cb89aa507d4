"""Updating a set: gather, ask, apply. It can be run again from the rows."""

import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone

from memories import metrics
from memories.errors import ProviderError
from memories.index import workspace_index
from memories.models import Feature, FeatureMark, FeatureSet, WorkspaceIndex
from memories.profiles.features import apply, set_queue
from memories.profiles.features.apply import ApplyResult, ChangeOrigin, Vectors
from memories.profiles.features.commands import DELETE, KEEP, CommandPlan, RefusedCommand, plan
from memories.profiles.features.consolidate import consolidate_long_sections
from memories.profiles.features.gather_episodes import EpisodeBatch, ProposedCommands, gather, models_of
from memories.profiles.features.propose_commands import propose
from memories.profiles.features.sets import find
from memories.queue import outbox
from memories.queue.leases import TakenOver
from memoryproject.postgres import visible
from workspaces.models import AuditEntry
from workspaces.scope import Scope

LONGEST = 100.0  # seconds that one worker stays with one set
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
    feature_set = set_queue.claim(set_id)
    if feature_set is None:
        return None
    result, until = UpdateResult(), time.monotonic() + LONGEST
    try:
        with metrics.timer("set_fold"), set_queue.QUEUE.renewed(feature_set) as work:
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
        set_queue.fail(feature_set, error.message, retry_after=error.retry_after or 0.0)
        return result
    set_queue.finish(feature_set, took_in=bool(result.episodes))
    return result


def update_due_sets(until: float, report: Callable[[str], object] = log.debug) -> int:
    """Take in what is due until the clock (`time.monotonic`) says so; return the number of
    episodes."""
    episodes, tried = 0, set[uuid.UUID]()
    while time.monotonic() < until:
        feature_set = set_queue.due().exclude(pk__in=tried).first()
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
    set_queue.release(_discovered(scope, key).pk)
    return update_set(find(scope, key).pk)


def update_soon(scope: Scope, key: str) -> None:
    """Let the worker do what `update_now` does."""
    feature_set = _discovered(scope, key)
    set_queue.release(feature_set.pk)
    outbox.post("fold_set", feature_set.pk)


def asks_model(scope: Scope, key: str) -> bool:
    """Tell whether the set asks a model, and so takes its time."""
    return models_of(_discovered(scope, key)) is not None


def _discovered(scope: Scope, key: str) -> FeatureSet:
    """Return the set; that of a subject is made when something was said about it."""
    set_queue.discover_sets(scope.workspace_id)
    return find(scope, key)


@transaction.atomic(durable=True)
def _apply(space: WorkspaceIndex, batch: EpisodeBatch, proposed: ProposedCommands, vectors: Vectors) -> ApplyResult:
    feature_set = apply.lock_set(space, batch.set)
    set_queue.hold(batch.set)
    origin = ChangeOrigin(feature_set, f"set:{feature_set.key}", proposed.method, proposed.rule, batch.agent_id)
    # Known features are read again under the lock: a person may have changed something meanwhile.
    known = apply.known_features(apply.live_features(feature_set, batch.agent_id).values())
    # Only what cites this batch: nothing else was read, or is locked for it.
    ids = [episode.pk for episode in batch.episodes]
    here = set(ids)
    commands = [
        replace(each, cited=tuple(one for one in each.cited if one.episode_id in here)) for each in proposed.commands
    ]
    planned = _without_ended(origin, plan(commands, batch.config.categories, known))
    result = apply.apply_commands(space, origin, planned.commands, vectors)
    result.refused = [*proposed.broken, *planned.refused]
    apply.keep_refused(origin, result.refused, ids)
    made = {"workspace_id": feature_set.workspace_id, "batch": origin.batch, "folded_at": timezone.now()}
    # That each episode is taken in once is held by the table's key: a second mark would raise.
    FeatureMark.objects.bulk_create(FeatureMark(set=feature_set, episode_id=pk, **made) for pk in ids)
    if result.added or result.updated or result.deleted:
        AuditEntry.line(
            feature_set.workspace_id,
            origin.by,
            "fold_set",
            feature_set,
            subject_id=feature_set.subject_id,
            reason=origin.rule,
            after={
                "episodes": len(ids),
                "added": len(result.added),
                "updated": len(result.updated),
                "deleted": len(result.deleted),
                "refused": len(result.refused),
            },
        ).save()
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
