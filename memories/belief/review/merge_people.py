"""Merging two subjects into one, separating them again, and splitting one in two."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memories.belief.resolve import state_changes
from memories.belief.review.approve import IN_OTHER_WORDS, believe_again, decide
from memories.belief.review.edit import EDIT, INHERITED
from memories.belief.review.forget import locked
from memories.belief.review.merge_duplicates import CHAINS, Ids, State
from memories.belief.review.subject_steps import (
    FOLLOWING,
    MERGING,
    SEPARATING,
    SPLITTING,
    SubjectSteps,
    is_under_way,
    lock_writers,
    mark,
    refuse_under_way,
    under_way,
    write_down,
)
from memories.belief.review.undo import put_back
from memories.errors import Conflict, Forbidden, Invalid, NotFound, needed
from memories.index import entries, row_marks, workspace_index
from memories.models import (
    Conversation,
    Episode,
    Fact,
    Intent,
    Memory,
    MemoryPeriod,
    MemorySession,
    MergedRows,
    Rejection,
    SubjectMerge,
    Supersession,
    WorkspaceIndex,
)
from memories.profiles.features import follow_sources as features
from memories.profiles.features.apply import Vectors
from workspaces.models import Subject
from workspaces.models.workspace import uuid7
from workspaces.scope import NotAllowed, Scope, subject_to_write, worker_scope

SHARED = "rejection of both"  # the target's, where the source had the same
ACTIONS = {MERGING: "merge", SPLITTING: "split", SEPARATING: "separate"}
PARTED = ("conversation", "session", "episode", "intent", "document")


FEATURE_STEPS: Mapping[str, Callable[[Scope, SubjectMerge, Vectors], bool]] = {
    MERGING: lambda scope, made, _: features.step_of_merge(scope, made),
    SPLITTING: lambda scope, made, _: features.step_of_split(scope, made),
    SEPARATING: features.step_of_separation,
}
# Expired ones, too: until the sweep forgets one, its facts must not be of another subject.
OF_HEADS = Q(memory__is_head=True)
COPIED = ("content", "fingerprint", "entities", "source", "valid_from", "is_inference")


def merge_subjects(scope: Scope, source_id: uuid.UUID, target_id: uuid.UUID) -> SubjectMerge:
    """Move all that was said and believed about one subject to another; `separate` takes it back.
    In steps: where its process ends in between, the worker goes on.

    The source stays, empty: what programs tell about it later is its own again. Keys that are
    limited to it do not see the target.
    """
    if source_id == target_id:
        raise Invalid("userId", "A subject cannot be merged into itself.")
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        source, target = (locked_subject(scope, each) for each in (source_id, target_id))
        made = _begin(scope, space, source, target)
        plan: dict[str, QuerySet[Any]] = {
            kind: model._default_manager.filter(subject=source) for kind, model in FOLLOWING.items()
        }
        plan[SHARED] = Rejection.objects.filter(subject=target).also_of(source)
        write_down(made, {kind: list(rows.values_list("pk", flat=True)) for kind, rows in plan.items()})
        mark(made, MERGING)
    go_on(scope, made)
    return made


def _begin(
    scope: Scope, space: WorkspaceIndex, source: Subject, target: Subject, *, is_split: bool = False
) -> SubjectMerge:
    """Begin a merge. Conflict where one of the subjects is in an unfinished merge."""
    refuse_under_way(source, target)
    lock_writers(space, Conversation.objects.filter(subject__in=(source, target)))
    return SubjectMerge.objects.create(
        workspace_id=scope.workspace_id,
        source=source,
        target=target,
        batch=uuid7(),
        merged_by=scope.actor,
        is_split=is_split,
    )


def go_on(scope: Scope, made: SubjectMerge) -> None:
    """Do what is left of a merge that is under way, or is taken back."""
    row = under_way(made.pk).first()
    if row is None:
        return
    is_back = row.kind == SEPARATING
    old, new = (made.target, made.source) if is_back else (made.source, made.target)
    space = workspace_index.index_of(made.workspace_id)
    steps = SubjectSteps(scope, space, made, old, new)
    if row.kind == MERGING:
        plan = {kind: made.ids(kind) for kind in FOLLOWING}
    else:
        plan = {"memory": row.ids} | {kind: made.ids(kind) for kind in PARTED}
        read = Fact.objects.filter(_own_facts(made), memory__in=row.ids, subject=old)
        plan["fact"] = list(read.values_list("pk", flat=True))
    steps.give(plan)
    vectors = features.vectors_for_separation(made) if is_back else {}
    _in_steps(steps, FEATURE_STEPS[row.kind], vectors)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        if not is_under_way(made):
            return
        lock_writers(space, Conversation.objects.filter(subject__in=(old, new)))
        counts = {kind: len(ids) for kind, ids in plan.items()}
        if row.kind == MERGING:
            _take_along(steps)
            steps.settle_locked()
            moved = features.merge(scope, made)
            features.note_moved(made, moved)
            counts |= {kind: len(made.ids(kind)) for kind in moved}
        else:
            _part_decisions(scope, space, set(row.ids), old)
            counts["fact"] += len(_part_facts(space, made, new, old))
            _part_rejections(made, new, old, set(row.ids))
            steps.settle_locked()
        if is_back:
            counts["feature"] = features.separate(scope, made, vectors)
            SubjectMerge.objects.filter(pk=made.pk).update(undone_at=timezone.now())
        elif row.kind == SPLITTING:
            features.split(scope, made)
        under_way(made.pk).delete()
        audit_merge(scope, made, ACTIONS[row.kind], counts)


def _in_steps(steps: SubjectSteps, step: Callable[[Scope, SubjectMerge, Vectors], bool], vectors: Vectors) -> None:
    """Let the features follow, a few in each transaction; the last step of all does the rest."""
    is_left = True
    while is_left:
        with transaction.atomic(durable=True):
            workspace_index.lock(steps.space)
            is_left = is_under_way(steps.made) and step(steps.scope, steps.made, vectors)


def _take_along(steps: SubjectSteps) -> None:
    """Move memories learned meanwhile about the old subject that stand in a chain with memories of
    the new one: chains are about one subject."""
    gone = Q(supersedes__subject=steps.new) | Q(superseded_by__subject=steps.new)
    while late := set(Memory.objects.filter(gone, subject=steps.old).values_list("pk", flat=True)):
        facts = Fact.objects.filter(memory__in=late, subject=steps.old)
        for kind, rows in (("fact", facts), ("memory", Memory.objects.filter(pk__in=late))):
            ids = list(rows.values_list("pk", flat=True))
            steps.give_locked(kind, rows)
            known = MergedRows.objects.filter(merge=steps.made, kind=kind)
            if not known.update(ids=[*steps.made.ids(kind), *ids]):
                write_down(steps.made, {kind: ids})


def due_workspaces() -> list[uuid.UUID]:
    """Return the workspaces in which merges are under way."""
    return list(under_way().values_list("workspace_id", flat=True).distinct())


def go_on_in(workspace_id: uuid.UUID) -> int:
    """Go on with the merges of a workspace whose process ended; return how many. Two processes may
    work on one merge, which does no harm."""
    begun = under_way().filter(workspace=workspace_id).values("merge")
    rows = SubjectMerge.objects.filter(pk__in=begun).select_related("source", "target")
    for made in rows.order_by("pk"):
        go_on(worker_scope(workspace_id, made.merged_by), made)
    return len(rows)


def locked_subject(scope: Scope, subject_id: uuid.UUID) -> Subject:
    """Return the subject, locked; NotFound where `scope` does not see it."""
    rows = Subject.objects.filter(workspace_id=scope.workspace_id)
    if scope.subject_ids is not None:
        rows = rows.filter(pk__in=scope.subject_ids)
    # Not against keys: who writes a row about it waits for the workspace, and holds a share of it.
    return needed(rows.filter(pk=subject_id).select_for_update(no_key=True).first(), "Subject")


def audit_merge(scope: Scope, made: SubjectMerge, action: str, moved: Mapping[str, int]) -> None:
    """Add an audit line to both subjects, so that the history of each tells it."""
    for subject in (made.source, made.target):
        scope.audit(
            action,
            subject,
            subject_id=subject.pk,
            before={"userId": made.source.external_id},
            after={"userId": made.target.external_id, "moved": dict(moved), "merge": str(made.pk)},
        )


def merge_of(scope: Scope, merge_id: uuid.UUID) -> SubjectMerge:
    """Return the merge. NotFound where `scope` does not see both of the subjects."""
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
    go_on(scope, made)
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        source, target = (locked_subject(scope, each) for each in (made.source_id, made.target_id))
        refuse_under_way(source, target)
        lock_writers(space, Conversation.objects.filter(subject__in=(source, target)))
        row = SubjectMerge.objects.select_for_update(of=("self",)).get(pk=made.pk)
        if row.undone_at is not None:
            raise Conflict("They are two again already.", "stale", "id")
        since = SubjectMerge.objects.filter(source=target, undone_at=None, pk__gt=made.pk)
        if since.exists():
            message = f"{made.target} was merged itself or split since: undo that first."
            raise Conflict(message, "stale", "id")
        going = _memories(made, source, target)
        _part_decisions(scope, space, going, target)
        mark(made, SEPARATING, going)
    go_on(scope, made)
    return made


@dataclass(frozen=True, slots=True)
class SplitOff:
    """The rows that are to be about somebody else: memories, and conversations with what was said
    in them about the subject."""

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
        made = _begin(scope, space, source, target, is_split=True)
        write_down(made, plan)
        going = _memories(made, target, source)
        _part_decisions(scope, space, going, source)
        mark(made, SPLITTING, going)
    go_on(scope, made)
    return made


def _own_facts(made: SubjectMerge) -> Q:
    """The facts that were read from what was said about the source."""
    return Q(pk__in=made.ids("fact")) | Q(session__in=made.ids("session"))


def _memories(made: SubjectMerge, source: Subject, target: Subject) -> Ids:
    """Return the memories that moved, what people reworded since, and what the source's own words
    alone carry."""
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
    """Undo decisions between a memory that goes and one that stays: neither replaces the other any
    more."""
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


def _part_facts(space: WorkspaceIndex, made: SubjectMerge, source: Subject, target: Subject) -> list[uuid.UUID]:
    """Each fact is about whom it was told of. A live memory that stands on facts of both is
    believed of both; what is believed no more keeps its facts, and so do notes and edits."""
    own_facts, facts = _own_facts(made), Fact.objects.all()
    heard_since = facts.filter(OF_HEADS, memory__subject=source, subject=target).exclude(own_facts)
    staying = list(heard_since.exclude(session=None).select_related("memory"))
    leaving = list(facts.filter(OF_HEADS, own_facts, memory__subject=target).select_related("memory"))
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
