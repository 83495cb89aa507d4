"""Subjects and memories put together: two subjects or two duplicates become one, memories move; and
taken apart again."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memories import outbox, resolve
from memories.errors import Conflict, Forbidden, Invalid, NotFound, needed
from memories.features import follow_sources
from memories.features import follow_sources as features
from memories.index import entries, row_marks, subjects, workspace_index
from memories.models import (
    Connection,
    Conversation,
    Document,
    Episode,
    Fact,
    Intent,
    Layer,
    Memory,
    MemoryPeriod,
    MemorySession,
    MergedRows,
    Rejection,
    Revision,
    SubjectMerge,
    Supersession,
    WorkspaceIndex,
    passages_of,
)
from memories.resolve import state_changes
from memories.review.approve_and_undo import (
    IN_OTHER_WORDS,
    believe_again,
    decide,
    may_be_learned,
    put_back,
)
from memories.review.create_and_edit import EDIT, INHERITED
from memories.review.forget import audit, forget_locked, locked
from memories.summaries import talk_summaries
from workspaces.models import Subject
from workspaces.models.workspace import uuid7
from workspaces.scope import NotAllowed, Scope, subject_to_write

# What was said and believed goes over; sets and features follow in their own way.
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
SHARED = "rejection of both"  # the target's, where the source had the same


def merge_subjects(scope: Scope, source_id: uuid.UUID, target_id: uuid.UUID) -> SubjectMerge:
    """What was said and believed about one subject is about another from now on; `separate` takes
    it back.

    The source stays, empty: what programs tell about it later is its own again. Keys that are
    limited to it do not see the target.
    """
    if source_id == target_id:
        raise Invalid("userId", "A subject cannot be merged into itself.")
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        source, target = (locked_subject(scope, each) for each in (source_id, target_id))
        lock_writers(space, source, target)
        made = SubjectMerge.objects.create(
            workspace_id=scope.workspace_id, source=source, target=target, batch=uuid7(),
            merged_by=scope.actor,
        )  # fmt: skip
        # What both rejected stays the target's alone.
        own, theirs = (
            {row.mark: row.pk for row in Rejection.objects.filter(subject=each)}
            for each in (source, target)
        )
        shared = [theirs[mark] for mark in own.keys() & theirs.keys()]
        Rejection.objects.filter(pk__in=[own[mark] for mark in own.keys() & theirs.keys()]).delete()
        talk_summaries.start_again(space, Episode.objects.filter(subject=source), {target.pk})
        moved = {kind: reassign(kind, source, target) for kind in FOLLOWING}
        subjects.merge(space, source.pk, target.pk)
        row_marks.rebuild_slots(moved["memory"], row_marks.words_of(space))
        resolve.follow_subjects(scope.workspace_id, [source.pk, target.pk], scope.actor)
        restart_sessions(moved["session"])
        moved |= features.merge(scope, made) | {SHARED: shared}
        MergedRows.objects.bulk_create(
            MergedRows(workspace_id=made.workspace_id, merge=made, kind=kind, ids=ids)
            for kind, ids in moved.items()
            if ids
        )
        audit_merge(scope, made, "merge", {kind: len(ids) for kind, ids in moved.items()})
    return made


def locked_subject(scope: Scope, subject_id: uuid.UUID) -> Subject:
    """The subject, locked; NotFound where `scope` does not see it."""
    rows = Subject.objects.filter(workspace_id=scope.workspace_id)
    if scope.subject_ids is not None:
        rows = rows.filter(pk__in=scope.subject_ids)
    # Not against keys: who writes a row about it waits for the workspace, and holds a share of it.
    return needed(rows.filter(pk=subject_id).select_for_update(no_key=True).first(), "Subject")


def lock_writers(space: WorkspaceIndex, *subjects: Subject) -> None:
    """Wait for those who are writing down what is said about these subjects: they lock first the
    conversation, then the workspace's row. What they write after is about whom they named."""
    rows = Conversation.objects.filter(subject__in=subjects).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
    WorkspaceIndex.objects.select_for_update(no_key=True).get(pk=space.pk)


def reassign(kind: str, source: Subject, target: Subject, **which: Any) -> list[uuid.UUID]:
    """Rows of one kind that were about `source` are about `target`; their ids."""
    rows = FOLLOWING[kind]._default_manager.filter(subject=source, **which)
    ids = list(rows.values_list("pk", flat=True))
    FOLLOWING[kind]._default_manager.filter(pk__in=ids).update(subject=target)
    return ids


