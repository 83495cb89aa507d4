"""Fills workspaces with synthetic memories: COPY of the truth, and the index through its own
layer."""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.contrib.postgres.indexes import GinIndex
from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from bench.speed.corpus import EVERY_OLD, Block, Corpus
from bench.speed.layout import Plot
from memories.index import common_terms, entries, hnsw_segments, prepared_sql, workspace_index
from memories.language.english import lexical
from memories.models import Category, Entry, Memory, MemoryPeriod, Supersession, WorkspaceIndex
from workspaces.keys import KeyOptions, issue_key
from workspaces.models import Subject, Workspace
from workspaces.scope import Scope, worker_scope

BLOCK = 500  # small, so that rows of many workspaces lie mixed in the tables
USER = "benchmark-user"
PAUSE = 0.5  # seconds between two looks at what is still to be built


class NotFilled(Exception):
    """A workspace of the folder was not filled to its end; the message names it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace that is filled, or to be filled; `number` tells its part of the corpus."""

    plot: Plot
    number: int
    slug: str
    key: str
    scope: Scope
    space: WorkspaceIndex
    subject_id: uuid.UUID

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Number and size of each block of live memories."""
        live = self.plot.live
        return [(i, min(BLOCK, live - at)) for i, at in enumerate(range(0, live, BLOCK))]

    @property
    def told(self) -> int:
        """So many memories were told here by earlier runs: what is told next shall be new."""
        return max(0, self.space.live_memories - self.plot.live)


def load(plots: Sequence[Plot], corpus: Corpus, advance: Callable[[int], object], *, first: int = 0) -> list[Place]:
    """Build and fill the workspaces, their blocks in turn; `advance` hears of the memories written.
    `first` is the first one's part of the corpus. Those that are there stay as they are.
    Raises NotFilled.

    All memories are about one subject: so the conflict check of an ingest meets all of them.
    """
    places = [_place(plot, number) for number, plot in enumerate(plots, first)]
    empty = [place for place in places if not _is_filled(place)]
    advance(sum(place.plot.live for place in places) - sum(place.plot.live for place in empty))
    work = [(number, size, place) for place in empty for number, size in place.blocks]
    with _built_at_once(Entry) if work else nullcontext():
        for number, size, place in sorted(work, key=lambda item: item[0]):
            _write(place, corpus.block(place.number, number, size))
            advance(size)
    if work:
        settle()
    return places


def are_there(plots: Sequence[Plot]) -> bool:
    """Tell whether an earlier run left one of them."""
    return Workspace.objects.filter(slug__in=[plot.slug for plot in plots]).exists()


@contextmanager
def _built_at_once(model: type[Model]) -> Iterator[None]:
    """Without the model's GIN indexes until the end: one row at a time costs them a hundred times
    more."""
    found = [index for index in model._meta.indexes if isinstance(index, GinIndex)]
    with connection.schema_editor() as editor:
        for index in found:
            editor.remove_index(model, index)
    yield
    with connection.schema_editor() as editor:
        for index in found:
            editor.add_index(model, index)


def settle() -> None:
    """Fresh statistics and visibility map, as autovacuum makes them in time."""
    with connection.cursor() as cursor:
        cursor.execute("vacuum analyze")
        cursor.execute("checkpoint")


def _place(plot: Plot, number: int) -> Place:
    workspace, _ = Workspace.objects.get_or_create(slug=plot.slug, defaults={"name": plot.slug})
    # Kept with it: another run may name other sizes, and counts them otherwise.
    part = {"metadata": {"part": number}}
    subject, _ = Subject.objects.get_or_create(workspace=workspace, external_id=USER, defaults=part)
    _, key = issue_key(workspace.pk, KeyOptions("benchmark"), actor="benchmark")
    scope, space = worker_scope(workspace.pk, "benchmark"), workspace_index.index_of(workspace.pk)
    return Place(plot, subject.metadata["part"], plot.slug, key, scope, space, subject.pk)


def _is_filled(place: Place) -> bool:
    live = place.space.live_memories
    if 0 < live < place.plot.live:
        raise NotFilled(f"{place.slug} holds {live} of {place.plot.live} memories.")
    return live > 0


@transaction.atomic
def _write(place: Place, block: Block) -> None:
    now = timezone.now()
    heads = [memory(place, text, now) for text in block.texts]
    for at, head in enumerate(heads):
        head.category = category_of(at)
    olds = [memory(place, text, now - timedelta(days=30)) for text in block.old_texts]
    for old, head in zip(olds, heads[::EVERY_OLD], strict=True):
        head.version = 2
        old.superseded_by_id, old.superseded_at, old.valid_until = head.pk, now, now
    prepared_sql.insert([*heads, *olds])
    prepared_sql.insert([_life(memory) for memory in [*heads, *olds]])
    replaced = zip(olds, heads[::EVERY_OLD], strict=True)
    prepared_sql.insert([_decision(place, old, head) for old, head in replaced])
    items = [entries.memory_item(memory) for memory in [*heads, *olds]]
    vectors = [(vector,) for vector in [*block.vectors, *block.old_vectors]]
    entries.write(place.space, items, vectors)


def category_of(at: int) -> Category:
    """Return the category of a block's text: one in ten is a plan, one in a hundred a decision."""
    if at % 100 == 7:
        return Category.DECISION
    return Category.PLAN if at % 10 == 3 else Category.OTHER


def prepared(places: Sequence[Place]) -> list[Place]:
    """The places as they are once the worker has done all that their sizes call for."""
    common_terms.count_due()
    while hnsw_segments.is_due():
        hnsw_segments.rebuild_indexes()
        time.sleep(PAUSE)  # the server's own worker may be at it
    return [replace(place, space=workspace_index.index_of(place.scope.workspace_id)) for place in places]


def memory(place: Place, text: str, at: datetime) -> Memory:
    """An unsaved one, about the place's subject."""
    return Memory(
        workspace_id=place.scope.workspace_id,
        subject_id=place.subject_id,
        content=text,
        fingerprint=lexical.fingerprint(text),
        source="extracted",
        fact_type="fact",
        valid_from=at,
        created_at=at,
        source_count=1,
    )


def _life(memory: Memory) -> MemoryPeriod:
    return MemoryPeriod(
        workspace_id=memory.workspace_id,
        memory_id=memory.pk,
        from_at=memory.created_at,
        until_at=memory.superseded_at,
        cause=MemoryPeriod.Cause.CREATED,
        ended_by="superseded" if memory.superseded_at else "",
    )


def _decision(place: Place, old: Memory, new: Memory) -> Supersession:
    return Supersession(
        workspace_id=place.scope.workspace_id,
        old_id=old.pk,
        new_id=new.pk,
        rule="nearest",
        state=Supersession.State.APPLIED,
        decided_by="benchmark",
    )
