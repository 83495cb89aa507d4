"""The resolver: does a new statement reinforce, replace or stand beside what we believe?"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from django.utils import timezone

from memories import lexical, rejections
from memories.indexing import entries, nearest, spaces, statements
from memories.indexing.nearest import Pair, Placement
from memories.models import (
    Citation,
    Fact,
    Layer,
    Liveness,
    Memory,
    Supersession,
    WorkspaceIndex,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """The words a claim stands on: `quote` is the episode's `content[start:end]`."""

    episode_id: uuid.UUID
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement to be resolved, with what it stands on."""

    statement: str
    category: str
    fact_type: str
    visibility: str
    method: str
    rule: str
    source: str
    occurred_at: datetime
    confidence: float = 1.0
    entities: tuple[str, ...] = ()
    event_date: datetime | None = None
    quotes: tuple[Quote, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of claim: `reinforce`, `supersede`, `hold`, `rejected` or `new`.

    `target` is the memory it meets; memories made earlier in the batch have their id already.
    """

    act: str
    target: uuid.UUID | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A live memory as the resolver sees it."""

    id: uuid.UUID
    fingerprint: bytes
    group: str
    pinned: bool
    version: int


@dataclass(slots=True)
class Outcome:
    """What an apply did, by memory id, in the order of the claims; of those rejected, the text."""

    created: list[uuid.UUID] = field(default_factory=list)
    superseded: list[uuid.UUID] = field(default_factory=list)
    reinforced: list[uuid.UUID] = field(default_factory=list)
    held: list[uuid.UUID] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    facts: int = 0


def decide(same_text: Known | None, near: Known | None, similarity: float | None) -> Decision:
    """The seed's rule: the nearest live memory decides.

    `near` is the nearest one at or over the embedding model's threshold. A machine never
    supersedes a pinned memory: the newer one is held until a person approves it.
    """
    if same_text is not None:
        return Decision("reinforce", same_text.id, 1.0)
    if near is None:
        return Decision("new")
    return Decision("hold" if near.pinned else "supersede", near.id, similarity)


class Resolver:
    """Decides a batch of claims one after the other, each seeing what the ones before did."""

    def __init__(self, known: Sequence[Known], pairs: Sequence[Pair], threshold: float) -> None:
        self.live = {memory.id: memory for memory in known}
        self.threshold = threshold
        self.near: dict[int, list[tuple[float, uuid.UUID]]] = {}
        for pair in pairs:
            self.near.setdefault(pair.index, []).append((pair.similarity, pair.memory_id))
        self.texts = {(m.group, m.fingerprint): m.id for m in known}

    def resolve(self, index: int, new: Known) -> Decision:
        same = self.live.get(self.texts.get((new.group, new.fingerprint), new.id))
        found = max(self._near(index, new.group), default=None)
        near = self.live[found[1]] if found else None
        return decide(same, near, found[0] if found else None)

    def _near(self, index: int, group: str) -> list[tuple[float, uuid.UUID]]:
        pairs = self.near.get(index, [])
        return [(s, i) for s, i in pairs if i in self.live and self.live[i].group == group]

    def replaced(self, memory_id: uuid.UUID) -> None:
        gone = self.live.pop(memory_id)
        self.texts.pop((gone.group, gone.fingerprint), None)

    def added(self, new: Known, vectors: Sequence[np.ndarray | None], index: int) -> None:
        """Later claims of the batch meet this one too."""
        self.live[new.id] = new
        self.texts[new.group, new.fingerprint] = new.id
        own = vectors[index] if vectors else None
        if own is None:
            return
        for later in range(index + 1, len(vectors)):
            other = vectors[later]
            if other is not None and (similarity := float(own @ other)) >= self.threshold:
                self.near.setdefault(later, []).append((similarity, new.id))


def apply(
    space: WorkspaceIndex,
    placement: Placement,
    claims: Sequence[Claim],
    vectors: Sequence[entries.Vectors] | None,
    *,
    actor: str,
    session_id: uuid.UUID | None = None,
) -> Outcome:
    """Write claims as facts under new, replaced or reinforced memories, and index them.

    Runs in the caller's transaction and takes the workspace's lock, so that of two writers
    of the same thing the second meets the first one's memory.
    `vectors`: per claim one sequence, as `entries.write` takes them; None: still to be made.
    """
    if not claims:
        return Outcome()
    spaces.lock(space)
    whole = [found[0] for found in vectors] if vectors is not None else []
    batch = _Batch(space, placement, actor, session_id)
    resolver = _resolver(space, placement, claims, whole)
    said = [claim.statement for claim in claims]
    refused = rejections.refused(space, placement.subject_id, said, whole)
    for index, claim in enumerate(claims):
        # A person may say by hand what a person had rejected.
        if index in refused and claim.method != Fact.Method.MANUAL:
            batch.add_fact(claim, None)
            batch.outcome.rejected.append(claim.statement)
            continue
        batch.take(claim, index, resolver, whole)
    batch.write(vectors)
    return batch.outcome


def _resolver(
    space: WorkspaceIndex,
    placement: Placement,
    claims: Sequence[Claim],
    whole: Sequence[np.ndarray | None],
) -> Resolver:
    pairs = nearest.nearest(space, placement, whole, [c.visibility for c in claims])
    values = _where(placement) | {
        "fingerprints": _fingerprints(claims),
        "ids": list({pair.memory_id for pair in pairs}),
    }
    known = [Known(*row) for row in statements.rows(KNOWN, values)]
    model = space.embedding_model
    return Resolver(known, pairs, model.duplicate_threshold if model else 2.0)


# Live memories that a new one of this placement may meet, of every visibility.
KNOWN = """
select id, fingerprint, visibility, pinned, version from memories_memory
where workspace_id = %(workspace)s and subject_id is not distinct from %(subject)s::uuid
  and scope = %(scope)s
  and (scope <> 'thread' or conversation_id = %(conversation)s::uuid)
  and (scope <> 'workflow' or workflow = %(workflow)s)
  and superseded_by_id is null and forgotten_at is null and held_at is null
  and (forget_after is null or forget_after > now())
  and (visibility = 'global'
       or (visibility = 'team' and (agent_id = any(%(team)s::uuid[])
                                    or (agent_id is null and %(default_team)s)))
       or (visibility = 'private' and agent_id is not distinct from %(agent)s::uuid))
  and (fingerprint = any(%(fingerprints)s::bytea[]) or id = any(%(ids)s::uuid[]))
