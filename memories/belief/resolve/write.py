"""From claims to memories: gather the memories they meet, decide them in turn, and write the rows
of the batch together at its end."""

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from memories.belief.resolve import file_cases, grounds, memories_to_compare, rejections, state_changes
from memories.belief.resolve.claims import (
    Claim,
    Draft,
    ResolveOutcome,
    fact_values,
    new_facts,
    new_items,
    new_memories,
    quarantine,
)
from memories.belief.resolve.decide import GUARDED, NEAREST, Decision, Judge, KnownMemory, Neighbour, Resolver
from memories.belief.resolve.file_cases import WaitingPair
from memories.belief.resolve.grounds import BatchGrounds
from memories.belief.resolve.memories_to_compare import BYSTANDER, DOCUMENT, Bystanders, compared, of_people
from memories.belief.resolve.protected_memories import Policy, Replacement, held_by
from memories.belief.touches import NewTouch, TouchedMemory, said_later, write_touches
from memories.index import entries, prepared_sql, repair, row_marks, workspace_index
from memories.index.nearest import Pair, Placement
from memories.language.english.plain_words import ENDED
from memories.language.english.statements import PastPeriod, Reading, is_said_by, past_period, read, true_from
from memories.models import (
    Citation,
    Ground,
    Memory,
    MemoryPeriod,
    Supersession,
    Touch,
    WorkspaceIndex,
)
from memoryproject.postgres.prepared import Asked
from workspaces.models.workspace import uuid7

State = Supersession.State
log = logging.getLogger(__name__)
ENDING = (ENDED, "denied", "over")  # rules by which something is over, and nothing takes its place
SURE = 0.95  # that a claim is to a memory what the rules of statements say
SAID_AGAIN = "was forgotten as private"  # why what is said again waits for a person


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """The reading of a claim's statement: its keys of single-valued attributes, the period of what
    it tells of the past, and the time from which what it tells of the future will be true."""

    reading: Reading
    keys: Sequence[int]
    past: PastPeriod | None
    true_from: datetime | None


