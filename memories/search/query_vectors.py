"""Vectors of queries that a remote model made, kept for all processes of this machine.

A file for each: 256 folders of at most PER_FOLDER, the least recently used goes first. Files,
because a row in the database would be a write on the path of every search, and because nothing
here is worth a backup. A name is a hash: no query can be read from it. A local model is faster
than any file and is not kept.
"""

import os
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
from django.conf import settings

from memories import breakers, metrics
from memories.index import workspace_index
from memories.models import WorkspaceIndex
from memories.providers import Embedder, Vector, embeddable

PER_FOLDER = 40  # 10,240 vectors in all: 31 MB of 1,536 dimensions


def vector_of(index: WorkspaceIndex, query: str) -> Vector | None:
    """The query's unit vector in the workspace's model; None where it has none.

    Raises ProviderError; at once where the model's breaker is open. Hits and misses are counted as
    `query_vectors`.
    """
    embedder = workspace_index.embedder_of(index)
    if not embedder.is_remote or not embeddable(query):
        return embedder.embed_one(query)
    known = (embedder.provider, settings.OPENAI_BASE_URL, embedder.name, embedder.dimensions, query)
    name = sha256(repr(known).encode(errors="surrogatepass")).hexdigest()
    path = Path(settings.QUERY_CACHE_DIR) / name[:2] / name[2:]
    found = kept = _read(path, embedder.dimensions)
    if kept is None:
        quick = workspace_index.in_a_search(embedder)
        line = workspace_index.line_to(quick, "query", settings.QUERY_TIMEOUT)
        found = breakers.call(line, lambda: _made(quick, query, path))
    if settings.QUERY_CACHE_SECONDS:
        outcome = "miss" if kept is None else "hit"
        metrics.count("query_vectors", outcome=outcome, workspace=str(index.workspace_id))
    return found


def _made(embedder: Embedder, query: str, path: Path) -> Vector | None:
    vector = embedder.embed_one(query)
    if vector is not None and settings.QUERY_CACHE_SECONDS:
        _write(path, vector)
    return vector


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


def _write(path: Path, vector: Vector) -> None:
    """In half precision, as the index compares it. Without space on the disk nothing is kept."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="new-", delete=False) as file:
            file.write(vector.astype(np.float16).tobytes())
        os.replace(file.name, path)
        _make_room(path.parent)
    except OSError:
        metrics.count("query_vectors", outcome="not kept")


def _make_room(folder: Path) -> None:
    kept = [(entry.stat().st_atime, entry.path) for entry in os.scandir(folder)]
    for _, path in sorted(kept)[: max(0, len(kept) - PER_FOLDER)]:
        Path(path).unlink(missing_ok=True)