order by id
"""


def _where(placement: Placement) -> dict[str, object]:
    return {
        "workspace": placement.workspace_id,
        "subject": placement.subject_id,
        "scope": str(placement.scope),
        "conversation": placement.conversation_id,
        "workflow": placement.workflow,
        "team": list(placement.team),
        "default_team": placement.in_default_team,
        "agent": placement.agent_id,
    }


def _fingerprints(claims: Sequence[Claim]) -> list[bytes]:
    return list({lexical.fingerprint(claim.statement) for claim in claims})


def fact_of(placement: Placement, claim: Claim, session_id: uuid.UUID | None) -> Fact:
    """An unsaved fact of a claim, under no memory yet."""
    return Fact(
        workspace_id=placement.workspace_id,
        session_id=session_id,
        subject_id=placement.subject_id,
        agent_id=placement.agent_id,
        statement=claim.statement,
        category=claim.category,
        fact_type=claim.fact_type,
        confidence=claim.confidence,
        method=claim.method,
        rule=claim.rule,
        entities=list(claim.entities),
        visibility=claim.visibility,
        event_date=claim.event_date,
    )


def quarantine(
    placement: Placement, claims: Sequence[Claim], reason: str, session_id: uuid.UUID
) -> None:
    """Keep claims that stand on nothing for a person to review; they are not believed."""
    facts = [fact_of(placement, claim, session_id) for claim in claims]
    for fact in facts:
        fact.quarantined_at, fact.quarantine_reason = timezone.now(), reason
    statements.insert(facts)


class _Batch:
    """The rows that a batch of decisions comes to, written together at its end."""

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
        self.memories: dict[uuid.UUID, tuple[int, Memory]] = {}
        self.facts: list[Fact] = []
        self.citations: list[Citation] = []
        self.supersessions: list[Supersession] = []
        self.replaced: dict[uuid.UUID, Memory] = {}
        self.support: dict[uuid.UUID, int] = {}

    def take(
        self, claim: Claim, index: int, resolver: Resolver, whole: Sequence[np.ndarray | None]
    ) -> None:
        new = self._memory(claim)
        known = Known(new.pk, bytes(new.fingerprint), new.visibility, False, 1)
        decision = resolver.resolve(index, known)
        target = decision.target
        if target is not None and decision.act == "reinforce":
            self._reinforce(claim, target)
            return
        self.memories[new.pk] = (index, new)
        self.outcome.created.append(new.pk)
        self.add_fact(claim, new.pk)
        if target is not None and decision.act == "hold":
            new.held_at = self.now
            self._record(decision, target, new, Supersession.State.PENDING)
            self.outcome.held.append(new.pk)
            return
        if target is not None:
            new.version = resolver.live[target].version + 1
            self._record(decision, target, new, Supersession.State.APPLIED)
            self._replace(target, new, resolver)
        resolver.added(replace(known, version=new.version), whole, index)

    def add_fact(self, claim: Claim, memory_id: uuid.UUID | None) -> None:
        fact = fact_of(self.placement, claim, self.session_id)
        fact.memory_id = memory_id
        self.facts.append(fact)
        self.outcome.facts += 1
        self.citations += [
            Citation(
                workspace_id=self.placement.workspace_id,
                fact=fact,
                episode_id=quote.episode_id,
                start=quote.start,
                end=quote.end,
                quote=quote.quote,
            )
            for quote in dict.fromkeys(claim.quotes)
        ]

    def write(self, vectors: Sequence[entries.Vectors] | None) -> None:
        made = [memory for _, memory in self.memories.values()]
        statements.insert(made)
        Memory.objects.add_support(self.support)
        self._end_replaced()
        statements.insert([self._life(m) for m in made if m.held_at is None])
        statements.insert(self.supersessions)
        statements.insert(self.facts)
        statements.insert(self.citations)
        places = [index for index, _ in self.memories.values()]
        found = None if vectors is None else [vectors[index] for index in places]
        entries.write(self.space, [entries.memory_item(memory) for memory in made], found)

    def _memory(self, claim: Claim) -> Memory:
        place = self.placement
        return Memory(
            workspace_id=place.workspace_id,
            subject_id=place.subject_id,
            agent_id=place.agent_id,
            conversation_id=place.conversation_id,
            workflow=place.workflow,
            scope=place.scope,
            content=claim.statement,
            fingerprint=lexical.fingerprint(claim.statement),
            entities=list(claim.entities),
            fact_type=claim.fact_type,
            category=claim.category,
            source=claim.source,
            confidence=claim.confidence,
            visibility=claim.visibility,
            event_date=claim.event_date,
            # Of a past event, since then; of a plan, since it was made.
            valid_from=min(claim.event_date or claim.occurred_at, claim.occurred_at),
            source_count=1,
            metadata=dict(claim.metadata),
        )

    def _reinforce(self, claim: Claim, target: uuid.UUID) -> None:
        if target in self.memories:
            self.memories[target][1].source_count += 1
        else:
            self.support[target] = self.support.get(target, 0) + 1
        self.outcome.reinforced.append(target)
        self.add_fact(claim, target)

    def _record(self, decision: Decision, target: uuid.UUID, new: Memory, state: str) -> None:
        self.supersessions.append(
            Supersession(
                workspace_id=self.placement.workspace_id,
                old_id=target,
                new_id=new.pk,
                similarity=decision.similarity,
                rule="nearest" if state == Supersession.State.APPLIED else "pinned",
                method="vector",
                state=state,
                decided_by=self.actor,
                decided_at=self.now,
            )
        )

    def _replace(self, target: uuid.UUID, new: Memory, resolver: Resolver) -> None:
        resolver.replaced(target)
        self.outcome.superseded.append(target)
        if target in self.memories:
            old = self.memories[target][1]
            old.superseded_by_id, old.superseded_at = new.pk, self.now
            old.valid_until = new.valid_from
        else:
            self.replaced[target] = new

    def _end_replaced(self) -> None:
        for old, new in self.replaced.items():
            Memory.objects.filter(pk=old).supersede(by=new, at=self.now)
        if self.replaced:
            entries.set_live(self.space, Layer.MEMORIES, self.replaced, live=False)

    def _life(self, memory: Memory) -> Liveness:
        # A version that the same batch replaced was believed for no time at all.
        ended = memory.superseded_by_id is not None
        return Liveness(
            workspace_id=self.placement.workspace_id,
            memory=memory,
            from_at=self.now,
            until_at=self.now if ended else None,
            cause=Liveness.Cause.CREATED,
            ended_by="superseded" if ended else "",
        )
