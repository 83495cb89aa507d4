"""Vectors that are still to be made: what an embedder could not be asked for at once."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memories.errors import ProviderError, Unasked
from memories.index import entries, prepared_sql, workspace_index
from memories.index.configured_embedder import embedder_of, line_to
from memories.index.entries import Item, Vectors
from memories.index.workspace_index import lock
from memories.language.bounds import BESIDE, LARGE, runs
from memories.meters import breakers
from memories.models import (
    DueVector,
    Entry,
    Episode,
    Feature,
    Layer,
    Memory,
    Passage,
    TalkSummary,
    WorkspaceIndex,
    words_of_passages,
)
from memories.providers import embeddable
from memories.queue import leases

BATCH = 256
TEXTS: dict[int, type[Memory | Episode | Feature | Passage | TalkSummary]] = {
    Layer.MEMORIES: Memory,
    Layer.EPISODES: Episode,
    Layer.FEATURES: Feature,
    Layer.CHUNKS: Passage,
    Layer.SUMMARIES: TalkSummary,
}


CLAIM = """
update memories_duevector set next_attempt_at = %(until)s
where entry_id = any(%(ids)s::int8[]) and next_attempt_at <= %(now)s
returning entry_id
"""
UNMADE = """
select e.id from memories_entry e join memories_episode p on p.id = e.item
where (e.id = any(%(ids)s::int8[]) or e.item = any(%(items)s::uuid[]))
  and e.layer = 2 and e.length = 0 and octet_length(p.content) > %(beside)s
order by e.id
"""
SIZES = """
select e.id, coalesce(octet_length(p.content), octet_length(m.content), 0) as size
from memories_entry e
left join memories_episode p on e.layer = 2 and p.id = e.item
left join memories_memory m on e.layer = 1 and m.id = e.item
where e.id = any(%(ids)s::int8[])
"""
POSTPONE = """
update memories_duevector set error = %(error)s, attempts = attempts + 1,
    next_attempt_at = now() + interval '30 seconds' * 2 ^ least(attempts, 7)
