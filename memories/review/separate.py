"""A merge of two subjects taken back: each has its own again."""

import uuid
from collections.abc import Iterable
from itertools import groupby

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memories.errors import Conflict, NotFound
from memories.features import merge_subjects as features
from memories.index import entries, slots, subjects, workspace_index
from memories.models import (
    Fact,
    Layer,
    Liveness,
    Memory,
    Rejection,
    SubjectMerge,
    Supersession,
    WorkspaceIndex,
)
from memories.review.approve import IN_OTHER_WORDS, decide
from memories.review.edit import EDIT, INHERITED
from memories.review.forget import locked
from memories.review.merge import SHARED, give, hold_still, learn_again, of_scope, tell
from memories.review.restore import begin, revive, unlink
from workspaces.ids import uuid7
from workspaces.models import Subject
from workspaces.scope import Scope

State = Supersession.State
Ids = set[uuid.UUID]
LIVE = Q(memory__superseded_by=None, memory__forgotten_at=None, memory__held_at=None)
COPIED = ("content", "fingerprint", "entities", "source", "valid_from", "is_inference")


def merge_of(scope: Scope, merge_id: uuid.UUID) -> SubjectMerge:
    """NotFound where `scope` does not see both of the subjects."""
    rows = SubjectMerge.objects.filter(workspace_id=scope.workspace_id, pk=merge_id)
    if scope.subject_ids is not None:
        rows = rows.filter(source__in=scope.subject_ids, target__in=scope.subject_ids)
    found = rows.select_related("source", "target").first()
    if found is None:
        raise NotFound("Merge")
    return found


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
        source, target = (of_scope(scope, each) for each in (made.source_id, made.target_id))
        hold_still(space, source, target)
        _check(made)
        moved = {
            kind: give(kind, target, source, pk__in=made.ids(kind))
            for kind in ("conversation", "session", "episode")
        }
        subjects.move(space, Layer.EPISODES, moved["episode"], source.pk)
        going = _memories(made, source, target)
        _part_decisions(scope, space, going, target)
        moved["memory"] = give("memory", target, source, pk__in=going)
        moved["fact"] = _part_facts(space, made, source, target)
        subjects.move(space, Layer.MEMORIES, moved["memory"], source.pk)
        slots.rebuild(moved["memory"], slots.words_of(space))
        _part_rejections(made, source, target, going)
        subjects.recount_speakers(space, source.pk, target.pk)
        learn_again(moved["session"])
        counts = {kind: len(ids) for kind, ids in moved.items()}
        counts["feature"] = features.separate(scope, made, vectors)
        SubjectMerge.objects.filter(pk=made.pk).update(undone_at=timezone.now())
        tell(scope, made, "separate", counts)
    return made


def _check(made: SubjectMerge) -> None:
    now = SubjectMerge.objects.select_for_update(of=("self",)).get(pk=made.pk)
    if now.undone_at is not None:
        raise Conflict("They are two again already.", "stale", "id")
    later = SubjectMerge.objects.filter(source=made.target_id, undone_at=None, pk__gt=made.pk)
    if later.exists():
        raise Conflict(f"{made.target} was merged itself since: undo that first.", "stale", "id")


def _told(made: SubjectMerge) -> Q:
    """The facts that were read from what was said about the source."""
    return Q(pk__in=made.ids("fact")) | Q(session__in=made.ids("session"))


def _memories(made: SubjectMerge, source: Subject, target: Subject) -> Ids:
    """Those that went over, what people reworded since, and what the source's own words alone
    carry."""
    rows = Memory.objects.filter(subject=target)
    going = set(rows.filter(pk__in=made.ids("memory")).values_list("pk", flat=True))
    read = Fact.objects.filter(_told(made), memory__subject=target)
    others = Fact.objects.filter(memory__subject=target).exclude(_told(made))
    own = rows.filter(pk__in=read.values("memory")).exclude(pk__in=others.values("memory"))
    newest = found = going | set(own.values_list("pk", flat=True))
    while newest:
        by_hand = Supersession.objects.filter(Q(rule=EDIT) | Q(note=IN_OTHER_WORDS), old__in=newest)
        reworded = rows.filter(pk__in=by_hand.filter(state=State.APPLIED).values("new"))
        newest = set(reworded.values_list("pk", flat=True)) - found
        found |= newest
    return found