def restart_sessions(session_ids: list[uuid.UUID]) -> None:
    """Sessions that a worker is at begin again, with whom they are about now."""
    busy = MemorySession.objects.filter(pk__in=session_ids, state=MemorySession.State.EXTRACTING)
    ids = list(busy.select_for_update().values_list("pk", flat=True))
    busy.filter(pk__in=ids).update(
        state=MemorySession.State.RECEIVED,  # by which the worker sees that it was taken over
        next_attempt_at=timezone.now(),
        lease_until=None,
    )
    for each in ids:
        outbox.post("run_session", each)


def audit_merge(scope: Scope, made: SubjectMerge, action: str, moved: Mapping[str, int]) -> None:
    """A line on each of the two, so that each one's history tells it."""
    for subject in (made.source, made.target):
        scope.audit(
            action,
            subject,
            subject_id=subject.pk,
            before={"userId": made.source.external_id},
            after={"userId": made.target.external_id, "moved": dict(moved), "merge": str(made.pk)},
        )


# All versions of the chains that these memories stand in, and what waits to replace them.
CHAINS = """
with recursive whole (id) as (
  select unnest(%(ids)s::uuid[])
  union
  select other from whole, lateral (
    select m.superseded_by_id from memories_memory m
    where m.id = whole.id and m.superseded_by_id is not null
    union all select m.id from memories_memory m where m.superseded_by_id = whole.id
    union all select s.new_id from memories_supersession s
    where s.old_id = whole.id and s.state = 'pending'
    union all select s.old_id from memories_supersession s
    where s.new_id = whole.id and s.state = 'pending') as beside (other)
)
select id from whole
"""


def move(scope: Scope, memory_ids: Sequence[uuid.UUID], user_id: str) -> int:
    """Let memories, with all their versions and facts, be about another subject; how many versions.

    Episodes stay where they were said. Moving them back is the way to undo it.
    """
    try:
        target = subject_to_write(scope, user_id.strip())
    except NotAllowed as error:
        raise Forbidden(error.message, "userId") from None
    if target is None:
        raise Invalid("userId", "Name the subject that it is to be about.")
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        chosen = _visible(scope, memory_ids)
        with connection.cursor() as cursor:
            cursor.execute(CHAINS, {"ids": list(memory_ids)})
            ids = [row[0] for row in cursor.fetchall()]
        _visible(scope, ids)
        for memory in Memory.objects.live().filter(pk__in=ids):
            follow_sources.move(scope, memory, target)
        Memory.objects.filter(pk__in=ids).update(subject=target)
        Fact.objects.filter(memory__in=ids).update(subject=target)
        subjects.move(space, Layer.MEMORIES, ids, target.pk)
        row_marks.rebuild_slots(ids, row_marks.words_of(space))
        resolve.follow_subjects(scope.workspace_id, [target.pk], scope.actor)
        for memory in chosen:
            before = memory.subject.external_id if memory.subject else ""
            memory.subject = target
            after = {"userId": target.external_id}
            audit(scope, "move", memory, before={"userId": before}, after=after)
    return len(ids)


def _visible(scope: Scope, ids: Sequence[uuid.UUID]) -> list[Memory]:
    rows = Memory.objects.visible_to(scope).filter(pk__in=ids).select_related("subject")
    memories = list(rows.select_for_update(of=("self",)))
    if len(memories) < len(set(ids)):
        raise NotFound("Memory")
    return memories


def merge_duplicates(scope: Scope, kept_id: uuid.UUID, other_id: uuid.UUID) -> Memory:
    """Two live memories say the same: one stays, with the facts of both; the other is forgotten.

    It can be restored; the facts stay with the one that was kept, unless `part_duplicates` takes it
    back.
    """
    space: WorkspaceIndex = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        kept, other = locked(scope, kept_id), locked(scope, other_id)
        if kept.pk == other.pk or kept.subject_id != other.subject_id:
            raise Invalid("id", "Only two memories about the same subject can be merged.")
        if not kept.is_live or not other.is_live:
            raise Conflict("One of them is no longer live.", "stale", "id")
        facts = Fact.objects.filter(memory=other)
        moved = [str(pk) for pk in facts.values_list("pk", flat=True)]
        facts.update(memory=kept)
        state_changes.add_support({kept.pk: len(moved)}, timezone.now())
        forget_locked(scope.as_part_of(kept), [other], f"duplicate of {kept.pk}")
        before = {"content": other.content, "memory": str(other.pk), "facts": moved}
        audit(scope, "merge", kept, before=before, after={"content": kept.content})
    return Memory.objects.with_names().get(pk=kept.pk)


