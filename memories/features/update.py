"""Taking what waits into a set: gather, ask, apply. It can run twice, from the rows."""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.db import transaction
from django.utils import timezone

from memories import leases, metrics, outbox
from memories.errors import ProviderError
from memories.features import apply, consolidate, queue, undo
from memories.features.apply import Act, Outcome
from memories.features.ask import Asked, ask
from memories.features.batch import Batch, gather, ladder_for
from memories.features.commands import DELETE, Command, Plan, Refused, plan
from memories.features.discovery import discover_sets
from memories.features.sets import config_of, find
from memories.index import statements, workspace_index
from memories.leases import TakenOver
from memories.models import (
    Episode,
    Feature,
    FeatureRefusal,
    FeatureSet,
    WorkspaceIndex,
)
from workspaces.models import AuditEntry
from workspaces.scope import Scope

LONGEST = 100.0  # seconds that one worker stays with one set
log = logging.getLogger(__name__)


@dataclass(slots=True)
class UpdateResult:
    """What one visit to a set did."""

    episodes: int = 0
    added: int = 0
    updated: int = 0
    deleted: int = 0
    refused: int = 0
    merged: int = 0

    def count(self, episodes: int, outcome: Outcome) -> None:
        self.episodes += episodes
        self.added += len(outcome.added)
        self.updated += len(outcome.updated)
        self.deleted += len(outcome.deleted)
        self.refused += len(outcome.refused)


def update_set(set_id: uuid.UUID) -> UpdateResult | None:
    """Take all that is ready into a set that is due, then merge what is too much.

    None where it is not due, or another worker has it. A model that fails leaves the set to be
    tried again later; what was taken in before that stays.
    """
    found = queue.claim(set_id)
    if found is None:
        return None
    done, until = UpdateResult(), time.monotonic() + LONGEST
    try:
        with metrics.timer("set_fold"), leases.renewed(partial(queue.held, found)) as work:
            while time.monotonic() < until and (batch := gather(found)) is not None:
                done.count(len(batch.episodes), _take_in(batch))
                work.advance()
            # Also where a worker before died between the two.
            if done.episodes or found.failures > 1:
                done.merged = consolidate.tidy(found)
    except TakenOver:
        return None
    except ProviderError as error:
        queue.fail(found, error.message, retry_after=error.retry_after or 0.0)
        return done
    (queue.settle if done.episodes else queue.postpone)(found)
    return done


def update_due_sets(until: float, report: Callable[[str], object] = log.debug) -> int:
    """Take in what is due until the clock (`time.monotonic`) says so; the number of episodes."""
    episodes, tried = 0, set[uuid.UUID]()
    while time.monotonic() < until:
        found = queue.due().exclude(pk__in=tried).first()
        if found is None:
            break
        tried.add(found.pk)
        try:
            done = update_set(found.pk)
        except Exception:
            # One that breaks its worker must not keep the others from their turn: its claim
            # counted the failure, and it comes back when the lease has run out.
            log.exception("set %s failed", found.pk)
            continue
        episodes += done.episodes if done else 0
        report(f"set {found.key}: {done}")
    return episodes


def update_now(scope: Scope, key: str) -> UpdateResult | None:
    """Take in at once what waits in a set, whatever its thresholds; None where a worker has it."""
    queue.release(_known(scope, key).pk)
    return update_set(find(scope, key).pk)


def update_soon(scope: Scope, key: str) -> None:
    """As `update_now`, by the worker."""
    found = _known(scope, key)
    queue.release(found.pk)
    outbox.post("fold_set", found.pk)


def asks_model(scope: Scope, key: str) -> bool:
    """Whether the set asks a model, and so takes its time."""
    found = _known(scope, key)
    return ladder_for(found, config_of(found)) is not None


def _known(scope: Scope, key: str) -> FeatureSet:
    """The set; one of a subject is made when something was said about it."""
    discover_sets(scope.workspace_id)
    return find(scope, key)


def _take_in(batch: Batch) -> Outcome:
    asked = ask(batch)
    space = workspace_index.index_of(batch.set.workspace_id)
    texts = [
        Feature.text_of(each.tag, each.feature, each.value, each.about)
        for each in asked.commands
        if each.value
    ]
    return _apply(space, batch, asked, undo.vectors_of(space, texts))


@transaction.atomic(durable=True)
def _apply(space: WorkspaceIndex, batch: Batch, asked: Asked, vectors: apply.Vectors) -> Outcome:
    held = apply.locked(space, batch.set)
    queue.hold(batch.set)
    act = Act(held, f"set:{held.key}", asked.method, asked.rule, batch.agent_id)
    # What is known is read again under the lock: a person may have changed something meanwhile.
    known = apply.known_of(apply.live_of(act).values())
    commands = [_present(each, batch.episodes) for each in asked.commands]
    planned = plan(commands, config_of(batch.set).categories, known)
    planned = _without_ended(act, planned)
    outcome = apply.carry_out(space, act, planned.commands, vectors)
    outcome.refused = [*asked.broken, *planned.refused]
    _refuse(act, outcome.refused, batch.episodes)
    _mark(act, batch.episodes)
    _audit(act, len(batch.episodes), outcome)
    return outcome


def _without_ended(act: Act, planned: Plan) -> Plan:
    """What a person ended comes back by words that were said after that."""
    ended = apply.ended_by_hand(act.set, act.agent_id)
    kept = Plan(refused=planned.refused)
    for command in planned.commands:
        at = ended.get(Feature.fingerprint_of(apply.told_by(command)))
        if at and command.action != DELETE and (command.occurred_at or at) <= at:
            kept.refused.append(Refused("a person ended it", command))
        else:
            kept.commands.append(command)
    return kept


def _present(command: Command, episodes: Sequence[Episode]) -> Command:
    """Only what cites this batch: nothing else was read, or is locked for it."""
    here = {episode.pk for episode in episodes}
    return replace(command, cited=tuple(c for c in command.cited if c.episode_id in here))


def _refuse(act: Act, refused: Sequence[Refused], episodes: Sequence[Episode]) -> None:
    """Keep the commands that were not done, with the reason, for people to see."""
    FeatureRefusal.objects.bulk_create(
        FeatureRefusal(
            workspace_id=act.set.workspace_id, set=act.set, agent_id=act.agent_id,
            batch=act.batch, command=each.as_json(), reason=each.reason, rule=act.rule,
            episode_ids=[episode.pk for episode in episodes],
        )
        for each in refused
    )  # fmt: skip


MARK = """
insert into memories_featuremark (set_id, episode_id, workspace_id, batch, folded_at)
select %(set)s, id, %(workspace)s, %(batch)s, %(now)s from unnest(%(ids)s::uuid[]) id
"""


def _mark(act: Act, episodes: Sequence[Episode]) -> None:
    """That each episode is taken in once is held by the table's key: a second mark would raise."""
    values = {
        "set": act.set.pk,
        "workspace": act.set.workspace_id,
        "batch": act.batch,
        "now": timezone.now(),
        "ids": [episode.pk for episode in episodes],
    }
    statements.execute(MARK, values)


def _audit(act: Act, episodes: int, outcome: Outcome) -> None:
    if not (outcome.added or outcome.updated or outcome.deleted):
        return
    AuditEntry.line(
        act.set.workspace_id, act.by, "fold_set", act.set, subject_id=act.set.subject_id,
        reason=act.rule,
        after={
            "episodes": episodes, "added": len(outcome.added), "updated": len(outcome.updated),
            "deleted": len(outcome.deleted), "refused": len(outcome.refused),
        },
    ).save()  # fmt: skip
