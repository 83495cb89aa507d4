"""Orders carried out: what is meant is forgotten with its words, wherever else it is told, or is
corrected, or kept; and orders undone."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories import masks
from memories.english import dates
from memories.english.order_evidence import evidence_of
from memories.english.same_thing import ToldThing
from memories.english.spoken_intents import SpokenIntent
from memories.errors import Conflict, needed
from memories.extraction.fallback import FallbackChain
from memories.index import due_vectors, entries, workspace_index
from memories.intents import targets
from memories.intents.other_words import OtherWords, of_that_name, other_words
from memories.intents.recognise import spoken_in
from memories.intents.targets import (
    OrderReach,
    SaidSentence,
    Target,
    choose,
    target_of,
    weighed,
)
from memories.masks import MaskReason
from memories.models import (
    Case,
    Citation,
    Episode,
    Intent,
    MaskedSpan,
    Memory,
    MemoryPeriod,
    Revision,
    Supersession,
    Visibility,
    WorkspaceIndex,
    versions_of,
)
from memories.resolve.file_cases import CaseAbout, NewItem, open_case
from memories.resolve.hold_policy import Policy
from memories.review import taken_words
from memories.review.approve_and_undo import believe_again, may_be_learned, undo_locked
from memories.review.create_and_edit import EDIT, new_version
from memories.review.forget import forget_locked, locked, reject_claim
from workspaces.scope import Scope, worker_scope

Kind, State = Intent.Kind, Intent.State
MOST = 5  # memories that one sentence may end
HIDING = (Kind.FORGET, Kind.NEVER)
OTHERS, UNSURE = "somebody else's words", "not surely meant"
SEVERAL = 3  # who speak in a talk, for it to be a group's
REASONS = {
    Kind.FORGET: "asked to forget",
    Kind.NEVER: "asked never to mention",
    Kind.RETRACT: "taken back",
}
LEFT = "left as it is"


@dataclass(frozen=True, slots=True)
class OrderPlan:
    """The effect of an order: memories and the places that say it, with the words that it names
    exactly, and the `others` that may tell of it; or, of a correction, the one memory and its new
    content, with their vectors."""

    intent: Intent
    space: WorkspaceIndex
    target: Target
    content: str = ""
    vectors: list[entries.Vectors] | None = None
    values: tuple[str, ...] = ()
    others: OtherWords = field(default_factory=OtherWords)


def carry_out(scope: Scope, intent: Intent, chain: FallbackChain | None = None) -> Intent:
    """Carry out an order, find nothing, or open a case. `scope` sees what the agent sees that was
    addressed; where the words leave open what is meant, the `chain` is asked. It may be repeated:
    words masked by a process that ended early are put back, and looked for again."""
    if intent.state == State.HEARD and masks_of(intent).exists():
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
    plan = _embedded(plan)
    mask_ahead(scope, plan)
    made: list[MaskedSpan] = []
    with transaction.atomic(durable=True):
        workspace_index.lock(plan.space)
        if _take(intent):
            made = do_locked(scope, plan)
    masks.fill(plan.space, made)
    return intent


def mask_ahead(scope: Scope, plan: OrderPlan) -> None:
    """Mask the words of many texts before the order is done, each batch in its own transaction, as
    long as it waits. A few are masked when it is done."""
    intent = plan.intent
    if plan.content or intent.kind not in HIDING:
        return
    every = {version for row in plan.target.memories for version in versions_of(row.pk)}
    said, written = _told_of(scope, plan, every)
    if len(said) <= taken_words.BATCH and len(written) <= taken_words.DOCUMENTS:
        return
    for mask, some in taken_words.steps_of(said, written):
        with transaction.atomic(durable=True):
            workspace_index.lock(plan.space)
            fresh = mask(plan.space, some, _why_of(intent)) if _take(intent) else []
        masks.fill(plan.space, fresh)


def give_back(scope: Scope, taken: QuerySet[MaskedSpan]) -> None:
    """Put masked words back, messages' in batches. Raises Forbidden as `masks.unmask` does."""
    space = workspace_index.index_of(scope.workspace_id)
    taken_words.give_back_words(scope, space, taken)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        touched = masks.unmask(scope, space, taken)
    due_vectors.fill(space, touched)


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
        return _embedded(plan)
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
        elif spoken.topic:
            withheld = masks_of(intent).values_list("words", flat=True)
            told = [*withheld, *(memory.content for memory in memories)]
            thing = ToldThing.of(topic_of(intent, spoken), told)
            other_words(reach, thing, target).join(target)
    return OrderPlan(intent, reach.space, target)


