"""A person's decision on facts in quarantine: accept with the words they stand on, or dismiss."""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memories.belief import resolve
from memories.belief.resolve import Claim, Quote, rejections, state_changes
from memories.belief.review.approve import decide, let_replace, release
from memories.belief.review.forget import audit, locked
from memories.errors import Conflict, Invalid, needed
from memories.index import due_vectors, entries, workspace_index
from memories.models import (
    CaseItem,
    Episode,
    Fact,
    MaskedSpan,
    Memory,
    MemorySession,
    Revision,
    Source,
    Supersession,
    WorkspaceIndex,
)
from memories.privacy import masks
from memories.reading.extraction.model_claims import find_quote
from workspaces.scope import Scope

DISMISSED = "dismissed"
Vectors = list[entries.Vectors] | None


def accept(scope: Scope, fact_id: uuid.UUID, quote: str = "", *, unmask: bool = False) -> Memory:
    """Believe a quarantined fact for `quote`, words of a message of its ingest, or for those that
    it cites; the memory that it stands under, once it is resolved like any other claim. `unmask`:
    what is masked for its sake is shown from then on.

    Raises Invalid where no such message has these words, Conflict where somebody decided before,
    Forbidden for who may see no masked words and asks for them.
    """
    space = workspace_index.index_of(scope.workspace_id)
    vectors = _vectors(scope, space, _waiting(scope, fact_id), unmask=unmask)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        fact = locked_fact(scope, fact_id)
        cases = list(fact.case_items.values_list("case", flat=True))
        if unmask:
            _unmask(scope, space, fact)
        if fact.memory_id is not None:
            # It was written by hand.
            memory = locked(scope, fact.memory_id)
            decisions = Supersession.objects.filter(new=memory, state=Supersession.State.PENDING)
            for decision in decisions.select_related("old"):
                let_replace(space, locked(scope, decision.old_id), memory)
                decide(scope, decision, "approve")
            release(space, memory)
            audit(scope, "accept", memory, after={"content": memory.content})
        else:
            cited = [] if quote.strip() else cited_by(fact)
            claim = _claim(fact, cited or _quoted(scope, fact, quote))
            memory, _ = _believe(scope, space, fact, claim, vectors)
        resolve.settle(cases, scope.actor)
    return Memory.objects.with_names().get(pk=memory.pk)


def believe_fact(
    scope: Scope, space: WorkspaceIndex, fact: Fact, vectors: Vectors, *, unmask: bool = False
) -> tuple[Memory, bool]:
    """Believe a locked fact that no memory waits with, on a person's word, with the words that it
    cites or repeats, if there are any; the memory it stands under, and whether that is new."""
    if unmask:
        _unmask(scope, space, fact)
    quotes = cited_by(fact)
    if not quotes:
        with suppress(Invalid):  # where a message says just what the fact says
            quotes = _quoted(scope, fact, fact.statement)
    claim = _claim(fact, quotes)
    return _believe(scope, space, fact, claim, vectors)


def cited_by(fact: Fact) -> list[Quote]:
    quotes = []
    for each in fact.citations.all():
        if text_id := each.episode_id or each.revision_id:
            is_read = each.revision_id is not None
            quotes.append(Quote(text_id, each.start, each.end, each.quote, is_of_document=is_read))
    return quotes


def _unmask(scope: Scope, space: WorkspaceIndex, fact: Fact) -> None:
    masks.unmask(scope, space, _masked_for(fact))
    fact.refresh_from_db(fields=["statement", "entities"])


def embedded(
    scope: Scope, space: WorkspaceIndex, fact_ids: Sequence[uuid.UUID], *, unmask: bool = False
) -> dict[uuid.UUID, Vectors]:
    """Return the vectors of these facts' statements; call it before a transaction begins."""
    rows = Fact.objects.visible_to(scope).filter(pk__in=fact_ids)
    return {fact.pk: _vectors(scope, space, fact, unmask=unmask) for fact in rows}


def _masked_for(fact: Fact) -> QuerySet[MaskedSpan]:
    return MaskedSpan.objects.filter(workspace_id=fact.workspace_id, cause=fact.pk)


def _vectors(scope: Scope, space: WorkspaceIndex, fact: Fact, *, unmask: bool) -> Vectors:
    """Embed a fact. Raises Forbidden before an embedder is sent words that the asker may not
    see."""
    if unmask:
        masks.refuse_unmasking(scope, _masked_for(fact))
    text = masks.original_of(fact) if unmask else fact.statement
    return due_vectors.embed_or_leave(space, [entries.texts_of(text)])