where entry_id = any(%(ids)s)
"""
WAIT = """
update memories_duevector set next_attempt_at = now() + make_interval(secs => %(seconds)s)
where entry_id = any(%(ids)s)
"""


def embed(index: WorkspaceIndex, texts: Sequence[Sequence[str]]) -> list[Vectors]:
    """Return vectors of each sequence of texts; raises ProviderError."""
    embedder = embedder_of(index)
    flat = [text for group in texts for text in group]
    if (embedder.is_remote or embedder.is_beside) and any(map(embeddable, flat)):
        line = line_to(embedder, "documents", settings.PROVIDER_TIMEOUT, index.workspace_id)
        vectors = iter(breakers.call(line, lambda: embedder.embed(flat)))
    else:
        vectors = iter(embedder.embed(flat))
    return [list(islice(vectors, len(group))) for group in texts]


def embed_or_leave(index: WorkspaceIndex, texts: Sequence[Sequence[str]]) -> list[Vectors] | None:
    """Return vectors, or None where the provider failed: then the entries stay due for the
    sweep."""
    try:
        return embed(index, texts) if texts else []
    except ProviderError:
        return None


def fill(index: WorkspaceIndex, items: Iterable[uuid.UUID]) -> int:
    """Make the vectors that are due of these items; return the number of entries done.

    A provider that fails again leaves them due, later each time.
    """
    waiting = DueVector.objects.filter(workspace=index.number, entry__item__in=list(items))
    return fill_entries(index, list(waiting.values_list("entry_id", flat=True)))


def fill_entries(index: WorkspaceIndex, ids: Sequence[int]) -> int:
    """Make the vectors of these due entries, in bounded batches; return the number done.

    Nobody else tries a batch again before the lease on it runs out.
    """
    done = tried = 0
    make_keys(index, ids)
    for batch in batches(ids):
        tried += len(batch)
        values = {"ids": batch, "now": timezone.now(), "until": leases.end()}
        claimed = [row.entry_id for row in prepared_sql.rows(CLAIM, values)]
        found = items_of(Entry.objects.filter(pk__in=claimed))
        try:
            with leases.renewed(partial(held, claimed), "next_attempt_at"):
                vectors = embed(index, [item.texts for _, item in found])
        except ProviderError as error:
            # Each failure doubles the pause; where nobody was asked, only that of the breaker is
            # waited for.
            late: dict[str, Any] = {"ids": [*claimed, *ids[tried:]]}
            if isinstance(error, Unasked) and error.retry_after:
                prepared_sql.execute(WAIT, late | {"seconds": float(error.retry_after)})
            else:
                prepared_sql.execute(POSTPONE, late | {"error": error.message})
            break
        done += _store(index, found, vectors)
    return done


def held(claimed: Sequence[int]) -> QuerySet[DueVector]:
    """Return those of a claim that wait no longer than a lease: a longer pause after a failure
    stays, even if a renewal comes late."""
    return DueVector.objects.filter(entry_id__in=claimed, next_attempt_at__lte=leases.end())


def make_keys(index: WorkspaceIndex, ids: Sequence[int] = (), items: Sequence[uuid.UUID] = ()) -> None:
    """Make the keys of long episodes that were kept without: from here on words find them."""
    values = {"ids": list(ids), "items": list(items), "beside": BESIDE}
    for row in prepared_sql.rows(UNMADE, values):
        for _, item in items_of(Entry.objects.filter(pk=row.id)):
            entries.set_keys(row.id, entries.keys_of_episode(index.number, item.text))


def batches(ids: Sequence[int]) -> Iterator[list[int]]:
    """Yield entries in their order, as many as are embedded at once: few where their texts are
    long."""
    for at in range(0, len(ids), BATCH):
        asked = list(ids[at : at + BATCH])
        size = {row.id: row.size for row in prepared_sql.rows(SIZES, {"ids": asked})}
        yield from runs(((entry, size.get(entry, 0)) for entry in asked), LARGE)


def items_of(rows: QuerySet[Entry]) -> list[tuple[int, Item]]:
    """Return entry ids with their items, read from the truth again."""
    found = list(rows.defer("terms", "trigrams", "weights"))
    texts: dict[uuid.UUID, str] = {}
    for layer, model in TEXTS.items():
        if ids := [row.item for row in found if row.layer == layer]:
            if layer == Layer.CHUNKS:
                texts |= words_of_passages(ids)
                continue
            truth = model._default_manager.filter(pk__in=ids)
            texts |= dict(truth.values_list("pk", "content"))
    items = []
    for row in found:
        if row.item not in texts:
            continue
        item = Item(
            id=row.item,
            layer=row.layer,
            text=texts[row.item],
            counts={},
            occurred_at=row.occurred_at,
            subject=row.subject,
            agent=row.agent,
            visibility=row.visibility,
            scope=row.scope,
            place=row.place,
            live=row.live,
            position=row.position,
            texts=entries.texts_of(texts[row.item]),
        )
        items.append((row.pk, item))
    return items


@transaction.atomic
def _store(index: WorkspaceIndex, found: Sequence[tuple[int, Item]], vectors: Sequence[Vectors]) -> int:
    """Write vectors of entries that are still due; another worker may have been faster.

    The workspace's lock, because an entry may be superseded between reading and writing.
    """
    lock(index)
    ids = [entry for entry, _ in found]
    taken = prepared_sql.rows(
        "delete from memories_duevector d using memories_entry e"
        " where d.entry_id = e.id and d.entry_id = any(%(ids)s)"
        " returning e.id, e.live, e.visibility",
        {"ids": ids},
    )
    now = {row.id: row for row in taken}
    ready = [
        (entry, replace(item, live=now[entry].live, visibility=now[entry].visibility), own)
        for (entry, item), own in zip(found, vectors, strict=True)
        if entry in now
    ]
    entries.write_vectors(index, ready)
    workspace_index.leave_due(index, list(now))
    return len(ready)
