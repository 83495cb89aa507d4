"""Routes of mem0's hosted server, of its versions 1, 2 and 3, as its clients 1.0 and 2.2 ask them.

Its errors are JSON with `detail`, its paths end with a slash, and a memory keeps its id when its
words change."""

from typing import Any

from django.db.models import Count, Max, Min, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from memories import review, search
from memories.compat.chains import chain_of, head_of
from memories.compat.client_view import ClientView, erase_and_wait, refuse_erasing
from memories.compat.mem0_requests import (
    ENTITIES,
    Mem0Add,
    Mem0Batch,
    Mem0Page,
    Mem0Search,
    Mem0Update,
    filter_of,
)
from memories.compat.mem0_shapes import added, ends_after, history_of, shown
from memories.errors import Invalid, NotFound, needed
from memories.ingest import IngestRequest, NewMessage
from memories.models import Conversation, Memory, MemorySession
from memories.models.memory import MemoryQuerySet
from memories.review import MemoryEdit
from memories.search import SearchRequest
from memories.search.filter_sql import matching_memories
from memories.search.filters import Filter
from memories.waited_ingest import USUAL_WAIT, ingest_and_wait, session_waited_for
from workspaces.api.json_requests import read
from workspaces.models import Agent, Capability, Subject

MOST_HITS = 100
TYPES = {"user": "user_id", "agent": "agent_id", "run": "run_id", "app": "app_id"}
# In the order in which all can be deleted: with a run goes less than with its user.
COLUMNS = {
    "run": "conversation__external_id",
    "agent": "agent__external_id",
    "user": "subject__external_id",
}
ROLES = ("user", "assistant", "system")


class Mem0View(ClientView):
    def error_body(self, detail: str, code: str) -> dict[str, Any]:
        return {"detail": detail, "code": code}

    def believed(self, wanted: Filter | None = None) -> MemoryQuerySet:
        rows: MemoryQuerySet = Memory.objects.visible_to(self.scope).live()
        return rows if wanted is None else rows.filter(pk__in=matching_memories(self.scope, wanted))

    def forget_all(self, wanted: Filter) -> int:
        """How many there were."""
        ids = list(self.believed(wanted).order_by("pk").values_list("pk", flat=True))
        return review.forget_all(self.scope, ids)


class PingView(Mem0View):
    def get(self, request: Request) -> Response:
        """The workspace stands for organisation and project."""
        own = str(self.scope.workspace_id)
        ids = {"org_id": own, "project_id": own, "user_email": self.scope.slug}
        return Response({"status": "ok", **ids})


