"""Words of what is forgotten, taken out of all that tells them: the messages and documents that it
stands on, and whatever else tells the same of the same person. What takes them names its cause, by
which they come back.

They are looked for without the workspace's lock, once the memory is forgotten: what is told from
then on, whoever tells it finds forgotten. A `LongJob` that commits with the forgetting says that
they are due until all are gone, and is how whoever comes after a dead process goes on.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from memories.belief.resolve.forgotten_words import ForgottenWords, ToldAgain, places_in, ways_to_call
from memories.belief.resolve.rejections import PRIVATE, kind_of
from memories.index import due_vectors, workspace_index
from memories.index.people_by_name import names_of
from memories.models import (
    Case,
    Citation,
    Document,
    Episode,
    Intent,
    LongJob,
    MaskedSpan,
    Memory,
    Revision,
    WorkspaceIndex,
    versions_of,
)
from memories.privacy import masks
from memories.privacy.masks import MaskReason
from memories.reading.guard.masked_text import is_masked
from workspaces.keys import narrowed
from workspaces.models import ApiKey, Subject
from workspaces.scope import Scope, worker_scope

MOST_MESSAGES, MOST_DOCUMENTS = 800, 100  # of one person that are looked through
SHORTEST = 3  # characters of a word that texts are looked through for
BATCH, DOCUMENTS = 100, 5  # messages, and revisions, whose words go in one transaction

Place = tuple[int, int]
Places = dict[uuid.UUID, list[Place]]
Models = Memory | Intent | Case
KINDS = (LongJob.Kind.MASKING, LongJob.Kind.UNMASKING)
Masking = Callable[[WorkspaceIndex, Places, MaskReason], list[MaskedSpan]]


def stood_on(ids: Collection[uuid.UUID]) -> tuple[Places, Places]:
    """The places in messages, and in revisions of documents, that these memories stand on."""
    said: Places = {}
    written: Places = {}
    for one in Citation.objects.filter(fact__memory__in=ids):
        if one.episode_id is not None:
            said.setdefault(one.episode_id, []).append((one.start, one.end))
        elif one.revision_id is not None:
            written.setdefault(one.revision_id, []).append((one.start, one.end))
    return said, written


def of_asker(scope: Scope, said: Places, written: Places) -> tuple[Places, Places]:
    """Those of these places whose words are the asker's to take: messages and documents that it
    sees, of an agent's key those of its own agent."""
    if not scope.is_narrow:
        return said, written
    heard = Episode.objects.visible_to(scope).filter(pk__in=said)
    seen = Document.objects.visible_to(scope)
    own = seen.filter(agent=scope.agent_id) if scope.is_bound else seen
    read = Revision.objects.filter(pk__in=written, document__in=own.values("pk"))
    return (
        {pk: said[pk] for pk in heard.values_list("pk", flat=True)},
        {pk: written[pk] for pk in read.values_list("pk", flat=True)},
    )


def what_is_forgotten(
    spans: Mapping[uuid.UUID, Sequence[Place]],
    memories: Collection[uuid.UUID],
    gone: Iterable[str] = (),
) -> list[ForgottenWords]:
    """The statements at these places of messages, and of these memories, with those whose words are
    `gone` already."""
    rows = Episode.objects.filter(pk__in=spans)
    said = [row.content[start:end] for row in rows for start, end in spans[row.pk]]
    said += Memory.objects.filter(pk__in=memories).values_list("content", flat=True)
    return [ForgottenWords.of(words) for words in dict.fromkeys([*said, *gone]) if not is_masked(words)]


def told_in(rows: QuerySet[Episode], forgotten: Sequence[ForgottenWords], subject: Subject) -> Places:
    """The places in messages that tell the same of this subject, by episode; the newest are looked
    through first. In words of a person "I" is whoever speaks."""
    near = _holding(forgotten, "content")
    if near is None:
        return {}
    told: Places = {}
    for row in rows.filter(near).order_by("-pk")[:MOST_MESSAGES]:
        is_his = row.kind in Episode.OF_PEOPLE
        if places := places_in(row.content, forgotten, subject.external_id, is_his=is_his):
            told[row.pk] = _spans(places)
    return told


