"""Moving rows from one subject to another in steps: each is a transaction that holds the
workspace's lock for a bounded number of rows.

The rows that move are written down first, in `MergedRows`, with a row that marks the merge as under
way and is deleted by the last step. Whoever goes on after a process that ended begins again with
the first of them; rows that were moved are about the other subject and are skipped.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.belief import resolve
from memories.documents import document_store
from memories.errors import Conflict
from memories.index import row_marks, subjects, workspace_index
from memories.models import (
    Connection,
    Conversation,
    Document,
    Episode,
    Fact,
    Intent,
    Layer,
    Memory,
    MemorySession,
    MergedRows,
    Rejection,
    SubjectMerge,
    WorkspaceIndex,
)
from memories.profiles.features import follow_sources
from memories.profiles.summaries import talk_summaries
from memories.queue import outbox
from workspaces.models import Subject
from workspaces.scope import Scope

# Everything said and believed moves; sets and features follow in their own way.
FOLLOWING: dict[str, Any] = {
    "conversation": Conversation,
    "session": MemorySession,
    "episode": Episode,
    "fact": Fact,
    "memory": Memory,
    "rejection": Rejection,
    "intent": Intent,
    "document": Document,
    "connection": Connection,
}
AT_ONCE = 100  # rows of one step; of documents, which have many pieces each, one
MERGING, SPLITTING, SEPARATING = "merging", "splitting", "separating"


@dataclass(frozen=True, slots=True)
class SubjectSteps:
    """The move of rows from `old` to `new`, for a merge that is under way or is taken back."""

    scope: Scope
    space: WorkspaceIndex
    made: SubjectMerge
    old: Subject
    new: Subject

    def give(self, plan: Mapping[str, Sequence[uuid.UUID]]) -> None:
        """Move these rows, by their kinds, to the new subject, as far as they are still about the
        old one."""
        for kind, ids in plan.items():
            size = 1 if kind == "document" else AT_ONCE
            for first in range(0, len(ids), size):
                rows = FOLLOWING[kind]._default_manager.filter(pk__in=ids[first : first + size], subject=self.old)
                if not rows.exists():
                    continue
                with transaction.atomic(durable=True):
                    workspace_index.lock(self.space)
                    if is_under_way(self.made):
                        self.give_locked(kind, rows)

    def give_locked(self, kind: str, rows: QuerySet[Any]) -> None:
        """Move these rows in the caller's transaction, which holds the workspace's lock."""
        if kind == "rejection":  # what both rejected stays the new one's alone
            Rejection.objects.filter(pk__in=rows.values("pk")).also_of(self.new).delete()
        ids = list(rows.values_list("pk", flat=True))
        if kind == "episode":
            told = Episode.objects.filter(pk__in=ids)
            talks = Conversation.objects.filter(pk__in=told.values("conversation"))
            lock_writers(self.space, talks)
            talk_summaries.start_again(self.space, told, {self.new.pk})
            subjects.move(self.space, Layer.EPISODES, ids, self.new.pk)
        elif kind == "memory":
            if self.made.is_split:  # before they go themselves
                chosen = set(self.made.ids("memory")).intersection(ids)
                follow_sources.follow(self.scope, chosen, self.new)
            subjects.move(self.space, Layer.MEMORIES, ids, self.new.pk)
        FOLLOWING[kind]._default_manager.filter(pk__in=ids).update(subject=self.new)
        if kind == "memory":
            row_marks.rebuild_slots(ids, row_marks.words_of(self.space))
        elif kind == "session":
            restart_sessions(ids)
        elif kind == "document":
            passages = document_store.some_passages(ids)
            if passages is None:
                document_store.index_anew(ids)
            else:
                subjects.move(self.space, Layer.CHUNKS, passages, self.new.pk)

    def settle_locked(self) -> None:
        """Update what is told of both subjects as a whole, once all rows are where they belong; in
        the caller's transaction, which holds the workspace's lock."""
        both = (self.old.pk, self.new.pk)
        talk_summaries.start_again(self.space, Episode.objects.none(), both)
        resolve.follow_subjects(self.space.workspace_id, both, self.scope.actor)
        subjects.recount_speakers(self.space, *both)


def under_way(merge_id: uuid.UUID | None = None) -> QuerySet[MergedRows]:
    """Return the marker row of each merge that is not finished; for a split or a separation, its
    ids are the memories that move."""
    rows = MergedRows.objects.filter(kind__in=(MERGING, SPLITTING, SEPARATING))
    return rows if merge_id is None else rows.filter(merge=merge_id)


def write_down(made: SubjectMerge, plan: Mapping[str, Sequence[uuid.UUID]]) -> None:
    """Write down the rows of each kind that move."""
    MergedRows.objects.bulk_create(
        MergedRows(workspace_id=made.workspace_id, merge=made, kind=kind, ids=ids) for kind, ids in plan.items() if ids
    )


def mark(made: SubjectMerge, act: str, going: Collection[uuid.UUID] = ()) -> None:
    """Mark the merge as under way."""
    MergedRows.objects.create(workspace_id=made.workspace_id, merge=made, kind=act, ids=sorted(going))


def refuse_under_way(*subjects: Subject) -> None:
    """Raise Conflict where a merge of one of them is not finished. In a transaction that holds the
    workspace's lock."""
    about = Q(merge__source__in=subjects) | Q(merge__target__in=subjects)
    if under_way().filter(about).exists():
        raise Conflict("A merge of one of them is not through yet.", "stale", "id")


def is_under_way(made: SubjectMerge) -> bool:
    """Tell whether nobody has finished it meanwhile. In a transaction that holds the workspace's
    lock."""
    return under_way(made.pk).exists()


def lock_writers(space: WorkspaceIndex, talks: QuerySet[Conversation]) -> None:
    """Wait for those who are writing down what is said in these conversations: they lock first the
    conversation, then the workspace's row. What they write after is about whom they named."""
    rows = talks.order_by("pk").select_for_update(no_key=True)
    list(rows.values_list("pk", flat=True))
    WorkspaceIndex.objects.select_for_update(no_key=True).get(pk=space.pk)


def restart_sessions(session_ids: Sequence[uuid.UUID]) -> None:
    """Restart the sessions that a worker is reading, with whom they are about now."""
    busy = MemorySession.objects.filter(pk__in=session_ids, state=MemorySession.State.EXTRACTING)
    ids = list(busy.select_for_update().values_list("pk", flat=True))
    busy.filter(pk__in=ids).update(
        state=MemorySession.State.RECEIVED,  # by which the worker sees that it was taken over
        next_attempt_at=timezone.now(),
        lease_until=None,
    )
    for each in ids:
        outbox.post("run_session", each)
