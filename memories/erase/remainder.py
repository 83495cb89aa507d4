"""What is left of a subject or a conversation when its episodes are gone: sessions, sets, names."""

from collections import Counter

from django.db.models import Q
from django.utils import timezone

from memories.erase.erasure_plan import rejections_of
from memories.erase.remove import TALLY, blank, forget_traces
from memories.erase.target import ErasureTarget, Kind
from memories.models import (
    Conversation,
    IdempotentAnswer,
    Memory,
    MemoryScope,
    MemorySession,
    Speaker,
    WorkspaceIndex,
)
from workspaces.models import AuditEntry, Subject


def stop_sessions(target: ErasureTarget) -> int:
    """Nobody learns from it any more: a worker that is at it finds its claim gone."""
    rows = MemorySession.objects.filter(workspace_id=target.workspace_id).exclude(
        state__in=MemorySession.FINAL
    )
    own = rows.filter(pk__in=target.episodes.values("session")) | rows.filter(
        pk__in=target.sessions.values("pk")
    )
    return own.update(
        state=MemorySession.State.FAILED, error="erased", next_attempt_at=None, lease_until=None,
        finished_at=timezone.now(), learned=0,
    )  # fmt: skip


def end(space: WorkspaceIndex, target: ErasureTarget) -> TALLY:
    """In the caller's transaction, after all batches. Raises IntegrityError where rows came in."""
    if target.kind == Kind.EPISODE:
        return Counter()
    sessions = list(target.sessions.values_list("pk", flat=True))
    done = forget_traces(space, sessions)
    done["sessions"] += (
        MemorySession.objects.filter(pk__in=sessions).delete()[1].get("memories.MemorySession", 0)
    )
    done["feature sets"] += target.sets.delete()[1].get("memories.FeatureSet", 0)
    done += _end_conversations(target)
    if target.kind == Kind.SUBJECT:
        done += _end_subject(space, target)
    return done


def _end_conversations(target: ErasureTarget) -> TALLY:
    """One in which others spoke too stays, without what it says of whom it was about."""
    rows = target.conversations
    own = Q(conversation__in=rows.values("pk"))
    Memory.objects.filter(own).exclude(scope=MemoryScope.THREAD).update(conversation=None)
    if target.kind == Kind.SUBJECT:
        shared = rows.filter(Q(episodes__isnull=False)).values("pk")
        Conversation.objects.filter(pk__in=shared).update(subject=None, title="", metadata={})
    done = blank(AuditEntry.objects.filter(target_id__in=rows.values("pk")))
    return done + Counter({"conversations": rows.delete()[1].get("memories.Conversation", 0)})


def _end_subject(space: WorkspaceIndex, target: ErasureTarget) -> TALLY:
    done: TALLY = Counter()
    done["rejections"] += rejections_of(target, Memory.objects.none()).delete()[0]
    lines = AuditEntry.objects.filter(workspace_id=target.workspace_id)
    done += blank(lines.filter(Q(subject_id=target.id) | Q(target_id=target.id)))
    Speaker.objects.filter(workspace=space.number, subject=target.id).delete()
    for subject in Subject.objects.filter(pk=target.id):
        name = {"userId": subject.external_id}
        named = Q(body__contains=name)  # at the top, or in what the answer lists
        for listed in ("results", "memories", "facts"):
            named |= Q(**{f"body__{listed}__contains": [name]})
        answers = IdempotentAnswer.objects.filter(named, workspace_id=target.workspace_id)
        done["kept answers"] += answers.delete()[0]
        subject.delete()
        done["subjects"] += 1
    return done