def in_documents(rows: QuerySet[Revision], forgotten: Sequence[ForgottenWords]) -> Places:
    """The sentences of revisions that tell the same, all of which are about whom it is about; one
    that was a message changes with it."""
    near = _holding(forgotten, "text")
    if near is None:
        return {}
    rows = rows.filter(near, document__episode=None)
    return {
        row.pk: _spans(places)
        for row in rows.order_by("-pk")[:MOST_DOCUMENTS]
        if (places := places_in(row.text, forgotten, is_his=True))
    }


def told_of(
    scope: Scope, memory: Memory, versions: Collection[uuid.UUID], due_since: datetime
) -> tuple[Places, Places]:
    """The places in messages and documents of the asker that tell what these versions say: those
    that they stand on, in whichever revision, and all else of the same person.

    Words that went before `due_since` are looked for only for who may see them: where the same
    words went would tell them to anybody else.
    """
    said, written = of_asker(scope, *stood_on(versions))
    gone = MaskedSpan.objects.filter(memory__in=versions, place="content", kind=MaskedSpan.Kind.FORGOTTEN)
    if not scope.may_unmask:
        gone = gone.filter(created_at__gte=due_since)
    words = gone.order_by("pk").values_list("words", flat=True)
    forgotten = what_is_forgotten(said, versions, words)
    stood = Revision.objects.filter(pk__in=written).values("document")
    about, again = Q(document__in=stood), Places()
    if memory.subject is not None:
        own = Document.objects.visible_to(scope).filter(subject=memory.subject_id)
        about |= Q(document__in=own.values("pk"))
        heard = Episode.objects.visible_to(scope).filter(subject=memory.subject_id)
        again = told_in(heard, forgotten, memory.subject)
    in_revisions = in_documents(Revision.objects.filter(about), forgotten)
    if memory.subject is not None and kind_of(memory.forget_reason) == PRIVATE:
        # What is about nobody in particular may be about whom it names.
        space = workspace_index.index_of(memory.workspace_id)
        names = ways_to_call(names_of(space, memory.subject.external_id))
        nobodys = Document.objects.visible_to(scope).filter(subject=None)
        rows = Revision.objects.filter(document__in=nobodys.values("pk"))
        if names:
            rows = rows.filter(Q(*(("text__icontains", n) for n in names), _connector=Q.OR))
            of_them = [replace(words, names=names) for words in forgotten]
            in_revisions |= in_documents(rows, of_them)
    for known, more in ((said, again), (written, in_revisions)):
        for pk, places in more.items():
            known.setdefault(pk, []).extend(places)
    return of_asker(scope, said, written)


def leave_due(scope: Scope, row: Models, total: int | None = None) -> None:
    """Note, with the caller's commit, that words of messages and documents go with this row: a
    forgotten memory, an order that is done, or a case in which one is to be. `total`: of how many
    texts, where they are known."""
    _leave(scope, row, LongJob.Kind.MASKING, total)


def leave_due_back(scope: Scope, row: Memory | Intent) -> None:
    """Note, with the caller's commit, that words of messages come back with this row."""
    _leave(scope, row, LongJob.Kind.UNMASKING)


def _leave(scope: Scope, row: Models, kind: LongJob.Kind, total: int | None = None) -> None:
    drop_due(row.pk)
    LongJob.objects.create(
        kind=kind,
        workspace_id=row.workspace_id,
        item=row.pk,
        unit="texts",
        total=total,
        requested_by=scope.actor,
    )


def drop_due(item: uuid.UUID) -> None:
    """Take no more words out or back for the sake of this row."""
    LongJob.objects.filter(kind__in=KINDS, item=item).delete()


