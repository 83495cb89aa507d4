"""Sentences that the judge finds worth keeping, or that take the place of what they end: memories in the words in which
they were said, of low confidence."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction

from memories.belief import resolve
from memories.belief.resolve import Claim, Quote
from memories.belief.touches.judged import Sentence
from memories.index import due_vectors, entries, workspace_index
from memories.ingest.process import messages_of, options_of, still_said
from memories.ingest.store import Kept
from memories.models import Category, Citation, Episode, Fact, FactType, MemorySession, Source, WorkspaceIndex
from memories.reading.extraction import Extraction, ExtractOptions, Message
from memories.reading.extraction.trust import BELIEVE

CONFIDENCE = 0.5
# What a statement is about decides who sees it and how it is served: that is taken from rules where it has a weight.
CATEGORIES = {
    name: Category(name) for name in ("preference", "identity", "relationship", "possession", "plan", "technology")
}
BINDING = ("instruction", "policy")  # these bind an assistant, and are never taken from the judge


def keep_sentences(
    space: WorkspaceIndex, episodes: Iterable[Any], categories: Mapping[Sentence, str], model: str
) -> None:
    """Keep sentences of messages, each of its category, as they were said, by session."""
    for session, options, trusted in trusted_messages(space, episodes):
        found = Extraction(instructions=options.instructions)
        for (episode, place), category in categories.items():
            if episode in trusted and category not in BINDING:
                found.add([_claim(trusted[episode], place, category, options, model)])
        if found.claims:
            _write(space, session, found.claims)


def trusted_messages(
    space: WorkspaceIndex, episodes: Iterable[Any]
) -> Iterator[tuple[MemorySession, ExtractOptions, dict[uuid.UUID, Message]]]:
    """Yield by session the messages of which sentences may be kept, by their ids."""
    for session, own in groupby(episodes, key=attrgetter("session")):
        if (
            session is None
            or session.extract not in MemorySession.BY_RULES
            or session.pathway == MemorySession.Pathway.DOCUMENT
        ):
            continue
        kept = Kept(session, space, tuple(own))
        options = options_of(kept)
        trusted = {message.id: message for message in messages_of(kept) if options.trust_in(message) == BELIEVE}
        yield session, options, trusted


def _claim(message: Message, place: tuple[int, int], category: str, options: ExtractOptions, model: str) -> Claim:
    words = message.text[slice(*place)]
    return Claim(
        statement=f'{message.speaker} said: "{words}"',
        category=CATEGORIES.get(category, Category.OTHER),
        fact_type=FactType.FACT,
        visibility=options.visibility_of(Category.OTHER, words, words),
        method=Fact.Method.JUDGE,
        rule=model,
        source=Source.EXTRACTED,
        occurred_at=message.occurred_at,
        confidence=CONFIDENCE,
        quotes=(Quote(message.id, *place, words),),
        speaker=message.speaker,
    )


def _write(space: WorkspaceIndex, session: MemorySession, found: Sequence[Claim]) -> None:
    """Write claims as an ingest does, without those that another judge wrote meanwhile."""
    rows = Episode.objects.filter(pk__in=[claim.quotes[0].text_id for claim in found])
    said = {row.pk: row.believed_at for row in rows}
    found = [replace(claim, occurred_at=said[claim.quotes[0].text_id]) for claim in found]
    made = due_vectors.embed_or_leave(space, [entries.texts_of(claim.statement) for claim in found])
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        claims, vectors = still_said(found, made)
        cited = set(Citation.objects.filter(episode__in=said).values_list("episode_id", "start", "end"))
        places = [(quote.text_id, quote.start, quote.end) for claim in claims for quote in claim.quotes]
        new = [number for number, place in enumerate(places) if place not in cited]
        claims = [claims[number] for number in new]
        vectors = None if vectors is None else [vectors[number] for number in new]
        placement = resolve.placement_of(session, claims)
        for place, numbers in resolve.places_of(session, placement, claims):
            own = None if vectors is None else [vectors[number] for number in numbers]
            chosen = [claims[number] for number in numbers]
            resolve.apply(space, place, chosen, own, actor=f"session:{session.pk}", session_id=session.pk)
