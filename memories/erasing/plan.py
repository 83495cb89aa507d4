"""What an erasure would take away, in rows by table. Nothing is changed."""

from typing import TypeAlias

from django.db.models import Exists, OuterRef, Q, QuerySet

from memories.erasing.target import Kind, Target
from memories.models import (
    Citation,
    ConversationSummary,
    Entry,
    Fact,
    FeatureChange,
    FeatureCitation,
    Memory,
    Miss,
    Rejection,
    Supersession,
)
from workspaces.models import AuditEntry

MemoryRows: TypeAlias = QuerySet[Memory]
RejectionRows: TypeAlias = QuerySet[Rejection]
AuditRows: TypeAlias = QuerySet[AuditEntry]
WRITTEN = Q(before__isnull=False) | Q(after__isnull=False) | ~Q(reason="")  # lines with values


def plan(target: Target) -> dict[str, int]:
    """Rows that go, by what they are; `memories recomputed` stay, with what else they stand on."""
    gone, kept = doomed(target)
    facts, features = target.facts.values("pk"), target.features.values("pk")
    counts = {
        "episodes": target.episodes.count(),
        "sessions": target.sessions.count(),
        "facts": target.facts.count(),
        "citations": Citation.objects.filter(fact__in=facts).count(),
        "memories": gone.count(),
        "memories recomputed": kept.count(),
        "supersessions": _supersessions(gone),
        "rejections": rejections_of(target, gone).count(),
        "misses": Miss.objects.filter(episode__in=target.episodes.values("pk")).count(),
        "features": target.features.count(),
        "feature changes": FeatureChange.objects.filter(feature__in=features).count(),
        "feature citations": FeatureCitation.objects.filter(feature__in=features).count(),
        "summaries": ConversationSummary.objects.filter(
            conversation__in=target.episodes.values("conversation")
        ).count(),
        "index entries": _entries(target, gone),
        "audit values": audit_of(target, gone).count(),
    }
    if target.kind != Kind.EPISODE:
        counts["conversations"] = target.conversations.count()
    return counts


def doomed(target: Target) -> tuple[MemoryRows, MemoryRows]:
    """The memories that go, and those that stay on other words."""
    touched = Memory.objects.filter(workspace_id=target.workspace_id, facts__in=target.facts)
    others = Fact.objects.filter(memory=OuterRef("pk")).exclude(pk__in=target.facts.values("pk"))
    named = Memory.objects.filter(pk__in=touched.values("pk")).annotate(stands=Exists(others))
    own = target.memories.values("pk")
    gone = Memory.objects.filter(Q(pk__in=named.filter(stands=False).values("pk")) | Q(pk__in=own))
    kept = named.filter(stands=True).exclude(pk__in=own)
    return gone, kept


def rejections_of(target: Target, gone: MemoryRows) -> RejectionRows:
    rows = Rejection.objects.filter(workspace_id=target.workspace_id)
    own = Q(subject=target.id) if target.kind == Kind.SUBJECT else Q(pk=None)
    return rows.filter(own | Q(memory__in=gone.values("pk")))


def audit_of(target: Target, gone: MemoryRows) -> AuditRows:
    """Lines whose values are blanked; that somebody did something stays."""
    rows = AuditEntry.objects.filter(WRITTEN, workspace_id=target.workspace_id)
    own = Q(subject_id=target.id) if target.kind == Kind.SUBJECT else Q(pk=None)
    about = Q(target_id__in=gone.values("pk")) | Q(target_id__in=target.sessions.values("pk"))
    return rows.filter(own | about)


def _supersessions(gone: MemoryRows) -> int:
    ids = gone.values("pk")
    return Supersession.objects.filter(Q(old__in=ids) | Q(new__in=ids)).count()


def _entries(target: Target, gone: MemoryRows) -> int:
    episodes = Entry.objects.filter(item__in=target.episodes.values("pk"))
    memories = Entry.objects.filter(item__in=gone.values("pk"))
    features = Entry.objects.filter(item__in=target.features.values("pk"))
    return episodes.count() + memories.count() + features.count()