def job_of(kind: LongJob.Kind, item: uuid.UUID) -> QuerySet[LongJob]:
    """The job of this kind that is due for a row: none, once somebody began anew."""
    rows = LongJob.objects.filter(kind=kind, item=item)
    return LongJob.objects.filter(pk__in=list(rows.values_list("pk", flat=True)))


def advanced(job: QuerySet[LongJob], number: int) -> bool:
    """Count `number` more texts, in the caller's transaction; False where it is due no more."""
    now, running = timezone.now(), LongJob.State.RUNNING
    done = F("done") + number
    return bool(job.update(done=done, updated_at=now, state=running, finished_at=None, error=""))


def take_words(scope: Scope, space: WorkspaceIndex, memory_id: uuid.UUID) -> None:
    """Take the words that are due with a forgotten memory, in steps, as long as nobody restored it
    or began anew meanwhile. What is masked already stays as it is."""
    own = job_of(LongJob.Kind.MASKING, memory_id)
    job = own.first()
    if job is None:
        return
    rows = Memory.objects.select_related("subject").filter(forgotten_at__isnull=False)
    memory = rows.filter(pk=memory_id).first()
    if memory is None:
        own.delete()
        return
    kind = kind_of(memory.forget_reason)
    versions = versions_of(memory_id) if kind == PRIVATE else [memory_id]
    said, written = told_of(scope, memory, versions, job.created_at)
    why = MaskReason(MaskedSpan.Kind.FORGOTTEN, kind, memory_id)
    if mask_in_steps(space, said, written, why, partial(advanced, own)):
        own.delete()


def mask_in_steps(
    space: WorkspaceIndex,
    said: Places,
    written: Places,
    why: MaskReason,
    is_due: Callable[[int], bool],
) -> bool:
    """Mask these places, each batch in a transaction of its own under the workspace's lock, as long
    as `is_due` says so there. Return whether all of them were."""
    for mask, some in steps_of(said, written):
        with transaction.atomic(durable=True):
            workspace_index.lock(space)
            if not is_due(len(some)):
                return False
            made = mask(space, some, why)
        masks.fill(space, made)
    return True


def steps_of(said: Places, written: Places) -> list[tuple[Masking, Places]]:
    """Return steps of masking, each of so few texts that a transaction with their words is
    short."""
    steps: list[tuple[Masking, Places]] = []
    steps += [(masks.mask_episodes, some) for some in in_batches(said, BATCH)]
    steps += [(masks.mask_documents, some) for some in in_batches(written, DOCUMENTS)]
    return steps


def in_batches(spans: Mapping[uuid.UUID, Sequence[Place]], most: int) -> Iterator[Places]:
    """Split places into batches, each of so few texts that a transaction with their words is
    short."""
    ids = sorted(spans)
    for start in range(0, len(ids), most):
        yield {pk: list(spans[pk]) for pk in ids[start : start + most]}


def left_behind() -> QuerySet[LongJob]:
    """The words that are to go or to come back and that nobody is at."""
    rows = LongJob.objects.filter(kind__in=KINDS)
    return rows.exclude(pk__in=LongJob.objects.running().values("pk"))


def asker_of(job: LongJob, workspace_id: uuid.UUID) -> Scope:
    """The server, with the rights of whoever asked for it."""
    scope = worker_scope(workspace_id, job.requested_by)
    kind, _, key_id = job.requested_by.partition(":")
    keys = ApiKey.objects.filter(workspace=workspace_id).select_related("agent")
    for key in keys.filter(pk=key_id) if kind == "key" else ():
        scope = narrowed(scope, key)
    return scope


def go_on(scope: Scope, space: WorkspaceIndex, memory_id: uuid.UUID) -> None:
    """Take the words out or back that a dead process left with a memory."""
    memory = Memory.objects.filter(pk=memory_id).first()
    if memory is None:
        drop_due(memory_id)
        return
    take_words(scope, space, memory_id)
    give_back_words(scope, space, taken_for(memory), memory_id)


