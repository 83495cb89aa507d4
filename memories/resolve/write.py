"""The rows that a batch of decisions comes to, written together at its end."""

import uuid
from collections.abc import Sequence
from dataclasses import replace

from django.db.models import F
from django.utils import timezone

from memories.english.statements.policy import Policy, Replacement, held_by
from memories.index import entries, inserts
from memories.index.nearest import Placement
from memories.models import (
    Citation,
    Memory,
    MemoryPeriod,
    Supersession,
    WorkspaceIndex,
)
from memories.resolve import state_changes
from memories.resolve.claims import Claim, Outcome, fact_values, new_facts
from memories.resolve.comparing import compared
from memories.resolve.decide import NEAREST, Belief, Decision, Met
from memories.resolve.drafts import Draft, new_items, new_memories
from memories.resolve.resolver import Resolver
from workspaces.ids import uuid7

State = Supersession.State


class Batch:
    """Takes claim after claim; nothing reaches the database before `write`."""

    def __init__(
        self,
        space: WorkspaceIndex,
        placement: Placement,
        actor: str,
        session_id: uuid.UUID | None,
    ) -> None:
        self.space, self.placement, self.actor = space, placement, actor
        self.session_id = session_id
        self.now = timezone.now()
        self.outcome = Outcome()
        self.memories: dict[uuid.UUID, Draft] = {}
        self.facts: list[dict[str, object]] = []
        self.citations: list[dict[str, object]] = []
        self.supersessions: list[Supersession] = []
        self.replaced: dict[uuid.UUID, Draft] = {}
        self.support: dict[uuid.UUID, int] = {}
        self.promoted: set[uuid.UUID] = set()
        self.policy = Policy.of(space.review)

    def take(self, claim: Claim, index: int, keys: Sequence[int], resolver: Resolver) -> None:
        """Decide one claim, and note what is to be written for it."""
        new = Draft.of(claim, index, keys, self.now)
        belief = new.belief
        decision = resolver.decide(index, belief, claim.occurred_at)
        if decision.act not in ("reinforce", "new"):
            decision = compared(self.space, resolver, index, decision)
            decision = self._as_policy_allows(decision, claim)
        if decision.act == "reinforce":
            self._reinforce(claim, decision.targets[0].id)
            return
        self.memories[new.id] = new
        self.outcome.created.append(new.id)
        self._add_fact(claim, new.id)
        match decision.act:
            case "hold":
                new.held_at = self.now
                self._record(decision, new, State.PENDING)
                self.outcome.held.append(new.id)
                return
            case "past":
                self._file_as_past(decision, new, resolver)
                return
            case "review":
                self._record(decision, new, State.PENDING)
                self.outcome.reviewed.append(new.id)
            case "supersede":
                self._supersede(decision, new, resolver)
                belief = new.belief
        resolver.add(belief, index)

    def _as_policy_allows(self, decision: Decision, claim: Claim) -> Decision:
        """What is about to replace, or stands beside while a person is asked, may be held back."""
        if decision.act not in ("supersede", "review"):
            return decision
        about = Replacement(
            similarity=None,
            confidence=claim.confidence,
            categories=frozenset({claim.category, *(t.category for t in decision.targets)}),
            agent=str(self.placement.agent_id or ""),
            pinned=any(target.pinned for target in decision.targets),
        )
        for met in decision.met:
            if reason := self.policy.holds(replace(about, similarity=met.similarity)):
                return replace(decision, act="hold", rule=held_by(reason, decision.rule))
        return decision

    def reject(self, claim: Claim) -> None:
        """A person said no to it before: the fact is kept, under no memory."""
        self._add_fact(claim, None)
        self.outcome.rejected.append(claim.statement)

    def write(self, vectors: Sequence[entries.Vectors] | None) -> None:
        state_changes.supersede(
            self.space,
            {old: (new.id, new.valid_from) for old, new in self.replaced.items()},
            self.now,
        )
        state_changes.add_support(self.support, self.now)
        if self.promoted:
            Memory.objects.filter(pk__in=self.promoted).update(version=F("version") + 1)
        made = list(self.memories.values())
        workspace = self.placement.workspace_id
        entries.write(
            self.space,
            new_items(self.placement, made),
            None if vectors is None else [vectors[each.index] for each in made],
            beside=[
                new_memories(self.placement, made),
                inserts.rows_with(
                    MemoryPeriod,
                    list(map(self._life, filter(_is_believed, made))),
                    workspace_id=workspace,
                ),
                self.supersessions,
                new_facts(self.placement, self.facts, self.session_id),
                inserts.rows_with(Citation, self.citations, workspace_id=workspace),
            ],
        )

    def _add_fact(self, claim: Claim, memory_id: uuid.UUID | None) -> None:
        fact = uuid7()
        self.facts.append({**fact_values(claim), "id": fact, "memory_id": memory_id})
        self.outcome.facts += 1
        self.citations += [
            {
                "fact_id": fact,
                "episode_id": quote.episode_id,
                "start": quote.start,
                "end": quote.end,
                "quote": quote.quote,
            }
            for quote in dict.fromkeys(claim.quotes)
        ]

    def _reinforce(self, claim: Claim, target: uuid.UUID) -> None:
        if target in self.memories:
            self.memories[target].source_count += 1
        else:
            self.support[target] = self.support.get(target, 0) + 1
        self.outcome.reinforced.append(target)
        self._add_fact(claim, target)

    def _supersede(self, decision: Decision, new: Draft, resolver: Resolver) -> None:
        new.version = max(target.version for target in decision.targets) + 1
        if decision.rule == "richer":
            # It says the same with more words: true, and supported, since the first of them was.
            (old,) = decision.targets
            new.valid_from = old.since or new.valid_from
            new.source_count += self._support(old)
        self._record(decision, new, State.APPLIED)
        for target in decision.targets:
            self._replace(target.id, new, resolver)

    def _support(self, old: Belief) -> int:
        if old.id in self.memories:
            return self.memories[old.id].source_count
        return old.support + self.support.get(old.id, 0)

    def _replace(self, target: uuid.UUID, new: Draft, resolver: Resolver) -> None:
        resolver.end(target)
        self.outcome.superseded.append(target)
        if target in self.memories:
            old = self.memories[target]
            old.superseded_by, old.superseded_at = new.id, self.now
            if old.valid_from < new.valid_from:
                old.valid_until = new.valid_from
        else:
            self.replaced[target] = new

    def _file_as_past(self, decision: Decision, new: Draft, resolver: Resolver) -> None:
        """`new` takes its place before the head, whose number grows; the head stays believed."""
        (head,) = decision.targets
        new.version = head.version
        new.superseded_by, new.superseded_at = head.id, self.now
        new.valid_until = head.since
        resolver.add(replace(head, version=head.version + 1))
        if head.id in self.memories:
            self.memories[head.id].version += 1
        else:
            self.promoted.add(head.id)
        kept = self._decision(decision, decision.met[0], new.id, State.APPLIED)
        kept.old_id, kept.new_id = new.id, head.id
        self.supersessions.append(kept)

    def _record(self, decision: Decision, new: Draft, state: str) -> None:
        self.supersessions += [self._decision(decision, met, new.id, state) for met in decision.met]

    def _decision(self, decision: Decision, met: Met, new: uuid.UUID, state: str) -> Supersession:
        return Supersession(
            workspace_id=self.placement.workspace_id,
            old_id=met.belief.id,
            new_id=new,
            similarity=met.similarity,
            model="" if met.similarity is None else str(self.space.embedding_model or ""),
            rule=decision.rule[: Supersession._meta.get_field("rule").max_length],
            method="vector" if decision.rule.endswith(NEAREST) else "guarded",
            state=state,
            decided_by=self.actor,
            decided_at=self.now,
        )

    def _life(self, draft: Draft) -> dict[str, object]:
        # What the same batch replaced, or filed as past, was believed for no time at all.
        ended = draft.superseded_by is not None
        return {
            "memory_id": draft.id,
            "from_at": self.now,
            "until_at": self.now if ended else None,
            "cause": MemoryPeriod.Cause.CREATED,
            "ended_by": "superseded" if ended else "",
        }


def _is_believed(draft: Draft) -> bool:
    return draft.held_at is None
