"""supermemory's routes of memories and profiles, version 4. A container is whom they are about."""

import time
from typing import Any

from django.db.models import Q
from rest_framework.request import Request
from rest_framework.response import Response

from memories import review, search
from memories.compat.chains import head_of, roots_of
from memories.compat.supermemory_documents import MOST_HITS, SupermemoryView, question
from memories.compat.supermemory_requests import (
    MemoryForget,
    MemoryQuestion,
    MemoryUpdate,
    NamedMemory,
    ProfileQuestion,
    filter_of,
)
from memories.compat.supermemory_shapes import found_chunks, found_memories
from memories.documents.search_documents import search_documents
from memories.errors import Invalid, needed
from memories.features.profile import ProfileOptions, dynamic_lines, profile, static_lines
from memories.models import Memory
from memories.search import SearchRequest, filters
from workspaces.api.json_requests import read
from workspaces.scope import Scope, subject_to_read

LASTING = ("facts", "preferences", "profile", "uncategorized")


class SupermemoryRecallView(SupermemoryView):
    def post(self, request: Request) -> Response:
        return Response(recalled(self.scope, read(MemoryQuestion, request.data)))


def recalled(scope: Scope, asked: MemoryQuestion) -> dict[str, Any]:
    """Memories, chunks of documents, or both, by their similarity, best first."""
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
        )
        results += found_memories(scope, search.search(scope, wanted).hits)
    if asked.search_mode != "memories":
        hits = search_documents(scope, passages).hits
        results += [one for one in found_chunks(hits) if one["similarity"] >= asked.threshold]
    results.sort(key=lambda one: -one["similarity"])
    results, took = results[:limit], (time.perf_counter() - started) * 1e3
    return {"results": results, "total": len(results), "timing": round(took, 3)}


class SupermemoryProfileView(SupermemoryView):
    def post(self, request: Request) -> Response:
        """What lasts and what moves of a container's subject, in lines."""
        asked = read(ProfileQuestion, request.data)
        if asked.filters:
            raise Invalid("filters", "A profile is not narrowed here.")
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
        answer: dict[str, Any] = {
            "profile": {name: lines for name, lines in parts.items() if name in wanted}
        }
        if asked.q:
            told = MemoryQuestion(
                container_tag=asked.container_tag, q=asked.q, threshold=asked.threshold
            )
            answer["searchResults"] = recalled(self.scope, told)
        return Response(answer)


class SupermemoryMemoriesView(SupermemoryView):
    def patch(self, request: Request) -> Response:
        """A new version, with an id of its own."""
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
        """What is believed of its chain, in its container. Raises NotFound."""
        if bool(asked.id) == bool(asked.content):
            raise Invalid("id", "Give exactly one of id and content.")
        named = Q(pk=head_of(self.scope, asked.id).pk) if asked.id else Q(content=asked.content)
        rows = Memory.objects.visible_to(self.scope).live()
        return needed(
            rows.filter(named, subject__external_id=asked.container_tag).order_by("-pk").first(),
            "Memory",
        )
