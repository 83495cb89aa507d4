"""The index entries of a revision, in steps: each is a transaction of its own that holds the
workspace's lock for a bounded number of rows, and says with its rows how far it is.

Search leaves a revision in steps out (`conditions.py`), so nobody sees one half. Whoever stops
between two steps loses nothing: the next worker goes on behind the last one.
"""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from memories.belief.resolve.forgotten_words import ForgottenWords, ToldAgain, for_document, places_in
from memories.documents.document_summary import summary_of
from memories.documents.hidden_words import (
    TOLD_AGAIN,
    keep_hidden,
    of_title,
    unmask_names,
    words_at,
)
from memories.index import due_vectors, entries, workspace_index
from memories.index.entries import Item, Vectors
from memories.models import (
    Chunk,
    Document,
    DocumentPart,
    Layer,
    MaskedSpan,
    Passage,
    Revision,
    WorkspaceIndex,
)
from memories.queue.leases import TakenOver
from memories.reading.guard.masked_text import is_all_masked, masked, without_words

BATCH = 100  # passages whose entries are written under the lock at once
OFF = 500  # passages whose entries are taken off or moved at once, which costs less
Stage = Revision.Stage


@dataclass(slots=True)
class RevisionSteps:
    """A revision in steps; `held` is its document as long as the claim of this worker stands,
    `text` what the revision says. An embedder that failed is not asked again in this turn."""

    space: WorkspaceIndex
    revision: Revision
    held: Callable[[], QuerySet[Document]]
    text: str = ""
    masks: tuple[int, datetime | None] = (0, None)
    asks_embedder: bool = True
    forgotten: set[ForgottenWords] | None = None  # what the text was masked by, where it was just read
    is_written: bool = False  # its last passages have their entries

    @classmethod
    def of(cls, space: WorkspaceIndex, revision: Revision, held: Callable[[], QuerySet[Document]]) -> Self:
        """Make the steps with the revision's text, for entries that are to be written."""
        made = cls(space, revision, held)
        made.read()
        return made

    def read(self) -> None:
        """Read the masks, then the text: words that are masked in between are read again at the
        next step."""
        self.masks = self.masks_now()
        self.text = Revision.objects.values_list("text", flat=True).get(pk=self.revision.pk)

    def masks_now(self) -> tuple[int, datetime | None]:
        """Return the number of masks and the time of the newest: both change with masking and
        unmasking."""
        own = Q(revision=self.revision) | Q(document=self.revision.document_id)
        masks = MaskedSpan.objects.filter(own)
        found = masks.aggregate(number=Count("pk"), since=Max("created_at"))
        return found["number"], found["since"]

    def next_places(self, most: int) -> QuerySet[Passage]:
        """The next passages by their numbers, which have no gap: with a limit alone the database
        would look at all that is left, and sort it, for each step."""
        first = self.revision.indexed
        rows = Passage.places.filter(ordinal__gte=first, ordinal__lt=first + most)
        return rows.filter(revision=self.revision).order_by("ordinal")

    def write_next(self) -> bool:
        """Write the entries of the next passages, with their vectors; False where none was left.
        Raises TakenOver."""
        batch = list(self.next_places(BATCH).select_related("chunk"))
        if not batch:
            return False
        gathered = self.items_of(self.document(), batch)
        vectors = self.vectors_of(gathered)
        with transaction.atomic(durable=True):
            document = self.locked()
            items = self.as_they_are(document, gathered, batch)
            entries.remove(self.space, Layer.CHUNKS, [item.id for item in items])
            # Vectors of words that were masked meanwhile are due.
            entries.write(self.space, items, vectors if items is gathered else None)
            self.note(indexed=batch[-1].ordinal + 1)
        self.is_written = len(batch) < BATCH
        return True

    def take_off_next(self) -> bool:
        """The next entries leave the hot path, or go where the revision is to go or to be cut
        anew; False where none was left. Raises TakenOver."""
        batch = dict(self.next_places(OFF).values_list("pk", "ordinal"))
        if not batch:
            return False
        with transaction.atomic(durable=True):
            self.locked()
            if self.revision.stage == Stage.GOING:
                entries.set_live(self.space, Layer.CHUNKS, batch, live=False)
            else:
                entries.remove(self.space, Layer.CHUNKS, batch)
            self.note(indexed=max(batch.values()) + 1)
        return True

    def settle(self) -> None:
        """Finish after the entries were taken off: the revision becomes a former one, is deleted,
        or loses its chunks."""
        if self.revision.stage == Stage.GONE:
            self.revision.delete()
        elif self.revision.stage == Stage.RECUT:
            Chunk.objects.filter(revision=self.revision).delete()
        else:
            self.note(stage="", indexed=0)

    def show(self, then: Callable[[], None] = lambda: None) -> bool:
        """It is whole: from here on it is what the document says, and the one before is not;
        `then` is done with that. False where it tells what was forgotten since it was read: that is
        masked, and its entries are to be written anew. Raises TakenOver."""
        known = self.document()
        forgotten = self.forgotten_by(known) if self.forgotten is None else self.forgotten
        places, summary = self.told_again(forgotten), self.summary_for(known)
        self.forgotten = None
        with transaction.atomic(durable=True):
            document = self.locked()
            is_as_read = self.masks_now() == self.masks
            if not is_as_read:
                self.read()
                summary = self.summary_for(document)
            by_now = self.forgotten_by(document)
            if not is_as_read or by_now != forgotten:
                places = self.told_again(by_now)
            if places:
                self.mask(places)
                return False
            if self.revision.stage == Stage.COMING:
                now = timezone.now()
                before = Revision.objects.filter(document=document, superseded_at=None)
                before.update(superseded_at=now, stage=Stage.GOING, indexed=0)
                self.note(superseded_at=None, created_at=now, stage="", indexed=0)
            else:
                self.note(stage="", indexed=0)
            self.held().update(current_revision=self.revision.pk, summary=summary)
            workspace_index.note_change(self.space)
            then()
        return True

    def forgotten_by(self, document: Document) -> set[ForgottenWords]:
        """The statements that it must not tell again by now."""
        return set(for_document(self.space, document, self.text))

    def told_again(self, forgotten: Collection[ForgottenWords]) -> list[ToldAgain]:
        """The places where it tells that, or has words that are masked."""
        found = places_in(self.text, list(forgotten), is_his=True)
        if self.masks == (0, None):
            return found
        own = MaskedSpan.objects.filter(revision=self.revision, place="text")
        return found + [
            ToldAgain(start, end, None)
            for start, end in own.values_list("start", "end")
            if not is_all_masked(self.text[start:end])
        ]

    def mask(self, places: Sequence[ToldAgain]) -> None:
        """Behind the lock: its first entry is the next to be written."""
        rows = MaskedSpan.objects.filter(revision=self.revision, place="text")
        known = set(rows.values_list("start", "end"))
        MaskedSpan.objects.bulk_create(
            MaskedSpan(
                workspace_id=self.revision.workspace_id,
                revision=self.revision,
                place="text",
                start=each.start,
                end=each.end,
                words=self.text[each.start : each.end],
                kind=MaskedSpan.Kind.FORGOTTEN,
                reason=TOLD_AGAIN,
                cause=each.cause,
            )
            for each in places
            if (each.start, each.end) not in known
        )
        words = words_at(self.text, places)
        text = masked(self.text, [(each.start, each.end) for each in places])
        self.note(text=text, indexed=0)
        self.is_written = False
        self.mask_names(words)
        self.read()

    def mask_names(self, words: Mapping[str, uuid.UUID | None]) -> None:
        """Its labels and headings, and the document's title, where they have these words."""
        if not words:
            return
        pieces: tuple[tuple[Any, str], ...] = ((DocumentPart, "label"), (Chunk, "heading"))
        for model, name in pieces:
            has_some = Q(*((f"{name}__contains", form) for form in words), _connector=Q.OR)
            rows = model._default_manager.filter(revision=self.revision)
            for text in set(rows.filter(has_some).values_list(name, flat=True)):
                rows.filter(**{name: text}).update(**{name: without_words(text, words)})
        document = self.document()
        names = {"title": document.title, "given_title": document.given_title}
        kept: dict[str, Any] = {name: without_words(text, words) for name, text in names.items()}
        if kept != names:
            self.held().update(**kept)
            plain = copy(document)
            unmask_names(plain)
            document.title, document.given_title = kept["title"], kept["given_title"]
            keep_hidden(document, {name: getattr(plain, name) for name in names}, words)
            self.note(title=kept["title"])
            masks = document.masks.filter(place="title", kind=MaskedSpan.Kind.FORGOTTEN)
            MaskedSpan.objects.bulk_create(of_title(self.revision, masks, words))

    def summary_for(self, document: Document) -> str:
        """A few of its sentences; none of what stands apart, which nobody is told."""
        return "" if document.is_apart else summary_of(self.space, self.text)

    def document(self) -> Document:
        """Return the document as it is now; raises TakenOver where the claim is lost."""
        row = self.held().first()
        if row is None:
            raise TakenOver
        return row

    def locked(self) -> Document:
        """The document, behind the workspace's lock; raises TakenOver."""
        workspace_index.lock(self.space)
        row = self.held().select_for_update(no_key=True).first()
        if (
            row is None
            or not Revision.objects.filter(
                pk=self.revision.pk, stage=self.revision.stage, indexed=self.revision.indexed
            ).exists()
        ):
            raise TakenOver
        return row

    def items_of(self, document: Document, batch: Sequence[Passage]) -> list[Item]:
        """Return the index items of passages with their keys, which take longest."""
        self.revision.document = document
        made = []
        for passage in batch:
            passage.revision = self.revision
            item = entries.passage_item(passage, self.text[passage.start : passage.end])
            keys = entries.keys_of(self.space.number, item.layer, item.text, item.counts)
            made.append(replace(item, keys=keys))
        return made

    def vectors_of(self, items: Sequence[Item]) -> list[Vectors] | None:
        """While the text is at hand, which is long; None where they stay due: nobody waits for
        those of what stands apart."""
        if self.revision.document.is_apart or not self.asks_embedder:
            return None
        vectors = due_vectors.embed_or_leave(self.space, [item.texts for item in items])
        self.asks_embedder = vectors is not None
        return vectors

    def as_they_are(self, document: Document, items: list[Item], batch: Sequence[Passage]) -> list[Item]:
        """Made again where words were masked, or somebody changed the document, since they were
        gathered."""
        known = self.revision.document
        names = ("title", "subject_id", "agent_id", "visibility", "is_apart")
        is_same = all(getattr(known, name) == getattr(document, name) for name in names)
        ids = [passage.pk for passage in batch]
        if Passage.places.filter(pk__in=ids).count() < len(ids):
            raise TakenOver
        is_as_read = self.masks_now() == self.masks
        if is_as_read and is_same:
            return items
        if not is_as_read:
            self.read()
        fresh = Passage.places.filter(pk__in=ids)
        return self.items_of(document, list(fresh.select_related("chunk").order_by("ordinal")))

    def note(self, **values: object) -> None:
        Revision.objects.filter(pk=self.revision.pk).update(**values)
        for name, value in values.items():
            setattr(self.revision, name, value)
