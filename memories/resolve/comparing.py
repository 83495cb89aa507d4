"""How near a statement is to what it met, where deciding did not need to know: a slot, a word or
a pin led to it. Policy and the person who reviews it do."""

import uuid
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pgvector import HalfVector

from memories.index import statements
from memories.models import Layer, WorkspaceIndex
from memories.resolve.decide import Decision
from memories.resolve.resolver import Resolver

COSINES = """
select e.item, -(x.embedding <#> %(vector)s::halfvec) as similarity
from memories_entry e join memories_vector x on x.entry_id = e.id
where e.layer = %(layer)s and e.item = any(%(items)s::uuid[])
  and x.embedding_model_id = %(model)s and x.part = 0
"""


def compared(space: WorkspaceIndex, resolver: Resolver, index: int, decision: Decision) -> Decision:
    """The decision with the cosine of each pair of which both vectors are there."""
    missing = [met.belief.id for met in decision.met if met.similarity is None]
    vector = resolver.vector(index)
    if not missing or vector is None:
        return decision
    found = resolver.similarities(index, missing)
    unknown = [each for each in missing if each not in found]
    found |= _stored(space, vector, unknown)
    met = tuple(
        replace(each, similarity=found.get(each.belief.id)) if each.similarity is None else each
        for each in decision.met
    )
    return replace(decision, met=met)


def _stored(
    space: WorkspaceIndex, vector: np.ndarray, memories: Sequence[uuid.UUID]
) -> dict[uuid.UUID, float]:
    if not memories or space.embedding_model is None:
        return {}
    values = {
        "vector": HalfVector(vector),
        "layer": int(Layer.MEMORIES),
        "items": list(memories),
        "model": space.embedding_model.pk,
    }
    return {row.item: row.similarity for row in statements.rows(COSINES, values)}