class AddView(Mem0View):
    needs = {**Mem0View.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        """Keep what was said, and learn from it; word for word with `infer` false."""
        asked = read(Mem0Add, request.data)
        if session := session_waited_for(self.scope, request.META):
            return self.added(session, asked)
        if not any(asked.name(which) for which in ENTITIES):
            raise Invalid("user_id", f"Name whose it is: one of {', '.join(ENTITIES)}.")
        app = asked.name("app_id")
        session = ingest_and_wait(
            self.scope,
            request.META,
            IngestRequest(
                messages=tuple(
                    NewMessage(m.content, role=m.role if m.role in ROLES else "user", name=m.name)
                    for m in asked.messages
                ),
                user_id=asked.name("user_id"),
                agent_id=asked.name("agent_id"),
                thread_id=asked.name("run_id"),
                metadata=asked.metadata | ({"app_id": app} if app else {}),
                occurred_at=asked.occurred_at,
                extract="auto" if asked.infer else "none",
            ),
            USUAL_WAIT,
        )
        return self.added(session, asked)

    def added(self, session: MemorySession, asked: Mem0Add) -> Response:
        if not session.is_final:
            queued = "Memory processing has been queued for background execution."
            if asked.expiration_date is not None:
                queued += " The expiration_date is not kept: set it by an update when it is done."
            answer = {"message": queued, "status": "PENDING", "event_id": session.pk}
            return Response(answer)
        ids = list(session.created_ids)
        if asked.expiration_date is not None:
            ends = {"forget_after": ends_after(asked.expiration_date)}
            review.edit_all(self.scope, [MemoryEdit(memory_id, ends) for memory_id in ids])
        rows = search.rows_of(self.scope, "memories", ids) if ids else []
        results = added(self.scope, rows)
        reason = {} if results else {"message": session.reason or "Nothing new was said."}
        return Response({"results": results, **reason})


class SearchMem0View(Mem0View):
    def post(self, request: Request) -> Response:
        asked = read(Mem0Search, request.data)
        answer = search.search(
            self.scope,
            SearchRequest(
                asked.query,
                limit=min(asked.top_k, MOST_HITS),
                min_similarity=asked.threshold,
                filter=filter_of(body_of(request)),
            ),
        )
        rows, scores = [hit.row for hit in answer.hits], [hit.similarity for hit in answer.hits]
        return Response({"results": shown(self.scope, rows, scores)})


class ListMem0View(Mem0View):
    def post(self, request: Request) -> Response:
        return self.listed(request, filter_of(body_of(request)))

    def listed(self, request: Request, wanted: Filter) -> Response:
        at = page_of(request)
        rows = self.believed(wanted).with_names().order_by("-pk")
        page = list(rows[at.first : at.last])
        return Response(at.answer(request, rows.count(), shown(self.scope, page)))


class MemoriesMem0View(AddView, ListMem0View):
    """Where version 1 adds by POST, lists by GET, and deletes all of somebody."""

    def get(self, request: Request) -> Response:
        return self.listed(request, filter_of(request.query_params.dict()))

    def delete(self, request: Request) -> Response:
        self.forget_all(filter_of(request.query_params.dict()))
        return Response({"message": "Memories deleted successfully!"})


class MemoryMem0View(Mem0View):
    def get(self, request: Request, row: str) -> Response:
        return Response(shown(self.scope, [head_of(self.scope, row)])[0])

    def put(self, request: Request, row: str) -> Response:
        asked = read(Mem0Update, request.data)
        changes: dict[str, Any] = {}
        if asked.text is not None:
            changes["content"] = asked.text
        if asked.metadata is not None:
            changes["metadata"] = asked.metadata
        if "expiration_date" in request.data:
            day = asked.expiration_date
            changes["forget_after"] = None if day is None else ends_after(day)
        new = review.edit(self.scope, head_of(self.scope, row).pk, changes)
        return Response(shown(self.scope, [new])[0])

    def delete(self, request: Request, row: str) -> Response:
        review.forget(self.scope, head_of(self.scope, row).pk)
        return Response({"message": "Memory deleted successfully!"})


class HistoryMem0View(Mem0View):
    def get(self, request: Request, row: str) -> Response:
        return Response(history_of(chain_of(self.scope, row)))


class BatchMem0View(Mem0View):
    def put(self, request: Request) -> Response:
        asked = read(Mem0Batch, request.data).memories
        edits = []
        for one in asked:
            given = {"content": one.text, "metadata": one.metadata}
            changes = {name: value for name, value in given.items() if value is not None}
            edits.append(MemoryEdit(head_of(self.scope, one.memory_id).pk, changes))
        review.edit_all(self.scope, edits)
        return Response({"message": f"Successfully updated {len(edits)} memories"})

    def delete(self, request: Request) -> Response:
        asked = read(Mem0Batch, request.data).memories
        heads = {head_of(self.scope, one.memory_id).pk for one in asked}
        review.forget_all(self.scope, list(heads))
        return Response({"message": f"Successfully deleted {len(heads)} memories"})


class EntitiesMem0View(Mem0View):
    def get(self, request: Request) -> Response:
        """Users, agents and runs of whom something is believed."""
        results = []
        for kind, column in COLUMNS.items():
            rows = self.believed().filter(**{f"{column}__isnull": False}).values(column)
            named = rows.annotate(
                total=Count("pk"), first=Min("created_at"), last=Max("updated_at")
            )
            results += [
                {
                    "id": row[column],
                    "name": row[column],
                    "type": kind,
                    "total_memories": row["total"],
                    "created_at": row["first"],
                    "updated_at": row["last"],
                    "owner": self.scope.slug,
                }
                for row in named.order_by(column)
            ]
        at = page_of(request)
        return Response(at.answer(request, len(results), results[at.first : at.last]))


class EntityMem0View(Mem0View):
    """A user or a run is erased with all that was said; of an agent or an app the memories go."""

    needs = {**Mem0View.needs, "DELETE": Capability.ADMIN}

    def delete(self, request: Request, kind: str = "", name: str = "") -> Response:
        if kind not in TYPES:
            raise NotFound("Entity")
        refuse_erasing(self.scope)
        named = {"workspace_id": self.scope.workspace_id, "external_id": name}
        if kind == "user":
            self.erase("subject", Subject.objects.filter(**named))
        elif kind == "run":
            self.erase("conversation", Conversation.objects.filter(**named))
        elif not (
            self.forget_all(filter_of({TYPES[kind]: name}))
            or (kind == "agent" and Agent.objects.filter(**named).exists())
        ):
            raise NotFound("Entity")
        return Response({"message": "Entity deleted successfully!"})

    def erase(self, kind: str, rows: QuerySet[Any]) -> None:
        row = needed(rows.first(), "Entity")
        erase_and_wait(self.scope, kind, row.pk)


def body_of(request: Request) -> dict[str, Any]:
    if not isinstance(request.data, dict):
        raise Invalid("body", "Must be an object.")
    return request.data


def page_of(request: Request) -> Mem0Page:
    """Its numbers as the address writes them."""
    given = request.query_params.dict()
    return read(Mem0Page, {name: given[name] for name in ("page", "page_size") if name in given})
