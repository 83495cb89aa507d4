"""What a source says that it has, written down: documents that are due, in the transaction that
keeps the cursor."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from memories import outbox
from memories.connectors.connector import SourceItem
from memories.connectors.connector_registry import CONNECTORS
from memories.documents.document_store import allowed_in, clean_name, put_in_spaces, queued
from memories.documents.hidden_words import (
    keep_hidden,
    name_without_secrets,
    without_secrets,
)
from memories.masked_text import is_masked
from memories.models import Connection, ConnectionItem, Document
from memories.models.source_connection import digest_of

BATCH = 200  # items of one transaction
LONGEST_VERSION, LONGEST_TITLE = 200, 500


@dataclass(frozen=True, slots=True)
class Applied:
    """How many items became documents that are due, or are the same."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0


def batches(items: Sequence[SourceItem]) -> Iterator[tuple[Sequence[SourceItem], bool]]:
    """With each, whether it is the last; an empty one of no items."""
    known: dict[str, SourceItem] = {each.id: each for each in items}  # the last word on each
    left = list(known.values())
    for at in range(0, max(1, len(left)), BATCH):
        yield left[at : at + BATCH], at + BATCH >= len(left)


def origin_of(connection: Connection, name: str) -> str:
    """What an item's document is called when its connection is removed, by its external id; where
    the document was erased, what the item is, by its digest."""
    source = connection.source_of(CONNECTORS[connection.provider].named_by)
    return digest_of(source + name)


def write(connection: Connection, items: Sequence[SourceItem]) -> Applied:
    """In the caller's transaction, which has the connection's row locked."""
    allowed = allowed_in(connection.workspace_id)
    digests = {digest_of(each.id): each for each in items}
    rows = ConnectionItem.objects.filter(connection=connection, digest__in=digests)
    known = {row.digest: row for row in rows.select_related("document")}
    present = {d: each for d, each in digests.items() if not each.is_deleted}
    rows.filter(digest__in=present).update(listing=connection.listing)
    unknown = [(d, each) for d, each in present.items() if d not in known]
    away = _keep_away(connection, unknown)
    new = [(d, each) for d, each in unknown if d not in away]
    again = _take_up(connection, [each for _, each in new], allowed)
    _add(connection, [(d, each) for d, each in new if d not in again], allowed)
    changed = [known[d] for d, each in present.items() if d in known and is_due(known[d], each)]
    for row in changed:
        _queue_again(row, digests[row.digest], allowed)
    same = len(present) - len(new) - len(changed)
    return Applied(len(new) - len(again), len(changed) + len(again), same)


def _keep_away(connection: Connection, new: Sequence[tuple[str, SourceItem]]) -> set[str]:
    """What somebody erased of an earlier connection of the same source does not come by this one;
    the digests of these items."""
    origins = {
        origin_of(connection, name): digest for digest, each in new for name in (each.id, digest)
    }
    rows = ConnectionItem.objects.filter(
        workspace_id=connection.workspace_id, connection=None, digest__in=origins
    )
    away = {origins[origin] for origin in rows.values_list("digest", flat=True)}
    ConnectionItem.objects.bulk_create(
        ConnectionItem(
            workspace_id=connection.workspace_id, connection=connection, digest=digest,
            listing=connection.listing,
        )
        for digest in sorted(away)
    )  # fmt: skip
    rows.delete()
    return away


def _take_up(
    connection: Connection, new: Sequence[SourceItem], allowed: Collection[str]
) -> set[str]:
    """Let documents that an earlier connection of the same source left here be of this one, where
    they are about and for the same as its own would be; the digests of their items."""
    origins = {origin_of(connection, each.id): each for each in new}
    same: dict[str, Any] = {
        name: getattr(connection, name) for name in ("subject_id", "agent_id", "visibility")
    }
    kept = Document.objects.select_for_update(of=("self",)).filter(
        workspace_id=connection.workspace_id, origin__in=origins, item=None, **same
    )  # fmt: skip
    newest = {row.origin: row for row in kept.order_by("pk")}
    for origin, document in newest.items():
        item = origins[origin]
        row = ConnectionItem(
            workspace_id=connection.workspace_id, connection=connection, document=document,
            digest=digest_of(item.id), external_id=item.id, listing=connection.listing,
        )  # fmt: skip
        row.save(force_insert=True)
        put_in_spaces(document, connection.container_tags)
        _queue_again(row, item, allowed)
    Document.objects.filter(pk__in=[row.pk for row in newest.values()]).update(origin="")
    return {digest_of(origins[origin].id) for origin in newest}


