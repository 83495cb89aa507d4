"""Orders done: what is meant is forgotten with its words, corrected, or kept."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from memories import masks
from memories.english import corrections, dates, topics
from memories.english.spoken_intents import SpokenIntent
from memories.errors import Conflict
from memories.index import due, entries, workspace_index
from memories.intents.recognise import spoken_in
from memories.intents.targets import OWN_WORDS, OrderReach, Span, Target, target_of
from memories.masks import MaskReason
from memories.models import (
    Case,
    Intent,
    MaskedSpan,
    Memory,
    Supersession,
    Visibility,
    WorkspaceIndex,
    versions_of,
)
from memories.resolve.cases import CaseAbout, NewItem, open_case
from memories.resolve.review_policy import Policy
from memories.review.edit import EDIT, new_version
from memories.review.forget import forget_locked, locked
from workspaces.models import AuditEntry
from workspaces.scope import Scope

Kind, State = Intent.Kind, Intent.State
MOST = 5  # memories that one sentence may end
HIDING = (Kind.FORGET, Kind.NEVER)
REASONS = {
    Kind.FORGET: "asked to forget",
    Kind.NEVER: "asked never to mention",
    Kind.RETRACT: "taken back",
}


@dataclass(frozen=True, slots=True)
class Correction:
    """A memory, and what it should say."""

    memory: Memory
    content: str


def carry_out(scope: Scope, intent: Intent) -> Intent:
    """Do what somebody said to the memory, find nothing, or open a case. `scope` sees what the agent
    sees to whom it was said. Done twice, it is done once."""
    if intent.kind == Kind.REMEMBER:
        return _note_kept(scope, intent)
    spoken = spoken_in(intent)
    if spoken is None:
        return _end(scope, intent, State.NOTHING_FOUND)
    reach = OrderReach.of(scope, intent)
    if intent.kind == Kind.CORRECT:
        return _correct(scope, intent, reach, spoken)
    target = target_of(reach, spoken)
    if not target or (intent.kind == Kind.RETRACT and not target.memories):
        return _end(scope, intent, State.NOTHING_FOUND)
    if reason := _why_to_ask(reach, target):
        return _ask(scope, intent, target.memories, reason)
    return _forget(scope, intent, target)


def do_anyway(scope: Scope, intent_id: uuid.UUID) -> Intent:
    """A person decided that an order which waited is done: the memories it named are forgotten.
    Conflict where it does not wait."""
    intent = Intent.objects.select_related("episode", "session", "subject").get(
        pk=intent_id, workspace_id=scope.workspace_id
    )
    if intent.state != State.CASE:
        raise Conflict(f"An intent that is {intent.state} does not wait.", "stale", "state")
    spoken, reach = spoken_in(intent), OrderReach.of(scope, intent)
    memories = list(Memory.objects.visible_to(scope).live().filter(pk__in=intent.memory_ids))
    if intent.kind == Kind.CORRECT and spoken is not None:
        return _correct(scope, intent, reach, spoken, is_decided=True)
    return _forget(scope, intent, Target(memories, reach.spans_of(memories)))


def leave(scope: Scope, intent_id: uuid.UUID) -> None:
    """A person decided that an order which waited is not done."""
    rows = Intent.objects.filter(pk=intent_id, workspace_id=scope.workspace_id, state=State.CASE)
    rows.update(
        state=State.NOTHING_FOUND, memory_ids=[], decided_by=scope.actor, decided_at=timezone.now()
    )


def _why_to_ask(reach: OrderReach, target: Target) -> str:
    """Why this is not done at once; "" where it is its giver's own to order, and surely meant."""
    episode, memories = reach.intent.episode, target.memories
    if not reach.intent.subject_id and any(memory.subject_id for memory in memories):
        return "nobody is named"
    if len(memories) > MOST:
        return f"{len(memories)} memories at once"
    if not target.is_sure:
        return "not surely meant"
    policy = Policy.of(reach.space.review)
    for memory in memories:
        if memory.pinned:
            return "pinned"
        if memory.visibility != Visibility.PRIVATE:
            return "the team's"
        if memory.category in policy.categories:
            return "protected"
        told = [one.episode for one in reach.cited.get(memory.pk, ())]
        if any(one.kind not in OWN_WORDS or one.author != episode.author for one in told):
            return "somebody else's words"
    subject = reach.intent.subject
    if episode.author and subject and subject.name and not _is_same(episode.author, subject.name):
        return "somebody else asks"
    return ""


def _is_same(author: str, name: str) -> bool:
    one, other = author.casefold().split(), name.casefold().split()
    return bool(set(one) & set(other))


def _forget(scope: Scope, intent: Intent, target: Target) -> Intent:
    """The memories end with all their versions; where it shall not be told again, the words are
    masked, and those of the order that name it."""
    space = workspace_index.index_of(intent.workspace_id)
    made: list[MaskedSpan] = []
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        if not _take(intent):
            return intent
        forgotten = []
        for memory in target.memories:
            row = locked(scope, memory.pk)
            if row.forgotten_at is None:
                forget_locked(scope, row, REASONS.get(Kind(intent.kind), "asked to"))
                forgotten.append(row.pk)
        if intent.kind in HIDING:
            made = _mask(space, intent, target, forgotten)
        intent.memory_ids = forgotten
        _end(scope, intent, State.DONE)
    masks.fill(space, made)
    return intent


