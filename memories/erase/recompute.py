"""What is believed when some of what it stood on is gone: other words, or the version before."""

import uuid
from collections.abc import Collection

from django.db.models import Q
from django.utils import timezone

from memories.english import lexical
from memories.index import entries, slot_keys
from memories.models import (
    Layer,
    Memory,
    MemoryPeriod,
    Supersession,
    WorkspaceIndex,
)
from memories.resolve import state_changes

Ids = Collection[uuid.UUID]


def recompute(space: WorkspaceIndex, ids: Ids) -> int:
    """Memories that stand on fewer facts now: counted anew, and told in words that are left.

    The one place where a memory's content changes: the words it had were erased.
    """
    for memory in Memory.objects.filter(pk__in=ids).order_by("pk"):
        facts = list(memory.facts.order_by("pk"))
        rows = Memory.objects.filter(pk=memory.pk)
        rows.update(source_count=len(facts), updated_at=timezone.now())
        own = bytes(memory.fingerprint)
        if any(lexical.fingerprint(fact.statement) == own for fact in facts):
            continue
        fact = facts[-1]
        memory.content = fact.statement
        memory.fingerprint = lexical.fingerprint(fact.statement)
        memory.entities, memory.metadata = fact.entities, {}
        memory.event_date = fact.event_date
        memory.slots = slot_keys.of_memory(memory, slot_keys.words_of(space))
        memory.save(
            update_fields=["content", "fingerprint", "entities", "metadata", "event_date", "slots"]
        )
        entries.remove(space, Layer.MEMORIES, [memory.pk])
        entries.write(space, [entries.memory_item(memory)], None)
    return len(ids)


def unlink_all(space: WorkspaceIndex, gone: Ids) -> int:
    """Take memories out of their chains: the version before is replaced by the one after, or is
    the head again. The number of decisions that go with them."""
    before = Memory.objects.filter(superseded_by__in=gone).exclude(pk__in=gone)
    for old in before.order_by("pk"):
        removed = heir = old.superseded_by
        while heir is not None and heir.pk in gone:
            heir = heir.superseded_by
        if removed is not None:
            state_changes.unlink(old, removed, heir)
        if heir is not None:
            decisions = Supersession.objects.filter(old=old, state=Supersession.State.APPLIED)
            decisions.update(new=heir, similarity=None, note="")
        elif old.state.is_head:
            state_changes.restore(space, old, MemoryPeriod.Cause.UNDONE)
    of_both = Q(old__in=gone) | Q(new__in=gone)
    return Supersession.objects.filter(of_both).delete()[0]