def _believe(scope: Scope, space: WorkspaceIndex, fact: Fact, claim: Claim, vectors: Vectors) -> tuple[Memory, bool]:
    session = MemorySession.objects.select_related("agent").get(facts=fact)
    # A person's word outranks an earlier "no".
    vector = vectors[0][0] if vectors else None
    rejections.take_back(scope, space, fact.subject_id, claim.statement, vector)
    items = list(fact.case_items.values_list("pk", flat=True))
    # It meets what whoever accepts it may see, whoever wrote it.
    placement = replace(resolve.placement_of(session, [claim]), spaces=scope.container_tags)
    outcome = resolve.apply(space, placement, [claim], vectors, actor=scope.actor, session_id=session.pk)
    memory = Memory.objects.get(pk=[*outcome.created, *outcome.reinforced][0])
    anew = Fact.objects.filter(memory=memory).order_by("-pk")[0]
    hidden = masks.copied(fact, anew, anew.pk) if anew.statement == fact.statement else []
    if outcome.created and memory.content == fact.statement:
        hidden += masks.copied(fact, memory, anew.pk)
    MaskedSpan.objects.bulk_create(hidden)
    mine = MaskedSpan.objects.filter(workspace_id=space.workspace_id, cause=fact.pk)
    mine.filter(fact=None).update(cause=anew.pk)
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
    # First, as everywhere: who forgets its memory has that row, and waits for the fact's.
    workspace_index.lock(workspace_index.index_of(scope.workspace_id))
    fact = locked_fact(scope, fact_id)
    dismiss_locked(scope, fact)
    resolve.settle(list(fact.case_items.values_list("case", flat=True)), scope.actor)


def dismiss_locked(scope: Scope, fact: Fact) -> None:
    fact.quarantined_at = None
    fact.save(update_fields=["quarantined_at", "updated_at"])
    if fact.memory_id is not None:
        space = workspace_index.index_of(scope.workspace_id)
        state_changes.end(space, [locked(scope, fact.memory_id)], DISMISSED, timezone.now())
    scope.audit("dismiss", fact, subject_id=fact.subject_id, before={"statement": fact.statement})


def locked_fact(scope: Scope, fact_id: uuid.UUID) -> Fact:
    """Return a fact in quarantine, locked; Conflict where somebody decided before."""
    return _waiting(scope, fact_id, lock=True)


def _waiting(scope: Scope, fact_id: uuid.UUID, *, lock: bool = False) -> Fact:
    rows = Fact.objects.visible_to(scope)
    fact = needed((rows.select_for_update(of=("self",)) if lock else rows).filter(pk=fact_id).first(), "Fact")
    if fact.quarantined_at is None:
        raise Conflict("Somebody decided meanwhile: it is in quarantine no more.", "stale", "fact")
    return fact


def _quoted(scope: Scope, fact: Fact, quote: str) -> list[Quote]:
    """The first message of the fact's ingest that has these words, or the revision that it was read
    out of."""
    revision = Revision.objects.filter(session__facts=fact).first()
    place = find_quote(revision.text, quote) if revision else None
    if revision is not None and place is not None:
        words = revision.text[slice(*place)]
        return [Quote(revision.pk, *place, words, is_of_document=True)]
    rows = Episode.objects.visible_to(scope).filter(session__facts=fact).order_by("pk")
    episodes = list(rows)
    # A caller who may not see masked words is compared with the rest, so that no guess is
    # confirmed.
    texts = masks.originals(episodes) if scope.may_unmask else {e.pk: e.content for e in episodes}
    spans = ((episode, find_quote(texts[episode.pk], quote)) for episode in episodes)
    episode, span = next(((episode, span) for episode, span in spans if span), (None, None))
    if episode is None or span is None:
        raise Invalid("quote", "No message of this ingest has these words.")
    return [Quote(episode.pk, *span, episode.content[slice(*span)])]


def _claim(fact: Fact, quotes: Sequence[Quote]) -> Claim:
    """Make a claim of the fact, standing on these words."""
    ids = [quote.text_id for quote in quotes[:1]]
    episode = Episode.objects.filter(pk__in=ids).first()
    revision = Revision.objects.filter(pk__in=ids).first()
    said_at = episode.occurred_at if episode else fact.created_at
    return Claim(
        statement=fact.statement,
        category=fact.category,
        fact_type=fact.fact_type,
        visibility=fact.visibility,
        method=fact.method,
        rule=fact.rule,
        source=Source.EXTRACTED,
        occurred_at=(revision and revision.published_at) or said_at,
        confidence=fact.confidence,
        entities=tuple(fact.entities),
        event_date=fact.event_date,
        quotes=tuple(quotes),
        accepted=True,
    )