def _mask(
    space: WorkspaceIndex, intent: Intent, target: Target, forgotten: Sequence[uuid.UUID]
) -> list[MaskedSpan]:
    why = MaskReason(MaskedSpan.Kind.FORGOTTEN, str(intent.kind), intent.pk)
    spans: dict[uuid.UUID, list[Span]] = {pk: list(own) for pk, own in target.spans.items()}
    if intent.topic_start is not None and intent.topic_end is not None:
        own = (intent.topic_start, intent.topic_end)
        spans.setdefault(intent.episode_id, []).append(own)
    made = masks.mask_episodes(space, spans, why)
    every = {version for pk in forgotten for version in versions_of(pk)}
    return made + masks.mask_memories(space, every, why)


def _correct(
    scope: Scope,
    intent: Intent,
    reach: OrderReach,
    spoken: SpokenIntent,
    *,
    is_decided: bool = False,
) -> Intent:
    found = _correction(reach, spoken)
    if found is None:
        return _end(scope, intent, State.NOTHING_FOUND)
    target = Target([found.memory])
    if not is_decided and (reason := _why_to_ask(reach, target)):
        return _ask(scope, intent, [found.memory], reason)
    vectors = due.embed_or_leave(reach.space, [entries.texts_of(found.content)])
    with transaction.atomic(durable=True):
        workspace_index.lock(reach.space)
        if not _take(intent):
            return intent
        old = locked(scope, found.memory.pk)
        if old.superseded_by_id is not None or old.forgotten_at is not None:
            return _end(scope, intent, State.NOTHING_FOUND)
        new = new_version(scope, reach.space, old, found.content, vectors)
        if old.event_date is not None:
            at = intent.episode.occurred_at
            new.event_date = dates.event_date(found.content, at) or old.event_date
            Memory.objects.filter(pk=new.pk).update(event_date=new.event_date)
            entries.change_times(new)
        decision = Supersession.objects.filter(old=old, new=new, rule=EDIT)
        intent.supersession = decision.first()
        intent.memory_ids = [new.pk]
        _end(scope, intent, State.DONE)
    return intent


def _correction(reach: OrderReach, spoken: SpokenIntent) -> Correction | None:
    """The newest memory in which the value can stand: of this conversation, or with all the words."""
    here = [one for one in reach.sentences if one.is_here and one.is_own]
    recent = [memory for one in here[:12] for memory in reach.citing(one)]
    others = list(reach.memories.values()) if spoken.old or spoken.topic else []
    wanted: list[str] = []
    if spoken.topic:
        topic = reach.intent.episode.content[slice(*spoken.topic)]
        if spoken.is_clause:
            topic = topic.replace(spoken.new, "")
        wanted = topics.meaningful(topic)
    for memory in dict.fromkeys([*recent, *others]):
        if wanted and topics.coverage(wanted, topics.words_of(memory.content)) < 0.5:
            continue
        content = corrections.with_value(
            memory.content, spoken.old, spoken.new, is_named=bool(wanted)
        )
        if content and content != memory.content:
            return Correction(memory, content)
    return None


def _note_kept(scope: Scope, intent: Intent) -> Intent:
    """What was to be remembered is among what the session believes: which memories it is."""
    cited = (
        Memory.objects.visible_to(scope)
        .live()
        .filter(
            facts__citations__episode=intent.episode_id,
            facts__citations__start__lt=intent.end,
            facts__citations__end__gt=intent.start,
        )
    )
    intent.memory_ids = list(dict.fromkeys(cited.order_by("pk").values_list("pk", flat=True)))
    return _end(scope, intent, State.DONE if intent.memory_ids else State.NOTHING_FOUND)


def _ask(scope: Scope, intent: Intent, memories: Sequence[Memory], reason: str) -> Intent:
    """Open a case; nothing is done before somebody decides."""
    with transaction.atomic(durable=True):
        if not _take(intent):
            return intent
        at = intent.episode.occurred_at
        items = [NewItem(at, f"intent:{intent.kind}", intent_id=intent.pk)]
        items += [NewItem(memory.valid_from or memory.created_at, "intent", memory_id=memory.pk)
                  for memory in memories[:MOST * 2]]  # fmt: skip
        about = CaseAbout(intent.workspace_id, intent.subject_id, "intent", intent.pk)
        intent.case_id = open_case(about, Case.Kind.INTENT, items, risk=0.8)
        intent.memory_ids, intent.reason = [memory.pk for memory in memories], reason
        _end(scope, intent, State.CASE)
    return intent


def _take(intent: Intent) -> bool:
    """Whether it still waits for this; the row is locked until the transaction ends."""
    rows = Intent.objects.select_for_update(of=("self",)).filter(pk=intent.pk)
    return rows.filter(state__in=[State.HEARD, State.CASE]).exists()


def _end(scope: Scope, intent: Intent, state: str) -> Intent:
    intent.state, intent.decided_by, intent.decided_at = state, scope.actor, timezone.now()
    intent.save(
        update_fields=[
            "state", "memory_ids", "supersession", "case_id", "reason", "decided_by", "decided_at",
            "updated_at",
        ]
    )  # fmt: skip
    AuditEntry.line(
        scope.workspace_id, scope.actor, intent.kind, intent, subject_id=intent.subject_id,
        after={"state": str(state), "memories": [str(pk) for pk in intent.memory_ids]},
    ).save()  # fmt: skip
    return intent