def taken_by(memory_id: uuid.UUID) -> QuerySet[MaskedSpan]:
    """The words that went because this memory was forgotten."""
    return MaskedSpan.objects.filter(kind=MaskedSpan.Kind.FORGOTTEN, cause=memory_id)


def give_back_locked(
    scope: Scope,
    space: WorkspaceIndex,
    memory: Memory,
    taken: QuerySet[MaskedSpan] | None = None,
) -> list[uuid.UUID]:
    """Put the words of a locked memory and of documents back, and take no more: all that was
    `taken` by it, or this; the rows that they are of. Those of messages the caller gives back once
    it has committed. Raises Forbidden as `masks.unmask` does."""
    drop_due(memory.pk)
    rows = taken_by(memory.pk) if taken is None else taken
    masks.refuse_unmasking(scope, rows)
    if rows.exclude(episode=None).exists():
        leave_due_back(scope, memory)
    touched = masks.unmask(scope, space, rows.filter(episode=None))
    memory.refresh_from_db(fields=["content", "entities"])
    return touched


def give_back_words(scope: Scope, space: WorkspaceIndex, taken: QuerySet[MaskedSpan], item: uuid.UUID) -> None:
    """Put back the words of messages that are due back with this memory or order, likewise: each
    batch in a transaction of its own, as long as nobody began anew. Whoever comes after a dead
    process goes on. Raises Forbidden as `masks.unmask` does."""
    own = job_of(LongJob.Kind.UNMASKING, item)
    if own.exists() and give_back_in_steps(scope, space, taken, partial(advanced, own)):
        own.delete()


def give_back_in_steps(
    scope: Scope,
    space: WorkspaceIndex,
    taken: QuerySet[MaskedSpan],
    is_due: Callable[[int], bool],
) -> bool:
    """Put words of messages back in steps, as long as `is_due` says so in each. Return whether all
    are back."""
    while some := list(taken.exclude(episode=None).order_by("episode_id", "pk")[:BATCH]):
        episodes = {each.episode_id for each in some}
        with transaction.atomic(durable=True):
            workspace_index.lock(space)
            if not is_due(len(episodes)):
                return False
            touched = masks.unmask(scope, space, taken.filter(episode__in=episodes))
        due_vectors.fill(space, touched)
    return True


def is_due_back(memory: Memory) -> bool:
    """Tell whether a restore ended before all words of messages were back."""
    return job_of(LongJob.Kind.UNMASKING, memory.pk).exists()


def taken_for(memory: Memory) -> QuerySet[MaskedSpan]:
    """Return the masks made for a memory: because it was forgotten, or by an order that named it,
    without the words of other memories."""
    every = versions_of(memory.pk)
    own = Q(memory__in=every) | Q(fact__memory__in=every)
    forgotten = MaskedSpan.objects.filter(workspace_id=memory.workspace_id, kind=MaskedSpan.Kind.FORGOTTEN)
    orders = set(forgotten.filter(own).values_list("cause", flat=True)) - {memory.pk, None}
    # Its own words may be back, and those of messages not yet.
    named = Intent.objects.filter(workspace=memory.workspace_id, memory_ids__overlap=every)
    orders.update(named.filter(state=Intent.State.DONE).values_list("pk", flat=True))
    said, written = stood_on(every)
    told = Q(episode__in=said) | Q(revision__in=written) | own
    return forgotten.filter(Q(cause=memory.pk) | Q(told, cause__in=orders))


def _holding(forgotten: Sequence[ForgottenWords], column: str) -> Q | None:
    """Texts that hold a word of what is forgotten; None where it has none to look for."""
    words = {one.rarest for one in forgotten if len(one.rarest) >= SHORTEST}
    near = Q()
    for word in words:
        near |= Q(**{f"{column}__icontains": word})
    return near if words else None


def _spans(places: Sequence[ToldAgain]) -> list[Place]:
    return [(place.start, place.end) for place in places]
