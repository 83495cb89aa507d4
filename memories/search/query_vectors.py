"""The query's vector, and those of queries before.

Vectors that a remote model made are kept for all processes of this machine, a file for each: 256
folders of at most PER_FOLDER, the least recently used goes first. Files, because a row in the
database would be a write on the path of every search, and because nothing here is worth a backup.
A name is a hash: no query can be read from it. A local model is faster than any file: each
process keeps a few hundred of its vectors, by the same hash.
"""

import logging
import os
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
from django.conf import settings

from memories import metrics
from memories.errors import ProviderError, Unasked
from memories.index import configured_embedder
from memories.meters import breakers
from memories.models import WorkspaceIndex
from memories.providers import Embedder, Vector, embeddable
from memories.search.request import WORDS_ONLY

PER_PROCESS = 512  # 0.5 MB of 256 dimensions
_local: dict[str, Vector | None] = {}
PER_FOLDER = 40  # 10,240 vectors in all: 31 MB of 1,536 dimensions
log = logging.getLogger(__name__)


def vector_of(index: WorkspaceIndex, query: str) -> Vector | None:
    """Return the query's unit vector in the workspace's model; None where it has none.

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
            """Make the vector and keep it: a call that tries an open breaker runs beside, and
            nobody waits for it."""
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
    """Keep a vector in half precision, as the index compares it. Without space on the disk nothing
    is kept."""
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


def _local_vector(embedder: Embedder, index: WorkspaceIndex, query: str, name: str) -> Vector | None:
    """Return the vector by a model of this machine; this process keeps it by hash."""
    if not settings.QUERY_CACHE_SECONDS:
        return _made(embedder, query)
    outcome = "hit" if name in _local else "miss"
    metrics.count("query_vectors", outcome=outcome, workspace=str(index.workspace_id))
    if outcome == "miss":
        if len(_local) >= PER_PROCESS:
            _local.clear()
        _local[name] = _made(embedder, query)
    return _local[name]


def _made(embedder: Embedder, query: str) -> Vector | None:
    if not embedder.is_beside:
        return embedder.embed_one(query)
    quick = configured_embedder.in_a_search(embedder)
    line = configured_embedder.line_to(quick, "query", settings.QUERY_TIMEOUT)
    return breakers.call(line, lambda: quick.embed_one(query))


def forget_vectors() -> None:
    """Forget all vectors that this process has kept."""
    _local.clear()


def _read(path: Path, dimensions: int) -> Vector | None:
    """Read a kept vector; None where there is none, where it is too old or is not what was
    written."""
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


def query_vector(index: WorkspaceIndex, query: str, notes: list[str] | None = None) -> np.ndarray | None:
    """Return the query's vector; None where it has none, or where the model fails, which `notes`
    are told."""
    try:
        return vector_of(index, query)
    except ProviderError as error:
        if not isinstance(error, Unasked):  # one not asked was logged when it failed
            log.warning("A search goes on by words alone: %s", error)
        if notes is not None:
            notes.append(WORDS_ONLY)
        return None