class ClaimBatch:
    """Takes claim after claim; nothing reaches the database before `write`."""

    def __init__(
        self,
        space: WorkspaceIndex,
        placement: Placement,
        actor: str,
        session_id: uuid.UUID | None,
        judge: Judge,
    ) -> None:
        self.space, self.placement, self.actor = space, placement, actor
        self.judge = judge
        self.session_id = session_id
        self.now = timezone.now()
        self.outcome = ResolveOutcome()
        self.memories: dict[uuid.UUID, Draft] = {}
        self.facts: list[dict[str, object]] = []
        self.citations: list[dict[str, object]] = []
        self.supersessions: list[Supersession] = []
        self.waiting: list[WaitingPair] = []
        self.replaced: dict[uuid.UUID, Draft] = {}
        self.support: dict[uuid.UUID, int] = {}
        self.promoted: set[uuid.UUID] = set()
        self.policy = Policy.of(space.review)
        self.bystanders = Bystanders()
        self.of_people: frozenset[uuid.UUID] = frozenset()
        self.grounds = BatchGrounds()
        self.richer: dict[uuid.UUID, uuid.UUID] = {}
        self.ends: dict[uuid.UUID, state_changes.End] = {}
        self.touches: list[NewTouch] = []

    def take(self, claim: Claim, index: int, own: ClaimReading, resolver: Resolver) -> None:
        """Decide one claim, and note what is to be written for it."""
        new = Draft.of(claim, index, own.keys, self.now, own.past)
        decision = resolver.decide(index, new.known, claim.occurred_at)
        decision = self._as_a_bystander(decision, index)
        if claim.is_of_document and decision.act in ("supersede", "review"):
            decision = self._as_a_document(decision)
        if decision.act not in ("reinforce", "new"):
            decision = compared(self.space, resolver, index, decision)
            decision = self._as_policy_allows(decision, claim)
        if decision.act == "reinforce":
            same = decision.targets[0].id
            self._touch([same], claim, Touch.Relation.RESTATES)
            if same in self.memories:
                self.memories[same].source_count += 1
            else:
                self.support[same] = self.support.get(same, 0) + 1
            self.outcome.reinforced.append(same)
            self._add_fact(claim, same)
            return
        self.memories[new.id] = new
        self.outcome.created.append(new.id)
        self._add_fact(claim, new.id)
        match decision.act:
            case "hold":
                new.held_at = self.now
                self._touch(_met(decision), claim, Touch.Relation.UNSURE)
                self._record(decision, new, State.PENDING)
                self.outcome.held.append(new.id)
                return
            case "past":
                self._file_as_past(decision, new, resolver)
                return
            case "review":
                self._touch(_met(decision), claim, Touch.Relation.UNSURE)
                self._record(decision, new, State.PENDING)
                self.outcome.reviewed.append(new.id)
            case "supersede":
                self._supersede(decision, new, resolver, own.true_from)
                if decision.doubts:
                    self.outcome.reviewed.append(new.id)
        self.ends |= {pk: state_changes.End(until, new.id) for pk, until in decision.ends}
        resolver.add(new.known, index)

    def _as_a_bystander(self, decision: Decision, index: int) -> Decision:
        """Review another's word about a person that contradicts that person's own words."""
        if decision.act != "supersede" or index not in self.bystanders.about:
            return decision
        for target in decision.targets:
            draft = self.memories.get(target.id)
            is_own = (
                is_said_by(self.bystanders.about[index], draft.claim.speaker)
                if draft
                else self.bystanders.contradicts_own_word(index, target.id)
            )
            if is_own and decision.rule == "richer":
                return replace(decision, act="reinforce")
            if is_own:
                return replace(decision, act="review", rule=f"{BYSTANDER}: {decision.rule}")
        return decision

    def _as_a_document(self, decision: Decision) -> Decision:
        """Hold what a document says against a person's word, until somebody decides."""
        if not any(target.id in self.of_people for target in decision.targets):
            return decision
        if decision.rule == "richer":
            return replace(decision, act="reinforce")
        return replace(decision, act="hold", rule=f"{DOCUMENT}: {decision.rule}", doubts=())

    def _as_policy_allows(self, decision: Decision, claim: Claim) -> Decision:
        """Hold back what is about to replace a memory, or to be reviewed, where policy says so."""
        if decision.act not in ("supersede", "review"):
            return decision
        about = Replacement(
            similarity=None,
            confidence=claim.confidence,
            categories=frozenset({claim.category, *(t.category for t in decision.targets)}),
            agent=str(self.placement.agent_id or ""),
            pinned=any(target.pinned for target in decision.targets),
        )
        for near in decision.neighbours:
            if reason := self.policy.holds(replace(about, similarity=near.similarity)):
                return replace(decision, act="hold", rule=held_by(reason, decision.rule))
        return decision

    def reject(self, claim: Claim) -> None:
        """Keep the fact of a claim that a person rejected before, under no memory."""
        self._add_fact(claim, None)
        self.outcome.rejected.append(claim.statement)

    def write(self, vectors: Sequence[entries.Vectors] | None, live: Mapping[uuid.UUID, KnownMemory]) -> None:
        """Write the batch. `live`: the live memories after all decisions."""
        for old, new in self.richer.items():
            grounds.move(old, new)
        for pk in self.ends.keys() & self.memories.keys():
            self.memories[pk].valid_until = self.ends.pop(pk).until
        state_changes.end_validity(self.ends, self.now)
        state_changes.supersede(
            self.space,
            {old: (new.id, new.valid_from) for old, new in self.replaced.items()},
            self.now,
        )
        state_changes.add_support(self.support, self.now)
        if self.promoted:
            Memory.objects.filter(pk__in=self.promoted).update(version=F("version") + 1)
        # What the same batch replaced, or filed as past, was believed for no time at all.
        periods = [
            {
                "memory_id": draft.id,
                "from_at": self.now,
                "until_at": self.now if draft.superseded_by else None,
                "cause": MemoryPeriod.Cause.CREATED,
                "ended_by": "superseded" if draft.superseded_by else "",
            }
            for draft in self.memories.values()
            if draft.held_at is None
        ]
        made = list(self.memories.values())
        workspace = self.placement.workspace_id
        resting = self.grounds.rows(made, live)
        if self.waiting:
            file_cases.file_pairs(self.placement.subject_id, self.waiting, self.judge.words)
        entries.write(
            self.space,
            new_items(self.placement, made),
            None if vectors is None else [vectors[each.index] for each in made],
            beside=[
                new_memories(self.placement, made, {row["memory_id"] for row in resting}),
                prepared_sql.rows_with(MemoryPeriod, periods, workspace_id=workspace),
                self.supersessions,
                new_facts(self.placement, self.facts, self.session_id),
                prepared_sql.rows_with(Citation, self.citations, workspace_id=workspace),
                prepared_sql.rows_with(Ground, resting, workspace_id=workspace),
            ],
        )
        learned = [
            TouchedMemory(draft.id, draft.claim.statement, quote.text_id, draft.claim.occurred_at, draft.claim.speaker)
            for draft in made
            if draft.is_live and not draft.claim.is_of_document
            for quote in draft.claim.quotes[:1]
        ]
        later = said_later(self.space, self.placement, learned) if learned else []
        write_touches(workspace, [*later, *self.touches])
        transaction.on_commit(self._log)

    def _touch(self, memories: Sequence[uuid.UUID], claim: Claim, relation: str) -> None:
        """Note what a claim's message says of memories, as it was decided."""
        self.touches += [
            NewTouch(pk, quote.text_id, quote.start, quote.end, claim.occurred_at, relation, SURE, is_sure=True)
            for pk in memories
            for quote in claim.quotes[:1]
            if not quote.is_of_document
        ]

    def _log(self) -> None:
        for row in self.supersessions:
            state = f"{row.state}: a person decides" if row.state == State.PENDING else row.state
            why = f"{row.rule}; session {self.session_id}" if self.session_id else row.rule
            log.info(
                "workspace %s: supersession %s of memory %s by memory %s is %s (%s)",
                row.workspace_id,
                row.pk,
                row.old_id,
                row.new_id,
                state,
                why,
            )

    def _add_fact(self, claim: Claim, memory_id: uuid.UUID | None) -> None:
        fact = uuid7()
        self.facts.append({**fact_values(claim), "id": fact, "memory_id": memory_id})
        self.outcome.facts += 1
        self.citations += [{"fact_id": fact, **quote.values} for quote in dict.fromkeys(claim.quotes)]

    def _supersede(self, decision: Decision, new: Draft, resolver: Resolver, true_from: datetime | None) -> None:
        self._touch([near.memory.id for near, _ in decision.doubts], new.claim, Touch.Relation.UNSURE)
        if true_from is None or true_from <= self.now:
            is_end = decision.rule.startswith(ENDING)
            relation = Touch.Relation.ENDS if is_end else Touch.Relation.REPLACES
            self._touch(_met(decision), new.claim, Touch.Relation.RESTATES if decision.rule == "richer" else relation)
        if true_from is not None and decision.rule != "richer":
            new.valid_from = true_from
            if true_from > self.now:
                # A plan: what it will replace is believed, and is true until then.
                end = state_changes.End(true_from, new.id)
                self.ends |= {target.id: end for target in decision.targets}
                decision = replace(decision, neighbours=())
        new.version = max((target.version for target in decision.targets), default=0) + 1
        if decision.rule == "richer":
            # It says the same with more words: true, and supported, since the first of them was.
            (target,) = decision.targets
            new.valid_from = target.since or new.valid_from
            draft = self.memories.get(target.id)
            more = self.support.get(target.id, 0)
            new.source_count += draft.source_count if draft else target.support + more
        self._record(decision, new, State.APPLIED)
        for target in decision.targets:
            resolver.end(target.id)
            self.outcome.superseded.append(target.id)
            if target.id not in self.memories:
                self.replaced[target.id] = new
                if decision.rule == "richer":
                    self.richer[target.id] = new.id
                continue
            old = self.memories[target.id]
            old.superseded_by, old.superseded_at = new.id, self.now
            if old.valid_from < new.valid_from:
                old.valid_until = new.valid_from

    def _file_as_past(self, decision: Decision, new: Draft, resolver: Resolver) -> None:
        """File `new` as a version before the head, whose number grows; the head stays believed."""
        (head,) = decision.targets
        new.version = head.version
        new.superseded_by, new.superseded_at = head.id, self.now
        new.valid_until = min(filter(None, (new.valid_until, head.since)), default=None)
        resolver.add(replace(head, version=head.version + 1))
        if head.id in self.memories:
            self.memories[head.id].version += 1
        else:
            self.promoted.add(head.id)
        kept = self._decision(decision, decision.neighbours[0], new.id, State.APPLIED)
        kept.old_id, kept.new_id = new.id, head.id
        self.supersessions.append(kept)

    def _record(self, decision: Decision, new: Draft, state: str) -> None:
        pairs = [(near, decision.rule, state) for near in decision.neighbours]
        pairs += [(near, rule, State.PENDING) for near, rule in decision.doubts]
        for near, rule, its_state in pairs:
            row = self._decision(replace(decision, rule=rule), near, new.id, its_state)
            self.supersessions.append(row)
            if its_state == State.PENDING:
                is_held = new.held_at is not None
                self.waiting.append(WaitingPair(row, near.memory, new.known, is_held))

    def _decision(self, decision: Decision, near: Neighbour, new: uuid.UUID, state: str) -> Supersession:
        return Supersession(
            workspace_id=self.placement.workspace_id,
            old_id=near.memory.id,
            new_id=new,
            similarity=near.similarity,
            model="" if near.similarity is None else str(self.space.embedding_model or ""),
            rule=decision.rule[: Supersession._meta.get_field("rule").max_length],
            method="vector" if decision.rule.endswith(NEAREST) else "guarded",
            state=state,
            decided_by=self.actor,
            decided_at=self.now,
        )


