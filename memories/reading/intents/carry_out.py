"""Orders carried out: what is meant is forgotten with its words, wherever else it is told, or is
corrected, or kept; and orders undone."""

import uuid
from collections.abc import Collection
from dataclasses import replace
from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.belief.resolve.file_cases import CaseAbout, NewItem, open_case
from memories.belief.resolve.protected_memories import Policy
from memories.belief.review import taken_words
from memories.belief.review.edit import EDIT, new_version
from memories.belief.review.forget import forget_locked, locked, reject_claim
from memories.belief.review.undo import believe_anew, undo_locked
from memories.errors import Conflict, needed
from memories.index import due_vectors, entries, workspace_index
from memories.language.english import dates
from memories.language.english.order_evidence import evidence_of
from memories.language.english.same_thing import ToldThing
from memories.language.english.spoken_intents import SpokenIntent
from memories.models import (
    Case,
    Episode,
    Intent,
    LongJob,
    MaskedSpan,
    Memory,
    MemoryPeriod,
    Supersession,
    Visibility,
    WorkspaceIndex,
    versions_of,
)
from memories.privacy import masks
from memories.reading.extraction.fallback_chain import FallbackChain
from memories.reading.intents import targets
from memories.reading.intents.order_words import (
    HIDING,
    OrderPlan,
    give_back,
    give_back_due,
    looked_for,
    mask_ahead,
    mask_rest_locked,
    masks_of,
    take_again,
    why_of,
    why_withheld,
    withheld_of,
)
from memories.reading.intents.other_words import OtherWords, echoes, of_that_name, other_words
from memories.reading.intents.recognise import spoken_in
from memories.reading.intents.targets import OrderReach, SaidSentence, Target, choose, target_of, weighed
from workspaces.scope import Scope, worker_scope

Kind, State = Intent.Kind, Intent.State
MOST = 5  # memories that one sentence may end
OTHERS, UNSURE = "somebody else's words", "not surely meant"
SEVERAL = 3  # who speak in a talk, for it to be a group's
REASONS = {
    Kind.FORGET: "asked to forget",
    Kind.NEVER: "asked never to mention",
    Kind.RETRACT: "taken back",
}
LEFT = "left as it is"


def carry_out(scope: Scope, intent: Intent, chain: FallbackChain | None = None) -> Intent:
    """Carry out an order, find nothing, or open a case. `scope` sees what the agent sees that was
    addressed; where the words leave open what is meant, the `chain` is asked. It may be repeated:
    words masked by a process that ended early are put back, and looked for again."""
    if intent.state in (State.HEARD, State.NOTHING_FOUND) and masks_of(intent).exists():
        give_back(worker_scope(intent.workspace_id, scope.actor), masks_of(intent))
    if intent.kind == Kind.REMEMBER:
        # What was to be remembered is among what the session believes: which memories it is.
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
    spoken = spoken_in(intent)
    if spoken is None:
        return _end(scope, intent, State.NOTHING_FOUND)
    reach = OrderReach.of(scope, intent)
    plan = _plan(reach, spoken)
    if chain and intent.kind != Kind.CORRECT and not (plan and plan.target.is_sure):
        target = choose(reach, chain)
        if target and (target.memories or intent.kind in HIDING):
            plan = OrderPlan(intent, reach.space, weighed(reach, spoken, target))
    if plan is None:
        # What is found once is not looked for again in vain, with another line of the audit.
        is_told = intent.state == State.NOTHING_FOUND
        return intent if is_told else _end(scope, intent, State.NOTHING_FOUND)
    plan = _with_others(reach, spoken, plan)
    if reason := _why_to_ask(reach, plan.target) or plan.others.question:
        is_first = reach.told_first(plan.target)
        return _ask(scope, plan, reason, is_first=is_first)
    ready = looked_for(scope, _embedded(plan))
    done = mask_ahead(ready, why_of(intent), lambda _: _take(intent))
    made: list[MaskedSpan] = []
    with transaction.atomic(durable=True):
        workspace_index.lock(plan.space)
        if done and _take(intent):
            made = do_locked(scope, done)
    masks.fill(plan.space, made)
    take_again(scope, intent, ready.told)
    return intent


