"""A person's word on facts in quarantine: accept with the words they stand on, or dismiss."""

import uuid
from collections.abc import Sequence

from django.db import transaction

from memories import resolve
from memories.errors import Conflict, Invalid, NotFound
from memories.extraction.model_claims import find_quote
from memories.index import due, entries, workspace_index
from memories.models import (
    CaseItem,
    Episode,
    Fact,
    Memory,
    MemorySession,
    Source,
    WorkspaceIndex,
)
from memories.resolve import Claim, Quote, rejections
from memories.review.forget import audit
from workspaces.models import AuditEntry
from workspaces.scope import Scope

Vectors = list[entries.Vectors] | None


def accept(scope: Scope, fact_id: uuid.UUID, quote: str) -> Memory:
    """Believe a quarantined fact for `quote`, words of a message of its ingest; the memory that it
    stands under, once it is resolved like any other claim.

    Raises Invalid where no such message has these words, Conflict where somebody decided before.
    """
    fact = _waiting(scope, fact_id)
    claim = _claim(fact, _quoted(scope, fact, quote))
    space = workspace_index.index_of(scope.workspace_id)
    vectors = due.embed_or_leave(space, [entries.texts_of(claim.statement)])
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        fact = locked_fact(scope, fact_id)
        cases = list(fact.case_items.values_list("case", flat=True))
        memory, _ = _believe(scope, space, fact, claim, vectors)
        resolve.settle(cases, scope.actor)
    return memory


def believe_fact(
    scope: Scope, space: WorkspaceIndex, fact: Fact, vectors: Vectors
) -> tuple[Memory, bool]:
    """Believe a locked fact on a person's word, with the words that it cites or repeats, if there
    are any; the memory it stands under, and whether that is new."""
    cited = [
        Quote(each.episode_id, each.start, each.end, each.quote) for each in fact.citations.all()
    ]
    return _believe(scope, space, fact, _claim(fact, cited or _repeated(scope, fact)), vectors)


def embedded(
    scope: Scope, space: WorkspaceIndex, fact_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, Vectors]:
    """What these facts say, embedded; asked before a transaction begins."""
    rows = Fact.objects.visible_to(scope).filter(pk__in=fact_ids)
    return {fact.pk: due.embed_or_leave(space, [entries.texts_of(fact.statement)]) for fact in rows}


def _believe(
    scope: Scope, space: WorkspaceIndex, fact: Fact, claim: Claim, vectors: Vectors
) -> tuple[Memory, bool]:
    session = MemorySession.objects.select_related("agent").get(facts=fact)
    # A person's word outranks an earlier "no".
    vector = vectors[0][0] if vectors else None
    rejections.take_back(space, fact.subject_id, claim.statement, vector)
    items = list(fact.case_items.values_list("pk", flat=True))
    placement = resolve.placement_of(session, [claim])
    outcome = resolve.apply(
        space, placement, [claim], vectors, actor=scope.actor, session_id=session.pk
    )
    memory = Memory.objects.get(pk=[*outcome.created, *outcome.reinforced][0])
    # The resolver wrote the fact anew, under its memory: the one that waited goes.
    for item in CaseItem.objects.filter(pk__in=items):
        if not CaseItem.objects.filter(case=item.case_id, memory=memory).exists():
            CaseItem.objects.filter(pk=item.pk).update(fact=None, memory=memory)
    fact.delete()
    audit(scope, "accept", memory, after={"content": claim.statement})
    return memory, bool(outcome.created)


@transaction.atomic(durable=True)
def dismiss(scope: Scope, fact_id: uuid.UUID) -> None:
    """Leave a quarantined fact unbelieved for good; Conflict where somebody decided before."""
    fact = locked_fact(scope, fact_id)
    dismiss_locked(scope, fact)
    resolve.settle(list(fact.case_items.values_list("case", flat=True)), scope.actor)


def dismiss_locked(scope: Scope, fact: Fact) -> None:
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


def locked_fact(scope: Scope, fact_id: uuid.UUID) -> Fact:
    """A fact in quarantine, locked; Conflict where somebody decided before."""
    return _waiting(scope, fact_id, lock=True)


def _waiting(scope: Scope, fact_id: uuid.UUID, *, lock: bool = False) -> Fact:
    rows = Fact.objects.visible_to(scope)
    fact = (rows.select_for_update(of=("self",)) if lock else rows).filter(pk=fact_id).first()
    if fact is None:
        raise NotFound("Fact")
    if fact.quarantined_at is None:
        raise Conflict("Somebody decided meanwhile: it is in quarantine no more.", "stale", "fact")
    return fact


def _quoted(scope: Scope, fact: Fact, quote: str) -> list[Quote]:
    """The first message of the fact's ingest that has these words."""
    episodes = Episode.objects.visible_to(scope).filter(session__facts=fact).order_by("pk")
    spans = ((episode, find_quote(episode.content, quote)) for episode in episodes)
    episode, span = next(((episode, span) for episode, span in spans if span), (None, None))
    if episode is None or span is None:
        raise Invalid("quote", "No message of this ingest has these words.")
    return [Quote(episode.pk, *span, episode.content[slice(*span)])]


def _repeated(scope: Scope, fact: Fact) -> list[Quote]:
    """The same where a message says just what the fact says; else none."""
    try:
        return _quoted(scope, fact, fact.statement)
    except Invalid:
        return []


def _claim(fact: Fact, quotes: Sequence[Quote]) -> Claim:
    """What the fact says, standing on these words."""
    episode = Episode.objects.filter(pk=quotes[0].episode_id).first() if quotes else None
    return Claim(
        statement=fact.statement,
        category=fact.category,
        fact_type=fact.fact_type,
        visibility=fact.visibility,
        method=fact.method,
        rule=fact.rule,
        source=Source.EXTRACTED,
        occurred_at=episode.occurred_at if episode else fact.created_at,
        confidence=fact.confidence,
        entities=tuple(fact.entities),
        event_date=fact.event_date,
        quotes=tuple(quotes),
    )
