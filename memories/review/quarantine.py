"""A person's word on facts without evidence: accept with the words they stand on, or dismiss."""

import uuid

from django.db import transaction
from django.utils import timezone

from memories import masks, resolve
from memories.errors import Conflict, Invalid, NotFound
from memories.extraction.model_claims import find_quote
from memories.index import due, entries, workspace_index
from memories.models import (
    Episode,
    Fact,
    MaskedSpan,
    Memory,
    MemorySession,
    Source,
    Supersession,
    WorkspaceIndex,
)
from memories.resolve import Claim, Quote, rejections, state_changes
from memories.review.approve import decide, let_replace, release
from memories.review.forget import audit, locked
from workspaces.models import AuditEntry
from workspaces.scope import Scope


def accept(scope: Scope, fact_id: uuid.UUID, quote: str = "") -> Memory:
    """Believe a quarantined fact for `quote`, words of a message of its ingest, or for those that it
    cites; the memory that it stands under, once it is resolved like any other claim. What is masked
    for its sake is shown from then on.

    Raises Invalid where no such message has these words, Conflict where somebody decided before.
    """
    space = workspace_index.index_of(scope.workspace_id)
    waiting = _waiting(scope, fact_id)
    if waiting.memory_id is not None:
        return _accept_held(scope, space, fact_id)
    claim = _claim(scope, waiting, quote)
    vectors = due.embed_or_leave(space, [entries.texts_of(claim.statement)])
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        fact = _waiting(scope, fact_id, lock=True)
        session = MemorySession.objects.select_related("agent").get(facts=fact)
        # A person's word outranks an earlier "no".
        vector = vectors[0][0] if vectors else None
        rejections.take_back(space, fact.subject_id, claim.statement, vector)
        hidden = MaskedSpan.objects.filter(workspace_id=scope.workspace_id, cause=fact.pk)
        masks.unmask(space, hidden)
        # The resolver writes the fact anew, under its memory: the one that waited goes.
        fact.delete()
        placement = resolve.placement_of(session, [claim])
        outcome = resolve.apply(
            space, placement, [claim], vectors, actor=scope.actor, session_id=session.pk
        )
        memory = Memory.objects.get(pk=[*outcome.created, *outcome.reinforced][0])
        audit(scope, "accept", memory, after={"content": claim.statement})
    return memory


@transaction.atomic(durable=True)
def _accept_held(scope: Scope, space: WorkspaceIndex, fact_id: uuid.UUID) -> Memory:
    """Believe a memory that was written by hand, in all its words."""
    workspace_index.lock(space)
    memory = locked(scope, _held_memory(_waiting(scope, fact_id, lock=True)))
    decisions = Supersession.objects.filter(new=memory, state=Supersession.State.PENDING)
    for decision in decisions.select_related("old"):
        let_replace(space, locked(scope, decision.old_id), memory)
        decide(scope, decision, "approve")
    release(space, memory)
    audit(scope, "accept", memory, after={"content": memory.content})
    return Memory.objects.with_names().get(pk=memory.pk)


def _held_memory(fact: Fact) -> uuid.UUID:
    assert fact.memory_id is not None
    return fact.memory_id


@transaction.atomic(durable=True)
def dismiss(scope: Scope, fact_id: uuid.UUID) -> None:
    """Leave a quarantined fact unbelieved for good; Conflict where somebody decided before."""
    fact = _waiting(scope, fact_id, lock=True)
    fact.quarantined_at = None
    fact.save(update_fields=["quarantined_at", "updated_at"])
    if fact.memory_id is not None:
        space = workspace_index.index_of(scope.workspace_id)
        state_changes.end(space, locked(scope, fact.memory_id), "dismissed", timezone.now())
    AuditEntry.line(
        scope.workspace_id,
        scope.actor,
        "dismiss",
        fact,
        subject_id=fact.subject_id,
        before={"statement": fact.statement},
    ).save()


def _waiting(scope: Scope, fact_id: uuid.UUID, *, lock: bool = False) -> Fact:
    rows = Fact.objects.visible_to(scope)
    fact = (rows.select_for_update(of=("self",)) if lock else rows).filter(pk=fact_id).first()
    if fact is None:
        raise NotFound("Fact")
    if fact.quarantined_at is None:
        raise Conflict("Somebody decided meanwhile: it is in quarantine no more.", "stale", "fact")
    return fact


def _claim(scope: Scope, fact: Fact, quote: str) -> Claim:
    """What the fact says, standing on the first message of its ingest that has these words."""
    rows = Episode.objects.visible_to(scope).filter(session__facts=fact).order_by("pk")
    texts = masks.originals(episodes := list(rows))
    spans = ((episode, find_quote(texts[episode.pk], quote)) for episode in episodes)
    episode, span = next(((episode, span) for episode, span in spans if span), (None, None))
    cited = None if quote.strip() else fact.citations.order_by("pk").first()
    if cited is not None:
        episode = next((each for each in episodes if each.pk == cited.episode_id), None)
        span = (cited.start, cited.end)
    if episode is None or span is None:
        raise Invalid("quote", "No message of this ingest has these words.")
    return Claim(
        statement=masks.original_of(fact),
        category=fact.category,
        fact_type=fact.fact_type,
        visibility=fact.visibility,
        method=fact.method,
        rule=fact.rule,
        source=Source.EXTRACTED,
        occurred_at=episode.occurred_at,
        confidence=fact.confidence,
        entities=tuple(fact.entities),
        event_date=fact.event_date,
        quotes=(Quote(episode.pk, *span, texts[episode.pk][slice(*span)]),),
    )