def part_duplicates(
    scope: Scope, kept_id: uuid.UUID, other_id: uuid.UUID, facts: Sequence[str]
) -> None:
    """Take a merge of two memories back: the other is believed again, and has its `facts` again.
    Conflict where it was changed since."""
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        kept, other = locked(scope, kept_id), locked(scope, other_id)
        if not other.may_return:
            raise Conflict("The other was changed since.", "stale", "id")
        moved = Fact.objects.filter(pk__in=facts, memory=kept).update(memory=other)
        state_changes.add_support({kept.pk: -moved}, timezone.now())
        may_be_learned(scope, other)
        believe_again(space, other, MemoryPeriod.Cause.RESTORED)
        audit(scope, "separate", kept, after={"content": other.content, "memory": str(other.pk)})


# A merge of two subjects taken back: each has its own again; and one subject parted into two.

State = Supersession.State
Ids = set[uuid.UUID]
# What has expired, too: until the sweep forgets it, its facts must not be of another subject.
OF_HEADS = Q(memory__is_head=True)
COPIED = ("content", "fingerprint", "entities", "source", "valid_from", "is_inference")


def merge_of(scope: Scope, merge_id: uuid.UUID) -> SubjectMerge:
    """NotFound where `scope` does not see both of the subjects."""
    rows = SubjectMerge.objects.filter(workspace_id=scope.workspace_id, pk=merge_id)
    if scope.subject_ids is not None:
        rows = rows.filter(source__in=scope.subject_ids, target__in=scope.subject_ids)
    return needed(rows.select_related("source", "target").first(), "Merge")


def separate(scope: Scope, merge_id: uuid.UUID) -> SubjectMerge:
    """Give the merged subject back what went over: what was said and believed, as it is now, and
    what people made of it since. What was learned since stays with the target.

    A decision between a memory that goes and one that stays is undone: both stand. Conflict where
    it is undone already, or the target itself was merged since.
    """
    made = merge_of(scope, merge_id)
    vectors = features.vectors_for_separation(made)
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        source, target = (locked_subject(scope, each) for each in (made.source_id, made.target_id))
        lock_writers(space, source, target)
        row = SubjectMerge.objects.select_for_update(of=("self",)).get(pk=made.pk)
        if row.undone_at is not None:
            raise Conflict("They are two again already.", "stale", "id")
        since = SubjectMerge.objects.filter(source=target, undone_at=None, pk__gt=made.pk)
        if since.exists():
            message = f"{made.target} was merged itself or split since: undo that first."
            raise Conflict(message, "stale", "id")
        if row.is_split:
            features.follow(scope, made.ids("memory"), source)
        counts = _part(scope, space, made, source, target)
        counts["feature"] = features.separate(scope, made, vectors)
        SubjectMerge.objects.filter(pk=made.pk).update(undone_at=timezone.now())
        audit_merge(scope, made, "separate", counts)
    return made


@dataclass(frozen=True, slots=True)
class SplitOff:
    """What is to be about somebody else: memories, and conversations with what was said in them
    about the subject."""

    memory_ids: Sequence[uuid.UUID] = ()
    conversation_ids: Sequence[uuid.UUID] = ()


