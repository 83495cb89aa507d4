"""Routes of mem0's hosted server, of its versions 1, 2 and 3, as its clients 1.0 and 2.2 ask them.
Its errors are JSON with `detail`, its paths end with a slash, and a memory keeps its id when its
words change."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from django.db.models import Count, Max, Min, QuerySet
from django.utils import timezone
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories import search
from memories.belief import review
from memories.belief.review import MemoryEdit
from memories.compat.client_view import (
    ClientView,
    chain_of,
    head_of,
    later_said,
    metadata_of,
    refuse_erasing,
    roots_of,
    wait_for_erasure,
)
from memories.compat.mem0_filter import ENTITIES, Name, filter_of, filter_to_forget, sent
from memories.errors import Invalid, NotFound, needed, refuse_narrow
from memories.ingest import IngestRequest, NewMessage
from memories.ingest.ingest_request import IngestInstructions
from memories.ingest.waited_ingest import USUAL_WAIT, session_waited_for, wait_for_ingest
from memories.language.bounds import LONGEST_ID, LONGEST_QUERY, MOST_HITS, MOST_MESSAGES
from memories.models import Conversation, Link, Memory, MemorySession
from memories.models.memory import MemoryQuerySet
from memories.reading.extraction.workspace_instructions import LONGEST, InstructionSettings
from memories.search import Hit, SearchRequest
from memories.search.filters import Filter, matching_memories
from memories.settings.workspace_settings import change_workspace, settings_of
from workspaces.api.json_requests import read
from workspaces.models import Agent, Capability, Subject
from workspaces.request_fields import AnyText, Flag, Free, Metadata, NullIs, Number, Text
from workspaces.scope import Scope

LAST_SECOND = 253_370_764_800  # the last year that a date can have begins

Score = Annotated[Number, Field(ge=0, le=1)]
Categories = Annotated[list[dict[str, str]], Field(max_length=100)] | None
# In our instructions, categories of theirs are a line of their own.
KINDS = "Kinds of facts that matter: "


TYPES = {"user": "user_id", "agent": "agent_id", "run": "run_id", "app": "app_id"}
# In the order in which all can be deleted: with a run goes less than with its user.
COLUMNS = {
    "run": "conversation__external_id",
    "agent": "agent__external_id",
    "user": "subject__external_id",
}
ROLES = ("user", "assistant", "system")


@sent
@dataclass(frozen=True, slots=True)
class Mem0Message:
    role: Text
    content: AnyText
    name: Annotated[AnyText, Field(max_length=LONGEST_ID), NullIs("")] = ""


@sent
@dataclass(frozen=True, slots=True)
class Mem0Add:
    messages: Annotated[tuple[Mem0Message, ...], Field(min_length=1, max_length=MOST_MESSAGES)]
    user_id: Name = ""
    agent_id: Name = ""
    run_id: Name = ""
    app_id: Name = ""
    filters: Annotated[Free, NullIs({})] = field(default_factory=dict)
    metadata: Annotated[Metadata, NullIs({})] = field(default_factory=dict)
    infer: Annotated[Flag, NullIs(True)] = True
    custom_instructions: Annotated[Text, NullIs("")] = ""
    custom_categories: Categories = None
    includes: Annotated[Text, NullIs("")] = ""
    excludes: Annotated[Text, Field(max_length=LONGEST), NullIs("")] = ""
    expiration_date: date | None = None
    timestamp: Annotated[int, Field(ge=0, lt=LAST_SECOND)] | None = None

    def name(self, which: str) -> str:
        """Return the id named `which`, given beside the messages or as a filter; "" without one."""
        named = getattr(self, which) or self.filters.get(which)
        return named if isinstance(named, str) else ""

    @property
    def instructions(self) -> IngestInstructions:
        """Raises Invalid where they are longer than ours may be."""
        wanted = "\n".join(filter(None, (self.custom_instructions, self.includes)))
        return IngestInstructions(with_categories(wanted, self.custom_categories), self.excludes)

    @property
    def occurred_at(self) -> datetime | None:
        return None if self.timestamp is None else datetime.fromtimestamp(self.timestamp, UTC)


@sent
@dataclass(frozen=True, slots=True)
class Mem0Search:
    query: Annotated[Text, Field(max_length=LONGEST_QUERY)]
    top_k: Annotated[int, Field(ge=1), NullIs(10)] = 10
    threshold: Score | None = None


@sent
@dataclass(frozen=True, slots=True)
class Mem0Page:
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    page_size: Annotated[int, Field(ge=1)] = MOST_HITS

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size

    @property
    def last(self) -> int:
        """The index after the last one."""
        return self.first + self.size

    @property
    def size(self) -> int:
        return min(self.page_size, MOST_HITS)

    def answer(self, request: Request, count: int, rows: Sequence[Any]) -> dict[str, Any]:
        """Return the rows of this page, with the addresses of the pages beside it, if any."""

        def link(page: int, *, there: bool) -> str | None:
            query = f"?page={page}&page_size={self.size}"
            return request.build_absolute_uri(request.path + query) if there else None

        return {
            "count": count,
            "next": link(self.page + 1, there=self.last < count),
            "previous": link(self.page - 1, there=self.page > 1),
            "results": rows,
        }


@sent
@dataclass(frozen=True, slots=True)
class Mem0Update:
    text: Text | None = None
    metadata: Metadata | None = None
    expiration_date: date | None = None


@sent
@dataclass(frozen=True, slots=True)
class Mem0BatchItem:
    memory_id: Text
    text: Text | None = None
    metadata: Metadata | None = None


@sent
@dataclass(frozen=True, slots=True)
class Mem0Batch:
    memories: Annotated[tuple[Mem0BatchItem, ...], Field(min_length=1, max_length=MOST_MESSAGES)]


@sent
@dataclass(frozen=True, slots=True)
class Mem0Project:
    custom_instructions: Text | None = None
    custom_categories: Categories = None


def with_categories(wanted: str, categories: Sequence[Mapping[str, str]] | None) -> str:
    """Return instructions with a line of categories. Raises Invalid where that is too long."""
    line = KINDS + json.dumps(categories, ensure_ascii=False) if categories else ""
    told = "\n".join(filter(None, (wanted, line)))
    if len(told) > LONGEST:
        message = f"Instructions and categories together have at most {LONGEST} characters here."
        raise Invalid("custom_instructions", message)
    return told


def parted(told: str) -> tuple[str, list[dict[str, str]]]:
    """Return the instructions and the categories that `with_categories` put together."""
    wanted, _, line = told.partition(KINDS)
    try:
        return wanted.rstrip("\n"), json.loads(line) if line else []
    except (ValueError, RecursionError):  # somebody wrote it by hand
        return told, []


# How chains look to mem0's client: one memory with one id, that of its first version, whatever
# happened since.


def results_of(scope: Scope, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return hits in mem0's form; a message looks as a memory does."""
    memories = iter(shown(scope, [hit.row for hit in hits if hit.memory]))
    answers = []
    for hit in hits:
        answer = next(memories) if hit.memory else message(hit.row)
        answer["metadata"] = {**answer["metadata"], **later_said(hit)}
        answers.append({**answer, "score": round(hit.similarity, 4)})
    return answers


