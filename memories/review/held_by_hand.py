"""A memory written by hand that holds a secret or an order: masked, and not live before a person
says so."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from memories import guard, masks
from memories.english import lexical
from memories.index import entries, row_marks
from memories.masked_text import without_words
from memories.models import Fact, MaskedSpan, Memory, WorkspaceIndex
from memories.resolve import file_facts

GUARD = "guard"  # so begins the rule of its fact


def places_in(space: WorkspaceIndex, content: str) -> list[guard.Finding]:
    """What is to be masked of words that somebody writes by hand."""
    return guard.findings(content, guard.TEXT, space.guard.get("allowed", ()))


def without_secrets(space: WorkspaceIndex, value: Any) -> Any:
    """Metadata or a title that somebody writes by hand, with blocks in the place of secrets and of
    orders to the reader."""
    return without_words(value, guard.words_in(value, guard.OTHER, space.guard.get("allowed", ())))


def hold_new(space: WorkspaceIndex, memory: Memory, places: Sequence[guard.Finding]) -> Memory:
    """Write an unsaved memory masked and held, with a fact in quarantine that says why; in the
    caller's transaction."""
    reason = guard.reason_of(places)
    fact = Fact(
        workspace_id=memory.workspace_id,
        subject_id=memory.subject_id,
        agent_id=memory.agent_id,
        memory=memory,
        statement=memory.content,
        category=memory.category,
        fact_type=memory.fact_type,
        visibility=memory.visibility,
        confidence=memory.confidence,
        method=Fact.Method.MANUAL,
        rule=f"{GUARD}:{places[0].label}",
        quarantined_at=timezone.now(),
        quarantine_reason=reason,
    )
    why = masks.MaskReason(MaskedSpan.Kind.SECRET, reason, fact.pk)
    spans = [(place.start, place.end) for place in places]
    hidden = [*masks.of_new_memory(memory, spans, why), *masks.of_new_fact(fact, spans, why)]
    memory.held_at = timezone.now()
    memory.fingerprint = lexical.fingerprint(memory.content)
    memory.slots = row_marks.slots_of_memory(memory, row_marks.words_of(space))
    memory.save(force_insert=True)
    fact.save(force_insert=True)
    MaskedSpan.objects.bulk_create(hidden)
    entries.write(space, [entries.memory_item(memory)], None)
    file_facts([fact])
    return memory


def let_go(memory: Memory) -> None:
    """The fact that told why a memory was held waits no longer."""
    waiting = Fact.objects.filter(memory=memory, quarantined_at__isnull=False)
    waiting.update(quarantined_at=None)


def unmask_held(space: WorkspaceIndex, memory: Memory) -> None:
    """Put the words back that were masked because the memory was held."""
    hidden = MaskedSpan.objects.filter(memory=memory, kind=MaskedSpan.Kind.SECRET)
    causes = [pk for pk in hidden.values_list("cause", flat=True) if pk]
    masks.unmask(
        space, MaskedSpan.objects.filter(workspace_id=space.workspace_id, cause__in=causes)
    )
    memory.refresh_from_db(fields=["content", "slots"])
    memory.fingerprint = lexical.fingerprint(memory.content)
    memory.save(update_fields=["fingerprint"])