def split_plan(scope: Scope, source: Subject, chosen: SplitOff) -> dict[str, list[uuid.UUID]]:
    """Ids of all that would go with what is chosen, by kind: chains whole, facts, messages.

    Raises NotFound for what is not the subject's or not seen, Invalid where nothing is chosen.
    """
    talks, memories = set(chosen.conversation_ids), set(chosen.memory_ids)
    if not talks and not memories:
        raise Invalid("memory", "Choose memories or conversations first.")
    said = Episode.objects.visible_to(scope).filter(subject=source, conversation__in=talks)
    about = Q(subject=source) | Q(Exists(said.filter(conversation=OuterRef("pk"))))
    seen = Conversation.objects.filter(workspace_id=scope.workspace_id, pk__in=talks)
    if seen.filter(about).count() < len(talks):
        raise NotFound("Conversation")
    with connection.cursor() as cursor:
        cursor.execute(CHAINS, {"ids": list(memories)})
        whole = {row[0] for row in cursor.fetchall()}
    own = Memory.objects.visible_to(scope).filter(subject=source)
    if own.filter(pk__in=whole | memories).count() < len(whole | memories):
        raise NotFound("Memory")
    sessions = MemorySession.objects.filter(subject=source, conversation__in=talks)
    session_ids = list(sessions.values_list("pk", flat=True))
    facts = Fact.objects.filter(Q(memory__in=whole) | Q(session__in=session_ids), subject=source)
    rows: dict[str, QuerySet[Any]] = {
        "conversation": seen.filter(subject=source),
        "episode": said,
        "fact": facts,
        "intent": Intent.objects.filter(subject=source, session__in=session_ids),
    }
    found = {kind: list(each.values_list("pk", flat=True)) for kind, each in rows.items()}
    return found | {"memory": sorted(whole), "session": session_ids}


def split(scope: Scope, source_id: uuid.UUID, user_id: str, chosen: SplitOff) -> SubjectMerge:
    """A part of what was said and believed about one subject is about another from now on, who is
    made where there is none; `separate` takes it back.

    A memory that also stands on what stays is believed of both. Raises as `split_plan`, Forbidden
    where the key may not write about that one.
    """
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        source = locked_subject(scope, source_id)
        plan = split_plan(scope, source, chosen)
        try:
            target = subject_to_write(scope, user_id.strip())
        except NotAllowed as error:
            raise Forbidden(error.message, "userId") from None
        if target is None or target.pk == source.pk:
            raise Invalid("userId", "Name somebody else whom it is to be about.")
        target = locked_subject(scope, target.pk)
        lock_writers(space, source, target)
        made = SubjectMerge.objects.create(
            workspace_id=scope.workspace_id, source=source, target=target, batch=uuid7(),
            merged_by=scope.actor, is_split=True,
        )  # fmt: skip
        MergedRows.objects.bulk_create(
            MergedRows(workspace_id=made.workspace_id, merge=made, kind=kind, ids=ids)
            for kind, ids in plan.items()
            if ids
        )
        features.follow(scope, plan["memory"], target)
        counts = _part(scope, space, made, target, source)
        features.split(scope, made)
        audit_merge(scope, made, "split", counts)
    return made


def _part(
    scope: Scope, space: WorkspaceIndex, made: SubjectMerge, source: Subject, target: Subject
) -> dict[str, int]:
    """What is `target`'s and stands in `made` becomes `source`'s, with what was read out of it; how
    many of each kind."""
    talk_summaries.start_again(space, Episode.objects.filter(subject=target), {source.pk})
    moved = {
        kind: reassign(kind, target, source, pk__in=made.ids(kind))
        for kind in ("conversation", "session", "episode", "intent", "document")
    }
    subjects.move(space, Layer.EPISODES, moved["episode"], source.pk)
    revisions = Revision.objects.filter(document__in=moved["document"])
    passages = passages_of(list(revisions.values_list("pk", flat=True)))
    subjects.move(space, Layer.CHUNKS, passages, source.pk)
    going = _memories(made, source, target)
    _part_decisions(scope, space, going, target)
    moved["memory"] = reassign("memory", target, source, pk__in=going)
    moved["fact"] = _part_facts(space, made, source, target)
    subjects.move(space, Layer.MEMORIES, moved["memory"], source.pk)
    row_marks.rebuild_slots(moved["memory"], row_marks.words_of(space))
    _part_rejections(made, source, target, going)
    resolve.follow_subjects(scope.workspace_id, [source.pk, target.pk], scope.actor)
    subjects.recount_speakers(space, source.pk, target.pk)
    restart_sessions(moved["session"])
    return {kind: len(ids) for kind, ids in moved.items()}


def _own_facts(made: SubjectMerge) -> Q:
    """The facts that were read from what was said about the source."""
    return Q(pk__in=made.ids("fact")) | Q(session__in=made.ids("session"))


