"""A person's word on facts without evidence: accept with the words they stand on, or dismiss."""

import uuid

from django.db import transaction

from memories import resolve
from memories.errors import Conflict, Invalid, NotFound
from memories.extraction.model_claims import find_quote
from memories.index import due, entries, workspace_index
from memories.models import Episode, Fact, Memory, MemorySession, Source
from memories.resolve import Claim, Quote, rejections
from memories.review.forget import audit
from workspaces.models import AuditEntry
from workspaces.scope import Scope


def accept(scope: Scope, fact_id: uuid.UUID, quote: str) -> Memory:
    """Believe a quarantined fact for `quote`, words of a message of its ingest; the memory that it
    stands under, once it is resolved like any other claim.

    Raises Invalid where no such message has these words, Conflict where somebody decided before.
    """
    claim = _claim(scope, _waiting(scope, fact_id), quote)
    space = workspace_index.index_of(scope.workspace_id)
    vectors = due.embed_or_leave(space, [entries.texts_of(claim.statement)])
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        fact = _waiting(scope, fact_id, lock=True)
        session = MemorySession.objects.select_related("agent").get(facts=fact)
        # A person's word outranks an earlier "no".
        vector = vectors[0][0] if vectors else None
        rejections.take_back(space, fact.subject_id, claim.statement, vector)
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
def dismiss(scope: Scope, fact_id: uuid.UUID) -> None:
    """Leave a quarantined fact unbelieved for good; Conflict where somebody decided before."""
    fact = _waiting(scope, fact_id, lock=True)
    fact.quarantined_at = None
    fact.save(update_fields=["quarantined_at", "updated_at"])
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
    episodes = Episode.objects.visible_to(scope).filter(session__facts=fact).order_by("pk")
    spans = ((episode, find_quote(episode.content, quote)) for episode in episodes)
    episode, span = next(((episode, span) for episode, span in spans if span), (None, None))
    if episode is None or span is None:
        raise Invalid("quote", "No message of this ingest has these words.")
    return Claim(
        statement=fact.statement,
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
        quotes=(Quote(episode.pk, *span, episode.content[slice(*span)]),),
    )
