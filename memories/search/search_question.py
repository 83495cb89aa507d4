"""A search as it is asked: by whom, of which index, about whom, and what its request leaves to find
in each layer."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from typing import Any, Self

from django.utils import timezone

from memories.errors import Forbidden
from memories.index import prepared_sql, workspace_index
from memories.models import AsOf, EmbeddingModel, Layer, WorkspaceIndex
from memories.models.document import IN_SPACES
from memories.models.memory import OF_OTHER_SPACES
from memories.models.memory_state import KNOWN_AT as K
from memories.models.memory_state import SAID_BEFORE as S
from memories.models.memory_state import VALID_AT as V
from memories.ranking import Participant
from memories.search import filters
from memories.search.conditions import LayerQuery, RowCondition
from memories.search.request import LAYERS, SearchRequest, Trace
from workspaces.scope import NOBODY, NotAllowed, Scope, agent_to_read
from workspaces.time_zones import as_day_is_stored, by_clock, offset_of

NAMED = """
select (select id from workspaces_subject
        where workspace_id = %(workspace)s and external_id = %(user)s) as subject,
       (select name from workspaces_subject
        where workspace_id = %(workspace)s and external_id = %(user)s) as called,
       (select time_zone from workspaces_subject
        where workspace_id = %(workspace)s and external_id = %(user)s) as time_zone,
       (select id from memories_conversation
        where workspace_id = %(workspace)s and external_id = %(thread)s) as thread
"""
# Of a document, what it said at that time; over `row`.
SAID_BY_DOCUMENT = f"""(row.known_from <= {K}
  and (row.superseded_at is null or row.superseded_at > {K})
  and ({V} is null or row.occurred_at <= {V}))"""
# What a key sees that is limited to spaces; over `row`.
SEEN_IN_SPACES = {
    "memories": f"row.id not in ({OF_OTHER_SPACES})",
    "chunks": f"({IN_SPACES.format(document='row.document_id', tags='spaces')})",
}
SAID_BEFORE_BY_DOCUMENT = f"""(row.known_from <= {K} and row.occurred_at <= {S}
  and ({V} is null or row.occurred_at <= {V})
  and (row.superseded_at is null or not exists (
    select 1 from memories_revision own
    join memories_revision n on n.document_id = own.document_id and n.number > own.number
    join memories_document d on d.id = n.document_id
    where own.id = row.revision_id and n.created_at <= {K} and n.stage = ''
      and coalesce(n.published_at, d.created_at) <= {S})))"""
WITH_HISTORY = ("memories", "chunks")  # layers of which old versions are kept
# The passages of a space's documents; each is looked up, whatever the planner thinks of their
# number.
OF_FEW_SPACES = """
  select p.id from memories_space sp
  cross join lateral (select t.document_id from memories_documentspace t
    where t.space_id = sp.id offset 0) ds
  cross join lateral (select t.id from memories_revision t
    where t.document_id = ds.document_id offset 0) r
  cross join lateral (select t.id from memories_passage t
    where t.revision_id = r.id offset 0) p
  where sp.workspace_id = %(tenant)s::uuid and sp.container_tag = any(%({tags})s::text[])"""
MODELS = """
select id, provider, name, dimensions, duplicate_threshold, search_floor, state
from memories_embeddingmodel where id in (
  select distinct embedding_model_id from memories_featureset
  where workspace_id = %(workspace)s and embedding_model_id is not null)