def _met(decision: Decision) -> list[uuid.UUID]:
    return [target.id for target in decision.targets]


def apply(
    space: WorkspaceIndex,
    placement: Placement,
    claims: Sequence[Claim],
    vectors: Sequence[entries.Vectors] | None,
    *,
    actor: str,
    session_id: uuid.UUID | None = None,
) -> ResolveOutcome:
    """Write claims as facts under new, replaced or reinforced memories, and index them.

    Runs in the caller's transaction and takes the workspace's lock, so that of two writers
    of the same thing the second meets the first one's memory.
    `vectors`: per claim one sequence, as `entries.write` takes them; None: still to be made.
    """
    if not claims:
        return ResolveOutcome()
    model = space.embedding_model
    threshold = model.duplicate_threshold if model else 2.0
    judge = Judge(space.conflict_rule or GUARDED, threshold, row_marks.words_of(space), space.date_order)
    # Before the lock: other writers wait for nothing but the database.
    readings = [_read(placement, claim, judge) for claim in claims]
    whole = [] if vectors is None else [passages[0] for passages in vectors]
    texts = [claim.statement for claim in claims]
    near, pairs_of = memories_to_compare.near(space, placement, whole, claims, judge)
    agents = [placement.agent_id] if placement.agent_id else []
    asked = [rejections.rejected(space, placement.subject_id, texts, agents), *near]
    rejected, *found = _behind_lock(space, placement, asked)
    batch = ClaimBatch(space, placement, actor, session_id, judge)
    resolver = _resolver(batch, claims, readings, whole, pairs_of(found[-1] if found else []))
    refused = rejections.refused(space, rejected, texts, whole)
    private: list[tuple[Claim, str]] = []
    for index, (claim, own) in enumerate(zip(claims, readings, strict=True)):
        # A person may say by hand what a person had rejected.
        if index not in refused or claim.is_let_through:
            batch.take(claim, index, own, resolver)
        elif refused[index].is_private and session_id is not None:
            private.append((claim, SAID_AGAIN))
        else:
            batch.reject(claim)
    batch.write(vectors, resolver.live)
    if session_id is not None:
        quarantine(placement, private, session_id)
    batch.outcome.quarantined += [claim.statement for claim, _ in private]
    return batch.outcome


