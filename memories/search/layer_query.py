"""Who asks, about whom and under which conditions, by the ids of the index."""

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from memories.errors import Forbidden, ProviderError, Unasked
from memories.index import statements
from memories.models import BELIEVED, SAID, Layer, WorkspaceIndex
from memories.search import filters, query_vectors
from memories.search.conditions import LayerQuery, RowCondition
from memories.search.request import LAYERS, WORDS_ONLY, SearchRequest
from memories.search.trace import Trace
from workspaces.external_ids import NOBODY, NotAllowed, agent_to_read
from workspaces.scope import Scope

log = logging.getLogger(__name__)


def asked_of(scope: Scope, request: SearchRequest) -> LayerQuery:
    """Who asks and about whom, by the ids of the index. Raises Forbidden."""
    try:
        reader = agent_to_read(scope, request.agent_id)
    except NotAllowed as error:
        raise Forbidden(error.message, "agentId") from None
    subject = thread = None
    if request.user_id or request.thread_id:
        values = {
            "workspace": scope.workspace_id, "user": request.user_id, "thread": request.thread_id,
        }  # fmt: skip
        [named] = statements.rows(NAMED, values)
        # What is unknown has an id that nothing has.
        subject = (named.subject or NOBODY) if request.user_id else None
        thread = (named.thread or NOBODY) if request.thread_id else None
    return LayerQuery(
        scope=reader,
        layer=Layer.MEMORIES,
        query=request.query,
        subject=subject,
        memory_scope=request.memory_scope,
        place_of_thread=thread,
        workflow=request.workflow_id,
        trace=Trace() if "scores" in request.include else None,
    )


NAMED = """
select (select id from workspaces_subject
        where workspace_id = %(workspace)s and external_id = %(user)s) as subject,
       (select id from memories_conversation
        where workspace_id = %(workspace)s and external_id = %(thread)s) as thread
"""


def query_vector(
    index: WorkspaceIndex, query: str, notes: list[str] | None = None
) -> np.ndarray | None:
    """None where it has none; also where the model fails, which `notes` are told."""
    try:
        return query_vectors.vector_of(index, query)
    except ProviderError as error:
        if not isinstance(error, Unasked):  # what is not asked was told when it failed
            log.warning("A search goes on by words alone: %s", error)
        if notes is not None:
            notes.append(WORDS_ONLY)
        return None


def in_layer(request: SearchRequest, asked: LayerQuery, layer: str) -> LayerQuery | None:
    """The question put to one layer; None where its filters leave nothing to find there."""
    if layer != "memories" and (request.fact_types or request.categories):
        return None
    own = {"factType": list(request.fact_types), "category": list(request.categories)}
    tree = filters.all_of(own, request.filter)
    values: dict[str, Any] = {}
    conditions = [filters.sql_of(tree, layer, values, request.at)] if tree else []
    # What features were stands in their history alone: see past_features.
    history = not request.at.is_now and layer != "features"
    if history:
        values |= request.at.values
        conditions.append(BELIEVED if layer == "memories" else SAID)
    wanted = RowCondition(" and ".join(conditions), history and layer == "memories")
    return replace(asked, layer=LAYERS[layer], wanted=wanted, wanted_values=values)
