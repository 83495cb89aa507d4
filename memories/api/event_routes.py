"""Routes: changes as server-sent events."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from pydantic import StringConstraints
from rest_framework.request import Request

from memories.documents import document_store
from memories.events import read_events
from memories.events.live_events import ticket_of
from memories.events.read_events import EventCursor, cursor_of
from memories.events.shown_events import RETRY, ROWS, EventFilter, as_message, visible_items
from memories.models import ChangeEvent
from memoryproject.server.front.wire import STREAM, STREAM_HEADERS
from workspaces.api.json_requests import read_query
from workspaces.api.problems import invalid
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import Maybe, OneOf, declared
from workspaces.scope import Scope

KINDS = (*ROWS, *ChangeEvent.Kind.values)
LAST = OpenApiParameter(
    "Last-Event-ID",
    str,
    OpenApiParameter.HEADER,
    description="The id of the last event that was heard: what came since then is told first. Kept for 24 hours.",
)
ANSWER = {(200, "text/event-stream"): OpenApiTypes.STR}
Position = Annotated[str, StringConstraints(max_length=read_events.LONGEST_CURSOR)]


@declared
@dataclass(frozen=True, slots=True)
class EventsOfOneQuery:
    last_event_id: Maybe[Position] = None


@declared
@dataclass(frozen=True, slots=True)
class EventsQuery(EventsOfOneQuery):
    type: Maybe[Annotated[str, OneOf(KINDS)]] = None


class EventsView(WorkspaceView):
    @operation("streamEvents", query=EventsQuery, headers=[LAST], answer=ANSWER)
    def get(self, request: Request, workspace: str) -> HttpResponse:
        """Stream the changes of documents, sessions, cases and memories that you may see: ids and
        states, no content. The stream stays open; `type` narrows it to one kind of event, or to
        all events about one kind of thing (`document`)."""
        query = read_query(EventsQuery, request)
        only = EventFilter(kinds=(query.type,) if query.type else ())
        last = position(request, query) or read_events.newest()
        return streamed(request, self.scope, only, last)


class DocumentEventsView(WorkspaceView):
    @operation("streamDocumentEvents", query=EventsOfOneQuery, headers=[LAST], answer=ANSWER)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> HttpResponse:
        """Stream the steps of one document, beginning with its present state."""
        last = position(request, read_query(EventsOfOneQuery, request))
        now = read_events.newest()  # before its state is read: what comes after that is told
        document = document_store.document_of(self.scope, row)
        if last is not None:
            return streamed(request, self.scope, EventFilter(item=row), last)
        half = document.state if document.is_final else "step"
        stands = ChangeEvent(kind=f"document.{half}", item=row, state=document.state, created_at=document.updated_at)
        return streamed(request, self.scope, EventFilter(item=row), now, as_message(stands, now))


def position(request: Request, query: EventsOfOneQuery) -> EventCursor | None:
    """Return the cursor of the last event that the client has, from the header that browsers send
    or from the query; None where there is none. Raises a Problem where it is no cursor."""
    text = request.META.get("HTTP_LAST_EVENT_ID") or query.last_event_id
    if not text:
        return None
    cursor = cursor_of(text)
    if cursor is None:
        raise invalid("Last-Event-ID", "This is no id of an event.")
    return cursor


def streamed(request: Request, scope: Scope, only: EventFilter, after: EventCursor, first: bytes = b"") -> HttpResponse:
    """Return the events after a cursor, and leave the front a ticket for those to come. Without a
    front the answer ends, and the client comes again with the last id."""
    batch = read_events.read([scope.workspace_id], after)
    seen = visible_items(scope, [event for event, _ in batch.events])
    messages = [as_message(event, cursor) for event, cursor in batch.events if event.item in seen and only.takes(event)]
    # An id alone is no event: it says where to begin where nothing comes.
    start = f"id: {batch.cursor}\n\n".encode()
    request.META[STREAM] = ticket_of(scope, only, batch.cursor)
    body = b"".join([RETRY, first, *messages, start])
    return HttpResponse(body, content_type="text/event-stream", headers=STREAM_HEADERS)