def plan_decided(scope: Scope, intent_id: uuid.UUID, kept: Collection[uuid.UUID] = ()) -> OrderPlan:
    """Plan a waiting order that a person has now approved: all that it named but for the memories
    to be `kept`. Raises Conflict where it does not wait, or what it named is gone."""
    intent = waiting_intent(scope, intent_id)
    intent.episode.content = masks.originals([intent.episode])[intent.episode_id]
    reach = OrderReach.of(scope, intent)
    spoken = spoken_in(intent)
    is_anew = spoken is not None and spoken.clause is not None
    if intent.kind == Kind.CORRECT or is_anew:
        plan = _plan(reach, spoken) if spoken else None
        if plan is None:
            raise Conflict("What it would correct is not there any more.", "stale", "intent")
        return looked_for(scope, _embedded(plan))
    # What these memories have become, as far as it is believed.
    heads: dict[uuid.UUID, Memory] = {}
    wanted = set(intent.memory_ids)
    while wanted:
        rows = list(Memory.objects.visible_to(scope).filter(pk__in=wanted))
        heads |= {row.pk: row for row in rows if row.is_live}
        wanted = {row.superseded_by_id for row in rows if row.superseded_by_id} - heads.keys()
    named = list(heads.values())
    memories = [memory for memory in named if memory.pk not in kept]
    target = Target(memories, reach.spans_of(memories))
    if spoken and not kept and intent.kind in HIDING:
        if spoken.values:
            for episode, spans in target_of(reach, spoken).spans.items():
                for span in spans:
                    target.add_span(episode, *span)
        else:
            withheld = masks_of(intent).values_list("words", flat=True)
            told = [*withheld, *(memory.content for memory in memories)]
            OtherWords(of_machines=echoes(reach, told, target)).join(target)
        if spoken.topic and not spoken.values:
            thing = ToldThing.of(topic_of(intent, spoken), told)
            other_words(reach, thing, target).join(target)
    return looked_for(scope, OrderPlan(intent, reach.space, target))


def do_locked(scope: Scope, plan: OrderPlan) -> list[MaskedSpan]:
    """Carry out a plan within the caller's transaction, which holds the workspace's lock; return
    the masks, for whose rows the caller makes the vectors afterwards.

    A forgotten memory ends with all its versions. Where it must not be told again, its words are
    masked, and those of the order that name it; what must never be mentioned is not learned
    again."""
    if plan.content:
        return _correct(scope, plan)
    intent = plan.intent
    rows = [locked(scope, memory.pk) for memory in plan.target.memories]
    going = [row for row in rows if row.forgotten_at is None]
    if going:
        forget_locked(scope, going, REASONS.get(Kind(intent.kind), "asked to"))
    for row in going if intent.kind == Kind.NEVER else ():
        reject_claim(scope, row, REASONS[Kind.NEVER])
    made: list[MaskedSpan] = []
    if intent.kind in HIDING:
        every = {version for row in going for version in versions_of(row.pk)}
        made = mask_rest_locked(plan, every, why_of(intent))
        taken_words.leave_due(scope, intent)
    intent.memory_ids = [row.pk for row in going]
    _end(scope, intent, State.DONE)
    return made


def leave_locked(scope: Scope, space: WorkspaceIndex, intent: Intent) -> list[uuid.UUID]:
    """Leave a waiting order undone, as a person decided; return the rows whose words are shown
    again, for which the caller makes the vectors. Those of messages the caller gives back once it
    has committed (`give_back_due`)."""
    intent.memory_ids, intent.reason = [], LEFT
    _end(scope, intent, State.UNDONE)
    return _show_locked(scope, space, intent, masks_of(intent))


def _show_locked(scope: Scope, space: WorkspaceIndex, intent: Intent, taken: QuerySet[MaskedSpan]) -> list[uuid.UUID]:
    taken_words.drop_due(intent.pk)
    masks.refuse_unmasking(scope, taken)
    if taken.exclude(episode=None).exists():
        taken_words.leave_due_back(scope, intent)
    return masks.unmask(scope, space, taken.filter(episode=None))