def _behind_lock(space: WorkspaceIndex, placement: Placement, asked: Sequence[Asked]) -> list[list[Any]]:
    """Take the workspace's lock and run the queries, on a subject whose rows have the marks of the
    present rules; return the rows of each."""
    if row_marks.are_current(space):
        return workspace_index.lock(space, *asked)
    workspace_index.lock(space)
    repair.repair_locked(space, placement.subject_id)
    return prepared_sql.rows_of_each(asked)


def _read(placement: Placement, claim: Claim, judge: Judge) -> ClaimReading:
    reading = read(claim.statement, judge.words)
    keys = row_marks.slot_keys_of(placement.subject_id or placement.workspace_id, reading)
    told = claim.occurred_at, judge.date_order
    return ClaimReading(
        reading,
        keys,
        past_period(reading, *told),
        true_from(reading, claim.event_date, *told),
    )


def _resolver(
    batch: ClaimBatch,
    claims: Sequence[Claim],
    own: Sequence[ClaimReading],
    whole: Sequence[np.ndarray | None],
    near: Sequence[Pair],
) -> Resolver:
    """Make a resolver that knows the live memories the claims may meet: `near` or otherwise."""
    judge, readings = batch.judge, [each.reading for each in own]
    batch.grounds = BatchGrounds.of(batch.placement, claims, readings)
    # One statement for both: what a reason names is asked for under the numbers after the claims'.
    words = memories_to_compare.negated(readings, judge)
    words |= {len(claims) + index: each for index, each in batch.grounds.terms.items()}
    held = memories_to_compare.holding(batch.space, batch.placement, words)
    pairs = [*near, *(pair for pair in held if pair.index < len(claims))]
    batch.grounds.take(held, len(claims))
    wanted = set().union(*batch.grounds.keys.values())
    if judge.rule != NEAREST:
        wanted.update(*(each.keys for each in own))
    known = memories_to_compare.known(batch.placement, claims, wanted, [*pairs, *held])
    batch.bystanders = Bystanders.of(claims, readings, known)
    batch.of_people = of_people(claims, known)
    return Resolver(
        judge,
        known,
        pairs,
        vectors=whole,
        floor=memories_to_compare.floor(judge),
        open_to=batch.of_people if batch.placement.meets_all else frozenset(),
    )