def is_due(row: ConnectionItem, item: SourceItem) -> bool:
    """Whether it is to be fetched. What somebody erased stays away."""
    if row.document is None:
        return False
    return not item.version or row.version != item.version[:LONGEST_VERSION]


def _add(
    connection: Connection, new: Sequence[tuple[str, SourceItem]], allowed: Collection[str]
) -> None:
    names = [_names_of(item) for _, item in new]
    documents = [
        Document(
            workspace_id=connection.workspace_id, subject_id=connection.subject_id,
            agent_id=connection.agent_id, visibility=connection.visibility,
            type=item.type or Document.Type.TEXT, source=connection.provider, url=item.url[:2000],
            filename=name_without_secrets(said["filename"], allowed),
            given_title=without_secrets(said["given_title"], allowed),
            title=without_secrets(said["title"], allowed),
            extract=connection.extract, requested_by=connection.requested_by,
        )
        for (_, item), said in zip(new, names, strict=True)
    ]  # fmt: skip
    Document.objects.bulk_create(documents)
    for document, said in zip(documents, names, strict=True):
        if is_masked(document.title + document.filename):
            keep_hidden(document, said)
    ConnectionItem.objects.bulk_create(
        ConnectionItem(
            workspace_id=connection.workspace_id, connection=connection, document=document,
            digest=digest, external_id=item.id, version=item.version[:LONGEST_VERSION],
            listing=connection.listing,
        )
        for (digest, item), document in zip(new, documents, strict=True)
    )  # fmt: skip
    for document in documents:
        if connection.container_tags:
            put_in_spaces(document, connection.container_tags)
        outbox.post("run_document", document.pk)


def _names_of(item: SourceItem) -> dict[str, str]:
    """By the columns of its document."""
    name, title = clean_name(item.filename), item.title[:LONGEST_TITLE]
    return {
        "filename": name, "given_title": title, "title": (title or name or item.url)[:LONGEST_TITLE]
    }  # fmt: skip


def _queue_again(row: ConnectionItem, item: SourceItem, allowed: Collection[str] = ()) -> None:
    version = item.version[:LONGEST_VERSION]
    ConnectionItem.objects.filter(pk=row.pk).update(version=version, external_id=item.id)
    said = _names_of(item)["given_title"]
    named = {"url": item.url[:2000], "given_title": without_secrets(said, allowed)}
    values = {name: value for name, value in named.items() if value}
    rows = Document.objects.filter(item=row)
    rows.update(**queued(), **values, blob=None, updated_at=timezone.now())
    if said and row.document:
        row.document.given_title = values["given_title"]
        keep_hidden(row.document, {"given_title": said})
    outbox.post("run_document", row.document_id)


def unlisted(connection: Connection) -> list[ConnectionItem]:
    """Items that the listing under way has not named, up to a batch."""
    rows = connection.items.filter(listing__lt=connection.listing, document__isnull=False)
    return list(rows.select_related("document").order_by("pk")[:BATCH])


def check_again(connection: Connection) -> int:
    """Let items that were not named be fetched, in the caller's transaction: those that the source
    has no more are found missing. How many."""
    rows = unlisted(connection)
    for row in rows:
        _queue_again(row, SourceItem(row.external_id, row.version))
    known = [row.pk for row in rows]
    ConnectionItem.objects.filter(pk__in=known).update(listing=connection.listing)
    return len(rows)
