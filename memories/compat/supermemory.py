"""supermemory's routes of documents, version 3. A container is a space, and the subject of its
documents. What a short text says is learned as if it had been said, under the document's id.
"""

import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import F, Q, Value
from django.db.models.functions import Concat
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from memories import search
from memories.belief import review
from memories.chat.replies import AskedChat, ChatRequest, as_answer, ask, tone_of
from memories.chat.sources import SourceFilter, documents_named
from memories.compat.client_view import ClientView, head_of, refuse_erasing, roots_of
from memories.compat.supermemory_shapes import (
    AskedInChat,
    DocumentQuestion,
    MemoryForget,
    MemoryQuestion,
    MemoryUpdate,
    NamedMemory,
    ProfileQuestion,
    SupermemoryBatch,
    SupermemoryBulk,
    SupermemoryDocument,
    SupermemoryList,
    filter_of,
    found_chunks,
    found_document,
    found_memories,
    kept_custom_id,
    listed_document,
    ordinals_of,
    rows_condition,
    whole_document,
)
from memories.documents import document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.documents.search_documents import DocumentSearch, search_documents
from memories.errors import BudgetSpent, Conflict, Forbidden, Invalid, NotFound, needed
from memories.ingest import IngestRequest, NewMessage
from memories.ingest.ingest_request import AT_ONCE
from memories.ingest.waited_ingest import USUAL_WAIT, wait_for_ingest
from memories.language.bounds import MOST_HITS
from memories.models import Conversation, Document, Memory
from memories.models.document import DocumentQuerySet
from memories.privacy import erase
from memories.profiles.profile import ProfileOptions, profile
from memories.profiles.profile_lines import dynamic_lines, static_lines
from memories.providers.chat_model import ChatMessage
from memories.search import SearchRequest, filters
from memoryproject.server.front.wire import FRONT
from workspaces.api.json_requests import StrictJSONParser, read
from workspaces.api.problems import Problem
from workspaces.auth import as_uuid
from workspaces.models import Capability
from workspaces.scope import OF_OTHERS, Scope, covers, subject_to_read

SAYING = 300  # characters: one as short as that is remembered whole where nothing is read in it
WORKING = ("queued", "extracting", "chunking", "embedding", "indexing")


LASTING = ("facts", "preferences", "profile", "uncategorized")


class SupermemoryView(ClientView):
    def error_body(self, detail: str, code: str) -> dict[str, Any]:
        return {"error": detail, "detail": detail, "details": detail, "code": code}

    def documents(self) -> DocumentQuerySet:
        rows: DocumentQuerySet = Document.objects.visible_to(self.scope)
        return rows.with_all()

    def document(self, name: str) -> Document:
        """Return a document by its id, or the newest of its customId. Raises NotFound."""
        own = Concat(F("subject__external_id"), Value("/"), Value(name))
        named = Q(custom_id=name) | Q(custom_id=own)
        if pk := as_uuid(name):
            named |= Q(pk=pk)
        return needed(self.documents().filter(named).order_by("-pk").first(), "Document")


class SupermemoryDocumentsView(SupermemoryView):
    needs = {**SupermemoryView.needs, "POST": Capability.WRITE}
    parser_classes: Any = (StrictJSONParser, MultiPartParser)

    def post(self, request: Request) -> Response:
        """Keep a text, or the file of a form, and learn from it."""
        if file := request.FILES.get("file"):
            asked = read(SupermemoryDocument, request.POST.dict())
            new = new_document(asked, file.chunks(), filename=file.name or "")
            document = document_store.receive(self.scope, new).document
        else:
            document = added(self.scope, read(SupermemoryDocument, request.data))
        return Response({"id": document.pk, "status": document.state})


