"""Sets of features may speak an embedding model of their own: then the layer is asked once per
model, each with the query's vector under it, and no vector meets one of another model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from memories.index import statements, workspace_index
from memories.models import EmbeddingModel, Layer, WorkspaceIndex
from memories.ranking import Columns
from memories.ranking.columns import Array
from memories.search import candidates
from memories.search.candidates import Depth, Found
from memories.search.conditions import Asked, Wanted

Embed = Callable[[WorkspaceIndex], np.ndarray | None]  # the query's vector, in a workspace's model

MODELS = """
select id, provider, name, dimensions, duplicate_threshold, search_floor, state
from memories_embeddingmodel where id in (
  select distinct embedding_model_id from memories_featureset
  where workspace_id = %(workspace)s and embedding_model_id is not null)
order by id
"""
THEIRS = """exists (select 1 from memories_featureset st where st.id = row.set_id
  and st.embedding_model_id = %(set_model)s::int2)"""
OTHERS = """exists (select 1 from memories_featureset st where st.id = row.set_id
  and st.embedding_model_id is null)"""


@dataclass(frozen=True, slots=True)
class Voice:
    """The part of a layer whose vectors are of one model; `house` is the workspace's own."""

    space: WorkspaceIndex
    asked: Asked
    house: EmbeddingModel | None = None

    def merged(self, *, by_words: bool, most: int) -> list[Found]:
        rows = candidates.linea(self.space, self.asked, by_words=by_words, most=most)
        if self._is_house:
            return rows
        told = self._told(np.array([row.cosine for row in rows], float)).tolist()
        return [
            replace(row, cosine=None if row.cosine is None else cosine)
            for row, cosine in zip(rows, told, strict=True)
        ]

    def pool(self, stems: list[str], depth: Depth) -> Columns:
        found = candidates.pool(self.space, self.asked, stems, depth)
        return found if self._is_house else replace(found, cosine=self._told(found.cosine))

    @property
    def _is_house(self) -> bool:
        return self.house in (None, self.space.embedding_model)

    def _told(self, cosines: Array) -> Array:
        """In the workspace's terms: what is chance, and what is the same, differ by model."""
        own = self.space.embedding_model
        if own is None or self.house is None:
            return cosines
        reach = (cosines - own.search_floor) / max(own.duplicate_threshold - own.search_floor, 0.01)
        span = self.house.duplicate_threshold - self.house.search_floor
        there: Array = (self.house.search_floor + reach * span).clip(-1.0, 1.0)
        return there


def voices_of(space: WorkspaceIndex, asked: Asked, embed: Embed) -> Iterator[Voice]:
    """The parts of a layer; `asked` has the query's vector in the workspace's model already."""
    models = _models(space) if asked.layer == Layer.FEATURES else []
    if not models:
        yield Voice(space, asked)
        return
    yield Voice(space, _only(asked, OTHERS))
    for model in models:
        other = workspace_index.speaking(space, model)
        there = replace(_only(asked, THEIRS, model.pk), vector=embed(other))
        yield Voice(other, there, space.embedding_model)


def _models(space: WorkspaceIndex) -> list[EmbeddingModel]:
    found = statements.rows(MODELS, {"workspace": space.workspace_id})
    return [EmbeddingModel(**row._asdict()) for row in found]


def _only(asked: Asked, condition: str, model: int | None = None) -> Asked:
    both = " and ".join(filter(None, (asked.wanted.condition, condition)))
    wanted = Wanted(both, asked.wanted.history)
    return replace(asked, wanted=wanted, wanted_values={**asked.wanted_values, "set_model": model})
