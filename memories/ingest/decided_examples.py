"""Statements that people of a workspace kept or threw away, as examples for the model that reads its messages.

A model's answer may repeat what it was shown. So a session is shown what its own audience may see. Of what is private:
only what is about its subject and was recorded by its agent, and nothing of it where what it learns is shared. Of what
is shared: only what is about its subject or, where its key is not limited to people, about nobody. Masked, forgotten
and erased words are no examples.
"""

from collections.abc import Callable, Iterable

from django.db.models import Q

from memories.belief.resolve import is_limited
from memories.models import Fact, Memory, MemoryScope, MemorySession, Visibility
from memories.providers.prompts import DecidedExample
from memories.reading.guard.masked_text import is_masked
from workspaces.models import Audience, AuditEntry
from workspaces.scope import Scope

MOST, LONGEST = 4, 120  # of each kind, and the characters of one: about 250 tokens together
LOOKED_THROUGH = 200  # decisions, the newest
SHARED = (Visibility.TEAM, Visibility.GLOBAL)


def decided_examples(session: MemorySession, writer_of: Callable[[], Scope]) -> tuple[DecidedExample, ...]:
    """Return the examples for a session, whose writer sees what its agent sees, the newest first."""
    told, writer = _of_audience(session), writer_of()
    acts = AuditEntry.objects.filter(
        Q(actor__startswith="user:") | Q(actor__startswith="key:"),
        workspace=session.workspace_id,
        action__in=("accept", "edit"),
        target_kind="memory",
    )
    decided = list(acts.order_by("-pk").values_list("target_id", flat=True)[:LOOKED_THROUGH])
    kept = Memory.objects.visible_to(writer).live().filter(told, pk__in=decided, scope=MemoryScope.USER)
    # In quarantine once, and neither there nor believed: a person dismissed it.
    dismissed = Fact.objects.visible_to(writer).filter(told, memory=None, quarantined_at=None, session__scope="user")
    thrown = dismissed.exclude(quarantine_reason="")
    return (
        *_examples(kept.order_by("-pk").values_list("content", flat=True)[:LOOKED_THROUGH], kept=True),
        *_examples(thrown.order_by("-pk").values_list("statement", flat=True)[:LOOKED_THROUGH], kept=False),
    )


def _of_audience(session: MemorySession) -> Q:
    about = Q(subject=session.subject_id)
    shared = Q(visibility__in=SHARED) & (about if is_limited(session) else about | Q(subject=None))
    thread = session.conversation
    if session.visibility in SHARED or (thread and thread.audience == Audience.TEAM):
        return shared
    return shared | Q(visibility=Visibility.PRIVATE, subject=session.subject_id, agent=session.agent_id)


def _examples(texts: Iterable[str], *, kept: bool) -> list[DecidedExample]:
    fit = (text for text in dict.fromkeys(texts) if len(text) <= LONGEST and not is_masked(text))
    return [DecidedExample(text, kept) for _, text in zip(range(MOST), fit, strict=False)]