def _memories(made: SubjectMerge, source: Subject, target: Subject) -> Ids:
    """Those that went over, what people reworded since, and what the source's own words alone
    carry."""
    rows = Memory.objects.filter(subject=target)
    going = set(rows.filter(pk__in=made.ids("memory")).values_list("pk", flat=True))
    read = Fact.objects.filter(_own_facts(made), memory__subject=target)
    others = Fact.objects.filter(memory__subject=target).exclude(_own_facts(made))
    own = rows.filter(pk__in=read.values("memory")).exclude(pk__in=others.values("memory"))
    newest = going = going | set(own.values_list("pk", flat=True))
    while newest:
        by_hand = Supersession.objects.filter(Q(rule=EDIT) | Q(note=IN_OTHER_WORDS), old__in=newest)
        reworded = rows.filter(pk__in=by_hand.filter(state=State.APPLIED).values("new"))
        newest = set(reworded.values_list("pk", flat=True)) - going
        going |= newest
    return going


def _part_decisions(scope: Scope, space: WorkspaceIndex, going: Ids, target: Subject) -> None:
    """A memory that goes and one that stays replace each other no more."""
    across = Q(old__in=going) & ~Q(new__in=going) | Q(new__in=going) & ~Q(old__in=going)
    waiting_or_done = Supersession.objects.filter(across, state__in=[State.APPLIED, State.PENDING])
    for decision in waiting_or_done.select_for_update(of=("self",)).order_by("-pk"):
        old, new = locked(scope, decision.old_id), locked(scope, decision.new_id)
        if old.superseded_by_id == new.pk:
            put_back(space, old, new)
        if new.held_at is not None:
            believe_again(space, new, MemoryPeriod.Cause.APPROVED)
        if not new.supersedes.exists():
            Memory.objects.filter(pk=new.pk).update(version=1)  # it begins a chain of its own
        state = State.UNDONE if decision.state == State.APPLIED else State.REJECTED
        decide(scope, decision, "separate", "they are about two subjects", state=state)


def _part_facts(
    space: WorkspaceIndex, made: SubjectMerge, source: Subject, target: Subject
) -> list[uuid.UUID]:
    """Each fact is about whom it was told of. A live memory that stands on facts of both is
    believed of both; what is believed no more keeps its facts, and so do notes and edits."""
    own_facts, facts = _own_facts(made), Fact.objects.all()
    heard_since = facts.filter(OF_HEADS, memory__subject=source, subject=target).exclude(own_facts)
    staying = list(heard_since.exclude(session=None).select_related("memory"))
    leaving = list(
        facts.filter(OF_HEADS, own_facts, memory__subject=target).select_related("memory")
    )
    home = Q(memory__subject=source) | Q(memory=None) & own_facts
    own = facts.filter(home, subject=target).exclude(pk__in=[fact.pk for fact in staying])
    moved = [*own.values_list("pk", flat=True), *(fact.pk for fact in leaving)]
    facts.filter(pk__in=moved).update(subject=source)
    _believe_apart(space, staying, target)
    _believe_apart(space, leaving, source)
    return moved


def _believe_apart(space: WorkspaceIndex, facts: Iterable[Fact], subject: Subject) -> None:
    """Give these facts, which stand under memories of the other one, memories about `subject`."""
    by_memory = sorted(facts, key=lambda fact: str(fact.memory_id))
    for memory, own in groupby(by_memory, key=lambda fact: fact.memory):
        if memory is None:
            continue
        ids = [fact.pk for fact in own]
        state_changes.add_support({memory.pk: -len(ids)}, timezone.now())
        values = {name: getattr(memory, name) for name in (*INHERITED, *COPIED)}
        values |= {"subject_id": subject.pk, "source_count": len(ids), "pinned": False}
        copy = Memory(**values)
        copy.slots = row_marks.slots_of_memory(copy, row_marks.words_of(space))
        copy.save(force_insert=True)
        state_changes.begin_period(copy, MemoryPeriod.Cause.CREATED)
        entries.write(space, [entries.memory_item(copy)], None)
        Fact.objects.filter(pk__in=ids).update(memory=copy)


def _part_rejections(made: SubjectMerge, source: Subject, target: Subject, going: Ids) -> None:
    have = {each.mark for each in Rejection.objects.filter(subject=source)}
    shared = made.ids(SHARED)
    gone_over = Q(pk__in=[*shared, *made.ids("rejection")]) | Q(memory__in=going)
    for rejection in Rejection.objects.filter(gone_over, subject=target):
        if rejection.mark in have:
            continue
        if rejection.pk in shared:
            rejection.pk, rejection._state.adding = uuid7(), True
        rejection.subject = source
        rejection.save()
