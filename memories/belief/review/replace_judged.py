"""Replacements that the judge is sure of: what was read in the later words takes the place of what they end, without a
person, and is undone as any other."""

from collections.abc import Sequence

from django.utils import timezone

from memories.belief.resolve import state_changes
from memories.belief.resolve.protected_memories import Policy, Replacement
from memories.belief.review.forget import audit
from memories.belief.review.misread import kept_by_people
from memories.belief.touches import NewTouch
from memories.language.english import topics
from memories.models import Memory, Supersession, WorkspaceIndex
from workspaces.scope import Scope

JUDGE = "judge"  # the rule and the method of such a replacement
SEEN_BY = ("subject_id", "visibility", "agent_id", "scope", "conversation_id", "workflow")  # alike in both memories


def replace_judged(scope: Scope, space: WorkspaceIndex, touches: Sequence[NewTouch]) -> None:
    """Let what was read in the words of each touch replace the memory that it touches, within the caller's
    transaction, which holds the workspace's lock. Left as they are: what people have decided for, what the policy
    protects, and memories for which nothing was read that the same people see."""
    policy, kept = Policy.of(space.review), kept_by_people(space, [one.memory_id for one in touches])
    for touch in touches:
        live = Memory.objects.live().filter(workspace=space.workspace_id).select_for_update(of=("self",))
        old = live.filter(pk=touch.memory_id).exclude(pk__in=kept).first()
        new = old and _read_in(touch, old)
        if old is None or new is None or policy.holds(_replacement(old, new)):
            continue
        now = timezone.now()
        state_changes.supersede(space, {old.pk: (new.pk, new.valid_from)}, now)
        Memory.objects.filter(pk=new.pk).update(version=max(new.version, old.version + 1))
        Supersession.objects.create(
            workspace_id=space.workspace_id,
            old=old,
            new=new,
            rule=JUDGE,
            method=JUDGE,
            state=Supersession.State.APPLIED,
            decided_by=scope.actor,
            decided_at=now,
        )
        audit(scope, "replace", old, after={"memory": str(new.pk), "probability": round(touch.probability, 3)})


def _read_in(touch: NewTouch, old: Memory) -> Memory | None:
    """The memory, seen by the same people, that was read in the words of a touch: of several the one that shares most
    with the old one."""
    same = {name: getattr(old, name) for name in SEEN_BY}
    rows = Memory.objects.live().filter(
        **{name: value for name, value in same.items() if value is not None},
        **{f"{name}__isnull": True for name, value in same.items() if value is None},
        workspace=old.workspace_id,
        facts__withdrawn_at=None,
        facts__citations__episode=touch.episode_id,
        facts__citations__start__lt=touch.end,
        facts__citations__end__gt=touch.start,
    )
    about = {*topics.naming(old.content)}
    found = rows.exclude(pk=old.pk).distinct().order_by("pk")
    return max(found, key=lambda row: len(about.intersection(topics.naming(row.content))), default=None)


def _replacement(old: Memory, new: Memory) -> Replacement:
    categories = frozenset({old.category, new.category})
    return Replacement(None, new.confidence, categories, str(new.agent_id or ""), old.pinned)
