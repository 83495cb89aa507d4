"""The queue of summaries of talks and of subjects that are to be made anew: a row for each, which
the worker takes up. In the caller's transaction, all of it."""

import uuid
from collections.abc import Collection
from datetime import timedelta

from django.utils import timezone

from memories.index import prepared_sql
from memories.queue import leases
from memoryproject.postgres.prepared import Asked
from workspaces.models.workspace import uuid7

PAUSE = timedelta(seconds=60)  # an ongoing conversation is summarised so often at most
FEWEST = 4  # messages of a conversation or a subject that are worth a summary

# A worker that is making it now goes on, and finds it due again.
DUE = f"""
insert into memories_duesummary as s
  (id, workspace_id, {{of}}_id, due_at, claims, attempts, created_at, updated_at)
select t.id, %(workspace)s, t.own, %(at)s, 0, 0, %(now)s, %(now)s
from unnest(%(ids)s::uuid[], %(owns)s::uuid[]) t (id, own)
on conflict ({{of}}_id) do update
  set attempts = 0, due_at = case when {leases.FREE.replace("lease_until", "s.lease_until")}
    then least(s.due_at, %(at)s) else %(at)s end
"""
SAID_ENOUGH = f"""
select e.id from memories_episode e where e.subject_id = %(subject)s limit 1 offset {FEWEST - 1}
"""
# The conversations and subjects whose words these memories stand on.
TOLD_BY = """
select distinct e.conversation_id, e.subject_id
from memories_fact f
join memories_citation c on c.fact_id = f.id
join memories_episode e on e.id = c.episode_id
where f.memory_id = any(%(ids)s::uuid[])
"""


def of_conversation(workspace_id: uuid.UUID, conversation_id: uuid.UUID) -> Asked:
    """Return the statement, for the caller to send, that makes the summaries of a conversation and
    of its subjects due."""
    return _due_of(workspace_id, "conversation", {conversation_id})


def of_subject(workspace_id: uuid.UUID, subject_id: uuid.UUID) -> None:
    """Make the summaries of a subject due where there is enough to sum up."""
    if prepared_sql.rows(SAID_ENOUGH, {"subject": subject_id}):
        _due(workspace_id, "subject", {subject_id})


def of_memories(workspace_id: uuid.UUID, ids: Collection[uuid.UUID]) -> None:
    """Make the summaries of whoever said what these memories stand on due: what is believed of it
    has changed."""
    told = prepared_sql.rows(TOLD_BY, {"ids": list(ids)})
    _due(workspace_id, "conversation", {row.conversation_id for row in told} - {None})
    alone = {row.subject_id for row in told if row.conversation_id is None}
    _due(workspace_id, "subject", alone - {None})


def _due(workspace_id: uuid.UUID, of: str, owns: Collection[uuid.UUID]) -> None:
    if owns:
        prepared_sql.execute(*_due_of(workspace_id, of, owns))


def _due_of(workspace_id: uuid.UUID, of: str, owns: Collection[uuid.UUID]) -> Asked:
    now = timezone.now()
    values = {"workspace": workspace_id, "now": now, "at": now + PAUSE}
    # In one order, since another writer may mark the same.
    values |= {"ids": [uuid7() for _ in owns], "owns": sorted(owns)}
    return DUE.format(of=of), values
