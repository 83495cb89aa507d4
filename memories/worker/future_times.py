"""Repair of timestamps that a wrong clock once set into the future.

Whatever waits for a time lies no further ahead than its own longest period: anything further was
written by such a clock, and its time has come. No statement or memory is dated anew: it may be the
clock of now that is wrong. What comes later is newer whatever the dates are (`candidates.KNOWN`).

A lease, a queued job, a set's cursor and a key's last use need no repair: readers ignore those that
lie too far ahead (`leases.free`, `queue.enqueue_due`, `queue.count`).
"""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Model, Q
from django.utils import timezone

from memories.models import (
    Connection,
    ConversationSummary,
    Document,
    DueSummary,
    DueVector,
    Erasure,
    FeatureSet,
    IdempotentAnswer,
    IndexRepair,
    JudgeRehearsal,
    MemorySession,
    SetDiscovery,
    SyncRun,
    WebhookDelivery,
)
from memories.models.conversation import AHEAD
from memories.queue import outbox
from memories.queue.leases import FAR
from workspaces.models import WorkspaceRemoval
from workspaces.models.workspace import first_uuid7

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of times, how far ahead one may plausibly lie, and where it is reset to; `where`
    leads to its index."""

    model: type[Model]
    name: str
    longest: timedelta
    where: Q = Q()
    rest: timedelta = timedelta(0)


COLUMNS = (
    _Column(MemorySession, "next_attempt_at", DAY + HOUR, Q(state__in=("received", "extracting", "resolving"))),
    _Column(FeatureSet, "due_at", 7 * DAY + HOUR),
    _Column(FeatureSet, "embedding_due_at", DAY + HOUR),
    _Column(ConversationSummary, "due_at", HOUR),
    _Column(DueSummary, "due_at", DAY + HOUR),
    _Column(Erasure, "due_at", HOUR),
    _Column(WorkspaceRemoval, "due_at", HOUR),
    _Column(JudgeRehearsal, "due_at", HOUR),
    _Column(DueVector, "next_attempt_at", 2 * HOUR),
    _Column(Document, "next_attempt_at", HOUR, ~Q(state__in=("done", "failed"))),
    _Column(SyncRun, "next_attempt_at", DAY + HOUR, Q(state__in=SyncRun.OPEN)),
    _Column(Connection, "next_sync_at", 7 * DAY + HOUR),
    _Column(Connection, "paused_until", DAY + HOUR),
    _Column(IndexRepair, "next_attempt_at", 2 * HOUR),
    _Column(WebhookDelivery, "next_attempt_at", DAY + HOUR, Q(state="waiting")),
    _Column(IdempotentAnswer, "expires_at", DAY + HOUR, rest=DAY),
)


def heal() -> int:
    """Reset times that lie too far ahead; the number of rows."""
    now = timezone.now()
    done = outbox.heal(FAR)
    for each in COLUMNS:
        ahead = each.model._default_manager.filter(each.where, **{f"{each.name}__gt": now + each.longest})
        done += ahead.update(**{each.name: now + each.rest})
    # Ids contain the time at which they were made. Everything up to this one was seen, but new ones
    # would be lower: it is looked through again.
    return done + SetDiscovery.objects.filter(seen__gt=first_uuid7(now + AHEAD)).delete()[0]