def message(row: Any) -> dict[str, Any]:
    """Return a message in the form of a memory."""
    return {
        "id": row.id,
        "memory": row.content,
        "user_id": row.user_external or None,
        "agent_id": row.agent_external or None,
        "run_id": row.thread_external or None,
        "app_id": None,
        "metadata": row.metadata,
        "categories": [],
        "created_at": row.created_at,
        "updated_at": row.created_at,
        "expiration_date": None,
    }


def shown(scope: Scope, rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return heads with the names of their ids, in mem0's form."""
    ids = [row.id for row in rows]
    roots, said = roots_of(scope, ids), metadata_of(scope, ids)
    answers = []
    for row in rows:
        root = roots[row.id]
        metadata = {**said.get(row.id, {}), **row.metadata}
        answer = {
            "id": root.id,
            "memory": row.content,
            "user_id": row.user_external or None,
            "agent_id": row.agent_external or None,
            "run_id": row.thread_external or None,
            "app_id": metadata.pop("app_id", None),
            "metadata": metadata,
            "categories": [row.category],
            "created_at": root.created_at,
            "updated_at": row.created_at if root.id != row.id else row.updated_at,
            "expiration_date": expiry_date(row.forget_after),
        }
        answers.append(answer)
    return answers


def added(scope: Scope, rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return what an add made, in the form of mem0's answer."""
    roots = roots_of(scope, [row.id for row in rows])
    return [
        {
            "id": roots[row.id].id,
            "event": "ADD" if roots[row.id].id == row.id else "UPDATE",
            "memory": row.content,
            "data": {"memory": row.content},
        }
        for row in rows
    ]


def history_of(links: Sequence[Link]) -> list[dict[str, Any]]:
    """Return the events of a chain, the oldest first."""
    root, before = links[0].memory, None
    events: list[dict[str, Any]] = []

    def add(event: str, memory: Memory, new: str | None, at: datetime | None) -> None:
        events.append(
            {
                "id": uuid.uuid5(memory.pk, event),
                "memory_id": root.pk,
                "input": [],
                "old_memory": before,
                "new_memory": new,
                "event": event,
                "user_id": getattr(memory, "user_external", None) or None,
                "created_at": root.created_at,
                "updated_at": at,
            }
        )

    for link in links:
        memory = link.memory
        add("ADD" if before is None else "UPDATE", memory, memory.content, memory.created_at)
        before = memory.content
    last = links[-1].memory
    if last.forgotten_at is not None:
        add("DELETE", last, None, last.forgotten_at)
    return events


def ends_after(day: date) -> datetime:
    """Return when a memory ends that expires on this day: at the end of the day."""
    midnight = datetime.combine(day, time.min, tzinfo=timezone.get_default_timezone())
    return midnight + timedelta(days=1)


def expiry_date(forget_after: datetime | None) -> date | None:
    return (forget_after - timedelta(seconds=1)).date() if forget_after else None


class Mem0View(ClientView):
    def error_body(self, detail: str, code: str) -> dict[str, Any]:
        return {"detail": detail, "code": code}

    def believed(self, wanted: Filter | None = None) -> MemoryQuerySet:
        rows: MemoryQuerySet = Memory.objects.visible_to(self.scope).live()
        return rows if wanted is None else rows.filter(pk__in=matching_memories(self.scope, wanted))

    def forget_all(self, wanted: Filter) -> int:
        """Forget all that match, and return how many there were."""
        ids = list(self.believed(wanted).order_by("pk").values_list("pk", flat=True))
        return review.forget_all(self.scope, ids)


class PingView(Mem0View):
    def get(self, request: Request) -> Response:
        """Check a key; the workspace stands for organisation and project."""
        own = str(self.scope.workspace_id)
        ids = {"org_id": own, "project_id": own, "user_email": self.scope.slug}
        return Response({"status": "ok", **ids})


class Mem0ProjectView(Mem0View):
    """The project of mem0's client, which is the key's workspace: its instructions and categories."""

    needs = {**Mem0View.needs, "PATCH": Capability.ADMIN}

    def get(self, request: Request, organisation: str, project: str) -> Response:
        wanted, categories = parted(self.known(organisation, project).extract)
        return Response({"name": self.scope.slug, "custom_instructions": wanted, "custom_categories": categories})

    def patch(self, request: Request, organisation: str, project: str) -> Response:
        """Change the instructions of the workspace; what is left out of them by our own setting stays."""
        refuse_narrow(self.scope.is_narrow)
        known, asked = self.known(organisation, project), read(Mem0Project, request.data)
        wanted, categories = parted(known.extract)
        wanted = wanted if asked.custom_instructions is None else asked.custom_instructions
        categories = categories if asked.custom_categories is None else asked.custom_categories
        told = {"extract": with_categories(wanted, categories), "ignore": known.ignore}
        change_workspace(self.scope, changes={"instructions": told})
        return Response({"message": "Project updated."})

    def known(self, organisation: str, project: str) -> InstructionSettings:
        if {organisation, project} != {str(self.scope.workspace_id)}:
            raise NotFound("Project")
        return settings_of(self.scope).instructions


class AddView(Mem0View):
    needs = {**Mem0View.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        """Keep messages and learn from them; with `infer` false, keep them word for word."""
        asked = read(Mem0Add, request.data)
        if session := session_waited_for(self.scope, request.META):
            return self.added(session, asked)
        if not any(asked.name(which) for which in ENTITIES):
            raise Invalid("user_id", f"Name whose it is: one of {', '.join(ENTITIES)}.")
        app = asked.name("app_id")
        session = wait_for_ingest(
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
                instructions=asked.instructions,
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
                newest_first=True,
            ),
        )
        return Response({"results": results_of(self.scope, search.with_news(answer.hits))})


class ListMem0View(Mem0View):
    def post(self, request: Request) -> Response:
        return self.listed(request, filter_of(body_of(request)))

    def listed(self, request: Request, wanted: Filter) -> Response:
        at = page_of(request)
        rows = self.believed(wanted).with_names().order_by("-pk")
        page = list(rows[at.first : at.last])
        return Response(at.answer(request, rows.count(), shown(self.scope, page)))


class MemoriesMem0View(AddView, ListMem0View):
    """The route on which version 1 adds by POST, lists by GET, and deletes all of an entity."""

    def get(self, request: Request) -> Response:
        return self.listed(request, filter_of(request.query_params.dict()))

    def delete(self, request: Request) -> Response:
        there_were = self.forget_all(filter_to_forget(request.query_params.dict()))
        done = "Memories deleted successfully!" if there_were else "Nothing was deleted: no memory is of these ids."
        return Response({"message": done})


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
        """List the users, agents and runs that have memories."""
        results = []
        for kind, column in COLUMNS.items():
            rows = self.believed().filter(**{f"{column}__isnull": False}).values(column)
            named = rows.annotate(total=Count("pk"), first=Min("created_at"), last=Max("updated_at"))
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
        if "page" not in request.query_params and "page_size" not in request.query_params:
            # mem0's client asks for no second page, and deletes all users by this list.
            return Response({"count": len(results), "next": None, "previous": None, "results": results})
        at = page_of(request)
        return Response(at.answer(request, len(results), results[at.first : at.last]))


class EntityMem0View(Mem0View):
    """An entity: a user or a run is erased with all that was said; an agent's or app's memories are
    forgotten."""

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
        wait_for_erasure(self.scope, kind, row.pk)


def body_of(request: Request) -> dict[str, Any]:
    if not isinstance(request.data, dict):
        raise Invalid("body", "Must be an object.")
    return request.data


def page_of(request: Request) -> Mem0Page:
    """Read the page's numbers from the address."""
    given = request.query_params.dict()
    return read(Mem0Page, {name: given[name] for name in ("page", "page_size") if name in given})