def withhold_again(scope: Scope, intent: Intent) -> None:
    """Hide again from everybody what an order names, while it waits again: in steps, as long as it
    is due."""
    own = taken_words.job_of(LongJob.Kind.MASKING, intent.pk)
    if not own.exists():
        return
    intent.episode.content = masks.originals([intent.episode])[intent.episode_id]
    reach = OrderReach.of(scope, intent)
    spoken = spoken_in(intent)
    plan: OrderPlan | None = None
    if spoken and spoken.values:
        meant = target_of(reach, spoken)
        plan = OrderPlan(intent, reach.space, meant, values=spoken.values)
    elif spoken and (found := _plan(reach, spoken)):
        found = _with_others(reach, spoken, found)
        plan = found if found.others.question else None
    if plan is not None:
        plan = mask_ahead(_to_withhold(scope, plan), why_withheld(intent), partial(taken_words.advanced, own))
    made: list[MaskedSpan] = []
    with transaction.atomic(durable=True):
        workspace_index.lock(reach.space)
        if plan is not None and taken_words.advanced(own, 0):
            made = _withhold_locked(plan)
        own.delete()
    masks.fill(reach.space, made)


def waiting_intent(scope: Scope, intent_id: uuid.UUID, *, lock: bool = False) -> Intent:
    """Return an order that waits for a person. Raises Conflict where it does not."""
    rows = Intent.objects.select_related("episode", "session", "subject")
    if lock:
        rows = rows.select_for_update(of=("self",))
    intent = rows.filter(pk=intent_id, workspace_id=scope.workspace_id).first()
    if intent is None or intent.state != State.CASE:
        state = intent.state if intent else "gone"
        raise Conflict(f"An intent that is {state} does not wait.", "stale", "intent")
    return intent


def _plan(reach: OrderReach, spoken: SpokenIntent) -> OrderPlan | None:
    """Plan an order; None where there is nothing that it could mean."""
    intent = reach.intent
    if intent.kind == Kind.CORRECT:
        found = targets.by(reach, spoken)
        return OrderPlan(intent, reach.space, Target([found[0]]), found[1]) if found else None
    if spoken.clause and (found := targets.anew(reach, spoken)):
        return OrderPlan(intent, reach.space, Target([found[0]]), found[1])
    meant = target_of(reach, spoken)
    is_open = not (meant and meant.is_sure) and not spoken.values
    if is_open and intent.kind == Kind.FORGET and spoken.topic:
        meant = of_that_name(reach, topic_of(intent, spoken)) or meant
    target = weighed(reach, spoken, meant)
    if not target or (intent.kind == Kind.RETRACT and not target.memories):
        return None
    return OrderPlan(intent, reach.space, target, values=spoken.values)


def _with_others(reach: OrderReach, spoken: SpokenIntent, plan: OrderPlan) -> OrderPlan:
    """Add what tells of the same in other words to the plan: machines' words are meant, too."""
    target = plan.target
    if plan.intent.kind not in HIDING or spoken.values or not target.is_sure:
        return plan
    told = [one.text for one in reach.sentences if _tells_it(target, one)]
    told += [memory.content for memory in target.memories]
    OtherWords(of_machines=echoes(reach, told, target)).join(target)
    if spoken.topic is None:
        return plan
    thing = ToldThing.of(topic_of(plan.intent, spoken), told)
    found = other_words(reach, thing, target)
    OtherWords(of_machines=found.of_machines).join(target)
    signs = evidence_of(plan.intent.episode.content, spoken)
    found.is_named = signs.names_told and found.are_few and not reach.is_of_others(target)
    return replace(plan, others=found)


def _tells_it(target: Target, one: SaidSentence) -> bool:
    spans = target.spans.get(one.episode.pk, ())
    return any(start < one.end and one.start < end for start, end in spans)


def topic_of(intent: Intent, spoken: SpokenIntent) -> str:
    return intent.episode.content[slice(*spoken.topic)] if spoken.topic else ""


def _embedded(plan: OrderPlan) -> OrderPlan:
    if not plan.content:
        return plan
    return replace(plan, vectors=due_vectors.embed_or_leave(plan.space, [entries.texts_of(plan.content)]))