def do_locked(scope: Scope, plan: OrderPlan) -> list[MaskedSpan]:
    """Carry out a plan within the caller's transaction, which holds the workspace's lock; return
    the masks, for whose rows the caller makes the vectors afterwards.

    A forgotten memory ends with all its versions. Where it must not be told again, its words are
    masked, and those of the order that name it; what must never be mentioned is not learned
    again."""
    if plan.content:
        return _correct(scope, plan)
    intent, forgotten = plan.intent, []
    for memory in plan.target.memories:
        row = locked(scope, memory.pk)
        if row.forgotten_at is None:
            forget_locked(scope, [row], REASONS.get(Kind(intent.kind), "asked to"))
            forgotten.append(row.pk)
            if intent.kind == Kind.NEVER:
                reject_claim(scope, row, REASONS[Kind.NEVER])
    made: list[MaskedSpan] = []
    if intent.kind in HIDING:
        every = {version for pk in forgotten for version in versions_of(pk)}
        made = _mask_all(scope, plan, every, _why_of(intent))
    intent.memory_ids = forgotten
    _end(scope, intent, State.DONE)
    return made


def leave_locked(scope: Scope, space: WorkspaceIndex, intent: Intent) -> list[uuid.UUID]:
    """Leave a waiting order undone, as a person decided; return the rows whose words are shown
    again, for which the caller makes the vectors."""
    intent.memory_ids, intent.reason = [], LEFT
    _end(scope, intent, State.UNDONE)
    return masks.unmask(scope, space, masks_of(intent))


def masks_of(intent: Intent) -> QuerySet[MaskedSpan]:
    """Return the masks that hide words from everybody because of this order."""
    return MaskedSpan.objects.filter(workspace_id=intent.workspace_id, cause=intent.pk)


def withhold_again_locked(scope: Scope, space: WorkspaceIndex, intent: Intent) -> None:
    """Hide again from everybody what an order names, while it waits again."""
    reach = OrderReach.of(scope, intent)
    spoken = spoken_in(intent)
    if spoken and spoken.values:
        meant = target_of(reach, spoken)
        _withhold_locked(scope, OrderPlan(intent, space, meant, values=spoken.values))
    elif spoken and (plan := _plan(reach, spoken)):
        plan = _with_others(reach, spoken, plan)
        if plan.others.question:
            _withhold_locked(scope, plan)


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
    is_named = spoken.topic is not None and not spoken.values
    if plan.intent.kind not in HIDING or not is_named or not plan.target.is_sure:
        return plan
    target = plan.target
    told = [one.text for one in reach.sentences if _tells_it(target, one)]
    told += [memory.content for memory in target.memories]
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
    return replace(
        plan, vectors=due_vectors.embed_or_leave(plan.space, [entries.texts_of(plan.content)])
    )


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


def _why_of(intent: Intent) -> MaskReason:
    return MaskReason(MaskedSpan.Kind.FORGOTTEN, str(intent.kind), intent.pk)


def _told_of(
    scope: Scope, plan: OrderPlan, every: Collection[uuid.UUID]
) -> tuple[taken_words.Places, taken_words.Places]:
    """Return the places in messages and in documents that tell what is meant, and what these
    memories say, as far as they belong to the subject of the order."""
    intent = plan.intent
    said: taken_words.Places = {pk: list(own) for pk, own in plan.target.spans.items()}
    if intent.topic_start is not None and intent.topic_end is not None:
        own = (intent.topic_start, intent.topic_end)
        said.setdefault(intent.episode_id, []).append(own)
    told = taken_words.what_is_forgotten(said, every)
    if intent.subject is not None:
        # An assistant or a tool tells it before the order and since, in whichever talk.
        rows = Episode.objects.visible_to(scope).filter(
            subject=intent.subject_id, kind__in=Episode.OF_MACHINES
        )
        for episode, places in taken_words.told_in(rows, told, intent.subject).items():
            said.setdefault(episode, []).extend(places)
    # A document that is about somebody else, or about nobody, is not theirs to change.
    cited = Citation.objects.filter(
        fact__memory__in=every, revision__document__subject__isnull=False,
        revision__document__subject=intent.subject_id,
    )  # fmt: skip
    # Who is nobody has no document.
    about = Revision.objects.filter(document__workspace=intent.workspace_id)
    about = about.filter(document__subject=intent.subject_id, document__subject__isnull=False)
    written = taken_words.in_documents(about, told)
    for one in cited:
        if one.revision_id is not None:
            written.setdefault(one.revision_id, []).append((one.start, one.end))
    return said, taken_words.of_asker(scope, {}, written)[1]


