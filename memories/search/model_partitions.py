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
from memories.search.candidates import Depth, EntryMatch
from memories.search.conditions import LayerQuery, RowCondition

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
class ModelPartition:
    """The part of a layer whose vectors are of one model; `own_model` is the workspace's."""

    index: WorkspaceIndex
    asked: LayerQuery
    own_model: EmbeddingModel | None = None

    def merged(self, *, by_words: bool, most: int) -> list[EntryMatch]:
        rows = candidates.linea(self.index, self.asked, by_words=by_words, most=most)
        if self._is_own:
            return rows
        cosines = self._in_own_terms(np.array([row.cosine for row in rows], float)).tolist()
        return [
            replace(row, cosine=None if row.cosine is None else cosine)
            for row, cosine in zip(rows, cosines, strict=True)
        ]

    def pool(self, stems: list[str], depth: Depth) -> Columns:
        found = candidates.pool(self.index, self.asked, stems, depth)
        return found if self._is_own else replace(found, cosine=self._in_own_terms(found.cosine))

    @property
    def _is_own(self) -> bool:
        return self.own_model in (None, self.index.embedding_model)

    def _in_own_terms(self, cosines: Array) -> Array:
        """In the workspace's terms: what is chance, and what is the same, differ by model."""
        own = self.index.embedding_model
        if own is None or self.own_model is None:
            return cosines
        reach = (cosines - own.search_floor) / max(own.duplicate_threshold - own.search_floor, 0.01)
        span = self.own_model.duplicate_threshold - self.own_model.search_floor
        there: Array = (self.own_model.search_floor + reach * span).clip(-1.0, 1.0)
        return there


def partitions_of(
    index: WorkspaceIndex, asked: LayerQuery, embed: Embed
) -> Iterator[ModelPartition]:
    """The parts of a layer; `asked` has the query's vector in the workspace's model already."""
    models = []
    if asked.layer == Layer.FEATURES:
        rows = statements.rows(MODELS, {"workspace": index.workspace_id})
        models = [EmbeddingModel(**row._asdict()) for row in rows]
    if not models:
        yield ModelPartition(index, asked)
        return
    yield ModelPartition(index, _only(asked, OTHERS))
    for model in models:
        other = workspace_index.under_model(index, model)
        there = replace(_only(asked, THEIRS, model.pk), vector=embed(other))
        yield ModelPartition(other, there, index.embedding_model)


def _only(asked: LayerQuery, condition: str, model: int | None = None) -> LayerQuery:
    both = " and ".join(filter(None, (asked.wanted.condition, condition)))
    wanted = RowCondition(both, asked.wanted.history)
    return replace(asked, wanted=wanted, wanted_values={**asked.wanted_values, "set_model": model})