def _why_to_ask(reach: OrderReach, target: Target) -> str:
    """Return why a person must decide; "" where it is clear and the giver's own to order."""
    episode, memories = reach.intent.episode, target.memories
    if not reach.intent.subject_id and any(memory.subject_id for memory in memories):
        return "nobody is named"
    if len(memories) > MOST:
        return f"{len(memories)} memories at once"
    if not target.is_sure:
        return UNSURE
    policy = Policy.of(reach.space.review)
    for memory in memories:
        if memory.pinned:
            return "pinned"
        if memory.visibility != Visibility.PRIVATE:
            return "the team's"
        if memory.category in policy.categories:
            return "protected"
    if not target.is_of_asker and reach.is_of_others(target):
        return OTHERS
    subject = reach.intent.subject
    asker, name = episode.author.casefold(), subject.name.casefold() if subject else ""
    if asker and name and set(asker.split()).isdisjoint(name.split()):
        return "somebody else asks"
    return ""


def _correct(scope: Scope, plan: OrderPlan) -> list[MaskedSpan]:
    intent, [memory] = plan.intent, plan.target.memories
    old = locked(scope, memory.pk)
    if old.superseded_by_id is not None or old.forgotten_at is not None:
        _end(scope, intent, State.NOTHING_FOUND)
        return []
    new = new_version(scope, plan.space, old, plan.content, plan.vectors)
    if old.event_date is not None:
        at = intent.episode.said_at
        new.event_date = dates.event_date(plan.content, at) or old.event_date
        Memory.objects.filter(pk=new.pk).update(event_date=new.event_date)
        entries.change_times(new)
    intent.supersession = Supersession.objects.filter(old=old, new=new, rule=EDIT).first()
    intent.memory_ids = [new.pk]
    _end(scope, intent, State.DONE)
    return []


def _ask(scope: Scope, plan: OrderPlan, reason: str, *, is_first: bool) -> Intent:
    """Open a case; nothing is forgotten before somebody decides. Until then, what is surely meant
    is hidden from everybody, if the question is what else tells of it, or which things of its name
    are meant; and in a conversation of several, what the giver of the order told first, or names
    exactly, whoever told that first."""
    intent, memories = plan.intent, [*plan.target.memories, *plan.others.memories]
    is_own = reason == OTHERS and (plan.values or is_first) and _is_among_several(intent)
    is_named = reason == UNSURE and plan.target.is_named
    is_withheld = bool(is_own or is_named or reason == plan.others.question)
    left: OrderPlan | None = plan
    if is_withheld:
        plan = _to_withhold(scope, plan)
        left = mask_ahead(plan, why_withheld(intent), lambda _: _take(intent))
    withheld: list[MaskedSpan] = []
    with transaction.atomic(durable=True):
        if is_withheld:
            workspace_index.lock(plan.space)
        if left is None or not _take(intent):
            return intent
        if is_withheld:
            withheld = _withhold_locked(left)
        at = intent.episode.occurred_at
        items = [NewItem(at, f"intent:{intent.kind}", intent_id=intent.pk)]
        items += [
            NewItem(memory.valid_from or memory.created_at, "intent", memory_id=memory.pk)
            for memory in memories[: MOST * 2]
        ]
        about = CaseAbout(intent.workspace_id, intent.subject_id, "intent", intent.pk)
        intent.case_id = open_case(about, Case.Kind.INTENT, items, risk=0.8)
        intent.memory_ids, intent.reason = [memory.pk for memory in memories], reason
        _end(scope, intent, State.CASE)
    masks.fill(plan.space, withheld)
    return intent


def _is_among_several(intent: Intent) -> bool:
    """Tell whether at least `SEVERAL` people speak in the conversation or in others of its
    subject."""
    here = Q(conversation=intent.episode.conversation_id, conversation__isnull=False)
    about = Q(subject=intent.subject_id, subject__isnull=False)
    rows = Episode.objects.filter(here | about, workspace=intent.workspace_id, kind__in=Episode.OF_PEOPLE)
    return rows.exclude(author="").values("author").distinct().count() >= SEVERAL