def _part_decisions(scope: Scope, space: WorkspaceIndex, going: Ids, target: Subject) -> None:
    """A memory that goes and one that stays replace each other no more."""
    across = Q(old__in=going) & ~Q(new__in=going) | Q(new__in=going) & ~Q(old__in=going)
    waiting_or_done = Supersession.objects.filter(across, state__in=[State.APPLIED, State.PENDING])
    for found in waiting_or_done.select_for_update(of=("self",)).order_by("-pk"):
        old, new = locked(scope, found.old_id), locked(scope, found.new_id)
        if old.superseded_by_id == new.pk:
            unlink(old, new)
            if old.forgotten_at is None and old.held_at is None:
                revive(space, old, Liveness.Cause.UNDONE)
        if new.held_at is not None:
            Memory.objects.filter(pk=new.pk).update(held_at=None)
            revive(space, new, Liveness.Cause.APPROVED)
        if not new.supersedes.exists():
            Memory.objects.filter(pk=new.pk).update(version=1)  # it begins a chain of its own
        state = State.UNDONE if found.state == State.APPLIED else State.REJECTED
        decide(scope, found, state, "separate", "they are about two subjects")


def _part_facts(
    space: WorkspaceIndex, made: SubjectMerge, source: Subject, target: Subject
) -> list[uuid.UUID]:
    """Each fact is about whom it was told of. A live memory that stands on facts of both is
    believed of both; what is believed no more keeps its facts, and so do notes and edits."""
    told, facts = _told(made), Fact.objects.all()
    heard_since = facts.filter(LIVE, memory__subject=source, subject=target).exclude(told)
    staying = list(heard_since.exclude(session=None).select_related("memory"))
    leaving = list(facts.filter(LIVE, told, memory__subject=target).select_related("memory"))
    home = Q(memory__subject=source) | Q(memory=None) & told
    own = facts.filter(home, subject=target).exclude(pk__in=[fact.pk for fact in staying])
    moved = [*own.values_list("pk", flat=True), *(fact.pk for fact in leaving)]
    facts.filter(pk__in=moved).update(subject=source)
    _believe_apart(space, staying, target)
    _believe_apart(space, leaving, source)
    return moved


def _believe_apart(space: WorkspaceIndex, facts: Iterable[Fact], subject: Subject) -> None:
    """Give these facts, which stand under memories of the other one, memories about `subject`."""
    for memory, own in groupby(sorted(facts, key=_memory_id), key=lambda fact: fact.memory):
        ids = [fact.pk for fact in own]
        if memory is not None:
            Memory.objects.all().add_support({memory.pk: -len(ids)})
            made = _copy(space, memory, subject, len(ids))
            Fact.objects.filter(pk__in=ids).update(memory=made)


def _memory_id(fact: Fact) -> str:
    return str(fact.memory_id)


def _copy(space: WorkspaceIndex, memory: Memory, subject: Subject, facts: int) -> Memory:
    inherited = {name: getattr(memory, name) for name in (*INHERITED, *COPIED)}
    made = Memory(**inherited | {"subject_id": subject.pk, "source_count": facts, "pinned": False})
    made.slots = slots.of_memory(made, slots.words_of(space))
    made.save(force_insert=True)
    begin(made, Liveness.Cause.CREATED)
    entries.write(space, [entries.memory_item(made)], None)
    return made


def _part_rejections(made: SubjectMerge, source: Subject, target: Subject, going: Ids) -> None:
    known = Rejection.objects.filter(subject=source).values_list("fingerprint", flat=True)
    have = {bytes(each) for each in known}
    shared = made.ids(SHARED)
    gone_over = Q(pk__in=[*shared, *made.ids("rejection")]) | Q(memory__in=going)
    for found in Rejection.objects.filter(gone_over, subject=target):
        if bytes(found.fingerprint) in have:
            continue
        if found.pk in shared:
            found.pk, found._state.adding = uuid7(), True
        found.subject = source
        found.save()
