"""How chains look to mem0's client: one memory with one id, that of its first version, whatever
happened since."""

import uuid
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from django.utils import timezone

from memories.compat.chains import metadata_of, roots_of
from memories.models import Link, Memory
from workspaces.scope import Scope


def shown(
    scope: Scope, rows: Sequence[Any], scores: Sequence[float] | None = None
) -> list[dict[str, Any]]:
    """Heads, each with the names of its ids, as mem0 has them."""
    ids = [row.id for row in rows]
    roots, said = roots_of(scope, ids), metadata_of(scope, ids)
    answers = []
    for place, row in enumerate(rows):
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
        if scores is not None:
            answer["score"] = round(scores[place], 4)
        answers.append(answer)
    return answers


def added(scope: Scope, rows: Sequence[Any]) -> list[dict[str, Any]]:
    """What an add made, as its answer tells it."""
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
    """What happened to a chain, oldest first."""
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
    """When a memory ends that expires on this day: with it."""
    midnight = datetime.combine(day, time.min, tzinfo=timezone.get_default_timezone())
    return midnight + timedelta(days=1)


def expiry_date(forget_after: datetime | None) -> date | None:
    return (forget_after - timedelta(seconds=1)).date() if forget_after else None