def _mask_all(
    scope: Scope, plan: OrderPlan, every: set[uuid.UUID], why: MaskReason
) -> list[MaskedSpan]:
    """Mask all that tells what is meant, as far as it belongs to the subject of the order, and
    these memories."""
    space = plan.space
    said, written = _told_of(scope, plan, every)
    made = masks.mask_episodes(space, said, why) + masks.mask_documents(space, written, why)
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


def _ask(scope: Scope, plan: OrderPlan, reason: str, *, is_first: bool) -> Intent:
    """Open a case; nothing is forgotten before somebody decides. Until then, what is surely meant
    is hidden from everybody, if the question is what else tells of it, or which things of its name
    are meant; and in a conversation of several, what the giver of the order told first, or names
    exactly, whoever told that first."""
    intent, memories = plan.intent, [*plan.target.memories, *plan.others.memories]
    withheld: list[MaskedSpan] = []
    with transaction.atomic(durable=True):
        is_own = reason == OTHERS and (plan.values or is_first) and _is_among_several(intent)
        is_named = reason == UNSURE and plan.target.is_named
        if is_withheld := bool(is_own or is_named or reason == plan.others.question):
            workspace_index.lock(plan.space)
        if not _take(intent):
            return intent
        if is_withheld:
            withheld = _withhold_locked(scope, plan)
        at = intent.episode.occurred_at
        items = [NewItem(at, f"intent:{intent.kind}", intent_id=intent.pk)]
        items += [NewItem(memory.valid_from or memory.created_at, "intent", memory_id=memory.pk)
                  for memory in memories[:MOST * 2]]  # fmt: skip
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
    rows = Episode.objects.filter(
        here | about, workspace=intent.workspace_id, kind__in=Episode.OF_PEOPLE
    )
    return rows.exclude(author="").values("author").distinct().count() >= SEVERAL


def _withhold_locked(scope: Scope, plan: OrderPlan) -> list[MaskedSpan]:
    why = MaskReason(
        MaskedSpan.Kind.FORGOTTEN, f"{plan.intent.kind}, to be decided", plan.intent.pk
    )
    if plan.others.is_named:
        plan.others.join(plan.target)
    every = {version for row in plan.target.memories for version in versions_of(row.pk)}
    if not plan.values:
        return _mask_all(scope, plan, every, why)
    made = masks.mask_episodes(plan.space, plan.target.spans, why)
    words = sorted({*plan.values, *(one.words for one in made)})
    return made + masks.mask_memories(plan.space, every, why, words)


def _take(intent: Intent) -> bool:
    """Tell whether it still waits for this; the row is locked until the transaction ends."""
    rows = Intent.objects.select_for_update(of=("self",)).filter(pk=intent.pk)
    return rows.filter(state__in=[State.HEARD, State.CASE, State.NOTHING_FOUND]).exists()


def _end(scope: Scope, intent: Intent, state: str) -> Intent:
    intent.state, intent.decided_by, intent.decided_at = state, scope.actor, timezone.now()
    intent.save(
        update_fields=[
            "state", "memory_ids", "supersession", "case_id", "reason", "decided_by", "decided_at",
            "updated_at",
        ]
    )  # fmt: skip
    scope.audit(
        intent.kind,
        intent,
        subject_id=intent.subject_id,
        after={"state": str(state), "memories": [str(pk) for pk in intent.memory_ids]},
    )
    return intent


def undo(scope: Scope, intent_id: uuid.UUID) -> Intent:
    """Undo an order; the words of messages return in batches, and an interrupted caller asks again.
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
            touched = take_back_locked(scope, space, intent, masks_of(intent).filter(episode=None))
        due_vectors.fill(space, touched)
    taken_words.give_back_words(scope, space, masks_of(intent))
    return Intent.objects.select_related("episode").get(pk=intent.pk)


def take_back_locked(
    scope: Scope,
    space: WorkspaceIndex,
    intent: Intent,
    taken: QuerySet[MaskedSpan] | None = None,
) -> list[uuid.UUID]:
    """Undo an order within the caller's transaction, which holds the workspace's lock; return the
    rows whose words are shown again: all masked for it, or those of `taken`. The caller makes their
    vectors."""
    if intent.supersession_id:
        undo_locked(scope, space, intent.supersession_id)
    touched = masks.unmask(scope, space, masks_of(intent) if taken is None else taken)
    if not intent.supersession_id:
        for memory_id in intent.memory_ids:
            memory = locked(scope, memory_id)
            if memory.may_return:
                may_be_learned(scope, memory)
                believe_again(space, memory, MemoryPeriod.Cause.RESTORED)
    rows = Intent.objects.filter(pk=intent.pk)
    rows.update(state=State.UNDONE, decided_by=scope.actor, decided_at=timezone.now())
    scope.audit("undo", intent, subject_id=intent.subject_id)
    return touched
