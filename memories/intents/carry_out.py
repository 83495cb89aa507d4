"""Orders done: what is meant is forgotten with its words, corrected, or kept."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

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
from memories.resolve.file_cases import CaseAbout, NewItem, open_case
from memories.resolve.review_policy import Policy
from memories.review.edit import EDIT, new_version
from memories.review.forget import forget_locked, locked, reject_claim
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
LEFT = "left as it is"


@dataclass(frozen=True, slots=True)
class OrderPlan:
    """What an order comes to: memories and the places that say it, or, of a correction, the one
    memory and what it should say, with the vectors of these words."""

    intent: Intent
    space: WorkspaceIndex
    target: Target
    content: str = ""
    vectors: list[entries.Vectors] | None = None


def carry_out(scope: Scope, intent: Intent) -> Intent:
    """Do what somebody said to the memory, find nothing, or open a case. `scope` sees what the
    agent sees to whom it was said. Done twice, it is done once."""
    if intent.kind == Kind.REMEMBER:
        return _note_kept(scope, intent)
    spoken = spoken_in(intent)
    if spoken is None:
        return _end(scope, intent, State.NOTHING_FOUND)
    reach = OrderReach.of(scope, intent)
    plan = _plan(reach, spoken)
    if plan is None:
        return _end(scope, intent, State.NOTHING_FOUND)
    if reason := _why_to_ask(reach, plan.target):
        return _ask(scope, intent, plan.target.memories, reason)
    plan = _embedded(plan)
    made: list[MaskedSpan] = []
    with transaction.atomic(durable=True):
        workspace_index.lock(plan.space)
        if _take(intent):
            made = do_locked(scope, plan)
    masks.fill(plan.space, made)
    return intent


def plan_decided(scope: Scope, intent_id: uuid.UUID, kept: Collection[uuid.UUID] = ()) -> OrderPlan:
    """What becomes of an order that waits, now that a person says so: all that it named but for the
    memories that are `kept`. Conflict where it does not wait, or what it named is gone."""
    intent = waiting_intent(scope, intent_id)
    reach = OrderReach.of(scope, intent)
    if intent.kind == Kind.CORRECT:
        spoken = spoken_in(intent)
        plan = _plan(reach, spoken) if spoken else None
        if plan is None:
            raise Conflict("What it would correct is not there any more.", "stale", "intent")
        return _embedded(plan)
    named = _heads_of(scope, intent.memory_ids)
    memories = [memory for memory in named if memory.pk not in kept]
    return OrderPlan(intent, reach.space, Target(memories, reach.spans_of(memories)))


def do_locked(scope: Scope, plan: OrderPlan) -> list[MaskedSpan]:
    """Carry out a plan within the caller's transaction, which holds the workspace's lock; what was
    masked, of which the caller fills the vectors afterwards."""
    return _correct(scope, plan) if plan.content else _forget(scope, plan)


def leave_locked(scope: Scope, intent: Intent) -> None:
    """A person decided that an order which waited is not done."""
    intent.memory_ids, intent.reason = [], LEFT
    _end(scope, intent, State.UNDONE)


def waiting_intent(scope: Scope, intent_id: uuid.UUID, *, lock: bool = False) -> Intent:
    """An order that waits for a person; Conflict where it does not."""
    rows = Intent.objects.select_related("episode", "session", "subject")
    if lock:
        rows = rows.select_for_update(of=("self",))
    intent = rows.filter(pk=intent_id, workspace_id=scope.workspace_id).first()
    if intent is None or intent.state != State.CASE:
        state = intent.state if intent else "gone"
        raise Conflict(f"An intent that is {state} does not wait.", "stale", "intent")
    return intent


def _plan(reach: OrderReach, spoken: SpokenIntent) -> OrderPlan | None:
    """None where there is nothing that it could mean."""
    intent = reach.intent
    if intent.kind == Kind.CORRECT:
        memory, content = _correction(reach, spoken)
        return OrderPlan(intent, reach.space, Target([memory]), content) if memory else None
    target = target_of(reach, spoken)
    if not target or (intent.kind == Kind.RETRACT and not target.memories):
        return None
    return OrderPlan(intent, reach.space, target)


def _embedded(plan: OrderPlan) -> OrderPlan:
    if not plan.content:
        return plan
    return replace(plan, vectors=due.embed_or_leave(plan.space, [entries.texts_of(plan.content)]))


def _heads_of(scope: Scope, ids: Sequence[uuid.UUID]) -> list[Memory]:
    """What these memories have become, as far as it is believed."""
    heads: dict[uuid.UUID, Memory] = {}
    wanted = set(ids)
    while wanted:
        rows = list(Memory.objects.visible_to(scope).filter(pk__in=wanted))
        heads |= {row.pk: row for row in rows if row.is_live}
        wanted = {row.superseded_by_id for row in rows if row.superseded_by_id} - heads.keys()
    return list(heads.values())


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


def _forget(scope: Scope, plan: OrderPlan) -> list[MaskedSpan]:
    """The memories end with all their versions; where it shall not be told again, the words are
    masked, and those of the order that name it; what is never to be mentioned is not learned
    again."""
    intent, forgotten = plan.intent, []
    for memory in plan.target.memories:
        row = locked(scope, memory.pk)
        if row.forgotten_at is None:
            forget_locked(scope, row, REASONS.get(Kind(intent.kind), "asked to"))
            forgotten.append(row.pk)
            if intent.kind == Kind.NEVER:
                reject_claim(scope, row, REASONS[Kind.NEVER])
    made = _mask(plan.space, intent, plan.target, forgotten) if intent.kind in HIDING else []
    intent.memory_ids = forgotten
    _end(scope, intent, State.DONE)
    return made


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


def _correct(scope: Scope, plan: OrderPlan) -> list[MaskedSpan]:
    intent, [memory] = plan.intent, plan.target.memories
    old = locked(scope, memory.pk)
    if old.superseded_by_id is not None or old.forgotten_at is not None:
        _end(scope, intent, State.NOTHING_FOUND)
        return []
    new = new_version(scope, plan.space, old, plan.content, plan.vectors)
    if old.event_date is not None:
        at = intent.episode.occurred_at
        new.event_date = dates.event_date(plan.content, at) or old.event_date
        Memory.objects.filter(pk=new.pk).update(event_date=new.event_date)
        entries.change_times(new)
    intent.supersession = Supersession.objects.filter(old=old, new=new, rule=EDIT).first()
    intent.memory_ids = [new.pk]
    _end(scope, intent, State.DONE)
    return []


def _correction(reach: OrderReach, spoken: SpokenIntent) -> tuple[Memory | None, str]:
    """The newest memory in which the value can stand: of this conversation, or with all the
    words."""
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
            return memory, content
    return None, ""


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
