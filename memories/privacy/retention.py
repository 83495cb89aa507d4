"""Old rows that nothing stands on go, where a workspace's settings say after how many days.

Never what a fact, a feature, an order or a mask stands on, never what is held, and never on its
own: `prune` is asked for.
"""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memories.index import workspace_index
from memories.models import (
    Citation,
    Document,
    Episode,
    Fact,
    FeatureCitation,
    Intent,
    LegalHold,
    MaskedSpan,
    MemorySession,
    Miss,
)
from memories.privacy.erase.remove import blank, forget_traces, remove_episodes
from memories.privacy.masks import WRITTEN
from memories.settings.workspace_settings import settings_of
from workspaces.models import AuditEntry
from workspaces.scope import Scope

BATCH = 200  # rows of one transaction
CITING = (Citation, FeatureCitation, Intent, MaskedSpan, Document)


def due(scope: Scope) -> dict[str, QuerySet[Any]]:
    """Return the rows that may go, by the name of their retention setting."""
    days = settings_of(scope).retention
    held = LegalHold.objects.in_force().filter(workspace_id=scope.workspace_id)
    subjects = held.values("subject_id")
    own = Q(workspace_id=scope.workspace_id)
    now = timezone.now()
    rows: dict[str, QuerySet[Any]] = {}
    if days.episodes:
        # Those that nothing stands on, of sessions that are over: nor is a claim without a quote
        # out of their session.
        old = Q(created_at__lt=now - timedelta(days=days.episodes))
        over = Q(session=None) | Q(session__state__in=MemorySession.FINAL)
        left = Episode.objects.filter(over, own, old).exclude(subject__in=subjects)
        for model in CITING:
            left = left.exclude(Exists(model._default_manager.filter(episode=OuterRef("pk"))))
        bare = Fact.objects.filter(session=OuterRef("session_id"), citations=None)
        rows["episodes"] = left.exclude(Exists(bare))
    if days.misses:
        rows["misses"] = Miss.objects.filter(own, created_at__lt=now - timedelta(days=days.misses)).exclude(
            episode__subject__in=subjects
        )
    if days.audit:
        lines = AuditEntry.objects.filter(own, created_at__lt=now - timedelta(days=days.audit))
        rows["audit"] = lines.filter(WRITTEN).exclude(subject_id__in=subjects)
    return rows


def plan(scope: Scope) -> dict[str, int]:
    """Count the rows that would go, or lose their values in the audit. Nothing is changed."""
    return {name: rows.count() for name, rows in due(scope).items()}


def prune(scope: Scope, advance: Callable[[int], object]) -> Counter[str]:
    """Prune batch by batch; `advance` hears of each. A prune that was stopped goes on with the
    rest."""
    done: Counter[str] = Counter()
    for name, rows in due(scope).items():
        while taken := _batch(scope, name, rows):
            done[name] += taken
            advance(taken)
    return done


@transaction.atomic(durable=True)
def _batch(scope: Scope, name: str, rows: QuerySet[Any]) -> int:
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    ids = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
    if not ids:
        return 0
    if name == "episodes":
        remove_episodes(space, ids)
    elif name == "misses":
        forget_traces(space, ids)
        Miss.objects.filter(pk__in=ids).delete()
    else:
        blank(AuditEntry.objects.filter(pk__in=ids))
        return len(ids) - rows.filter(pk__in=ids).count()
    return len(ids)
