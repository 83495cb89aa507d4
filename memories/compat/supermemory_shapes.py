"""How documents and memories look to supermemory's clients."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memories import guard
from memories.compat.chains import metadata_of, roots_of
from memories.documents import blobs
from memories.documents.search_documents import DocumentHit
from memories.ingest.ingest_request import AT_ONCE
from memories.models import Chunk, Document, Memory
from memories.search import Hit
from workspaces.scope import Scope

TYPES = {"repository": "github_markdown"}


def owner_of(document: Any) -> str:
    """The container that it was put into first: whom it is about. Of a row `with_all`."""
    return document.user_external or ""


def tags_of(document: Document) -> list[str]:
    own = owner_of(document)
    return sorted(document.container_tags, key=lambda tag: (tag != own, tag))


def kept_custom_id(tags: Sequence[str], custom_id: str) -> str:
    """Their customId is one of its container; ours, of the workspace."""
    return f"{tags[0]}/{custom_id}" if tags and custom_id else custom_id


def custom_id_of(document: Document) -> str | None:
    return document.custom_id and document.custom_id.removeprefix(f"{owner_of(document)}/")


def text_of(document: Document) -> str:
    """What it says; of a short text that was never read yet, what was sent, unless a secret is in
    it."""
    revision, blob = document.revision, document.blob
    if revision:
        return revision.text
    if not blob or document.filename or blob.size > AT_ONCE:
        return ""
    text = blobs.path_of(blob.workspace_id, blob.digest).read_text()
    return "" if guard.findings(text, guard.OTHER, ()) else text


def listed_document(document: Document, *, content: bool) -> dict[str, Any]:
    words = {"content": text_of(document)} if content else {}
    return {
        "id": document.pk,
        "customId": custom_id_of(document),
        "connectionId": None,
        "title": document.title or None,
        "summary": document.summary or None,
        "type": TYPES.get(document.type, document.type),
        "status": document.state,
        "metadata": document.metadata,
        "containerTags": tags_of(document),
        "url": document.url or None,
        "createdAt": document.created_at,
        "updatedAt": document.updated_at,
        **words,
    }


def whole_document(scope: Scope, document: Document, memories: Sequence[Memory]) -> dict[str, Any]:
    """With its text, and with what was learned from it."""
    revision, ids = document.revision, [row.pk for row in memories]
    roots, metadata = roots_of(scope, ids), metadata_of(scope, ids)
    return {
        **listed_document(document, content=True),
        "source": document.source or None,
        "raw": None,
        "ogImage": None,
        "latestRevision": revision.number if revision else 0,
        "dreamingStatus": "done",
        "taskType": "memory",
        "errorCode": document.error_code or None,
        "errorMessage": document.reason or None,
        "memories": [
            {
                "id": row.pk,
                "memory": row.content,
                "metadata": {**metadata.get(row.pk, {}), **row.metadata},
                "version": row.version,
                "rootMemoryId": roots[row.pk].id,
                "parentMemoryId": None,
                "isLatest": True,
                "isForgotten": False,
                "isInference": row.is_inference,
                "isStatic": row.fact_type in ("profile", "preference"),
                "sourceCount": row.source_count,
                "createdAt": row.created_at,
                "updatedAt": row.updated_at,
            }
            for row in memories
        ],
    }


def found_document(
    hit: DocumentHit, ordinals: Mapping[uuid.UUID, int], threshold: float, *, summary: bool,
    content: bool,
) -> dict[str, Any] | None:  # fmt: skip
    """With its chunks that are near enough; None where there are none."""
    near = [each for each in hit.passages if each.similarity >= threshold]
    if not near:
        return None
    document = hit.document
    whole = listed_document(document, content=content)
    return {
        "documentId": document.pk,
        "score": round(max(each.similarity for each in near), 4),
        "chunks": [
            {
                "content": each.row.content,
                "position": ordinals.get(each.row.chunk_id, 0),
                "isRelevant": each.is_relevant,
                "score": round(each.similarity, 4),
            }
            for each in near
        ],
        **{name: whole[name] for name in SHOWN_OF_A_HIT},
        **({"summary": whole["summary"]} if summary else {}),
        **({"content": whole["content"]} if content else {}),
    }


SHOWN_OF_A_HIT = ("title", "type", "metadata", "url", "customId", "createdAt", "updatedAt")


def ordinals_of(hits: Iterable[DocumentHit]) -> dict[uuid.UUID, int]:
    """Where the chunks stand in their documents, from 0."""
    ids = {each.row.chunk_id for hit in hits for each in hit.passages}
    return dict(Chunk.objects.filter(pk__in=ids).values_list("pk", "ordinal"))


def found_memories(scope: Scope, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    ids = [hit.row.id for hit in hits]
    roots, metadata = roots_of(scope, ids), metadata_of(scope, ids)
    return [
        {
            "id": hit.row.id,
            "memory": hit.row.content,
            "similarity": round(hit.similarity, 4),
            "metadata": {**metadata.get(hit.row.id, {}), **hit.row.metadata},
            "updatedAt": hit.row.updated_at,
            "version": hit.row.version,
            "rootMemoryId": roots[hit.row.id].id,
        }
        for hit in hits
    ]


def found_chunks(hits: Iterable[DocumentHit]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.row.chunk_id,
            "chunk": each.row.content,
            "similarity": round(each.similarity, 4),
            "metadata": hit.document.metadata,
            "updatedAt": hit.document.updated_at,
            "documents": [
                {
                    name: whole[name]
                    for name in ("id", "title", "type", "metadata", "createdAt", "updatedAt")
                }
            ],
        }
        for hit in hits
        for whole in [listed_document(hit.document, content=False)]
        for each in hit.passages
    ]
