"""Who asks, about whom and under which conditions, by the ids of the index; and the query's vector.

Vectors that a remote model made are kept for all processes of this machine, a file for each: 256
folders of at most PER_FOLDER, the least recently used goes first. Files, because a row in the
database would be a write on the path of every search, and because nothing here is worth a backup. A
name is a hash: no query can be read from it. A local model is faster than any file: each process
keeps a few hundred of its vectors, by the same hash."""

import logging
import os
import tempfile
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from memories import breakers, metrics
from memories.errors import Forbidden, ProviderError, Unasked
from memories.index import configured_embedder, prepared_sql
from memories.models import BELIEVED, SAID, Layer, WorkspaceIndex
from memories.models.document import IN_SPACES
from memories.models.memory import OF_OTHER_SPACES
from memories.models.memory_state import KNOWN_AT as K
from memories.models.memory_state import VALID_AT as V
from memories.providers import Embedder, Vector, embeddable
from memories.search import filter_sql, filters
from memories.search.conditions import LayerQuery, RowCondition
from memories.search.request import LAYERS, WORDS_ONLY, SearchRequest, Trace
from workspaces.scope import NOBODY, NotAllowed, Scope, agent_to_read

PER_PROCESS = 512  # 0.5 MB of 256 dimensions
_local: dict[str, Vector | None] = {}
PER_FOLDER = 40  # 10,240 vectors in all: 31 MB of 1,536 dimensions


def vector_of(index: WorkspaceIndex, query: str) -> Vector | None:
    """The query's unit vector in the workspace's model; None where it has none.

    Raises ProviderError; at once where the model's breaker is open. Hits and misses are counted as
    `query_vectors`.
    """
    embedder = configured_embedder.embedder_of(index)
    if not embedder.dimensions or not embeddable(query):
        return embedder.embed_one(query)
    known = (embedder.provider, settings.OPENAI_BASE_URL, embedder.name, embedder.dimensions, query)
    name = sha256(repr(known).encode(errors="surrogatepass")).hexdigest()
    if not embedder.is_remote:
        return _local_vector(embedder, index, query, name)
    path = Path(settings.QUERY_CACHE_DIR) / name[:2] / name[2:]
    found = kept = _read(path, embedder.dimensions)
    if kept is None:
        quick = configured_embedder.in_a_search(embedder)
        seconds = settings.QUERY_TIMEOUT
        line = configured_embedder.line_to(quick, "query", seconds, index.workspace_id)

        def made() -> Vector | None:
            """Kept where it is made: an open breaker is tried beside, and nobody waits for it."""
            vector = quick.embed_one(query)
            if vector is not None and settings.QUERY_CACHE_SECONDS:
                _write(path, vector)
            return vector

        found = breakers.call(line, made)
    if settings.QUERY_CACHE_SECONDS:
        outcome = "miss" if kept is None else "hit"
        metrics.count("query_vectors", outcome=outcome, workspace=str(index.workspace_id))
    return found


def _write(path: Path, vector: Vector) -> None:
    """In half precision, as the index compares it. Without space on the disk nothing is kept."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="new-", delete=False) as file:
            file.write(vector.astype(np.float16).tobytes())
        os.replace(file.name, path)
        kept = [(entry.stat().st_atime, entry.path) for entry in os.scandir(path.parent)]
        for _, oldest in sorted(kept)[: max(0, len(kept) - PER_FOLDER)]:
            Path(oldest).unlink(missing_ok=True)
    except OSError:
        metrics.count("query_vectors", outcome="not kept")


def _local_vector(
    embedder: Embedder, index: WorkspaceIndex, query: str, name: str
) -> Vector | None:
    """Of a model in this process: kept in it, by hash."""
    if not settings.QUERY_CACHE_SECONDS:
        return embedder.embed_one(query)
    outcome = "hit" if name in _local else "miss"
    metrics.count("query_vectors", outcome=outcome, workspace=str(index.workspace_id))
    if outcome == "miss":
        if len(_local) >= PER_PROCESS:
            _local.clear()
        _local[name] = embedder.embed_one(query)
    return _local[name]


def forget_vectors() -> None:
    """This process has kept none."""
    _local.clear()


def _read(path: Path, dimensions: int) -> Vector | None:
    """None where there is none, where it is too old or is not what was written."""
    if not settings.QUERY_CACHE_SECONDS:
        return None
    try:
        with path.open("rb") as file:
            written = os.fstat(file.fileno()).st_mtime
            data = file.read()
        now = time.time()
        if now - written > settings.QUERY_CACHE_SECONDS or len(data) != 2 * dimensions:
            return None
        os.utime(path, (now, written))  # the time of last use
    except OSError:
        return None
    return np.frombuffer(data, np.float16).astype(np.float32)


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
        [named] = prepared_sql.rows(NAMED, values)
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
        return vector_of(index, query)
    except ProviderError as error:
        if not isinstance(error, Unasked):  # what is not asked was told when it failed
            log.warning("A search goes on by words alone: %s", error)
        if notes is not None:
            notes.append(WORDS_ONLY)
        return None


# Of a document, what it said at that time; over `row`.
SAID_BY_DOCUMENT = f"""(row.known_from <= {K}
  and (row.superseded_at is null or row.superseded_at > {K})
  and ({V} is null or row.occurred_at <= {V}))"""
# What a key sees that is limited to spaces; over `row`.
SEEN_IN_SPACES = {
    "memories": f"row.id not in ({OF_OTHER_SPACES})",
    "chunks": f"({IN_SPACES.format(document='row.document_id', tags='spaces')})",
}
THEN = {"memories": BELIEVED, "chunks": SAID_BY_DOCUMENT}
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


def in_layer(request: SearchRequest, asked: LayerQuery, layer: str) -> LayerQuery | None:
    """The question put to one layer; None where its filters leave nothing to find there."""
    if layer != "memories" and (request.fact_types or request.categories):
        return None
    if layer == "summaries" and not request.at.is_now:  # they tell what is known now
        return None
    own = {"factType": list(request.fact_types), "category": list(request.categories)}
    tree = filters.all_of(own, request.filter)
    values: dict[str, Any] = {}
    conditions = [filter_sql.sql_of(tree, layer, values, request.at)] if tree else []
    # What features were stands in their history alone: see past_features.
    history = not request.at.is_now and layer != "features"
    if history:
        values |= request.at.values
        conditions.append(THEN.get(layer, SAID))
    few = ""
    if asked.scope.container_tags is not None and layer in SEEN_IN_SPACES:
        conditions.append(SEEN_IN_SPACES[layer])
        values["tenant"] = asked.scope.workspace_id
        few = OF_FEW_SPACES.format(tags="spaces") if layer == "chunks" else ""
    indexed = ""
    if tree and layer == "memories" and not history:
        indexed = filter_sql.indexed_sql_of(tree, values)
        values |= {"tenant": asked.scope.workspace_id} if indexed else {}
    # What was replaced is in no index for search.
    wanted = RowCondition(" and ".join(conditions), history and layer in THEN, few, indexed)
    return replace(asked, layer=LAYERS[layer], wanted=wanted, wanted_values=values)
