"""Events as a caller may see them: only those of rows that the caller may read."""

import json
import logging
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from memories.events.read_events import EventCursor
from memories.models import Case, ChangeEvent, Document, Memory, MemorySession
from workspaces.scope import Scope

# The data of an event: ids and states; and who may see it.

ROWS: Mapping[str, Any] = {
    "document": Document.objects,
    "session": MemorySession.objects,
    "case": Case.objects,
    "memory": Memory.objects,
}
# How long a client waits before it reconnects, in milliseconds.
RETRY = b"retry: 2000\n\n"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The events to listen for; None: all. Rows are named by their ids."""

    item: uuid.UUID | None = None
    kinds: tuple[str, ...] = ()

    def takes(self, event: ChangeEvent) -> bool:
        if self.item is not None and event.item != self.item:
            return False
        # A name without its second half stands for all events of its kind.
        return not self.kinds or not {event.kind, event.subject}.isdisjoint(self.kinds)


def sees_all(scope: Scope) -> bool:
    return not scope.is_narrow


def visible_items(scope: Scope, events: Iterable[ChangeEvent]) -> set[uuid.UUID]:
    """The rows behind the events of one workspace that `scope` may see now."""
    events = [event for event in events if event.workspace_id == scope.workspace_id]
    if sees_all(scope):
        return {event.item for event in events}
    seen: set[uuid.UUID] = set()
    for subject, manager in ROWS.items():
        ids = {event.item for event in events if event.subject == subject}
        if ids:
            rows: QuerySet[Any] = manager.all().visible_to(scope).filter(pk__in=ids)
            seen.update(rows.values_list("pk", flat=True))
    return seen


def as_data(event: ChangeEvent) -> dict[str, Any]:
    """The data of an event for a stream or a webhook."""
    told = {
        "type": event.kind,
        f"{event.subject}Id": str(event.item),
        "state": event.state,
        "at": event.created_at.isoformat(),
    }
    if event.subject == "document":
        told["status"] = Document.STATUS[Document.State(event.state)]
        told["step"] = event.state
    return told


def as_message(event: ChangeEvent, cursor: EventCursor) -> bytes:
    """An event as a message of text/event-stream."""
    text = json.dumps(as_data(event), separators=(",", ":"))
    return f"id: {cursor}\nevent: {event.kind}\ndata: {text}\n\n".encode()


# Live events for all listeners of this process: one query for all of them, a few times a second,
# and none while nobody listens.

log = logging.getLogger(__name__)