def _to_withhold(scope: Scope, plan: OrderPlan) -> OrderPlan:
    """Plan what is hidden while an order waits: of what is named exactly, these words alone."""
    if plan.others.is_named:
        plan.others.join(plan.target)
    if plan.values:
        return replace(plan, said={pk: list(own) for pk, own in plan.target.spans.items()})
    return looked_for(scope, plan)


def _withhold_locked(plan: OrderPlan) -> list[MaskedSpan]:
    """Hide what is left of it, in the caller's transaction, which holds the workspace's lock."""
    intent = plan.intent
    if not plan.values:
        return mask_rest_locked(plan, plan.versions, why_withheld(intent))
    made = mask_rest_locked(plan, (), why_withheld(intent))
    hidden = withheld_of(intent).exclude(episode=None).values_list("words", flat=True)
    words = sorted({*plan.values, *hidden})
    return made + masks.mask_memories(plan.space, plan.versions, why_withheld(intent), words)


def _take(intent: Intent) -> bool:
    """Tell whether it still waits for this; the row is locked until the transaction ends."""
    rows = Intent.objects.select_for_update(of=("self",)).filter(pk=intent.pk)
    return rows.filter(state__in=[State.HEARD, State.CASE, State.NOTHING_FOUND]).exists()


def _end(scope: Scope, intent: Intent, state: str) -> Intent:
    intent.state, intent.decided_by, intent.decided_at = state, scope.actor, timezone.now()
    intent.save(
        update_fields=[
            "state",
            "memory_ids",
            "supersession",
            "case_id",
            "reason",
            "decided_by",
            "decided_at",
            "updated_at",
        ]
    )
    scope.audit(
        intent.kind,
        intent,
        subject_id=intent.subject_id,
        after={"state": str(state), "memories": [str(pk) for pk in intent.memory_ids]},
    )
    return intent


def undo(scope: Scope, intent_id: uuid.UUID) -> Intent:
    """Undo an order; the words of messages return in steps, with which whoever asks again goes on.
    Raises NotFound where `scope` does not see it, Conflict where nothing was done or a memory has a
    newer version since, Forbidden where it may not see the words that come back."""
    intent = needed(Intent.objects.visible_to(scope).filter(pk=intent_id).first(), "Intent")
    space = workspace_index.index_of(scope.workspace_id)
    masks.refuse_unmasking(scope, masks_of(intent))
    if intent.state != State.UNDONE or not masks_of(intent).exists():
        if intent.state != State.DONE or intent.kind == Intent.Kind.REMEMBER:
            raise Conflict(f"An intent that is {intent.state} cannot be undone.", "stale", "state")
        with transaction.atomic(durable=True):
            workspace_index.lock(space)
            intent = Intent.objects.select_for_update(of=("self",)).get(pk=intent.pk)
            if intent.state != State.DONE:
                raise Conflict("Somebody took it back already.", "stale", "state")
            touched = take_back_locked(scope, space, intent, masks_of(intent))
        due_vectors.fill(space, touched)
    else:
        taken_words.leave_due_back(scope, intent)
    intent = Intent.objects.select_related("episode").get(pk=intent.pk)
    give_back_due(scope, intent)
    return intent


def take_back_locked(
    scope: Scope, space: WorkspaceIndex, intent: Intent, taken: QuerySet[MaskedSpan]
) -> list[uuid.UUID]:
    """Undo an order within the caller's transaction, which holds the workspace's lock; return the
    rows whose words are shown again, of those `taken`. The caller makes their vectors, and gives
    those of messages back once it has committed (`give_back_due`)."""
    if intent.supersession_id:
        undo_locked(scope, space, intent.supersession_id)
    touched = _show_locked(scope, space, intent, taken)
    if not intent.supersession_id:
        for memory_id in intent.memory_ids:
            memory = locked(scope, memory_id)
            if memory.may_return:
                believe_anew(scope, space, memory, MemoryPeriod.Cause.RESTORED)
    rows = Intent.objects.filter(pk=intent.pk)
    rows.update(state=State.UNDONE, decided_by=scope.actor, decided_at=timezone.now())
    scope.audit("undo", intent, subject_id=intent.subject_id)
    return touched
