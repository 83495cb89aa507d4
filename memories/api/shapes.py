"""How rows look in JSON. Plain functions: they are what a search does once for every hit.

A row is an ORM object from `with_names()`, or one of search's own with the same columns.
"""

from datetime import datetime
from typing import Any

from memories.models import Link, MemorySession, Supersession
from memories.summaries.summary_before import Summary
from workspaces.api.fields import moment


def memory(row: Any, known_at: datetime | None = None) -> dict[str, Any]:
    """As it is, or without what we learned of it after `known_at`, of a row `as_known` then."""
    superseded_by = row.superseded_by_id
    told = {
        "id": str(row.id),
        "content": row.content,
        "scope": row.scope,
        "factType": row.fact_type or None,
        "category": row.category,
        "source": row.source,
        "confidence": row.confidence,
        "visibility": row.visibility,
        "userId": row.user_external,
        "agentId": row.agent_external,
        "threadId": row.thread_external,
        "workflowId": row.workflow or None,
        "eventDate": moment(row.event_date),
        "validFrom": moment(row.valid_from),
        "validUntil": moment(row.valid_until),
        "supersededById": str(superseded_by) if superseded_by else None,
        "version": row.version,
        "isLatest": superseded_by is None and row.held_at is None,
        "isInference": row.is_inference,
        "sourceCount": row.source_count,
        "pinned": row.pinned,
        "heldAt": moment(row.held_at),
        "forgottenAt": moment(row.forgotten_at),
        "forgetAfter": moment(row.forget_after),
        "forgetReason": row.forget_reason or None,
        "entities": row.entities,
        "metadata": row.metadata,
        "createdAt": moment(row.created_at),
        "updatedAt": moment(row.updated_at),
    }
    return told if known_at is None else _as_known(told, row, known_at)


def _as_known(told: dict[str, Any], row: Any, known_at: datetime) -> dict[str, Any]:
    ends = (
        (row.superseded_at, ("supersededById",)),
        (row.forgotten_at, ("forgottenAt", "forgetReason")),
        (row.held_at, ("heldAt",)),
    )
    later = [name for at, names in ends if at and at > known_at for name in names]
    known = told | dict.fromkeys(later)
    known |= {
        "validUntil": moment(row.known_valid_until),
        "sourceCount": row.known_source_count,
        "updatedAt": moment(row.known_updated_at),
    }
    return known | {"isLatest": known["supersededById"] is None and known["heldAt"] is None}


def episode(row: Any) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "externalId": row.external_id,
        "kind": row.kind,
        "role": row.role,
        "name": row.author or None,
        "content": row.content,
        "occurredAt": moment(row.occurred_at),
        "threadId": row.thread_external,
        "userId": row.user_external,
        "agentId": row.agent_external,
        "sessionId": str(row.session_id) if row.session_id else None,
        "position": row.position,
        "payload": row.payload,
        "metadata": row.metadata,
        "createdAt": moment(row.created_at),
    }


def citation(row: Any, external_id: str | None) -> dict[str, Any]:
    return {
        "factId": str(row.fact_id) if row.fact_id else None,
        "episodeId": str(row.episode_id),
        "externalId": external_id,
        "chunkId": None,
        "start": row.start,
        "end": row.end,
        "quote": row.quote,
    }


def fact(row: Any) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "statement": row.statement,
        "category": row.category,
        "factType": row.fact_type or None,
        "confidence": row.confidence,
        "method": row.method,
        "rule": row.rule,
        "entities": row.entities,
        "visibility": row.visibility,
        "eventDate": moment(row.event_date),
        "memoryId": str(row.memory_id) if row.memory_id else None,
        "sessionId": str(row.session_id) if row.session_id else None,
        "userId": row.user_external,
        "agentId": row.agent_external,
        "quarantinedAt": moment(row.quarantined_at),
        "quarantineReason": row.quarantine_reason or None,
        "citations": [citation(c, c.episode.external_id) for c in row.citations.all()],
        "createdAt": moment(row.created_at),
    }


def conversation(row: Any) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "threadId": row.external_id,
        "userId": row.user_external,
        "agentId": row.agent_external,
        "workflowId": row.workflow or None,
        "title": row.title,
        "metadata": row.metadata,
        "createdAt": moment(row.created_at),
        "updatedAt": moment(row.updated_at),
    }


def summary(found: Summary) -> dict[str, Any]:
    return {
        "text": found.text,
        "lines": [
            {"text": line.text, "episodeIds": [str(one) for one in line.episode_ids]}
            for line in found.lines
        ],
        "method": found.method,
        "rule": found.rule,
        "tokens": found.tokens,
        "episodeIds": [str(one) for one in found.episode_ids],
        "uptoPosition": found.upto_position,
        "isCurrent": found.is_current,
    }


def outcome(row: MemorySession) -> dict[str, Any]:
    """What a session came to, in the words of an ingest's answer."""
    return {
        "sessionId": str(row.pk),
        "status": row.state,
        "memoriesCreated": len(row.created_ids),
        "memoriesUpdated": len(row.updated_ids),
        "memoriesReinforced": len(row.reinforced_ids),
        "factsExtracted": row.counts.get("facts", 0),
        "pendingReview": row.counts.get("held", 0) + row.counts.get("reviewed", 0),
        "reason": row.reason or None,
        "error": row.error or None,
    }


def session(row: Any) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        **outcome(row),
        "mode": row.mode,
        "pathway": row.pathway,
        "extract": row.extract,
        "scope": row.scope,
        "visibility": row.visibility or None,
        "userId": row.user_external,
        "agentId": row.agent_external,
        "threadId": row.thread_external,
        "workflowId": row.workflow or None,
        "attempts": row.tried,
        "nextAttemptAt": moment(row.next_attempt_at),
        "episodeIds": [str(one) for one in row.episode_ids],
        "createdIds": [str(one) for one in row.created_ids],
        "updatedIds": [str(one) for one in row.updated_ids],
        "reinforcedIds": [str(one) for one in row.reinforced_ids],
        "counts": row.counts,
        "timings": row.timings,
        "steps": row.steps,
        "metadata": row.metadata,
        "createdAt": moment(row.created_at),
        "finishedAt": moment(row.finished_at),
    }


def decision(row: Supersession) -> dict[str, Any]:
    """A supersession without its memories, as it stands in a chain."""
    return {
        "id": str(row.pk),
        "state": row.state,
        "rule": row.rule,
        "method": row.method or None,
        "similarity": row.similarity,
        "model": row.model or None,
        "decidedBy": row.decided_by,
        "decidedAt": moment(row.decided_at),
        "note": row.note or None,
    }


def supersession(row: Supersession) -> dict[str, Any]:
    return decision(row) | {"old": memory(row.old), "new": memory(row.new)}


def link(found: Link, known_at: datetime | None = None) -> dict[str, Any]:
    by = found.supersession
    return {"memory": memory(found.memory, known_at), "supersession": decision(by) if by else None}