class SupermemoryBatchView(SupermemoryView):
    needs = {**SupermemoryView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        """Keep many documents; each is kept or refused by itself."""
        batch = read(SupermemoryBatch, request.data)
        if not batch.documents:
            raise Invalid("documents", "Send one at least.", "blank")
        results: list[dict[str, Any]] = []
        for given in batch.documents:
            try:
                said = given if isinstance(given, dict) else {"content": given}
                one = read(SupermemoryDocument, said)
                one = replace(
                    one,
                    container_tags=one.tags or batch.tags,
                    container_tag="",
                    metadata=batch.metadata if one.metadata is None else one.metadata,
                    document_date=one.document_date or batch.document_date,
                )
                document = added(self.scope, one)
                results.append({"id": document.pk, "status": document.state})
            except (Invalid, Forbidden, Conflict) as error:
                results.append({"id": "", "status": "error", "error": error.message})
        failed = sum("error" in one for one in results)
        answer = {"results": results, "failed": failed, "success": len(results) - failed}
        return Response(answer)


def added(scope: Scope, asked: SupermemoryDocument) -> Document:
    if asked.address:  # fetched and read by the worker
        return document_store.receive(scope, new_document(asked, None)).document
    if not asked.content:
        raise Invalid("content", "Give the words of the document, or its `url`.", "blank")
    kept = document_store.receive(scope, new_document(asked, [asked.content.encode()]))
    return kept.document if kept.is_unchanged else learned(scope, kept.document, asked)


def learned(scope: Scope, document: Document, asked: SupermemoryDocument) -> Document:
    """Read a document and learn from it at once, if it is short enough for a request."""
    content = asked.content or ""
    if len(content) > AT_ONCE:
        return document
    is_saying = len(content) <= SAYING
    request = IngestRequest(
        content=content if is_saying else None,
        messages=() if is_saying else (NewMessage(content),),
        user_id=asked.tags[0] if asked.tags else "",
        thread_id=thread_of(document.pk),
        metadata=asked.metadata or {},
        occurred_at=asked.document_date,
    )
    wait_for_ingest(scope, {FRONT: True}, request, USUAL_WAIT)
    return pipeline.run(document.pk) or Document.objects.get(pk=document.pk)


def thread_of(document_id: uuid.UUID) -> str:
    return f"document:{document_id}"


def new_document(asked: SupermemoryDocument, parts: Iterable[bytes] | None, *, filename: str = "") -> NewDocument:
    """Return the new document of a request; with `parts` None, its address is fetched."""
    metadata = asked.metadata or {}
    title = asked.title or metadata.get("title")
    # What a short text says is learned by its ingest.
    is_read_later = parts is None or bool(filename) or len(asked.content or "") > AT_ONCE
    extract = Document.Extract.AUTO if is_read_later else Document.Extract.NONE
    return NewDocument(
        parts=parts,
        filename=filename or asked.filepath.rpartition("/")[2],
        title=title[:500] if isinstance(title, str) else "",
        type=asked.type,
        url=asked.address if parts is None else asked.url,
        custom_id=kept_custom_id(asked.tags, asked.custom_id),
        container_tags=asked.tags,
        user_id=asked.tags[0] if asked.tags else "",
        metadata=metadata,
        published_at=asked.document_date,
        extract=extract,
    )


class SupermemoryDocumentView(SupermemoryView):
    needs = {**SupermemoryView.needs, "DELETE": Capability.ADMIN}

    def get(self, request: Request, name: str) -> Response:
        document = self.document(name)
        rows = Memory.objects.visible_to(self.scope).live().order_by("pk")
        rows = rows.filter(conversation__external_id=thread_of(document.pk))
        return Response(whole_document(self.scope, document, [*rows[:1000]]))

    def patch(self, request: Request, name: str) -> Response:
        document = self.document(name)
        asked = read(SupermemoryDocument, request.data)
        changes: dict[str, Any] = {}
        if asked.metadata is not None:
            changes["metadata"] = asked.metadata
        if asked.tags:
            changes["container_tags"] = asked.tags
        if asked.content and asked.address:
            raise Invalid("content", "An address is fetched when it is added: send the words.")
        if asked.title:
            changes["title"] = asked.title
        if changes:
            document_store.change(self.scope, document.pk, changes)
        if asked.content:
            owner = document.subject.external_id if document.subject else ""
            told = replace(asked, container_tag=owner, container_tags=())
            new = new_document(told, [asked.content.encode()])
            kept = document_store.revise(self.scope, document.pk, replace(new, container_tags=()))
            if not kept.is_unchanged:
                document = learned(self.scope, kept.document, told)
        return Response({"id": document.pk, "status": document.state})

    def delete(self, request: Request, name: str) -> Response:
        """Erase a document, with what was learned from it."""
        refuse_erasing(self.scope)
        erased(self.scope, self.document(name).pk, time.monotonic() + USUAL_WAIT)
        return Response(status=204)


class SupermemoryBulkView(SupermemoryView):
    needs = {**SupermemoryView.needs, "DELETE": Capability.ADMIN}

    def delete(self, request: Request) -> Response:
        refuse_erasing(self.scope)
        asked, errors = read(SupermemoryBulk, request.data), list[dict[str, str]]()
        if bool(asked.ids) == bool(asked.tags):
            raise Invalid("ids", "Give exactly one of ids and containerTags.")
        ids: list[uuid.UUID] = []
        if asked.tags:
            ids += self.documents().in_spaces(asked.tags).values_list("pk", flat=True)
        for name in asked.ids:
            try:
                ids.append(self.document(name).pk)
            except NotFound as error:
                errors.append({"id": name, "error": f"{error.what} not found."})
        until = time.monotonic() + USUAL_WAIT
        for document_id in ids:
            erased(self.scope, document_id, until)
        tags = {"containerTags": asked.tags} if asked.tags else {}
        answer = {"success": bool(ids) and not errors, "deletedCount": len(ids), "errors": errors}
        return Response(answer | tags)


def erased(scope: Scope, document_id: uuid.UUID, until: float) -> None:
    """Erase a document and what was learned from it; what is not gone by `until`, the worker
    erases."""
    targets = [erase.target_of(scope, "document", document_id)]
    own = {"workspace_id": scope.workspace_id, "external_id": thread_of(document_id)}
    for conversation in Conversation.objects.filter(**own):
        targets.append(erase.target_of(scope, "conversation", conversation.pk))
    for asked in [erase.request(scope, target) for target in targets]:
        erase.run_or_wait(asked.pk, max(0.0, until - time.monotonic()))


class SupermemoryListView(SupermemoryView):
    def post(self, request: Request) -> Response:
        asked = read(SupermemoryList, request.data)
        rows = self.documents()
        if asked.tags:
            rows = rows.in_spaces(asked.tags)
        if asked.filters:
            rows = rows.filter(rows_condition(asked.filters))
        column = {"createdAt": "created_at", "updatedAt": "updated_at"}[asked.sort]
        down = "-" if asked.order == "desc" else ""
        total, size = rows.count(), asked.size
        page = rows.order_by(f"{down}{column}", f"{down}pk")[(asked.page - 1) * size : asked.page * size]
        return Response(
            {
                "memories": [listed_document(row, content=asked.include_content) for row in page],
                "pagination": {
                    "currentPage": asked.page,
                    "limit": size,
                    "totalItems": total,
                    "totalPages": max(1, -(-total // size)),
                },
            }
        )


class SupermemoryProcessingView(SupermemoryView):
    def get(self, request: Request) -> Response:
        """List the documents that are not read yet."""
        rows = self.documents().filter(state__in=WORKING)
        if tags := request.query_params.get("containerTags"):
            rows = rows.in_spaces(tags.split(","))
        page = [listed_document(row, content=False) for row in rows.order_by("-pk")[:MOST_HITS]]
        return Response({"documents": page, "totalCount": rows.count()})


class SupermemorySearchView(SupermemoryView):
    def post(self, request: Request) -> Response:
        """Return documents with the chunks that answer; thresholds are of their similarity."""
        asked = read(DocumentQuestion, request.data)
        named = (self.document(asked.doc_id).pk,) if asked.doc_id else ()
        answer = search_documents(self.scope, question(asked, asked.tags, named))
        ordinals = ordinals_of(answer.hits)
        hits = [
            found_document(
                hit,
                ordinals,
                asked.chunk_threshold,
                summary=asked.include_summary,
                content=asked.include_full_docs,
            )
            for hit in answer.hits
        ]
        results = [hit for hit in hits if hit is not None]
        timing = round(answer.took_ms, 3)
        return Response({"results": results, "total": len(results), "timing": timing})


def question(asked: Any, tags: Sequence[str], document_ids: tuple[uuid.UUID, ...] = ()) -> DocumentSearch:
    """Return the search of a request of either version. Raises Invalid without words."""
    if not asked.q:
        raise Invalid("q", "Say what is looked for.", "blank")
    return DocumentSearch(
        asked.q,
        limit=min(asked.limit, MOST_HITS),
        container_tags=tuple(tags),
        document_ids=document_ids,
        threshold=0.0,
        rerank=asked.rerank,
        only_matching=getattr(asked, "only_matching_chunks", False),
        filter=filters.parse(filter_of(asked.filters), ("chunks",)) if asked.filters else None,
    )


class SupermemoryChatView(SupermemoryView):
    needs = {**SupermemoryView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        """Answer from documents and memories, as our own chat does, all at once."""
        asked = read(AskedInChat, request.data)
        if asked.messages[-1].role != "user":
            raise Invalid("messages", "The last one must be the user's.")
        messages = tuple(
            ChatMessage("user" if each.role == "user" else "assistant", each.content) for each in asked.messages
        )
        documents = documents_named(self.scope, asked.scoped_document_ids)
        # A container is whom its memories are about.
        user = asked.tags[0] if len(asked.tags) == 1 else ""
        only = SourceFilter(user, asked.tags, documents)
        chat = ChatRequest(messages, asked.mode, only, tone_of(asked.metadata))
        own = AskedChat(chat, asked.conversation_id, metadata=asked.metadata)
        try:
            result, conversation = ask(self.scope, own, lambda name, values: None)
        except BudgetSpent as error:
            spent = Problem(429, error.own_words, code="budget", wait=error.retry_after)
            raise spent from error
        return Response(as_answer(result, conversation))


class NoConnectionsView(SupermemoryView):
    """Answers that nothing is connected, which is true, and is what clients ask first."""

    def post(self, request: Request) -> Response:
        return Response([])


# supermemory's routes of memories and profiles, version 4. A container is the subject of both.


class SupermemoryRecallView(SupermemoryView):
    def post(self, request: Request) -> Response:
        return Response(recalled(self.scope, read(MemoryQuestion, request.data)))


def recalled(scope: Scope, asked: MemoryQuestion) -> dict[str, Any]:
    """Return memories, chunks of documents, or both, by their similarity, best first."""
    started, results = time.perf_counter(), []
    limit = min(asked.limit, MOST_HITS)
    passages = question(asked, asked.tags)
    if asked.search_mode != "documents":
        conditions: list[dict[str, Any]] = []
        if asked.tags:
            conditions.append({"field": "userId", "op": "in", "value": [*asked.tags]})
        if asked.filters:
            conditions.append(filter_of(asked.filters))
        wanted = SearchRequest(
            asked.q,
            limit=limit,
            min_similarity=asked.threshold,
            rerank=asked.rerank,
            filter=filters.parse({"and": conditions}, ("memories",)) if conditions else None,
            newest_first=True,
        )
        results += found_memories(scope, search.with_news(search.search(scope, wanted).hits))
    if asked.search_mode != "memories":
        hits = search_documents(scope, passages).hits
        results += [one for one in found_chunks(hits) if one["similarity"] >= asked.threshold]
    results.sort(key=lambda one: -one["similarity"])
    results, took = results[:limit], (time.perf_counter() - started) * 1e3
    return {"results": results, "total": len(results), "timing": round(took, 3)}


class SupermemoryProfileView(SupermemoryView):
    def post(self, request: Request) -> Response:
        """Return the profile of a container's subject, in lines: what lasts, and what changes."""
        asked = read(ProfileQuestion, request.data)
        if asked.filters:
            raise Invalid("filters", "A profile is not narrowed here.")
        if not covers(self.scope, asked.container_tag):
            raise Forbidden(OF_OTHERS, "containerTag")
        subject = subject_to_read(self.scope, asked.container_tag)
        known = profile(self.scope, ProfileOptions(subject))
        rows = [row for group in LASTING for row in known.groups[group]]
        parts = {
            "static": [
                *static_lines(known),
                *(row.content for row in rows if row.pk not in known.covered),
            ],
            "dynamic": dynamic_lines(known),
        }
        wanted = asked.include or ("static", "dynamic")
        answer: dict[str, Any] = {"profile": {name: lines for name, lines in parts.items() if name in wanted}}
        if asked.q:
            told = MemoryQuestion(container_tag=asked.container_tag, q=asked.q, threshold=asked.threshold)
            answer["searchResults"] = recalled(self.scope, told)
        return Response(answer)


class SupermemoryMemoriesView(SupermemoryView):
    def patch(self, request: Request) -> Response:
        """Make a new version, which has a new id."""
        asked = read(MemoryUpdate, request.data)
        if not asked.new_content:
            raise Invalid("newContent", "Say what takes its place.", "blank")
        old = self.memory(asked)
        changes: dict[str, Any] = {"content": asked.new_content}
        if asked.metadata is not None:
            changes["metadata"] = asked.metadata
        if "forgetAfter" in request.data:
            changes["forget_after"] = asked.forget_after
        new = review.edit(self.scope, old.pk, changes)
        return Response(
            {
                "id": new.pk,
                "memory": new.content,
                "version": new.version,
                "parentMemoryId": old.pk if new.pk != old.pk else None,
                "rootMemoryId": roots_of(self.scope, [new.pk])[new.pk].id,
                "createdAt": new.created_at,
                "metadata": new.metadata,
                "forgetAfter": new.forget_after,
                "forgetReason": None,
            }
        )

    def delete(self, request: Request) -> Response:
        asked = read(MemoryForget, request.data)
        row = self.memory(asked)
        review.forget(self.scope, row.pk, asked.reason)
        return Response({"id": row.pk, "forgotten": True})

    def memory(self, asked: NamedMemory) -> Memory:
        """Return the live memory of its chain, or with its content, in its container. Raises
        NotFound, and Invalid where not exactly one of id and content is given."""
        if bool(asked.id) == bool(asked.content):
            raise Invalid("id", "Give exactly one of id and content.")
        named = Q(pk=head_of(self.scope, asked.id).pk) if asked.id else Q(content=asked.content)
        rows = Memory.objects.visible_to(self.scope).live()
        return needed(
            rows.filter(named, subject__external_id=asked.container_tag).order_by("-pk").first(),
            "Memory",
        )
