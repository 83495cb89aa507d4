"""Approximate indexes of large layers: which there are, and by which names.

One partial HNSW per workspace and layer, sealed: it holds the entries up to an id, so that nothing
new is written to it. What is newer is the tail, compared one by one in a small index of its own.
A text that shall use them says workspace, model, layer and that id as literals: no other text can.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from memories.models import WorkspaceIndex
from workspaces.scope import NOBODY

# Of a workspace: what `index_of` reads of its segments.
SEGMENTS = """
(select coalesce(jsonb_agg(jsonb_build_object(
          'layer', l.layer, 'model', l.embedding_model_id, 'upto', l.sealed_upto,
          'subjects', l.large_subjects)), '[]')
 from memories_largelayer l
 where l.workspace_id = s.number and l.sealed_upto is not null) as segments"""


@dataclass(frozen=True, slots=True)
class Segment:
    """Vectors of entries up to `upto` are in an HNSW. `large_subjects` are those of whom a good
    part of the layer speaks; None stands for nobody in particular."""

    number: int
    model: int
    layer: int
    dimensions: int
    upto: int
    large_subjects: frozenset[uuid.UUID | None] = frozenset()

    @property
    def sealed_name(self) -> str:
        return f"vector_sealed_{self._name}"

    @property
    def tail_name(self) -> str:
        return f"vector_tail_{self._name}"

    @property
    def _name(self) -> str:
        return f"{self.number}_{self.model}_{self.layer}_{self.upto}"

    @property
    def rows(self) -> str:
        """The predicate of both indexes, but for the id."""
        return (
            f"workspace = {self.number} and embedding_model_id = {self.model}"
            f" and layer = {self.layer} and live"
        )

    @property
    def kind(self) -> str:
        return f"halfvec({self.dimensions})"

    def speaks_of(self, subjects: Sequence[uuid.UUID | None]) -> bool:
        """Whether one of the subjects has so much that the HNSW is the way to it."""
        return not self.large_subjects.isdisjoint(subjects)


def segment_of(index: WorkspaceIndex, layer: int) -> Segment | None:
    """The segment of a layer under the model that the workspace speaks."""
    for row in index.segments:
        if row["layer"] == layer and row["model"] == index.embedding_model_id:
            assert index.embedding_model is not None
            subjects = (uuid.UUID(subject) for subject in row["subjects"])
            return Segment(
                number=index.number,
                model=row["model"],
                layer=row["layer"],
                dimensions=index.embedding_model.dimensions,
                upto=row["upto"],
                large_subjects=frozenset(None if s == NOBODY else s for s in subjects),
            )
    return None
