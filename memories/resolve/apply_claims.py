"""From claims to memories: gather what they meet, decide, write."""

import uuid
from collections.abc import Sequence

import numpy as np

from memories.english import statements
from memories.index import entries, repair, slot_keys, workspace_index
from memories.index.nearest import Placement
from memories.models import Fact, WorkspaceIndex
from memories.resolve import neighbours, rejections
from memories.resolve.claims import Claim, ResolveOutcome
from memories.resolve.decide import GUARDED, NEAREST, Judge
from memories.resolve.resolver import Resolver
from memories.resolve.write import ClaimBatch


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
    judge = Judge(space.conflict_rule or GUARDED, threshold, slot_keys.words_of(space))
    # Before the lock: other writers wait for nothing but the database.
    readings = [statements.read(claim.statement, judge.words) for claim in claims]
    owner = placement.subject_id or placement.workspace_id
    keys = [slot_keys.keys(owner, reading) for reading in readings]
    whole = [] if vectors is None else [passages[0] for passages in vectors]
    workspace_index.lock(space)
    repair.repair_locked(space, placement.subject_id)
    batch = ClaimBatch(space, placement, actor, session_id, judge.words)
    resolver = _resolver(batch, claims, readings, keys, whole, judge)
    texts = [claim.statement for claim in claims]
    refused = rejections.refused(space, placement.subject_id, texts, whole)
    for index, (claim, own_keys) in enumerate(zip(claims, keys, strict=True)):
        # A person may say by hand what a person had rejected.
        if index in refused and claim.method != Fact.Method.MANUAL:
            batch.reject(claim)
        else:
            batch.take(claim, index, own_keys, resolver)
    batch.write(vectors)
    return batch.outcome


def _resolver(
    batch: ClaimBatch,
    claims: Sequence[Claim],
    readings: Sequence[statements.Reading],
    keys: Sequence[Sequence[int]],
    whole: Sequence[np.ndarray | None],
    judge: Judge,
) -> Resolver:
    """Knows the live memories that the claims may meet."""
    pairs = neighbours.near(batch.space, batch.placement, whole, claims, judge)
    wanted: set[int] = set()
    if judge.rule != NEAREST:
        pairs += neighbours.negated(batch.space, batch.placement, readings, judge)
        wanted.update(*keys)
    known = neighbours.known(batch.placement, claims, wanted, pairs)
    return Resolver(judge, known, pairs, vectors=whole, floor=neighbours.floor(judge))