order by id
"""


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """A search on its way. Its parts, and whatever tells more of its answer, share what was looked
    up for it. `asked` has ids of the index; its scope is that of the agent who reads."""

    scope: Scope
    request: SearchRequest
    asked: LayerQuery
    participants: Callable[[], tuple[list[Participant], float]]
    models: Callable[[], list[EmbeddingModel]]  # those that sets of features speak
    begun: float

    @classmethod
    def of(cls, scope: Scope, request: SearchRequest, index: WorkspaceIndex | None = None) -> Self:
        """Look up who asks, and about whom. `index` is the workspace as it would be under other
        settings or another model. Raises Forbidden."""
        begun = time.perf_counter()
        asked = _asked(scope, request, index or workspace_index.index_for(scope))
        people = cache(partial(workspace_index.participants, asked.index, asked.subject))
        return cls(scope, request, asked, people, cache(partial(_models, asked.index)), begun)

    @property
    def now(self) -> datetime:
        """The time at which it is asked, by the clock of whom it is about; as days are stored."""
        at = self.request.now or timezone.now()
        return as_day_is_stored(by_clock(at, offset_of(at, self.asked.time_zone)))

    @property
    def index(self) -> WorkspaceIndex:
        return self.asked.index

    def part(self, query: str, limit: int) -> Self:
        """Return the search for a part of the question, which leaves no trace."""
        request = replace(self.request, query=query, limit=limit)
        return replace(self, request=request, asked=replace(self.asked, trace=None))

    def in_layer(self, layer: str) -> LayerQuery | None:
        """Put the question to one layer; None where its filters leave nothing to find there."""
        request, asked = self.request, self.asked
        if layer != "memories" and (request.fact_types or request.categories):
            return None
        if layer == "summaries" and not request.at.is_now:  # they tell what is known now
            return None
        own = {"factType": list(request.fact_types), "category": list(request.categories)}
        tree = filters.all_of(own, request.filter)
        values: dict[str, Any] = {}
        conditions = [filters.sql_of(tree, layer, values, request.at)] if tree else []
        # What features were stands in their history alone: see PastFeatures in rank.py.
        history = not request.at.is_now and layer != "features"
        if history:
            values |= request.at.values
            conditions.append(_then(layer, request.at))
        few = ""
        if asked.scope.container_tags is not None and layer in SEEN_IN_SPACES:
            conditions.append(SEEN_IN_SPACES[layer])
            values["tenant"] = asked.scope.workspace_id
            few = OF_FEW_SPACES.format(tags="spaces") if layer == "chunks" else ""
        indexed = ""
        if tree and layer == "memories" and not history:
            indexed = filters.indexed_sql_of(tree, values)
            values |= {"tenant": asked.scope.workspace_id} if indexed else {}
        # What was replaced is in no index for search.
        wanted = RowCondition(" and ".join(conditions), history and layer in WITH_HISTORY, few, indexed)
        return replace(asked, layer=LAYERS[layer], wanted=wanted, wanted_values=values)


def _asked(scope: Scope, request: SearchRequest, index: WorkspaceIndex) -> LayerQuery:
    try:
        reader = agent_to_read(scope, request.agent_id)
    except NotAllowed as error:
        raise Forbidden(error.message, "agentId") from None
    subject = thread = None
    called: tuple[str, ...] = ()
    zone = ""
    if request.user_id or request.thread_id:
        values = {"workspace": scope.workspace_id, "user": request.user_id, "thread": request.thread_id}
        [named] = prepared_sql.rows(NAMED, values)
        # An unknown name gets an id that nothing has.
        subject = (named.subject or NOBODY) if request.user_id else None
        thread = (named.thread or NOBODY) if request.thread_id else None
        called, zone = (request.user_id, named.called or ""), named.time_zone or ""
    return LayerQuery(
        index,
        reader,
        Layer.MEMORIES,
        request.query,
        subject=subject,
        called=called,
        time_zone=zone or index.time_zone,
        memory_scope=request.memory_scope,
        place_of_thread=thread,
        workflow=request.workflow_id,
        trace=Trace() if "scores" in request.include else None,
    )


def _models(index: WorkspaceIndex) -> list[EmbeddingModel]:
    rows = prepared_sql.rows(MODELS, {"workspace": index.workspace_id})
    return [EmbeddingModel(**row._asdict()) for row in rows]


def _then(layer: str, at: AsOf) -> str:
    """Return the condition that a row of the layer was believed, or had been said, at an instant."""
    if layer == "memories":
        return at.believed
    if layer == "chunks":
        return SAID_BY_DOCUMENT if at.said_before is None else SAID_BEFORE_BY_DOCUMENT
    return at.was_said
