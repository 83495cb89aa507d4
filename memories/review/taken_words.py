"""Words of what is forgotten, taken out of all that tells them: the messages and documents that it
stands on, and whatever else tells the same of the same person. What takes them names its cause, by
which they come back.
"""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence

from django.db import transaction
from django.db.models import Q, QuerySet

from memories import masks
from memories.forgotten_words import ForgottenWords, ToldAgain, places_in
from memories.index import due_vectors, workspace_index
from memories.masked_text import is_masked
from memories.masks import MaskReason
from memories.models import (
    Citation,
    Document,
    Episode,
    MaskedSpan,
    Memory,
    Revision,
    WorkspaceIndex,
    versions_of,
)
from workspaces.models import Subject
from workspaces.scope import Scope

MOST_MESSAGES, MOST_DOCUMENTS = 800, 100  # of one person that are looked through
SHORTEST = 3  # characters of a word that texts are looked through for
BATCH = 100  # messages whose words go in one transaction

Place = tuple[int, int]
Places = dict[uuid.UUID, list[Place]]


def stood_on(ids: Collection[uuid.UUID]) -> tuple[Places, Places]:
    """The places in messages, and in revisions of documents, that these memories stand on."""
    said: Places = {}
    written: Places = {}
    for one in Citation.objects.filter(fact__memory__in=ids):
        if one.episode_id is not None:
            said.setdefault(one.episode_id, []).append((one.start, one.end))
        elif one.revision_id is not None:
            written.setdefault(one.revision_id, []).append((one.start, one.end))
    return said, written


def of_asker(scope: Scope, said: Places, written: Places) -> tuple[Places, Places]:
    """Those of these places whose words are the asker's to take: messages and documents that it
    sees, of an agent's key those of its own agent."""
    if not scope.is_narrow:
        return said, written
    heard = Episode.objects.visible_to(scope).filter(pk__in=said)
    seen = Document.objects.visible_to(scope)
    own = seen.filter(agent=scope.agent_id) if scope.is_bound else seen
    read = Revision.objects.filter(pk__in=written, document__in=own.values("pk"))
    return (
        {pk: said[pk] for pk in heard.values_list("pk", flat=True)},
        {pk: written[pk] for pk in read.values_list("pk", flat=True)},
    )


def what_is_forgotten(
    spans: Mapping[uuid.UUID, Sequence[Place]], memories: Collection[uuid.UUID]
) -> list[ForgottenWords]:
    """The statements at these places of messages, and of these memories."""
    rows = Episode.objects.filter(pk__in=spans)
    said = [row.content[start:end] for row in rows for start, end in spans[row.pk]]
    said += Memory.objects.filter(pk__in=memories).values_list("content", flat=True)
    return [ForgottenWords.of(words) for words in dict.fromkeys(said) if not is_masked(words)]


def told_in(
    rows: QuerySet[Episode], forgotten: Sequence[ForgottenWords], subject: Subject
) -> Places:
    """The places in messages that tell the same of this subject, by episode; the newest are looked
    through first. In words of a person "I" is whoever speaks."""
    near = _holding(forgotten, "content")
    if near is None:
        return {}
    told: Places = {}
    for row in rows.filter(near).order_by("-pk")[:MOST_MESSAGES]:
        is_his = row.kind in Episode.OF_PEOPLE
        if places := places_in(row.content, forgotten, subject.external_id, is_his=is_his):
            told[row.pk] = _spans(places)
    return told


def in_documents(
    workspace_id: uuid.UUID, subject_id: uuid.UUID | None, forgotten: Sequence[ForgottenWords]
) -> Places:
    """The sentences of documents that are about the same subject, by revision. One about somebody
    else, or about nobody, is not his to change; one that was a message changes with it."""
    near = _holding(forgotten, "text")
    if subject_id is None or near is None:
        return {}
    rows = Revision.objects.filter(
        near, document__workspace=workspace_id, document__subject=subject_id,
        document__episode=None,
    )  # fmt: skip
    return {
        row.pk: _spans(places)
        for row in rows.order_by("-pk")[:MOST_DOCUMENTS]
        if (places := places_in(row.text, forgotten, is_his=True))
    }


def in_batches(spans: Mapping[uuid.UUID, Sequence[Place]]) -> Iterator[Places]:
    """So few messages at a time that a transaction with their words is short."""
    ids = sorted(spans)
    for start in range(0, len(ids), BATCH):
        yield {pk: list(spans[pk]) for pk in ids[start : start + BATCH]}


def take_words(
    space: WorkspaceIndex, spans: Mapping[uuid.UUID, Sequence[Place]], why: MaskReason
) -> None:
    """Mask these places of messages: each batch in a transaction of its own, under the workspace's
    lock. What is masked already stays as it is."""
    for some in in_batches(spans):
        with transaction.atomic(durable=True):
            workspace_index.lock(space)
            made = masks.mask_episodes(space, some, why)
        masks.fill(space, made)


def give_back_words(scope: Scope, space: WorkspaceIndex, taken: QuerySet[MaskedSpan]) -> None:
    """Put the words of messages back, likewise. Raises Forbidden as `masks.unmask` does."""
    while some := list(taken.exclude(episode=None).order_by("episode_id", "pk")[:BATCH]):
        episodes = {each.episode_id for each in some}
        with transaction.atomic(durable=True):
            workspace_index.lock(space)
            touched = masks.unmask(scope, space, taken.filter(episode__in=episodes))
        due_vectors.fill(space, touched)


def taken_for(memory: Memory) -> QuerySet[MaskedSpan]:
    """What is masked for the sake of a memory: because it was forgotten, or by an order that named
    it, of which the words of other memories stay where they are."""
    every = versions_of(memory.pk)
    own = Q(memory__in=every) | Q(fact__memory__in=every)
    forgotten = MaskedSpan.objects.filter(
        workspace_id=memory.workspace_id, kind=MaskedSpan.Kind.FORGOTTEN
    )
    orders = set(forgotten.filter(own).values_list("cause", flat=True)) - {memory.pk, None}
    said, written = stood_on(every)
    told = Q(episode__in=said) | Q(revision__in=written) | own
    return forgotten.filter(Q(cause=memory.pk) | Q(told, cause__in=orders))


def _holding(forgotten: Sequence[ForgottenWords], column: str) -> Q | None:
    """Texts that hold a word of what is forgotten; None where it has none to look for."""
    words = {one.rarest for one in forgotten if len(one.rarest) >= SHORTEST}
    near = Q()
    for word in words:
        near |= Q(**{f"{column}__icontains": word})
    return near if words else None


def _spans(places: Sequence[ToldAgain]) -> list[Place]:
    return [(place.start, place.end) for place in places]
