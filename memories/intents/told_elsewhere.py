"""Where else what is forgotten is told: by an assistant or a tool after the order, and in documents
of the same subject, whether a memory stands on them or not. Reads only."""

import uuid
from collections.abc import Collection, Mapping, Sequence

from django.db.models import Q

from memories.forgotten_words import ForgottenWords, ToldAgain, places_in
from memories.masked_text import is_masked
from memories.models import Episode, Intent, Memory, Revision

MOST_MESSAGES, MOST_DOCUMENTS = 300, 100
SHORTEST = 3  # characters of a word that documents are looked through for

Span = tuple[int, int]


def what_is_forgotten(
    spans: Mapping[uuid.UUID, Sequence[Span]], memories: Collection[uuid.UUID]
) -> list[ForgottenWords]:
    """The statements at these places of messages, and of these memories."""
    rows = Episode.objects.filter(pk__in=spans)
    said = [row.content[start:end] for row in rows for start, end in spans[row.pk]]
    said += Memory.objects.filter(pk__in=memories).values_list("content", flat=True)
    return [ForgottenWords.of(words) for words in dict.fromkeys(said) if not is_masked(words)]


def told_since(intent: Intent, forgotten: Sequence[ForgottenWords]) -> dict[uuid.UUID, list[Span]]:
    """The places in later messages of others to the same subject, by episode."""
    if not intent.subject_id or intent.subject is None:
        return {}
    later = Episode.objects.filter(
        workspace=intent.workspace_id, subject=intent.subject_id, pk__gt=intent.episode_id,
        kind__in=Episode.OF_MACHINES,
    )  # fmt: skip
    return {
        row.pk: _spans(places)
        for row in later.order_by("pk")[:MOST_MESSAGES]
        if (places := places_in(row.content, forgotten, intent.subject.external_id))
    }


def in_documents(
    intent: Intent, forgotten: Sequence[ForgottenWords]
) -> dict[uuid.UUID, list[Span]]:
    """The sentences of documents that are about the same subject, by revision. One about somebody
    else, or about nobody, is not his to change; one that was a message changes with it."""
    words = {one.rarest for one in forgotten if len(one.rarest) >= SHORTEST}
    if not intent.subject_id or not words:
        return {}
    told = Q()
    for word in words:
        told |= Q(text__icontains=word)
    rows = Revision.objects.filter(
        told, document__workspace=intent.workspace_id, document__subject=intent.subject_id,
        document__episode=None,
    )  # fmt: skip
    return {
        row.pk: _spans(places)
        for row in rows.order_by("-pk")[:MOST_DOCUMENTS]
        if (places := places_in(row.text, forgotten, is_his=True))
    }


def _spans(places: Sequence[ToldAgain]) -> list[Span]:
    return [(place.start, place.end) for place in places]
