"""From claims to memories: gather what they meet, decide, write."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memories.english import statements as conflicts
from memories.english.statements import Reading
from memories.index import entries, repair, slots, workspace_index
from memories.index.nearest import Placement
from memories.models import Fact, WorkspaceIndex
from memories.resolve import neighbours, rejections
from memories.resolve.claims import Claim, Outcome
from memories.resolve.decide import GUARDED, NEAREST, Judge
from memories.resolve.resolver import Resolver
from memories.resolve.write import Batch


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
    judge = _judge(space)
    # Before the lock: other writers wait for nothing but the database.
    told = _Told.of(placement, claims, vectors, judge)
    workspace_index.lock(space)
    repair.repair_locked(space, placement.subject_id)
    batch = Batch(space, placement, actor, session_id)
    resolver = _resolver(batch, told, judge)
    said = [claim.statement for claim in claims]
    refused = rejections.refused(space, placement.subject_id, said, told.whole)
    for index, (claim, keys) in enumerate(zip(claims, told.keys, strict=True)):
        # A person may say by hand what a person had rejected.
        if index in refused and claim.method != Fact.Method.MANUAL:
            batch.reject(claim)
        else:
            batch.take(claim, index, keys, resolver)
    batch.write(vectors)
    return batch.outcome


@dataclass(frozen=True, slots=True)
class _Told:
    """The claims taken apart: their readings, slot keys, and the vectors of their whole texts,
    or no vectors where they are still to be made."""

    claims: Sequence[Claim]
    readings: list[Reading]
    keys: list[list[int]]
    whole: list[np.ndarray | None]

    @classmethod
    def of(
        cls,
        placement: Placement,
        claims: Sequence[Claim],
        vectors: Sequence[entries.Vectors] | None,
        judge: Judge,
    ) -> "_Told":
        readings = [conflicts.read(claim.statement, judge.words) for claim in claims]
        keys = [neighbours.keys_of(placement, reading) for reading in readings]
        whole = [] if vectors is None else [found[0] for found in vectors]
        return cls(claims, readings, keys, whole)


def _judge(space: WorkspaceIndex) -> Judge:
    model = space.embedding_model
    threshold = model.duplicate_threshold if model else 2.0
    return Judge(space.conflict_rule or GUARDED, threshold, slots.words_of(space))


def _resolver(batch: Batch, told: _Told, judge: Judge) -> Resolver:
    pairs = neighbours.near(batch.space, batch.placement, told.whole, told.claims, judge)
    keys: set[int] = set()
    if judge.rule != NEAREST:
        pairs += neighbours.negated(batch.space, batch.placement, told.readings, judge)
        keys.update(*told.keys)
    known = neighbours.known(batch.placement, told.claims, keys, pairs)
    return Resolver(judge, known, pairs, vectors=told.whole, floor=neighbours.floor(judge))
