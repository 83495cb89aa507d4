"""From claims to memories: gather what they meet, decide, write."""

import uuid
from collections.abc import Sequence

import numpy as np

from memories import conflicts, rejections
from memories.conflicts import Reading
from memories.indexing import entries, slots, spaces
from memories.indexing.nearest import Placement
from memories.models import Fact, WorkspaceIndex
from memories.supersession import candidates
from memories.supersession.claims import Claim, Outcome
from memories.supersession.deciding import GUARDED, NEAREST, Judge
from memories.supersession.resolver import Resolver
from memories.supersession.writing import Batch


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
    readings = [conflicts.read(claim.statement, judge.words) for claim in claims]
    spaces.lock(space)
    batch = Batch(space, placement, actor, session_id)
    resolver = _resolver(batch, claims, readings, vectors, judge)
    said = [claim.statement for claim in claims]
    refused = rejections.refused(space, placement.subject_id, said, _whole(vectors))
    for index, (claim, reading) in enumerate(zip(claims, readings, strict=True)):
        # A person may say by hand what a person had rejected.
        if index in refused and claim.method != Fact.Method.MANUAL:
            batch.reject(claim)
        else:
            batch.take(claim, index, candidates.keys_of(placement, reading), resolver)
    batch.write(vectors)
    return batch.outcome


def _judge(space: WorkspaceIndex) -> Judge:
    model = space.embedding_model
    threshold = model.duplicate_threshold if model else 2.0
    return Judge(space.conflict_rule or GUARDED, threshold, slots.words_of(space))


def _resolver(
    batch: Batch,
    claims: Sequence[Claim],
    readings: Sequence[Reading],
    vectors: Sequence[entries.Vectors] | None,
    judge: Judge,
) -> Resolver:
    whole = _whole(vectors)
    pairs = candidates.near(batch.space, batch.placement, whole, claims, judge)
    keys: set[int] = set()
    if judge.rule != NEAREST:
        pairs += candidates.negated(batch.space, batch.placement, readings, judge)
        keys.update(*(candidates.keys_of(batch.placement, reading) for reading in readings))
    known = candidates.known(batch.placement, claims, keys, pairs)
    return Resolver(judge, known, pairs, vectors=whole, floor=candidates.floor(judge))


def _whole(vectors: Sequence[entries.Vectors] | None) -> list[np.ndarray | None]:
    """Of each claim the vector of its whole text; nothing where they are still to be made."""
    return [] if vectors is None else [found[0] for found in vectors]
